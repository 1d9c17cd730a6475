//! Between the layout of the kernels and canonical order, in which strata are stored, digested and listed.
//!
//! Canonical order is lexicographic in the heaps from the smallest on: xₙ, xₙ₋₁, …, x₃, x₂ (and x₁ follows from the
//! total). In the layout xₙ is the lane, and blocks that differ in xₙ₋₁ lie side by side. So the positions with the same
//! (xₙ, xₙ₋₁) form one **stream**, which grows by a run of values of x₂ with each (x₃ … xₙ₋₂), and the stratum is its
//! streams one after the other. With (xₙ₋₂, …, x₃) in lexicographic order and all blocks and lanes of each in the
//! order of memory, every stream grows in its order and memory is read in its own. Threads take some values of xₙ₋₁
//! each, or where blocks have no coordinates, some lanes.

#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a function for each instruction set, with what is inlined into it"
)]

use std::ops::Range;
use std::sync::Mutex;

use multiversion::multiversion;
use rayon::prelude::*;

use super::cell::{Cells, CellsMut, Key};
use super::{
    Block, Cell, FOLDED_PLACES, FoldedCells, FoldedLayout, LANE_GROUP, Layout, Region, Stratum, Window,
    prefetch,
};
use crate::error::Result;
use crate::game::Ruleset;

/// Positions, about, that one thread puts in order at a time.
const POSITIONS_PER_PIECE: u64 = 1 << 16;

/// A stratum in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canonical<'a> {
    /// Verdicts, ⌈positions/8⌉ bytes: position `i` is bit i mod 8 of byte ⌊i/8⌋, least significant first; 1 = P. Bits
    /// behind the last position are zero.
    Verdicts(&'a [u8]),
    /// The remoteness of each position; at most 254.
    Remoteness8(&'a [u8]),
    /// The remoteness of each position; at most 65,534.
    Remoteness16(&'a [u16]),
}

impl<'a> Canonical<'a> {
    /// A copy that owns its values.
    #[must_use]
    pub fn to_owned(self) -> CanonicalBuf {
        match self {
            Self::Verdicts(bytes) => CanonicalBuf::Verdicts(bytes.to_vec()),
            Self::Remoteness8(values) => CanonicalBuf::Remoteness8(values.to_vec()),
            Self::Remoteness16(values) => CanonicalBuf::Remoteness16(values.to_vec()),
        }
    }

    /// As bytes; numbers of two bytes in the order of this machine.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Verdicts(bytes) | Self::Remoteness8(bytes) => bytes,
            Self::Remoteness16(values) => bytemuck::cast_slice(values),
        }
    }

    /// Whether the position at place `index`, which must be below the number of positions, is a P-position.
    #[must_use]
    pub fn is_p(self, index: u64) -> bool {
        match self {
            Self::Verdicts(bytes) => bytes[(index / 8) as usize] >> (index % 8) & 1 == 1,
            Self::Remoteness8(values) => values[index as usize].is_multiple_of(2),
            Self::Remoteness16(values) => values[index as usize].is_multiple_of(2),
        }
    }

    /// The remoteness of the position at place `index`, which must be below the number of positions. `None` where only
    /// verdicts are known.
    #[must_use]
    pub fn remoteness(self, index: u64) -> Option<u32> {
        match self {
            Self::Verdicts(_) => None,
            Self::Remoteness8(values) => Some(values[index as usize].into()),
            Self::Remoteness16(values) => Some(values[index as usize].into()),
        }
    }

    /// How many P-positions there are.
    #[must_use]
    pub fn p_positions(self) -> u64 {
        fn even<T: Copy + Into<u32>>(values: &[T]) -> u64 {
            values.iter().map(|&value| u64::from(!value.into() & 1)).sum()
        }
        match self {
            Self::Verdicts(bytes) => {
                let (head, words, tail) = bytemuck::pod_align_to::<u8, u64>(bytes);
                let ones = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
                ones(head) + words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>() + ones(tail)
            }
            Self::Remoteness8(values) => even(values),
            Self::Remoteness16(values) => even(values),
        }
    }
}

/// A stratum in canonical order that owns its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CanonicalBuf {
    /// As [`Canonical::Verdicts`].
    Verdicts(Vec<u8>),
    /// As [`Canonical::Remoteness8`].
    Remoteness8(Vec<u8>),
    /// As [`Canonical::Remoteness16`].
    Remoteness16(Vec<u16>),
}

impl CanonicalBuf {
    /// A view of it.
    #[must_use]
    pub fn view(&self) -> Canonical<'_> {
        match self {
            Self::Verdicts(bytes) => Canonical::Verdicts(bytes),
            Self::Remoteness8(values) => Canonical::Remoteness8(values),
            Self::Remoteness16(values) => Canonical::Remoteness16(values),
        }
    }
}

