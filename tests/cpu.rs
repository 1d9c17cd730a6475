//! The CPU twins against the oracle, bit for bit, on random rulesets and regions.

mod common;

use std::ops::ControlFlow;

use nimstrata::backend::Backend;
use nimstrata::cpu::remoteness::Remoteness;
use nimstrata::cpu::take_one::TakeOne;
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
        prop_assert_eq!(solved, expected);
    }

    #[test]
    fn remoteness_twins_agree_with_the_oracle(case in common::take_one_case()) {
        let expected = common::oracle_remoteness(&case);
        let mut eight = Remoteness::<u8>::new(&case.rules, &case.region).unwrap();
        prop_assert_eq!(common::solve_remoteness(&mut eight), expected.clone());
        let mut sixteen = Remoteness::<u16>::new(&case.rules, &case.region).unwrap();
        prop_assert_eq!(common::solve_remoteness(&mut sixteen), expected);
    }
}
