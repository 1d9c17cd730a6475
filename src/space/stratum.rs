//! One solved stratum, as observers read it.

use rayon::prelude::*;

use super::{Layout, Window};
use crate::game::Position;

/// Blocks whose rows are visited one after another on one thread, at least.
const BLOCKS_PER_PART: usize = 512;
/// Parts that a stratum is cut into for each thread, at most.
const PARTS_PER_THREAD: usize = 4;

/// The verdicts of one stratum in the layout of the kernels, with what is needed to read them.
#[derive(Clone, Copy)]
pub struct Stratum<'a> {
    /// The total of all its positions.
    pub total: u32,
    /// Whether moves may not arrive at this total: its P-positions are P₀.
    pub forbidden: bool,
    /// How many positions it has.
    pub positions: u64,
    /// How many of them are P-positions.
    pub p_positions: u64,
    layout: &'a Layout,
    /// [`Layout::words`] words; those outside the windows of this stratum may hold anything.
    words: &'a [u32],
}

/// All positions of a stratum that agree in every heap but the two largest.
pub struct Row<'a> {
    /// x₃ … xₙ₋₁, largest first; empty for three heaps or fewer.
    pub coordinates: &'a [u16],
    /// xₙ, the smallest heap (0 where one or two heaps leave no such heap).
    pub lane: u32,
    /// The stones in the two largest heaps together.
    pub rest: u32,
    /// The first value of x₂.
    pub first: u32,
    /// The last value of x₂.
    pub last: u32,
    heaps: usize,
    words: &'a [u32],
    /// Index of the word for x₂ = 0 … 31, could it be read.
    origin: isize,
    pitch: usize,
}

impl Row<'_> {
    /// The verdicts (1 = P) for x₂ = 32·`word` … 32·`word` + 31, zero outside `first ..= last`.
    #[must_use]
    pub fn word(&self, word: u32) -> u32 {
        self.words[(self.origin + (word as usize * self.pitch) as isize) as usize] & self.valid(word)
    }

    /// Which bits of word `word` are positions of the row.
    #[must_use]
    pub fn valid(&self, word: u32) -> u32 {
        let below = |count: u32| if count >= 32 { u32::MAX } else { (1 << count) - 1 };
        let start = word * 32;
        below((self.last + 1).saturating_sub(start)) & !below(self.first.saturating_sub(start))
    }

    /// The row's position with this x₂.
    #[must_use]
    pub fn position(&self, second: u32) -> Position {
        let others = self.smaller_heaps().collect::<Vec<_>>();
        let both = [self.rest - second, second];
        Position::new(both[..self.heaps.min(2)].iter().copied().chain(others).collect())
    }

    /// x₃ … xₙ, the heaps that all positions of the row have.
    pub fn smaller_heaps(&self) -> impl Iterator<Item = u32> {
        let lane = (self.heaps >= 3).then_some(self.lane);
        self.coordinates.iter().map(|&x| u32::from(x)).chain(lane)
    }

    /// The values of x₂ whose positions are P-positions, in order.
    pub fn p_seconds(&self) -> impl Iterator<Item = u32> {
        self.word_range().flat_map(|word| {
            let bits = self.word(word);
            (0..32).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 32 + bit)
        })
    }

    /// The words that hold the row's positions.
    pub fn word_range(&self) -> std::ops::RangeInclusive<u32> {
        self.first / 32..=self.last / 32
    }
}

impl<'a> Stratum<'a> {
    /// A solved stratum. `words` are in the order of `layout`, bits outside the stratum's windows are ignored.
    #[must_use]
    pub fn new(layout: &'a Layout, words: &'a [u32], total: u32, forbidden: bool, counts: [u64; 2]) -> Self {
        let [positions, p_positions] = counts;
        Self { total, forbidden, positions, p_positions, layout, words }
    }

    /// Visits every row once, on all threads of the pool it is called in: each part of the stratum starts with
    /// `new` and its rows are added by `visit` in the order of the layout. Returns the parts in that order.
    pub fn fold_rows<T: Send>(
        &self,
        new: impl Fn() -> T + Sync,
        visit: impl Fn(&mut T, &Row<'_>) + Sync,
    ) -> Vec<T> {
        let mut active = Vec::new();
        self.layout.active_blocks(self.total, 0, &mut active);
        let fold = |blocks: &[u32]| {
            let mut value = new();
            for &rank in blocks {
                let window = self.layout.window(self.layout.block(rank).coordinates, self.total, 0);
                for lane in window.first_lane..=window.last_lane {
                    visit(&mut value, &self.row(rank, &window, lane));
                }
            }
            value
        };
        let parts = Self::parts(rayon::current_num_threads());
        active.par_chunks(BLOCKS_PER_PART.max(active.len().div_ceil(parts))).map(fold).collect()
    }

    /// Into how many parts [`fold_rows`](Self::fold_rows) cuts a stratum at most, on this many threads.
    #[must_use]
    pub fn parts(threads: usize) -> usize {
        PARTS_PER_THREAD * threads
    }

    fn row(&self, rank: u32, window: &Window, lane: i32) -> Row<'a> {
        let block = self.layout.block(rank);
        let (first, last) = self.layout.second_heap(window, lane);
        Row {
            coordinates: block.coordinates,
            lane: lane as u32,
            rest: (window.rest - lane) as u32,
            first: first as u32,
            last: last as u32,
            heaps: self.layout.heaps() as usize,
            words: self.words,
            origin: (block.base + lane as usize) as isize - (block.first_word * block.pitch) as isize,
            pitch: block.pitch as usize,
        }
    }

