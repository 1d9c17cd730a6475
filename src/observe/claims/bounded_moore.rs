//! The claims on parity words of bounded Moore's Nim: the heaps mod 2, largest first.
//!
//! A word is uniform when all its positions have one verdict, and losing when all are P-positions. The words settle a
//! game when all are uniform. What is counted here as contradicting a claim are words, not positions.

use std::collections::BTreeSet;

use super::{Case, Claim, Finding, Status};
use crate::error::Result;
use crate::game::Ruleset;
use crate::observe::{Census, WordCount};
use crate::solver::{Options, Solver, Watch};
use crate::space::Region;

/// All of them, in the order of the literature.
pub(super) static CLAIMS: [Claim; 4] = [
    Claim {
        name: "words-five",
        statement: "five heaps: all positions with the same parity word have the same verdict. Width 2: the words 00000, \
                    11100, 01111 and 10011 lose, up to 9 in 126, 126, 56 and 56 positions, and of the 525 positions \
                    with three odd heaps 182 lose",
        status: Status::Observed,
        cases: || widths_of_five(&[9, 11, 13, 40]),
        check: five,
        completes: false,
    },
    Claim {
        name: "words-subspace",
        statement: "five heaps: the losing words a1...a5 are a subspace mod 2. Width 1: sum of a = 0; width 2: a2 = a3, \
                    a4 = a5, a1+a2+a4 = 0; width 3: a5 = 0, a1 = a2 = a3 = a4; width 4: all equal",
        status: Status::Observed,
        cases: || widths_of_five(&[9, 40]),
        check: subspace,
        completes: false,
    },
    Claim {
        name: "words-six",
        statement: "six heaps, width 2: the word does not settle the game. Up to 7, 33 of 64 words do, with 792 of the \
                    1716 positions, and 111000 loses in 76 of 84",
        status: Status::Observed,
        cases: || vec![case(6, 7, 2), case(6, 20, 2)],
        check: six,
        completes: false,
    },
    Claim {
        name: "words-where",
        statement: "the word settles the game for width 1, for n <= width+2 heaps and for n = width+3 <= 6, but not for \
                    6 heaps of width 2",
        status: Status::Observed,
        cases: where_cases,
        check: where_settled,
        completes: false,
    },
];

/// The cap up to which six heaps of width 2 have been published, as the least example of mixed words.
const SIX_UP_TO: u64 = 7;

fn case(heaps: u32, max: u64, width: u32) -> Case {
    Case { heaps, max, width: Some(width), d: None }
}

fn widths_of_five(caps: &[u64]) -> Vec<Case> {
    caps.iter().flat_map(|&max| (1..=4).map(move |width| case(5, max, width))).collect()
}

/// All games of up to seven heaps on which something is claimed.
fn where_cases() -> Vec<Case> {
    const CAPS: [u64; 7] = [1000, 300, 120, 60, 30, 20, 14];
    let games = (1..=7).flat_map(|heaps| (1..=heaps).map(move |width| (heaps, width)));
    let claimed = games.filter(|&(heaps, width)| settles(heaps, width).is_some());
    claimed.map(|(heaps, width)| case(heaps, CAPS[heaps as usize - 1], width)).collect()
}

/// Whether the word settles the game; `None` where nothing is claimed.
fn settles(heaps: u32, width: u32) -> Option<bool> {
    match (heaps, width) {
        (6, 2) => Some(false),
        _ if width == 1 || heaps <= width + 2 || (heaps == width + 3 && heaps <= 6) => Some(true),
        _ => None,
    }
}

