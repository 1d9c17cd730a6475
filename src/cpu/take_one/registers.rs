//! Cells in the registers of an instruction set.

#![allow(
    clippy::inline_always,
    reason = "a kernel is compiled for each instruction set, with what is inlined into it"
)]

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};

use crate::space::FOLDED_ALIGNMENT;

/// Cells of a register.
pub(super) type Cells<S> = <S as Simd>::u16s;

/// How many cells a register has.
pub(super) fn lanes(level: Level) -> usize {
    dispatch!(level, simd => lanes_of(simd))
}

#[inline(always)]
fn lanes_of<S: Simd>(_: S) -> usize {
    Cells::<S>::LEN
}

#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, cells: &[u16], at: usize) -> Cells<S> {
    Cells::<S>::from_slice(simd, &cells[at..at + Cells::<S>::LEN])
}

#[inline(always)]
pub(super) fn store<S: Simd>(cells: &mut [u16], at: usize, value: Cells<S>) {
    value.store_slice(&mut cells[at..at + Cells::<S>::LEN]);
}

/// So many cells of one register, the first, and then those of another.
#[inline(always)]
pub(super) fn select_first<S: Simd>(simd: S, count: u16, first: Cells<S>, others: Cells<S>) -> Cells<S> {
    load(simd, &INDICES, 0).simd_lt(Cells::<S>::splat(simd, count)).select(first, others)
}

/// The indices of the cells of a register.
static INDICES: [u16; FOLDED_ALIGNMENT] = {
    let mut indices = [0; FOLDED_ALIGNMENT];
    let mut i = 0;
    while i < FOLDED_ALIGNMENT {
        indices[i] = i as u16;
        i += 1;
    }
    indices
};

/// Adds what some cells have to registers that follow one another.
#[inline(always)]
pub(super) fn add<S: Simd, const REGISTERS: usize>(
    simd: S,
    reached: &mut [Cells<S>; REGISTERS],
    cells: &[u16],
    at: usize,
) {
    let lanes = Cells::<S>::LEN;
    let cells = &cells[at..at + REGISTERS * lanes];
    for (register, reached) in reached.iter_mut().enumerate() {
        *reached |= load(simd, cells, register * lanes);
    }
}
