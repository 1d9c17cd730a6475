//! Solves the runs of a stratum, a register of cells after another.
//!
//! A cell with x₁ + x₂ = t has at place k the position with x₂ = ⌊t/2⌋ − k. With t even, a stone less in x₁ leads to
//! place k − 1 and one less in x₂ to place k of the cell with t − 1; with t odd, to k and to k + 1. A stone from both leads
//! to the same place. So of the moves B of at most three of x₁, x₂ and the lane, with c the cell of the stratum below, l
//! that of one lane less, and h(c) = c | (t even: c one place on, t odd: one place back):
//!
//! | stones | read |
//! |---|---|
//! | 1 | h(c₁) \| l₁ |
//! | 2 | c₂ \| h(l₂) |
//! | 3 | l₃ |
//!
//! Moves that take stones from y and the prefix as well are read in what was found out strata ago, with the verdicts of the
//! positions on their way ([`folded`](super::folded)). With y one less, cells lie at a distance that grows with y, so what is read of all of them is
//! brought together first and then copied to where its readers are ([`Lower`]).

#![allow(
    clippy::inline_always,
    reason = "a kernel is compiled for each instruction set, with what is inlined into it"
)]

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};

use crate::cpu::slot::Slot;
use crate::space::{FOLDED_ALIGNMENT, FOLDED_PLACES, FoldedLayout, FoldedRun, prefetch};

/// Cells of a register.
type Cells<S> = <S as Simd>::u16s;

/// Strata below of which the cells of a run are read, at most.
const MOST_DEPTH: usize = 3;

/// With how many stones from x₁, x₂ and the lane the moves of some kind are legal.
#[derive(Clone, Copy)]
pub(super) struct Stones(pub [bool; 4]);

/// How many cells are loaded and stored for one that is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accesses {
    /// Loaded.
    pub loads: u32,
    /// Loaded besides for each cell that follows another in its lane, and for each that another follows.
    pub loads_beside: u32,
    /// Stored.
    pub stores: u32,
}

impl Accesses {
    /// For runs with several y or not, moves of at most so many heaps, this many runs that are read besides, and this many
    /// levels that are kept.
    pub(super) fn new(pairs: bool, touch_most: u32, runs: u32, levels: u32) -> Self {
        let depth = touch_most.min(MOST_DEPTH as u32);
        let (either, others) = (depth.min(2), depth);
        // What is brought together is stored, loaded to be copied, stored again, and loaded where it is read.
        let together = if pairs { 2 } else { 0 };
        Self { loads: either + others + runs + together, loads_beside: either, stores: 1 + levels + together }
    }
}

/// What all runs of one stratum share.
pub(super) struct Step<'a> {
    /// The layout of all strata.
    pub layout: &'a FoldedLayout,
    /// The total of the stratum being solved.
    pub total: u32,
    /// Positions with fewer nonempty heaps are terminal and N.
    pub least_nonempty: u32,
    /// The verdicts of the strata below, from the next on: as many as a move may touch heaps, or three.
    pub verdicts: Vec<&'a [u16]>,
    /// What is read for moves that take so many stones from y and the prefix, from one on; `None` where there are none.
    pub sources: Vec<Option<&'a [u16]>>,
    /// The moves that leave y and the prefix alone.
    pub own: Stones,
    /// What else is found out, by the moves that may follow; no stone at all is the position itself.
    pub levels: Vec<Stones>,
    /// Cells of a row that a task works on, about.
    pub task_cells: usize,
    /// The instruction set to use.
    pub level: Level,
}

/// The cells that a task writes: for the verdicts and each level, those of each row.
struct Out<'a> {
    rows: Vec<&'a mut [u16]>,
    /// The place in its row of the first.
    start: usize,
}

impl<'a> Out<'a> {
    /// All cells of some slots.
    fn whole(layout: &FoldedLayout, slots: &'a mut [Slot<u16>]) -> Self {
        let mut rows = Vec::new();
        for slot in slots {
            let mut left = &mut **slot;
            for row in 0..layout.row_count() {
                let (this, rest) = left.split_at_mut(layout.row(row).len());
                rows.push(this);
                left = rest;
            }
        }
        Self { rows, start: 0 }
    }

