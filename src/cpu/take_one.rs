//! CPU twin of `shaders/take_one.wgsl`: verdicts of take-one games, stratum by stratum.
//!
//! Only the last `depth` strata are needed, so a ring of depth + 1 slots holds them and memory does not grow with
//! the number of strata. A position is P when no term of the stencil reads a P there:
//!
//! verdict = ¬(U | V≪1 | carry) & valid,
//!
//! where U is the OR of the rows that are read unshifted, V of those read shifted, and carry the top bit of V's word
//! below. The work goes block by block, a group of eight lanes at a time, up the words of their common window. A slot
//! must come out zero where the old stratum's window was and the new one is not, so each group also runs over the
//! window of depth + 1 strata ago.

#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a function for each instruction set, with what is inlined into it"
)]

use std::ops::Range;

use multiversion::multiversion;

use super::lanes::{
    GROUP, Lanes, and, at_least, at_least_falling, at_least_rising, at_most_halves, lanes_between, or,
};
use crate::backend::{Backend, Visit};
use crate::error::Result;
use crate::game::Ruleset;
use crate::space::{Block, Layout, Region, Shift, Stencil, Stratum, Window};

/// Words of cells below which splitting work over threads costs more than it saves.
const WORDS_PER_TASK: u64 = 1 << 15;

/// The CPU backend for take-one games. It runs on the threads of the pool that it is called in.
pub struct TakeOne {
    rules: Ruleset,
    region: Region,
    layout: Layout,
    stencil: Stencil,
    /// Slot `total % ring.len()` holds stratum `total`.
    ring: Vec<Vec<u32>>,
    task_words: u64,
}

impl TakeOne {
    /// Allocates the ring for a region.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) when the region cannot be laid out.
    pub fn new(rules: &Ruleset, region: &Region) -> Result<Self> {
        let layout = Layout::new(region)?;
        let stencil = Stencil::new(rules, &layout);
        let ring = vec![vec![0; layout.words() as usize]; stencil.depth() as usize + 1];
        Ok(Self {
            rules: rules.clone(),
            region: region.clone(),
            layout,
            stencil,
            ring,
            task_words: WORDS_PER_TASK,
        })
    }

    /// The same, splitting work over threads down to about this many words of cells.
    #[must_use]
    pub fn with_task_words(self, task_words: u64) -> Self {
        Self { task_words, ..self }
    }

    /// Takes the slot that stratum `total` goes to out of the ring.
    fn take_slot(&mut self, total: u32) -> Vec<u32> {
        let slot = total as usize % self.ring.len();
        std::mem::take(&mut self.ring[slot])
    }

    fn put_slot(&mut self, total: u32, words: Vec<u32>) {
        let slot = total as usize % self.ring.len();
        self.ring[slot] = words;
    }

    /// Solves stratum `total` into `words`, and returns the number of its P-positions.
    fn solve(&self, total: u32, words: &mut [u32]) -> u64 {
        let touches = self.stencil.touches(&self.rules, total);
        let sources = (0..=self.stencil.depth())
            .map(|touch| {
                let slot = (total.wrapping_sub(touch)) as usize % self.ring.len();
                touches.contains(touch).then(|| self.ring[slot].as_slice())
            })
            .collect::<Vec<_>>();
        let least_nonempty = Stencil::least_nonempty(&self.rules, touches);
        let margin = self.ring.len() as u32;
        let step = Step {
            layout: &self.layout,
            stencil: &self.stencil,
            sources,
            total,
            margin,
            least_nonempty,
            task_words: self.task_words,
        };
        let mut active = Vec::new();
        self.layout.active_blocks(total, margin, &mut active);
        step.split_slabs(&active, words, 0)
    }

    fn stratum(&self, total: u32, p_positions: u64) -> Stratum<'_> {
        let slot = &self.ring[total as usize % self.ring.len()];
        let forbidden = self.rules.forbidden.contains(u64::from(total));
        Stratum::new(&self.layout, slot, total, forbidden, [self.region.stratum_size(total), p_positions])
    }
}

