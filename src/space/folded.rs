//! The layout in which the CPU twin solves verdicts of four heaps and more: half as large as [`Layout`], and dense.
//!
//! **Folded.** Inside a stratum x₁ + x₂ = t follows from the other heaps, and x₂ takes the values from ⌊t/2⌋ down to
//! max(x₃, t − cap). So it is counted from the middle: place k of the bit axis is x₂ = ⌊t/2⌋ − k. Windows start at
//! place 0 whatever the stratum is, so that most fit the first 16 places, and half the values of x₂ have no place at all.
//! Cells have 16 places, the top bit is the first.
//!
//! **Runs.** The positions that agree in x₃ … xₙ₋₂, their *prefix*, form a run. Its cells are the pairs y = xₙ₋₁ and
//! lane = xₙ, y by y, each with lanes 0 … y and a cell that stays zero:
//!
//! | y | 0 | | 1 | | | 2 | | | | … |
//! |---|---|---|---|---|---|---|---|---|---|---|
//! | lane | 0 | – | 0 | 1 | – | 0 | 1 | 2 | – | … |
//!
//! So a run is one vector, and moves that leave y alone read other runs at the same place or the one before. After the
//! last y, which is xₙ₋₂, zeros follow for one more, as runs with a greater xₙ₋₂ look for it. Where there are four heaps,
//! x₃ is the prefix, and a run has lanes only.
//!
//! Runs that differ in the last coordinate of the prefix only form a *group*. They follow one another, and a run lies
//! equally far from the start of every group.
//!
//! A slot has all runs' cells for places 0 … 15, then those of places 16 … 31 of the runs that have them, and so on, each
//! of these *rows* in order of the prefix. Longer windows come with smaller x₃, so a run starts equally far from the
//! start of each row.
//!
//! **Nothing is cleared** when a slot is used again. What an earlier stratum left outside the new window has x₁ above
//! the cap, and no move leads there: as t grows, windows grow while x₃ bounds them, and shrink once the cap does.

use std::ops::Range;

use super::active::Search;
use super::count::binomial;
use super::{Region, largest_cap_within};
use crate::error::{Error, Result};

/// Places of the bit axis in a cell.
pub const FOLDED_PLACES: u32 = u16::BITS;

/// Runs start at multiples of so many cells, as many as the widest registers have.
pub const FOLDED_ALIGNMENT: usize = 32;

/// The sum of y and lane of a cell that is no position; greater than any.
const NO_SUM: u16 = i16::MAX as u16;

/// The greatest cap for which sums of heaps fit the cells of a register.
fn greatest_max(heaps: u32) -> u64 {
    if heaps > FOLDED_HEAPS { 8000 } else { 20_000 }
}

/// How the positions of a region's strata lie in memory; the same for every stratum.
#[derive(Clone, Debug)]
pub struct FoldedLayout {
    heaps: u32,
    max: u32,
    /// Coordinates of a prefix.
    axes: usize,
    /// `axes` coordinates for each run, largest heap first.
    prefixes: Vec<u16>,
    /// Where each run starts in a row, in cells, and where the last ends.
    bases: Vec<u32>,
    /// Where the run with `x` as the last coordinate of its prefix starts in its group, in cells.
    starts: Vec<u32>,
    /// `rank_terms[axis][x]`: what coordinate `x` of a prefix adds to a run's rank.
    rank_terms: Vec<Vec<u32>>,
    /// Where each row starts in a slot, and where the last ends.
    rows: Vec<usize>,
    /// y + lane of each cell of the longest run.
    sums: Vec<u16>,
    /// All ones where y + lane is even.
    even: Vec<u16>,
    /// All ones where y and the lane are one nonempty heap or more, and where they are two.
    nonempty: [Vec<u16>; 2],
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct FoldedRun<'a> {
    /// x₃ … xₙ₋₂, or x₃ for four heaps.
    pub prefix: &'a [u16],
    /// Where it starts in every row, in cells.
    pub base: usize,
    /// How many cells it has in a row.
    pub cells: usize,
    /// The greatest y, or for four heaps the greatest lane.
    pub limit: i32,
    /// The stones of the prefix.
    pub stones: i32,
    /// x₃.
    pub floor: i32,
    /// How many rows it has.
    pub rows: usize,
}

