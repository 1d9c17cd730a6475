//! What moves lead to that take a stone from y.
//!
//! With y one less, the same lane lies y + 1 cells before, so that the distance grows along a run. What all neighbours have
//! is brought together first, and then put in its place, where registers have n cells:
//!
//! - where y < n, what a register needs lies in the same register and the one before ([`Near`]), from which a permutation
//!   of bytes takes it, the same for all runs;
//! - then on, a register has cells of at most two y ([`Far`]): two loads that are one cell apart have all it needs.

#![allow(
    clippy::inline_always,
    reason = "a kernel is compiled for each instruction set, with what is inlined into it"
)]

use std::ops::Range;

use fearless_simd::prelude::*;

use super::neighbours::Sources;
use super::registers::{Cells, load, select_first, store};
use crate::space::{FOLDED_HEAPS, FoldedLayout};

/// Where in a run lies what its registers need, for registers of some size.
#[derive(Default)]
pub(super) struct Lower {
    /// From this cell on, where a register starts, it lies further than one register before.
    near: usize,
    /// For each byte of the registers before: which byte of the register before its own and its own it is.
    indices: Vec<u8>,
    /// For each register after.
    far: Vec<Distance>,
}

/// How far before a register lies what it needs.
#[derive(Clone, Copy)]
struct Distance {
    /// For some cells, the first.
    cells: u32,
    /// How many these are; for all others it is one more.
    count: u16,
}

impl Lower {
    /// For registers of so many cells.
    pub(super) fn new(layout: &FoldedLayout, lanes: usize) -> Self {
        let mut table = Self::default();
        if !layout.has_pairs() {
            return table;
        }
        // As long as the longest run, with one y more and one lane more for each than there are.
        let mut distances = (0..=layout.max() + 1).flat_map(|y| (0..y + 2).map(move |_| y as usize + 1));
        let mut register = Vec::new();
        loop {
            register.clear();
            register.extend(distances.by_ref().take(lanes));
            if register.is_empty() {
                break;
            }
            if table.far.is_empty() && register[0] <= lanes {
                table.near += lanes;
                for (cell, &distance) in register.iter().enumerate() {
                    let byte = 2 * (cell + lanes - distance) as u8;
                    table.indices.extend([byte, byte + 1]);
                }
            } else {
                let count = register.partition_point(|&distance| distance == register[0]);
                table.far.push(Distance { cells: register[0] as u32, count: count as u16 });
            }
        }
        table.indices.resize(2 * table.near, 0);
        table
    }

    /// Bytes of memory for a region with this cap.
    pub(super) fn bytes(heaps: u32, max: u64) -> u128 {
        let max = u128::from(max);
        // Registers have eight cells or more, and at most 32.
        if heaps > FOLDED_HEAPS { (max + 2) * (max + 5) / 2 + 4096 } else { 0 }
    }

    /// The first cells of a span, and the others, of which each has what it needs near or far.
    #[inline(always)]
    pub(super) fn split(&self, span: Range<usize>) -> [Range<usize>; 2] {
        let cut = self.near.clamp(span.start, span.end.max(span.start));
        [span.start..cut, cut..span.end]
    }
}

/// What the registers of a row of a run need, one after the other.
pub(super) trait Below<S: Simd> {
    fn next<const REGISTERS: usize>(&mut self, at: usize) -> [Cells<S>; REGISTERS];
}

/// Nothing, as runs have one y.
pub(super) struct Nothing<S>(pub S);

impl<S: Simd> Below<S> for Nothing<S> {
    #[inline(always)]
    fn next<const REGISTERS: usize>(&mut self, _: usize) -> [Cells<S>; REGISTERS] {
        [Cells::<S>::splat(self.0, 0); REGISTERS]
    }
}

/// What lies in the same register and the one before.
pub(super) struct Near<'l, 'n, 'a, S: Simd> {
    simd: S,
    lower: &'l Lower,
    sources: &'n Sources<'n, 'a>,
    before: Cells<S>,
}

impl<'l, 'n, 'a, S: Simd> Near<'l, 'n, 'a, S> {
    /// From the register on that starts with this cell.
    #[inline(always)]
    pub(super) fn new(simd: S, lower: &'l Lower, sources: &'n Sources<'n, 'a>, first: usize) -> Self {
        let before = match first.checked_sub(Cells::<S>::LEN) {
            Some(before) => sources.load::<S, 1>(simd, before)[0],
            None => Cells::<S>::splat(simd, 0),
        };
        Self { simd, lower, sources, before }
    }
}

