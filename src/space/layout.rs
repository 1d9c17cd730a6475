//! The dense layout of one stratum, in which every kernel works.
//!
//! Write x₁ ≥ x₂ ≥ … ≥ xₙ. Inside a stratum x₁ is implied by the other heaps. Then
//!
//! - the **bit axis** is x₂: a cell holds the verdicts of 32 values of it, or the remoteness of one ([`Cell`]);
//! - the **lane axis** is xₙ, the smallest heap: neighbouring GPU threads and SIMD lanes, contiguous in memory;
//! - a **block** is (x₃ … xₙ₋₁), its *coordinates*, ranked in lexicographic order.
//!
//! All blocks of the same x₃ form a **slab**, contiguous in memory; a move never leads more than one slab down.
//! Inside a slab cells stand row-major: with verdicts, row `w` holds the values 32w ..= 32w + 31 of x₂, with remoteness
//! the one value w, for one block after the other, and in each for all lanes. The rows of a slab start at x₃'s, as
//! x₂ ≥ x₃. A stratum touches few of the rows of a slab, with verdicts one or two, so what it touches of neighbouring
//! blocks lies side by side.
//!
//! For given block and lane, t = total − x₃ − … − xₙ stones are left for x₁ and x₂, and the valid values of x₂ are
//! max(x₃, t − cap) ..= ⌊t/2⌋, the lane's *window*. Every bit outside the window is zero, and so is at least one
//! lane on either side of a row. That makes most edges of a stencil cost nothing: along the bit and lane axes, an
//! unsorted or negative neighbour lands on a zero and drops out of an OR (of a maximum, for remoteness), and ties need
//! no special case, since the sorted twin of a dropped move is in the stencil too.
//!
//! Memory that held an earlier stratum may be used for the next without being cleared, if it was zero before the first
//! one. As totals rise, windows move up: what an earlier stratum leaves outside the new window is below it, where
//! x₁ would be above the cap, and no move leads there, as moves make heaps smaller. Above the window, where unsorted
//! neighbours are, there has been no position yet.
//!
//! Games of one and two heaps are solved as three heaps of which the smallest stay empty; with three heaps or
//! fewer there is one block without coordinates, and the lane itself is x₃.

use std::ops::Range;

use super::Region;
use super::active::Search;
use super::cell::Cell;
use super::count::binomial;
use crate::error::{Error, Result};

/// 32-bit words in a **lane group**, of which every block's part of a row has a whole number: one AVX2 register, one
/// 32-byte sector of GPU memory. Rows start at multiples of it.
pub const LANE_GROUP: u32 = 8;

/// Words that a slot can have, as blocks start at any of 2³² lane groups.
const MOST_WORDS: u128 = u32::MAX as u128 * LANE_GROUP as u128;

/// How the positions of a region's strata lie in memory; the same for every stratum.
#[derive(Clone, Debug)]
pub struct Layout {
    heaps: u32,
    max: u32,
    cell: Cell,
    /// Coordinates a block: max(0, heaps − 3).
    axes: usize,
    /// `axes` coordinates for each block, largest heap first.
    coordinates: Vec<u16>,
    /// Where each block's part of its slab's first row starts, in lane groups from the start of a slot.
    bases: Vec<u32>,
    /// Lane groups from one row to the next, for each slab.
    pitches: Vec<u32>,
    /// `rank_terms[axis][x]`: what coordinate `x` of an axis adds to a block's rank.
    rank_terms: Vec<Vec<u32>>,
    words: u64,
}

/// One block: its coordinates and the place of its rows in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// x₃ … xₙ₋₁; empty for three heaps or fewer.
    pub coordinates: &'a [u16],
    /// The index of the cell of its first row's lane 0.
    pub base: usize,
    /// Which row of the bit axis the first one is: x₃ over the values of x₂ in a row.
    pub first_row: u32,
    /// The greatest lane: xₙ₋₁, or the cap for three heaps.
    pub last_lane: u32,
    /// Cells from one row of the slab to the next, a whole number of lane groups. Of these the block has its lanes and
    /// at least one zero behind them.
    pub pitch: u32,
}

