//! Verdicts of games of four heaps or more: run by run, in a run row by row, and in a row block by block.
//!
//! What the terms of a stencil read is looked up once for a run ([`Run`]) and once more for each of its rows. What is left
//! to do for a block is to find its groups of lanes. Of these up to four are solved at once, so that a term's row is
//! fetched once for all of them; from six heaps on, where most blocks have one group or two, also those of different
//! blocks that are neighbours in memory.

use std::ops::{Range, RangeInclusive};

use crate::cpu::Part;
use crate::cpu::lanes::{
    GROUP, Lanes, MOST_LANES, and, at_least, at_least_falling, at_most_halves, lanes_between, or,
};
use crate::cpu::runs::{Ends, Row, Rows, Run};
use crate::cpu::stencil::Step;
use crate::space::{Block, Window, prefetch};

/// How many blocks ahead memory is fetched.
const AHEAD: i32 = 2;

/// Words in a cache line.
const LINE: usize = 16;

/// Solves blocks on one thread, and returns the number of their P-positions.
#[inline(always)]
pub(super) fn solve<const PACKED: bool>(
    step: &Step<'_, u32>,
    active: &[u32],
    part: &mut Part<'_, u32>,
) -> u64 {
    let mut run = Run::new(step);
    let (mut rows, mut own, mut carries) = (Rows::new(), Vec::new(), Vec::new());
    let (mut count, mut left) = (0, active);
    while !left.is_empty() {
        let (blocks, rest) = left.split_at(run.fill(step, left));
        left = rest;
        let blocks = Blocks::new(step, &run, blocks);
        carries.resize(carries.len().max(blocks.groups()), [0; GROUP]);
        let mut counts = [0u32; GROUP];
        for row in blocks.rows() {
            run.row(row as u32, &mut rows);
            let solve = SolveRow { blocks: &blocks, run: &run, rows: &rows, bit: row * 32 };
            if PACKED {
                solve.packed(part, &mut carries, &mut counts);
            } else {
                blocks.own(row, &mut own);
                solve.block_by_block(&own, part, &mut carries, &mut counts);
            }
        }
        count += counts.iter().map(|&count| u64::from(count)).sum::<u64>();
    }
    count
}

/// Consecutive blocks of a run.
struct Blocks<'s, 'a> {
    step: &'s Step<'a, u32>,
    /// The rank of the block y = 0.
    first: u32,
    /// Where each block of the run starts, in lane groups, from y = 0 on.
    bases: &'s [u32],
    /// The y of the blocks, first and last.
    y: [i32; 2],
    cap: i32,
    /// The first of the blocks.
    block: Block<'s>,
    /// x₃.
    floor: i32,
    /// Stones left for x₁, x₂, y and the lane.
    rest: i32,
    /// Whether there may be positions that are terminal and N: they are left out of the windows.
    partial: bool,
}

impl<'s, 'a> Blocks<'s, 'a> {
    #[inline(always)]
    fn new(step: &'s Step<'a, u32>, run: &Run<'a, u32>, blocks: &[u32]) -> Self {
        let block = step.layout.block(blocks[0]);
        let window = step.layout.window(block.coordinates, step.total, 0);
        let y = [blocks[0], blocks[blocks.len() - 1]].map(|rank| (rank - run.first) as i32);
        let nonempty = block.coordinates.iter().filter(|&&x| x > 0).count() as u32;
        Self {
            step,
            first: run.first,
            bases: &step.layout.bases()[run.first as usize..],
            y,
            cap: step.layout.max() as i32,
            block,
            floor: window.floor,
            rest: window.rest + y[0],
            // A position with x₂ > 0 has two nonempty heaps more than its block.
            partial: nonempty + 1 < step.least_nonempty,
        }
    }

    /// How many groups of lanes there are from the first block to the last.
    #[inline(always)]
    fn groups(&self) -> usize {
        self.column(self.y[1]) - self.column(self.y[0]) + self.last_lane(self.y[1]) as usize / GROUP + 1
    }

    /// Where a block starts in a row, in lane groups from y = 0 on.
    #[inline(always)]
    fn column(&self, y: i32) -> usize {
        (self.bases[y as usize] - self.bases[0]) as usize
    }

    /// The rows that have positions.
    #[inline(always)]
    fn rows(&self) -> RangeInclusive<i32> {
        let [first, last] = self.y;
        // x₂ is greatest where the other heaps are smallest, and least where they are greatest.
        let least = self.floor.max(self.rest - last - self.last_lane(last) - self.cap);
        let most = ((self.rest - first - self.window(first).first_lane) / 2).min(self.cap);
        least / 32..=most / 32
    }

