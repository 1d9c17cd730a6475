//! The full box: all tuples of heaps up to a cap, in every order, as one numpy array with an axis for each heap.
//!
//! A store holds each multiset once, and the box up to n! times, so almost every entry is in another stratum than the one
//! before. An entry is found by its rank ([`Ranks`]); pieces of the file are filled by all threads and written in order.

use std::io::{self, Write};

use rayon::prelude::*;

use super::WatchPositions;
use crate::npy;
use crate::space::{Cell, Ranks};
use crate::store::Store;

/// Bytes that are filled before they are written.
const BYTES_PER_ROUND: usize = 1 << 20;
/// Bytes that a thread fills at a time; even, so that no number is cut.
const BYTES_PER_PIECE: usize = 1 << 12;

/// What an entry of a box is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// A byte, 1 = P; numpy's `bool`. What is not in the region is 0.
    Verdicts,
    /// A bit, 1 = P, eight of the last axis to a byte, least significant first, the last byte filled up with zeros:
    /// `np.packbits(box, axis=-1, bitorder="little")`. What is not in the region is 0.
    Packed,
    /// R in one or two bytes, as the store has it. What is not in the region is 255 or 65,535, which no R is.
    Remoteness,
}

/// A box that can be written.
pub struct FullBox<'a> {
    store: &'a Store,
    ranks: Ranks,
    max: u32,
    entries: Entries,
}

impl<'a> FullBox<'a> {
    /// The box of all heaps up to `max`, which must not be above the store's; of remoteness, if the store holds it.
    #[must_use]
    pub fn new(store: &'a Store, max: u32, entries: Entries) -> Self {
        let holds = store.cell() != Cell::Verdicts || entries != Entries::Remoteness;
        let entries = if holds { entries } else { Entries::Verdicts };
        Self { store, ranks: Ranks::new(store.region()), max: max.min(store.region().max()), entries }
    }

