//! Slices: all positions in which every heap but two is given, as a picture of the full square of the two.
//!
//! A slice is symmetric about its diagonal, as positions are multisets; it is shown whole nevertheless, because only then
//! do the lines of a game run through.

use std::ops::ControlFlow;

use crate::solver::Quantity;
use crate::space::Ranks;
use crate::store::{Store, Stored};

/// What is seen at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// An N-position.
    N,
    /// A P-position at a total at which moves may arrive.
    P1,
    /// A P-position at a forbidden total.
    P0,
    /// The remoteness of either.
    Remoteness(u32),
}

impl Seen {
    /// Whether it is a P-position.
    #[must_use]
    pub fn is_p(self) -> bool {
        match self {
            Self::N => false,
            Self::P0 | Self::P1 => true,
            Self::Remoteness(remoteness) => remoteness.is_multiple_of(2),
        }
    }
}

/// Slices of a store: each leaves two heaps free and gives the others.
pub struct Slices<'a> {
    store: &'a Store,
    ranks: Ranks,
    /// The given heaps of each slice, smallest first.
    given: Vec<Vec<u32>>,
}

impl<'a> Slices<'a> {
    /// The slices of a store with these heaps given, two fewer than its positions have.
    #[must_use]
    pub fn new(store: &'a Store, mut given: Vec<Vec<u32>>) -> Self {
        for heaps in &mut given {
            heaps.sort_unstable();
        }
        Self { store, ranks: Ranks::new(store.region()), given }
    }

    /// How many slices there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.given.len()
    }

    /// What is at the position with these two heaps and the given ones of slice `slice`. `None` outside the region.
    #[must_use]
    pub fn at(&self, slice: usize, x: u32, y: u32) -> Option<Seen> {
        let given = &self.given[slice];
        // Merges the two into the given ones without sorting anew.
        let (low, high) = (x.min(y), x.max(y));
        let (below, between) =
            (given.partition_point(|&heap| heap < low), given.partition_point(|&heap| heap < high));
        let mut sizes = [0; MOST_HEAPS];
        let sizes = &mut sizes[..given.len() + 2];
        sizes[..below].copy_from_slice(&given[..below]);
        sizes[below] = low;
        sizes[below + 1..=between].copy_from_slice(&given[below..between]);
        sizes[between + 1] = high;
        sizes[between + 2..].copy_from_slice(&given[between..]);
        let (total, rank) = self.ranks.place(sizes)?;
        let rank = rank as usize;
        Some(match self.store.stratum(total)? {
            Stored::Verdicts(bits) if bits[rank / 8] >> (rank % 8) & 1 == 0 => Seen::N,
            Stored::Verdicts(_) if self.store.rules().forbidden.contains(total.into()) => Seen::P0,
            Stored::Verdicts(_) => Seen::P1,
            Stored::Remoteness8(values) => Seen::Remoteness(values[rank].into()),
            Stored::Remoteness16(values) => Seen::Remoteness(values[rank].into()),
        })
    }

    /// The greatest remoteness in all slices with the two heaps up to `max`; `None` for a store of verdicts, or when
    /// `watch`, called before each row, breaks.
    pub fn greatest(&self, max: u32, watch: &mut dyn FnMut() -> ControlFlow<()>) -> Option<u32> {
        if self.store.quantity() == Quantity::Verdict {
            return None;
        }
        let mut greatest = 0;
        for slice in 0..self.count() {
            for x in 0..=max {
                if watch().is_break() {
                    return None;
                }
                let remoteness = (0..=x).filter_map(|y| match self.at(slice, x, y) {
                    Some(Seen::Remoteness(remoteness)) => Some(remoteness),
                    _ => None,
                });
                greatest = remoteness.max().unwrap_or(0).max(greatest);
            }
        }
        Some(greatest)
    }
}

/// No game has more heaps.
const MOST_HEAPS: usize = crate::game::MOST_HEAPS as usize;
