//! The M-rule of NIM(n, n−1): its closed form against the oracle, against play step by step, and on huge heaps.

mod common;

use nimstrata::game::{
    BigPosition, MAnalysis, Position, Ruleset, legal_moves, m_analysis, m_kept, m_length, m_move, m_sequence,
    parse_big_position,
};
use nimstrata::oracle;
use nimstrata::space::Region;
use num_bigint::BigUint;
use proptest::prelude::*;

/// Every position of so many heaps of up to `max` stones.
fn positions(heaps: u32, max: u64) -> impl Iterator<Item = Position> {
    let region = Region::new(heaps, max).unwrap();
    region.strata().flat_map(move |total| region.stratum(total))
}

fn length(position: &Position) -> u64 {
    m_length(&position.into()).try_into().unwrap()
}

fn steps(position: &Position) -> u64 {
    m_sequence(position).count() as u64 - 1
}

#[test]
fn m_is_the_remoteness_and_the_m_move_is_optimal() {
    for (heaps, max) in [(2, 40), (3, 30), (4, 12), (5, 6), (6, 4)] {
        let rules = Ruleset::exact_slow(heaps, heaps - 1).unwrap();
        let solved = oracle::remoteness(&rules, &Region::new(heaps, max).unwrap());
        for (position, &remoteness) in &solved {
            assert_eq!(length(position), u64::from(remoteness), "{position}");
            match m_move(position) {
                Some(after) => assert_eq!(solved[&after] + 1, remoteness, "{position}"),
                None => assert_eq!(legal_moves(&rules, position), [], "{position}"),
            }
        }
    }
}

#[test]
fn an_analysis_lists_the_legal_moves_with_their_remoteness() {
    for (heaps, max) in [(2, 12), (3, 12), (4, 8), (5, 5)] {
        let rules = Ruleset::exact_slow(heaps, heaps - 1).unwrap();
        let solved = oracle::remoteness(&rules, &Region::new(heaps, max).unwrap());
        for (position, &remoteness) in &solved {
            let analysis = m_analysis(&position.into());
            assert_eq!(analysis.is_p(), remoteness % 2 == 0, "{position}");
            let moves = legal_moves(&rules, position);
            let listed = analysis.options.iter().map(|option| option.to.small().unwrap()).collect::<Vec<_>>();
            assert_eq!(listed, moves.iter().map(|one| one.to.clone()).collect::<Vec<_>>(), "{position}");
            for (option, one) in analysis.options.iter().zip(&moves) {
                let after = solved[&one.to];
                assert_eq!(option.length, after.into(), "{position}");
                assert_eq!(option.optimal, after + 1 == remoteness, "{position}");
                assert_eq!(option.m_move, m_move(position).as_ref() == Some(&one.to), "{position}");
                let kept = one.removed.iter().position(|&stones| stones == 0).unwrap();
                assert_eq!(position.sizes()[option.kept], position.sizes()[kept], "{position}");
            }
        }
    }
}

#[test]
fn every_m_move_shortens_m_by_one() {
    for (heaps, max) in [(2, 100), (3, 60), (4, 30), (5, 16), (6, 12), (7, 8), (8, 6)] {
        for position in positions(heaps, max) {
            let expected = m_move(&position).map_or(0, |after| length(&after) + 1);
            assert_eq!(length(&position), expected, "{position}");
        }
    }
}

#[test]
fn two_m_moves_keep_a_lowest_level_and_lower_the_others() {
    let levels =
        |position: &Position| Position::new(position.sizes().iter().map(|size| size / 2).collect::<Vec<_>>());
    for position in positions(5, 11).filter(|position| position.sizes().iter().any(|size| size % 2 == 0)) {
        let mut lowered = levels(&position).sizes().to_vec();
        if lowered[1] == 0 {
            continue;
        }
        lowered[1..].iter_mut().for_each(|level| *level -= 1);
        let after = m_sequence(&position).nth(2).unwrap();
        assert_eq!(levels(&after), Position::new(lowered), "{position}");
    }
}

#[test]
fn the_strict_rule_keeps_the_largest_index() {
    let kept = |sizes: &[u32]| m_kept(&Position::new(sizes.to_vec()));
    assert_eq!(kept(&[1, 2, 2, 2, 4]), Some(3));
    assert_eq!(kept(&[1, 3, 3]), Some(2));
    assert_eq!(kept(&[0, 1, 2]), Some(0));
    assert_eq!([kept(&[0, 0, 2]), kept(&[4]), kept(&[])], [None; 3]);
    let sequence = m_sequence(&Position::new(vec![2, 3, 4])).map(|one| one.to_string()).collect::<Vec<_>>();
    assert_eq!(sequence, ["(2,3,4)", "(2,2,3)", "(1,2,2)", "(0,1,2)", "(0,0,1)"]);
}

