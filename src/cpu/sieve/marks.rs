//! The second phase of a stratum: every P₁ found sets the bits of its lines.
//!
//! The tables are marked each on a thread of its own, which needs no atomics.

#![allow(clippy::inline_always, reason = "so small that a call would cost more")]

use super::{Found, Sieve, Tables};
use crate::game::MOST_HEAPS;
use crate::space::Layout;

/// Lines below which all tables are marked on one thread.
const LINES_PER_TASK: usize = 128;

impl Sieve {
    /// Sets the bits of all lines of these P₁ positions of stratum `total`, each table on a thread of its own.
    pub(super) fn mark(&self, total: u32, found: &[Found], tables: &mut Tables) {
        let [rows, mirror, diagonals, planes] = tables;
        if self.layout.heaps() as usize * found.len() < LINES_PER_TASK {
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
