//! Remoteness of positions that the literature gives, through the whole solver, and M(x) where it is one.

use std::ops::ControlFlow;

use nimstrata::game::{BigPosition, Position, Ruleset, m_length};
use nimstrata::observe::{Distribution, Lookup};
use nimstrata::solver::{BackendChoice, Observer, Options, Quantity, Solver};
use nimstrata::space::{Region, Stratum};

fn solve(rules: &Ruleset, region: &Region, observer: &mut dyn Observer) {
    let options =
        Options { backend: BackendChoice::Cpu, quantity: Quantity::Remoteness, ..Options::default() };
    let mut solver = Solver::new(rules, region, &options).unwrap();
    solver.run(&mut [observer], &mut |_| ControlFlow::Continue(())).unwrap();
}

#[test]
fn remoteness_values_restored_from_the_literature() {
    for (sizes, misere, remoteness) in [
        (&[2u32, 3, 4] as &[u32], false, 4),
        (&[3, 5, 7], false, 7),
        (&[1, 1, 2], true, 3),
        (&[2, 2, 2, 3], true, 3),
        (&[3, 3, 3, 4], true, 5),
        (&[3, 4, 4, 5], true, 5),
        (&[5, 5, 6, 7], true, 7),
    ] {
        let heaps = sizes.len() as u32;
        let rules = Ruleset::exact_slow(heaps, heaps - 1).unwrap().with_misere(misere);
        let position = Position::new(sizes.to_vec());
        let mut lookup = Lookup::new([position.clone()]);
        solve(&rules, &Region::new(heaps, 9).unwrap(), &mut lookup);
        assert_eq!(lookup.remoteness(&position), Some(remoteness), "{position}");
        assert_eq!(lookup.is_p(&position), Some(remoteness % 2 == 0), "{position}");
    }
}

/// Compares M(x) with the remoteness of every position.
struct MLength(Region);

impl Observer for MLength {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        let canonical = stratum.canonical();
        for (position, index) in self.0.stratum(stratum.total).zip(0..) {
            let length = m_length(&BigPosition::from(&position));
            let remoteness = canonical.view().remoteness(index).unwrap();
            assert_eq!(length, remoteness.into(), "{position}");
        }
    }
}

#[test]
fn m_is_the_remoteness_of_four_heaps_to_60() {
    let region = Region::new(4, 60).unwrap();
    solve(&Ruleset::exact_slow(4, 3).unwrap(), &region, &mut MLength(region.clone()));
}

#[test]
fn longest_games_of_one_heap_are_those_of_all_stones() {
    let mut distribution = Distribution::default();
    solve(&Ruleset::bounded_moore(1, 1).unwrap(), &Region::new(1, 301).unwrap(), &mut distribution);
    assert_eq!(distribution.counts(), [1; 302]);
    let longest = [distribution.longest_win(), distribution.longest_loss()];
    assert_eq!(longest.map(|longest| longest.unwrap().position.largest()), [301, 300]);
}
