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
//! positions on their way ([`folded`](super::folded)): in the same place of other runs ([`Neighbours`]), and if y loses a
//! stone, in another place of these ([`lower`](super::lower)).

#![allow(
    clippy::inline_always,
    reason = "a kernel is compiled for each instruction set, with what is inlined into it"
)]

use std::ops::Range;

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};

use super::lower::{Below, Far, Lower, Near, Nothing};
use super::neighbours::{Neighbours, Sources, Subset};
use super::registers::{Cells, load, select_first, store};
use super::windows::{Span, Valid, Windows};
use crate::cpu::slot::Slot;
use crate::space::{FOLDED_PLACES, FoldedLayout};

/// Strata below of which the cells of a run are read, at most.
pub(super) const MOST_DEPTH: usize = 3;

/// With how many stones from x₁, x₂ and the lane the moves of some kind are legal.
#[derive(Clone, Copy)]
pub(super) struct Stones(pub [bool; 4]);

/// Registers that are solved together: what is looked up for a load serves all of them.
const BLOCK: usize = 2;

/// What all runs of one stratum share.
pub(super) struct Step<'a> {
    /// The layout of all strata.
    pub layout: &'a FoldedLayout,
    /// Where moves that take a stone from y lead, for registers of this instruction set.
    pub lower: &'a Lower,
    /// The sets of coordinates of the prefix, but for the last, that a move may take a stone from each of.
    pub subsets: &'a [Subset],
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
    let (Some(first), Some(last)) = (active.first(), active.last()) else { return 0 };
    let part = Part { groups: &active, first: first.start, end: last.end };
    solve_part(step, part, Out::whole(step.layout, slots), given)
}

/// Some of the active runs.
#[derive(Clone, Copy)]
struct Part<'a> {
    /// Ranks of runs that differ in the last coordinate of their prefix only.
    groups: &'a [Range<u32>],
    /// The rank of the first run, in the first group, and where the last ends, in the last.
    first: u32,
    end: u32,
}

impl Part<'_> {
    /// All runs from some rank on, and those before; `None` where one of the two would have none.
    fn split_at(self, rank: u32) -> Option<(Self, Self)> {
        let later = self.groups.partition_point(|group| group.end <= rank);
        let rank = rank.max(self.groups.get(later)?.start);
        let cut = rank > self.groups[later].start;
        let earlier = if cut { later + 1 } else { later };
        let end = if cut { rank } else { self.groups[later.checked_sub(1)?].end };
        let low = Self { groups: &self.groups[..earlier], end, ..self };
        let high = Self { groups: &self.groups[later..], first: rank, ..self };
        (low.first < low.end && high.first < high.end).then_some((low, high))
    }

    /// The groups, cut where this part starts and ends.
    fn groups(self) -> impl Iterator<Item = Range<u32>> {
        self.groups.iter().map(move |group| group.start.max(self.first)..group.end.min(self.end))
    }
}

/// Solves some runs, whose cells `out` has.
fn solve_part(step: &Step<'_>, part: Part<'_>, out: Out<'_>, given: bool) -> u64 {
    let bases = step.layout.bases();
    let (start, end) = (bases[part.first as usize], bases[part.end as usize]);
    if (end - start) as usize > step.task_cells {
        let middle = start.midpoint(end);
        let half = bases.partition_point(|&base| base < middle) as u32;
        if let Some((low, high)) = part.split_at(half) {
            let (low_out, high_out) = out.split_at(bases[high.first as usize] as usize);
            let (low, high) = rayon::join(
                || solve_part(step, low, low_out, given),
                || solve_part(step, high, high_out, given),
            );
            return low + high;
        }
    }
    let pairs = step.layout.has_pairs();
    dispatch!(step.level, simd => match (step.verdicts.len(), pairs) {
        (1, false) => solve_runs::<_, 1, false>(simd, step, part, out, given),
        (1, true) => solve_runs::<_, 1, true>(simd, step, part, out, given),
        (2, false) => solve_runs::<_, 2, false>(simd, step, part, out, given),
        (2, true) => solve_runs::<_, 2, true>(simd, step, part, out, given),
        (_, false) => solve_runs::<_, MOST_DEPTH, false>(simd, step, part, out, given),
        (_, true) => solve_runs::<_, MOST_DEPTH, true>(simd, step, part, out, given),
    })
}