/// The valid positions of one block in one stratum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Stones left for x₁, x₂ and the lane: the total less the block's coordinates. Negative for no positions.
    pub rest: i32,
    /// The first lane with positions.
    pub first_lane: i32,
    /// The last lane with positions; below `first_lane` for none.
    pub last_lane: i32,
    /// The least value of x₂ that is looked at (and with three heaps or fewer, x₂ ≥ lane besides).
    pub floor: i32,
}

impl Window {
    /// Whether the block has no position in the stratum.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first_lane > self.last_lane
    }
}

impl Layout {
    /// The layout of verdicts for all strata of a region.
    ///
    /// # Errors
    /// [`Error::Memory`] when its tables or one stratum are beyond what offsets can address.
    pub fn new(region: &Region) -> Result<Self> {
        Self::with_cells(region, Cell::Verdicts)
    }

    /// The layout of these cells for all strata of a region.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_cells(region: &Region, cell: Cell) -> Result<Self> {
        let (heaps, max) = (region.heaps(), region.max());
        let size = Size::of(heaps, u64::from(max), cell, MOST_WORDS);
        let Some(size) =
            size.filter(|size| size.blocks < u128::from(u32::MAX) && coordinate_fits(heaps, max))
        else {
            return Err(Error::Memory {
                what: format!("one stratum of {heaps} heaps up to {max}"),
                needed: None,
                available: u64::from(u32::MAX) * 4 * u64::from(LANE_GROUP),
                source_of_limit: "addressable",
                remedy: "choose a smaller --max".to_owned(),
            });
        };
        let axes = axes(heaps);
        let rank_terms = (0..axes)
            .map(|axis| {
                let parts = (axes - axis) as u64;
                let term = |x: u32| binomial(u64::from(x) + parts - 1, parts).map_or(0, |count| count as u32);
                (0..=max).map(term).collect()
            })
            .collect();
        let mut layout = Self {
            heaps,
            max,
            cell,
            axes,
            coordinates: Vec::with_capacity(size.blocks as usize * axes),
            bases: Vec::with_capacity(size.blocks as usize),
            pitches: Vec::new(),
            rank_terms,
            words: 0,
        };
        layout.place_blocks();
        debug_assert_eq!(u128::from(layout.words), size.words);
        Ok(layout)
    }

    /// Lists all blocks in order of rank and gives each its place.
    fn place_blocks(&mut self) {
        // One lane group of zeros, so that lane −1 of the first row can be read.
        let mut slab_start = 1;
        let mut row_end = 0;
        let mut coordinates = vec![0u16; self.axes];
        loop {
            self.coordinates.extend_from_slice(&coordinates);
            self.bases.push(slab_start + row_end);
            row_end += row_groups(last_lane(self.heaps, self.max, &coordinates), self.cell);
            // The successor in lexicographic order: raise the last coordinate that is below its left neighbour.
            let left = |axis: usize| if axis == 0 { self.max as u16 } else { coordinates[axis - 1] };
            let raised = (0..self.axes).rev().find(|&axis| coordinates[axis] < left(axis));
            if raised.is_none_or(|axis| axis == 0) {
                self.pitches.push(row_end);
                slab_start += rows(self.heaps, self.max, floor(&coordinates), self.cell) * row_end;
                row_end = 0;
            }
            let Some(raised) = raised else { break };
            coordinates[raised] += 1;
            coordinates[raised + 1..].fill(0);
        }
        // And one after the last, as a whole lane group may be read from the last lane on.
        self.words = (u64::from(slab_start) + 1) * u64::from(LANE_GROUP);
    }

    /// How many heaps.
    #[must_use]
    pub fn heaps(&self) -> u32 {
        self.heaps
    }

    /// The greatest size of a heap.
    #[must_use]
    pub fn max(&self) -> u32 {
        self.max
    }

    /// What its cells hold.
    #[must_use]
    pub fn cell(&self) -> Cell {
        self.cell
    }

    /// Coordinates a block: max(0, heaps − 3).
    #[must_use]
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// The number of blocks.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.bases.len()
    }

    /// 32-bit words in a slot that holds one stratum, padding included.
    #[must_use]
    pub fn words(&self) -> u64 {
        self.words
    }

    /// Cells in a slot that holds one stratum, padding included.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.words as usize / LANE_GROUP as usize * self.cell.group() as usize
    }

    /// All blocks' coordinates, [`axes`](Self::axes) for each.
    #[must_use]
    pub fn coordinates(&self) -> &[u16] {
        &self.coordinates
    }

    /// Where each block's part of its slab's first row starts, in lane groups.
    #[must_use]
    pub fn bases(&self) -> &[u32] {
        &self.bases
    }

    /// Lane groups from one row to the next, for each slab.
    #[must_use]
    pub fn pitches(&self) -> &[u32] {
        &self.pitches
    }

    /// What coordinate `x` adds to a block's rank, for each axis.
    #[must_use]
    pub fn rank_terms(&self) -> &[Vec<u32>] {
        &self.rank_terms
    }

    /// The greatest value of x₂ with a bit of its own: the cap, or 0 in a game of one heap.
    #[must_use]
    pub fn second_max(&self) -> u32 {
        if self.heaps == 1 { 0 } else { self.max }
    }

    /// Whether x₂ is bounded below by the lane itself (three heaps or fewer) instead of by a block's x₃.
    #[must_use]
    pub fn lane_is_floor(&self) -> bool {
        self.axes == 0
    }

    /// The block of this rank.
    #[must_use]
    pub fn block(&self, rank: u32) -> Block<'_> {
        let coordinates = &self.coordinates[rank as usize * self.axes..][..self.axes];
        let last_lane = last_lane(self.heaps, self.max, coordinates);
        let slab = coordinates.first().map_or(0, |&x| usize::from(x));
        Block {
            coordinates,
            base: self.bases[rank as usize] as usize * self.cell.group() as usize,
            first_row: floor(coordinates) / self.cell.row_values(),
            last_lane,
            pitch: self.pitches[slab] * self.cell.group(),
        }
    }

    /// The rank of the block with these coordinates (largest heap first).
    #[must_use]
    pub fn block_rank(&self, coordinates: &[u32]) -> u32 {
        coordinates.iter().zip(&self.rank_terms).map(|(&x, terms)| terms[x as usize]).sum()
    }

    /// The number of slabs: values of x₃, or 1 where blocks have no coordinates.
    #[must_use]
    pub fn slabs(&self) -> usize {
        self.rank_terms.first().map_or(1, Vec::len)
    }

    /// The rank of the first block of a slab; for `slab == slabs()`, the number of blocks.
    #[must_use]
    pub fn slab_first_block(&self, slab: usize) -> usize {
        match self.rank_terms.first() {
            Some(terms) if slab < terms.len() => terms[slab] as usize,
            None if slab == 0 => 0,
            _ => self.blocks(),
        }
    }

    /// The slab that a block is in.
    #[must_use]
    pub fn slab_of(&self, rank: u32) -> usize {
        self.coordinates.get(rank as usize * self.axes).map_or(0, |&x3| usize::from(x3))
    }

    /// The index of the first cell of a slab; for `slab == slabs()`, of the cell behind the last.
    #[must_use]
    pub fn slab_start(&self, slab: usize) -> usize {
        let group = self.cell.group() as usize;
        let end = self.cells() - group;
        self.bases.get(self.slab_first_block(slab)).map_or(end, |&base| base as usize * group)
    }

    /// The greatest x₁ + x₂ there is.
    fn reach(&self) -> i32 {
        (self.max + self.second_max()) as i32
    }

    /// The window of a block in a stratum.
    ///
    /// Positions with fewer than `least_nonempty` nonempty heaps are left out: in misère play those without a move
    /// are N, so a kernel clears them by not looking at them. 0 leaves none out.
    #[must_use]
    pub fn window(&self, coordinates: &[u16], total: u32, least_nonempty: u32) -> Window {
        let rest = total as i32 - coordinates.iter().map(|&x| i32::from(x)).sum::<i32>();
        let nonempty = coordinates.iter().filter(|&&x| x > 0).count() as u32;
        let x3 = coordinates.first().map_or(0, |&x| i32::from(x));
        let highest = if self.lane_is_floor() { rest.div_euclid(3) } else { rest - 2 * x3 };
        let mut window = Window {
            rest,
            first_lane: (rest - self.reach()).max(0),
            last_lane: highest.min(last_lane(self.heaps, self.max, coordinates) as i32),
            floor: x3,
        };
        // A position of lane 0 has `nonempty + 2` nonempty heaps, one of a greater lane one more; only those with
        // x₂ = 0 have fewer: one if there are stones at all.
        if nonempty + 3 < least_nonempty {
            window.last_lane = -1;
        } else if nonempty + 2 < least_nonempty {
            window.first_lane = window.first_lane.max(1);
        }
        if nonempty == 0 && u32::from(total > 0) < least_nonempty {
            window.floor = 1;
            window.last_lane = window.last_lane.min(if self.heaps == 1 { -1 } else { rest - 2 });
        }
        window
    }

    /// The valid values of x₂ in a lane of a window, first and last.
    #[must_use]
    pub fn second_heap(&self, window: &Window, lane: i32) -> (i32, i32) {
        let rest = window.rest - lane;
        let lane_floor = if self.lane_is_floor() { lane } else { 0 };
        let first = window.floor.max(lane_floor).max(rest - self.max as i32);
        (first, (rest / 2).min(self.second_max() as i32))
    }

    /// The lanes of a window that have a position with this value of x₂, first and last; an empty range for none.
    #[must_use]
    pub fn lanes(&self, window: &Window, second: i32) -> (i32, i32) {
        let first = window.first_lane.max(window.rest - self.max as i32 - second);
        let last = window.last_lane.min(window.rest - 2 * second);
        (first, if self.lane_is_floor() { last.min(second) } else { last })
    }

    /// The values of x₂ in a window, first and last; some of them may have no lane.
    #[must_use]
    pub fn second_range(&self, window: &Window) -> (i32, i32) {
        let first = window.floor.max(window.rest - self.max as i32 - window.last_lane);
        (first, (window.rest / 2).min(self.second_max() as i32))
    }

    /// The place of a position in every slot: the index of its cell, and which of the cell's values of x₂ it is. `sizes`
    /// are those of as many heaps as the game has, largest first, none above the cap.
    #[must_use]
    pub fn place(&self, sizes: &[u32]) -> (usize, u32) {
        let (second, lane, coordinates) = match *sizes {
            [_, second, ref coordinates @ .., lane] => (second, lane, coordinates),
            [_, second] => (second, 0, &[] as &[u32]),
            _ => (0, 0, &[] as &[u32]),
        };
        let block = self.block(self.block_rank(coordinates));
        let values = self.cell.row_values();
        let row = (second / values - block.first_row) as usize * block.pitch as usize;
        (block.base + row + lane as usize, second % values)
    }

    /// Ranges of cells, in order, among which are those of all positions of a stratum: of each slab the rows that have
    /// any.
    #[must_use]
    pub fn occupied(&self, total: u32) -> Vec<Range<usize>> {
        let mut active = Vec::new();
        self.active_blocks(total, &mut active);
        let mut ranges = Vec::new();
        for slab in active.chunk_by(|&one, &other| self.slab_of(one) == self.slab_of(other)) {
            let windows = slab.iter().map(|&rank| self.window(self.block(rank).coordinates, total, 0));
            let rows = windows.filter(|window| !window.is_empty()).map(|window| self.second_range(&window));
            let rows = rows.reduce(|(first, last), (low, high)| (first.min(low), last.max(high)));
            if let Some((first, last)) = rows {
                let (slab, block) = (self.slab_of(slab[0]), self.block(slab[0]));
                let row = |second: i32| second as u32 / self.cell.row_values() - block.first_row;
                let start = |row: u32| self.slab_start(slab) + (row * block.pitch) as usize;
                ranges.push(start(row(first))..start(row(last) + 1));
            }
        }
        ranges
    }

    /// Appends the ranks of all blocks that have positions in the stratum, in increasing order. A few without any may
    /// be among them.
    pub fn active_blocks(&self, total: u32, out: &mut Vec<u32>) {
        let search = Search {
            rank_terms: &self.rank_terms,
            total: total as i32,
            max: self.max as i32,
            // The lane.
            later: 1,
            slack: self.reach(),
        };
        search.run(&mut |ranks| out.extend(ranks));
    }
}

