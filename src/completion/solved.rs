//! Completions for any number of heaps, read from solved strata.

use std::collections::BTreeMap;

use super::{Bound, Completing};
use crate::error::{Error, Result};
use crate::game::{Position, Ruleset, Take};
use crate::solver::{Observer, Options, Solver, Watch};
use crate::space::{Region, Stratum, largest_cap_within};

/// The completions of multisets of heaps up to a cap, as far as they were observed.
pub struct Completions {
    heaps: u32,
    max: u32,
    of: BTreeMap<(u64, Position), Vec<u32>>,
}

impl Completions {
    /// Will collect the completions to `heaps` heaps of which all but one are up to `max`.
    #[must_use]
    pub fn new(heaps: u32, max: u32) -> Self {
        Self { heaps, max, of: BTreeMap::new() }
    }

    /// What completes a multiset: nothing, or one heap. (Several would contradict the theory; the claims check it.)
    #[must_use]
    pub fn of(&self, multiset: &Position) -> &[u32] {
        self.of.get(&(multiset.total(), multiset.clone())).map_or(&[], Vec::as_slice)
    }

    /// All multisets that have completions with them, by total and then in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = (&Position, &[u32])> {
        self.of.iter().map(|((_, multiset), completions)| (multiset, completions.as_slice()))
    }
}

impl Observer for Completions {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        if stratum.forbidden {
            return;
        }
        let found = stratum.fold_rows(Vec::new, |found, row| {
            found.extend(row.p_seconds().map(|second| row.position(second)));
        });
        for position in found.into_iter().flatten() {
            let sizes = position.sizes();
            for (index, &size) in sizes.iter().enumerate() {
                let others = Position::new([&sizes[..index], &sizes[index + 1..]].concat());
                let repeated = index > 0 && sizes[index - 1] == size;
                if !repeated && others.largest() <= self.max {
                    self.of.entry((others.total(), others)).or_default().push(size);
                }
            }
        }
    }
}

impl Completing for Completions {
    fn heaps(&self) -> u32 {
        self.heaps
    }

    fn max(&self) -> u32 {
        self.max
    }

    fn completion(&self, others: &[u32]) -> Option<u32> {
        self.of(&Position::new(others.to_vec())).first().copied()
    }

    fn multisets(&self) -> u64 {
        multisets(self.heaps, self.max.into()) as u64
    }

    fn completed(&self) -> u64 {
        self.of.len() as u64
    }

    fn greatest(&self) -> Option<u32> {
        self.of.values().flatten().copied().max()
    }
}

/// How many (n−1)-multisets of heaps up to `max` there are; more than can be counted is the greatest number.
fn multisets(heaps: u32, max: u64) -> u128 {
    let choose = (1..u128::from(heaps)).try_fold(1u128, |count, heap| {
        // C(max + i − 1, i − 1) · (max + i) is divisible by i.
        Some(count.checked_mul(u128::from(max) + heap)? / heap)
    });
    choose.unwrap_or(u128::MAX)
}

/// Bytes that [`Completions`] take at most, with those for finding out which region to solve.
#[must_use]
pub fn bytes(heaps: u32, max: u64) -> u128 {
    // An entry of the map, and two allocations.
    let entry = 160 + 8 * u128::from(heaps);
    let sums = u128::from(heaps) * u128::from(max);
    multisets(heaps, max).saturating_mul(entry).saturating_add(32 * sums)
}

/// The greatest cap up to `max` whose completions take no more bytes than these.
#[must_use]
pub fn largest_cap(heaps: u32, max: u64, available: u64) -> Option<u64> {
    let within = |max, limit| Some(bytes(heaps, max)).filter(|&bytes| bytes <= limit);
    largest_cap_within(max.min(u64::MAX - 1), available, within).0
}

/// The region in which all completions of (n−1)-multisets of heaps up to `max` lie; `None` when there are none.
///
/// # Errors
/// [`Error::NoKernel`] for a game in which a move is not any number of stones from one heap,
/// [`Error::CompletionSize`] for a cap whose region cannot be counted.
pub fn region(rules: &Ruleset, max: u64) -> Result<Option<Region>> {
    if rules.touch_most != 1 || rules.take != Take::Any {
        return Err(Error::NoKernel { what: format!("the completions of {rules}") });
    }
    region_up_to(rules, max).map_err(|error| match error {
        Error::Region { heaps, .. } => {
            let (mut low, mut high) = (0, max);
            while low + 1 < high {
                let middle = u64::midpoint(low, high);
                if region_up_to(rules, middle).is_ok() { low = middle } else { high = middle }
            }
            Error::CompletionSize { heaps, max: max.to_string(), largest: low }
        }
        other => other,
    })
}

fn region_up_to(rules: &Ruleset, max: u64) -> Result<Option<Region>> {
    // Refuses caps whose sums would take too long to list.
    Region::new(rules.heaps, max)?;
    let Some([greatest, last]) = extent(rules, max) else { return Ok(None) };
    Ok(Some(Region::new(rules.heaps, greatest)?.up_to_total(last)))
}

/// The greatest heap and the greatest total of that region.
fn extent(rules: &Ruleset, max: u64) -> Option<[u64; 2]> {
    let most_sum = u64::from(rules.heaps - 1) * max;
    let bound = Bound::new(rules, most_sum);
    let greatest = bound.greatest_heap(most_sum)?;
    let last = (0..=most_sum).filter_map(|sum| bound.greatest_total(sum)).max().unwrap_or(0);
    Some([greatest.max(max), last])
}

/// The greatest cap of heaps whose completions all lie in this region; `None` where not even that of empty heaps does.
#[must_use]
pub fn largest_within(rules: &Ruleset, region: &Region) -> Option<u64> {
    let last = u64::from(region.strata().end) - 1;
    let within = |max: u64| match extent(rules, max) {
        // No heap is greater than the total.
        Some([greatest, total]) => {
            let greatest = greatest.min(total);
            greatest <= region.max().into() && total.min(greatest * u64::from(rules.heaps)) <= last
        }
        None => true,
    };
    let (mut low, mut high) = (0, u64::from(region.max()));
    if !within(low) || within(high) {
        return within(low).then_some(high);
    }
    while low + 1 < high {
        let middle = u64::midpoint(low, high);
        if within(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

/// The completions of all (n−1)-multisets of heaps up to `max`, by solving n heaps as far as completions can lie.
///
/// # Errors
/// As [`region`], [`Solver::new`] and [`Solver::run`]; the region solved is larger than `max`, by the bound.
pub fn solve(rules: &Ruleset, max: u64, options: &Options, watch: &mut Watch<'_>) -> Result<Completions> {
    let region = region(rules, max)?;
    let mut completions = Completions::new(rules.heaps, max as u32);
    if let Some(region) = region {
        Solver::new(rules, &region, options)?.run(&mut [&mut completions], watch)?;
    }
    Ok(completions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multisets_are_counted_without_overflow() {
        assert_eq!([1, 2, 3, 4].map(|heaps| multisets(heaps, 6)), [1, 7, 28, 84]);
        assert_eq!(multisets(14, u64::MAX), u128::MAX);
        assert_eq!(bytes(14, u64::MAX), u128::MAX);
    }

    #[test]
    fn caps_whose_region_cannot_be_counted_are_refused_with_the_largest() {
        let rules = Ruleset::forbidden_total_size(14).unwrap();
        let Err(Error::CompletionSize { largest, .. }) = region(&rules, 100) else { panic!("accepted") };
        assert!(region(&rules, largest).is_ok() && region(&rules, largest + 1).is_err());
    }
}
