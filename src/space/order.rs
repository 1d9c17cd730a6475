//! Canonical order inside a stratum: nondecreasing tuples in lexicographic order.

use std::ops::ControlFlow;

use super::Region;
use super::count::{Counts, count_tuples};
use crate::game::Position;

impl Region {
    /// The positions of one stratum in canonical order; none outside the region.
    pub fn stratum(&self, total: u32) -> impl Iterator<Item = Position> + use<> {
        let (heaps, cap) = (self.heaps() as usize, self.max());
        let first = self.strata().contains(&total).then(|| least_tuple(heaps, 0, cap, total)).flatten();
        std::iter::successors(first, move |sizes| successor(sizes, cap)).map(Position::new)
    }

    /// The place of a position among those of its stratum, from 0, in canonical order. `None` outside the region.
    #[must_use]
    pub fn rank(&self, position: &Position) -> Option<u64> {
        let sizes = position.sizes();
        let total = u32::try_from(position.total()).ok()?;
        if sizes.len() != self.heaps() as usize
            || position.largest() > self.max()
            || !self.strata().contains(&total)
        {
            return None;
        }
        Some(rank(sizes, self.max(), count_tuples))
    }

    /// The position at place `rank` of a stratum. `None` when the stratum has fewer positions.
    #[must_use]
    pub fn unrank(&self, total: u32, rank: u64) -> Option<Position> {
        let inside = rank < self.stratum_size(total);
        inside.then(|| unrank(self.heaps(), self.max(), total, rank, count_tuples))
    }
}

/// Ranks many positions of a region: [`Region::rank`] with the counting done once.
pub struct Ranks {
    region: Region,
    counts: Counts,
}

impl Ranks {
    /// For the positions of this region. Takes 4·heaps²·max bytes, about.
    #[must_use]
    pub fn new(region: &Region) -> Self {
        Self { region: region.clone(), counts: Counts::new(region.heaps(), region.max()) }
    }

    /// The total and the rank of the position with these heap sizes, smallest first. `None` outside the region.
    #[must_use]
    pub fn place(&self, sizes: &[u32]) -> Option<(u32, u64)> {
        let total = u32::try_from(sizes.iter().map(|&size| u64::from(size)).sum::<u64>()).ok()?;
        let inside = sizes.len() == self.region.heaps() as usize
            && sizes.last().is_some_and(|&largest| largest <= self.region.max())
            && self.region.strata().contains(&total);
        let count = |parts, cap, total| self.counts.count(parts, cap, total);
        inside.then(|| (total, rank(sizes, self.region.max(), count)))
    }

    /// As [`Region::unrank`].
    #[must_use]
    pub fn position(&self, total: u32, rank: u64) -> Option<Position> {
        let region = &self.region;
        let count = |parts, cap, total| self.counts.count(parts, cap, total);
        let inside = rank < region.stratum_size(total);
        inside.then(|| unrank(region.heaps(), region.max(), total, rank, count))
    }
}

/// The nondecreasing tuple of `heaps` numbers up to `cap` with this sum and rank, which there must be: [`rank`] backwards.
fn unrank(heaps: u32, cap: u32, total: u32, mut rank: u64, count: impl Fn(u32, u32, u64) -> u64) -> Position {
    let (mut sizes, mut least, mut rest) = (Vec::with_capacity(heaps as usize), 0, total);
    for parts in (2..=heaps).rev() {
        let at_least = |size: u32| count(parts, cap - size, u64::from(rest - size * parts));
        // Tuples whose next heap is smaller than the one that is looked for: the greatest number of them up to the rank.
        let smaller = |size: u32| at_least(least) - at_least(size);
        let (mut low, mut high) = (least, (rest / parts).min(cap) + 1);
        while low + 1 < high {
            let middle = low.midpoint(high);
            if smaller(middle) <= rank { low = middle } else { high = middle }
        }
        rank -= smaller(low);
        sizes.push(low);
        least = low;
        rest -= low;
    }
    sizes.push(rest);
    Position::new(sizes)
}