impl Stratum<'_> {
    /// The stratum in canonical order, put in order on all threads of the pool it is called in.
    #[must_use]
    pub fn canonical(&self) -> CanonicalBuf {
        match self.cells() {
            Cells::Verdicts(words) => CanonicalBuf::Verdicts(self.canonical_bits(words)),
            Cells::Folded(cells) => CanonicalBuf::Verdicts(self.canonical_bits(cells)),
            Cells::Remoteness8(keys) => {
                CanonicalBuf::Remoteness8(self.canonical_values(keys, |key| key.remoteness() as u8))
            }
            Cells::Remoteness16(keys) => {
                CanonicalBuf::Remoteness16(self.canonical_values(keys, |key| key.remoteness() as u16))
            }
        }
    }

    fn canonical_bits(&self, cells: impl Verdicts) -> Vec<u8> {
        let pieces = self.solve_pieces(|piece| {
            let mut streams = BitStreams::new(&counts(piece));
            append_bits(piece, cells, &mut streams);
            streams
        });
        let mut whole = BitString::with_capacity(self.positions);
        for_each_stream(&pieces, |streams, stream| streams.join_to(stream, &mut whole));
        for (_, streams) in pieces {
            streams.recycle();
        }
        debug_assert_eq!(whole.length(), self.positions);
        whole.into_bytes()
    }

    fn canonical_values<K: Key, V: Copy + Default + Send>(
        &self,
        keys: &[K],
        value: impl Fn(K) -> V + Sync,
    ) -> Vec<V> {
        let pieces = self.solve_pieces(|piece| {
            let mut places = starts_of(&counts(piece));
            let mut values = vec![V::default(); places.pop().unwrap_or(0)];
            let starts = places.clone();
            piece.for_each_cell(|stream, index| {
                values[places[stream]] = value(keys[index]);
                places[stream] += 1;
            });
            (starts, places, values)
        });
        let mut whole = Vec::with_capacity(self.positions as usize);
        for_each_stream(&pieces, |(starts, ends, values), stream| {
            whole.extend_from_slice(&values[starts[stream]..ends[stream]]);
        });
        debug_assert_eq!(whole.len() as u64, self.positions);
        whole
    }

    /// Cuts the stratum into pieces, and does something with each, on all threads.
    fn solve_pieces<T: Send>(&self, solve: impl Fn(&Piece<'_>) -> T + Sync) -> Vec<(Shape, T)> {
        let wanted = self.positions.div_ceil(POSITIONS_PER_PIECE);
        let wanted = wanted.clamp(1, 4 * rayon::current_num_threads() as u64) as usize;
        let rows = self.layout().block_rows(self.total);
        let pieces = Piece::whole(self.layout(), self.total, &rows).cut(wanted);
        pieces
            .into_par_iter()
            .map(|piece| {
                let solved = solve(&piece);
                (piece.shape, solved)
            })
            .collect()
    }
}

/// Reads strata from canonical order, as observers read them.
pub struct Reader {
    rules: Ruleset,
    region: Region,
    layout: Layout,
    words: Vec<u32>,
    p_positions: u64,
}

impl Reader {
    /// Room for one stratum of these cells.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) when the region cannot be laid out.
    pub fn new(rules: &Ruleset, region: &Region, cell: Cell) -> Result<Self> {
        let layout = Layout::with_cells(region, cell)?;
        let words = vec![0; layout.words() as usize];
        Ok(Self { rules: rules.clone(), region: region.clone(), layout, words, p_positions: 0 })
    }

    /// Reads the stratum with this total, whose values these are.
    ///
    /// # Panics
    /// If they are of another kind or number than the cells and the stratum.
    pub fn read(&mut self, total: u32, canonical: Canonical<'_>) {
        fill(&self.layout, total, canonical, CellsMut::from_words(self.layout.cell(), &mut self.words));
        self.p_positions = canonical.p_positions();
    }

    /// The stratum that was read last, whose total this must be.
    #[must_use]
    pub fn stratum(&self, total: u32) -> Stratum<'_> {
        let forbidden = self.rules.forbidden.contains(total.into());
        let counts = [self.region.stratum_size(total), self.p_positions];
        let cells = Cells::from_words(self.layout.cell(), &self.words);
        Stratum::new(&self.layout, cells, total, forbidden, counts)
    }
}

/// Puts a stratum in canonical order into the cells of a layout, which hold what earlier strata left there, or
/// zeros. Bits and cells outside the stratum's windows keep what they had.
///
/// # Panics
/// If the values are of another kind or number than the layout and the stratum have.
pub fn fill(layout: &Layout, total: u32, canonical: Canonical<'_>, cells: CellsMut<'_>) {
    let rows = layout.block_rows(total);
    let piece = Piece::whole(layout, total, &rows);
    let counts = counts(&piece);
    let mut places = vec![0; counts.len()];
    let mut place = 0;
    for_each_stream(&[(piece.shape.clone(), ())], |(), stream| {
        places[stream] = place;
        place += counts[stream];
    });
    match (canonical, cells) {
        (Canonical::Verdicts(bytes), CellsMut::Verdicts(words)) => {
            fill_bits(&piece, &mut places, bytes, words);
        }
        (Canonical::Verdicts(bytes), CellsMut::Folded(folded, cells)) => {
            fill_folded(&piece, &mut places, bytes, folded, cells);
        }
        (Canonical::Remoteness8(values), CellsMut::Remoteness8(keys)) => {
            piece.for_each_cell(|stream, index| {
                keys[index] = u8::of(values[places[stream]].into());
                places[stream] += 1;
            });
        }
        (Canonical::Remoteness16(values), CellsMut::Remoteness16(keys)) => {
            piece.for_each_cell(|stream, index| {
                keys[index] = u16::of(values[places[stream]].into());
                places[stream] += 1;
            });
        }
        _ => unreachable!("cells are of the kind of their stratum"),
    }
}

