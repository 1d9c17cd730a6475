//! Where the single-heap sieve keeps its line bits.
//!
//! A **line** is all positions that agree in every heap but one; it is named by the other heaps, an (n−1)-multiset
//! y₁ ≥ y₂ ≥ … ≥ yₙ₋₁. When any number of stones may leave one heap, each position of a line can move to every lower
//! one (at an allowed total), so that a line holds at most one P₁, and one bit a line tells whether it has been found.
//!
//! A position reads the bits of its n lines. Those of 32 neighbouring values of x₂ are wanted in one word, in the
//! order of x₂, and those of neighbouring lanes xₙ next to each other, as in the [`Layout`] of the verdicts. Depending
//! on the heap that is left out, x₂ runs along a line's name in different directions, so each bit is kept in up to four
//! tables. For a block x₃ … xₙ₋₁ and *rest* = x₁ + x₂ + xₙ:
//!
//! | table | read for the line without | box of lanes and bits | bit | lane |
//! |---|---|---|---|---|
//! | rows | x₁ | (x₃ … xₙ₋₁), at x₂ | y₁ | yₙ₋₁ |
//! | mirror | x₂ | (x₃ … xₙ₋₁), at x₁ = rest − x₂ − xₙ | cap + greatest lane − (y₁ + yₙ₋₁) | yₙ₋₁ |
//! | diagonals | xₙ | (x₃ … xₙ₋₁), at t = x₁ + x₂ = rest − xₙ | y₂ | 2·cap − (y₁ + y₂) |
//! | planes | one of x₃ … xₙ₋₁ | the other of those, and rest | y₂ | yₙ₋₁ |
//!
//! The mirror counts bits down and skews them by the lane, so that all lanes read it at the same bit offset,
//! cap + greatest lane − rest + x₂. The diagonals count t down, so that neighbouring lanes are neighbours there too.
//!
//! In each box a row of words starts a fixed number of words after the one before ([`Strip`]); where rows grow shorter
//! or start at a later lane, that number is chosen so that a row overlaps the unused part of its neighbour. Lanes
//! and rows just outside a box hold anything: readers mask them.
#![allow(clippy::inline_always, reason = "kernels compiled for other instruction sets inline it")]

use super::Region;
use super::cell::Cell;
use super::layout::{Block, LANE_GROUP, Layout, block_shapes, layout_bytes, row_width};
use crate::error::Result;

/// The tables a line bit is kept in.
pub const TABLES: usize = 4;

const WORD: i64 = u32::BITS as i64;

/// The rows of one box: row `w` starts (lane 0) at word `origin + w · stride` of its table.
#[derive(Clone, Copy, Debug)]
pub struct Strip {
    /// Where row 0 would start.
    pub origin: i64,
    /// Words from one row's lane 0 to the next row's.
    pub stride: i64,
}

impl Strip {
    /// The index of a word in its table.
    #[must_use]
    #[inline(always)]
    pub fn at(self, word: i32, lane: i32) -> usize {
        (self.origin + i64::from(word) * self.stride + i64::from(lane)) as usize
    }
}

/// How the line bits of a region lie in memory; the same for every stratum.
#[derive(Clone, Debug)]
pub struct LineLayout {
    heaps: u32,
    max: u32,
    /// Words of the tables, in the order rows, mirror, diagonals, planes; 0 for a table that is not needed.
    words: [u64; TABLES],
    /// Where each block's mirror and diagonals start.
    bases: Vec<[u64; 2]>,
    /// The blocks of one coordinate less, in which the planes are kept; from four heaps on.
    reduced: Option<Layout>,
    /// For each reduced block, the index of its plane of rest 0 in `planes`, could it be there.
    first_plane: Vec<i64>,
    /// Where each plane's box starts.
    planes: Vec<u64>,
}