/// The least number of heaps that have a prefix.
pub const FOLDED_HEAPS: u32 = 4;

impl FoldedLayout {
    /// The layout of a region of four heaps or more.
    ///
    /// # Errors
    /// [`Error::Memory`] when it is beyond what offsets can address.
    pub fn new(region: &Region) -> Result<Self> {
        let (heaps, max) = (region.heaps(), region.max());
        if !fits(heaps, max.into()) {
            let largest = largest_cap_within(max.into(), 0, |cap, _| fits(heaps, cap).then_some(0)).0;
            return Err(Error::Memory {
                what: format!("one stratum of {heaps} heaps up to {max}"),
                needed: None,
                available: 2 * u64::from(u32::MAX),
                source_of_limit: "addressable",
                remedy: format!("choose --max up to {}", largest.unwrap_or(0)),
            });
        }
        let axes = axes(heaps);
        let rank_terms = (0..axes).map(|axis| {
            let parts = (axes - axis) as u64;
            let term = |x: u32| binomial(u64::from(x) + parts - 1, parts).map_or(0, |count| count as u32);
            (0..=max).map(term).collect()
        });
        let mut layout = Self {
            heaps,
            max,
            axes,
            prefixes: Vec::new(),
            bases: Vec::new(),
            starts: Vec::new(),
            rank_terms: rank_terms.collect(),
            rows: Vec::new(),
            sums: Vec::new(),
            even: Vec::new(),
            nonempty: [Vec::new(), Vec::new()],
        };
        layout.place_runs();
        layout.tabulate();
        Ok(layout)
    }

    /// Lists all runs in order of rank and gives each its place.
    fn place_runs(&mut self) {
        let rows = rows(self.max, 0);
        let mut ends = vec![0; rows];
        // Zeros, so that the cell before the first can be read.
        let mut base = FOLDED_ALIGNMENT;
        let mut prefix = vec![0u16; self.axes];
        loop {
            self.prefixes.extend_from_slice(&prefix);
            self.bases.push(base as u32);
            base += run_cells(self.heaps, prefix[self.axes - 1].into());
            ends[..self::rows(self.max, prefix[0].into())].fill(base);
            // The successor in lexicographic order: raise the last coordinate that is below its left neighbour.
            let left = |axis: usize| if axis == 0 { self.max as u16 } else { prefix[axis - 1] };
            let Some(raised) = (0..self.axes).rev().find(|&axis| prefix[axis] < left(axis)) else { break };
            prefix[raised] += 1;
            prefix[raised + 1..].fill(0);
        }
        self.bases.push(base as u32);
        let mut start = 0;
        self.starts.extend((0..=self.max).map(|x| {
            let this = start;
            start += run_cells(self.heaps, x) as u32;
            this
        }));
        // A register may be read from any cell on.
        let mut start = 0;
        for end in ends {
            self.rows.push(start);
            start += end + FOLDED_ALIGNMENT;
        }
        self.rows.push(start);
    }

    /// Lists what all runs have in common.
    fn tabulate(&mut self) {
        let most = i32::try_from(self.max).expect("caps are limited");
        // (y, lane), with one lane more than there are.
        let cells = if self.has_pairs() {
            (0..=most + 1).flat_map(|y| (0..=y + 1).map(move |lane| (y, lane))).collect::<Vec<_>>()
        } else {
            (0..=most + 1).map(|lane| (0, lane)).collect()
        };
        let length = cells.len() + 2 * FOLDED_ALIGNMENT;
        let table = |value: &dyn Fn(i32, i32) -> u16, behind: u16| {
            let mut table = cells.iter().map(|&(y, lane)| value(y, lane)).collect::<Vec<_>>();
            table.resize(length, behind);
            table
        };
        let ones = |there: bool| if there { u16::MAX } else { 0 };
        let pairs = self.has_pairs();
        self.sums = table(&|y, lane| if pairs && lane > y { NO_SUM } else { (y + lane) as u16 }, NO_SUM);
        self.even = table(&|y, lane| ones((y + lane) % 2 == 0), 0);
        self.nonempty =
            [1, 2].map(|least| table(&|y, lane| ones(i32::from(y > 0) + i32::from(lane > 0) >= least), 0));
    }

