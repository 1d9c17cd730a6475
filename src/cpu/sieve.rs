//! CPU twin of `shaders/sieve.wgsl`: verdicts of games that take any number of stones from one heap.
//!
//! A position is N exactly when one of its n lines (all heaps but one fixed) already holds a P₁, as every lower position
//! of a line can be moved to when its total is allowed; or when it is terminal in misère play. So no verdicts are kept
//! but one bit for each line, in the tables of [`LineLayout`], and memory is smaller than the region by a factor of
//! the heap size:
//!
//! verdict = ¬(OR of the n words of line bits) & valid.
//!
//! A stratum is solved in two phases. First all words are formed, from bits that no stratum up to this one changes; then
//! each P₁ found sets the bits of its n lines in every table. Ties need no care: equal heaps name equal lines, whose bit is
//! set twice. Nor does the order inside a stratum: two positions of one total that agree in all heaps but one agree in
//! that one too, so two positions of a stratum never share a line, and a shader may set bits while others read.
//!
//! At a forbidden total nothing is set: P₀ positions are counted and handed on, but no move arrives there.
//!
//! A position is terminal exactly when its largest heap x₁ is smaller than the distance down to the nearest allowed
//! total. In normal play it comes out P by itself, in misère play x₂ ≤ x₁ + x₂ − distance keeps it out of the window.
#![allow(
    clippy::inline_always,
    reason = "inlined into the multiversioned entry point, or it loses its target features"
)]

use std::ops::Range;

use multiversion::multiversion;

use super::lanes::{GROUP, Lanes, and, at_least, at_least_falling, at_least_rising, at_most_halves, or};
use crate::backend::{Backend, Visit};
use crate::error::Result;
use crate::game::{MOST_HEAPS, Ruleset};
use crate::space::{Block, Layout, LineLayout, Region, Stratum, Strip, TABLES, Window};

/// Positions below which splitting a stratum over threads costs more than it saves.
const POSITIONS_PER_TASK: u64 = 1 << 21;

/// P₁ positions below which their lines are marked on one thread.
const MARKS_PER_TASK: usize = 128;

/// A distance that no heap reaches.
const UNREACHABLE: i32 = 1 << 30;

/// The CPU backend for games that take any number of stones from one heap. It runs on the threads of the pool that it
/// is called in.
pub struct Sieve {
    rules: Ruleset,
    region: Region,
    layout: Layout,
    lines: LineLayout,
    task_positions: u64,
}

/// Line bits: rows, mirror, diagonals, planes.
type Tables = [Vec<u32>; TABLES];

/// A P₁ position, as its place in the layout.
#[derive(Clone, Copy)]
struct Found {
    rank: u32,
    lane: u32,
    second: u32,
}

impl Sieve {
    /// Lays out the line tables for a region; they are allocated when it is solved.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) when the region cannot be laid out.
    pub fn new(rules: &Ruleset, region: &Region) -> Result<Self> {
        let layout = Layout::new(region)?;
        let lines = LineLayout::new(&layout)?;
        let (rules, region) = (rules.clone(), region.clone());
        Ok(Self { rules, region, layout, lines, task_positions: POSITIONS_PER_TASK })
    }

    /// The same, splitting work over threads down to about this many positions.
    #[must_use]
    pub fn with_task_positions(self, task_positions: u64) -> Self {
        Self { task_positions, ..self }
    }

    /// Bytes needed for a region, two strata of verdicts included. `None` when they are more than `limit`.
    #[must_use]
    pub fn bytes(heaps: u32, max: u64, limit: u128) -> Option<u128> {
        LineLayout::bytes(heaps, max, 2, limit)
    }

    /// Solves all strata in order.
    fn run_strata(&self, bits: bool, visit: &mut Visit<'_>) {
        let mut tables: Tables = self.lines.words().map(|words| vec![0; words as usize]);
        let slot_words = if bits { self.layout.words() as usize } else { 0 };
        // One stratum is read by the observers while the next is being solved.
        let (mut solving, mut reading) = (vec![0; slot_words], vec![0; slot_words]);
        let mut solved: Option<(u32, u64)> = None;
        let mut last_allowed = None;
        for total in self.region.strata() {
            let mut solve = || self.solve(total, last_allowed, &mut tables, &mut solving);
            let mut observe =
                || solved.is_some_and(|solved| visit(&self.stratum(solved, &reading)).is_break());
            let (count, stop) = if bits { rayon::join(solve, observe) } else { (solve(), observe()) };
            if stop {
                return;
            }
            std::mem::swap(&mut solving, &mut reading);
            solved = Some((total, count));
            if !self.is_forbidden(total) {
                last_allowed = Some(total);
            }
        }
        if let Some(solved) = solved {
            // Nothing is left to stop.
            let _ = visit(&self.stratum(solved, &reading));
        }
    }