/// The rank of a nondecreasing tuple of numbers up to `cap` among those with the same sum. `count` counts tuples as
/// [`count_tuples`] does.
///
/// With the heaps before it given, heap i can be any number from the heap before on; so the tuples before this one at
/// heap i are those with heap i, and hence all after it, at least that one, less those with all at least the size it has.
fn rank(sizes: &[u32], cap: u32, count: impl Fn(u32, u32, u64) -> u64) -> u64 {
    let (mut rank, mut least) = (0, 0);
    let mut rest = sizes.iter().map(|&size| u64::from(size)).sum::<u64>();
    for (&size, parts) in sizes.iter().zip((2..=sizes.len() as u32).rev()) {
        let at_least = |least: u32| {
            let sum = rest.checked_sub(u64::from(least) * u64::from(parts));
            sum.map_or(0, |sum| count(parts, cap - least, sum))
        };
        if size > least {
            rank += at_least(least) - at_least(size);
        }
        least = size;
        rest -= u64::from(size);
    }
    rank
}

/// All positions of a stratum that agree in every heap but the two largest: neighbours in canonical order, x₂ ascending.
pub struct OrderedRow<'a> {
    /// xₙ … x₃, smallest first.
    pub smaller: &'a [u32],
    /// The stones in the two largest heaps together.
    pub rest: u32,
    /// The first value of x₂ (0 in a game of one heap, which has no x₂).
    pub first: u32,
    /// The last value of x₂.
    pub last: u32,
}

