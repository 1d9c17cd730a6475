//! Published counts, and those found by brute force from the rules, as claims on what the solver finds.

use std::ops::ControlFlow;

use nimstrata::game::Ruleset;
use nimstrata::observe::{Census, Subspace, WordCount};
use nimstrata::solver::{BackendChoice, Observer, Options, Solver, Summary};
use nimstrata::space::{Region, Stratum};

fn solve(rules: &Ruleset, max: u64, observers: &mut [&mut dyn Observer]) -> Summary {
    let region = Region::new(rules.heaps, max).unwrap();
    let options = Options { backend: BackendChoice::Cpu, ..Options::default() };
    let mut solver = Solver::new(rules, &region, &options).unwrap();
    solver.run(observers, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn parity_words(rules: &Ruleset, max: u64) -> (Summary, Vec<WordCount>) {
    let mut census = Census::new(&Region::new(rules.heaps, max).unwrap(), 2).unwrap();
    let summary = solve(rules, max, &mut [&mut census]);
    (summary, census.words())
}

fn text(word: &[u32]) -> String {
    word.iter().map(ToString::to_string).collect()
}

/// The losing words with their numbers of positions.
fn losing(words: &[WordCount]) -> Vec<(String, u64)> {
    words.iter().filter(|word| word.is_losing()).map(|word| (text(&word.word), word.positions)).collect()
}

fn subspace(words: &[WordCount]) -> Subspace {
    let losing =
        words.iter().filter(|word| word.is_losing()).map(|word| word.word.clone()).collect::<Vec<_>>();
    Subspace::of(&losing, 2).unwrap()
}

#[test]
fn parity_words_settle_five_heaps_at_every_width() {
    for (max, positions) in [(9, 2_002), (11, 4_368), (13, 8_568)] {
        for (width, dimension) in [(1, 4), (2, 2), (3, 1), (4, 1)] {
            let (summary, words) = parity_words(&Ruleset::bounded_moore(5, width).unwrap(), max);
            assert_eq!(summary.positions, positions);
            assert_eq!(words.len(), 32);
            assert!(words.iter().all(WordCount::is_uniform), "width {width}, cap {max}");
            assert_eq!(subspace(&words).basis.len(), dimension, "width {width}, cap {max}");
        }
    }
}

#[test]
fn four_words_lose_at_five_heaps_width_two() {
    let (summary, words) = parity_words(&Ruleset::bounded_moore(5, 2).unwrap(), 9);
    let expected = [("00000", 126), ("01111", 56), ("10011", 56), ("11100", 126)];
    assert_eq!(losing(&words), expected.map(|(word, count)| (word.to_owned(), count)));
    assert_eq!((summary.p_positions, summary.positions), (364, 2_002));
    let three_odd = words.iter().filter(|word| word.word.iter().sum::<u32>() == 3);
    let (positions, lost) =
        three_odd.fold((0, 0), |sum, word| (sum.0 + word.positions, sum.1 + word.p_positions));
    assert_eq!((positions, lost), (525, 182));
}

#[test]
fn the_equations_of_five_heaps_are_those_stated() {
    // a₂ = a₃, a₄ = a₅, a₁ + a₂ + a₄ = 0 at width 2; a₅ = 0 and the others equal at width 3; all equal at width 4.
    type Rule<'a> = &'a dyn Fn(&[u32]) -> bool;
    let stated: [Rule<'_>; 4] = [
        &|a| a.iter().sum::<u32>().is_multiple_of(2),
        &|a| a[1] == a[2] && a[3] == a[4] && (a[0] + a[1] + a[3]).is_multiple_of(2),
        &|a| a[4] == 0 && a[0] == a[1] && a[1] == a[2] && a[2] == a[3],
        &|a| a.iter().all(|&bit| bit == a[0]),
    ];
    for (width, stated) in (1..).zip(stated) {
        let (_, words) = parity_words(&Ruleset::bounded_moore(5, width).unwrap(), 9);
        let equations = subspace(&words).equations;
        for number in 0..32u32 {
            let word = (0..5).rev().map(|bit| number >> bit & 1).collect::<Vec<_>>();
            let product = |row: &Vec<u32>| row.iter().zip(&word).map(|(a, b)| a * b).sum::<u32>() % 2;
            assert_eq!(
                equations.iter().all(|row| product(row) == 0),
                stated(&word),
                "width {width}: {word:?}"
            );
        }
    }
}

#[test]
fn the_word_does_not_settle_six_heaps_width_two() {
    let (summary, words) = parity_words(&Ruleset::bounded_moore(6, 2).unwrap(), 7);
    let uniform = words.iter().filter(|word| word.is_uniform());
    assert_eq!((words.len(), uniform.clone().count()), (64, 33));
    assert_eq!((uniform.map(|word| word.positions).sum::<u64>(), summary.positions), (792, 1_716));
    let mixed = words.iter().find(|word| text(&word.word) == "111000").unwrap();
    assert_eq!((mixed.p_positions, mixed.positions), (76, 84));
}

#[test]
fn the_word_settles_six_heaps_width_three() {
    let (_, words) = parity_words(&Ruleset::bounded_moore(6, 3).unwrap(), 7);
    assert_eq!(words.iter().filter(|word| word.is_uniform()).count(), 64);
    let expected = [("000000", 84), ("001111", 28), ("110011", 28), ("111100", 84)];
    assert_eq!(losing(&words), expected.map(|(word, count)| (word.to_owned(), count)));
}

/// Counts the words of the P-positions with an even total.
#[derive(Default)]
struct EvenTotals {
    words: std::collections::BTreeMap<String, [u64; 2]>,
}

impl Observer for EvenTotals {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        let region = Region::new(5, 20).unwrap();
        for position in region.stratum(stratum.total).filter(|_| stratum.total.is_multiple_of(2)) {
            let word = position.sizes().iter().rev().map(|size| (size % 2).to_string()).collect();
            let counts = self.words.entry(word).or_default();
            counts[usize::from(stratum.is_p(&position).unwrap())] += 1;
        }
    }
}

#[test]
fn even_totals_of_exact_slow_nim_lose_at_two_words() {
    let mut even = EvenTotals::default();
    solve(&Ruleset::exact_slow(5, 2).unwrap(), 20, &mut [&mut even]);
    assert_eq!(even.words.len(), 16);
    for (word, [n_positions, p_positions]) in even.words {
        let loses = ["00000", "11110"].contains(&word.as_str());
        assert!(if loses { n_positions == 0 } else { p_positions == 0 }, "{word}");
    }
}

#[test]
fn five_heaps_to_200_have_368_million_p_positions() {
    let summary = solve(&Ruleset::bounded_moore(5, 2).unwrap(), 200, &mut []);
    assert_eq!((summary.positions, summary.p_positions), (2_872_408_791, 368_026_931));
}
