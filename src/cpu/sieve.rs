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

mod marks;
mod words;

use std::ops::Range;

use crate::backend::{Backend, Kept, Past, Visit};
use crate::error::Result;
use crate::game::Ruleset;
use crate::space::{Block, Layout, LineLayout, Region, Stratum, TABLES, Window};

/// Positions below which splitting a stratum over threads costs more than it saves.
const POSITIONS_PER_TASK: u64 = 1 << 21;

/// A distance that no heap reaches.
const UNREACHABLE: i32 = 1 << 30;

/// The CPU backend for games that take any number of stones from one heap. It runs on the threads of the pool that it
/// is called in.
pub struct Sieve {
    rules: Ruleset,
    region: Region,
    layout: Layout,
    lines: LineLayout,
    /// Empty before stratum 0.
    tables: Tables,
    /// The stratum to solve next.
    next: u32,
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
        let tables = Tables::default();
        Ok(Self { rules, region, layout, lines, tables, next: 0, task_positions: POSITIONS_PER_TASK })
    }

    /// The same, splitting work over threads down to about this many positions.
    #[must_use]
    pub fn with_task_positions(self, task_positions: u64) -> Self {
        Self { task_positions, ..self }
    }

    /// Takes the tables out, all zero where nothing has been solved yet.
    fn take_tables(&mut self) -> Tables {
        if self.next == 0 {
            return self.lines.words().map(|words| vec![0; words as usize]);
        }
        std::mem::take(&mut self.tables)
    }

    /// Takes the stratum it stands at as solved, from its verdicts.
    pub fn learn(&mut self, stratum: &Stratum<'_>) {
        debug_assert_eq!(stratum.total, self.next);
        let mut tables = self.take_tables();
        if !self.is_forbidden(stratum.total) {
            let found = stratum.fold_rows(Vec::new, |found, row| {
                let coordinates = row.coordinates.iter().map(|&x| u32::from(x)).collect::<Vec<_>>();
                let (rank, lane) = (self.layout.block_rank(&coordinates), row.lane);
                found.extend(row.p_seconds().map(|second| Found { rank, lane, second }));
            });
            self.mark(stratum.total, &found.concat(), &mut tables);
        }
        self.tables = tables;
        self.next = stratum.total + 1;
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
}

impl Backend for Sieve {
    fn go_on(&mut self, bits: bool, visit: &mut Visit<'_>) -> Result<()> {
        let mut tables = self.take_tables();
        let slot_words = if bits { self.layout.words() as usize } else { 0 };
        // One stratum is read by the observers while the next is being solved.
        let (mut solving, mut reading) = (vec![0; slot_words], vec![0; slot_words]);
        let mut solved: Option<(u32, u64)> = None;
        let mut last_allowed = (0..self.next).rev().find(|&total| !self.is_forbidden(total));
        let mut stop = false;
        while self.next < self.region.strata().end && !stop {
            let total = self.next;
            let mut solve = || self.solve(total, last_allowed, &mut tables, &mut solving);
            let mut observe =
                || solved.is_some_and(|solved| visit(&self.stratum(solved, &reading)).is_break());
            let count;
            (count, stop) = if bits { rayon::join(solve, observe) } else { (solve(), observe()) };
            std::mem::swap(&mut solving, &mut reading);
            solved = Some((total, count));
            if !self.is_forbidden(total) {
                last_allowed = Some(total);
            }
            self.next = total + 1;
        }
        self.tables = tables;
        if let Some(solved) = solved {
            // It stops after this one in any case.
            let _ = visit(&self.stratum(solved, &reading));
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<()> {
        self.tables = Tables::default();
        self.next = 0;
        Ok(())
    }

    fn past(&self) -> Result<Past> {
        let tables = match self.next {
            0 => self.lines.words().map(|words| vec![0; words as usize]),
            _ => self.tables.clone(),
        };
        Ok(Past { next: self.next, kept: Kept::Lines(tables) })
    }

    fn resume(&mut self, past: &Past) -> Result<()> {
        let Kept::Lines(tables) = &past.kept else { unreachable!("the sieve keeps lines") };
        self.tables.clone_from(tables);
        self.next = past.next;
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
            let count = words::solve_units(self, units, slot, start, &mut found);
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