fn fill_bits(piece: &Piece<'_>, places: &mut [usize], bytes: &[u8], words: &mut [u32]) {
    piece.for_each_block(|first_stream, block, window| {
        for lane in window.first_lane..=window.last_lane {
            let place = &mut places[first_stream + lane as usize];
            let run = SecondRun::of(piece.layout, block, window, lane);
            let mut index = run.start;
            let (mut first, mut left) = (run.shift, run.count);
            while left > 0 {
                let count = left.min(32 - first);
                let mask = (u32::MAX >> (32 - count)) << first;
                words[index] = words[index] & !mask | bits_at(bytes, *place, count) << first;
                *place += count as usize;
                (first, left) = (0, left - count);
                index += block.pitch as usize;
            }
        }
    });
}

fn fill_folded(
    piece: &Piece<'_>,
    places: &mut [usize],
    bytes: &[u8],
    folded: &FoldedLayout,
    cells: &mut [u16],
) {
    piece.for_each_block(|first_stream, block, window| {
        let base = folded.block(block.coordinates);
        for lane in window.first_lane..=window.last_lane {
            let place = &mut places[first_stream + lane as usize];
            let (first, last) = piece.layout.second_heap(window, lane);
            let mut left = (last + 1 - first) as u32;
            // The last places are the least values of x₂.
            while left > 0 {
                let row = (left - 1) / FOLDED_PLACES;
                let count = left - row * FOLDED_PLACES;
                let bits = bits_at(bytes, *place, count) << (FOLDED_PLACES - count);
                cells[folded.row(row as usize)][base + lane as usize] = bits as u16;
                *place += count as usize;
                left -= count;
            }
        }
    });
}

/// Blocks that lie side by side: those with the same x₃ … xₙ₋₂, and the values of xₙ₋₁ that have positions.
struct BlockRow {
    /// The rank of the block with xₙ₋₁ = 0.
    rank: u32,
    values: Range<u32>,
}

impl Layout {
    /// The rows of blocks that have positions in the stratum, in lexicographic order of (xₙ₋₂, …, x₃). A few blocks
    /// without any may be among them.
    fn block_rows(&self, total: u32) -> Vec<BlockRow> {
        let mut rows = Vec::new();
        let search = RowSearch { layout: self, total: total as i32, cap: self.max() as i32 };
        search.extend(self.axes().saturating_sub(1), 0, 0, 0, None, &mut rows);
        rows
    }
}

/// A search through the coordinates from xₙ₋₂ on.
struct RowSearch<'a> {
    layout: &'a Layout,
    total: i32,
    cap: i32,
}

impl RowSearch<'_> {
    /// Lists the rows with these coordinates. `axis` are still to be chosen, all at least `least`, the one chosen last;
    /// `rank` and `sum` are those of the chosen, and `lowest` is the first chosen, xₙ₋₂.
    fn extend(
        &self,
        axis: usize,
        rank: u32,
        sum: i32,
        least: i32,
        lowest: Option<i32>,
        out: &mut Vec<BlockRow>,
    ) {
        let rest = self.total - sum;
        // xₙ₋₁ and the lane are at most xₙ₋₂.
        let most = lowest.unwrap_or(self.cap);
        if axis == 0 {
            let slack = (self.layout.max() + self.layout.second_max()) as i32;
            let (first, last) = match (self.layout.axes(), lowest) {
                (0, _) => (0, 0),
                // x₁ and x₂ are at least x₃, which is the one chosen last or xₙ₋₁ itself.
                (_, None) => ((rest - slack + 1).div_euclid(2), rest / 3),
                _ => ((rest - slack + 1).div_euclid(2), rest - 2 * least),
            };
            let values = first.max(0) as u32..(last.min(most) + 1).max(0) as u32;
            if !values.is_empty() {
                out.push(BlockRow { rank, values });
            }
            return;
        }
        // This coordinate, the larger ones, x₁ and x₂ are at least `x`; the larger heaps are at most the cap.
        let larger = axis as i32 + 1;
        let lacking = rest - larger * self.cap;
        let first = lowest.map_or((lacking + 2).div_euclid(3), |lowest| lacking - 2 * lowest).max(least);
        for x in first..=(rest / (larger + 1)).min(self.cap) {
            let rank = rank + self.layout.rank_terms()[axis - 1][x as usize];
            self.extend(axis - 1, rank, sum + x, x, lowest.or(Some(x)), out);
        }
    }
}