impl Region {
    /// Visits the rows of a stratum in canonical order until `visit` breaks.
    pub fn ordered_rows(
        &self,
        total: u32,
        visit: &mut dyn FnMut(&OrderedRow<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self.heaps() {
            _ if !self.strata().contains(&total) => ControlFlow::Continue(()),
            1 => visit(&OrderedRow { smaller: &[], rest: total, first: 0, last: 0 }),
            heaps => self.rows_after(&mut Vec::with_capacity(heaps as usize), total, visit),
        }
    }

    /// Visits the rows whose smallest heaps are these; the others together have `rest` stones, which is possible.
    fn rows_after(
        &self,
        smaller: &mut Vec<u32>,
        rest: u32,
        visit: &mut dyn FnMut(&OrderedRow<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let larger = self.heaps() - smaller.len() as u32 - 1;
        let (least, cap) = (smaller.last().copied().unwrap_or(0), self.max());
        // All larger heaps are at least as large, and none is above the cap.
        let (first, last) = (least.max(rest.saturating_sub(larger * cap)), rest / (larger + 1));
        if larger == 1 {
            return visit(&OrderedRow { smaller, rest, first, last });
        }
        for size in first..=last {
            smaller.push(size);
            self.rows_after(smaller, rest - size, visit)?;
            smaller.pop();
        }
        ControlFlow::Continue(())
    }
}

/// The lexicographically least nondecreasing tuple of `parts` numbers from `least` to `cap` with this sum.
fn least_tuple(parts: usize, least: u32, cap: u32, sum: u32) -> Option<Vec<u32>> {
    let (parts_wide, least_wide, cap_wide) = (parts as u64, u64::from(least), u64::from(cap));
    if u64::from(sum) < parts_wide * least_wide || u64::from(sum) > parts_wide * cap_wide {
        return None;
    }
    let mut tuple = vec![least; parts];
    let mut rest = sum - least * parts as u32;
    for part in tuple.iter_mut().rev() {
        let step = rest.min(cap - least);
        *part += step;
        rest -= step;
    }
    Some(tuple)
}

/// The next nondecreasing tuple with the same sum and no number above `cap`.
fn successor(tuple: &[u32], cap: u32) -> Option<Vec<u32>> {
    let mut rest = 0;
    for index in (0..tuple.len()).rev() {
        rest += tuple[index];
        let parts = tuple.len() - index - 1;
        let raised = tuple[index] + 1;
        if parts > 0
            && rest >= raised
            && let Some(tail) = least_tuple(parts, raised, cap, rest - raised)
        {
            return Some([&tuple[..index], &[raised], &tail].concat());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every nondecreasing tuple with the sum, in lexicographic order, by listing all tuples.
    fn listed(heaps: usize, max: u32, total: u32) -> Vec<Vec<u32>> {
        let mut tuples = vec![Vec::new()];
        for _ in 0..heaps {
            tuples = tuples
                .into_iter()
                .flat_map(|tuple: Vec<u32>| {
                    let least = tuple.last().copied().unwrap_or(0);
                    (least..=max).map(move |size| [tuple.as_slice(), &[size]].concat())
                })
                .collect();
        }
        tuples.retain(|tuple| tuple.iter().sum::<u32>() == total);
        tuples
    }

    #[test]
    fn strata_rank_and_unrank_follow_the_definition() {
        for (heaps, max) in [(1, 6), (2, 5), (3, 4), (4, 4), (6, 2), (3, 0)] {
            let region = Region::new(heaps, max).unwrap();
            let ranks = Ranks::new(&region);
            for total in region.strata() {
                let expected = listed(heaps as usize, max as u32, total);
                let actual =
                    region.stratum(total).map(|position| position.sizes().to_vec()).collect::<Vec<_>>();
                assert_eq!(actual, expected, "{heaps} heaps ≤ {max}, total {total}");
                for (rank, sizes) in expected.into_iter().enumerate() {
                    let position = Position::new(sizes);
                    assert_eq!(region.rank(&position), Some(rank as u64));
                    assert_eq!(ranks.place(position.sizes()), Some((total, rank as u64)));
                    assert_eq!(ranks.position(total, rank as u64).as_ref(), Some(&position));
                    assert_eq!(region.unrank(total, rank as u64), Some(position));
                }
                assert_eq!(region.unrank(total, actual.len() as u64), None);
            }
        }
    }

    #[test]
    fn nothing_outside_the_region_has_a_rank() {
        let region = Region::new(3, 5).unwrap().up_to_total(8);
        for sizes in [vec![1, 2, 6], vec![1, 2], vec![3, 3, 3]] {
            assert_eq!(Ranks::new(&region).place(&sizes), None);
            assert_eq!(region.rank(&Position::new(sizes)), None);
        }
        assert_eq!(region.stratum(9).count(), 0);
    }

    #[test]
    fn rows_are_the_stratum_in_canonical_order() {
        for (heaps, max, up_to) in [(1, 6, 9), (2, 5, 7), (3, 4, 99), (4, 5, 11), (6, 3, 99), (3, 0, 0)] {
            let region = Region::new(heaps, max).unwrap().up_to_total(up_to);
            for total in 0..region.strata().end + 2 {
                let mut positions = Vec::new();
                let _ = region.ordered_rows(total, &mut |row| {
                    for second in row.first..=row.last {
                        let larger = [second, row.rest - second];
                        let larger = &larger[usize::from(heaps == 1)..];
                        positions.push(Position::new([row.smaller, larger].concat()));
                    }
                    ControlFlow::Continue(())
                });
                assert_eq!(positions, region.stratum(total).collect::<Vec<_>>(), "{heaps} heaps, {total}");
            }
        }
    }

    #[test]
    fn ranks_of_large_regions_are_found_without_listing() {
        let region = Region::new(5, 200).unwrap();
        let ranks = Ranks::new(&region);
        for (total, rank) in [(500, 0), (500, 1_234_567), (333, 777_777), (1000, 0)] {
            let position = region.unrank(total, rank).unwrap();
            assert_eq!(region.rank(&position), Some(rank));
            assert_eq!(ranks.place(position.sizes()), Some((total, rank)));
        }
    }
}
