//! CPU twin of `shaders/remoteness.wgsl`: remoteness of take-one games, stratum by stratum.
//!
//! The keys of [`Key`] make the choice of the best option a maximum. With k the greatest key that any term of the
//! stencil reads for a position,
//!
//! key = ¬k + (k ≫ top bit), or the key of a terminal position if k = 0.
//!
//! A row of cells is one value v of x₂; terms that take a stone from x₂ read row v − 1 of their block. The work goes
//! block by block, a lane group at a time: a column of such groups, one for each v, gathers the options of one term
//! after another. Every inner loop then runs along one neighbour block with a fixed stride, which the processor
//! foresees; row by row over all terms at once it waits for memory instead. The ring of strata is that of
//! [`stencil`](super::stencil).

#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a function for each instruction set, with what is inlined into it"
)]

use std::marker::PhantomData;
use std::ops::{Range, RangeInclusive};

use multiversion::multiversion;

use super::Part;
use super::stencil::{Kernel, Sources, Step, Strata};
use crate::space::{Block, Cell, Cells, CellsMut, Key, Window};

/// The CPU backend for remoteness of take-one games, in keys of type `K`: [`u8`] or [`u16`].
pub type Remoteness<K> = Strata<Keys<K>>;

/// The kernel for remoteness.
pub struct Keys<K>(PhantomData<K>);

impl Kernel for Keys<u8> {
    type Cell = u8;
    const CELL: Cell = Cell::Remoteness8;

    fn solve(step: &Step<'_, u8>, active: &[u32], lanes: Range<i32>, part: Part<'_, u8>) -> u64 {
        solve_blocks::<u8, 32>(step, active, &lanes, part)
    }

    fn view(cells: &[u8]) -> Cells<'_> {
        Cells::Remoteness8(cells)
    }

    fn view_mut(cells: &mut [u8]) -> CellsMut<'_> {
        CellsMut::Remoteness8(cells)
    }
}

impl Kernel for Keys<u16> {
    type Cell = u16;
    const CELL: Cell = Cell::Remoteness16;

    fn solve(step: &Step<'_, u16>, active: &[u32], lanes: Range<i32>, part: Part<'_, u16>) -> u64 {
        solve_blocks::<u16, 16>(step, active, &lanes, part)
    }

    fn view(cells: &[u16]) -> Cells<'_> {
        Cells::Remoteness16(cells)
    }

    fn view_mut(cells: &mut [u16]) -> CellsMut<'_> {
        CellsMut::Remoteness16(cells)
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
    lanes: &Range<i32>,
    mut part: Part<'_, K>,
) -> u64 {
    let (mut sources, mut column) = (Sources::new(), Vec::new());
    let mut count = 0;
    for &rank in active {
        let block = step.layout.block(rank);
        sources.gather(step, &block, rank);
        let mut window = step.layout.window(block.coordinates, step.total, 0);
        window.first_lane = window.first_lane.max(lanes.start);
        window.last_lane = window.last_lane.min(lanes.end - 1);
        count += if step.layout.lane_is_floor() {
            Solve::<K, N, true> { step, block, window, sources: &sources }.solve(&mut part, &mut column)
        } else {
            Solve::<K, N, false> { step, block, window, sources: &sources }.solve(&mut part, &mut column)
        };
    }
    count
}

/// One block being solved. `LANE_FLOOR`: the lane is x₃, so that it bounds x₂ from below.
struct Solve<'a, K, const N: usize, const LANE_FLOOR: bool> {
    step: &'a Step<'a, K>,
    block: Block<'a>,
    window: Window,
    sources: &'a Sources<'a, K>,
}