impl Backend for TakeOne {
    fn run(&mut self, bits: bool, visit: &mut Visit<'_>) -> Result<()> {
        let mut solved: Option<(u32, u64)> = None;
        for total in self.region.strata() {
            // One stratum is read by the observers while the next is being solved.
            let mut slot = self.take_slot(total);
            let this = &*self;
            let mut solve = || this.solve(total, &mut slot);
            let mut observe =
                || solved.is_some_and(|(total, count)| visit(&this.stratum(total, count)).is_break());
            let (count, stop) = if bits { rayon::join(solve, observe) } else { (solve(), observe()) };
            self.put_slot(total, slot);
            if stop {
                return Ok(());
            }
            solved = Some((total, count));
        }
        if let Some((total, count)) = solved {
            // Nothing is left to stop.
            let _ = visit(&self.stratum(total, count));
        }
        Ok(())
    }
}

/// What all blocks of one stratum share.
struct Step<'a> {
    layout: &'a Layout,
    stencil: &'a Stencil,
    /// For each number of touched heaps, the stratum that many below; `None` where no move may arrive.
    sources: Vec<Option<&'a [u32]>>,
    total: u32,
    /// How many strata ago the slot was last used.
    margin: u32,
    least_nonempty: u32,
    task_words: u64,
}

impl Step<'_> {
    /// Solves blocks on all threads. `words` is the part of the slot from index `start` on that holds their slabs.
    fn split_slabs(&self, active: &[u32], words: &mut [u32], start: usize) -> u64 {
        let (Some(&first), Some(&last)) = (active.first(), active.last()) else { return 0 };
        let (first, last) = (self.layout.slab_of(first), self.layout.slab_of(last));
        if first == last {
            let (from, to) = (self.layout.slab_start(first), self.layout.slab_start(first + 1));
            let pitch = self.layout.block(active[0]).pitch as usize;
            let rows = words[from - start..to - start].chunks_exact_mut(pitch);
            return if self.layout.lane_is_floor() {
                let lanes = 0..self.layout.block(0).last_lane as i32 + 1;
                let used = self.rows_of_all_lanes();
                let rows = rows.take(used.end as usize).skip(used.start as usize);
                self.split_lanes(lanes, rows.collect(), from)
            } else {
                self.split_blocks(active, rows.collect(), from)
            };
        }
        let middle = self.layout.slab_of(active[active.len() / 2]).max(first + 1);
        let cut = active.partition_point(|&rank| (rank as usize) < self.layout.slab_first_block(middle));
        let (low, high) = active.split_at(cut);
        let middle = self.layout.slab_start(middle);
        let (low_words, high_words) = words.split_at_mut(middle - start);
        self.both(
            active.len(),
            || self.split_slabs(low, low_words, start),
            || self.split_slabs(high, high_words, middle),
        )
    }

    /// Solves blocks of one slab on all threads. `rows` are the parts of the slab's rows that hold them, the first of
    /// which starts at index `start` of the slot.
    fn split_blocks(&self, active: &[u32], mut rows: Vec<&mut [u32]>, start: usize) -> u64 {
        if active.len() <= self.blocks_per_task() {
            return solve_blocks(self, active, 0..i32::MAX, &mut rows, start);
        }
        let (low, high) = active.split_at(active.len() / 2);
        let middle = self.layout.block(high[0]).base;
        let (low_rows, high_rows) = split_rows(rows, middle - start);
        self.both(
            active.len(),
            || self.split_blocks(low, low_rows, start),
            || self.split_blocks(high, high_rows, middle),
        )
    }

    /// The rows that the one block there is for three heaps or fewer has cells in, now or when its slot was last used.
    fn rows_of_all_lanes(&self) -> Range<i32> {
        let (total, cap) = (self.total as i32, self.layout.max() as i32);
        // x₂ is at least total − cap − lane, and with three heaps at least the lane, so at least half of total − cap.
        let lanes = if self.layout.heaps() == 3 { 2 } else { 1 };
        let least = (total - cap - self.margin as i32).max(0) / lanes;
        let most = (total / 2).min(self.layout.second_max() as i32);
        least / 32..most / 32 + 1
    }

    /// Solves a range of lanes of the one block that there is for three heaps or fewer, on all threads.
    fn split_lanes(&self, lanes: Range<i32>, mut rows: Vec<&mut [u32]>, start: usize) -> u64 {
        if (lanes.len() * rows.len()) as u64 <= self.task_words || lanes.len() <= GROUP {
            return solve_blocks(self, &[0], lanes, &mut rows, start);
        }
        let width = (lanes.len() / 2).next_multiple_of(GROUP);
        let middle = lanes.start + width as i32;
        let (low_rows, high_rows) = split_rows(rows, width);
        let (low, high) = rayon::join(
            || self.split_lanes(lanes.start..middle, low_rows, start),
            || self.split_lanes(middle..lanes.end, high_rows, start + width),
        );
        low + high
    }

    /// The sum of two counts, found at the same time where there is enough to do.
    fn both(
        &self,
        blocks: usize,
        low: impl FnOnce() -> u64 + Send,
        high: impl FnOnce() -> u64 + Send,
    ) -> u64 {
        if blocks <= self.blocks_per_task() {
            return low() + high();
        }
        let (low, high) = rayon::join(low, high);
        low + high
    }

    fn blocks_per_task(&self) -> usize {
        (self.task_words * self.layout.blocks() as u64 / self.layout.words()).max(1) as usize
    }
}

