//! Which cells of a run a stratum has, and which of their places are positions.

#![allow(
    clippy::inline_always,
    reason = "a kernel is compiled for each instruction set, with what is inlined into it"
)]

use fearless_simd::prelude::*;

use super::registers::{Cells, load};
use crate::space::{FOLDED_PLACES, FoldedLayout, FoldedRun};

/// What the stratum has of a run.
pub(super) struct Windows {
    /// The stones of x₁, x₂, y and the lane.
    rest: i32,
    cap: i32,
    /// x₃.
    floor: i32,
    /// How many rows have positions, and how many are read.
    pub rows: usize,
    pub read: usize,
    /// Which table of [`FoldedLayout::nonempty`] tells the positions that are not terminal and N.
    table: Option<usize>,
    /// No place in any cell is a position that may be P.
    none: bool,
    /// One that is terminal and N in every cell; negative for none.
    cleared: i32,
}

impl Windows {
    /// Positions with fewer than `least_nonempty` nonempty heaps are terminal and N. `None` where there is nothing to find
    /// out.
    #[inline(always)]
    pub(super) fn new<const PAIRS: bool>(
        layout: &FoldedLayout,
        total: u32,
        least_nonempty: u32,
        run: &FoldedRun<'_>,
    ) -> Option<Self> {
        let (cap, floor, rest) = (layout.max(), run.floor, total as i32 - run.stones);
        // With one lane more, which moves lead to that take a stone from y or from x₃ as well.
        let most = if PAIRS { 2 * run.limit + 1 } else { run.limit + 1 };
        let places = |both: i32| (both - 2 * floor).min(2 * cap - both).div_euclid(2);
        let last = places((cap + floor).clamp(rest - most, rest));
        if last < 0 {
            return None;
        }
        let last = last as usize;
        let rows = last / FOLDED_PLACES as usize + 1;
        // A move may lead one place on.
        let read = ((last + 1) / FOLDED_PLACES as usize + 1).min(run.rows);
        let mut windows = Self { rest, cap, floor, rows, read, table: None, none: false, cleared: -1 };
        if least_nonempty > 0 {
            windows.clear_terminal(least_nonempty, run);
        }
        Some(windows)
    }

    /// Leaves positions out that are terminal and N.
    #[cold]
    fn clear_terminal(&mut self, least: u32, run: &FoldedRun<'_>) {
        if self.floor == 0 {
            // x₁ and x₂ are all there is.
            self.none = least > 2 || least == 1 && self.rest == 0;
            self.cleared = if least == 2 { self.rest / 2 } else { -1 };
            return;
        }
        let nonempty = run.prefix.iter().filter(|&&x| x > 0).count() as u32 + 2;
        let lacking = least.saturating_sub(nonempty) as usize;
        self.none = lacking > 2;
        self.table = lacking.checked_sub(1).filter(|&table| table < 2);
    }

    /// The cells of a row; `None` if there are none.
    #[inline(always)]
    pub(super) fn span<const PAIRS: bool>(
        &self,
        layout: &FoldedLayout,
        run: &FoldedRun<'_>,
        row: usize,
    ) -> Option<Span> {
        let skipped = 2 * FOLDED_PLACES as i32 * row as i32;
        // The sums of y and lane that leave enough for x₁ and x₂, and not too much.
        let least = (self.rest - 2 * self.cap + skipped).max(0);
        let most = self.rest - 2 * self.floor - skipped;
        if PAIRS {
            // y has lanes up to y, and one more.
            let (first, last) = (least / 2, most.min(run.limit));
            let end = layout.first_cell(last + 1);
            let positions = if self.none { 0 } else { end };
            return (first <= last).then(|| Span { first: layout.first_cell(first), positions, end });
        }
        let last = most.min(run.limit + 1);
        let positions = if self.none { 0 } else { last.min(run.limit) + 1 };
        let cell = |lane: i32| lane as usize;
        (least <= last).then(|| Span { first: cell(least), positions: cell(positions), end: cell(last + 1) })
    }
}

