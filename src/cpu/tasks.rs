//! How the blocks of a stratum are dealt to threads.
//!
//! A task solves a run of blocks and alone writes their cells. Runs of whole slabs are contiguous in a slot; blocks of
//! one slab share its rows, as do the lanes of the one block that three heaps have, so those tasks get a slice of each
//! row.

#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a kernel for each instruction set, with what is inlined into it"
)]

use std::ops::Range;

use super::stencil::{Kernel, Step};
use crate::space::{Block, Layout};

/// 32-bit words of cells below which splitting work over threads costs more than it saves.
pub(super) const WORDS_PER_TASK: u64 = 1 << 15;

/// The lanes of a task that solves whole blocks.
const ALL_LANES: Range<i32> = 0..i32::MAX;

/// The cells of a slot that a task writes.
pub struct Part<'a, C> {
    cells: Slices<'a, C>,
    /// The place in the slot of the first of them.
    start: usize,
}

enum Slices<'a, C> {
    /// Whole slabs.
    Slabs(&'a mut [C]),
    /// The same part of each row of a slab.
    Rows(Vec<&'a mut [C]>),
}

impl<'a, C> Part<'a, C> {
    /// All cells of a slot.
    pub(super) fn whole(cells: &'a mut [C]) -> Self {
        Self { cells: Slices::Slabs(cells), start: 0 }
    }

    /// The cells from one of a block's on: that of row `row` of the bit axis and lane `lane`.
    #[inline(always)]
    pub fn from(&mut self, block: &Block<'_>, row: u32, lane: u32) -> &mut [C] {
        let at = block.base + lane as usize - self.start;
        let row = (row - block.first_row) as usize;
        match &mut self.cells {
            Slices::Slabs(cells) => &mut cells[at + row * block.pitch as usize..],
            Slices::Rows(rows) => &mut rows[row][at..],
        }
    }

    /// The rows of one of its slabs.
    fn rows_of(self, layout: &Layout, slab: usize) -> Self {
        let (start, end) = (layout.slab_start(slab), layout.slab_start(slab + 1));
        let pitch = layout.block(layout.slab_first_block(slab) as u32).pitch as usize;
        match self.cells {
            Slices::Slabs(cells) => {
                let rows = cells[start - self.start..end - self.start].chunks_exact_mut(pitch);
                Self { cells: Slices::Rows(rows.collect()), start }
            }
            Slices::Rows(_) => self,
        }
    }

    /// Cuts it at a place in the slot, every row at the same place from its start.
    fn split_at(self, place: usize) -> (Self, Self) {
        let at = place - self.start;
        let (low, high) = match self.cells {
            Slices::Slabs(cells) => {
                let (low, high) = cells.split_at_mut(at);
                (Slices::Slabs(low), Slices::Slabs(high))
            }
            Slices::Rows(rows) => {
                let (low, high) = rows.into_iter().map(|row| row.split_at_mut(at)).unzip();
                (Slices::Rows(low), Slices::Rows(high))
            }
        };
        (Self { cells: low, start: self.start }, Self { cells: high, start: place })
    }
}

/// Solves the active blocks of a stratum on all threads, and returns the number of their P-positions.
pub(super) fn solve<K: Kernel>(step: &Step<'_, K::Cell>, active: &[u32], part: Part<'_, K::Cell>) -> u64 {
    let layout = step.layout;
    let (Some(&first), Some(&last)) = (active.first(), active.last()) else { return 0 };
    if layout.lane_is_floor() {
        let rows = u64::from(layout.second_max() / K::CELL.row_values()) + 1;
        let lanes = 0..layout.block(0).last_lane as i32 + 1;
        return solve_lanes::<K>(step, lanes, rows, part);
    }
    if active.len() <= blocks_per_task(step) {
        return K::solve(step, active, ALL_LANES, part);
    }
    let (first, last) = (layout.slab_of(first), layout.slab_of(last));
    if first == last {
        return solve_rows::<K>(step, active, part.rows_of(layout, first));
    }
    let slab = layout.slab_of(active[active.len() / 2]).max(first + 1);
    let cut = active.partition_point(|&rank| (rank as usize) < layout.slab_first_block(slab));
    let (low, high) = active.split_at(cut);
    let (low_part, high_part) = part.split_at(layout.slab_start(slab));
    both(|| solve::<K>(step, low, low_part), || solve::<K>(step, high, high_part))
}

/// Solves blocks of one slab, of which `part` has the rows.
fn solve_rows<K: Kernel>(step: &Step<'_, K::Cell>, active: &[u32], part: Part<'_, K::Cell>) -> u64 {
    if active.len() <= blocks_per_task(step) {
        return K::solve(step, active, ALL_LANES, part);
    }
    let (low, high) = active.split_at(active.len() / 2);
    let (low_part, high_part) = part.split_at(step.layout.block(high[0]).base);
    both(|| solve_rows::<K>(step, low, low_part), || solve_rows::<K>(step, high, high_part))
}

/// Solves a range of lanes of the one block that there is for three heaps or fewer; it has `rows` rows.
fn solve_lanes<K: Kernel>(
    step: &Step<'_, K::Cell>,
    lanes: Range<i32>,
    rows: u64,
    part: Part<'_, K::Cell>,
) -> u64 {
    let words = lanes.len() as u64 * rows * u64::from(K::CELL.bytes()) / 4;
    let group = K::CELL.group() as usize;
    if words <= step.task_words || lanes.len() <= group {
        return K::solve(step, &[0], lanes, part);
    }
    let middle = lanes.start + (lanes.len() / 2).next_multiple_of(group) as i32;
    let place = step.layout.block(0).base + middle as usize;
    let (low, high) = part.rows_of(step.layout, 0).split_at(place);
    both(
        || solve_lanes::<K>(step, lanes.start..middle, rows, low),
        || solve_lanes::<K>(step, middle..lanes.end, rows, high),
    )
}

/// The sum of two counts, found at the same time.
fn both(low: impl FnOnce() -> u64 + Send, high: impl FnOnce() -> u64 + Send) -> u64 {
    let (low, high) = rayon::join(low, high);
    low + high
}

fn blocks_per_task<C>(step: &Step<'_, C>) -> usize {
    (step.task_words * step.layout.blocks() as u64 / step.layout.words()).max(1) as usize
}