    /// One row of a run that starts at this place.
    #[inline(always)]
    fn row<'o>(&'o mut self, layout: &FoldedLayout, base: usize, row: usize) -> OutRow<'o, 'a> {
        OutRow { base: base - self.start, row, row_count: layout.row_count(), out: self }
    }

    /// Cuts every row at the same place, where it is so long.
    fn split_at(self, place: usize) -> (Self, Self) {
        let at = place - self.start;
        let cut = |row: &'a mut [u16]| row.split_at_mut(at.min(row.len()));
        let (low, high) = self.rows.into_iter().map(cut).unzip();
        (Self { rows: low, start: self.start }, Self { rows: high, start: place })
    }
}

/// One row of a run, of the verdicts and of each level.
struct OutRow<'o, 'a> {
    out: &'o mut Out<'a>,
    base: usize,
    row: usize,
    row_count: usize,
}

impl OutRow<'_, '_> {
    #[inline(always)]
    fn load<S: Simd>(&self, simd: S, slot: usize, at: usize) -> Cells<S> {
        load(simd, self.out.rows[slot * self.row_count + self.row], self.base + at)
    }

    #[inline(always)]
    fn store<S: Simd>(&mut self, slot: usize, at: usize, value: Cells<S>) {
        store::<S>(self.out.rows[slot * self.row_count + self.row], self.base + at, value);
    }
}

/// Solves a stratum into these slots, that of its verdicts first, on all threads of the pool that it is called in. Returns
/// the number of its P-positions. If the verdicts are given, only the levels are found.
pub(super) fn solve(step: &Step<'_>, slots: &mut [Slot<u16>], given: bool) -> u64 {
    let mut active = Vec::new();
    step.layout.active_runs(step.total, &mut active);
    solve_part(step, &active, Out::whole(step.layout, slots), given)
}

/// Solves some runs, whose cells `out` has.
fn solve_part(step: &Step<'_>, active: &[u32], out: Out<'_>, given: bool) -> u64 {
    let (Some(&first), Some(&last)) = (active.first(), active.last()) else { return 0 };
    let bases = step.layout.bases();
    let (start, end) = (bases[first as usize], bases[last as usize + 1]);
    if active.len() > 1 && (end - start) as usize > step.task_cells {
        let middle = start.midpoint(end);
        let half = active.partition_point(|&rank| bases[rank as usize] < middle).clamp(1, active.len() - 1);
        let (low, high) = active.split_at(half);
        let (low_out, high_out) = out.split_at(bases[high[0] as usize] as usize);
        let (low, high) =
            rayon::join(|| solve_part(step, low, low_out, given), || solve_part(step, high, high_out, given));
        return low + high;
    }
    let pairs = step.layout.has_pairs();
    dispatch!(step.level, simd => match (step.verdicts.len(), pairs) {
        (1, false) => solve_runs::<_, 1, false>(simd, step, active, out, given),
        (1, true) => solve_runs::<_, 1, true>(simd, step, active, out, given),
        (2, false) => solve_runs::<_, 2, false>(simd, step, active, out, given),
        (2, true) => solve_runs::<_, 2, true>(simd, step, active, out, given),
        (_, false) => solve_runs::<_, MOST_DEPTH, false>(simd, step, active, out, given),
        (_, true) => solve_runs::<_, MOST_DEPTH, true>(simd, step, active, out, given),
    })
}

