//! f(x,y) for three heaps, by a scan of bitsets.
//!
//! A P₁ position a ≤ b ≤ c gives f(a,b) = c, f(a,c) = b and f(b,c) = a at once. So each is looked for only where its
//! largest heap completes the two others: pairs x ≤ y are taken in an order in which (x,y) comes after all (x′,y) with
//! x′ < x and (x,y′) with y′ < y, and where f(x,y) is not yet known it is the least z ≥ y that is free. For every
//! heap x a bitset *used* holds the largest heaps c of the positions found with x as one of the smaller two; then z is free
//! when it is in neither used[x] nor used[y] and x + y + z is allowed, and f(x,y) is known when y is in used[x].
//!
//! Cost: a third of the pairs is scanned, from z = y on, 256 bits of each of three sets at a time.
//!
//! The pairs are cut into square tiles, solved along antidiagonals of tiles on all threads: the tiles of one have no
//! range of heaps in common, so each owns the bitsets that it reads and writes. Entries of the table are written by
//! whichever tile finds the position, hence its atomics; no entry is written twice.
#![allow(
    clippy::inline_always,
    reason = "multiversion compiles a function for each instruction set, with what is inlined into it"
)]

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use multiversion::multiversion;
use rayon::prelude::*;

use super::{Bound, Completing};
use crate::error::{Error, Result};
use crate::game::{Ruleset, Take};

/// Heaps on a side of a tile.
const TILE: usize = 64;

/// Bytes of a bitset looked at together.
const CHUNK: usize = 32;

/// The greatest cap of a table.
pub const MOST: u64 = 1 << 16;

/// Called with the number of pairs done; [`ControlFlow::Break`] stops the computation.
pub type WatchPairs<'a> = dyn FnMut(u64) -> ControlFlow<()> + Send + 'a;

/// f(x,y) for all heaps x and y up to a cap.
pub struct Table {
    max: u32,
    /// f(x,y) + 1 for x ≤ y at y(y+1)/2 + x; 0 where there is no completion.
    cells: Vec<AtomicU32>,
}