    fn is_forbidden(&self, total: u32) -> bool {
        self.rules.forbidden.contains(u64::from(total))
    }

    fn stratum<'a>(&'a self, (total, p_positions): (u32, u64), words: &'a [u32]) -> Stratum<'a> {
        let counts = [self.region.stratum_size(total), p_positions];
        Stratum::new(&self.layout, words, total, self.is_forbidden(total), counts)
    }

    /// Solves stratum `total` and marks the lines of its P₁. The verdicts go to `slot` unless it is empty. Returns the
    /// number of P-positions. `last_allowed` is the greatest allowed total below this one.
    fn solve(&self, total: u32, last_allowed: Option<u32>, tables: &mut Tables, slot: &mut [u32]) -> u64 {
        let distance = last_allowed.map_or(UNREACHABLE, |allowed| (total - allowed) as i32);
        let mut active = Vec::new();
        self.layout.active_blocks(total, &mut active);
        let step = Step {
            layout: &self.layout,
            lines: &self.lines,
            tables: tables.each_ref().map(Vec::as_slice),
            active: &active,
            total,
            least_largest: if self.rules.misere { distance } else { 0 },
            forbidden: self.is_forbidden(total),
        };
        let units = step.units();
        let share = self.region.stratum_size(total) / (units.len() as u64).max(1);
        let grain = (self.task_positions / share.max(1)).clamp(1, 1 << 30) as usize;
        let (count, found) = step.split(units, grain, slot, 0);
        self.mark(total, &found, tables);
        count
    }

    /// Sets the bits of all lines of these P₁ positions of stratum `total`, each table on a thread of its own.
    fn mark(&self, total: u32, found: &[Found], tables: &mut Tables) {
        let [rows, mirror, diagonals, planes] = tables;
        if self.layout.heaps() as usize * found.len() < MARKS_PER_TASK {
            self.mark_table(total, found, rows, |line| self.in_rows(line));
            self.mark_table(total, found, mirror, |line| self.in_mirror(line));
            self.mark_table(total, found, diagonals, |line| self.in_diagonals(line));
            self.mark_table(total, found, planes, |line| self.in_planes(line));
            return;
        }
        rayon::scope(|scope| {
            scope.spawn(|_| self.mark_table(total, found, mirror, |line| self.in_mirror(line)));
            scope.spawn(|_| self.mark_table(total, found, diagonals, |line| self.in_diagonals(line)));
            scope.spawn(|_| self.mark_table(total, found, planes, |line| self.in_planes(line)));
            self.mark_table(total, found, rows, |line| self.in_rows(line));
        });
    }

    /// Sets a bit for every line of these positions; `place` tells where in the table.
    fn mark_table(
        &self,
        total: u32,
        found: &[Found],
        table: &mut [u32],
        place: impl Fn(&[i32]) -> (usize, i32),
    ) {
        if table.is_empty() {
            return;
        }
        let heaps = self.layout.heaps() as usize;
        let mut heap = [0i32; MOST_HEAPS as usize];
        for position in found {
            let block = self.layout.block(position.rank);
            heap[1] = position.second as i32;
            let mut sum = position.second + position.lane;
            for (heap, &x) in heap[2..].iter_mut().zip(block.coordinates) {
                *heap = i32::from(x);
                sum += u32::from(x);
            }
            heap[0] = (total - sum) as i32;
            if heaps >= 3 {
                heap[heaps - 1] = position.lane as i32;
            }
            // Leave out the last heap, then put it back in place of the one before, and so on.
            let mut left_out = heap[heaps - 1];
            for index in (0..heaps).rev() {
                let (word, bit) = place(&heap[..heaps - 1]);
                table[word] |= 1 << bit;
                if index > 0 {
                    std::mem::swap(&mut left_out, &mut heap[index - 1]);
                }
            }
        }
    }

    /// The coordinates of the block with these heaps and their rank.
    #[inline(always)]
    fn rank(layout: &Layout, heaps: &[i32]) -> u32 {
        heaps.iter().zip(layout.rank_terms()).map(|(&x, terms)| terms[x as usize]).sum()
    }

    /// The block in whose rows and mirror a line is, and its lane there.
    #[inline(always)]
    fn block_and_lane(&self, line: &[i32]) -> (u32, i32) {
        match line {
            [_, coordinates @ .., lane] => (Self::rank(&self.layout, coordinates), *lane),
            _ => (0, 0),
        }
    }

    fn in_rows(&self, line: &[i32]) -> (usize, i32) {
        let (rank, lane) = self.block_and_lane(line);
        let bit = line.first().copied().unwrap_or(0);
        (self.lines.rows(&self.layout.block(rank)).at(bit / 32, lane), bit % 32)
    }