/// The streams of a piece: those with some values of xₙ₋₁, or where there is no such coordinate, with some lanes. They
/// are numbered by value and then by lane.
#[derive(Clone)]
struct Shape {
    values: Range<u32>,
    lanes: Range<u32>,
    /// The number of each value's stream of lane 0 (of the first lane, where the lanes are cut); then that of all.
    firsts: Vec<usize>,
}

impl Shape {
    fn new(layout: &Layout, values: Range<u32>, lanes: Range<u32>) -> Self {
        let width = |value| if layout.lane_is_floor() { lanes.len() } else { value as usize + 1 };
        let mut firsts = vec![0];
        firsts.extend(values.clone().scan(0, |end, value| {
            *end += width(value);
            Some(*end)
        }));
        Self { values, lanes, firsts }
    }

    /// The numbers of the streams of a lane, by value.
    fn streams(&self, lane: u32) -> impl Iterator<Item = usize> {
        let place = self.lanes.contains(&lane).then(|| (lane - self.lanes.start) as usize);
        let bounds =
            self.firsts.windows(2).filter(move |bounds| place.is_some_and(|at| bounds[0] + at < bounds[1]));
        bounds.map(move |bounds| bounds[0] + place.unwrap_or(0))
    }
}

impl Shape {
    /// The number of a value's stream of lane 0 (which wraps around where the lanes are cut above it).
    fn first_stream(&self, value: u32) -> usize {
        self.firsts[(value - self.values.start) as usize].wrapping_sub(self.lanes.start as usize)
    }
}

/// Visits all streams of all pieces in canonical order.
fn for_each_stream<T>(pieces: &[(Shape, T)], mut visit: impl FnMut(&T, usize)) {
    let end = pieces.iter().map(|(shape, _)| shape.lanes.end).max().unwrap_or(0);
    for lane in 0..end {
        for (shape, piece) in pieces {
            shape.streams(lane).for_each(|stream| visit(piece, stream));
        }
    }
}

/// A share of a stratum.
struct Piece<'a> {
    layout: &'a Layout,
    total: u32,
    rows: &'a [BlockRow],
    shape: Shape,
}

impl<'a> Piece<'a> {
    fn whole(layout: &'a Layout, total: u32, rows: &'a [BlockRow]) -> Self {
        let first = rows.iter().map(|row| row.values.start).min().unwrap_or(0);
        let end = rows.iter().map(|row| row.values.end).max().unwrap_or(0);
        let lanes =
            0..if layout.lane_is_floor() { layout.window(&[], total, 0).last_lane as u32 + 1 } else { end };
        Self { layout, total, rows, shape: Shape::new(layout, first..end, lanes) }
    }

    /// About so many pieces of about as many blocks, or where there is but one, lanes.
    fn cut(self, wanted: usize) -> Vec<Self> {
        let Self { layout, total, rows, shape: Shape { values, lanes, .. } } = self;
        let piece = |values, lanes| Self { layout, total, rows, shape: Shape::new(layout, values, lanes) };
        if layout.lane_is_floor() {
            let size = lanes.len().div_ceil(wanted).max(1) as u32;
            let starts = lanes.clone().step_by(size as usize);
            return starts.map(|start| piece(values.clone(), start..lanes.end.min(start + size))).collect();
        }
        let blocks = rows.iter().map(|row| row.values.len()).sum::<usize>();
        let mut pieces = Vec::new();
        let (mut start, mut gathered) = (values.start, 0);
        for value in values.clone() {
            gathered += rows.iter().filter(|row| row.values.contains(&value)).count();
            if gathered * wanted >= blocks || value + 1 == values.end {
                pieces.push(piece(start..value + 1, lanes.clone()));
                (start, gathered) = (value + 1, 0);
            }
        }
        pieces
    }

    /// A block, and the piece's part of its window.
    #[inline(always)]
    fn block(&self, rank: u32) -> (Block<'_>, Window) {
        let block = self.layout.block(rank);
        let mut window = self.layout.window(block.coordinates, self.total, 0);
        if self.layout.lane_is_floor() {
            window.first_lane = window.first_lane.max(self.shape.lanes.start as i32);
            window.last_lane = window.last_lane.min(self.shape.lanes.end as i32 - 1);
        }
        (block, window)
    }

