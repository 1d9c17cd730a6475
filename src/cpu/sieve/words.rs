//! The first phase of a stratum: verdict words from line bits, a group of lanes at a time.

#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a function for each instruction set, with what is inlined into it"
)]

use std::ops::Range;

use multiversion::multiversion;

use super::{Found, Step};
use crate::cpu::lanes::{GROUP, Lanes, and, at_least, at_least_falling, at_least_rising, at_most_halves, or};
use crate::game::MOST_HEAPS;
use crate::space::{Block, Strip, Window};

/// Solves units one after another.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+sse4.2+popcnt",
))]
pub(super) fn solve_units(
    step: &Step<'_>,
    units: Range<usize>,
    slot: &mut [u32],
    start: usize,
    found: &mut Vec<Found>,
) -> u64 {
    if step.layout.axes() == 0 {
        let rows = units.start as i32..units.end as i32;
        return if step.layout.heaps() == 3 {
            Solve::<true>::new(step, 0, slot, start, found).rows(rows)
        } else {
            Solve::<false>::new(step, 0, slot, start, found).rows(rows)
        };
    }
    let mut count = 0;
    for &rank in step.blocks_of(units) {
        let rows = step.rows_of(&step.layout.block(rank), &step.window(rank));
        if !rows.is_empty() {
            count += Solve::<false>::new(step, rank, slot, start, found).rows(rows);
        }
    }
    count
}

/// One block being solved. `LANE_FLOOR`: the lane is x₃, so that it bounds x₂ from below.
struct Solve<'a, const LANE_FLOOR: bool> {
    step: &'a Step<'a>,
    rank: u32,
    block: Block<'a>,
    window: Window,
    rows: Strip,
    mirror: Strip,
    diagonals: Strip,
    planes: Planes<Strip>,
    slot: &'a mut [u32],
    start: usize,
    found: &'a mut Vec<Found>,
    count: u64,
}

/// One thing for each plane that a block reads.
#[derive(Clone, Copy)]
struct Planes<T> {
    items: [T; MOST_HEAPS as usize - 3],
    count: usize,
}

/// The words that a row reads, a group of lanes each.
#[derive(Clone, Copy)]
struct Sources<'a> {
    rows: &'a [Lanes],
    mirror_low: &'a [Lanes],
    mirror_high: &'a [Lanes],
    /// How far the bits of a row stand above those of `mirror_low`.
    shift: u32,
    diagonals: &'a [Lanes],
    planes: Planes<&'a [Lanes]>,
}

impl Sources<'_> {
    /// The line bits of a group of lanes, those of all n lines of a position in one.
    #[inline(always)]
    fn taken(&self, group: usize) -> Lanes {
        let (low, high) = (&self.mirror_low[group], &self.mirror_high[group]);
        let mirror: Lanes = std::array::from_fn(|i| low[i] >> self.shift | high[i] << 1 << (31 - self.shift));
        let mut taken = or(or(self.rows[group], mirror), self.diagonals[group]);
        for plane in &self.planes.items[..self.planes.count] {
            taken = or(taken, plane[group]);
        }
        taken
    }
}

impl<'a, const LANE_FLOOR: bool> Solve<'a, LANE_FLOOR> {
    #[inline(always)]
    fn new(
        step: &'a Step<'a>,
        rank: u32,
        slot: &'a mut [u32],
        start: usize,
        found: &'a mut Vec<Found>,
    ) -> Self {
        let block = step.layout.block(rank);
        let window = step.window(rank);
        let (rows, mirror) = (step.lines.rows(&block), step.lines.mirror(rank, &block));
        let diagonals = step.lines.diagonals(rank, &block);
        let planes = planes(step, &block, &window);
        Self { step, rank, block, window, rows, mirror, diagonals, planes, slot, start, found, count: 0 }
    }

    /// Solves these rows and returns the number of P-positions.
    #[inline(always)]
    fn rows(mut self, rows: Range<i32>) -> u64 {
        for row in rows {
            self.row(row);
        }
        self.count
    }

    /// Solves one row: 32 values of x₂ for all lanes that have any.
    #[inline(always)]
    fn row(&mut self, row: i32) {
        let (cap, rest, bit) = (self.step.layout.max() as i32, self.window.rest, row * 32);
        // Whole groups of the layout, so that none reaches into the next block's lanes.
        let first_lane = self.window.first_lane.max(rest - cap - bit - 31);
        let mut last_lane = self.window.last_lane.min(rest - 2 * bit);
        if LANE_FLOOR {
            last_lane = last_lane.min(bit + 31);
        }
        if first_lane > last_lane {
            return;
        }
        let first_lane = first_lane & -(GROUP as i32);
        let groups = (last_lane - first_lane) as usize / GROUP + 1;
        let sources = self.sources(row, first_lane, groups);
        // The lanes in which all 32 values are positions need no masks.
        let full_first = rest - cap - bit;
        let mut full_last = (rest - 2 * bit - 62).min(rest - bit - 31 - self.step.least_largest);
        if LANE_FLOOR {
            full_last = full_last.min(bit);
        }
        let head = ((full_first - first_lane).max(0) as usize).div_ceil(GROUP);
        let full = (full_last.min(last_lane) + 1 - first_lane).max(0) as usize / GROUP;
        let full = if self.window.floor <= bit && head < full { head..full } else { groups..groups };
        self.groups::<true>(&sources, row, first_lane, 0..full.start);
        self.groups::<false>(&sources, row, first_lane, full.clone());
        self.groups::<true>(&sources, row, first_lane, full.end..groups);
    }

