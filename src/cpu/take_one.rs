//! CPU twin of `shaders/take_one.wgsl`: verdicts of take-one games, stratum by stratum.
//!
//! A position is P when no term of the stencil reads a P there:
//!
//! verdict = ¬(U | V≪1 | carry) & valid,
//!
//! where U is the OR of the rows that are read unshifted, V of those read shifted, and carry the top bit of V's word
//! below. The work goes block by block, a group of eight lanes at a time, up the words of their common window. The
//! ring of strata and the threads are those of [`stencil`](super::stencil).

#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a function for each instruction set, with what is inlined into it"
)]

use multiversion::multiversion;

use super::stencil::{Kernel, Sources, Step, Strata};
use crate::space::{Block, Cell, Cells, LANE_GROUP, Window};

const GROUP: usize = LANE_GROUP as usize;

/// One word for each lane of a group.
type Lanes = [u32; GROUP];

/// The CPU backend for verdicts of take-one games.
pub type TakeOne = Strata<Verdicts>;

/// The kernel for verdicts.
pub struct Verdicts;

impl Kernel for Verdicts {
    type Cell = u32;
    const CELL: Cell = Cell::Verdicts;

    fn solve(step: &Step<'_, u32>, active: &[u32], cells: &mut [u32], start: usize) -> u64 {
        solve_blocks(step, active, cells, start)
    }

    fn view(cells: &[u32]) -> Cells<'_> {
        Cells::Verdicts(cells)
    }
}

/// Solves a run of blocks on one thread and returns the number of their P-positions.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+sse4.2+popcnt",
))]
fn solve_blocks(step: &Step<'_, u32>, active: &[u32], words: &mut [u32], start: usize) -> u64 {
    let mut sources = Sources::new();
    let mut count = 0;
    for &rank in active {
        let block = step.layout.block(rank);
        sources.gather(step, &block, rank);
        let window = step.layout.window(block.coordinates, step.total, step.least_nonempty);
        let own = &mut words[block.base - start..];
        count += if step.layout.lane_is_floor() {
            solve_block::<true>(step, &block, &window, &sources, own)
        } else {
            solve_block::<false>(step, &block, &window, &sources, own)
        };
    }
    count
}

/// Solves one block. `LANE_FLOOR`: the lane is x₃, so that it bounds x₂ from below.
#[inline(always)]
fn solve_block<const LANE_FLOOR: bool>(
    step: &Step<'_, u32>,
    block: &Block<'_>,
    window: &Window,
    sources: &Sources<'_, u32>,
    own: &mut [u32],
) -> u64 {
    let (cap, second_max) = (step.layout.max() as i32, step.layout.second_max() as i32);
    let floor = block.coordinates.first().map_or(0, |&x| i32::from(x));
    let first_lane = (window.rest - cap - second_max).max(0);
    let highest = if LANE_FLOOR { window.rest / 3 } else { window.rest - 2 * floor };
    let last_lane = highest.min(block.last_lane as i32);
    let second_mask = if step.layout.heaps() == 1 { 1 } else { u32::MAX };
    let mut count = 0;
    let mut lane = first_lane & -(GROUP as i32);
    while lane <= last_lane {
        let most = window.rest - lane;
        let least = window.rest - (lane + GROUP as i32 - 1).min(last_lane);
        let group_floor = if LANE_FLOOR { lane } else { floor };
        let first_word = group_floor.max(least - cap) / 32;
        let last_word = (most / 2).min(second_max) / 32;
        let lane_mask = lanes_between(window.first_lane - lane, window.last_lane - lane);
        // The bit below a word matters only where its bit 0 is a position.
        let mut carry = [0; GROUP];
        if first_word > 0 && group_floor.max(least - cap) <= first_word * 32 {
            carry = carry_from(sources, first_word as u32 - 1, lane as u32);
        }
        for word in first_word..=last_word {
            let start = word * 32;
            let mut valid = and(at_least_falling(most - cap - start), at_most_halves(most - 2 * start));
            if LANE_FLOOR {
                valid = and(valid, at_least_rising(lane - start));
            }
            let word_mask = at_least(window.floor - start) & second_mask;
            valid = std::array::from_fn(|i| valid[i] & lane_mask[i] & word_mask);
            let (mut unshifted, mut shifted) = ([0; GROUP], [0; GROUP]);
            for source in &sources.unshifted {
                unshifted = or(unshifted, source.load(word as u32, lane as u32));
            }
            for source in &sources.shifted {
                shifted = or(shifted, source.load(word as u32, lane as u32));
            }
            let mut either = [0; GROUP];
            for source in &sources.either {
                either = or(either, source.load(word as u32, lane as u32));
            }
            (unshifted, shifted) = (or(unshifted, either), or(shifted, either));
            let verdict: Lanes =
                std::array::from_fn(|i| !(unshifted[i] | shifted[i] << 1 | carry[i]) & valid[i]);
            carry = std::array::from_fn(|i| shifted[i] >> 31);
            let at = (word as usize - block.first_row as usize) * block.stride as usize + lane as usize;
            own[at..at + GROUP].copy_from_slice(&verdict);
            count += verdict.iter().map(|bits| bits.count_ones()).sum::<u32>();
        }
        lane += GROUP as i32;
    }
    u64::from(count)
}

/// The bits that the shifted rows' word `word` hands up to the next, zero where a row has no such word.
#[cold]
fn carry_from(sources: &Sources<'_, u32>, word: u32, lane: u32) -> Lanes {
    let mut carry = [0; GROUP];
    for source in sources.below(word) {
        carry = or(carry, source.load(word, lane));
    }
    carry.map(|bits| bits >> 31)
}

#[inline(always)]
fn or(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] | b[i])
}

#[inline(always)]
fn and(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] & b[i])
}

/// The bits from `bit` on: all for `bit ≤ 0`, none for `bit ≥ 32`.
const fn at_least(bit: i32) -> u32 {
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
fn at_least_falling(bit: i32) -> Lanes {
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
fn at_least_rising(bit: i32) -> Lanes {
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
fn at_most_halves(twice: i32) -> Lanes {
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
fn lanes_between(first: i32, last: i32) -> Lanes {
    std::array::from_fn(|i| if (first..=last).contains(&(i as i32)) { u32::MAX } else { 0 })
}

#[inline(always)]
fn slice(table: &[u32], at: i32) -> Lanes {
    *table[at as usize..].first_chunk().expect("the table has a group beyond its greatest index")
}