/// Cuts every row at the same place.
fn split_rows(rows: Vec<&mut [u32]>, at: usize) -> (Vec<&mut [u32]>, Vec<&mut [u32]>) {
    rows.into_iter().map(|row| row.split_at_mut(at)).unzip()
}

/// A row of cells that a term reads: the lanes of one word of a neighbour block.
#[derive(Clone, Copy)]
struct Source<'a> {
    /// The neighbour's cells from the first row's lane 0 (or the zero before it, when the lane loses a stone).
    cells: &'a [u32],
    pitch: u32,
    first_word: u32,
}

impl Source<'_> {
    #[inline(always)]
    fn load(&self, word: u32, lane: u32) -> Lanes {
        let at = ((word - self.first_word) * self.pitch + lane) as usize;
        *self.cells[at..].first_chunk().expect("a slot ends in a lane group of zeros")
    }
}

/// The rows that a block's terms read, by how their bits are read.
#[derive(Default)]
struct Sources<'a> {
    unshifted: Vec<Source<'a>>,
    either: Vec<Source<'a>>,
    shifted: Vec<Source<'a>>,
}

impl<'a> Sources<'a> {
    /// Finds the neighbours of a block.
    #[inline(always)]
    fn gather(&mut self, step: &Step<'a>, block: &Block<'_>, rank: u32) {
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
                first_word: block.first_word,
            };
            match term.shift {
                Shift::None => self.unshifted.push(source),
                Shift::Either => self.either.push(source),
                Shift::One => self.shifted.push(source),
            }
        }
    }
}

/// The rank of the block whose coordinates on `axes` are one less.
#[inline(always)]
fn neighbour_rank(layout: &Layout, coordinates: &[u16], rank: u32, axes: u32) -> u32 {
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

/// Solves some lanes of some blocks of one slab on one thread, and returns the number of their P-positions.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+sse4.2+popcnt",
))]
fn solve_blocks(
    step: &Step<'_>,
    active: &[u32],
    lanes: Range<i32>,
    rows: &mut [&mut [u32]],
    start: usize,
) -> u64 {
    let mut sources = Sources::default();
    let mut count = 0;
    for &rank in active {
        let block = step.layout.block(rank);
        sources.gather(step, &block, rank);
        let window = step.layout.window(block.coordinates, step.total, step.least_nonempty);
        // Where lane 0 would be in the parts of the rows.
        let origin = block.base as i32 - start as i32;
        count += if step.layout.lane_is_floor() {
            solve_block::<true>(step, &block, &window, &lanes, &sources, rows, origin)
        } else {
            solve_block::<false>(step, &block, &window, &lanes, &sources, rows, origin)
        };
    }
    count
}