/// The parity words of a case with their counts, and the number of positions.
fn census(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<(Vec<WordCount>, u64)> {
    let rules = Ruleset::bounded_moore(case.heaps, case.width.unwrap_or(1))?;
    let region = Region::new(case.heaps, case.max)?;
    let mut census = Census::new(&region, 2)?;
    let summary = Solver::new(&rules, &region, options)?.run(&mut [&mut census], watch)?;
    Ok((census.words(), summary.positions))
}

fn text(word: &[u32]) -> String {
    word.iter().map(ToString::to_string).collect()
}

/// What contradicts a claim.
#[derive(Default)]
struct Contradictions(Vec<String>);

impl Contradictions {
    /// Adds all words that are not uniform.
    fn add_mixed(&mut self, words: &[WordCount]) {
        for word in words.iter().filter(|word| !word.is_uniform()) {
            let WordCount { positions, p_positions, .. } = word;
            self.0.push(format!("{} loses in {p_positions} of {positions} positions", text(&word.word)));
        }
    }

    /// Adds the words that lose and should not, or the other way round.
    fn add_wrong(&mut self, words: &[WordCount], loses: impl Fn(&[u32]) -> bool) {
        for word in words.iter().filter(|word| word.is_losing() != loses(&word.word)) {
            let verb = if word.is_losing() { "loses" } else { "does not lose" };
            self.0.push(format!("{} {verb}", text(&word.word)));
        }
    }

    /// Adds a count that is not what it should be.
    fn add_count(&mut self, what: &str, counted: [u64; 2], claimed: [u64; 2]) {
        if counted != claimed {
            let said = |[part, whole]: [u64; 2]| format!("{part} of {whole}");
            self.0.push(format!("{what}: {}, not {}", said(counted), said(claimed)));
        }
    }

    fn finding(self, positions: u64, note: Option<String>) -> Finding {
        let violations = self.0.len() as u64;
        Finding { positions, violations, counterexample: self.0.into_iter().next(), note }
    }
}

/// [P-positions, positions] of the words for which `chosen` holds.
fn losing_in(words: &[WordCount], chosen: impl Fn(&[u32]) -> bool) -> [u64; 2] {
    let chosen = words.iter().filter(|word| chosen(&word.word));
    chosen.fold([0, 0], |[lost, all], word| [lost + word.p_positions, all + word.positions])
}

fn five(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    const LOSING: [(&str, u64); 4] = [("00000", 126), ("11100", 126), ("01111", 56), ("10011", 56)];
    let (words, positions) = census(case, options, watch)?;
    let mut wrong = Contradictions::default();
    wrong.add_mixed(&words);
    if (case.heaps, case.width) == (5, Some(2)) {
        wrong.add_wrong(&words, |word| LOSING.iter().any(|(losing, _)| text(word) == *losing));
        if case.max == 9 {
            for (losing, count) in LOSING {
                wrong.add_count(losing, losing_in(&words, |word| text(word) == losing), [count, count]);
            }
            let three_odd = |word: &[u32]| word.iter().sum::<u32>() == 3;
            wrong.add_count("three odd heaps", losing_in(&words, three_odd), [182, 525]);
        }
    }
    Ok(wrong.finding(positions, None))
}

/// Whether a word of five satisfies the equations of a width.
fn satisfies(word: &[u32], width: u32) -> bool {
    let &[a1, a2, a3, a4, a5] = word else { return false };
    match width {
        1 => (a1 + a2 + a3 + a4 + a5).is_multiple_of(2),
        2 => a2 == a3 && a4 == a5 && (a1 + a2 + a4).is_multiple_of(2),
        3 => a5 == 0 && [a1, a2, a3] == [a2, a3, a4],
        _ => [a1, a2, a3, a4] == [a2, a3, a4, a5],
    }
}

/// The equations for five heaps; for other numbers, for which there are none, that losing words are closed under XOR.
fn subspace(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let (words, positions) = census(case, options, watch)?;
    let mut wrong = Contradictions::default();
    match case.width {
        Some(width @ 1..=4) if case.heaps == 5 => wrong.add_wrong(&words, |word| satisfies(word, width)),
        _ => add_not_closed(&mut wrong, &words),
    }
    Ok(wrong.finding(positions, None))
}

/// Adds the words that occur and do not lose, but are the XOR of two that do.
fn add_not_closed(wrong: &mut Contradictions, words: &[WordCount]) {
    let losing = || words.iter().filter(|word| word.is_losing()).map(|word| word.word.as_slice());
    let winning = words.iter().filter(|word| !word.is_losing()).map(|word| word.word.as_slice());
    let known = losing().collect::<BTreeSet<_>>();
    for sum in winning {
        let difference = |a: &[u32]| a.iter().zip(sum).map(|(a, sum)| a ^ sum).collect::<Vec<_>>();
        if let Some(a) = losing().find(|a| known.contains(difference(a).as_slice())) {
            wrong.0.push(format!(
                "{} + {} = {}, which does not lose",
                text(a),
                text(&difference(a)),
                text(sum)
            ));
        }
    }
    if known.is_empty() {
        wrong.0.push("no word loses in all its positions".to_owned());
    }
}

fn six(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    if (case.heaps, case.width) != (6, Some(2)) || case.max < SIX_UP_TO {
        return Err(super::fts::about(&format!(
            "6 heaps of width 2 up to {SIX_UP_TO} or more; words-where asks others"
        )));
    }
    let (words, positions) = census(case, options, watch)?;
    let mut wrong = Contradictions::default();
    if case.max == SIX_UP_TO {
        let uniform = || words.iter().filter(|word| word.is_uniform());
        let covered = uniform().map(|word| word.positions).sum();
        wrong.add_count("uniform words", [uniform().count() as u64, words.len() as u64], [33, 64]);
        wrong.add_count("positions in uniform words", [covered, positions], [792, 1716]);
        wrong.add_count("111000 loses in", losing_in(&words, |word| text(word) == "111000"), [76, 84]);
    } else if words.iter().all(WordCount::is_uniform) {
        wrong.0.push("every word is uniform".to_owned());
    }
    let note = uniform(&words);
    Ok(wrong.finding(positions, (case.max != SIX_UP_TO).then_some(note)))
}

fn where_settled(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let (words, positions) = census(case, options, watch)?;
    let mut wrong = Contradictions::default();
    let mut note = None;
    match settles(case.heaps, case.width.unwrap_or(1)) {
        Some(true) => wrong.add_mixed(&words),
        // Mixed words need room to show.
        Some(false) if case.max >= SIX_UP_TO && words.iter().all(WordCount::is_uniform) => {
            wrong.0.push("every word is uniform".to_owned());
        }
        Some(false) => note = Some(uniform(&words)),
        None => note = Some(format!("nothing is claimed here; {}", uniform(&words))),
    }
    Ok(wrong.finding(positions, note))
}

/// How many words are uniform.
fn uniform(words: &[WordCount]) -> String {
    let count = words.iter().filter(|word| word.is_uniform()).count();
    format!("{count} of {} words are uniform", words.len())
}