    /// The run's own row in each of the strata below.
    #[inline(always)]
    fn own(&self, row: i32, out: &mut Vec<&'a [u32]>) {
        let rows = (row as u32 - self.block.first_row) as usize;
        let start = self.bases[0] as usize * GROUP + rows * self.block.pitch as usize;
        out.clear();
        out.extend(self.step.sources.iter().flatten().map(|cells| &cells[start..]));
    }

    /// The window of a block, terminal positions included.
    #[inline(always)]
    fn window(&self, y: i32) -> Window {
        let rest = self.rest - y;
        let first_lane = (rest - 2 * self.cap).max(0);
        let last_lane = (rest - 2 * self.floor).min(self.last_lane(y));
        Window { rest, first_lane, last_lane, floor: self.floor }
    }

    /// The greatest lane of a block.
    #[inline(always)]
    fn last_lane(&self, y: i32) -> i32 {
        // With four heaps it is x₃, and a run has y = 0 only.
        if self.block.coordinates.len() == 1 { self.floor } else { y }
    }

    /// The y, first and last, of the blocks that have positions in the row from `bit` on, and perhaps of some that have
    /// none.
    #[inline(always)]
    fn of_row(&self, bit: i32) -> Range<i32> {
        let [first, last] = self.y;
        if self.block.coordinates.len() == 1 {
            return first..last + 1;
        }
        // A lane is at most y.
        let least = (self.rest - self.cap - bit - 30) / 2;
        let most = self.rest - 2 * self.floor.max(bit);
        first.max(least)..last.min(most) + 1
    }

    /// A block's lanes from the group `first` on, in the row from `bit` on.
    #[inline(always)]
    fn edges(&self, y: i32, window: &Window, bit: i32, first: usize) -> Edges {
        // What is left out of the window is cleared.
        let valid = if self.partial {
            let layout = self.step.layout;
            let coordinates = layout.block(self.first + y as u32).coordinates;
            layout.window(coordinates, self.step.total, self.step.least_nonempty)
        } else {
            *window
        };
        let lane = (first * GROUP) as i32;
        Edges {
            bit,
            cap: self.cap,
            most: window.rest - lane,
            lanes: [valid.first_lane - lane, valid.last_lane - lane],
            floor: at_least(valid.floor - bit),
            partial: self.partial,
        }
    }
}

/// One row of a run being solved.
struct SolveRow<'r, 's, 'a> {
    blocks: &'r Blocks<'s, 'a>,
    run: &'r Run<'a, u32>,
    rows: &'r Rows<'a, u32>,
    /// The row's first value of x₂.
    bit: i32,
}

