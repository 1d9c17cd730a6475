//! What the CPU twins of the stencil kernels share: the ring of strata, and the rows of neighbour blocks that the terms
//! of a stencil read.
//!
//! Only the last `depth` strata are needed, so a ring of depth + 1 slots holds them and memory does not grow with
//! the number of strata. What a slot held before need not be cleared: the module of [`Layout`] says why.

#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a function for each instruction set, with what is inlined into it"
)]

use std::ops::Range;

use bytemuck::Pod;

use super::ring::{Progress, Ring};
use super::slot::Slot;
use super::tasks::{self, Part, WORDS_PER_TASK};
use crate::error::Result;
use crate::game::Ruleset;
use crate::space::{Block, Canonical, Cell, Cells, CellsMut, Layout, Region, Shift, Stencil, Stratum, fill};

/// A kernel that solves blocks of a stratum from the rows of their neighbours.
pub trait Kernel: Send + Sync {
    /// What the layout's cells are on the CPU.
    type Cell: Pod + Default + Send + Sync;
    /// What the layout's cells hold.
    const CELL: Cell;

    /// Solves these lanes of the `active` blocks, whose cells `part` has, on one thread. Returns the number of their
    /// P-positions.
    fn solve(
        step: &Step<'_, Self::Cell>,
        active: &[u32],
        lanes: Range<i32>,
        part: Part<'_, Self::Cell>,
    ) -> u64;

    /// A slot as observers read it.
    fn view(cells: &[Self::Cell]) -> Cells<'_>;

    /// A slot, to be filled.
    fn view_mut(cells: &mut [Self::Cell]) -> CellsMut<'_>;
}

/// A CPU backend that solves strata with a stencil kernel. It runs on the threads of the pool that it is called in.
pub struct Strata<K: Kernel> {
    rules: Ruleset,
    region: Region,
    layout: Layout,
    stencil: Stencil,
    /// Slot `total % ring.len()` holds stratum `total`.
    ring: Vec<Slot<K::Cell>>,
    progress: Progress,
    task_words: u64,
}

impl<K: Kernel> Strata<K> {
    /// Allocates the ring for a region.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) when the region cannot be laid out.
    pub fn new(rules: &Ruleset, region: &Region) -> Result<Self> {
        let layout = Layout::with_cells(region, K::CELL)?;
        let stencil = Stencil::new(rules, &layout);
        let ring = (0..=stencil.depth()).map(|_| Slot::new(layout.cells())).collect();
        Ok(Self {
            rules: rules.clone(),
            region: region.clone(),
            layout,
            progress: Progress::new(region, stencil.depth()),
            stencil,
            ring,
            task_words: WORDS_PER_TASK,
        })
    }

    /// The same, splitting work over threads down to about this many 32-bit words of cells.
    #[must_use]
    pub fn with_task_words(self, task_words: u64) -> Self {
        Self { task_words, ..self }
    }
}

impl<K: Kernel> Ring for Strata<K> {
    type Slots = Slot<K::Cell>;

    fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn take(&mut self, total: u32) -> Slot<K::Cell> {
        let slot = total as usize % self.ring.len();
        std::mem::take(&mut self.ring[slot])
    }

    fn put(&mut self, total: u32, cells: Slot<K::Cell>) {
        let slot = total as usize % self.ring.len();
        self.ring[slot] = cells;
    }

    fn clear(&mut self) {
        self.ring.iter_mut().for_each(|slot| slot.fill(K::Cell::default()));
    }

    fn solve(&self, total: u32, cells: &mut Slot<K::Cell>) -> u64 {
        let touches = self.stencil.touches(&self.rules, total);
        let sources = (0..=self.stencil.depth())
            .map(|touch| {
                let slot = (total.wrapping_sub(touch)) as usize % self.ring.len();
                touches.contains(touch).then(|| &*self.ring[slot])
            })
            .collect::<Vec<_>>();
        let step = Step {
            layout: &self.layout,
            stencil: &self.stencil,
            sources,
            total,
            misere: self.rules.misere,
            least_nonempty: Stencil::least_nonempty(&self.rules, touches),
            task_words: self.task_words,
        };
        let mut active = Vec::new();
        self.layout.active_blocks(total, &mut active);
        tasks::solve::<K>(&step, &active, Part::whole(cells))
    }

    fn fill(&self, total: u32, values: Canonical<'_>, cells: &mut Slot<K::Cell>) {
        fill(&self.layout, total, values, K::view_mut(cells));
    }

    fn stratum(&self, total: u32, p_positions: u64) -> Stratum<'_> {
        let slot = &self.ring[total as usize % self.ring.len()];
        let forbidden = self.rules.forbidden.contains(u64::from(total));
        let counts = [self.region.stratum_size(total), p_positions];
        Stratum::new(&self.layout, K::view(slot), total, forbidden, counts)
    }
}