    /// numpy's name of the element type.
    #[must_use]
    pub fn descr(&self) -> &'static str {
        match (self.entries, self.store.cell()) {
            (Entries::Verdicts, _) => "|b1",
            (Entries::Remoteness, Cell::Remoteness16) => "<u2",
            (Entries::Packed | Entries::Remoteness, _) => "|u1",
        }
    }

    /// Elements along each axis.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        let side = u64::from(self.max) + 1;
        let mut shape = vec![side; self.store.region().heaps() as usize];
        if let (Entries::Packed, Some(last)) = (self.entries, shape.last_mut()) {
            *last = side.div_ceil(8);
        }
        shape
    }

    /// Bytes of a box of so many heaps up to `max`, without the header; saturating.
    #[must_use]
    pub fn bytes(store: &Store, max: u32, entries: Entries) -> u128 {
        let side = u128::from(max) + 1;
        let last = match (entries, store.cell()) {
            (Entries::Packed, _) => side.div_ceil(8),
            (Entries::Remoteness, Cell::Remoteness16) => 2 * side,
            _ => side,
        };
        side.saturating_pow(store.region().heaps() - 1).saturating_mul(last)
    }

    /// Whether there are tuples that are not in the region: those above its greatest total.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        let region = self.store.region();
        u64::from(self.max) * u64::from(region.heaps()) >= u64::from(region.strata().end)
    }

    /// What stands for a tuple that is not in the region.
    #[must_use]
    pub fn outside(&self) -> u16 {
        match (self.entries, self.store.cell()) {
            (Entries::Remoteness, Cell::Remoteness16) => u16::MAX,
            (Entries::Remoteness, _) => u8::MAX.into(),
            _ => 0,
        }
    }

    /// Writes the whole `.npy` file, on all threads of the pool it is called in. `watch` hears how many bytes are done.
    ///
    /// # Errors
    /// What `out` and `watch` return.
    pub fn write(&self, out: &mut dyn Write, watch: &mut WatchPositions<'_>) -> io::Result<()> {
        npy::write_header(&mut *out, self.descr(), &self.shape())?;
        let all = Self::bytes(self.store, self.max, self.entries) as u64;
        let mut round = vec![0; BYTES_PER_ROUND];
        let mut done = 0;
        while done < all {
            watch(done)?;
            let round = &mut round[..BYTES_PER_ROUND.min((all - done) as usize)];
            round.par_chunks_mut(BYTES_PER_PIECE).enumerate().for_each(|(index, piece)| {
                self.fill(done + (index * BYTES_PER_PIECE) as u64, piece);
            });
            out.write_all(round)?;
            done += round.len() as u64;
        }
        Ok(())
    }

    /// Fills the bytes from `start` on.
    fn fill(&self, start: u64, piece: &mut [u8]) {
        let two = self.entries == Entries::Remoteness && self.store.cell() == Cell::Remoteness16;
        let width = if two { 2 } else { 1 };
        let row_cells = self.shape().last().copied().unwrap_or(1);
        let (row, mut cell) = (start / width / row_cells, start / width % row_cells);
        let mut tuple = Tuple::row(row, self.store.region().heaps() as usize, self.max);
        for bytes in piece.chunks_exact_mut(width as usize) {
            let value = match self.entries {
                Entries::Verdicts => self.is_p(&mut tuple, cell as u32).into(),
                Entries::Packed => (0..8).fold(0, |byte, bit| {
                    let last = 8 * cell as u32 + bit;
                    byte | u16::from(last <= self.max && self.is_p(&mut tuple, last)) << bit
                }),
                Entries::Remoteness => self.remoteness(&mut tuple, cell as u32),
            };
            bytes.copy_from_slice(&value.to_le_bytes()[..width as usize]);
            cell += 1;
            if cell == row_cells {
                cell = 0;
                tuple.next_row();
            }
        }
    }

    fn is_p(&self, tuple: &mut Tuple, last: u32) -> bool {
        let place = self.ranks.place(tuple.with(last));
        let stratum = place.and_then(|(total, rank)| Some((self.store.stratum(total)?, rank)));
        stratum.is_some_and(|(stratum, rank)| stratum.is_p(rank))
    }

    fn remoteness(&self, tuple: &mut Tuple, last: u32) -> u16 {
        let place = self.ranks.place(tuple.with(last));
        let remoteness = place.and_then(|(total, rank)| self.store.stratum(total)?.remoteness(rank));
        remoteness.map_or(self.outside(), |remoteness| remoteness as u16)
    }
}

/// All heaps but the last, as they stand in the box and in order.
struct Tuple {
    max: u32,
    heaps: Vec<u32>,
    sorted: Vec<u32>,
    /// The sorted heaps with the last one among them.
    whole: Vec<u32>,
}

impl Tuple {
    /// The tuple of row `row`: its digits to the base max + 1.
    fn row(mut row: u64, heaps: usize, max: u32) -> Self {
        let side = u64::from(max) + 1;
        let mut tuple =
            Self { max, heaps: vec![0; heaps - 1], sorted: vec![0; heaps - 1], whole: vec![0; heaps] };
        for heap in tuple.heaps.iter_mut().rev() {
            *heap = (row % side) as u32;
            row /= side;
        }
        tuple.sort();
        tuple
    }

    fn next_row(&mut self) {
        if let Some(place) = self.heaps.iter().rposition(|&heap| heap < self.max) {
            self.heaps[place] += 1;
            self.heaps[place + 1..].fill(0);
            self.sort();
        }
    }

    fn sort(&mut self) {
        self.sorted.copy_from_slice(&self.heaps);
        self.sorted.sort_unstable();
    }

    /// All heaps, smallest first.
    fn with(&mut self, last: u32) -> &[u32] {
        let below = self.sorted.partition_point(|&heap| heap < last);
        self.whole[..below].copy_from_slice(&self.sorted[..below]);
        self.whole[below] = last;
        self.whole[below + 1..].copy_from_slice(&self.sorted[below..]);
        &self.whole
    }
}