    /// The greatest size of a heap.
    #[must_use]
    pub fn max(&self) -> i32 {
        self.max as i32
    }

    /// Whether a run has several y: where there are five heaps or more.
    #[must_use]
    pub fn has_pairs(&self) -> bool {
        self.heaps > FOLDED_HEAPS
    }

    /// Coordinates of a prefix.
    #[must_use]
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// Cells in a slot that holds one stratum.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.rows[self.rows.len() - 1]
    }

    /// How many rows a slot has.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.rows.len() - 1
    }

    /// The cells of a row.
    #[must_use]
    #[inline]
    pub fn row(&self, row: usize) -> Range<usize> {
        self.rows[row]..self.rows[row + 1]
    }

    /// y + lane of each cell of a run, the longest there is; more than any sum where a cell is no position.
    #[must_use]
    pub fn sums(&self) -> &[u16] {
        &self.sums
    }

    /// All ones for each cell of a run with an even y + lane.
    #[must_use]
    pub fn even(&self) -> &[u16] {
        &self.even
    }

    /// All ones for each cell of a run in which y and the lane are one nonempty heap or more (table 0), or two (table 1).
    #[must_use]
    pub fn nonempty(&self, table: usize) -> &[u16] {
        &self.nonempty[table]
    }

    /// The run of this rank.
    #[must_use]
    #[allow(
        clippy::inline_always,
        reason = "kernels that use wide registers would have to save them for a call"
    )]
    #[inline(always)]
    pub fn run(&self, rank: u32) -> FoldedRun<'_> {
        let prefix = &self.prefixes[rank as usize * self.axes..][..self.axes];
        FoldedRun {
            prefix,
            base: self.bases[rank as usize] as usize,
            cells: (self.bases[rank as usize + 1] - self.bases[rank as usize]) as usize,
            limit: prefix[self.axes - 1].into(),
            stones: prefix.iter().map(|&x| i32::from(x)).sum(),
            floor: prefix[0].into(),
            rows: rows(self.max, prefix[0].into()),
        }
    }

    /// Where each run starts in a row, in cells, and where the last ends.
    #[must_use]
    pub fn bases(&self) -> &[u32] {
        &self.bases
    }

    /// Where the run with `x` as the last coordinate of its prefix starts in its group, in cells.
    #[must_use]
    #[inline]
    pub fn start(&self, x: i32) -> usize {
        self.starts[x as usize] as usize
    }

    /// What a coordinate `x` of an axis of the prefix adds to a run's rank.
    #[must_use]
    pub fn rank_terms(&self) -> &[Vec<u32>] {
        &self.rank_terms
    }

    /// The first cell of a y, from the start of its run.
    #[must_use]
    #[inline]
    pub fn first_cell(&self, y: i32) -> usize {
        if self.has_pairs() { (y * (y + 3) / 2) as usize } else { 0 }
    }

    /// Where lane 0 of the block x₃ … xₙ₋₁ is in each row.
    #[inline]
    pub(super) fn block(&self, coordinates: &[u16]) -> usize {
        let (prefix, rest) = coordinates.split_at(self.axes);
        let terms = prefix.iter().zip(&self.rank_terms);
        let rank = terms.map(|(&x, terms)| terms[usize::from(x)]).sum::<u32>();
        let y = rest.first().map_or(0, |&y| i32::from(y));
        self.bases[rank as usize] as usize + self.first_cell(y)
    }

    /// Appends the ranks of the runs that have positions in the stratum, or cells that moves are read from, in order,
    /// group by group.
    pub fn active_runs(&self, total: u32, out: &mut Vec<Range<u32>>) {
        let search = Search {
            rank_terms: &self.rank_terms,
            total: total as i32,
            max: self.max(),
            later: if self.has_pairs() { 2 } else { 1 },
            // The lane may be one larger than a prefix allows, as far as moves read cells.
            slack: 2 * self.max() + 1,
        };
        search.run(&mut |ranks| out.push(ranks));
    }
}

/// The verdicts of one stratum in this layout. What lies outside its windows may be anything.
#[derive(Clone, Copy, Debug)]
pub struct FoldedCells<'a> {
    layout: &'a FoldedLayout,
    cells: &'a [u16],
}