    /// Whether a position of this stratum is a P-position. `None` when it is not in the stratum.
    #[must_use]
    pub fn is_p(&self, position: &Position) -> Option<bool> {
        let sizes = position.sizes();
        let heaps = self.layout.heaps() as usize;
        let inside = sizes.len() == heaps && position.largest() <= self.layout.max();
        if !inside || position.total() != u64::from(self.total) {
            return None;
        }
        let coordinates = (1..=self.layout.axes()).rev().map(|index| sizes[index]).collect::<Vec<_>>();
        let lane = if heaps >= 3 { sizes[0] } else { 0 };
        let second = if heaps >= 2 { sizes[heaps - 2] } else { 0 };
        let rank = self.layout.block_rank(&coordinates);
        let window = self.layout.window(self.layout.block(rank).coordinates, self.total, 0);
        let row = self.row(rank, &window, lane as i32);
        Some(row.word(second / 32) >> (second % 32) & 1 == 1)
    }

    /// The verdicts in canonical order: ⌈positions/8⌉ bytes, bit `i` of the stratum at byte i/8, least significant
    /// bit first, 1 = P.
    #[must_use]
    pub fn canonical_bitmap(&self) -> Vec<u8> {
        let mut bits = BitString::with_capacity(self.positions);
        let heap_cap = self.layout.max() as i32;
        let last_lane = if self.layout.heaps() >= 3 { heap_cap } else { 0 };
        for lane in 0..=last_lane {
            self.append_blocks(self.layout.axes(), 0, lane, lane, lane, &mut bits);
        }
        debug_assert_eq!(bits.length, self.positions);
        bits.bytes
    }

    /// Appends all rows with this lane and these smallest coordinates. `axis` coordinates are still to be chosen, the
    /// smallest of them at least `least`; `rank` and `sum` (lane included) are those of the chosen.
    fn append_blocks(&self, axis: usize, rank: u32, sum: i32, least: i32, lane: i32, bits: &mut BitString) {
        let total = self.total as i32;
        // All larger heaps are at least `least`, and at most the cap.
        if sum + (axis as i32 + 2) * least > total && self.layout.heaps() >= 3 {
            return;
        }
        if axis == 0 {
            let window = self.layout.window(self.layout.block(rank).coordinates, self.total, 0);
            if (window.first_lane..=window.last_lane).contains(&lane) {
                let row = self.row(rank, &window, lane);
                for word in row.word_range() {
                    let start = row.first.max(word * 32);
                    let count = (row.last + 1).min(word * 32 + 32) - start;
                    bits.append(row.word(word) >> (start % 32), count);
                }
            }
            return;
        }
        let cap = self.layout.max() as i32;
        if sum + (axis as i32 + 2) * cap < total {
            return;
        }
        for x in least..=cap.min(total - sum) {
            let rank = rank + self.layout.rank_terms()[axis - 1][x as usize];
            self.append_blocks(axis - 1, rank, sum + x, x, lane, bits);
        }
    }
}

/// Bits appended one run after another, least significant bit of a byte first.
struct BitString {
    bytes: Vec<u8>,
    length: u64,
}

impl BitString {
    fn with_capacity(bits: u64) -> Self {
        Self { bytes: Vec::with_capacity(bits.div_ceil(8) as usize + 8), length: 0 }
    }

    /// Appends the `count` (at most 32) low bits of `run`; its higher bits must be zero.
    fn append(&mut self, run: u32, count: u32) {
        let offset = self.length % 8;
        let shifted = u64::from(run) << offset;
        let bytes = shifted.to_le_bytes();
        let used = (offset as usize + count as usize).div_ceil(8);
        let mut fresh = &bytes[..used];
        if offset > 0
            && let (Some(last), [first, rest @ ..]) = (self.bytes.last_mut(), fresh)
        {
            *last |= first;
            fresh = rest;
        }
        self.bytes.extend_from_slice(fresh);
        self.length += u64::from(count);
    }
}
