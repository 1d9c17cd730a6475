//! Runs of blocks that differ in the last coordinate only, and the rows that a stencil reads for all of them.
//!
//! The blocks (x₃ … xₙ₋₂, y), y = 0 … xₙ₋₂, lie side by side in every row of their slab, each y at the same distance from
//! y = 0 whatever the other coordinates are. So the neighbours of all blocks of a run are found once: a term that takes
//! no stone from xₙ₋₁ reads, in a neighbouring run, the block of the same y, and one that takes a stone reads the block
//! before it. Only at the ends do blocks lack a term: at y = 0 those that take a stone from xₙ₋₁, and at y = xₙ₋₂ those
//! that take one from xₙ₋₂ and none from xₙ₋₁. Terms are listed with the former last and the latter first, so that what
//! any block reads is a contiguous part of the list.
//!
//! With four heaps a slab is one block, and a run too; with fewer there is one block in all.

#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a function for each instruction set, with what is inlined into it"
)]

use super::stencil::{Step, neighbour_rank};
use crate::space::Shift;

/// A run next to the one being solved: that with one stone less in some of the coordinates but the last.
struct Neighbour {
    /// These coordinates.
    axes: u32,
    /// Where its first row starts, y = 0 and lane 0; `None` where there is no such run.
    base: Option<usize>,
    pitch: usize,
    first_row: u32,
    /// Where the row being solved starts; `None` where there is no such row.
    start: Option<usize>,
}

impl Neighbour {
    /// Where a row starts.
    #[inline(always)]
    fn row(&self, row: u32) -> Option<usize> {
        let rows = row.checked_sub(self.first_row)?;
        Some(self.base? + rows as usize * self.pitch)
    }
}

/// What a term reads.
struct Source<'a, C> {
    /// The stratum that its moves arrive in.
    cells: &'a [C],
    /// Whether the lane loses a stone.
    lane: bool,
    /// Which neighbour it is in.
    neighbour: usize,
}

impl<'a, C> Source<'a, C> {
    /// Its cells from a place on, or from the zero before it.
    #[inline(always)]
    fn from(&self, start: usize) -> &'a [C] {
        &self.cells[start - usize::from(self.lane)..]
    }
}

/// The terms that are read in the same way.
struct Terms<'a, C> {
    /// Those that take a stone from xₙ₋₂ and none from xₙ₋₁, those that take none from either, and those that take one
    /// from xₙ₋₁.
    sources: [Vec<Source<'a, C>>; 3],
}

impl<'a, C> Terms<'a, C> {
    fn new() -> Self {
        Self { sources: [const { Vec::new() }; 3] }
    }

    /// Looks a row's cells up.
    #[inline(always)]
    fn row(&self, neighbours: &[Neighbour], out: &mut Row<'a, C>) {
        out.cells.clear();
        let mut ends = [0; 3];
        for (end, sources) in ends.iter_mut().zip(&self.sources) {
            for source in sources {
                if let Some(start) = neighbours[source.neighbour].start {
                    out.cells.push(source.from(start));
                }
            }
            *end = out.cells.len();
        }
        [out.tied, out.last_axis, _] = ends;
    }
}

/// The cells of one row that some terms read, from y = 0 and lane 0 on.
pub(super) struct Row<'a, C> {
    cells: Vec<&'a [C]>,
    /// How many are for blocks with y < xₙ₋₂ only; these are first.
    tied: usize,
    /// The first of those in which a block reads the one before it.
    last_axis: usize,
}

impl<'a, C> Row<'a, C> {
    pub fn new() -> Self {
        Self { cells: Vec::new(), tied: 0, last_axis: 0 }
    }

    /// The cells in which a block reads its own y, and those in which it reads the one before.
    #[inline(always)]
    pub fn of(&self, ends: Ends) -> [&[&'a [C]]; 2] {
        let first = if ends.tie { self.tied } else { 0 };
        let (same, before) = self.cells.split_at(self.last_axis);
        [&same[first..], if ends.zero { &[] } else { before }]
    }
}

/// What is read in one row of a run.
pub(super) struct Rows<'a, C> {
    pub unshifted: Row<'a, C>,
    pub either: Row<'a, C>,
    pub shifted: Row<'a, C>,
}

impl<C> Rows<'_, C> {
    pub fn new() -> Self {
        Self { unshifted: Row::new(), either: Row::new(), shifted: Row::new() }
    }
}

/// Which terms a block lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    /// y = 0.
    pub zero: bool,
    /// y = xₙ₋₂.
    pub tie: bool,
}