impl<'r, 'a> SolveRow<'r, '_, 'a> {
    /// Solves one block after another. `own` is the run in the strata below: its neighbours were read when the slab before
    /// was solved, and are still close. `carries` has the shifted words of the row before, from the first block on.
    #[inline(always)]
    fn block_by_block(
        &self,
        own: &[&'a [u32]],
        part: &mut Part<'_, u32>,
        carries: &mut [Lanes],
        counts: &mut Lanes,
    ) {
        let blocks = self.blocks;
        let mut block = blocks.block;
        for y in blocks.of_row(self.bit) {
            let window = blocks.window(y);
            let Some(groups) = self.groups(&window) else { continue };
            block.base = blocks.bases[y as usize] as usize * GROUP;
            let out = part.from(&block, self.bit as u32 / 32, (groups.start * GROUP) as u32);
            let edges = blocks.edges(y, &window, self.bit, groups.start);
            let words = self.words(y, groups.start);
            let ahead = (y + AHEAD).min(blocks.y[1]);
            let ahead = (blocks.column(ahead) - blocks.column(y)) * GROUP;
            fetch(own, words.at[0] + ahead, groups.len());
            fetch(&[&*out], ahead, groups.len());
            let first = blocks.column(y) - blocks.column(blocks.y[0]);
            let carries = &mut carries[first..][groups.clone()];
            self.start(&words, &edges, &window, carries);
            words.solve(&edges, &mut out[..groups.len() * GROUP], carries.as_flattened_mut(), counts);
        }
    }

    /// Solves groups of several blocks at once, where they are neighbours.
    #[inline(always)]
    fn packed(&self, part: &mut Part<'_, u32>, carries: &mut [Lanes], counts: &mut Lanes) {
        let blocks = self.blocks;
        let first_column = blocks.column(blocks.y[0]);
        let mut pack = Pack { y: 0, group: 0, column: 0, len: 0, valid: [0; MOST_LANES] };
        for y in blocks.of_row(self.bit) {
            let window = blocks.window(y);
            let Some(groups) = self.groups(&window) else { continue };
            let edges = blocks.edges(y, &window, self.bit, groups.start);
            let words = self.words(y, groups.start);
            let column = blocks.column(y);
            self.start(&words, &edges, &window, &mut carries[column - first_column..][groups.clone()]);
            for (index, group) in groups.enumerate() {
                if !pack.takes(column + group) || !(pack.y == y || self.alike(pack.y, y)) {
                    self.flush(&pack, part, &mut carries[..], counts);
                    (pack.y, pack.group, pack.column, pack.len) = (y, group, column + group, 0);
                }
                let lane = pack.len * GROUP;
                pack.valid[lane..][..GROUP].copy_from_slice(&edges.valid::<GROUP>((index * GROUP) as i32));
                pack.len += 1;
            }
        }
        self.flush(&pack, part, carries, counts);
    }

    /// Whether two blocks read the same terms at the same distances.
    #[inline(always)]
    fn alike(&self, one: i32, other: i32) -> bool {
        let blocks = self.blocks;
        let back = |y: i32| blocks.bases[y as usize] - blocks.bases[(y - 1).max(0) as usize];
        let ends = |y: i32| self.run.ends(blocks.first + y as u32);
        back(one) == back(other) && ends(one) == ends(other)
    }

    /// Solves what has been gathered.
    #[inline(always)]
    fn flush(&self, pack: &Pack, part: &mut Part<'_, u32>, carries: &mut [Lanes], counts: &mut Lanes) {
        if pack.len == 0 {
            return;
        }
        let blocks = self.blocks;
        let mut block = blocks.block;
        block.base = blocks.bases[pack.y as usize] as usize * GROUP;
        let out = part.from(&block, self.bit as u32 / 32, (pack.group * GROUP) as u32);
        let words = self.words(pack.y, pack.group);
        let carries = carries[pack.column - blocks.column(blocks.y[0])..][..pack.len].as_flattened_mut();
        words.solve(pack, &mut out[..pack.len * GROUP], carries, counts);
    }

    /// The groups of lanes of a block that have positions in the row.
    #[inline(always)]
    fn groups(&self, window: &Window) -> Option<Range<usize>> {
        let first = window.first_lane.max(window.rest - self.blocks.cap - self.bit - 31);
        let last = window.last_lane.min(window.rest - 2 * self.bit);
        (first <= last).then_some(first as usize / GROUP..last as usize / GROUP + 1)
    }

    /// What a block reads from the group `first` on.
    #[inline(always)]
    fn words(&self, y: i32, first: usize) -> Words<'r, 'a> {
        let at = |y: i32| (self.blocks.column(y) + first) * GROUP;
        let ends = self.run.ends(self.blocks.first + y as u32);
        Words { rows: self.rows, ends, at: [at(y), at((y - 1).max(0))] }
    }

    /// Sets the carries of groups that had no positions in the row before: the bit below matters only where the row's
    /// bit 0 is a position.
    #[inline(always)]
    fn start(&self, words: &Words<'_, 'a>, edges: &Edges, window: &Window, carries: &mut [Lanes]) {
        let (bit, floor) = (self.bit, self.blocks.floor);
        let before = window.first_lane.max(window.rest - edges.cap - bit + 1);
        let there = bit > floor && before <= window.last_lane.min(window.rest - 2 * bit + 64);
        let first_lane = window.rest - edges.most;
        let new = if there { (before - first_lane) as usize / GROUP } else { carries.len() };
        // The lane whose window starts at bit 0.
        let lane = edges.most - edges.cap - bit;
        for (group, carry) in carries.iter_mut().enumerate().take(new) {
            let needed = bit > 0 && (floor == bit || group as i32 == lane >> 3);
            *carry = if needed { self.below(words, group) } else { [0; GROUP] };
        }
    }

    /// The shifted words of the row below for a group that has no positions there, zero where there is no such row.
    #[cold]
    #[inline(never)]
    fn below(&self, words: &Words<'_, 'a>, group: usize) -> Lanes {
        let mut shifted = [0; GROUP];
        self.run.each_shifted(words.ends, self.bit as u32 / 32 - 1, |cells, before| {
            shifted = or(shifted, lanes_from(cells, words.at[usize::from(before)] + group * GROUP));
        });
        shifted
    }
}

/// Brings the memory of some groups closer.
#[inline(always)]
fn fetch(rows: &[&[u32]], at: usize, groups: usize) {
    for cells in rows {
        for at in (at..at + groups * GROUP + LINE - 1).step_by(LINE) {
            prefetch(cells, at);
        }
    }
}