/// Solves one block. `LANE_FLOOR`: the lane is x₃, so that it bounds x₂ from below.
#[inline(always)]
fn solve_block<const LANE_FLOOR: bool>(
    step: &Step<'_>,
    block: &Block<'_>,
    window: &Window,
    lanes: &Range<i32>,
    sources: &Sources<'_>,
    rows: &mut [&mut [u32]],
    origin: i32,
) -> u64 {
    let (cap, second_max) = (step.layout.max() as i32, step.layout.second_max() as i32);
    let margin = step.margin as i32;
    let floor = block.coordinates.first().map_or(0, |&x| i32::from(x));
    // All lanes with positions in this stratum, or in the one that the slot held before.
    let first_lane = (window.rest - cap - second_max - margin).max(lanes.start);
    let highest = if LANE_FLOOR { window.rest / 3 } else { window.rest - 2 * floor };
    let last_lane = highest.min(block.last_lane as i32).min(lanes.end - 1);
    let first_row =
        if step.layout.lane_is_floor() { step.rows_of_all_lanes().start } else { block.first_word as i32 };
    let second_mask = if step.layout.heaps() == 1 { 1 } else { u32::MAX };
    let mut count = 0;
    let mut lane = first_lane & -(GROUP as i32);
    while lane <= last_lane {
        let most = window.rest - lane;
        let least = window.rest - (lane + GROUP as i32 - 1).min(last_lane);
        let group_floor = if LANE_FLOOR { lane } else { floor };
        let first_word = group_floor.max(least - cap - margin) / 32;
        let last_word = (most / 2).min(second_max) / 32;
        let lane_mask = lanes_between(window.first_lane - lane, window.last_lane - lane);
        // The bit below a word matters only where its bit 0 is a position.
        let mut carry = [0; GROUP];
        if first_word > 0 && group_floor.max(least - cap) <= first_word * 32 {
            carry = carry_from(sources, first_word as u32 - 1, lane as u32);
        }
        for word in first_word..=last_word {
            let start = word * 32;
            let mut valid = and(at_least_falling(most - cap - start), at_most_halves(most - 2 * start));
            if LANE_FLOOR {
                valid = and(valid, at_least_rising(lane - start));
            }
            let word_mask = at_least(window.floor - start) & second_mask;
            valid = std::array::from_fn(|i| valid[i] & lane_mask[i] & word_mask);
            let (mut unshifted, mut shifted) = ([0; GROUP], [0; GROUP]);
            for source in &sources.unshifted {
                unshifted = or(unshifted, source.load(word as u32, lane as u32));
            }
            for source in &sources.shifted {
                shifted = or(shifted, source.load(word as u32, lane as u32));
            }
            let mut either = [0; GROUP];
            for source in &sources.either {
                either = or(either, source.load(word as u32, lane as u32));
            }
            (unshifted, shifted) = (or(unshifted, either), or(shifted, either));
            let verdict: Lanes =
                std::array::from_fn(|i| !(unshifted[i] | shifted[i] << 1 | carry[i]) & valid[i]);
            carry = std::array::from_fn(|i| shifted[i] >> 31);
            let own = &mut rows[(word - first_row) as usize];
            own[(origin + lane) as usize..][..GROUP].copy_from_slice(&verdict);
            count += u64::from(verdict.iter().map(|bits| bits.count_ones()).sum::<u32>());
        }
        lane += GROUP as i32;
    }
    count
}

/// The bits that the shifted rows' word `word` hands up to the next, zero where a row has no such word.
#[cold]
fn carry_from(sources: &Sources<'_>, word: u32, lane: u32) -> Lanes {
    let mut carry = [0; GROUP];
    for source in sources.either.iter().chain(&sources.shifted).filter(|source| source.first_word <= word) {
        carry = or(carry, source.load(word, lane));
    }
    carry.map(|bits| bits >> 31)
}
