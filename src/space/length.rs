//! How long a game can last, which bounds its remoteness.

use super::Cell;
use crate::game::Ruleset;

/// The greatest remoteness that a position with heaps up to `max` and at most `total` stones may have.
///
/// A move takes at least one stone from each of at least a = [`Ruleset::touch_least`] heaps. So there are at most
/// total/a moves; and as any n − a + 1 of the n heaps are hit by every move, at most as many as there are stones in the
/// n − a + 1 smallest heaps, that is (n − a + 1)·max. Forbidden totals only take moves away. In misère play the
/// remoteness is one more than the number of moves.
#[must_use]
pub fn remoteness_bound(rules: &Ruleset, max: u64, total: u64) -> u64 {
    let (heaps, least) = (u64::from(rules.heaps), u64::from(rules.touch_least));
    let total = total.min(max.saturating_mul(heaps));
    let moves = (total / least).min(max.saturating_mul(heaps - least + 1));
    moves + u64::from(rules.misere)
}

/// The narrowest cell for the remoteness of all such positions; `None` where 16 bits are not known to be enough.
#[must_use]
pub fn remoteness_cell(rules: &Ruleset, max: u64, total: u64) -> Option<Cell> {
    Cell::for_remoteness(remoteness_bound(rules, max, total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle;
    use crate::space::Region;

    #[test]
    fn no_remoteness_is_above_the_bound_and_some_reach_it() {
        let mut reached = 0;
        for (heaps, least, most, max) in
            [(1, 1, 1, 9), (3, 1, 2, 5), (3, 2, 2, 6), (4, 3, 3, 5), (4, 4, 4, 5), (5, 2, 4, 3)]
        {
            for (misere, forbid) in [(false, ""), (true, ""), (true, "3k+1")] {
                let mut rules = Ruleset::touching(heaps, least, most, crate::game::Take::One)
                    .unwrap()
                    .with_misere(misere);
                if !forbid.is_empty() {
                    rules = rules.with_forbidden(forbid.parse().unwrap());
                }
                for total in [max * u64::from(heaps), max] {
                    let region = Region::new(heaps, max).unwrap().up_to_total(total);
                    let bound = remoteness_bound(&rules, max, total);
                    let greatest = oracle::remoteness(&rules, &region).into_values().max().unwrap();
                    assert!(
                        u64::from(greatest) <= bound,
                        "{rules} ≤ {max}, {total} stones: {greatest} > {bound}"
                    );
                    reached += usize::from(u64::from(greatest) == bound);
                }
            }
        }
        assert!(reached > 8, "the bound is loose: reached {reached} times");
    }

    #[test]
    fn cells_are_as_narrow_as_the_bound_allows() {
        let exact = Ruleset::exact_slow(4, 3).unwrap();
        assert_eq!(remoteness_bound(&exact, 300, u64::MAX), 400);
        assert_eq!(remoteness_cell(&exact, 190, u64::MAX), Some(Cell::Remoteness8));
        assert_eq!(remoteness_cell(&exact, 300, u64::MAX), Some(Cell::Remoteness16));
        assert_eq!(remoteness_cell(&exact, 300, 700), Some(Cell::Remoteness8));
        assert_eq!(remoteness_cell(&exact, 50_000, u64::MAX), None);
    }
}
