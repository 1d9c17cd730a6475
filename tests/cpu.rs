//! The CPU twins against the oracle, bit for bit, on random rulesets and regions.

mod common;

use std::ops::ControlFlow;

use nimstrata::backend::Backend;
use nimstrata::cpu::take_one::TakeOne;
use proptest::prelude::*;

proptest! {
    #![proptest_config(common::cases(400))]

    #[test]
    fn take_one_twin_agrees_with_the_oracle(
        case in common::take_one_case(),
        // Tasks of one block each, of a few, and of all.
        task_words in prop_oneof![Just(1), 20u64..200, Just(1 << 15)],
    ) {
        let expected = common::oracle_bitmaps(&case);
        let mut solver = TakeOne::new(&case.rules, &case.region).unwrap().with_task_words(task_words);
        let mut solved = Vec::new();
        solver.run(true, &mut |stratum| {
            solved.push(common::canonical(stratum));
            ControlFlow::Continue(())
        }).unwrap();
        prop_assert_eq!(solved, expected);
    }
}