/// Solves runs on one thread. `DEPTH` strata below are read, as many as there are verdicts in the step; `PAIRS` where
/// runs have several y.
#[inline(always)]
fn solve_runs<S: Simd, const DEPTH: usize, const PAIRS: bool>(
    simd: S,
    step: &Step<'_>,
    active: &[u32],
    mut out: Out<'_>,
    given: bool,
) -> u64 {
    let moves = Moves::new(simd, step);
    let verdicts = rows_of::<DEPTH>(step);
    let mut neighbours = Neighbours::new(step, PAIRS);
    let mut lower = Lower::default();
    let (mut sources, mut sources_below) = (Vec::new(), Vec::new());
    let mut count = S::u32s::splat(simd, 0);
    for &rank in active {
        let run = step.layout.run(rank);
        let Some(windows) = Windows::new::<PAIRS>(step.layout, step.total, step.least_nonempty, &run) else {
            continue;
        };
        neighbours.find::<PAIRS>(step, &run, rank);
        for row in 0..windows.rows {
            let Some(span) = windows.span::<PAIRS>(step.layout, &run, row) else { break };
            let mut own = [Row::default(); DEPTH];
            for (strata, own) in own.iter_mut().enumerate() {
                // From one cell before, that is one lane less.
                let first = run.base - 1;
                own.here = &verdicts[row][strata][first..];
                if row > 0 {
                    own.before = Some(&verdicts[row - 1][strata][first..]);
                }
                if row + 1 < windows.read {
                    own.after = Some(&verdicts[row + 1][strata][first..]);
                }
            }
            rows(step.layout, rank, &neighbours.same, row, &mut sources);
            if PAIRS {
                rows(step.layout, rank, &neighbours.below, row, &mut sources_below);
                lower.fill(simd, step.layout, &sources_below, &span, run.cells);
            }
            let valid = Valid::new(simd, step.layout, &windows, row);
            let sweep = Sweep::<S, DEPTH> {
                simd,
                moves: &moves,
                own,
                sources: &sources,
                lower: &lower.copied,
                valid,
                span,
            };
            let mut cells = out.row(step.layout, run.base, row);
            count += sweep.solve::<PAIRS>(&mut cells, given);
        }
    }
    count.as_slice().iter().map(|&count| u64::from(count)).sum()
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
    for run in active.iter().map(|&rank| layout.run(rank)) {
        let Some(windows) = Windows::new::<PAIRS>(layout, total, 0, &run) else { continue };
        for span in (0..windows.rows).map_while(|row| windows.span::<PAIRS>(layout, &run, row)) {
            swept.rows += 1;
            swept.cells += (span.end - span.first) as u64;
        }
    }
    swept
}

/// The rows of the strata below.
fn rows_of<'a, const DEPTH: usize>(step: &Step<'a>) -> Vec<[&'a [u16]; DEPTH]> {
    let row = |row| std::array::from_fn(|strata| &step.verdicts[strata][step.layout.row(row)]);
    (0..step.layout.row_count()).map(row).collect()
}

/// The legal moves, as masks of whole registers.
struct Moves<S: Simd> {
    own: [Cells<S>; 4],
    levels: Vec<[Cells<S>; 4]>,
}

impl<S: Simd> Moves<S> {
    #[inline(always)]
    fn new(simd: S, step: &Step<'_>) -> Self {
        let mask = |there: bool| Cells::<S>::splat(simd, if there { u16::MAX } else { 0 });
        let masks = |stones: &Stones| stones.0.map(mask);
        Self { own: masks(&step.own), levels: step.levels.iter().map(masks).collect() }
    }
}

/// A set of coordinates of the prefix that lose a stone.
struct Subset {
    axes: u32,
    /// The set without its first coordinate, which is this.
    rest: usize,
    axis: usize,
}

/// A run that is read: a slot, and how much lower its rank is than that of the reader.
#[derive(Clone, Copy)]
struct Neighbour<'a> {
    slot: &'a [u16],
    lower: u32,
}

/// The runs that a run reads.
struct Neighbours<'a> {
    /// All sets that a move may take a stone from each of, smaller ones first, from the empty one on.
    subsets: Vec<Subset>,
    /// How much lower the rank is with each.
    lower: Vec<u32>,
    /// For which runs all this holds.
    known: Option<Alike>,
    /// Those of which the same y is read, and those of which the y below.
    same: Vec<Neighbour<'a>>,
    below: Vec<Neighbour<'a>>,
}

/// Runs that differ in the last coordinate only have neighbours at the same distances, as that coordinate's rank is itself;
/// but for those in which it is zero or as large as the one before.
#[derive(PartialEq)]
struct Alike {
    /// The rank of the first of them.
    first: u32,
    zero: bool,
    tie: bool,
}

