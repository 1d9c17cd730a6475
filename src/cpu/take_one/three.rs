//! Verdicts of up to three heaps, in the layout of the shaders.
//!
//! A position is P when no term of the stencil reads a P there:
//!
//! verdict = ¬(U | V≪1 | carry) & valid,
//!
//! where U is the OR of the rows that are read unshifted, V of those read shifted, and carry the top bit of V's word
//! below. There is one block, which is solved a group of eight lanes at a time, up the words of their common window. The
//! ring of strata is that of [`stencil`](crate::cpu::stencil).

#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a function for each instruction set, with what is inlined into it"
)]

use std::ops::Range;

use multiversion::multiversion;

use crate::cpu::Part;
use crate::cpu::lanes::{
    GROUP, Lanes, and, at_least, at_least_falling, at_least_rising, at_most_halves, lanes_between, or,
};
use crate::cpu::stencil::{Kernel, Sources, Step};
use crate::space::{Block, Cell, Cells, CellsMut, Window};

/// The kernel for verdicts.
pub struct Verdicts;

impl Kernel for Verdicts {
    type Cell = u32;
    const CELL: Cell = Cell::Verdicts;

    fn solve(step: &Step<'_, u32>, _active: &[u32], lanes: Range<i32>, part: Part<'_, u32>) -> u64 {
        solve_lanes(step, &lanes, part)
    }

    fn view(cells: &[u32]) -> Cells<'_> {
        Cells::Verdicts(cells)
    }

    fn view_mut(cells: &mut [u32]) -> CellsMut<'_> {
        CellsMut::Verdicts(cells)
    }
}

/// Solves some lanes of the one block of three heaps or fewer on one thread, and returns the number of their P-positions.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+sse4.2+popcnt",
))]
fn solve_lanes(step: &Step<'_, u32>, lanes: &Range<i32>, mut part: Part<'_, u32>) -> u64 {
    let mut sources = Sources::new();
    let block = step.layout.block(0);
    sources.gather(step, &block, 0);
    let window = step.layout.window(block.coordinates, step.total, step.least_nonempty);
    solve_block(step, &block, &window, lanes, &sources, &mut part)
}

/// Solves the one block that there is for three heaps or fewer. The lane is x₃, so that it bounds x₂ from below.
#[inline(always)]
fn solve_block(
    step: &Step<'_, u32>,
    block: &Block<'_>,
    window: &Window,
    lanes: &Range<i32>,
    sources: &Sources<'_, u32>,
    part: &mut Part<'_, u32>,
) -> u64 {
    let (cap, second_max) = (step.layout.max() as i32, step.layout.second_max() as i32);
    let first_lane = (window.rest - cap - second_max).max(lanes.start);
    let last_lane = (window.rest / 3).min(block.last_lane as i32).min(lanes.end - 1);
    let second_mask = if step.layout.heaps() == 1 { 1 } else { u32::MAX };
    let mut count = 0;
    let mut lane = first_lane & -(GROUP as i32);
    while lane <= last_lane {
        let most = window.rest - lane;
        let least = window.rest - (lane + GROUP as i32 - 1).min(last_lane);
        let first = lane.max(least - cap);
        let first_word = first / 32;
        let last_word = (most / 2).min(second_max) / 32;
        let lane_mask: Lanes = lanes_between(window.first_lane - lane, window.last_lane - lane);
        // The bit below a word matters only where its bit 0 is a position.
        let mut carry = [0; GROUP];
        if first_word > 0 && first <= first_word * 32 {
            carry = carry_from(sources, first_word as u32 - 1, lane as u32);
        }
        for word in first_word..=last_word {
            let start = word * 32;
            let mut valid: Lanes =
                and(at_least_falling(most - cap - start), at_most_halves(most - 2 * start));
            valid = and(valid, at_least_rising(lane - start));
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
            part.from(block, word as u32, lane as u32)[..GROUP].copy_from_slice(&verdict);
            count += u64::from(verdict.iter().map(|bits| bits.count_ones()).sum::<u32>());
        }
        lane += GROUP as i32;
    }
    count
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