impl<S: Simd> Below<S> for Near<'_, '_, '_, S> {
    #[inline(always)]
    fn next<const REGISTERS: usize>(&mut self, at: usize) -> [Cells<S>; REGISTERS] {
        let lanes = Cells::<S>::LEN;
        let mut cells = self.sources.load::<S, REGISTERS>(self.simd, at);
        let indices = &self.lower.indices[2 * at..2 * (at + REGISTERS * lanes)];
        for (register, cells) in cells.iter_mut().enumerate() {
            let indices = &indices[2 * register * lanes..2 * (register + 1) * lanes];
            let indices = S::u8s::from_slice(self.simd, indices);
            let here = std::mem::replace(cells, self.before.concat_swizzle_dyn(*cells, indices));
            self.before = here;
        }
        cells
    }
}

/// What lies further before.
pub(super) struct Far<'l, 'n, 'a, S: Simd> {
    simd: S,
    lower: &'l Lower,
    sources: &'n Sources<'n, 'a>,
    /// All that was brought together.
    found: &'n mut [u16],
}

impl<'l, 'n, 'a, S: Simd> Far<'l, 'n, 'a, S> {
    /// For the registers of these cells. `found` grows if it must.
    #[inline(always)]
    pub(super) fn new(
        simd: S,
        lower: &'l Lower,
        sources: &'n Sources<'n, 'a>,
        cells: &Range<usize>,
        found: &'n mut Vec<u16>,
    ) -> Self {
        let lanes = Cells::<S>::LEN;
        let length = cells.end + lanes;
        if found.len() < length {
            found.resize(length, 0);
        }
        let mut far = Self { simd, lower, sources, found };
        let distance = lower.far[(cells.start - lower.near) / lanes].cells as usize;
        let mut at = (cells.start - distance - 1) / lanes * lanes;
        while at < cells.start {
            far.find::<1>(at);
            at += lanes;
        }
        far
    }

    #[inline(always)]
    fn find<const REGISTERS: usize>(&mut self, at: usize) {
        let cells = self.sources.load::<S, REGISTERS>(self.simd, at);
        for (register, &cells) in cells.iter().enumerate() {
            store::<S>(self.found, at + register * Cells::<S>::LEN, cells);
        }
    }
}

impl<S: Simd> Below<S> for Far<'_, '_, '_, S> {
    #[inline(always)]
    fn next<const REGISTERS: usize>(&mut self, at: usize) -> [Cells<S>; REGISTERS] {
        let (simd, lanes) = (self.simd, Cells::<S>::LEN);
        self.find::<REGISTERS>(at);
        let mut cells = [Cells::<S>::splat(simd, 0); REGISTERS];
        for (register, cells) in cells.iter_mut().enumerate() {
            let at = at + register * lanes;
            let distance = self.lower.far[(at - self.lower.near) / lanes];
            let start = at - distance.cells as usize;
            let [first, others] = [start, start - 1].map(|start| load(simd, self.found, start));
            *cells = select_first(simd, distance.count, first, others);
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Region;

    #[test]
    fn every_cell_finds_that_with_one_y_less() {
        for lanes in [8, 16, 32] {
            let layout = FoldedLayout::new(&Region::new(5, 70).unwrap()).unwrap();
            let table = Lower::new(&layout, lanes);
            assert!(table.indices.iter().all(|&byte| usize::from(byte) < 4 * lanes));
            for y in 1..=70 {
                for lane in 0..=y as usize {
                    let cell = layout.first_cell(y) + lane;
                    let register = cell / lanes * lanes;
                    let found = if cell < table.near {
                        let bytes = [0, 1].map(|byte| usize::from(table.indices[2 * cell + byte]));
                        assert_eq!(bytes[0] + 1, bytes[1]);
                        // From the register before on.
                        register + bytes[0] / 2 - lanes
                    } else {
                        let Distance { cells, count } = table.far[(register - table.near) / lanes];
                        let more = usize::from(cell - register >= usize::from(count));
                        cell - cells as usize - more
                    };
                    let lower = layout.first_cell(y - 1) + lane;
                    assert_eq!(found, lower, "y = {y}, lane {lane}, registers of {lanes}");
                }
            }
        }
    }

    #[test]
    fn no_more_memory_is_taken_than_foreseen() {
        for (heaps, max) in [(4, 50), (5, 0), (5, 40), (6, 11)] {
            let layout = FoldedLayout::new(&Region::new(heaps, max).unwrap()).unwrap();
            for lanes in [8, 32] {
                let table = Lower::new(&layout, lanes);
                let bytes = (table.indices.len() + size_of::<Distance>() * table.far.len()) as u128;
                assert!(bytes <= Lower::bytes(heaps, max), "{heaps} {max} {lanes}");
            }
        }
    }
}