fn axes(heaps: u32) -> usize {
    heaps.saturating_sub(3) as usize
}

fn coordinate_fits(heaps: u32, max: u32) -> bool {
    axes(heaps) == 0 || u16::try_from(max).is_ok()
}

fn last_lane(heaps: u32, max: u32, coordinates: &[u16]) -> u32 {
    match (heaps, coordinates.last()) {
        (_, Some(&x)) => u32::from(x),
        (3, None) => max,
        _ => 0,
    }
}

/// A block's words of a row of verdicts: the lanes and at least one zero, which is also the zero before the next block's
/// lane 0.
pub(super) fn row_width(last_lane: u32) -> u32 {
    row_groups(last_lane, Cell::Verdicts) * LANE_GROUP
}

/// A block's lane groups of a row.
fn row_groups(last_lane: u32, cell: Cell) -> u32 {
    (last_lane + 2).div_ceil(cell.group())
}

/// The rows of a block whose x₃ is `floor`.
fn rows(heaps: u32, max: u32, floor: u32, cell: Cell) -> u32 {
    let second_max = if heaps == 1 { 0 } else { max };
    second_max / cell.row_values() + 1 - floor / cell.row_values()
}

/// A block's x₃; 0 where blocks have no coordinates.
fn floor(coordinates: &[u16]) -> u32 {
    coordinates.first().map_or(0, |&x| u32::from(x))
}

