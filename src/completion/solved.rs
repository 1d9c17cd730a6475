//! Completions for any number of heaps, read from solved strata.

use std::collections::BTreeMap;

use super::Bound;
use crate::error::Result;
use crate::game::{Position, Ruleset};
use crate::solver::{Observer, Options, Solver, Watch};
use crate::space::{Region, Stratum};

/// The completions of multisets of heaps up to a cap, as far as they were observed.
pub struct Completions {
    max: u32,
    of: BTreeMap<(u64, Position), Vec<u32>>,
}

impl Completions {
    /// Will collect the completions of heaps up to `max`.
    #[must_use]
    pub fn new(max: u32) -> Self {
        Self { max, of: BTreeMap::new() }
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

/// The completions of all (n−1)-multisets of heaps up to `max`, by solving n heaps as far as completions can lie.
///
/// # Errors
/// As [`Region::new`], [`Solver::new`] and [`Solver::run`]; the region solved is larger than `max`, by the bound.
pub fn solve(rules: &Ruleset, max: u64, options: &Options, watch: &mut Watch<'_>) -> Result<Completions> {
    Region::new(rules.heaps, max)?;
    let most_sum = u64::from(rules.heaps - 1) * max;
    let bound = Bound::new(rules, most_sum);
    let mut completions = Completions::new(max as u32);
    if let Some(greatest) = bound.greatest_heap(most_sum) {
        let last = (0..=most_sum).filter_map(|sum| bound.greatest_total(sum)).max().unwrap_or(0);
        let region = Region::new(rules.heaps, greatest.max(max))?.up_to_total(last);
        Solver::new(rules, &region, options)?.run(&mut [&mut completions], watch)?;
    }
    Ok(completions)
}