impl<'a> Neighbours<'a> {
    fn new(step: &Step<'a>, pairs: bool) -> Self {
        let sizes = step.sources.len() as u32;
        let most = (1..=sizes).rev().find(|&size| step.sources[size as usize - 1].is_some()).unwrap_or(0);
        let most = if pairs && most > step.layout.axes() as u32 { most - 1 } else { most };
        let sets = 0..1u32 << step.layout.axes();
        let mut sets = sets.filter(|set| set.count_ones() <= most).collect::<Vec<_>>();
        sets.sort_by_key(|set| set.count_ones());
        let mut places = vec![0; 1 << step.layout.axes()];
        for (place, &set) in sets.iter().enumerate() {
            places[set as usize] = place;
        }
        let subset = |&axes: &u32| Subset {
            axes,
            rest: places[(axes & axes.wrapping_sub(1)) as usize],
            axis: axes.trailing_zeros() as usize,
        };
        let subsets = sets.iter().map(subset).collect::<Vec<_>>();
        let lower = vec![0; subsets.len()];
        Self { subsets, lower, known: None, same: Vec::new(), below: Vec::new() }
    }

    /// Finds the runs that this one reads.
    #[inline(always)]
    fn find<const PAIRS: bool>(&mut self, step: &Step<'a>, run: &FoldedRun<'_>, rank: u32) {
        let left = run.prefix.len().checked_sub(2).map(|axis| run.prefix[axis]);
        let alike = Alike {
            first: rank - run.limit as u32,
            zero: run.limit == 0,
            tie: left.is_some_and(|x| i32::from(x) == run.limit),
        };
        if self.known.as_ref() != Some(&alike) {
            self.find_anew::<PAIRS>(step, run);
            self.known = Some(alike);
        }
    }

    fn find_anew<const PAIRS: bool>(&mut self, step: &Step<'a>, run: &FoldedRun<'_>) {
        // A coordinate equal to the next cannot shrink alone, and an empty heap not at all.
        let (mut ties, mut empty) = (0u32, 0u32);
        for (axis, &x) in run.prefix.iter().enumerate() {
            ties |= u32::from(run.prefix.get(axis + 1) == Some(&x)) << axis;
            empty |= u32::from(x == 0) << axis;
        }
        let terms = step.layout.rank_terms();
        self.same.clear();
        self.below.clear();
        for (at, &Subset { axes, rest, axis }) in self.subsets.iter().enumerate() {
            if axes & empty != 0 {
                continue;
            }
            if axes != 0 {
                let x = usize::from(run.prefix[axis]);
                self.lower[at] = self.lower[rest] + terms[axis][x] - terms[axis][x - 1];
            }
            if axes & ties & !(axes >> 1) != 0 {
                continue;
            }
            let (lower, size) = (self.lower[at], axes.count_ones() as usize);
            if size > 0
                && let Some(slot) = step.sources[size - 1]
            {
                self.same.push(Neighbour { slot, lower });
            }
            if PAIRS && let Some(&Some(slot)) = step.sources.get(size) {
                self.below.push(Neighbour { slot, lower });
            }
        }
    }
}

/// The cells of one row that are read of some neighbours of a run, each from the start of the neighbour on.
#[inline(always)]
fn rows<'a>(layout: &FoldedLayout, rank: u32, runs: &[Neighbour<'a>], row: usize, out: &mut Vec<&'a [u16]>) {
    let (row, bases) = (layout.row(row), layout.bases());
    out.clear();
    for &Neighbour { slot, lower } in runs {
        out.push(&slot[row.start + bases[(rank - lower) as usize] as usize..row.end]);
    }
}

