//! Canonical order inside a stratum: nondecreasing tuples in lexicographic order.

use super::Region;
use super::count::count_tuples;
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
        let (mut rank, mut least, mut rest) = (0, 0, position.total());
        for (index, &size) in sizes.iter().enumerate() {
            for smaller in least..size {
                rank += self.completions(index, smaller, rest);
            }
            least = size;
            rest -= u64::from(size);
        }
        Some(rank)
    }

    /// The position at place `rank` of a stratum. `None` when the stratum has fewer positions.
    #[must_use]
    pub fn unrank(&self, total: u32, mut rank: u64) -> Option<Position> {
        if rank >= self.stratum_size(total) {
            return None;
        }
        let (mut sizes, mut least, mut rest) = (Vec::new(), 0, u64::from(total));
        for index in 0..self.heaps() as usize {
            loop {
                let here = self.completions(index, least, rest);
                if rank < here {
                    break;
                }
                rank -= here;
                least += 1;
            }
            sizes.push(least);
            rest -= u64::from(least);
        }
        Some(Position::new(sizes))
    }

    /// How many ways there are to choose heap `index` as `size` and the larger heaps so that they sum to `rest`.
    fn completions(&self, index: usize, size: u32, rest: u64) -> u64 {
        let larger = self.heaps() - index as u32 - 1;
        let least = u64::from(size) * u64::from(larger + 1);
        if size > self.max() || rest < least {
            0
        } else {
            count_tuples(larger, self.max() - size, rest - least)
        }
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
            for total in region.strata() {
                let expected = listed(heaps as usize, max as u32, total);
                let actual =
                    region.stratum(total).map(|position| position.sizes().to_vec()).collect::<Vec<_>>();
                assert_eq!(actual, expected, "{heaps} heaps ≤ {max}, total {total}");
                for (rank, sizes) in expected.into_iter().enumerate() {
                    let position = Position::new(sizes);
                    assert_eq!(region.rank(&position), Some(rank as u64));
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
            assert_eq!(region.rank(&Position::new(sizes)), None);
        }
        assert_eq!(region.stratum(9).count(), 0);
    }

    #[test]
    fn ranks_of_large_regions_are_found_without_listing() {
        let region = Region::new(5, 200).unwrap();
        for (total, rank) in [(500, 0), (500, 1_234_567), (333, 777_777), (1000, 0)] {
            let position = region.unrank(total, rank).unwrap();
            assert_eq!(region.rank(&position), Some(rank));
        }
    }
}