/// Solves runs on one thread. `DEPTH` strata below are read, as many as there are verdicts in the step; `PAIRS` where
/// runs have several y.
#[inline(always)]
fn solve_runs<S: Simd, const DEPTH: usize, const PAIRS: bool>(
    simd: S,
    step: &Step<'_>,
    part: Part<'_>,
    mut out: Out<'_>,
    given: bool,
) -> u64 {
    let layout = step.layout;
    let moves = Moves::new(simd, step);
    let verdicts = rows_of::<DEPTH>(step);
    let mut neighbours = Neighbours::new(layout, step.subsets, &step.sources);
    let lanes = Cells::<S>::LEN;
    let mut found = Vec::new();
    let mut count = S::u32s::splat(simd, 0);
    for group in part.groups() {
        neighbours.find(&layout.run(group.start), group.start);
        for rank in group {
            let run = layout.run(rank);
            let Some(windows) = Windows::new::<PAIRS>(layout, step.total, step.least_nonempty, &run) else {
                continue;
            };
            for row in 0..windows.rows {
                let Some(span) = windows.span::<PAIRS>(layout, &run, row) else { break };
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
                let [sources, below] = neighbours.of(&run, row);
                let valid = Valid::new(simd, layout, &windows, row);
                let sweep = Sweep::<S, DEPTH> { simd, moves: &moves, own, sources, valid, span };
                let mut cells = out.row(layout, run.base, row);
                let registers = sweep.span.first / lanes * lanes..sweep.span.end;
                if PAIRS {
                    let lower = step.lower;
                    let [near, far] = lower.split(registers);
                    if !near.is_empty() {
                        let mut lower = Near::new(simd, lower, &below, near.start);
                        count += sweep.solve(near, &mut cells, given, &mut lower);
                    }
                    if !far.is_empty() {
                        let mut lower = Far::new(simd, lower, &below, &far, &mut found);
                        count += sweep.solve(far, &mut cells, given, &mut lower);
                    }
                } else {
                    count += sweep.solve(registers, &mut cells, given, &mut Nothing(simd));
                }
            }
        }
    }
    count.as_slice().iter().map(|&count| u64::from(count)).sum()
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

/// One row of a run being solved.
struct Sweep<'a, 'r, S: Simd, const DEPTH: usize> {
    simd: S,
    moves: &'r Moves<S>,
    /// The run in the strata below.
    own: [Row<'r>; DEPTH],
    /// What is read of other runs with the same y.
    sources: Sources<'r, 'a>,
    valid: Valid<'r, S>,
    span: Span,
}

impl<S: Simd, const DEPTH: usize> Sweep<'_, '_, S, DEPTH> {
    /// Solves the registers of these cells of the row, and returns the P-positions in each part of a register.
    #[inline(always)]
    fn solve(
        &self,
        cells: Range<usize>,
        out: &mut OutRow<'_, '_>,
        given: bool,
        below: &mut impl Below<S>,
    ) -> S::u32s {
        let lanes = Cells::<S>::LEN;
        let mut count = S::u32s::splat(self.simd, 0);
        let mut at = cells.start;
        while at + (BLOCK - 1) * lanes < cells.end {
            count += self.solve_block::<BLOCK>(at, out, given, below);
            at += BLOCK * lanes;
        }
        while at < cells.end {
            count += self.solve_block::<1>(at, out, given, below);
            at += lanes;
        }
        count
    }

    /// Solves some registers.
    #[inline(always)]
    fn solve_block<const REGISTERS: usize>(
        &self,
        at: usize,
        out: &mut OutRow<'_, '_>,
        given: bool,
        below: &mut impl Below<S>,
    ) -> S::u32s {
        let simd = self.simd;
        let lanes = Cells::<S>::LEN;
        let mut count = S::u32s::splat(simd, 0);
        let others = self.sources.load::<S, REGISTERS>(simd, at);
        let below = below.next::<REGISTERS>(at);
        for register in 0..REGISTERS {
            let at = at + register * lanes;
            let mut own = self.reached(at, self.valid.even(simd, at));
            let reached = among(&self.moves.own, &own) | others[register] | below[register];
            own[0] = if given {
                out.load(simd, 0, at)
            } else {
                let mut verdicts = self.valid.places(simd, at) & !reached;
                if at + lanes > self.span.positions {
                    let left = self.span.positions.saturating_sub(at) as u16;
                    verdicts = select_first(simd, left, verdicts, Cells::<S>::splat(simd, 0));
                }
                out.store::<S>(0, at, verdicts);
                verdicts
            };
            count += own[0].bitcast::<S::u32s>().count_ones();
            for (level, moves) in self.moves.levels.iter().enumerate() {
                out.store::<S>(level + 1, at, among(moves, &own));
            }
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