impl LineLayout {
    /// The line tables of a region with this layout.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) when they are beyond what can be addressed.
    pub fn new(layout: &Layout) -> Result<Self> {
        let (heaps, max) = (layout.heaps(), layout.max());
        let shape = Shape { heaps, max };
        let pad = shape.pad();
        let mut lines = Self {
            heaps,
            max,
            words: [0; TABLES],
            bases: Vec::with_capacity(layout.blocks()),
            reduced: None,
            first_plane: Vec::new(),
            planes: Vec::new(),
        };
        let mut next = [pad; 2];
        for rank in 0..layout.blocks() as u32 {
            let block = layout.block(rank);
            lines.bases.push(next);
            next[0] += shape.mirror(floor(&block), block.last_lane);
            next[1] += shape.diagonals(floor(&block));
        }
        let mut next_plane = pad;
        if heaps >= 4 {
            let reduced = Layout::new(&Region::new(heaps - 1, u64::from(max))?)?;
            for rank in 0..reduced.blocks() as u32 {
                let block = reduced.block(rank);
                let (least, most) = shape.rests(floor(&block), block.last_lane);
                lines.first_plane.push(lines.planes.len() as i64 - i64::from(least));
                for rest in least..=most {
                    lines.planes.push(next_plane);
                    next_plane += shape.plane(floor(&block), block.last_lane, rest).words();
                }
            }
            lines.reduced = Some(reduced);
        }
        lines.words = shape.padded([layout.words(), next[0] - pad, next[1] - pad, next_plane - pad]);
        Ok(lines)
    }

    /// Words of the tables: rows, mirror, diagonals, planes. A table that the number of heaps does not need has none.
    #[must_use]
    pub fn words(&self) -> [u64; TABLES] {
        self.words
    }

    /// The blocks of one coordinate less, by whose rank planes are found; `None` below four heaps.
    #[must_use]
    pub fn reduced(&self) -> Option<&Layout> {
        self.reduced.as_ref()
    }

    /// A block's rows: the bit axis is y₁.
    #[must_use]
    pub fn rows(&self, block: &Block<'_>) -> Strip {
        let stride = i64::from(block.pitch);
        Strip { origin: block.base as i64 - i64::from(block.first_row) * stride, stride }
    }

    /// A block's mirror: the bit axis is [`mirror_top`](Self::mirror_top) − (y₁ + yₙ₋₁).
    #[must_use]
    pub fn mirror(&self, rank: u32, block: &Block<'_>) -> Strip {
        let base = self.bases[rank as usize][0] as i64;
        if self.heaps == 3 {
            // Row q holds the lanes cap − 32q − 31 ..= cap − 16q.
            let length = i64::from(self.shape().mirror_length());
            return Strip { origin: base + length - i64::from(self.max), stride: length + WORD / 2 };
        }
        Strip { origin: base, stride: i64::from(row_width(block.last_lane)) }
    }

    /// What y₁ + yₙ₋₁ is counted down from along a block's mirror.
    #[must_use]
    pub fn mirror_top(&self, block: &Block<'_>) -> i32 {
        (self.max + block.last_lane) as i32
    }

    /// A block's diagonals: the bit axis is y₂, the lane 2·cap − (y₁ + y₂).
    #[must_use]
    pub fn diagonals(&self, rank: u32, block: &Block<'_>) -> Strip {
        // Row w holds the lanes cap − 32w − 31 ..= 2·cap − 64w.
        let first = i64::from(block.first_row);
        let length = i64::from(self.shape().diagonal_length(floor(block)));
        let base = self.bases[rank as usize][1] as i64;
        Strip { origin: base - first * length - i64::from(self.max) + WORD - 1, stride: length + WORD }
    }

    /// The plane of a reduced block where y₁ + y₂ + yₙ₋₁ = `rest`: the bit axis is y₂, the lane yₙ₋₁.
    #[must_use]
    pub fn plane(&self, rank: u32, block: &Block<'_>, rest: u32) -> Strip {
        let plane = self.shape().plane(floor(block), block.last_lane, rest);
        let base = self.planes[(self.first_plane[rank as usize] + i64::from(rest)) as usize] as i64;
        let stride = i64::from(plane.stride);
        let before = i64::from(plane.first_word) * stride + i64::from(plane.first_lane);
        Strip { origin: base - before, stride }
    }

