//! Groups of lanes, the unit in which the CPU kernels work, and the masks that cut windows out of them.
#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a function for each instruction set, with what is inlined into it"
)]

use crate::space::LANE_GROUP;

/// Lanes a group.
pub(super) const GROUP: usize = LANE_GROUP as usize;

/// One word for each lane of a group.
pub(super) type Lanes = [u32; GROUP];

/// a | b in every lane.
#[inline(always)]
pub(super) fn or<const L: usize>(a: [u32; L], b: [u32; L]) -> [u32; L] {
    std::array::from_fn(|i| a[i] | b[i])
}

/// a & b in every lane.
#[inline(always)]
pub(super) fn and<const L: usize>(a: [u32; L], b: [u32; L]) -> [u32; L] {
    std::array::from_fn(|i| a[i] & b[i])
}

/// The bits from `bit` on: all for `bit ≤ 0`, none for `bit ≥ 32`.
pub(super) const fn at_least(bit: i32) -> u32 {
    if bit <= 0 {
        u32::MAX
    } else if bit >= 32 {
        0
    } else {
        u32::MAX << bit
    }
}

// Along the lanes the ends of the windows move by one bit a lane, or one bit every other lane, so the masks of some
// lanes are a slice of a short table. Indices are clamped to where all lanes are full or empty anyway.

/// The most lanes that masks are made for at once.
pub(super) const MOST_LANES: usize = 4 * GROUP;

const MOST: i32 = MOST_LANES as i32;

/// `at_least(bit − i)` for lane i.
#[inline(always)]
pub(super) fn at_least_falling<const L: usize>(bit: i32) -> [u32; L] {
    const TOP: i32 = 32 + MOST;
    static TABLE: [u32; TOP as usize + MOST_LANES] = {
        let mut table = [0; TOP as usize + MOST_LANES];
        let mut i = 0;
        while i < table.len() {
            table[i] = at_least(TOP - i as i32);
            i += 1;
        }
        table
    };
    slice(&TABLE, TOP - bit.clamp(0, TOP))
}

/// `at_least(bit + i)` for lane i.
#[inline(always)]
pub(super) fn at_least_rising<const L: usize>(bit: i32) -> [u32; L] {
    static TABLE: [u32; 32 + 2 * MOST_LANES] = {
        let mut table = [0; 32 + 2 * MOST_LANES];
        let mut i = 0;
        while i < table.len() {
            table[i] = at_least(i as i32 - MOST);
            i += 1;
        }
        table
    };
    slice(&TABLE, bit.clamp(-MOST, 32) + MOST)
}

/// The bits 0 ..= ⌊(twice − i)/2⌋ for lane i.
#[inline(always)]
pub(super) fn at_most_halves<const L: usize>(twice: i32) -> [u32; L] {
    const TOP: i32 = 62 + MOST;
    static TABLE: [u32; TOP as usize + 1 + MOST_LANES] = {
        let mut table = [0; TOP as usize + 1 + MOST_LANES];
        let mut i = 0;
        while i < table.len() {
            table[i] = !at_least((TOP - i as i32).div_euclid(2) + 1);
            i += 1;
        }
        table
    };
    slice(&TABLE, TOP - twice.clamp(-1, TOP))
}

/// All bits of the lanes `first ..= last`, none of the others.
#[inline(always)]
pub(super) fn lanes_between<const L: usize>(first: i32, last: i32) -> [u32; L] {
    static TABLE: [u32; 3 * MOST_LANES] = {
        let mut table = [0; 3 * MOST_LANES];
        let mut i = MOST_LANES;
        while i < 2 * MOST_LANES {
            table[i] = u32::MAX;
            i += 1;
        }
        table
    };
    let from_first = slice(&TABLE, MOST - first.clamp(0, MOST));
    and(from_first, slice(&TABLE, 2 * MOST - (last + 1).clamp(0, MOST)))
}

#[inline(always)]
fn slice<const L: usize>(table: &[u32], at: i32) -> [u32; L] {
    *table[at as usize..].first_chunk().expect("the table has the most lanes beyond its greatest index")
}