impl<'a> FoldedCells<'a> {
    /// All cells of a slot.
    #[must_use]
    pub fn new(layout: &'a FoldedLayout, cells: &'a [u16]) -> Self {
        Self { layout, cells }
    }

    /// Where lane 0 of the block x₃ … xₙ₋₁ is in each row.
    #[inline]
    pub(super) fn block(&self, coordinates: &[u16]) -> usize {
        self.layout.block(coordinates)
    }

    /// The cells of a row from one on; none where there is no such row or cell.
    #[inline]
    pub(super) fn row(&self, row: usize, cell: usize) -> &'a [u16] {
        let there = row < self.layout.row_count();
        if there { self.cells[self.layout.row(row)].get(cell..).unwrap_or(&[]) } else { &[] }
    }

    /// The verdicts of 32 values of x₂, of which the least is at this place of a cell. Those without a place in it, or with
    /// one behind the last, may be anything.
    #[inline]
    pub(super) fn word(&self, cell: usize, place: i32, last: i32) -> u32 {
        let mut word = 0;
        // Rows that reach into the 32 places up to this one.
        for row in ((place - 31) >> 4).max(0)..=place.min(last) >> 4 {
            let cell = self.cells.get(self.layout.rows[row as usize] + cell).copied().unwrap_or(0);
            // Its top bit is the place 16·row.
            let up = place - 16 * row - 15;
            let cell = u32::from(cell);
            word |= if up >= 0 { cell << up } else { cell >> -up };
        }
        word
    }
}

/// Coordinates of a prefix.
fn axes(heaps: u32) -> usize {
    (heaps as usize - 4).max(1)
}

/// The rows of a run whose x₃ is `floor`.
fn rows(max: u32, floor: u32) -> usize {
    ((max - floor) / 2 / FOLDED_PLACES) as usize + 1
}

/// The cells of a run in one row.
fn run_cells(heaps: u32, limit: u32) -> usize {
    let limit = limit as usize;
    let cells = if heaps > FOLDED_HEAPS { (limit + 2) * (limit + 5) / 2 } else { limit + 2 };
    cells.next_multiple_of(FOLDED_ALIGNMENT)
}

/// Whether offsets and sums of a layout fit their types.
fn fits(heaps: u32, max: u64) -> bool {
    max <= greatest_max(heaps) && Size::of(heaps, max).sum(u32::MAX.into(), |_| 1).is_some()
}

/// How large a layout would be, without building it.
struct Size {
    heaps: u32,
    max: u64,
}

impl Size {
    fn of(heaps: u32, max: u64) -> Self {
        Self { heaps, max }
    }

    /// Cells of a slot without what lies between rows, and the number of runs; `None` for more cells than `limit`.
    fn sum(&self, limit: u128, rows: impl Fn(u32) -> usize) -> Option<(u128, u128)> {
        let (mut cells, mut runs) = (2 * FOLDED_ALIGNMENT as u128, 0);
        let max = u32::try_from(self.max).ok()?;
        let axes = axes(self.heaps) as u64;
        for floor in 0..=max {
            for limit_of_run in if axes == 1 { floor..=floor } else { 0..=floor } {
                let between = match axes {
                    1 => 1,
                    _ => binomial(u64::from(floor - limit_of_run) + axes - 2, axes - 2)?,
                };
                cells += between * (rows(floor) * run_cells(self.heaps, limit_of_run)) as u128;
                runs += between;
                if cells > limit {
                    return None;
                }
            }
        }
        Some((cells, runs))
    }
}