    /// Visits the blocks that have positions in the piece, with the number of the stream of lane 0 (which may wrap
    /// around, where the lanes are cut).
    #[inline(always)]
    fn for_each_block(&self, mut visit: impl FnMut(usize, &Block<'_>, &Window)) {
        let shape = &self.shape;
        for row in self.rows {
            for value in row.values.start.max(shape.values.start)..row.values.end.min(shape.values.end) {
                let (block, window) = self.block(row.rank + value);
                if !window.is_empty() {
                    visit(shape.first_stream(value), &block, &window);
                }
            }
        }
    }

    /// The blocks with this xₙ₋₁, in lexicographic order of (xₙ₋₂, …, x₃).
    fn parts_with(&self, value: u32, cells: impl Verdicts, parts: &mut Vec<Part>) {
        parts.clear();
        for row in self.rows.iter().filter(|row| row.values.contains(&value)) {
            let (block, window) = self.block(row.rank + value);
            if !window.is_empty() {
                let (base, pitch) = (cells.base(&block), block.pitch as usize);
                parts.push(Part { base, pitch, first_row: block.first_row as i32, window });
            }
        }
    }

    /// Visits every cell that holds one value of x₂, with the number of its stream.
    fn for_each_cell(&self, mut visit: impl FnMut(usize, usize)) {
        self.for_each_block(|first_stream, block, window| {
            let (first, last) = self.layout.second_range(window);
            for second in first..=last {
                let (first_lane, last_lane) = self.layout.lanes(window, second);
                let row = (second as u32).wrapping_sub(block.first_row) as usize * block.pitch as usize;
                for lane in first_lane..=last_lane {
                    let lane = lane as usize;
                    visit(first_stream.wrapping_add(lane), block.base + row + lane);
                }
            }
        });
    }
}

/// The positions of one block and lane: values of x₂, as bits of one word or several.
struct SecondRun {
    /// The index of the first word, and in it the first bit.
    start: usize,
    shift: u32,
    /// How many bits there are.
    count: u32,
}

impl SecondRun {
    #[inline(always)]
    fn of(layout: &Layout, block: &Block<'_>, window: &Window, lane: i32) -> Self {
        let (first, last) = layout.second_heap(window, lane);
        let (first, last) = (first as u32, last as u32);
        let row = (first / 32 - block.first_row) as usize * block.pitch as usize;
        Self { start: block.base + row + lane as usize, shift: first % 32, count: last + 1 - first }
    }
}

/// How many positions each stream has: fewer than 2³².
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+sse4.2+popcnt"
))]
fn counts(piece: &Piece<'_>) -> Vec<usize> {
    let mut counts = vec![0u32; piece.shape.firsts.last().copied().unwrap_or(0)];
    let (cap, second_max) = (piece.layout.max() as i32, piece.layout.second_max() as i32);
    let lane_is_floor = i32::from(piece.layout.lane_is_floor());
    piece.for_each_block(|first_stream, _, window| {
        let start = first_stream.wrapping_add(window.first_lane as usize);
        let lanes = (window.last_lane + 1 - window.first_lane) as usize;
        for (lane, count) in (window.first_lane..).zip(&mut counts[start..][..lanes]) {
            // As `Layout::second_heap`, without branches.
            let rest = window.rest - lane;
            let first = window.floor.max(lane_is_floor * lane).max(rest - cap);
            *count += ((rest >> 1).min(second_max) + 1 - first) as u32;
        }
    });
    counts.into_iter().map(|count| count as usize).collect()
}

/// Where each of some consecutive parts starts, and where the last one ends.
fn starts_of(lengths: &[usize]) -> Vec<usize> {
    let mut starts = vec![0];
    starts.extend(lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    }));
    starts
}

/// Memory of earlier strata: fresh memory costs as much as what is done with it.
static OLD_WORDS: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());
/// So many pieces are kept.
const MOST_OLD: usize = 64;

/// The bits of all streams of a piece.
struct BitStreams {
    words: Vec<u64>,
    /// The word each one starts at.
    starts: Vec<usize>,
    ends: Vec<StreamEnd>,
}

/// The end of a stream: the word it is at, the bits behind the full words, and how many these are: below 64.
#[derive(Clone, Copy, Default)]
struct StreamEnd {
    word: usize,
    rest: u64,
    count: u64,
}

impl BitStreams {
    /// Room for so many bits in each stream.
    fn new(bits: &[usize]) -> Self {
        // A word more, as the last one is written before it is full.
        let mut starts = starts_of(&bits.iter().map(|bits| bits / 64 + 1).collect::<Vec<_>>());
        // And one that belongs to no stream. What was in them is never read.
        let mut words = OLD_WORDS.lock().ok().and_then(|mut old| old.pop()).unwrap_or_default();
        words.resize(starts.pop().unwrap_or(0) + 1, 0);
        let ends = starts.iter().map(|&word| StreamEnd { word, ..StreamEnd::default() }).collect();
        Self { words, starts, ends }
    }

    /// Leaves the memory to later streams.
    fn recycle(self) {
        if let Ok(mut old) = OLD_WORDS.lock()
            && old.len() < MOST_OLD
        {
            old.push(self.words);
        }
    }

    fn join_to(&self, stream: usize, whole: &mut BitString) {
        let end = &self.ends[stream];
        whole.join(&self.words[self.starts[stream]..end.word], end.rest, end.count as u32);
    }
}

/// Streams that grow side by side: those of neighbouring lanes.
const GROUP: usize = LANE_GROUP as usize;