/// What the stratum has of a run.
struct Windows {
    /// The stones of x₁, x₂, y and the lane.
    rest: i32,
    cap: i32,
    /// x₃.
    floor: i32,
    /// How many rows have positions, and how many are read.
    rows: usize,
    read: usize,
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
    fn new<const PAIRS: bool>(
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
    fn span<const PAIRS: bool>(
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
            return (first <= last).then(|| Span {
                first: layout.first_cell(first),
                y: first,
                positions,
                end,
            });
        }
        let last = most.min(run.limit + 1);
        let positions = if self.none { 0 } else { last.min(run.limit) + 1 };
        let cell = |lane: i32| lane as usize;
        (least <= last).then(|| Span {
            first: cell(least),
            y: 0,
            positions: cell(positions),
            end: cell(last + 1),
        })
    }
}

/// Cells of a run in one row.
struct Span {
    /// The first, and its y.
    first: usize,
    y: i32,
    /// Where the last ends that may be a position.
    positions: usize,
    /// Where the last ends that moves lead to.
    end: usize,
}

/// A row of a stratum and the rows next to it: of cells with one lane less than those at the same index of what is written.
#[derive(Clone, Copy, Default)]
struct Row<'a> {
    here: &'a [u16],
    before: Option<&'a [u16]>,
    after: Option<&'a [u16]>,
}

impl Row<'_> {
    /// Cells of one lane less.
    #[inline(always)]
    fn less<S: Simd>(&self, simd: S, at: usize) -> Cells<S> {
        load(simd, self.here, at)
    }

    /// Cells of the same lane.
    #[inline(always)]
    fn same<S: Simd>(&self, simd: S, at: usize) -> Cells<S> {
        load(simd, self.here, at + 1)
    }

    /// What a stone from x₁ or one from x₂ leads to: the cells at an index and, where t is even, those with each place one
    /// on, where it is odd, one back.
    #[inline(always)]
    fn either<S: Simd>(&self, simd: S, at: usize, even: Cells<S>) -> Cells<S> {
        let cells = load(simd, self.here, at);
        let (mut on, mut back) = (cells >> 1, cells << 1);
        if let Some(row) = self.before {
            on |= load(simd, row, at) << (FOLDED_PLACES - 1);
        }
        if let Some(row) = self.after {
            back |= load(simd, row, at) >> (FOLDED_PLACES - 1);
        }
        cells | ((on ^ back) & even ^ back)
    }
}

/// What moves that take a stone from y read of one row.
#[derive(Default)]
struct Lower {
    /// In the cells of the y that they lead to.
    found: Vec<u16>,
    /// In the cells that they come from.
    copied: Vec<u16>,
}

impl Lower {
    /// Finds it for the cells of a span. The next run reads about so many cells ahead.
    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        layout: &FoldedLayout,
        sources: &[&[u16]],
        span: &Span,
        ahead: usize,
    ) {
        let lanes = Cells::<S>::LEN;
        let length = span.end + 2 * FOLDED_ALIGNMENT;
        if self.found.len() < length {
            self.found.resize(length, 0);
            self.copied.resize(length, 0);
        }
        let (found, copied) = (&mut self.found[..length], &mut self.copied[..length]);
        let first = span.y.max(1);
        if span.y == 0 {
            // With no stones in y there are none to take.
            copied[..2].fill(0);
        }
        let mut start = layout.first_cell(first);
        if start >= span.end {
            return;
        }
        // The last y leads to the one below it, which has as many cells less as it has lanes.
        let mut at = layout.first_cell(first - 1) / lanes * lanes;
        while at < span.end {
            let mut reached = Cells::<S>::splat(simd, 0);
            for cells in sources {
                reached |= load(simd, cells, at);
                prefetch(cells, at + ahead);
            }
            store::<S>(found, at, reached);
            at += lanes;
        }
        let mut y = first as usize;
        while start < span.end {
            // Of y − 1, with one lane more than it has.
            let source = start - (y + 1);
            let mut at = 0;
            while at <= y {
                store::<S>(copied, start + at, load(simd, found, source + at));
                at += lanes;
            }
            start += y + 2;
            y += 1;
        }
    }
}