/// Cells of a run in one row.
pub(super) struct Span {
    /// The first.
    pub first: usize,
    /// Where the last ends that may be a position.
    pub positions: usize,
    /// Where the last ends that moves lead to.
    pub end: usize,
}

/// Which places of cells in a row are positions.
pub(super) struct Valid<'a, S: Simd> {
    /// y + lane of each cell.
    sums: &'a [u16],
    even: &'a [u16],
    nonempty: Option<&'a [u16]>,
    /// Twice the places up to where x₂ falls below x₃, in a cell with the sum 0.
    falling: Cells<S>,
    /// Twice the places up to where x₁ rises above the cap: `rising` plus the sum of the cell, less `lacking`.
    rising: Cells<S>,
    lacking: Cells<S>,
    /// Whether the stones for x₁ and x₂ are odd in a cell with an even sum.
    odd: Cells<S>,
    /// Those that are not terminal.
    kept: Cells<S>,
}

impl<'a, S: Simd> Valid<'a, S> {
    #[inline(always)]
    pub(super) fn new(simd: S, layout: &'a FoldedLayout, windows: &Windows, row: usize) -> Self {
        let splat = |value: i32| Cells::<S>::splat(simd, value.max(0) as u16);
        let (rest, places) = (windows.rest, FOLDED_PLACES as i32);
        let skipped = 2 * places * row as i32;
        let rising = 2 * windows.cap + 2 - rest - skipped;
        let cleared = windows.cleared - places * row as i32;
        let kept = if (0..places).contains(&cleared) { !(1u16 << (places - 1 - cleared)) } else { u16::MAX };
        Self {
            sums: layout.sums(),
            even: layout.even(),
            nonempty: windows.table.map(|table| layout.nonempty(table)),
            falling: splat(rest + 2 - 2 * windows.floor - skipped),
            rising: splat(rising),
            lacking: splat(-rising),
            odd: Cells::<S>::splat(simd, if rest % 2 == 0 { 0 } else { u16::MAX }),
            kept: Cells::<S>::splat(simd, kept),
        }
    }

    /// All ones in the cells from `at` on in which x₁ + x₂ is even.
    #[inline(always)]
    pub(super) fn even(&self, simd: S, at: usize) -> Cells<S> {
        load(simd, self.even, at) ^ self.odd
    }

    /// The places of the cells from `at` on.
    #[inline(always)]
    pub(super) fn places(&self, simd: S, at: usize) -> Cells<S> {
        let sums = load(simd, self.sums, at);
        let falling = self.falling.max(sums) - sums;
        let rising = (self.rising + sums).max(self.lacking) - self.lacking;
        let count = (falling.min(rising) >> 1).min(Cells::<S>::splat(simd, FOLDED_PLACES as u16));
        // So many from the top; a shift by all bits at once is not defined.
        let ones = Cells::<S>::splat(simd, u16::MAX);
        let half = count >> 1;
        let places = ((ones >> half) >> (count - half)) ^ ones;
        let places = places & self.kept;
        match self.nonempty {
            Some(cells) => places & load(simd, cells, at),
            None => places,
        }
    }
}

/// What solving a stratum goes through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Rows of runs, each of which is set up.
    pub rows: u64,
    /// Cells in them, from the first to the last.
    pub cells: u64,
}

/// Counts what solving a stratum goes through, without solving it.
#[must_use]
pub fn swept(layout: &FoldedLayout, total: u32) -> Swept {
    if layout.has_pairs() { swept_of::<true>(layout, total) } else { swept_of::<false>(layout, total) }
}

fn swept_of<const PAIRS: bool>(layout: &FoldedLayout, total: u32) -> Swept {
    let mut active = Vec::new();
    layout.active_runs(total, &mut active);
    let mut swept = Swept::default();
    for run in active.into_iter().flatten().map(|rank| layout.run(rank)) {
        let Some(windows) = Windows::new::<PAIRS>(layout, total, 0, &run) else { continue };
        for span in (0..windows.rows).map_while(|row| windows.span::<PAIRS>(layout, &run, row)) {
            swept.rows += 1;
            swept.cells += (span.end - span.first) as u64;
        }
    }
    swept
}