/// The ends of a group of streams, element by element as in [`StreamEnd`].
struct GroupEnds {
    word: [usize; GROUP],
    rest: [u64; GROUP],
    count: [u64; GROUP],
}

impl GroupEnds {
    /// Appends `counts` bits, 0 to 64, to each stream; the bits above must be zero.
    #[inline(always)]
    fn append(&mut self, words: &mut [u64], bits: &[u64; GROUP], counts: &[u64; GROUP]) {
        let joined: [u64; GROUP] = std::array::from_fn(|i| self.rest[i] | bits[i] << self.count[i]);
        let left: [u64; GROUP] = std::array::from_fn(|i| bits[i] >> 1 >> (63 - self.count[i]));
        let filled: [u64; GROUP] = std::array::from_fn(|i| self.count[i] + counts[i]);
        for i in 0..GROUP {
            // Written whether it is full or not: a branch on that could not be foreseen.
            words[self.word[i]] = joined[i];
            self.word[i] += (filled[i] >> 6) as usize;
        }
        self.rest = std::array::from_fn(|i| if filled[i] >= 64 { left[i] } else { joined[i] });
        self.count = std::array::from_fn(|i| filled[i] & 63);
    }
}

/// So many blocks ahead, memory is asked for: neighbours in canonical order lie far apart.
const AHEAD: usize = 6;

/// The first row with positions of the group of lanes from `lane` on.
#[inline(always)]
fn first_row(layout: &Layout, window: &Window, lane: i32) -> i32 {
    let lane_floor = if layout.lane_is_floor() { lane } else { 0 };
    let least = window.rest - lane - (GROUP as i32 - 1) - layout.max() as i32;
    lane_floor.max(window.floor).max(least) / 32
}

/// A block as its positions are read.
struct Part {
    base: usize,
    pitch: usize,
    first_row: i32,
    window: Window,
}

impl Part {
    /// The index of a row's cell for a lane.
    #[inline(always)]
    fn start(&self, row: i32, lane: i32) -> usize {
        self.base + (row - self.first_row) as usize * self.pitch + lane as usize
    }
}

/// Appends the runs of all blocks to their streams, a group of lanes at a time, whose ends stay in registers.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+sse4.2+popcnt",
))]
fn append_bits<V: Verdicts>(piece: &Piece<'_>, cells: V, streams: &mut BitStreams) {
    let mut parts = Vec::new();
    let nowhere = streams.words.len() - 1;
    for value in piece.shape.values.clone() {
        piece.parts_with(value, cells, &mut parts);
        let first_lane = parts.iter().map(|part| part.window.first_lane).min().unwrap_or(0);
        let last_lane = parts.iter().map(|part| part.window.last_lane).max().unwrap_or(-1);
        let first_stream = piece.shape.first_stream(value);
        let mut lane = first_lane;
        while lane <= last_lane {
            let lanes = (last_lane + 1 - lane).min(GROUP as i32) as usize;
            let ends = &mut streams.ends[first_stream.wrapping_add(lane as usize)..][..lanes];
            let mut group = GroupEnds { word: [nowhere; GROUP], rest: [0; GROUP], count: [0; GROUP] };
            for (word, end) in group.word.iter_mut().zip(&*ends) {
                *word = end.word;
            }
            for (index, part) in parts.iter().enumerate() {
                if let Some(ahead) = parts.get(index + AHEAD) {
                    cells.fetch(piece.layout, ahead, lane);
                }
                if lane <= part.window.last_lane && lane + GROUP as i32 > part.window.first_lane {
                    cells.append(piece.layout, part, lane, &mut group, &mut streams.words);
                }
            }
            for (i, end) in ends.iter_mut().enumerate() {
                *end = StreamEnd { word: group.word[i], rest: group.rest[i], count: group.count[i] };
            }
            lane += GROUP as i32;
        }
    }
}

/// Verdicts of a stratum in memory.
trait Verdicts: Copy + Sync {
    /// Where a block starts.
    fn base(self, block: &Block<'_>) -> usize;

    /// Asks for the memory of a block, for the group of lanes from `lane` on.
    fn fetch(self, layout: &Layout, part: &Part, lane: i32);

    /// Appends the runs of one block for the group of lanes from `lane` on.
    fn append(self, layout: &Layout, part: &Part, lane: i32, group: &mut GroupEnds, out: &mut [u64]);
}

/// The first value of x₂ of each lane of a group, and the one behind the last (0 for a lane without any).
#[inline(always)]
fn runs(layout: &Layout, window: &Window, lane: i32) -> [[i32; GROUP]; 2] {
    let (cap, second_max, most) = (layout.max() as i32, layout.second_max() as i32, window.rest - lane);
    let lane_is_floor = i32::from(layout.lane_is_floor());
    // As `Layout::second_heap`, without branches.
    let first = std::array::from_fn(|i| {
        let lane = lane + i as i32;
        (lane * lane_is_floor).max(window.floor).max(window.rest - lane - cap)
    });
    let end = std::array::from_fn(|i| {
        let inside = (window.first_lane..=window.last_lane).contains(&(lane + i as i32));
        if inside { ((most - i as i32) >> 1).min(second_max) + 1 } else { 0 }
    });
    [first, end]
}

impl Verdicts for &[u32] {
    #[inline(always)]
    fn base(self, block: &Block<'_>) -> usize {
        block.base
    }

