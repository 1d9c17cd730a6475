//! Slices as bitmaps: portable bitmaps in binary form (PBM, P4), a bit a position, black = P.

use std::io::{self, Write};

use rayon::prelude::*;

use super::WatchPositions;
use crate::slice::{Seen, Slices};

/// Rows that are filled before they are written.
const ROWS_PER_ROUND: u32 = 256;

/// Slices to be written as bitmaps, one after the other in one file, as the format has it.
pub struct Bitmap<'a> {
    slices: &'a Slices<'a>,
    max: u32,
}

impl<'a> Bitmap<'a> {
    /// Bitmaps of these slices with both free heaps up to `max`.
    #[must_use]
    pub fn new(slices: &'a Slices<'a>, max: u32) -> Self {
        Self { slices, max }
    }

    /// Bytes of so many bitmaps, but for their headers; saturating.
    #[must_use]
    pub fn bytes(slices: usize, max: u32) -> u128 {
        let side = u128::from(max) + 1;
        (slices as u128).saturating_mul(side * side.div_ceil(8))
    }

    /// Writes all bitmaps: x to the right, y up. `watch` hears how many bits are done.
    ///
    /// # Errors
    /// What `out` and `watch` return.
    pub fn write(&self, out: &mut dyn Write, watch: &mut WatchPositions<'_>) -> io::Result<()> {
        let side = self.max + 1;
        let mut done = 0;
        for slice in 0..self.slices.count() {
            write!(out, "P4\n{side} {side}\n")?;
            // The first row of a bitmap is its top.
            for top in (0..side).step_by(ROWS_PER_ROUND as usize) {
                watch(done)?;
                let rows = (top..side.min(top + ROWS_PER_ROUND)).into_par_iter();
                let rows = rows.map(|row| self.row(slice, self.max - row)).collect::<Vec<_>>();
                rows.iter().try_for_each(|row| out.write_all(row))?;
                done += u64::from(side) * rows.len() as u64;
            }
        }
        Ok(())
    }

    /// The bits with this y, most significant of a byte first, the last byte filled up with zeros.
    fn row(&self, slice: usize, y: u32) -> Vec<u8> {
        let mut row = vec![0; (self.max as usize + 1).div_ceil(8)];
        for x in 0..=self.max {
            let black = self.slices.at(slice, x, y).is_some_and(Seen::is_p);
            row[x as usize / 8] |= u8::from(black) << (7 - x % 8);
        }
        row
    }
}