    /// For each block of one coordinate less, the number of its plane of rest 0, could it be there.
    #[must_use]
    pub fn first_planes(&self) -> &[i64] {
        &self.first_plane
    }

    /// Where all planes are, in order of their numbers.
    pub fn plane_strips(&self) -> impl Iterator<Item = Strip> {
        let blocks = self
            .reduced
            .iter()
            .flat_map(|reduced| (0..reduced.blocks() as u32).map(|rank| (rank, reduced.block(rank))));
        blocks.flat_map(move |(rank, block)| {
            let (least, most) = self.shape().rests(floor(&block), block.last_lane);
            (least..=most).map(move |rest| self.plane(rank, &block, rest))
        })
    }

    /// Bytes of the line tables of a region, of the tables that address them, and of `slots` strata of verdicts. `None`
    /// when they are more than `limit`.
    #[must_use]
    pub fn bytes(heaps: u32, max: u64, slots: u32, limit: u128) -> Option<u128> {
        let shape = Shape { heaps, max: u32::try_from(max).ok()? };
        let within = |bytes: u128| (bytes <= limit).then_some(bytes);
        // The rows are laid out as one stratum.
        let layout = layout_bytes(heaps, max, Cell::Verdicts, slots + 1, limit)?;
        let mut words = [0u128; 2];
        let mut blocks = 0u128;
        for (floor, last_lane, count) in block_shapes(heaps, shape.max) {
            let count = count?;
            blocks += count;
            words[0] += u128::from(shape.mirror(floor, last_lane)) * count;
            words[1] += u128::from(shape.diagonals(floor)) * count;
            within(4 * (words[0] + words[1]))?;
        }
        let (mut planes, mut plane_words) = (0u128, 0u128);
        let mut reduced = 0;
        if heaps >= 4 {
            reduced = layout_bytes(heaps - 1, max, Cell::Verdicts, 0, limit)?;
            for (floor, last_lane, count) in block_shapes(heaps - 1, shape.max) {
                let (least, most) = shape.rests(floor, last_lane);
                // And one more number for each reduced block.
                planes += u128::from(most - least + 2) * count?;
                plane_words += u128::from(shape.all_planes(floor, last_lane)) * count?;
                within(4 * plane_words)?;
            }
        }
        let padding = u128::from(2 * shape.pad()) * TABLES as u128;
        within(
            layout + 16 * blocks + reduced + 8 * planes + 4 * (words[0] + words[1] + plane_words + padding),
        )
    }

    fn shape(&self) -> Shape {
        Shape { heaps: self.heaps, max: self.max }
    }
}

/// A block's x₃; 0 without coordinates.
fn floor(block: &Block<'_>) -> u32 {
    block.coordinates.first().map_or(0, |&x| u32::from(x))
}

/// The sizes of boxes.
#[derive(Clone, Copy)]
struct Shape {
    heaps: u32,
    max: u32,
}

/// The box of one plane.
struct Plane {
    first_word: u32,
    rows: u32,
    first_lane: u32,
    stride: u32,
}

impl Plane {
    fn words(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.stride)
    }
}

impl Shape {
    /// Words before and after each table: a reader may look one row and two groups of lanes outside a box.
    fn pad(self) -> u64 {
        u64::from((2 * self.max + 128).next_multiple_of(LANE_GROUP))
    }

    /// The sizes of tables with these words in their boxes, without those that this number of heaps does not need.
    fn padded(self, words: [u64; TABLES]) -> [u64; TABLES] {
        let needed = [true, self.heaps >= 2, self.heaps >= 3, self.heaps >= 4];
        std::array::from_fn(|table| if needed[table] { words[table] + 2 * self.pad() } else { 0 })
    }

    /// The lanes of a row of the mirror for three heaps, where y₂ is the lane itself.
    fn mirror_length(self) -> u32 {
        (self.max / 2 + u32::BITS).next_multiple_of(LANE_GROUP)
    }

    fn mirror(self, floor: u32, last_lane: u32) -> u64 {
        let (rows, length) = match self.heaps {
            1 => (0, 0),
            3 => (2 * self.max / u32::BITS + 1, self.mirror_length()),
            _ => ((self.max + last_lane - floor) / u32::BITS + 1, row_width(last_lane)),
        };
        u64::from(rows) * u64::from(length)
    }