    #[inline(always)]
    fn fetch(self, layout: &Layout, part: &Part, lane: i32) {
        let start = part.start(first_row(layout, &part.window, lane), lane);
        prefetch(self, start);
        prefetch(self, start.wrapping_add(part.pitch));
    }

    #[inline(always)]
    fn append(self, layout: &Layout, part: &Part, lane: i32, group: &mut GroupEnds, out: &mut [u64]) {
        let [first, end] = runs(layout, &part.window, lane);
        let low = first_row(layout, &part.window, lane);
        let high = ((part.window.rest - lane) / 2).min(layout.second_max() as i32) / 32;
        let load = |row: i32| -> &[u32; GROUP] {
            self[part.start(row, lane)..].first_chunk().expect("a slot ends in a lane group of zeros")
        };
        let mut row = low;
        // Two rows at once: where in them the runs end could not be foreseen.
        while row <= high {
            let (one, two) = (load(row), load((row + 1).min(high)));
            let from: [i32; GROUP] = std::array::from_fn(|i| (first[i] - 32 * row).clamp(0, 64));
            let count: [u64; GROUP] =
                std::array::from_fn(|i| ((end[i] - 32 * row).min(64) - from[i]).max(0) as u64);
            let bits: [u64; GROUP] = std::array::from_fn(|i| {
                let pair = u64::from(one[i]) | u64::from(two[i]) << 32;
                let mask = if count[i] == 0 { 0 } else { u64::MAX >> (64 - count[i]) };
                // Where nothing is left to shift in, nothing is counted.
                pair >> from[i].min(63) & mask
            });
            group.append(out, &bits, &count);
            row += 2;
        }
    }
}

impl Verdicts for FoldedCells<'_> {
    #[inline(always)]
    fn base(self, block: &Block<'_>) -> usize {
        self.block(block.coordinates)
    }

    #[inline(always)]
    fn fetch(self, _: &Layout, part: &Part, lane: i32) {
        prefetch(self.row(0, 0), part.base.wrapping_add(lane as usize));
    }

    #[inline(always)]
    fn append(self, layout: &Layout, part: &Part, lane: i32, group: &mut GroupEnds, out: &mut [u64]) {
        let [first, end] = runs(layout, &part.window, lane);
        let places: [i32; GROUP] = std::array::from_fn(|i| (end[i] - first[i]).max(0));
        let most = places.into_iter().max().unwrap_or(0);
        let cell = part.base + lane as usize;
        let load = |row: i32| -> [u16; GROUP] {
            self.row(row as usize, cell).first_chunk().copied().unwrap_or_default()
        };
        // The last places are the least values of x₂. Four rows at once, or two.
        let mut place = (most - 1).max(0) & !63;
        while place >= 0 {
            let count: [u64; GROUP] = std::array::from_fn(|i| (places[i] - place).clamp(0, 64) as u64);
            let row = place / 16;
            let (one, two) = (load(row), load(row + 1));
            let mut bits: [u64; GROUP] =
                std::array::from_fn(|i| u64::from(one[i]) << 48 | u64::from(two[i]) << 32);
            if most - place > 32 {
                let (three, four) = (load(row + 2), load(row + 3));
                bits = std::array::from_fn(|i| bits[i] | u64::from(three[i]) << 16 | u64::from(four[i]));
            }
            // A shift by 64 at once is not defined.
            let left: [u64; GROUP] = std::array::from_fn(|i| 64 - count[i]);
            let bits = std::array::from_fn(|i| bits[i] >> (left[i] / 2) >> (left[i] - left[i] / 2));
            group.append(out, &bits, &count);
            place -= 64;
        }
    }
}

/// `count` bits, 1 to 32, from place `start` on.
#[inline]
fn bits_at(bytes: &[u8], start: usize, count: u32) -> u32 {
    let at = start / 8;
    let read = match bytes.get(at..at + 8) {
        Some(whole) => u64::from_le_bytes(whole.try_into().expect("eight bytes")),
        None => bytes[at..].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)),
    };
    (read >> (start % 8)) as u32 & (u32::MAX >> (32 - count))
}

/// Bits joined from streams, least significant first.
struct BitString {
    /// Full words.
    bytes: Vec<u8>,
    /// The bits behind them, and how many these are: below 64.
    rest: u64,
    count: u32,
}

impl BitString {
    fn with_capacity(bits: u64) -> Self {
        Self { bytes: Vec::with_capacity((bits / 8) as usize + 16), rest: 0, count: 0 }
    }

    fn length(&self) -> u64 {
        8 * self.bytes.len() as u64 + u64::from(self.count)
    }

