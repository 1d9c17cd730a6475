//! What one cell of a layout holds: the verdicts of 32 positions, or the remoteness of one.
//!
//! Remoteness R is stored as a **key**, chosen such that the option to go for has the greatest key. A player goes for
//! the least even R, and where there is none for the greatest odd one; so the keys of odd R count up from 1, those of
//! even R count down from the greatest number, and 0 is no position:
//!
//! | R | 1 | 3 | 5 | … | 4 | 2 | 0 |
//! |---|---|---|---|---|---|---|---|
//! | 8-bit key | 1 | 2 | 3 | … | 253 | 254 | 255 |
//!
//! The top bit says that R is even: a P-position. With best key k over all options, the key of R + 1 is
//! ¬k + (k ≫ top bit), for either parity; without an option, k = 0, that is the key of R = 0, as normal play has it.

#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a kernel for each instruction set, with what is inlined into it"
)]

use std::fmt::Debug;
use std::ops::BitAnd;

use bytemuck::Pod;

use super::{FoldedCells, FoldedLayout, LANE_GROUP};

/// What one cell of a layout holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cell {
    /// The verdicts of 32 values of x₂ (1 = P), a 32-bit word.
    #[default]
    Verdicts,
    /// The remoteness of one position, an 8-bit key.
    Remoteness8,
    /// The remoteness of one position, a 16-bit key.
    Remoteness16,
}

impl Cell {
    /// The narrowest cell for the remoteness of positions from which R is at most `bound`; `None` for none.
    #[must_use]
    pub fn for_remoteness(bound: u64) -> Option<Self> {
        match bound {
            0..=254 => Some(Self::Remoteness8),
            255..=65_534 => Some(Self::Remoteness16),
            _ => None,
        }
    }

    /// How many values of x₂ it holds.
    #[must_use]
    pub const fn row_values(self) -> u32 {
        match self {
            Self::Verdicts => u32::BITS,
            Self::Remoteness8 | Self::Remoteness16 => 1,
        }
    }

    /// Its size in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Verdicts => 4,
            Self::Remoteness8 => 1,
            Self::Remoteness16 => 2,
        }
    }

    /// How many of them a lane group holds.
    #[must_use]
    pub const fn group(self) -> u32 {
        LANE_GROUP * 4 / self.bytes()
    }
}

/// An unsigned integer that holds a remoteness; the module says how.
pub trait Key: Pod + Ord + BitAnd<Output = Self> + Into<u32> + Debug + Send + Sync {
    /// The cell that holds one.
    const CELL: Cell;
    /// The key of no position, below all others.
    const NONE: Self;
    /// A lane group of zeros, one of ones, and one of zeros: its slices are the masks of intervals of lanes.
    const MASKS: &'static [Self];

    /// The key of a remoteness: at most 254 for 8 bits, 65,534 for 16.
    fn of(remoteness: u32) -> Self;

    /// The remoteness; meaningless for [`NONE`](Self::NONE).
    fn remoteness(self) -> u32;

    /// Whether R is even.
    fn is_p(self) -> bool;

    /// The key as a signed number: (R + 1)/2 for odd R, −1 − R/2 for even R. What occurs is then one interval around 0.
    fn signed(self) -> i32;

    /// `count` plus 1 if R is even.
    #[must_use]
    fn count_even(self, count: Self) -> Self;

    /// The key of a position whose best option has this key, or `terminal` if there is no option.
    #[must_use]
    fn after(self, terminal: Self) -> Self;
}

macro_rules! key {
    ($type:ty, $cell:expr) => {
        impl Key for $type {
            const CELL: Cell = $cell;
            const NONE: Self = 0;
            const MASKS: &'static [Self] = {
                const GROUP: usize = $cell.group() as usize;
                const MASKS: [[$type; GROUP]; 3] = [[0; GROUP], [<$type>::MAX; GROUP], [0; GROUP]];
                MASKS.as_flattened()
            };

            fn of(remoteness: u32) -> Self {
                let half = remoteness.div_ceil(2) as Self;
                if remoteness.is_multiple_of(2) { Self::MAX - half } else { half }
            }

            #[inline]
            fn remoteness(self) -> u32 {
                if self.is_p() { 2 * u32::from(!self) } else { (2 * u32::from(self)).wrapping_sub(1) }
            }

            #[inline]
            fn is_p(self) -> bool {
                self >> (Self::BITS - 1) == 1
            }

            #[inline]
            fn signed(self) -> i32 {
                i32::from(self.cast_signed())
            }

            #[inline(always)]
            fn count_even(self, count: Self) -> Self {
                count.wrapping_add(self >> (Self::BITS - 1))
            }

            #[inline(always)]
            fn after(self, terminal: Self) -> Self {
                let next = (!self).wrapping_add(self >> (Self::BITS - 1));
                if self == Self::NONE { terminal } else { next }
            }
        }
    };
}