/// Which places of cells in a row are positions.
struct Valid<'a, S: Simd> {
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
    fn new(simd: S, layout: &'a FoldedLayout, windows: &Windows, row: usize) -> Self {
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
    fn even(&self, simd: S, at: usize) -> Cells<S> {
        load(simd, self.even, at) ^ self.odd
    }

    /// The places of the cells from `at` on.
    #[inline(always)]
    fn places(&self, simd: S, at: usize) -> Cells<S> {
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

/// One row of a run being solved.
struct Sweep<'a, 'r, S: Simd, const DEPTH: usize> {
    simd: S,
    moves: &'r Moves<S>,
    /// The run in the strata below.
    own: [Row<'r>; DEPTH],
    /// What is read of other runs, and what with one y less.
    sources: &'r [&'a [u16]],
    lower: &'r [u16],
    valid: Valid<'r, S>,
    span: Span,
}

impl<S: Simd, const DEPTH: usize> Sweep<'_, '_, S, DEPTH> {
    /// Solves the row, and returns the P-positions in each part of a register.
    #[inline(always)]
    fn solve<const PAIRS: bool>(&self, out: &mut OutRow<'_, '_>, given: bool) -> S::u32s {
        let simd = self.simd;
        let lanes = Cells::<S>::LEN;
        let zero = Cells::<S>::splat(simd, 0);
        let mut count = S::u32s::splat(simd, 0);
        let mut at = self.span.first / lanes * lanes;
        while at < self.span.end {
            let mut own = self.reached(at, self.valid.even(simd, at));
            let mut reached = among(&self.moves.own, &own);
            for cells in self.sources {
                reached |= load(simd, cells, at);
            }
            if PAIRS {
                reached |= load(simd, self.lower, at);
            }
            own[0] = if given {
                out.load(simd, 0, at)
            } else {
                let mut verdicts = self.valid.places(simd, at) & !reached;
                if at + lanes > self.span.positions {
                    let left = self.span.positions.saturating_sub(at) as u16;
                    let there = load(simd, &INDICES, 0).simd_lt(Cells::<S>::splat(simd, left));
                    verdicts = there.select(verdicts, zero);
                }
                out.store::<S>(0, at, verdicts);
                verdicts
            };
            count += own[0].bitcast::<S::u32s>().count_ones();
            for (level, moves) in self.moves.levels.iter().enumerate() {
                out.store::<S>(level + 1, at, among(moves, &own));
            }
            at += lanes;
        }
        count
    }

    /// The positions from which one, two or three stones from x₁, x₂ and the lane lead to a P-position. None for no stones.
    #[inline(always)]
    fn reached(&self, at: usize, even: Cells<S>) -> [Cells<S>; 4] {
        let simd = self.simd;
        let mut reached = [Cells::<S>::splat(simd, 0); 4];
        if let Some(below) = self.own.first() {
            reached[1] = below.either(simd, at + 1, even) | below.less(simd, at);
        }
        if let Some(below) = self.own.get(1) {
            reached[2] = below.same(simd, at) | below.either(simd, at, even);
        }
        if let Some(below) = self.own.get(2) {
            reached[3] = below.less(simd, at);
        }
        reached
    }
}

/// What of these is reached by legal moves.
#[inline(always)]
fn among<V: Copy + std::ops::BitAnd<Output = V> + std::ops::BitOr<Output = V>>(
    moves: &[V; 4],
    reached: &[V; 4],
) -> V {
    moves[0] & reached[0] | moves[1] & reached[1] | moves[2] & reached[2] | moves[3] & reached[3]
}

/// The indices of the cells of a register.
static INDICES: [u16; FOLDED_ALIGNMENT] = {
    let mut indices = [0; FOLDED_ALIGNMENT];
    let mut i = 0;
    while i < FOLDED_ALIGNMENT {
        indices[i] = i as u16;
        i += 1;
    }
    indices
};

#[inline(always)]
fn load<S: Simd>(simd: S, cells: &[u16], at: usize) -> Cells<S> {
    Cells::<S>::from_slice(simd, &cells[at..at + Cells::<S>::LEN])
}

#[inline(always)]
fn store<S: Simd>(cells: &mut [u16], at: usize, value: Cells<S>) {
    value.store_slice(&mut cells[at..at + Cells::<S>::LEN]);
}
