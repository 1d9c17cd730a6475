//! The baseline against the oracle, position by position, on random rulesets and regions.

mod common;

use nimstrata::baseline::{self, Ranking};
use nimstrata::game::{Position, Ruleset, Take};
use nimstrata::oracle;
use nimstrata::space::Region;
use proptest::prelude::*;

/// Compares verdicts, counts, and that nothing outside the region has a value.
fn agrees_with_the_oracle(case: &common::Case, ranking: Ranking) {
    let solved = baseline::solve_with(&case.rules, &case.region, ranking).unwrap();
    let expected = oracle::verdicts(&case.rules, &case.region);
    for (position, &is_p) in &expected {
        assert_eq!(solved.is_p(position), Some(is_p), "{position} of {}", case.rules);
    }
    let p_positions = expected.values().filter(|&&is_p| is_p).count() as u64;
    assert_eq!((solved.positions, solved.p_positions), (expected.len() as u64, p_positions));
    let heaps = case.region.heaps() as usize;
    assert_eq!(solved.is_p(&Position::new(vec![case.region.max() + 1; heaps])), None);
    assert_eq!(solved.is_p(&Position::new(vec![0; heaps + 1])), None);
}

proptest! {
    #![proptest_config(common::cases(150))]

    #[test]
    fn take_one_verdicts(case in common::take_one_case()) {
        agrees_with_the_oracle(&case, Ranking::Sums);
        agrees_with_the_oracle(&case, Ranking::Differences);
    }

    #[test]
    fn single_heap_verdicts(case in common::single_heap_case(), most in 0u32..4) {
        agrees_with_the_oracle(&case, Ranking::Sums);
        if most > 0 {
            let rules = Ruleset { take: Take::UpTo(most), ..case.rules };
            agrees_with_the_oracle(&common::Case { rules, region: case.region }, Ranking::Sums);
        }
    }

    #[test]
    fn remoteness(case in common::take_one_case()) {
        let expected = oracle::remoteness(&case.rules, &case.region);
        for ranking in [Ranking::Sums, Ranking::Differences] {
            let solved = baseline::solve_remoteness_with(&case.rules, &case.region, ranking).unwrap();
            for (position, &remoteness) in &expected {
                prop_assert_eq!(solved.remoteness(position), Some(remoteness), "{} of {}", position, case.rules);
                prop_assert_eq!(solved.is_p(position), Some(remoteness % 2 == 0));
            }
            prop_assert_eq!(solved.positions, expected.len() as u64);
        }
    }
}

#[test]
fn rules_without_a_baseline_are_refused() {
    let moore = Ruleset::touching(4, 1, 2, Take::Any).unwrap();
    let region = Region::new(4, 5).unwrap();
    assert!(baseline::solve(&moore, &region).is_err());
    assert!(baseline::solve_remoteness(&Ruleset::forbidden_total_size(4).unwrap(), &region).is_err());
}
