//! The CPU twins against the oracle, bit for bit, on random rulesets and regions.

mod common;

use std::ops::ControlFlow;

use nimstrata::backend::Backend;
use nimstrata::cpu::remoteness::Remoteness;
use nimstrata::cpu::take_one::TakeOne;
use nimstrata::game::Ruleset;
use nimstrata::observe::Digest;
use nimstrata::solver::Observer;
use nimstrata::space::{Cell, Region, Stratum, remoteness_cell};
use proptest::prelude::*;

proptest! {
    #![proptest_config(common::cases(400))]

    #[test]
    fn take_one_twin_agrees_with_the_oracle(case in common::take_one_case()) {
        let expected = common::oracle_bitmaps(&case);
        let mut solver = TakeOne::new(&case.rules, &case.region).unwrap();
        let mut solved = Vec::new();
        solver.run(true, &mut |stratum| {
            solved.push(common::canonical(stratum));
            ControlFlow::Continue(())
        }).unwrap();
        prop_assert_eq!(&solved, &expected);
        // A second run finds in the ring what the first one left there.
        solved.clear();
        solver.run(true, &mut |stratum| {
            solved.push(common::canonical(stratum));
            ControlFlow::Continue(())
        }).unwrap();
        prop_assert_eq!(solved, expected);
    }

    #[test]
    fn remoteness_twins_agree_with_the_oracle(case in common::take_one_case()) {
        let expected = common::oracle_remoteness(&case);
        let mut eight = Remoteness::<u8>::new(&case.rules, &case.region).unwrap();
        for _ in 0..2 {
            prop_assert_eq!(&common::solve_remoteness(&mut eight), &expected);
        }
        let mut sixteen = Remoteness::<u16>::new(&case.rules, &case.region).unwrap();
        prop_assert_eq!(common::solve_remoteness(&mut sixteen), expected);
    }
}

/// Both widths of keys give the same digest and counts.
fn eight_bits_agree_with_sixteen(rules: &Ruleset, region: &Region) {
    let last = u64::from(region.strata().end - 1);
    assert_eq!(remoteness_cell(rules, u64::from(region.max()), last), Some(Cell::Remoteness8), "{rules}");
    let solved = |backend: &mut dyn Backend| {
        let (mut digest, mut counts) = (Digest::default(), Vec::new());
        let mut visit = |stratum: &Stratum<'_>| {
            digest.observe(stratum);
            counts.push(stratum.p_positions);
            ControlFlow::Continue(())
        };
        backend.run(true, &mut visit).unwrap();
        (digest.hex(), counts)
    };
    let eight = solved(&mut Remoteness::<u8>::new(rules, region).unwrap());
    assert_eq!(eight, solved(&mut Remoteness::<u16>::new(rules, region).unwrap()), "{rules}");
}

#[test]
fn eight_bits_hold_a_remoteness_up_to_254() {
    let one_heap = |max, misere| {
        let rules = Ruleset::bounded_moore(1, 1).unwrap().with_misere(misere);
        eight_bits_agree_with_sixteen(&rules, &Region::new(1, max).unwrap());
    };
    one_heap(254, false);
    one_heap(253, true);
    let exact = Ruleset::exact_slow(4, 3).unwrap();
    eight_bits_agree_with_sixteen(&exact, &Region::new(4, 100).unwrap());
}

#[test]
fn more_p_positions_in_a_lane_than_eight_bits_count() {
    let rules = Ruleset::exact_slow(3, 3).unwrap();
    eight_bits_agree_with_sixteen(&rules, &Region::new(3, 700).unwrap().up_to_total(700));
}