#[test]
fn values_restored_from_the_literature_and_fewer_than_two_heaps() {
    for (sizes, expected) in [(&[2, 3, 4][..], 4), (&[3, 5, 7], 7), (&[7], 0), (&[], 0), (&[3, 4], 7)] {
        assert_eq!(length(&Position::new(sizes.to_vec())), expected, "{sizes:?}");
    }
}

proptest! {
    #![proptest_config(common::cases(2000))]

    #[test]
    fn m_counts_the_moves_played_step_by_step(sizes in prop::collection::vec(0u32..=200, 3..=8)) {
        let position = Position::new(sizes);
        prop_assert_eq!(length(&position), steps(&position));
    }
}

proptest! {
    #![proptest_config(common::cases(100))]

    #[test]
    fn m_counts_the_moves_played_on_heaps_of_thousands(
        base in 0u32..50_000,
        spread in prop_oneof![Just(3u32), Just(200), Just(50_000)],
        offsets in prop::collection::vec(any::<prop::sample::Index>(), 2..=12),
    ) {
        let position =
            Position::new(offsets.iter().map(|offset| base + offset.index(spread as usize) as u32).collect());
        prop_assert_eq!(length(&position), steps(&position));
    }
}

/// The definition of remoteness: one more than the least even value of an option, else than the greatest.
fn remoteness_from_options(analysis: &MAnalysis) -> BigUint {
    let values = analysis.options.iter().map(|option| &option.length);
    let least_even = values.clone().filter(|value| !value.bit(0)).min();
    least_even.or(values.max()).map_or(BigUint::ZERO, |value| value + 1u32)
}

/// Checks one position against its options and plays optimally on from it for some moves, checking each.
fn assert_consistent(position: BigPosition) {
    let mut position = position;
    for _ in 0..12 {
        let analysis = m_analysis(&position);
        assert_eq!(analysis.length, remoteness_from_options(&analysis), "{position}");
        let Some(m_move) = analysis.options.into_iter().find(|option| option.m_move) else { return };
        assert!(m_move.optimal, "{position}");
        position = m_move.to;
    }
}

fn ten_to_the_thirty_times(count: u32) -> BigUint {
    BigUint::from(10u32).pow(30) * count
}

#[test]
fn heaps_of_ten_to_the_thirty_and_beyond_are_answered() {
    let near =
        |range: std::ops::Range<u32>| range.map(|more| ten_to_the_thirty_times(1) + more).collect::<Vec<_>>();
    let with = |small: Vec<u32>, large: Vec<BigUint>| {
        BigPosition::new(small.into_iter().map(BigUint::from).chain(large).collect())
    };
    assert_consistent(with(vec![], near(0..10)));
    assert_consistent(with(vec![0; 9], near(0..1)));
    assert_consistent(with(vec![0], near(0..9)));
    assert_consistent(with(vec![], vec![ten_to_the_thirty_times(1); 10]));
    assert_consistent(with(vec![1], vec![ten_to_the_thirty_times(1); 2]));
    assert_consistent(with(vec![], (1..=12).map(ten_to_the_thirty_times).collect()));
    assert_consistent(with(vec![], (0..120).map(|power| BigUint::from(1u32) << power).collect()));
    // Were any loop to run over moves or stones, this would not end.
    assert_consistent(with(vec![], (0..40u32).map(|heap| (BigUint::from(1u32) << 100_000) + heap).collect()));
}

#[test]
fn ten_heaps_from_ten_to_the_thirty() {
    let text = (0..10).map(|more| format!("1{more:030}")).collect::<Vec<_>>().join(",");
    let position = parse_big_position(&text, 10).unwrap();
    assert_eq!(m_length(&position).to_string(), "1111111111111111111111111111115");
}

proptest! {
    #![proptest_config(common::cases(300))]

    #[test]
    fn huge_positions_satisfy_the_recursion_of_remoteness(
        digits in 1u32..100,
        heaps in prop::collection::vec((0u32..4, any::<u64>(), any::<[u64; 5]>()), 2..=50),
    ) {
        let scale = BigUint::from(10u32).pow(digits);
        // Near 0, near the scale, near its half, or anywhere below it.
        let size = |(kind, offset, random): (u32, u64, [u64; 5])| match kind {
            0 => BigUint::from(offset % 7),
            1 => &scale + offset % 50,
            2 => &scale / 2u32 + offset % 50,
            _ => random.iter().fold(BigUint::ZERO, |sum, &word| (sum << 64u32) + word) % &scale,
        };
        assert_consistent(BigPosition::new(heaps.into_iter().map(size).collect()));
    }
}
