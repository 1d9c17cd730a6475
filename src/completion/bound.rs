//! How far a completion can be.

use crate::game::Ruleset;

/// The totals at which completions of multisets with a sum up to some bound can lie.
pub struct Bound {
    /// Allowed totals in increasing order: all of them, or as many as any of the sums needs.
    allowed: Vec<u64>,
    /// How many more allowed totals than its sum a multiset may need.
    more: u64,
}

impl Bound {
    /// For all multisets with sums up to `most_sum`.
    #[must_use]
    pub fn new(rules: &Ruleset, most_sum: u64) -> Self {
        let more = 1 + u64::from(rules.misere);
        let mut allowed = Vec::new();
        let (mut next, mut left) = (0, most_sum + more);
        while left > 0
            && let Some(total) = rules.forbidden.next_allowed(next)
        {
            allowed.push(total);
            next = total + 1;
            left -= u64::from(total >= most_sum);
        }
        Self { allowed, more }
    }

    /// The greatest total that the completion of a multiset with this sum can have. `None` when no total from `sum`
    /// on is allowed.
    #[must_use]
    pub fn greatest_total(&self, sum: u64) -> Option<u64> {
        let first = self.allowed.partition_point(|&total| total < sum) as u64;
        let enough = self.allowed.get((first + sum + self.more - 1) as usize);
        enough.or(self.allowed.last()).copied().filter(|&total| total >= sum)
    }

    /// The greatest completion of any multiset with a sum up to `most_sum`; `None` when there is none at all.
    #[must_use]
    pub fn greatest_heap(&self, most_sum: u64) -> Option<u64> {
        (0..=most_sum).filter_map(|sum| Some(self.greatest_total(sum)? - sum)).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(forbid: &str, most_sum: u64) -> Bound {
        let rules = Ruleset::forbidden_total_size(3).unwrap();
        let rules = if forbid.is_empty() { rules } else { rules.with_forbidden(forbid.parse().unwrap()) };
        Bound::new(&rules, most_sum)
    }

    #[test]
    fn without_forbidden_totals_a_completion_is_at_most_the_sum() {
        let bound = bound("", 20);
        assert!((0..=20).all(|sum| bound.greatest_total(sum) == Some(2 * sum)));
        assert_eq!(bound.greatest_heap(20), Some(20));
    }

    #[test]
    fn forbidden_totals_push_completions_up_and_may_leave_none() {
        assert_eq!(bound("2k", 4).greatest_total(4), Some(13));
        assert_eq!(bound("k", 4).greatest_total(0), None);
        // Allowed totals 0, 1 and 2 only.
        assert_eq!(bound("k+3", 4).greatest_total(1), Some(2));
        assert_eq!(bound("k+3", 4).greatest_total(3), None);
        assert_eq!(bound("k+3", 4).greatest_heap(4), Some(1));
    }
}