    fn in_mirror(&self, line: &[i32]) -> (usize, i32) {
        let (rank, lane) = self.block_and_lane(line);
        let block = self.layout.block(rank);
        let bit = self.lines.mirror_top(&block) - (line[0] + lane);
        (self.lines.mirror(rank, &block).at(bit / 32, lane), bit % 32)
    }

    fn in_diagonals(&self, line: &[i32]) -> (usize, i32) {
        let rank = Self::rank(&self.layout, &line[2..]);
        let strip = self.lines.diagonals(rank, &self.layout.block(rank));
        let lane = 2 * self.layout.max() as i32 - (line[0] + line[1]);
        (strip.at(line[1] / 32, lane), line[1] % 32)
    }

    fn in_planes(&self, line: &[i32]) -> (usize, i32) {
        let (Some(reduced), [first, second, coordinates @ .., lane]) = (self.lines.reduced(), line) else {
            unreachable!("there are planes only from four heaps on");
        };
        let rank = Self::rank(reduced, coordinates);
        let strip = self.lines.plane(rank, &reduced.block(rank), (first + second + lane) as u32);
        (strip.at(second / 32, *lane), second % 32)
    }
}

impl Backend for Sieve {
    fn run(&mut self, bits: bool, visit: &mut Visit<'_>) -> Result<()> {
        self.run_strata(bits, visit);
        Ok(())
    }
}

/// What all blocks of one stratum share.
struct Step<'a> {
    layout: &'a Layout,
    lines: &'a LineLayout,
    tables: [&'a [u32]; TABLES],
    active: &'a [u32],
    total: u32,
    /// Positions whose largest heap is smaller come out N.
    least_largest: i32,
    /// Whether P-positions are only counted.
    forbidden: bool,
}

impl Step<'_> {
    /// The parts that the stratum can be split into: slabs, or where there is but one, its rows.
    fn units(&self) -> Range<usize> {
        if self.layout.axes() > 0 {
            let slab = |rank: Option<&u32>| rank.map(|&rank| self.layout.slab_of(rank));
            let (first, last) = (slab(self.active.first()), slab(self.active.last()));
            return first.unwrap_or(0)..last.map_or(0, |slab| slab + 1);
        }
        let rows = self.rows_of(&self.layout.block(0), &self.window(0));
        rows.start as usize..rows.end as usize
    }

    /// The active blocks of these slabs.
    fn blocks_of(&self, slabs: Range<usize>) -> &[u32] {
        let at = |slab| {
            let first = self.layout.slab_first_block(slab);
            self.active.partition_point(|&rank| (rank as usize) < first)
        };
        &self.active[at(slabs.start)..at(slabs.end)]
    }

    fn window(&self, rank: u32) -> Window {
        self.layout.window(self.layout.block(rank).coordinates, self.total, 0)
    }

    /// The rows of a block in which the window has positions.
    fn rows_of(&self, block: &Block<'_>, window: &Window) -> Range<i32> {
        if window.is_empty() {
            return 0..0;
        }
        let lane_floor = if self.layout.lane_is_floor() { window.first_lane } else { 0 };
        let least =
            window.floor.max(lane_floor).max(window.rest - window.last_lane - self.layout.max() as i32);
        let most = ((window.rest - window.first_lane) / 2).min(self.layout.second_max() as i32);
        debug_assert!(least / 32 >= block.first_row as i32);
        least / 32..most / 32 + 1
    }

    /// The index in the slot from which a unit's words are written.
    fn slot_start(&self, unit: usize) -> usize {
        if self.layout.axes() > 0 {
            return self.layout.slab_start(unit);
        }
        let block = self.layout.block(0);
        block.base + unit * block.pitch as usize
    }

    /// Solves units on all threads, at least `grain` together. `slot` is the part of the slot from index `start` on
    /// that holds them, or empty. Returns the number of P-positions, and where they are in an allowed stratum.
    fn split(&self, units: Range<usize>, grain: usize, slot: &mut [u32], start: usize) -> (u64, Vec<Found>) {
        if units.len() <= grain {
            let mut found = Vec::new();
            let count = solve_units(self, units, slot, start, &mut found);
            return (count, found);
        }
        let middle = units.start + units.len() / 2;
        let middle_start = self.slot_start(middle);
        let (low_slot, high_slot) =
            if slot.is_empty() { (slot, &mut [][..]) } else { slot.split_at_mut(middle_start - start) };
        let (mut low, high) = rayon::join(
            || self.split(units.start..middle, grain, low_slot, start),
            || self.split(middle..units.end, grain, high_slot, middle_start),
        );
        low.1.extend_from_slice(&high.1);
        (low.0 + high.0, low.1)
    }
}

/// Solves units one after another.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+sse4.2+popcnt",
))]
fn solve_units(
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
        let mut valid = at_least_falling(rest - layout.max() as i32 - lane - bit);
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
