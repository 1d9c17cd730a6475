//! Regions: all positions with every heap at most a cap, and optionally a total at most a bound.

use std::ops::Range;

use super::count::{binomial, gaussian_binomial};
use crate::error::{Error, Result};

/// The greatest total of a region's full box. Kernels compute with totals in 32-bit signed integers.
const GREATEST_TOTAL: u64 = 1 << 30;

/// All multisets of `heaps` heaps with every heap at most [`max`](Self::max) and the total at most a bound.
#[derive(Clone, Debug)]
pub struct Region {
    heaps: u32,
    max: u32,
    last: u32,
    /// Sizes of the strata 0 ..= last; empty for one and two heaps, where a formula is shorter than the table.
    sizes: Vec<u64>,
    positions: u64,
}

impl Region {
    /// The full box: every heap at most `max`.
    ///
    /// # Errors
    /// [`Error::Region`] when the positions do not fit 64 bits or the greatest total does not fit 30.
    pub fn new(heaps: u32, max: u64) -> Result<Self> {
        if !countable(heaps, max) {
            let largest = largest_countable(heaps);
            return Err(Error::Region { heaps, max: max.to_string(), largest });
        }
        let last = max as u32 * heaps;
        let sizes =
            if heaps <= 2 { Vec::new() } else { gaussian_binomial(heaps, max as u32, u64::from(last)) };
        let mut region = Self { heaps, max: max as u32, last, sizes, positions: 0 };
        region.positions = binomial(max + u64::from(heaps), u64::from(heaps)).map_or(0, |count| count as u64);
        Ok(region)
    }

    /// The part of the region with totals at most `total`. No heap is larger than that either, so the cap falls with it.
    #[must_use]
    pub fn up_to_total(mut self, total: u64) -> Self {
        if total < u64::from(self.max)
            && let Ok(smaller) = Self::new(self.heaps, total)
        {
            self = smaller;
        }
        if total < u64::from(self.last) {
            self.last = total as u32;
            self.sizes.truncate(self.last as usize + 1);
            self.positions = self.strata().map(|total| self.stratum_size(total)).sum();
        }
        self
    }

    /// How many heaps, at least 1.
    #[must_use]
    pub fn heaps(&self) -> u32 {
        self.heaps
    }

    /// The greatest size of a heap.
    #[must_use]
    pub fn max(&self) -> u32 {
        self.max
    }

    /// The totals of the region's strata, from 0.
    #[must_use]
    pub fn strata(&self) -> Range<u32> {
        0..self.last + 1
    }

    /// The bound on the total, where it is one on some positions that the cap leaves.
    #[must_use]
    pub fn bound(&self) -> Option<u32> {
        (self.last < self.heaps * self.max).then_some(self.last)
    }

    /// Whether these are the same positions.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (self.heaps, self.max, self.last) == (other.heaps, other.max, other.last)
    }

    /// The number of positions of the region.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// The number of positions with this total; 0 outside the region.
    #[must_use]
    pub fn stratum_size(&self, total: u32) -> u64 {
        if total > self.last {
            return 0;
        }
        match self.heaps {
            1 => 1,
            2 => u64::from(total / 2 - total.saturating_sub(self.max) + 1),
            _ => self.sizes[total as usize],
        }
    }

    /// Bytes that the table of stratum sizes takes.
    pub(super) fn table_bytes(heaps: u32, max: u64) -> u128 {
        if heaps <= 2 { 0 } else { 8 * (u128::from(heaps) * u128::from(max) + 1) }
    }
}

/// Whether the full box can be counted and its totals computed with.
fn countable(heaps: u32, max: u64) -> bool {
    let heaps = u64::from(heaps);
    max <= GREATEST_TOTAL / heaps
        && binomial(max + heaps, heaps).is_some_and(|count| count <= u128::from(u64::MAX))
}

/// The greatest cap that is [`countable`].
fn largest_countable(heaps: u32) -> u64 {
    let (mut low, mut high) = (0, GREATEST_TOTAL + 1);
    while low + 1 < high {
        let middle = u64::midpoint(low, high);
        if countable(heaps, middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_populations() {
        for (heaps, max, positions) in [
            (5, 9, 2_002),
            (5, 11, 4_368),
            (5, 13, 8_568),
            (6, 7, 1_716),
            (5, 200, 2_872_408_791),
            (5, 400, 88_578_967_581),
            (4, 300, 348_881_876),
        ] {
            let region = Region::new(heaps, max).unwrap();
            assert_eq!(region.positions(), positions);
            assert_eq!(region.strata().map(|total| region.stratum_size(total)).sum::<u64>(), positions);
        }
    }

    #[test]
    fn absurd_caps_are_refused_with_the_largest_that_works() {
        for heaps in 1..=14 {
            let Err(Error::Region { largest, .. }) = Region::new(heaps, 1_000_000_000_000_000_000) else {
                panic!("{heaps} heaps up to 10^18 were accepted");
            };
            assert!(countable(heaps, largest) && !countable(heaps, largest + 1));
        }
        assert!(Region::new(3, u64::MAX).is_err());
    }

    #[test]
    fn a_bound_on_the_total_cuts_whole_strata() {
        let region = Region::new(3, 5).unwrap().up_to_total(4);
        assert_eq!(region.strata(), 0..5);
        assert_eq!(region.positions(), 1 + 1 + 2 + 3 + 4);
        assert_eq!(region.stratum_size(5), 0);
        assert_eq!(Region::new(2, 5).unwrap().up_to_total(99).positions(), 21);
        let clamped = Region::new(4, 1000).unwrap().up_to_total(6);
        assert_eq!(
            (clamped.max(), clamped.strata(), clamped.positions()),
            (6, 0..7, 1 + 1 + 2 + 3 + 5 + 6 + 9)
        );
    }
}