    /// Finds what the row reads.
    #[inline(always)]
    fn sources(&self, row: i32, lane: i32, groups: usize) -> Sources<'a> {
        // A table that is not needed is empty; its lines do not exist.
        static NONE: [u32; GROUP] = [0; GROUP];
        let cut = |table: usize, strip: Strip, row: i32, lane: i32| -> &'a [Lanes] {
            let words = match self.step.tables[table] {
                [] => &NONE,
                words => &words[strip.at(row, lane)..][..groups * GROUP],
            };
            words.as_chunks().0
        };
        let (cap, rest) = (self.step.layout.max() as i32, self.window.rest);
        let mirror_bit = self.step.lines.mirror_top(&self.block) - rest + row * 32;
        let mut planes = Planes { items: [[].as_slice(); _], count: self.planes.count };
        for (plane, &strip) in planes.items.iter_mut().zip(&self.planes.items[..self.planes.count]) {
            *plane = cut(3, strip, row, lane);
        }
        Sources {
            rows: cut(0, self.rows, row, lane),
            mirror_low: cut(1, self.mirror, mirror_bit >> 5, lane),
            mirror_high: cut(1, self.mirror, (mirror_bit >> 5) + 1, lane),
            shift: mirror_bit as u32 % 32,
            diagonals: cut(2, self.diagonals, row, 2 * cap - rest + lane),
            planes,
        }
    }

    /// Solves groups of lanes of a row that starts at `first_lane`. Unless `MASKED`, all their bits are positions.
    #[inline(always)]
    fn groups<const MASKED: bool>(
        &mut self,
        sources: &Sources<'_>,
        row: i32,
        first_lane: i32,
        groups: Range<usize>,
    ) {
        for group in groups {
            let lane = first_lane + (group * GROUP) as i32;
            let mut verdict = sources.taken(group).map(|bits| !bits);
            if MASKED {
                verdict = and(verdict, self.valid(row * 32, lane));
            }
            if !self.slot.is_empty() {
                let at = self.rows.at(row, lane) - self.start;
                self.slot[at..at + GROUP].copy_from_slice(&verdict);
            }
            if verdict != [0; GROUP] {
                self.record(&verdict, row, lane);
            }
        }
    }

    /// Which bits from `bit` on are positions, for a group of lanes.
    #[inline(always)]
    fn valid(&self, bit: i32, lane: i32) -> Lanes {
        let (layout, rest) = (self.step.layout, self.window.rest);
        let mut valid: Lanes = at_least_falling(rest - layout.max() as i32 - lane - bit);
        valid = and(valid, at_most_halves(rest - lane - 2 * bit));
        if LANE_FLOOR {
            valid = and(valid, at_least_rising(lane - bit));
        }
        let least_largest = self.step.least_largest;
        if least_largest > 0 {
            valid = and(valid, at_least_falling(rest - lane - least_largest + 1 - bit).map(|bits| !bits));
        }
        let mask = at_least(self.window.floor - bit) & if layout.heaps() == 1 { 1 } else { u32::MAX };
        let lanes = self.window.last_lane - lane;
        std::array::from_fn(|i| if i as i32 <= lanes { valid[i] & mask } else { 0 })
    }

    /// Counts the P-positions of a group, and notes where they are if moves may arrive there.
    #[inline(never)]
    fn record(&mut self, verdict: &Lanes, row: i32, lane: i32) {
        for (index, &bits) in verdict.iter().enumerate() {
            self.count += u64::from(bits.count_ones());
            let mut left = if self.step.forbidden { 0 } else { bits };
            while left != 0 {
                let second = row as u32 * 32 + left.trailing_zeros();
                self.found.push(Found { rank: self.rank, lane: lane as u32 + index as u32, second });
                left &= left - 1;
            }
        }
    }
}

/// The planes that a block reads: one for each different coordinate left out.
#[inline(always)]
fn planes(step: &Step<'_>, block: &Block<'_>, window: &Window) -> Planes<Strip> {
    let mut planes = Planes { items: [Strip { origin: 0, stride: 0 }; MOST_HEAPS as usize - 3], count: 0 };
    let Some(reduced) = step.lines.reduced() else { return planes };
    let terms = step.layout.rank_terms();
    let term = |axis: usize, of: usize| terms[axis][usize::from(block.coordinates[of])];
    let axes = block.coordinates.len();
    for left_out in 0..axes {
        if block.coordinates.get(left_out + 1) == Some(&block.coordinates[left_out]) {
            continue;
        }
        // With one coordinate less, an axis has the terms that the next one has here.
        let before: u32 = (0..left_out).map(|axis| term(axis + 1, axis)).sum();
        let after: u32 = (left_out + 1..axes).map(|axis| term(axis, axis)).sum();
        let rank = before + after;
        planes.items[planes.count] = step.lines.plane(rank, &reduced.block(rank), window.rest as u32);
        planes.count += 1;
    }
    planes
}
