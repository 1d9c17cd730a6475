//! One solved stratum, as observers read it: its verdicts, or its remoteness.
//!
//! Two walks visit every position once, on all threads: [`fold_rows`](Stratum::fold_rows) along x₂, in which verdicts
//! lie 32 to a word, and [`fold_runs`](Stratum::fold_runs) along the smallest heap, in which remoteness lies
//! contiguous.

use rayon::prelude::*;

use super::{Block, Cell, Cells, Key, Layout, Window};
use crate::game::Position;

/// Positions, about, that are visited one after another on one thread.
const POSITIONS_PER_PART: u64 = 1 << 17;
/// Parts that a stratum is cut into for each thread, at most.
const PARTS_PER_THREAD: usize = 4;

/// Blocks visited so at most.
const BLOCKS_PER_PART: u64 = 512;

/// The verdicts or the remoteness of one stratum in the layout of the kernels, with what is needed to read them.
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
    /// [`Layout::cells`] cells; what lies outside the windows of this stratum may hold anything.
    cells: Cells<'a>,
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
    cells: Cells<'a>,
    /// Index of the cell for x₂ = 0, could it be read; of the first cell where they are folded.
    origin: isize,
    pitch: usize,
}

impl Row<'_> {
    /// The verdicts (1 = P) for x₂ = 32·`word` … 32·`word` + 31, zero outside `first ..= last`.
    #[must_use]
    pub fn word(&self, word: u32) -> u32 {
        let valid = self.valid(word);
        match self.cells {
            Cells::Verdicts(words) => words[self.index(word)] & valid,
            Cells::Folded(cells) => {
                let middle = (self.rest / 2) as i32;
                cells.word(self.origin as usize, middle - 32 * word as i32, middle - self.first as i32)
                    & valid
            }
            Cells::Remoteness8(keys) => self.gather(keys, word, valid),
            Cells::Remoteness16(keys) => self.gather(keys, word, valid),
        }
    }

    /// The verdicts of one word, from keys.
    fn gather<K: Key>(&self, keys: &[K], word: u32, valid: u32) -> u32 {
        let (mut bits, mut left) = (0, valid);
        while left != 0 {
            let bit = left.trailing_zeros();
            bits |= u32::from(keys[self.index(32 * word + bit)].is_p()) << bit;
            left &= left - 1;
        }
        bits
    }

    /// The remoteness of the position with this x₂, which must be in `first ..= last`. `None` where the stratum holds
    /// verdicts only.
    #[must_use]
    pub fn remoteness(&self, second: u32) -> Option<u32> {
        match self.cells {
            Cells::Verdicts(_) | Cells::Folded(_) => None,
            Cells::Remoteness8(keys) => Some(keys[self.index(second)].remoteness()),
            Cells::Remoteness16(keys) => Some(keys[self.index(second)].remoteness()),
        }
    }

    /// The index of the cell of this row on the bit axis.
    fn index(&self, row: u32) -> usize {
        (self.origin + (row as usize * self.pitch) as isize) as usize
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

/// All positions of a stratum that agree in every heap but the largest and the smallest.
pub struct Run<'a, K> {
    /// x₃ … xₙ₋₁, largest first; empty for three heaps or fewer.
    pub coordinates: &'a [u16],
    /// x₂ (0 in a game of one heap).
    pub second: u32,
    /// The stones in the largest and the smallest heap together.
    pub rest: u32,
    /// The first value of xₙ, the smallest heap (0 where one or two heaps leave no such heap).
    pub first_lane: u32,
    /// The remoteness of each position, by xₙ from `first_lane` on.
    pub keys: &'a [K],
    heaps: usize,
}

impl<K> Run<'_, K> {
    /// Heap sizes of the position at place `index` of the run, largest first.
    pub fn sizes(&self, index: usize) -> impl Iterator<Item = u32> {
        let lane = self.first_lane + index as u32;
        let middle = self.coordinates.iter().map(|&x| u32::from(x));
        [self.rest - lane, self.second].into_iter().chain(middle).chain([lane]).take(self.heaps)
    }

    /// The position at place `index` of the run.
    #[must_use]
    pub fn position(&self, index: usize) -> Position {
        Position::new(self.sizes(index).collect())
    }
}

impl<'a> Stratum<'a> {
    /// A solved stratum. `cells` are those of `layout`, in its order; what lies outside the stratum's windows is
    /// ignored. `counts` are those of positions and of P-positions.
    #[must_use]
    pub fn new(
        layout: &'a Layout,
        cells: impl Into<Cells<'a>>,
        total: u32,
        forbidden: bool,
        counts: [u64; 2],
    ) -> Self {
        let [positions, p_positions] = counts;
        Self { total, forbidden, positions, p_positions, layout, cells: cells.into() }
    }

    /// What its cells hold.
    #[must_use]
    pub fn cell(&self) -> Cell {
        self.layout.cell()
    }