    fn diagonal_length(self, floor: u32) -> u32 {
        (self.max + u32::BITS - floor / u32::BITS * u32::BITS).next_multiple_of(LANE_GROUP)
    }

    fn diagonals(self, floor: u32) -> u64 {
        let rows = if self.heaps >= 3 { self.max / u32::BITS + 1 - floor / u32::BITS } else { 0 };
        u64::from(rows) * u64::from(self.diagonal_length(floor))
    }

    /// The least and greatest y₁ + y₂ + yₙ₋₁ of a reduced block.
    fn rests(self, floor: u32, last_lane: u32) -> (u32, u32) {
        (2 * floor, 2 * self.max + last_lane)
    }

    fn plane(self, floor: u32, last_lane: u32, rest: u32) -> Plane {
        // With four heaps the lane, at most y₂, is cut to those there are; with more it is small anyway.
        let (first_lane, last_lane) = if self.heaps == 4 {
            (rest.saturating_sub(2 * self.max), last_lane.min(rest / 3))
        } else {
            (0, last_lane)
        };
        let first_word = floor.max(rest.saturating_sub(last_lane + self.max)) / u32::BITS;
        Plane {
            first_word,
            rows: self.max.min(rest / 2) / u32::BITS + 1 - first_word,
            first_lane,
            stride: row_width(last_lane - first_lane),
        }
    }

    /// Words of all planes of a reduced block.
    fn all_planes(self, floor: u32, last_lane: u32) -> u64 {
        let (least, most) = self.rests(floor, last_lane);
        if self.heaps == 4 {
            return (least..=most).map(|rest| self.plane(floor, last_lane, rest).words()).sum();
        }
        // The sum of ⌊v/size⌋ over 0 ≤ v < end.
        let quotients = |end: u64, size: u64| {
            let (whole, part) = (end / size, end % size);
            size * (whole * whole.saturating_sub(1) / 2) + whole * part
        };
        let (cap, last, floor) = (u64::from(self.max), u64::from(last_lane), u64::from(floor));
        // A plane's last word is ⌊min(rest, 2·cap + 1)/64⌋, its first ⌊max(floor, rest − last − cap)/32⌋.
        let last_words = quotients(2 * cap + 1, 64) - quotients(2 * floor, 64) + last * ((2 * cap + 1) / 64);
        let first_words =
            (cap + last - floor + 1) * (floor / 32) + quotients(cap + 1, 32) - quotients(floor + 1, 32);
        let rows = last_words + u64::from(most - least + 1) - first_words;
        rows * u64::from(row_width(last_lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicted_bytes_are_those_of_the_tables() {
        for (heaps, max) in
            [(1, 70), (2, 40), (3, 33), (3, 0), (3, 200), (4, 20), (4, 70), (5, 9), (5, 40), (6, 6), (8, 3)]
        {
            let layout = Layout::new(&Region::new(heaps, max).unwrap()).unwrap();
            let lines = LineLayout::new(&layout).unwrap();
            let reduced = if heaps >= 4 {
                layout_bytes(heaps - 1, max, Cell::Verdicts, 0, u128::MAX).unwrap()
            } else {
                0
            };
            let offsets = 16 * lines.bases.len() + 8 * (lines.planes.len() + lines.first_plane.len());
            // The rows are one slot of the layout.
            let without_slot = layout_bytes(heaps, max, Cell::Verdicts, 0, u128::MAX).unwrap();
            let tables = 4 * u128::from(lines.words.iter().sum::<u64>());
            let unused = lines.words.iter().filter(|&&words| words == 0).count() as u128;
            let padding = unused * 8 * u128::from(lines.shape().pad());
            let expected = without_slot + reduced + offsets as u128 + tables + padding;
            assert_eq!(LineLayout::bytes(heaps, max, 0, u128::MAX), Some(expected), "{heaps} heaps ≤ {max}");
            assert_eq!(LineLayout::bytes(heaps, max, 0, expected - 1), None);
        }
    }
}