/// A run of blocks, of which some are solved.
pub(super) struct Run<'a, C> {
    unshifted: Terms<'a, C>,
    either: Terms<'a, C>,
    shifted: Terms<'a, C>,
    neighbours: Vec<Neighbour>,
    /// The rank of the block y = 0.
    pub first: u32,
    /// The greatest y.
    limit: u32,
}

impl<'a, C> Run<'a, C> {
    /// A run to be filled, one after another.
    pub fn new(step: &Step<'a, C>) -> Self {
        let axes = step.layout.axes();
        // With one coordinate, a run has no axis.
        let (tied, last) = if axes >= 2 { (1 << (axes - 2), 1 << (axes - 1)) } else { (0, 0) };
        let [mut unshifted, mut either, mut shifted] = std::array::from_fn(|_| Terms::new());
        let mut neighbours: Vec<Neighbour> = Vec::new();
        for term in &step.stencil.terms {
            let Some(cells) = step.sources[term.touch as usize] else { continue };
            let axes = term.axes & !last;
            let known = neighbours.iter().position(|neighbour| neighbour.axes == axes);
            let neighbour = known.unwrap_or(neighbours.len());
            if known.is_none() {
                neighbours.push(Neighbour { axes, base: None, pitch: 0, first_row: 0, start: None });
            }
            let terms = match term.shift {
                Shift::None => &mut unshifted,
                Shift::Either => &mut either,
                Shift::One => &mut shifted,
            };
            let kind = if term.axes & last != 0 { 2 } else { usize::from(axes & tied == 0) };
            terms.sources[kind].push(Source { cells, lane: term.lane, neighbour });
        }
        Self { unshifted, either, shifted, neighbours, first: 0, limit: 0 }
    }

    /// Finds the neighbours of the run that the first of these blocks is in, and returns how many of them are in it.
    #[inline(always)]
    pub fn fill(&mut self, step: &Step<'a, C>, blocks: &[u32]) -> usize {
        let coordinates = step.layout.block(blocks[0]).coordinates;
        let (prefix, y) = match coordinates {
            [prefix @ .., y] if !prefix.is_empty() => (prefix, u32::from(*y)),
            _ => (coordinates, 0),
        };
        self.first = blocks[0] - y;
        self.limit = if prefix.len() < coordinates.len() { prefix[prefix.len() - 1].into() } else { 0 };
        // A coordinate equal to the next cannot shrink alone, and an empty heap not at all.
        let (mut ties, mut empty) = (0u32, 0u32);
        for (axis, &x) in prefix.iter().enumerate() {
            ties |= u32::from(prefix.get(axis + 1) == Some(&x)) << axis;
            empty |= u32::from(x == 0) << axis;
        }
        for neighbour in &mut self.neighbours {
            let axes = neighbour.axes;
            neighbour.base = None;
            if axes & (empty | ties & !(axes >> 1)) == 0 {
                let block = step.layout.block(neighbour_rank(step.layout, prefix, self.first, axes));
                neighbour.base = Some(block.base);
                (neighbour.pitch, neighbour.first_row) = (block.pitch as usize, block.first_row);
            }
        }
        // The active blocks of a run are consecutive.
        let most = blocks.len().min((self.limit - y) as usize + 1);
        blocks[..most].iter().zip(blocks[0]..).take_while(|&(&rank, next)| rank == next).count()
    }

    /// Looks up what is read in a row.
    #[inline(always)]
    pub fn row(&mut self, row: u32, out: &mut Rows<'a, C>) {
        for neighbour in &mut self.neighbours {
            neighbour.start = neighbour.row(row);
        }
        self.unshifted.row(&self.neighbours, &mut out.unshifted);
        self.either.row(&self.neighbours, &mut out.either);
        self.shifted.row(&self.neighbours, &mut out.shifted);
    }

    /// Shows the cells of any row that a block reads shifted, and whether they are those of the block before.
    #[inline(always)]
    pub fn each_shifted(&self, ends: Ends, row: u32, mut show: impl FnMut(&'a [C], bool)) {
        for terms in [&self.either, &self.shifted] {
            for (kind, sources) in terms.sources.iter().enumerate() {
                if kind == 0 && ends.tie || kind == 2 && ends.zero {
                    continue;
                }
                for source in sources {
                    if let Some(start) = self.neighbours[source.neighbour].row(row) {
                        show(source.from(start), kind == 2);
                    }
                }
            }
        }
    }

    /// Which terms this block of the run lacks.
    #[inline(always)]
    pub fn ends(&self, rank: u32) -> Ends {
        Ends { zero: rank == self.first, tie: rank == self.first + self.limit }
    }
}
