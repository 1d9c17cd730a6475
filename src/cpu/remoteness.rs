//! CPU twin of `shaders/remoteness.wgsl`: remoteness of take-one games, stratum by stratum.
//!
//! The keys of [`Key`] make the choice of the best option a maximum. With k the greatest key that any term of the
//! stencil reads for a position,
//!
//! key = ¬k + (k ≫ top bit), or the key of a terminal position if k = 0.
//!
//! A row of cells is one value v of x₂; terms that take a stone from x₂ read row v − 1 of their block. The work goes
//! block by block, a lane group at a time, up the rows of their common window; what row v hands to row v + 1 stays in
//! a register. The ring of strata and the threads are those of [`stencil`](super::stencil).

#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a function for each instruction set, with what is inlined into it"
)]

use std::marker::PhantomData;

use multiversion::multiversion;

use super::stencil::{Kernel, Source, Sources, Step, Strata};
use crate::space::{Block, Cell, Cells, Key, Window};

/// The CPU backend for remoteness of take-one games, in keys of type `K`: [`u8`] or [`u16`].
pub type Remoteness<K> = Strata<Keys<K>>;

/// The kernel for remoteness.
pub struct Keys<K>(PhantomData<K>);

impl Kernel for Keys<u8> {
    type Cell = u8;
    const CELL: Cell = Cell::Remoteness8;

    fn solve(step: &Step<'_, u8>, active: &[u32], cells: &mut [u8], start: usize) -> u64 {
        solve_blocks::<u8, 32>(step, active, cells, start)
    }

    fn view(cells: &[u8]) -> Cells<'_> {
        Cells::Remoteness8(cells)
    }
}

impl Kernel for Keys<u16> {
    type Cell = u16;
    const CELL: Cell = Cell::Remoteness16;

    fn solve(step: &Step<'_, u16>, active: &[u32], cells: &mut [u16], start: usize) -> u64 {
        solve_blocks::<u16, 16>(step, active, cells, start)
    }

    fn view(cells: &[u16]) -> Cells<'_> {
        Cells::Remoteness16(cells)
    }
}

/// Solves a run of blocks on one thread, groups of `N` lanes at a time, and returns the number of their P-positions.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+sse4.2+popcnt",
))]
fn solve_blocks<K: Key, const N: usize>(
    step: &Step<'_, K>,
    active: &[u32],
    cells: &mut [K],
    start: usize,
) -> u64 {
    let mut sources = Sources::new();
    let mut count = 0;
    for &rank in active {
        let block = step.layout.block(rank);
        sources.gather(step, &block, rank);
        let window = step.layout.window(block.coordinates, step.total, 0);
        let own = &mut cells[block.base - start..];
        count += if step.layout.lane_is_floor() {
            solve_block::<K, N, true>(step, &block, &window, &sources, own)
        } else {
            solve_block::<K, N, false>(step, &block, &window, &sources, own)
        };
    }
    count
}

/// Solves one block. `LANE_FLOOR`: the lane is x₃, so that it bounds x₂ from below.
#[inline(always)]
fn solve_block<K: Key, const N: usize, const LANE_FLOOR: bool>(
    step: &Step<'_, K>,
    block: &Block<'_>,
    window: &Window,
    sources: &Sources<'_, K>,
    own: &mut [K],
) -> u64 {
    let (cap, second_max) = (step.layout.max() as i32, step.layout.second_max() as i32);
    let (rest, margin) = (window.rest, step.margin as i32);
    let terminal = K::of(u32::from(step.misere));
    // All lanes with positions in this stratum, or in the one that the slot held before.
    let first_lane = (rest - cap - second_max - margin).max(0);
    let highest = if LANE_FLOOR { rest / 3 } else { rest - 2 * window.floor };
    let last_lane = highest.min(block.last_lane as i32);
    let mut count = 0;
    let mut lane = first_lane & -(N as i32);
    while lane <= last_lane {
        let floor = if LANE_FLOOR { lane } else { window.floor };
        let least = rest - (lane + N as i32 - 1).min(last_lane);
        let first = floor.max(least - cap - margin);
        let last = ((rest - lane) / 2).min(second_max);
        let mut from_below = if first > 0 { below(sources, first as u32 - 1, lane as u32) } else { [K::NONE; N] };
        let mut at = (first - block.first_row as i32) as usize * block.stride as usize + lane as usize;
        for second in first..=last {
            let row = second as u32;
            let either = best(&sources.either, [K::NONE; N], row, lane as u32);
            let options = best(&sources.unshifted, max(either, from_below), row, lane as u32);
            from_below = best(&sources.shifted, either, row, lane as u32);
            // The positions are those of one interval of lanes.
            let mut highest = last_lane.min(rest - 2 * second);
            if LANE_FLOOR {
                highest = highest.min(second);
            }
            let keys = clip(options.map(|key| key.after(terminal)), rest - cap - second - lane, highest - lane);
            own[at..at + N].copy_from_slice(&keys);
            at += block.stride as usize;
            count += count_even(keys);
        }
        lane += N as i32;
    }
    u64::from(count)
}

/// The greatest keys of all these sources in one row and group of lanes, and of `keys`.
#[inline(always)]
fn best<K: Key, const N: usize>(sources: &[Source<'_, K>], keys: [K; N], row: u32, lane: u32) -> [K; N] {
    sources.iter().fold(keys, |keys, source| max(keys, source.load(row, lane)))
}

/// What the row `row` hands to the one above, where there is such a row.
#[inline(always)]
fn below<K: Key, const N: usize>(sources: &Sources<'_, K>, row: u32, lane: u32) -> [K; N] {
    sources.below(row).fold([K::NONE; N], |keys, source| max(keys, source.load(row, lane)))
}

#[inline(always)]
fn max<K: Key, const N: usize>(a: [K; N], b: [K; N]) -> [K; N] {
    std::array::from_fn(|i| a[i].max(b[i]))
}

/// The keys of the lanes `first ..= last` of a group, none in the others.
#[inline(always)]
fn clip<K: Key, const N: usize>(keys: [K; N], first: i32, last: i32) -> [K; N] {
    let first = first.clamp(0, N as i32);
    let lanes = (last + 1).clamp(first, N as i32) - first;
    let (first, lanes) = (K::small(first as u32), K::small(lanes as u32));
    std::array::from_fn(|i| {
        if K::small(i as u32).wrapping_minus(first) < lanes { keys[i] } else { K::NONE }
    })
}

/// How many keys have their top bit set. A lane group has 32 bytes.
#[inline(always)]
fn count_even<K: Key, const N: usize>(keys: [K; N]) -> u32 {
    let bytes: &[u8] = bytemuck::cast_slice(&keys);
    let top = u64::from_ne_bytes(bytemuck::cast_slice(&[K::EVEN; N])[..8].try_into().unwrap());
    bytes.chunks_exact(8).map(|w| (u64::from_ne_bytes(w.try_into().unwrap()) & top).count_ones()).sum()
}
