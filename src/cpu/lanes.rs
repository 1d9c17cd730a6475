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
pub(super) fn or(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] | b[i])
}

/// a & b in every lane.
#[inline(always)]
pub(super) fn and(a: Lanes, b: Lanes) -> Lanes {
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

// Along a group of lanes the ends of the windows move by one bit a lane, or one bit every other lane, so the masks of
// a group are a slice of a short table. Indices are clamped to where all eight lanes are full or empty anyway.

/// `at_least(bit − i)` for lane i.
#[inline(always)]
pub(super) fn at_least_falling(bit: i32) -> Lanes {
    const MOST: i32 = 32 + GROUP as i32;
    static TABLE: [u32; MOST as usize + GROUP] = {
        let mut table = [0; MOST as usize + GROUP];
        let mut i = 0;
        while i < table.len() {
            table[i] = at_least(MOST - i as i32);
            i += 1;
        }
        table
    };
    slice(&TABLE, MOST - bit.clamp(0, MOST))
}

/// `at_least(bit + i)` for lane i.
#[inline(always)]
pub(super) fn at_least_rising(bit: i32) -> Lanes {
    const LEAST: i32 = -(GROUP as i32);
    static TABLE: [u32; 32 + 2 * GROUP] = {
        let mut table = [0; 32 + 2 * GROUP];
        let mut i = 0;
        while i < table.len() {
            table[i] = at_least(i as i32 + LEAST);
            i += 1;
        }
        table
    };
    slice(&TABLE, bit.clamp(LEAST, 32) - LEAST)
}

/// The bits 0 ..= ⌊(twice − i)/2⌋ for lane i.
#[inline(always)]
pub(super) fn at_most_halves(twice: i32) -> Lanes {
    const MOST: i32 = 62 + GROUP as i32;
    static TABLE: [u32; MOST as usize + 1 + GROUP] = {
        let mut table = [0; MOST as usize + 1 + GROUP];
        let mut i = 0;
        while i < table.len() {
            table[i] = !at_least((MOST - i as i32).div_euclid(2) + 1);
            i += 1;
        }
        table
    };
    slice(&TABLE, MOST - twice.clamp(-1, MOST))
}

/// All bits of the lanes `first ..= last` of a group, none of the others.
#[inline(always)]
pub(super) fn lanes_between(first: i32, last: i32) -> Lanes {
    std::array::from_fn(|i| if (first..=last).contains(&(i as i32)) { u32::MAX } else { 0 })
}

#[inline(always)]
fn slice(table: &[u32], at: i32) -> Lanes {
    *table[at as usize..].first_chunk().expect("the table has a group beyond its greatest index")
}