/// Bytes for the layout's tables, a list of active runs, and `slots` strata. `None` when they are more than `limit`, or than
/// can be addressed.
#[must_use]
pub fn folded_bytes(heaps: u32, max: u64, slots: u32, limit: u128) -> Option<u128> {
    let greatest = u32::try_from(max).ok().filter(|_| fits(heaps, max))?;
    let (cells, runs) = Size::of(heaps, max).sum(limit / 2, |floor| rows(greatest, floor))?;
    let between = rows(greatest, 0) * 2 * FOLDED_ALIGNMENT;
    let axes = axes(heaps) as u128;
    let tables = runs * (8 + 4 + 2 * axes) + 4 * (axes + 1) * (u128::from(max) + 1);
    let common = 8 * (run_cells(heaps, greatest) + 2 * FOLDED_ALIGNMENT) as u128;
    let bytes = tables + common + 2 * u128::from(slots) * (cells + between as u128);
    (bytes <= limit).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Cells, CellsMut, Layout, Stratum, fill};

    const SMALL: [(u32, u64); 8] = [(4, 0), (4, 20), (4, 70), (5, 9), (5, 34), (6, 6), (8, 3), (10, 2)];

    #[test]
    fn strata_read_the_same_folded() {
        for (heaps, max) in SMALL {
            let region = Region::new(heaps, max).unwrap();
            let layout = Layout::new(&region).unwrap();
            let folded = FoldedLayout::new(&region).unwrap();
            let mut random = fastrand::Rng::with_seed(max);
            for total in region.strata() {
                let words = (0..layout.words()).map(|_| random.u32(..)).collect::<Vec<_>>();
                let mut cells = (0..folded.cells()).map(|_| random.u16(..)).collect::<Vec<_>>();
                let counts = [region.stratum_size(total), 0];
                let plain = Stratum::new(&layout, &*words, total, false, counts);
                let canonical = plain.canonical();
                fill(&layout, total, canonical.view(), CellsMut::Folded(&folded, &mut cells));
                let cells = Cells::Folded(FoldedCells::new(&folded, &cells));
                let other = Stratum::new(&layout, cells, total, false, counts);
                assert_eq!(canonical, other.canonical(), "{heaps} heaps up to {max}, {total} stones");
                for position in region.stratum(total) {
                    assert_eq!(plain.is_p(&position), other.is_p(&position), "{position}");
                }
                let words = |stratum: &Stratum<'_>| {
                    stratum.fold_rows(Vec::new, |words, row| {
                        words.extend(row.word_range().map(|word| row.word(word)));
                    })
                };
                assert_eq!(words(&plain), words(&other));
            }
        }
    }

    #[test]
    fn what_is_named_as_the_greatest_cap_can_be_laid_out() {
        for (heaps, more) in [(4, 20_001), (5, 8001), (5, 3100), (7, 8000), (14, 100)] {
            let needs = |cap| folded_bytes(heaps, cap, 4, u128::MAX);
            let Some(largest) = largest_cap_within(more, u64::MAX, |cap, _| needs(cap)).0 else {
                panic!("{heaps} heaps");
            };
            assert!(
                largest < more && fits(heaps, largest) && !fits(heaps, largest + 1),
                "{heaps}: {largest}"
            );
        }
    }

    #[test]
    fn runs_do_not_overlap_and_are_as_many_as_foreseen() {
        for (heaps, max) in SMALL {
            let region = Region::new(heaps, max).unwrap();
            let folded = FoldedLayout::new(&region).unwrap();
            let runs = folded.bases.len() - 1;
            let (_, foreseen) = Size::of(heaps, max).sum(u128::MAX, |_| 1).unwrap();
            assert_eq!(runs as u128, foreseen);
            for rank in 0..runs as u32 {
                let run = folded.run(rank);
                let last = folded.first_cell(run.limit + 1) + run.limit as usize + 1;
                let end = folded.bases[rank as usize + 1] as usize;
                assert!(run.base + last < end, "{:?}", run.prefix);
                assert!(end + FOLDED_ALIGNMENT <= folded.row(run.rows - 1).len());
                let terms = run.prefix.iter().zip(folded.rank_terms());
                assert_eq!(terms.map(|(&x, terms)| terms[usize::from(x)]).sum::<u32>(), rank);
            }
        }
    }

    #[test]
    fn no_more_memory_is_taken_than_foreseen() {
        for (heaps, max) in SMALL {
            let folded = FoldedLayout::new(&Region::new(heaps, max).unwrap()).unwrap();
            let bytes = |slots| folded_bytes(heaps, max, slots, u128::MAX).unwrap();
            assert!(bytes(1) - bytes(0) >= 2 * folded.cells() as u128);
            assert!(bytes(1) - bytes(0) <= 2 * folded.cells() as u128 + 4096);
            assert_eq!(folded_bytes(heaps, max, 1, bytes(1)), Some(bytes(1)));
            assert_eq!(folded_bytes(heaps, max, 1, bytes(1) - 1), None);
        }
    }
}