/// What all blocks of one stratum share.
pub struct Step<'a, C> {
    /// The layout of all strata.
    pub layout: &'a Layout,
    /// The terms that blocks are solved by.
    pub stencil: &'a Stencil,
    /// For each number of touched heaps, the stratum that many below; `None` where no move may arrive.
    pub sources: Vec<Option<&'a [C]>>,
    /// The total of the stratum being solved.
    pub total: u32,
    /// Whether the player without a move wins.
    pub misere: bool,
    /// Positions with fewer nonempty heaps are terminal and N.
    pub least_nonempty: u32,
    /// 32-bit words of cells that a task works on, about.
    pub(super) task_words: u64,
}

/// The rows of one neighbour block that a term reads.
#[derive(Clone, Copy)]
pub(super) struct Source<'a, C> {
    /// The neighbour's cells from the first row's lane 0 (or the zero before it, when the lane loses a stone).
    cells: &'a [C],
    pitch: u32,
    /// The first row that there is.
    first_row: u32,
}

impl<C: Copy> Source<'_, C> {
    /// The cells of the group of `N` lanes from `lane` on, in one row.
    #[inline(always)]
    pub fn load<const N: usize>(&self, row: u32, lane: u32) -> [C; N] {
        let at = ((row - self.first_row) * self.pitch + lane) as usize;
        *self.cells[at..].first_chunk().expect("a slot ends in a lane group of zeros")
    }
}

impl<C: Pod> Source<'_, C> {
    /// The cells of the group of `N` lanes from `lane` on, row by row from `row` on.
    #[inline(always)]
    pub fn column<const N: usize>(&self, row: u32, lane: u32) -> impl Iterator<Item = &[C; N]> {
        let at = ((row - self.first_row) * self.pitch + lane) as usize;
        self.cells[at..].chunks(self.pitch as usize).map_while(|cells| cells.first_chunk())
    }

    /// The cells of a group in the row below `row`; zeros where there is none.
    #[inline(always)]
    pub fn row_below<const N: usize>(&self, row: u32, lane: u32) -> [C; N] {
        if row > self.first_row { self.load(row - 1, lane) } else { [C::zeroed(); N] }
    }
}

/// The rows that a block's terms read, by how they are read.
pub(super) struct Sources<'a, C> {
    pub unshifted: Vec<Source<'a, C>>,
    pub either: Vec<Source<'a, C>>,
    pub shifted: Vec<Source<'a, C>>,
}

impl<'a, C> Sources<'a, C> {
    /// Lists to be filled, block by block.
    pub fn new() -> Self {
        Self { unshifted: Vec::new(), either: Vec::new(), shifted: Vec::new() }
    }

    /// Finds the neighbours of a block.
    #[inline(always)]
    pub fn gather(&mut self, step: &Step<'a, C>, block: &Block<'_>, rank: u32) {
        for list in [&mut self.unshifted, &mut self.either, &mut self.shifted] {
            list.clear();
        }
        let coordinates = block.coordinates;
        // A coordinate equal to the next cannot shrink alone, and an empty heap not at all.
        let (mut ties, mut empty) = (0u32, 0u32);
        for (axis, &x) in coordinates.iter().enumerate() {
            ties |= u32::from(coordinates.get(axis + 1) == Some(&x)) << axis;
            empty |= u32::from(x == 0) << axis;
        }
        let mut neighbour: Option<(u32, Block<'_>)> = None;
        for term in &step.stencil.terms {
            let axes = term.axes;
            if axes & (empty | ties & !(axes >> 1)) != 0 {
                continue;
            }
            let Some(cells) = step.sources[term.touch as usize] else { continue };
            let block = match neighbour {
                Some((of, block)) if of == axes => block,
                _ => step.layout.block(neighbour_rank(step.layout, coordinates, rank, axes)),
            };
            neighbour = Some((axes, block));
            let source = Source {
                cells: &cells[block.base - usize::from(term.lane)..],
                pitch: block.pitch,
                first_row: block.first_row,
            };
            match term.shift {
                Shift::None => self.unshifted.push(source),
                Shift::Either => self.either.push(source),
                Shift::One => self.shifted.push(source),
            }
        }
    }

    /// The sources that are read one value of x₂ lower, among them those that have the row `row`.
    pub fn below(&self, row: u32) -> impl Iterator<Item = &Source<'a, C>> {
        self.either.iter().chain(&self.shifted).filter(move |source| source.first_row <= row)
    }
}

/// The rank of the block whose coordinates on `axes` are one less.
#[inline(always)]
pub(super) fn neighbour_rank(layout: &Layout, coordinates: &[u16], rank: u32, axes: u32) -> u32 {
    let mut rank = rank;
    let mut left = axes;
    while left != 0 {
        let axis = left.trailing_zeros() as usize;
        let x = usize::from(coordinates[axis]);
        let terms = &layout.rank_terms()[axis];
        rank -= terms[x] - terms[x - 1];
        left &= left - 1;
    }
    rank
}