key!(u8, Cell::Remoteness8);
key!(u16, Cell::Remoteness16);

/// All cells of one stratum, in the order of a layout.
#[derive(Clone, Copy, Debug)]
pub enum Cells<'a> {
    /// Verdicts.
    Verdicts(&'a [u32]),
    /// Verdicts in a layout of their own, which stand in for those.
    Folded(FoldedCells<'a>),
    /// Remoteness in 8 bits.
    Remoteness8(&'a [u8]),
    /// Remoteness in 16 bits.
    Remoteness16(&'a [u16]),
}

impl<'a> Cells<'a> {
    /// The cells in 32-bit words, in which the first one has the lowest address (on a little-endian host, the lowest
    /// bits).
    #[must_use]
    pub fn from_words(cell: Cell, words: &'a [u32]) -> Self {
        match cell {
            Cell::Verdicts => Self::Verdicts(words),
            Cell::Remoteness8 => Self::Remoteness8(bytemuck::cast_slice(words)),
            Cell::Remoteness16 => Self::Remoteness16(bytemuck::cast_slice(words)),
        }
    }
}

/// All cells of one stratum, to be written.
#[derive(Debug)]
pub enum CellsMut<'a> {
    /// Verdicts.
    Verdicts(&'a mut [u32]),
    /// Verdicts in a layout of their own.
    Folded(&'a FoldedLayout, &'a mut [u16]),
    /// Remoteness in 8 bits.
    Remoteness8(&'a mut [u8]),
    /// Remoteness in 16 bits.
    Remoteness16(&'a mut [u16]),
}

impl<'a> CellsMut<'a> {
    /// The cells in 32-bit words, as [`Cells::from_words`].
    #[must_use]
    pub fn from_words(cell: Cell, words: &'a mut [u32]) -> Self {
        match cell {
            Cell::Verdicts => Self::Verdicts(words),
            Cell::Remoteness8 => Self::Remoteness8(bytemuck::cast_slice_mut(words)),
            Cell::Remoteness16 => Self::Remoteness16(bytemuck::cast_slice_mut(words)),
        }
    }
}

impl<'a> From<&'a [u32]> for Cells<'a> {
    fn from(words: &'a [u32]) -> Self {
        Self::Verdicts(words)
    }
}

impl<'a> From<&'a [u8]> for Cells<'a> {
    fn from(keys: &'a [u8]) -> Self {
        Self::Remoteness8(keys)
    }
}

impl<'a> From<&'a [u16]> for Cells<'a> {
    fn from(keys: &'a [u16]) -> Self {
        Self::Remoteness16(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the definition of remoteness says of these options.
    fn by_definition(options: &[u32], terminal: u32) -> u32 {
        let even = options.iter().filter(|&&option| option % 2 == 0).min();
        even.or(options.iter().max()).map_or(terminal, |option| option + 1)
    }

    fn keys_follow_the_definition<K: Key>(most: u32) {
        for remoteness in 0..=most {
            let key = K::of(remoteness);
            assert!(key != K::NONE && key.remoteness() == remoteness);
            assert_eq!(key.is_p(), remoteness % 2 == 0);
            let half = remoteness.div_ceil(2) as i32;
            assert_eq!(key.signed(), if key.is_p() { -1 - half } else { half });
        }
        let sample = [0, 1, 2, 3, 4, 5, 8, 9, 100, 101, most - 3, most - 2, most - 1];
        for terminal in [0, 1] {
            assert_eq!(K::NONE.after(K::of(terminal)), K::of(terminal));
            for one in sample {
                for other in sample {
                    let best = K::of(one).max(K::of(other));
                    let expected = by_definition(&[one, other], terminal);
                    assert_eq!(best.after(K::of(terminal)).remoteness(), expected, "{one} and {other}");
                }
            }
        }
    }

    #[test]
    fn the_greatest_key_is_the_option_to_go_for() {
        keys_follow_the_definition::<u8>(254);
        keys_follow_the_definition::<u16>(65_534);
    }

    #[test]
    fn the_narrowest_cell_is_chosen() {
        assert_eq!(Cell::for_remoteness(254), Some(Cell::Remoteness8));
        assert_eq!(Cell::for_remoteness(255), Some(Cell::Remoteness16));
        assert_eq!(Cell::for_remoteness(65_535), None);
    }
}
