//! Segments: what the density kernels count at once.
//!
//! A density map has a cell for each pair of values of two **coordinates** of a position: the i-th largest heap, or the
//! total. In canonical order the positions of a row, which agree in every heap but the two largest, lie next to each
//! other, x₂ ascending. So along a row the cell either stays, or moves on by the same step from position to position:
//! by the stride of x₂ less that of x₁, as one grows by what the other shrinks. A piece of a row is then all told by
//! where its bits start, how many there are, and the cell of its first position.

use std::ops::ControlFlow;

use bytemuck::{Pod, Zeroable};

use super::{OrderedRow, Region};

/// No segment is longer, so that one with long rows gives many threads work.
pub const LONGEST_SEGMENT: u32 = 256;

/// One coordinate of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate {
    /// The size of the i-th largest heap, from 1 on.
    Heap(u32),
    /// The total of all heaps.
    Total,
}

impl Coordinate {
    /// How many values it takes from 0 on, some perhaps without positions.
    #[must_use]
    pub fn values(self, region: &Region) -> u32 {
        match self {
            Self::Heap(_) => region.max() + 1,
            Self::Total => region.strata().end,
        }
    }
}

/// Consecutive positions of a row, as `shaders/density.wgsl` has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct Segment {
    /// The bit of the first position's verdict.
    pub start: u32,
    /// How many positions there are.
    pub length: u32,
    /// The cell of the first position.
    pub cell: u32,
}

/// The cells of a map: values of the second coordinate next to each other.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    axes: [Coordinate; 2],
    shape: [u32; 2],
}

impl Grid {
    /// The map of a region by two coordinates, which its positions have.
    #[must_use]
    pub fn new(region: &Region, axes: [Coordinate; 2]) -> Self {
        Self { axes, shape: axes.map(|axis| axis.values(region)) }
    }

    /// The number of values of each coordinate.
    #[must_use]
    pub fn shape(&self) -> [u32; 2] {
        self.shape
    }

    /// The number of cells.
    #[must_use]
    pub fn cells(&self) -> u64 {
        u64::from(self.shape[0]) * u64::from(self.shape[1])
    }

    /// How many cells the next position of a row is further, modulo 2³².
    #[must_use]
    pub fn step(&self) -> u32 {
        self.stride(Coordinate::Heap(2)).wrapping_sub(self.stride(Coordinate::Heap(1)))
    }

    /// How many cells further a position is in which a coordinate is greater by one.
    fn stride(&self, of: Coordinate) -> u32 {
        let strides = self.axes.iter().zip([self.shape[1], 1]);
        strides.filter(|&(&axis, _)| axis == of).map(|(_, stride)| stride).sum()
    }

    /// The cell of the first position of a row.
    fn cell(&self, row: &OrderedRow<'_>) -> u32 {
        let value = |axis| match axis {
            Coordinate::Heap(1) => row.rest - row.first,
            Coordinate::Heap(2) => row.first,
            Coordinate::Heap(heap) => row.smaller[row.smaller.len() + 2 - heap as usize],
            Coordinate::Total => row.rest + row.smaller.iter().sum::<u32>(),
        };
        value(self.axes[0]) * self.shape[1] + value(self.axes[1])
    }

    /// Gathers the segments of a stratum in canonical order and hands them to `visit`, at most `most` at a time and
    /// together at most `most_bits` positions, with the place in the stratum from which their starts count, a multiple
    /// of 32. Stops when `visit` breaks.
    pub fn segments(
        &self,
        region: &Region,
        total: u32,
        [most, most_bits]: [usize; 2],
        visit: &mut dyn FnMut(u64, &[Segment]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let step = self.step();
        let mut segments = Vec::with_capacity(most.min(region.stratum_size(total) as usize));
        let (mut origin, mut place) = (0u64, 0u64);
        region.ordered_rows(total, &mut |row| {
            let mut cell = self.cell(row);
            let mut left = row.last - row.first + 1;
            while left > 0 {
                let length = left.min(LONGEST_SEGMENT);
                if segments.len() == most || place - origin + u64::from(length) > most_bits as u64 {
                    visit(origin, &segments)?;
                    segments.clear();
                    origin = place / 32 * 32;
                }
                segments.push(Segment { start: (place - origin) as u32, length, cell });
                place += u64::from(length);
                cell = cell.wrapping_add(length.wrapping_mul(step));
                left -= length;
            }
            ControlFlow::Continue(())
        })?;
        if segments.is_empty() { ControlFlow::Continue(()) } else { visit(origin, &segments) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Position;

    /// The cell of a position by the definition of its coordinates.
    fn cell(position: &Position, axes: [Coordinate; 2], shape: [u32; 2]) -> u32 {
        let [first, second] = axes.map(|axis| match axis {
            Coordinate::Heap(heap) => position.sizes()[position.sizes().len() - heap as usize],
            Coordinate::Total => position.total() as u32,
        });
        first * shape[1] + second
    }

    #[test]
    fn segments_hold_every_position_in_its_cell() {
        for (heaps, max, up_to) in [(1, 5, 9), (2, 700, 900), (3, 8, 99), (4, 5, 12), (5, 3, 99)] {
            let region = Region::new(heaps, max).unwrap().up_to_total(up_to);
            let coordinates = (1..=heaps).map(Coordinate::Heap).chain([Coordinate::Total]);
            let coordinates = coordinates.collect::<Vec<_>>();
            for axes in coordinates.iter().flat_map(|&one| coordinates.iter().map(move |&other| [one, other]))
            {
                let grid = Grid::new(&region, axes);
                for (total, limits) in region.strata().zip([[3, 300], [1, 256], [999, 9999]].iter().cycle()) {
                    let mut cells = Vec::new();
                    let _ = grid.segments(&region, total, *limits, &mut |origin, segments| {
                        assert!(segments.len() <= limits[0] && origin.is_multiple_of(32));
                        for segment in segments {
                            assert_eq!(origin + u64::from(segment.start), cells.len() as u64);
                            let step = |at: u32| segment.cell.wrapping_add(at.wrapping_mul(grid.step()));
                            cells.extend((0..segment.length).map(step));
                        }
                        ControlFlow::Continue(())
                    });
                    let expected = region.stratum(total).map(|position| cell(&position, axes, grid.shape()));
                    assert_eq!(cells, expected.collect::<Vec<_>>(), "{heaps} heaps, {axes:?}, total {total}");
                }
            }
        }
    }
}
