//! The shortest obvious solver, straight from the definition: any ruleset, any small region.
//!
//! It is here to be believed by reading it; every kernel is compared with it. Remoteness R (Steinhaus, Smith): a
//! terminal position has R = 0 in normal play and R = 1 in misère play. Otherwise, if some option has even R,
//! R = 1 + the least even R among the options, else R = 1 + the greatest R among them. A position is P exactly
//! when R is even.

use std::collections::HashMap;

use crate::game::{Position, Ruleset, legal_moves};
use crate::space::Region;

/// The remoteness of every position of the region. Memory: a hash map entry per position.
#[must_use]
pub fn remoteness(rules: &Ruleset, region: &Region) -> HashMap<Position, u32> {
    let mut solved: HashMap<Position, u32> = HashMap::new();
    for total in region.strata() {
        for position in region.stratum(total) {
            let options =
                legal_moves(rules, &position).into_iter().map(|one| solved[&one.to]).collect::<Vec<_>>();
            let least_even = options.iter().filter(|&&remoteness| remoteness % 2 == 0).min();
            let remoteness = match least_even.or(options.iter().max()) {
                Some(option) => option + 1,
                None => u32::from(rules.misere),
            };
            solved.insert(position, remoteness);
        }
    }
    solved
}

/// Whether each position of the region is a P-position, straight from the definition of P and N.
#[must_use]
pub fn verdicts(rules: &Ruleset, region: &Region) -> HashMap<Position, bool> {
    let mut solved: HashMap<Position, bool> = HashMap::new();
    for total in region.strata() {
        for position in region.stratum(total) {
            let moves = legal_moves(rules, &position);
            let terminal = moves.is_empty();
            let is_p = if terminal { !rules.misere } else { !moves.iter().any(|one| solved[&one.to]) };
            solved.insert(position, is_p);
        }
    }
    solved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remoteness_values_restored_from_the_literature() {
        let value = |sizes: &[u32], misere| {
            let rules =
                Ruleset::exact_slow(sizes.len() as u32, sizes.len() as u32 - 1).unwrap().with_misere(misere);
            let position = Position::new(sizes.to_vec());
            remoteness(&rules, &Region::new(rules.heaps, u64::from(position.largest())).unwrap())[&position]
        };
        assert_eq!([value(&[2, 3, 4], false), value(&[3, 5, 7], false)], [4, 7]);
        assert_eq!(
            [value(&[1, 1, 2], true), value(&[2, 2, 2, 3], true), value(&[3, 3, 3, 4], true)],
            [3, 3, 5]
        );
        assert_eq!([value(&[3, 4, 4, 5], true), value(&[5, 5, 6, 7], true)], [5, 7]);
    }

    #[test]
    fn a_position_is_p_exactly_when_its_remoteness_is_even() {
        for misere in [false, true] {
            for forbid in ["3k", "0", "4..9,12k+1"] {
                let rules = Ruleset::bounded_moore(3, 2).unwrap().with_misere(misere);
                let rules = rules.with_forbidden(forbid.parse().unwrap());
                let region = Region::new(3, 7).unwrap();
                let verdicts = verdicts(&rules, &region);
                for (position, remoteness) in remoteness(&rules, &region) {
                    assert_eq!(verdicts[&position], remoteness % 2 == 0, "{position} of {rules}");
                }
            }
        }
    }

    #[test]
    fn plain_nim_is_bouton() {
        let rules = Ruleset::forbidden_total_size(3).unwrap();
        for (position, is_p) in verdicts(&rules, &Region::new(3, 9).unwrap()) {
            assert_eq!(is_p, position.sizes().iter().fold(0, |sum, size| sum ^ size) == 0);
        }
    }
}