/// All blocks without their coordinates: how many there are of each x₃ (0 where blocks have none) and greatest lane,
/// as (x₃, greatest lane, count) in order of x₃. `None` for a count beyond 2^128.
pub(super) fn block_shapes(heaps: u32, max: u32) -> impl Iterator<Item = (u32, u32, Option<u128>)> {
    let axes = axes(heaps) as u64;
    let floors = if axes == 0 { 0..=0 } else { 0..=max };
    floors.flat_map(move |floor| {
        let lanes = match axes {
            0 => last_lane(heaps, max, &[])..=last_lane(heaps, max, &[]),
            // With one axis x₃ is itself the bound of the lanes; else the coordinates between are free.
            1 => floor..=floor,
            _ => 0..=floor,
        };
        let count = move |lane| match axes {
            0 | 1 => Some(1),
            _ => binomial(u64::from(floor - lane) + axes - 2, axes - 2),
        };
        lanes.map(move |lane| (floor, lane, count(lane)))
    })
}

/// How large a layout would be, without building it.
struct Size {
    blocks: u128,
    words: u128,
}

impl Size {
    /// `None` when the words are more than `limit`.
    fn of(heaps: u32, max: u64, cell: Cell, limit: u128) -> Option<Self> {
        let max = u32::try_from(max).ok()?;
        let axes = axes(heaps) as u64;
        let blocks = binomial(u64::from(max) + axes, axes)?;
        let mut words = 2 * u128::from(LANE_GROUP);
        for (floor, lane, count) in block_shapes(heaps, max) {
            let row_words = row_groups(lane, cell) * LANE_GROUP;
            words += u128::from(rows(heaps, max, floor, cell)) * u128::from(row_words) * count?;
            if words > limit {
                return None;
            }
        }
        Some(Self { blocks, words })
    }