    /// Its cells, in the order of the layout.
    pub(super) fn cells(&self) -> Cells<'a> {
        self.cells
    }

    /// The layout that its cells lie in.
    #[must_use]
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// Its cells in the order of the layout, if they are such keys. What lies outside the stratum's windows may be
    /// anything.
    #[must_use]
    pub fn keys<K: Key>(&self) -> Option<&'a [K]> {
        let keys = match self.cells {
            Cells::Verdicts(_) | Cells::Folded(_) => return None,
            Cells::Remoteness8(keys) => bytemuck::try_cast_slice(keys),
            Cells::Remoteness16(keys) => bytemuck::try_cast_slice(keys),
        };
        keys.ok().filter(|_| K::CELL == self.cell())
    }

    /// Visits every row once, on all threads of the pool it is called in: each part of the stratum starts with
    /// `new` and its rows are added by `visit` in the order of the layout. Returns the parts in that order.
    pub fn fold_rows<T: Send>(
        &self,
        new: impl Fn() -> T + Sync,
        visit: impl Fn(&mut T, &Row<'_>) + Sync,
    ) -> Vec<T> {
        self.fold_blocks(new, |value, rank, window| {
            let block = self.layout.block(rank);
            let origin = match self.cells {
                Cells::Folded(cells) => cells.block(block.coordinates) as isize,
                _ => block.base as isize - (block.first_row * block.pitch) as isize,
            };
            for lane in window.first_lane..=window.last_lane {
                visit(value, &self.row(&block, origin, window, lane));
            }
        })
    }

    /// Visits every run once, as [`fold_rows`](Self::fold_rows) does rows. No parts at all where the cells are no
    /// such keys.
    pub fn fold_runs<K: Key, T: Send>(
        &self,
        new: impl Fn() -> T + Sync,
        visit: impl Fn(&mut T, &Run<'_, K>) + Sync,
    ) -> Vec<T> {
        let Some(keys) = self.keys::<K>() else { return Vec::new() };
        self.fold_blocks(new, |value, rank, window| {
            let block = self.layout.block(rank);
            let (first, last) = self.layout.second_range(window);
            for second in first..=last {
                let (first_lane, last_lane) = self.layout.lanes(window, second);
                if first_lane > last_lane {
                    continue;
                }
                let row = (second as u32 - block.first_row) as usize * block.pitch as usize;
                let start = block.base + row;
                let run = Run {
                    coordinates: block.coordinates,
                    second: second as u32,
                    rest: (window.rest - second) as u32,
                    first_lane: first_lane as u32,
                    keys: &keys[start + first_lane as usize..=start + last_lane as usize],
                    heaps: self.layout.heaps() as usize,
                };
                visit(value, &run);
            }
        })
    }

    /// Visits every block that has positions, with its window.
    fn fold_blocks<T: Send>(
        &self,
        new: impl Fn() -> T + Sync,
        visit: impl Fn(&mut T, u32, &Window) + Sync,
    ) -> Vec<T> {
        let mut active = Vec::new();
        self.layout.active_blocks(self.total, &mut active);
        let fold = |blocks: &[u32]| {
            let mut value = new();
            for &rank in blocks {
                let window = self.layout.window(self.layout.block(rank).coordinates, self.total, 0);
                if !window.is_empty() {
                    visit(&mut value, rank, &window);
                }
            }
            value
        };
        let blocks = active.len() as u64 * POSITIONS_PER_PART / self.positions.max(1);
        let least = active.len().div_ceil(Self::parts(rayon::current_num_threads()));
        active.par_chunks((blocks.clamp(1, BLOCKS_PER_PART) as usize).max(least)).map(fold).collect()
    }

    /// Into how many parts [`fold_rows`](Self::fold_rows) cuts a stratum at most, on this many threads.
    #[must_use]
    pub fn parts(threads: usize) -> usize {
        PARTS_PER_THREAD * threads
    }

    /// A lane of a block, of whose lane 0 this is the origin.
    fn row(&self, block: &Block<'a>, origin: isize, window: &Window, lane: i32) -> Row<'a> {
        let (first, last) = self.layout.second_heap(window, lane);
        Row {
            coordinates: block.coordinates,
            lane: lane as u32,
            rest: (window.rest - lane) as u32,
            first: first as u32,
            last: last as u32,
            heaps: self.layout.heaps() as usize,
            cells: self.cells,
            origin: origin + lane as isize,
            pitch: block.pitch as usize,
        }
    }

    /// The sizes of a position of this stratum, largest first. `None` when it is not in the stratum.
    fn sizes(&self, position: &Position) -> Option<Vec<u32>> {
        let sizes = position.sizes();
        let inside = sizes.len() == self.layout.heaps() as usize
            && position.largest() <= self.layout.max()
            && position.total() == u64::from(self.total);
        inside.then(|| sizes.iter().rev().copied().collect())
    }

    /// Whether a position of this stratum is a P-position. `None` when it is not in the stratum.
    #[must_use]
    pub fn is_p(&self, position: &Position) -> Option<bool> {
        let sizes = self.sizes(position)?;
        let (cell, value) = self.layout.place(&sizes);
        Some(match self.cells {
            Cells::Verdicts(words) => words[cell] >> value & 1 == 1,
            Cells::Folded(cells) => {
                let [first, second, coordinates @ .., lane] = &*sizes else { return None };
                let coordinates = coordinates.iter().map(|&x| x as u16).collect::<Vec<_>>();
                let place = ((first + second) / 2 - second) as i32;
                cells.word(cells.block(&coordinates) + *lane as usize, place, place) & 1 == 1
            }
            Cells::Remoteness8(keys) => keys[cell].is_p(),
            Cells::Remoteness16(keys) => keys[cell].is_p(),
        })
    }

    /// The remoteness of a position of this stratum. `None` when it is not in the stratum, or verdicts are all that
    /// the stratum holds.
    #[must_use]
    pub fn remoteness(&self, position: &Position) -> Option<u32> {
        let (cell, _) = self.layout.place(&self.sizes(position)?);
        match self.cells {
            Cells::Verdicts(_) | Cells::Folded(_) => None,
            Cells::Remoteness8(keys) => Some(keys[cell].remoteness()),
            Cells::Remoteness16(keys) => Some(keys[cell].remoteness()),
        }
    }
}