/// The cells of some lanes from a place on.
#[inline(always)]
fn lanes_from<const L: usize>(cells: &[u32], at: usize) -> [u32; L] {
    *cells[at..].first_chunk().expect("a slot ends in a lane group of zeros")
}

/// Tells which bits are positions.
trait Valid {
    /// Those of `L` lanes.
    fn valid<const L: usize>(&self, lane: i32) -> [u32; L];
}

/// Neighbouring groups that read the same terms at the same distances.
struct Pack {
    /// The block of the first.
    y: i32,
    /// Which of its groups.
    group: usize,
    /// Where it is in the row, in lane groups from y = 0 on.
    column: usize,
    len: usize,
    valid: [u32; MOST_LANES],
}

impl Pack {
    /// Whether the group at this place is next.
    #[inline(always)]
    fn takes(&self, column: usize) -> bool {
        column == self.column + self.len && self.len * GROUP < MOST_LANES
    }
}

impl Valid for Pack {
    #[inline(always)]
    fn valid<const L: usize>(&self, lane: i32) -> [u32; L] {
        lanes_from(&self.valid, lane as usize)
    }
}

/// The windows of a block's lanes in a row, counted from some group on.
struct Edges {
    bit: i32,
    cap: i32,
    /// Stones left for x₁ and x₂ in lane 0.
    most: i32,
    /// The first and last lane with positions.
    lanes: [i32; 2],
    /// The bits that are not below x₃.
    floor: u32,
    partial: bool,
}

impl Valid for Edges {
    #[inline(always)]
    fn valid<const L: usize>(&self, lane: i32) -> [u32; L] {
        let most = self.most - lane;
        let valid = and(at_least_falling(most - self.cap - self.bit), at_most_halves(most - 2 * self.bit));
        let first = if self.partial { self.lanes[0] - lane } else { 0 };
        let valid = and(valid, lanes_between(first, self.lanes[1] - lane));
        and(valid, [self.floor; L])
    }
}

/// Where the words are that some lanes in a row read.
struct Words<'r, 'a> {
    rows: &'r Rows<'a, u32>,
    ends: Ends,
    /// The first lane, in the cells of the same y and in those of the one before.
    at: [usize; 2],
}

impl<'a> Words<'_, 'a> {
    /// Solves as many lanes as `out` has.
    #[inline(always)]
    fn solve(&self, valid: &impl Valid, out: &mut [u32], carries: &mut [u32], counts: &mut Lanes) {
        let mut lanes = 0..out.len();
        while lanes.len() >= MOST_LANES {
            self.lanes::<MOST_LANES>(&mut lanes, valid, out, carries, counts);
        }
        if lanes.len() >= 2 * GROUP {
            self.lanes::<{ 2 * GROUP }>(&mut lanes, valid, out, carries, counts);
        }
        if !lanes.is_empty() {
            self.lanes::<GROUP>(&mut lanes, valid, out, carries, counts);
        }
    }

    /// Solves the first `L` of these lanes.
    #[inline(always)]
    fn lanes<const L: usize>(
        &self,
        lanes: &mut Range<usize>,
        valid: &impl Valid,
        out: &mut [u32],
        carries: &mut [u32],
        counts: &mut Lanes,
    ) {
        let lane = lanes.start;
        lanes.start += L;
        let either = self.read::<L>(&self.rows.either, lane);
        let unshifted = or(either, self.read(&self.rows.unshifted, lane));
        let shifted = or(either, self.read(&self.rows.shifted, lane));
        let valid = valid.valid::<L>(lane as i32);
        let carries: &mut [u32; L] = carries[lane..].first_chunk_mut().expect("a carry for each lane");
        let mut verdicts = [0; L];
        for i in 0..L {
            verdicts[i] = !(unshifted[i] | shifted[i] << 1 | carries[i] >> 31) & valid[i];
        }
        *carries = shifted;
        out[lane..lane + L].copy_from_slice(&verdicts);
        for group in verdicts.as_chunks::<GROUP>().0 {
            for i in 0..GROUP {
                counts[i] += group[i].count_ones();
            }
        }
    }

    /// The words that some terms read for `L` lanes.
    #[inline(always)]
    fn read<const L: usize>(&self, row: &Row<'a, u32>, lane: usize) -> [u32; L] {
        let mut words = [0; L];
        for (list, at) in row.of(self.ends).into_iter().zip(self.at) {
            for cells in list {
                words = or(words, lanes_from(cells, at + lane));
            }
        }
        words
    }
}