impl Table {
    /// Computes the table of a game of three heaps in which a move takes any number of stones from one, on the threads
    /// of the pool it is called in.
    ///
    /// # Errors
    /// [`Error::NoKernel`] for another game, [`Error::CompletionSize`] for a cap beyond 2^16.
    pub fn new(rules: &Ruleset, max: u64) -> Result<Self> {
        Self::watched(rules, max, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::new`]; `watch` hears now and then how many of the [`Self::pairs`] are done, and can stop it.
    ///
    /// # Errors
    /// As [`Self::new`], and [`Error::Stopped`] when `watch` stopped it.
    pub fn watched(rules: &Ruleset, max: u64, watch: &mut WatchPairs<'_>) -> Result<Self> {
        if rules.heaps != 3 || rules.touch_most != 1 || rules.take != Take::Any {
            return Err(Error::NoKernel { what: format!("the table of completions of {rules}") });
        }
        if max > MOST {
            return Err(Error::CompletionSize { heaps: 3, max: max.to_string(), largest: MOST });
        }
        let size = max as usize + 1;
        let cells = std::iter::repeat_with(AtomicU32::default).take(size * (size + 1) / 2).collect();
        let table = Self { max: max as u32, cells };
        if let Some(totals) = Totals::new(rules, 2 * max) {
            table.fill(&totals, watch)?;
        }
        Ok(table)
    }

    /// How many pairs x ≤ y there are.
    #[must_use]
    pub fn pairs(max: u64) -> u64 {
        (max + 1) * (max + 2) / 2
    }

    /// Bytes that a table up to `max` takes, with those for computing it; `None` when they are more than `limit`.
    #[must_use]
    pub fn bytes(rules: &Ruleset, max: u64, limit: u128) -> Option<u128> {
        let size = u128::from(max) + 1;
        let cells = 2 * size * (size + 1);
        let sums = 2 * u128::from(max);
        if cells + 8 * sums > limit {
            return None;
        }
        let heap = u128::from(Bound::new(rules, 2 * max).greatest_heap(2 * max).unwrap_or(0));
        if heap >= u128::from(u32::MAX) {
            return None;
        }
        // Bitsets; eight copies of the forbidden totals, their distances, and the allowed totals of the bound.
        let bytes = cells + size * (heap / 8 + CHUNK as u128 + 2) + 13 * (heap + sums);
        (bytes <= limit).then_some(bytes)
    }

    /// The greatest heap.
    #[must_use]
    pub fn max(&self) -> u32 {
        self.max
    }

    /// f(x,y); `None` when no heap completes x and y. Panics above the cap.
    #[must_use]
    pub fn get(&self, x: u32, y: u32) -> Option<u32> {
        self.cells[cell(x.min(y) as usize, x.max(y) as usize)].load(Relaxed).checked_sub(1)
    }

    /// Row x: f(x,0) … f(x,max).
    pub fn row(&self, x: u32) -> impl Iterator<Item = Option<u32>> {
        (0..=self.max).map(move |y| self.get(x, y))
    }

    /// What completes each pair.
    fn values(&self) -> impl Iterator<Item = Option<u32>> {
        self.cells.iter().map(|cell| cell.load(Relaxed).checked_sub(1))
    }

    /// Solves all tiles, one antidiagonal after another.
    fn fill(&self, totals: &Totals, watch: &mut WatchPairs<'_>) -> Result<()> {
        let mut done = 0;
        let tiles = (self.max as usize + 1).div_ceil(TILE);
        // A scan of whole chunks from any byte on must get as far as the greatest completion.
        let bytes = totals.greatest_heap / 8 + 2 + CHUNK;
        let mut used: Vec<Used> = (0..tiles).map(|_| Used { bytes, bits: vec![0; TILE * bytes] }).collect();
        for diagonal in 0..2 * tiles - 1 {
            let first = (diagonal + 1).saturating_sub(tiles);
            let mut work: Vec<Tile> = (first..=diagonal / 2)
                .map(|x| {
                    let y = diagonal - x;
                    let low = if x < y { std::mem::take(&mut used[x]) } else { Used::default() };
                    Tile { x, y, low, high: std::mem::take(&mut used[y]) }
                })
                .collect();
            work.par_iter_mut().for_each(|tile| solve_tile(self, totals, tile));
            for tile in work {
                if tile.x < tile.y {
                    used[tile.x] = tile.low;
                }
                used[tile.y] = tile.high;
                let [xs, ys] = [tile.x, tile.y].map(|tile| self.heaps(tile).len() as u64);
                done += if tile.x < tile.y { xs * ys } else { xs * (xs + 1) / 2 };
            }
            let all = Self::pairs(self.max.into());
            if watch(done).is_break() && done < all {
                let percent = done as f64 / all as f64 * 100.0;
                return Err(Error::Stopped { when: format!("after {percent:.1} % of the pairs") });
            }
        }
        Ok(())
    }

    /// The heaps of a range of tiles.
    fn heaps(&self, tile: usize) -> Range<usize> {
        tile * TILE..((tile + 1) * TILE).min(self.max as usize + 1)
    }

    /// Enters a P₁ position x ≤ y ≤ z.
    fn enter(&self, x: usize, y: usize, z: usize) {
        self.cells[cell(x, y)].store(z as u32 + 1, Relaxed);
        if z <= self.max as usize {
            self.cells[cell(x, z)].store(y as u32 + 1, Relaxed);
            self.cells[cell(y, z)].store(x as u32 + 1, Relaxed);
        }
    }
}

impl Completing for Table {
    fn heaps(&self) -> u32 {
        3
    }

    fn max(&self) -> u32 {
        self.max
    }

    fn completion(&self, others: &[u32]) -> Option<u32> {
        self.get(others[0], others[1])
    }

    fn multisets(&self) -> u64 {
        Self::pairs(self.max.into())
    }

    fn completed(&self) -> u64 {
        self.values().flatten().count() as u64
    }

    fn greatest(&self) -> Option<u32> {
        self.values().flatten().max()
    }
}

/// The place of f(x,y), x ≤ y.
fn cell(x: usize, y: usize) -> usize {
    y * (y + 1) / 2 + x
}

/// For each heap of a range, the largest heaps of P₁ positions that it is in without being the largest.
#[derive(Default)]
struct Used {
    /// Bytes a heap.
    bytes: usize,
    bits: Vec<u8>,
}

impl Used {
    fn of(&self, heap: usize) -> &[u8] {
        &self.bits[heap % TILE * self.bytes..][..self.bytes]
    }

    fn insert(&mut self, heap: usize, z: usize) {
        self.bits[heap % TILE * self.bytes + z / 8] |= 1 << (z % 8);
    }
}

/// A square of pairs, with what is used of its heaps.
struct Tile {
    x: usize,
    y: usize,
    /// The heaps x; empty where they are the heaps y.
    low: Used,
    high: Used,
}

impl Tile {
    fn low(&self) -> &Used {
        if self.x < self.y { &self.low } else { &self.high }
    }

    fn low_mut(&mut self) -> &mut Used {
        if self.x < self.y { &mut self.low } else { &mut self.high }
    }
}

/// Which totals are allowed.
struct Totals {
    /// Bit `total + k` stands at bit `total` of copy `k`, so that any 64 totals can be read as bytes; 1 = forbidden.
    shifted: [Vec<u8>; 8],
    /// In misère play, the distance from each total down to the nearest allowed one.
    distance: Option<Vec<u32>>,
    /// The greatest completion.
    greatest_heap: usize,
}

impl Totals {
    /// `None` when no pair with a sum up to `most_sum` has a completion.
    fn new(rules: &Ruleset, most_sum: u64) -> Option<Self> {
        let bound = Bound::new(rules, most_sum);
        let greatest_heap = bound.greatest_heap(most_sum)?;
        let last = most_sum + greatest_heap;
        // Beyond the greatest completion all is forbidden, so that no scan finds anything there.
        let forbidden = |total: u64| total > last || rules.forbidden.contains(total);
        let bytes = last / 8 + 4 + 2 * CHUNK as u64;
        let byte = |first: u64| (0..8).fold(0u8, |byte, bit| byte | u8::from(forbidden(first + bit)) << bit);
        let shifted = std::array::from_fn(|shift| (0..bytes).map(|at| byte(8 * at + shift as u64)).collect());
        let distance = rules.misere.then(|| {
            let mut last_allowed = None;
            let down = |total: u64| {
                let distance = last_allowed.map_or(u32::MAX, |allowed: u64| (total - allowed) as u32);
                if !rules.forbidden.contains(total) {
                    last_allowed = Some(total);
                }
                distance
            };
            (0..=last).map(down).collect()
        });
        Some(Self { shifted, distance, greatest_heap: greatest_heap as usize })
    }

    /// The forbidden ones of the totals from `total` on, as a bitset.
    #[inline(always)]
    fn from(&self, total: usize) -> &[u8] {
        &self.shifted[total % 8][total / 8..]
    }

    /// Whether a position with this total and largest heap is terminal and counts as N.
    fn is_lost(&self, total: usize, largest: usize) -> bool {
        self.distance.as_ref().is_some_and(|distance| largest < distance[total] as usize)
    }
}

/// Finds all P₁ positions whose two smaller heaps are a pair of the tile.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt+lzcnt",
    "x86_64+sse4.2+popcnt",
))]
fn solve_tile(table: &Table, totals: &Totals, tile: &mut Tile) {
    for y in table.heaps(tile.y) {
        for x in table.heaps(tile.x) {
            if x > y {
                break;
            }
            let (low, high) = (tile.low(), &tile.high);
            // Then a position was found of which y is the largest heap and x another; or y is beyond all completions.
            let known = low.of(x).get(y / 8).is_none_or(|byte| byte >> (y % 8) & 1 == 1);
            if known {
                continue;
            }
            if let Some(z) = least_free(low.of(x), high.of(y), totals, x + y, y) {
                table.enter(x, y, z);
                tile.low_mut().insert(x, z);
                tile.high.insert(y, z);
            }
        }
    }
}

/// The least z ≥ `from` that is in neither set, makes an allowed total with `sum`, and no terminal position in misère
/// play.
#[inline(always)]
fn least_free(a: &[u8], b: &[u8], totals: &Totals, sum: usize, from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let first = from / 8;
        let (a, b, forbidden) = (&a[first..], &b[first..], totals.from(sum + 8 * first));
        let below = (1u8 << (from % 8)) - 1;
        let taken = a[0] | b[0] | forbidden[0] | below;
        let z = if taken == u8::MAX {
            let (byte, taken) = first_free(&a[1..], &b[1..], &forbidden[1..])?;
            8 * (first + 1 + byte) + taken.trailing_ones() as usize
        } else {
            8 * first + taken.trailing_ones() as usize
        };
        if !totals.is_lost(sum + z, z) {
            return Some(z);
        }
        from = z + 1;
    }
}

/// The first byte in which some bit is in none of the sets, and what is in any of them there.
#[inline(always)]
fn first_free<'a>(a: &'a [u8], b: &'a [u8], c: &'a [u8]) -> Option<(usize, u8)> {
    let chunks = |set: &'a [u8]| set.as_chunks::<CHUNK>().0.iter();
    for (index, ((a, b), c)) in chunks(a).zip(chunks(b)).zip(chunks(c)).enumerate() {
        let taken: [u8; CHUNK] = std::array::from_fn(|i| a[i] | b[i] | c[i]);
        if taken != [u8::MAX; CHUNK] {
            let byte = taken.iter().position(|&byte| byte != u8::MAX)?;
            return Some((CHUNK * index + byte, taken[byte]));
        }
    }
    None
}