    /// Appends full words and the `count` bits behind them, fewer than 64.
    fn join(&mut self, full: &[u64], rest: u64, count: u32) {
        let (shift, start) = (self.count, self.bytes.len());
        self.bytes.resize(start + 8 * full.len(), 0);
        let out = self.bytes[start..].as_chunks_mut::<8>().0;
        let mut below = self.rest;
        for (out, &word) in out.iter_mut().zip(full) {
            *out = (below | word << shift).to_le_bytes();
            below = word >> 1 >> (63 - shift);
        }
        self.rest = below | rest << shift;
        self.count = shift + count;
        if self.count >= 64 {
            self.bytes.extend(self.rest.to_le_bytes());
            self.rest = rest >> 1 >> (63 - shift);
            self.count -= 64;
        }
    }

    fn into_bytes(mut self) -> Vec<u8> {
        let bytes = self.length().div_ceil(8) as usize;
        self.bytes.extend(self.rest.to_le_bytes());
        self.bytes.truncate(bytes);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_join_at_any_offset() {
        let mut expected = Vec::new();
        let mut whole = BitString::with_capacity(0);
        let mut seed = 1u64;
        for piece in 0..200 {
            let full = (0..piece % 5).map(|i| seed.rotate_left(7 * i)).collect::<Vec<_>>();
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let count = (seed >> 20) as u32 % 64;
            let rest = seed & !(u64::MAX << count);
            whole.join(&full, rest, count);
            expected.extend(full.iter().flat_map(|word| (0..64).map(move |bit| word >> bit & 1 == 1)));
            expected.extend((0..count).map(|bit| rest >> bit & 1 == 1));
        }
        assert_eq!(whole.length(), expected.len() as u64);
        let bytes = whole.into_bytes();
        assert_eq!(bytes.len(), expected.len().div_ceil(8));
        for (index, &bit) in expected.iter().enumerate() {
            assert_eq!(bytes[index / 8] >> (index % 8) & 1 == 1, bit);
            assert_eq!(bits_at(&bytes, index, 1) == 1, bit);
        }
    }

    #[test]
    fn rows_have_all_blocks_with_positions_from_the_smallest_heap_on() {
        for (heaps, max) in [(1, 5), (2, 4), (3, 7), (4, 6), (5, 5), (6, 4), (7, 3), (5, 0)] {
            let region = Region::new(heaps, max).unwrap();
            let layout = Layout::with_cells(&region, Cell::Verdicts).unwrap();
            for total in region.strata() {
                let empty = |&rank: &u32| layout.window(layout.block(rank).coordinates, total, 0).is_empty();
                let reversed = |rank: u32| {
                    let [larger @ .., last] = layout.block(rank).coordinates else { return Vec::new() };
                    larger.iter().rev().chain([last]).collect::<Vec<_>>()
                };
                let mut expected = (0..layout.blocks() as u32).collect::<Vec<_>>();
                expected.retain(|rank| !empty(rank));
                expected.sort_by_key(|&rank| reversed(rank));
                let rows = layout.block_rows(total);
                let blocks = rows.iter().flat_map(|row| row.values.clone().map(|value| row.rank + value));
                let found = blocks.filter(|rank| !empty(rank)).collect::<Vec<_>>();
                assert_eq!(found, expected, "{heaps} heaps ≤ {max}, total {total}");
            }
        }
    }

    #[test]
    fn filled_cells_are_read_as_they_were_stored() {
        for (heaps, max) in [(1, 70), (2, 40), (3, 70), (4, 20), (5, 12), (6, 7), (7, 4), (4, 0)] {
            let region = Region::new(heaps, max).unwrap();
            let mut seed = 7u64;
            let mut random = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) as u32
            };
            for cell in [Cell::Verdicts, Cell::Remoteness8, Cell::Remoteness16] {
                let layout = Layout::with_cells(&region, cell).unwrap();
                // Whatever an earlier stratum left.
                let mut words = (0..layout.words()).map(|_| random()).collect::<Vec<_>>();
                for total in region.strata() {
                    let size = region.stratum_size(total);
                    let stored = match cell {
                        Cell::Verdicts => {
                            let mut bits = BitString::with_capacity(size);
                            (0..size).for_each(|_| bits.join(&[], u64::from(random() & 1), 1));
                            CanonicalBuf::Verdicts(bits.into_bytes())
                        }
                        Cell::Remoteness8 => {
                            CanonicalBuf::Remoteness8((0..size).map(|_| (random() % 255) as u8).collect())
                        }
                        Cell::Remoteness16 => CanonicalBuf::Remoteness16(
                            (0..size).map(|_| (random() % 65_535) as u16).collect(),
                        ),
                    };
                    fill(&layout, total, stored.view(), CellsMut::from_words(cell, &mut words));
                    let cells = Cells::from_words(cell, &words);
                    let stratum = Stratum::new(&layout, cells, total, false, [size, 0]);
                    assert_eq!(stratum.canonical(), stored, "{heaps} heaps ≤ {max}, total {total}, {cell:?}");
                }
            }
        }
    }
}
