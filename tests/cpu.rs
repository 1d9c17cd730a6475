//! The CPU twins against the oracle, bit for bit, on random rulesets and regions.

mod common;

use std::collections::HashSet;
use std::ops::ControlFlow;

use nimstrata::backend::Backend;
use nimstrata::baseline;
use nimstrata::cpu::remoteness::Remoteness;
use nimstrata::cpu::sieve::Sieve;
use nimstrata::cpu::take_one::TakeOne;
use nimstrata::game::Ruleset;
use nimstrata::observe::Digest;
use nimstrata::solver::Observer;
use nimstrata::space::{Cell, Region, Stratum, remoteness_cell};
use proptest::prelude::*;

/// The canonical bitmaps of all strata that a backend solves.
fn solve(backend: &mut dyn Backend) -> Vec<Vec<u8>> {
    let mut solved = Vec::new();
    let mut keep = |stratum: &Stratum<'_>| {
        solved.push(common::canonical(stratum));
        ControlFlow::Continue(())
    };
    backend.run(true, &mut keep).unwrap();
    solved
}

/// The P-positions of each stratum, counted without reading any back.
fn count(backend: &mut dyn Backend) -> Vec<u64> {
    let mut counts = Vec::new();
    let mut keep = |stratum: &Stratum<'_>| {
        counts.push(stratum.p_positions);
        ControlFlow::Continue(())
    };
    backend.run(false, &mut keep).unwrap();
    counts
}

/// The bitmaps of a single-heap game, one position after the other: a line is taken once it holds a P₁. For regions
/// beyond the oracle's reach.
fn by_lines(case: &common::Case) -> Vec<Vec<u8>> {
    let mut taken = HashSet::new();
    let mut last_allowed = None;
    let mut solve = |total: u32| {
        let forbidden = case.rules.forbidden.contains(u64::from(total));
        let mut bitmap = vec![0u8; case.region.stratum_size(total).div_ceil(8) as usize];
        for (index, position) in case.region.stratum(total).enumerate() {
            let sizes = position.sizes();
            let lines = || (0..sizes.len()).map(|out| [&sizes[..out], &sizes[out + 1..]].concat());
            let terminal = last_allowed.is_none_or(|allowed| position.largest() < total - allowed);
            if (case.rules.misere && terminal) || lines().any(|line| taken.contains(&line)) {
                continue;
            }
            bitmap[index / 8] |= 1 << (index % 8);
            if !forbidden {
                taken.extend(lines());
            }
        }
        last_allowed = if forbidden { last_allowed } else { Some(total) };
        bitmap
    };
    case.region.strata().map(&mut solve).collect()
}

proptest! {
    #![proptest_config(common::cases(20))]

    #[test]
    fn take_one_twin_agrees_with_the_baseline_where_rows_are_long(
        case in common::long_take_one_case(),
        task_words in prop_oneof![Just(1), 20u64..2000, Just(1 << 15)],
    ) {
        let mut twin = TakeOne::new(&case.rules, &case.region).unwrap().with_task_words(task_words);
        let solved = baseline::solve(&case.rules, &case.region).unwrap();
        for (total, bitmap) in case.region.strata().zip(solve(&mut twin)) {
            for (index, position) in case.region.stratum(total).enumerate() {
                let is_p = bitmap[index / 8] >> (index % 8) & 1 == 1;
                prop_assert_eq!(Some(is_p), solved.is_p(&position), "{} of {}", position, case.rules);
            }
        }
    }

    #[test]
    fn sieve_twin_agrees_with_a_plain_sieve_where_rows_are_long(case in common::long_single_heap_case()) {
        let mut twin = Sieve::new(&case.rules, &case.region).unwrap().with_task_positions(1000);
        prop_assert_eq!(solve(&mut twin), by_lines(&case));
    }
}

proptest! {
    #![proptest_config(common::cases(400))]

    #[test]
    fn take_one_twin_agrees_with_the_oracle(
        case in common::take_one_case(),
        // Tasks of one block each, of a few, and of all.
        task_words in prop_oneof![Just(1), 20u64..200, Just(1 << 15)],
    ) {
        let mut twin = TakeOne::new(&case.rules, &case.region).unwrap().with_task_words(task_words);
        let expected = common::oracle_bitmaps(&case);
        prop_assert_eq!(&solve(&mut twin), &expected);
        // A second run finds in the ring what the first one left there.
        prop_assert_eq!(solve(&mut twin), expected);
    }

    #[test]
    fn remoteness_twins_agree_with_the_oracle(
        case in common::take_one_case(),
        task_words in prop_oneof![Just(1), 20u64..200, Just(1 << 15)],
    ) {
        let expected = common::oracle_remoteness(&case);
        let mut eight = Remoteness::<u8>::new(&case.rules, &case.region).unwrap().with_task_words(task_words);
        for _ in 0..2 {
            prop_assert_eq!(&common::solve_remoteness(&mut eight), &expected);
        }
        let mut sixteen = Remoteness::<u16>::new(&case.rules, &case.region).unwrap().with_task_words(task_words);
        prop_assert_eq!(common::solve_remoteness(&mut sixteen), expected);
    }

    #[test]
    fn sieve_twin_agrees_with_the_oracle(
        case in common::single_heap_case(),
        // Tasks of one slab or row each, of a few, and of all.
        task_positions in prop_oneof![Just(1), 20u64..200, Just(1 << 21)],
    ) {
        let mut twin = Sieve::new(&case.rules, &case.region).unwrap().with_task_positions(task_positions);
        let expected = common::oracle_bitmaps(&case);
        let ones = |bitmap: &Vec<u8>| bitmap.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
        prop_assert_eq!(count(&mut twin), expected.iter().map(ones).collect::<Vec<_>>());
        prop_assert_eq!(solve(&mut twin), expected);
    }
}

proptest! {
    #![proptest_config(common::cases(200))]

    #[test]
    fn a_stopped_run_goes_on_as_if_it_had_not_been(
        take_one in common::take_one_case(),
        single in common::single_heap_case(),
        stop in 0usize..40,
        bits in any::<bool>(),
    ) {
        fn check(mut backends: [Box<dyn Backend>; 2], bits: bool, stop: usize) {
            let [first, second] = &mut backends;
            let expected = common::undisturbed(&mut **first, bits);
            let resumed = common::stopped_and_resumed(&mut **first, &mut **second, bits, stop);
            assert_eq!(resumed, [expected.clone(), expected]);
        }
        let (rules, region) = (&take_one.rules, &take_one.region);
        check([(); 2].map(|()| Box::new(TakeOne::new(rules, region).unwrap()) as Box<dyn Backend>), bits, stop);
        check([(); 2].map(|()| Box::new(Remoteness::<u16>::new(rules, region).unwrap()) as Box<dyn Backend>), bits, stop);
        let (rules, region) = (&single.rules, &single.region);
        check([(); 2].map(|()| Box::new(Sieve::new(rules, region).unwrap()) as Box<dyn Backend>), bits, stop);
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