impl<K: Key, const N: usize, const LANE_FLOOR: bool> Solve<'_, K, N, LANE_FLOOR> {
    /// Solves all lanes with positions. Returns the number of P-positions.
    #[inline(always)]
    fn solve(&self, part: &mut Part<'_, K>, column: &mut Vec<[K; N]>) -> u64 {
        let layout = self.step.layout;
        let (cap, second_max) = (layout.max() as i32, layout.second_max() as i32);
        let rest = self.window.rest;
        let last_lane = self.window.last_lane;
        let mut count = 0;
        let mut lane = self.window.first_lane & -(N as i32);
        while lane <= last_lane {
            let floor = if LANE_FLOOR { lane } else { self.window.floor };
            let least = rest - (lane + N as i32 - 1).min(last_lane);
            let first = floor.max(least - cap);
            let last = ((rest - lane) / 2).min(second_max);
            if first <= last {
                count += self.solve_group(part, column, lane, first..=last);
            }
            lane += N as i32;
        }
        count
    }

    /// Solves the lanes from `lane` on, at most `N`, for these values of x₂.
    #[inline(always)]
    fn solve_group(
        &self,
        part: &mut Part<'_, K>,
        column: &mut Vec<[K; N]>,
        lane: i32,
        seconds: RangeInclusive<i32>,
    ) -> u64 {
        let first = *seconds.start() as u32;
        let rows = seconds.size_hint().0;
        column.clear();
        column.resize(rows, [K::NONE; N]);
        self.best_options(column, first, lane as u32);
        let rest = self.window.rest;
        let terminal = K::of(u32::from(self.step.misere));
        let (mut count, mut even) = (0, [K::NONE; N]);
        for (second, options) in seconds.zip(&*column) {
            // The positions of a row are those of one interval of lanes.
            let first = rest - self.step.layout.max() as i32 - second;
            let mut last = self.window.last_lane.min(rest - 2 * second);
            if LANE_FLOOR {
                last = last.min(second);
            }
            let keys = clip(options.map(|key| key.after(terminal)), first - lane, last - lane);
            part.from(&self.block, second as u32, lane as u32)[..N].copy_from_slice(&keys);
            even = std::array::from_fn(|i| keys[i].count_even(even[i]));
            // Before the narrowest counter is full.
            if second % 128 == 127 {
                count += sum(std::mem::replace(&mut even, [K::NONE; N]));
            }
        }
        count + sum(even)
    }

    /// The greatest key of all options in each cell of a column, whose first value of x₂ is `first`.
    #[inline(always)]
    fn best_options(&self, column: &mut [[K; N]], first: u32, lane: u32) {
        for source in &self.sources.unshifted {
            for (keys, options) in column.iter_mut().zip(source.column(first, lane)) {
                *keys = greater(*keys, *options);
            }
        }
        for source in &self.sources.either {
            let mut below = source.row_below(first, lane);
            for (keys, options) in column.iter_mut().zip(source.column(first, lane)) {
                *keys = greater(*keys, greater(*options, below));
                below = *options;
            }
        }
        for source in &self.sources.shifted {
            let mut below = source.row_below(first, lane);
            for (keys, options) in column.iter_mut().zip(source.column(first, lane)) {
                *keys = greater(*keys, below);
                below = *options;
            }
        }
    }
}

#[inline(always)]
fn greater<K: Key, const N: usize>(a: [K; N], b: [K; N]) -> [K; N] {
    std::array::from_fn(|i| a[i].max(b[i]))
}

/// The keys of the lanes `first ..= last` of a group, none in the others.
#[inline(always)]
fn clip<K: Key, const N: usize>(keys: [K; N], first: i32, last: i32) -> [K; N] {
    // Masks come from a table: compared with lane numbers, lane 0 compiles to other code than its neighbours do.
    let mask = |at: i32| -> [K; N] {
        *K::MASKS[at as usize..].first_chunk().expect("the table has a group beyond its greatest index")
    };
    let group = N as i32;
    let from_first = mask(group - first.clamp(0, group));
    let to_last = mask(2 * group - (last + 1).clamp(0, group));
    std::array::from_fn(|i| keys[i] & from_first[i] & to_last[i])
}

/// What all lanes have counted.
#[inline(always)]
fn sum<K: Key, const N: usize>(counts: [K; N]) -> u64 {
    counts.into_iter().map(Into::<u32>::into).sum::<u32>().into()
}