    /// Bytes for the layout's tables, a list of active blocks, and `slots` strata.
    fn bytes(&self, heaps: u32, max: u64, slots: u32) -> u128 {
        let tables = self.blocks * (4 + 4 + 2 * axes(heaps) as u128);
        let terms = 4 * axes(heaps) as u128 * (u128::from(max) + 1);
        tables + terms + Region::table_bytes(heaps, max) + 4 * self.words * u128::from(slots)
    }
}

/// Bytes for the layout's tables, a list of active blocks, and `slots` strata. `None` when they are more than `limit`
/// (or more than can be counted).
#[must_use]
pub fn layout_bytes(heaps: u32, max: u64, cell: Cell, slots: u32, limit: u128) -> Option<u128> {
    // Without slots it matters only whether a slot could be addressed.
    let words = (limit / 4).checked_div(slots.into()).unwrap_or(MOST_WORDS);
    let bytes = Size::of(heaps, max, cell, words)?.bytes(heaps, max, slots);
    (bytes <= limit).then_some(bytes)
}

/// The greatest cap up to `max` that takes at most `limit` bytes, and the bytes that `max` itself takes (`None` when
/// they are beyond 2^64). `bytes` gives the bytes of a cap, or `None` when they are more than its second argument.
#[must_use]
pub fn largest_cap_within(
    max: u64,
    limit: u64,
    bytes: impl Fn(u64, u128) -> Option<u128>,
) -> (Option<u64>, Option<u128>) {
    let needed = bytes(max, u128::from(u64::MAX) / 16);
    let fits = |cap: u64| bytes(cap, u128::from(limit)).is_some();
    if !fits(0) {
        return (None, needed);
    }
    let (mut low, mut high) = (0, max + 1);
    while low + 1 < high {
        let middle = u64::midpoint(low, high);
        if fits(middle) { low = middle } else { high = middle }
    }
    (Some(low), needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: [(u32, u64); 10] =
        [(1, 70), (2, 40), (3, 33), (3, 0), (4, 20), (4, 35), (5, 9), (6, 6), (8, 3), (10, 2)];

    const CELLS: [Cell; 3] = [Cell::Verdicts, Cell::Remoteness8, Cell::Remoteness16];

    fn layout(heaps: u32, max: u64) -> (Region, Layout) {
        let region = Region::new(heaps, max).unwrap();
        let layout = Layout::new(&region).unwrap();
        (region, layout)
    }

    #[test]
    fn ranks_places_and_predicted_sizes_agree() {
        for ((heaps, max), cell) in SMALL.into_iter().flat_map(|small| CELLS.map(|cell| (small, cell))) {
            let layout = Layout::with_cells(&Region::new(heaps, max).unwrap(), cell).unwrap();
            let size = Size::of(heaps, max, cell, u128::MAX).unwrap();
            assert_eq!(size.blocks, layout.blocks() as u128);
            assert_eq!(size.words, u128::from(layout.words()), "{heaps} heaps ≤ {max}");
            let mut end = layout.slab_start(0);
            for rank in 0..layout.blocks() as u32 {
                let block = layout.block(rank);
                let coordinates = block.coordinates.iter().map(|&x| u32::from(x)).collect::<Vec<_>>();
                assert_eq!(layout.block_rank(&coordinates), rank);
                assert!(coordinates.is_sorted_by(|a, b| a >= b));
                let slab = layout.slab_of(rank);
                if rank as usize == layout.slab_first_block(slab) {
                    end = layout.slab_start(slab);
                }
                assert_eq!((block.base, block.pitch % cell.group()), (end, 0));
                end += (block.last_lane + 2).next_multiple_of(cell.group()) as usize;
                let rows = layout.second_max() / cell.row_values() + 1 - block.first_row;
                let slab_end = layout.slab_start(slab) + (rows * block.pitch) as usize;
                assert_eq!(slab_end, layout.slab_start(slab + 1), "{heaps} heaps ≤ {max}");
            }
            assert_eq!(layout.slab_start(layout.slabs()) + cell.group() as usize, layout.cells());
        }
    }

    #[test]
    fn windows_hold_every_position_of_a_stratum_once() {
        for (heaps, max) in SMALL {
            let (region, layout) = layout(heaps, max);
            for total in region.strata() {
                let mut active = Vec::new();
                layout.active_blocks(total, &mut active);
                assert!(active.is_sorted_by(|a, b| a < b));
                let (mut by_lanes, mut by_rows) = (0, 0);
                for rank in 0..layout.blocks() as u32 {
                    let window = layout.window(layout.block(rank).coordinates, total, 0);
                    assert!(window.is_empty() || active.contains(&rank), "block {rank} at {total}");
                    for lane in window.first_lane..=window.last_lane {
                        let (first, last) = layout.second_heap(&window, lane);
                        assert!(first <= last, "{heaps} heaps ≤ {max}: empty lane {lane} at {total}");
                        by_lanes += (last - first + 1) as u64;
                    }
                    let (first, last) = layout.second_range(&window);
                    for second in first..=last {
                        let (first, last) = layout.lanes(&window, second);
                        by_rows += (last - first + 1).max(0) as u64;
                    }
                }
                let size = region.stratum_size(total);
                assert_eq!([by_lanes, by_rows], [size; 2], "{heaps} heaps ≤ {max}, total {total}");
            }
        }
    }

    #[test]
    fn occupied_ranges_hold_the_place_of_every_position() {
        for ((heaps, max), cell) in SMALL.into_iter().flat_map(|small| CELLS.map(|cell| (small, cell))) {
            let region = Region::new(heaps, max).unwrap();
            let layout = Layout::with_cells(&region, cell).unwrap();
            for total in region.strata() {
                let occupied = layout.occupied(total);
                assert!(occupied.is_sorted_by(|a, b| a.end <= b.start));
                let mut places = std::collections::HashSet::new();
                for position in region.stratum(total) {
                    let sizes = position.sizes().iter().rev().copied().collect::<Vec<_>>();
                    let place = layout.place(&sizes);
                    assert!(places.insert(place), "two positions share the place of {position}");
                    assert!(occupied.iter().any(|range| range.contains(&place.0)), "{position}");
                }
            }
        }
    }

    #[test]
    fn few_blocks_without_positions_are_active() {
        let (region, layout) = layout(6, 12);
        let (mut listed, mut needed) = (0, 0);
        for total in region.strata() {
            let mut active = Vec::new();
            layout.active_blocks(total, &mut active);
            listed += active.len();
            needed += active
                .iter()
                .filter(|&&rank| !layout.window(layout.block(rank).coordinates, total, 0).is_empty())
                .count();
        }
        assert!(needed <= listed && listed < needed + needed / 10, "{listed} listed, {needed} needed");
    }

    #[test]
    fn what_is_needed_is_enough_and_no_less_is() {
        for (heaps, max) in [(3, 500), (4, 60), (6, 40), (8, 12)] {
            for slots in 0..4 {
                let within = |limit| layout_bytes(heaps, max, Cell::Verdicts, slots, limit);
                let needed = within(u128::MAX).unwrap();
                assert_eq!(within(needed), Some(needed), "{heaps} {max} {slots}");
                assert_eq!(within(needed - 1), None, "{heaps} {max} {slots}");
            }
        }
    }

    #[test]
    fn the_largest_cap_that_fits_is_found() {
        let five = |cap, limit| layout_bytes(5, cap, Cell::Verdicts, 3, limit);
        let (fits, needed) = largest_cap_within(400, 1 << 30, five);
        assert_eq!(fits, Some(400));
        let needed = needed.unwrap();
        let (fits, _) = largest_cap_within(400, needed as u64 - 1, five);
        assert_eq!(fits, Some(399));
        assert_eq!(largest_cap_within(400, 10, five), (None, Some(needed)));
        let four = |cap, limit| layout_bytes(4, cap, Cell::Verdicts, 2, limit);
        let (fits, _) = largest_cap_within(1 << 28, 1 << 34, four);
        assert!(fits.is_some_and(|cap| (1_000..10_000).contains(&cap)));
    }
}
