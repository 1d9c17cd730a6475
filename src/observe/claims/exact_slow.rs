//! The claims on exact slow Nim NIM(n, n−1), normal and misère, and on the words of NIM(n, 2).
//!
//! Sizes are written x₁ ≤ … ≤ xₘ here, as in the literature. Claims on remoteness are checked position by position:
//! every position of the region is asked whether the claim calls it an exception, and whether its M-move is optimal.

use std::collections::HashMap;

use super::fts::about;
use super::violations::Violations;
use super::{Case, Claim, Finding, Status};
use crate::error::Result;
use crate::game::{Position, Ruleset};
use crate::observe::exceptions::{Exception, Exceptions, Shorter};
use crate::observe::m_moves::{Judged, MMoves};
use crate::solver::{Observer, Options, Quantity, Solver, Watch, check_source};
use crate::space::{Region, Row, Stratum};

/// All of them.
pub(super) static CLAIMS: [Claim; 7] = [
    Claim {
        name: "m-rule",
        statement: "normal play, width n-1: the M-move is optimal in every position that has a move",
        status: Status::Proved,
        cases: || cases(&[(3, 200), (4, 100), (5, 50), (6, 30), (7, 20)]),
        check: m_rule,
        completes: false,
    },
    Claim {
        name: "misere-exceptions",
        statement: "misere play, width m-1: x is an exception iff x1 >= 1 and for some n in 3..m: xn > x(n-1), the sum \
                    over j <= n-2 of floor(xj/2) is (n-3)(floor(x(n-1)/2)+1), and each xj, j <= n-2, is odd or equals \
                    x(n-1); that n is unique, R(x) = 2 ceil(x(n-1)/2)+1, keeping any heap > x(n-1) is optimal if \
                    x(n-1) is even, keeping x(n-1) if it is odd, and R(x)-R(x_M) is 0 or 2 in that order",
        status: Status::Conjecture,
        cases: || cases(&[(3, 1000), (4, 400), (5, 120), (6, 60), (7, 32), (8, 20)]),
        check: misere_exceptions,
        completes: false,
    },
    Claim {
        name: "misere-properties",
        statement: "misere play, width m-1: every minimal exception has xm = x(m-1)+1, exceptions stay exceptions when \
                    xm grows and when heaps at least as large are appended, R is odd, and no M-move of an exception wins",
        status: Status::Observed,
        cases: || cases(&[(3, 200), (4, 100), (5, 48), (6, 28), (7, 18)]),
        check: misere_properties,
        completes: false,
    },
    Claim {
        name: "misere-even",
        statement: "misere play, width m-1, x1 = 2i: the exceptions are x1 = ... = x(n-1) = 2i < xn, n = i+3 (any \
                    larger heaps after them), and R = 2i+1",
        status: Status::Observed,
        cases: misere_cases,
        check: misere_even,
        completes: false,
    },
    Claim {
        name: "misere-one",
        statement: "misere play, width m-1, x1 = 1: x is an exception iff x2 < x3, and R = x2+1 if x2 is even, x2+2 if \
                    it is odd",
        status: Status::Observed,
        cases: misere_cases,
        check: misere_one,
        completes: false,
    },
    Claim {
        name: "misere-odd",
        statement: "misere play, width m-1, x1 odd, x1 >= 3, i >= 0, any larger heaps after xn: exceptions are (1) n = \
                    (x1+1)/2+2, x2 = ... = x(n-1) = x1+i < xn; (2) x1 >= 5, n = (x1+1)/2+1, x2 = x1+2i, x3 = ... = \
                    x(n-1) = x2+1 or x2+2, < xn, both with R = 2 floor((x(n-1)+1)/2)+1; (3) x1 >= 5, n = 4, \
                    x2 = x1+2i, x3 = x1+x2-4 with R = x4, or x3 = x1+x2-3 with R = x4+1, x4 = x3+1",
        status: Status::Observed,
        cases: misere_cases,
        check: misere_odd,
        completes: false,
    },
    Claim {
        name: "exact-even-words",
        statement: "width 2, normal play, even total: P iff the parity word, largest heap first, is 000 (3 heaps); 0000, \
                    1111 (4); 00000, 11110 (5); 000000, 001111, 110011, 111100 (6)",
        status: Status::Observed,
        cases: || cases(&[(3, 400), (4, 120), (5, 60), (6, 36)]),
        check: even_words,
        completes: false,
    },
];

fn cases(all: &[(u32, u64)]) -> Vec<Case> {
    all.iter().map(|&(heaps, max)| Case { heaps, max, d: None, width: None }).collect()
}

fn misere_cases() -> Vec<Case> {
    cases(&[(3, 400), (4, 160), (5, 64), (6, 36), (7, 24)])
}

/// The rules of NIM(n, n−1) for a case.
fn rules(case: &Case, misere: bool) -> Result<Ruleset> {
    if case.heaps < 3 {
        return Err(about("3 heaps or more"));
    }
    Ok(Ruleset::exact_slow(case.heaps, case.heaps - 1)?.with_misere(misere))
}

/// Solves the region of a case and asks of every position with a move whether it agrees with a claim.
fn check(
    case: &Case,
    misere: bool,
    options: &Options,
    watch: &mut Watch<'_>,
    agrees: fn(&Judged<'_>) -> bool,
) -> Result<Finding> {
    let rules = rules(case, misere)?;
    let region = Region::new(case.heaps, case.max)?;
    let options = MMoves::options(&rules, &region, options);
    let mut observer =
        EveryPosition { moves: MMoves::new(&rules)?, agrees, violations: Violations::default() };
    let summary = Solver::new(&rules, &region, &options)?.run(&mut [&mut observer], watch)?;
    Ok(observer.violations.finding(summary.positions))
}

struct EveryPosition {
    moves: MMoves,
    agrees: fn(&Judged<'_>) -> bool,
    violations: Violations,
}

impl Observer for EveryPosition {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        let (agrees, violations) = (self.agrees, &self.violations);
        let parts = self.moves.fold(
            stratum,
            || violations.part(),
            |part, judged| {
                if !agrees(judged) {
                    part.add(1, || judged.position());
                }
            },
        );
        self.violations.add_parts(parts);
    }
}

fn m_rule(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    check(case, false, options, watch, |judged| !judged.is_exception())
}

fn misere_exceptions(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    check(case, true, options, watch, |judged| {
        let mut lengths = formula_lengths(judged.sizes);
        match (lengths.next(), lengths.next()) {
            (None, _) => !judged.is_exception(),
            (Some(length), None) => is_exception_of_length(judged, length),
            (Some(_), Some(_)) => false,
        }
    })
}

/// All n in 3 … m for which the closed form calls x₁ ≤ … ≤ xₘ an exception.
fn formula_lengths(sizes: &[u32]) -> impl Iterator<Item = usize> {
    // ⌊x₁/2⌋ + … + ⌊xₙ₋₂/2⌋
    let mut halves = 0;
    let lengths = if sizes[0] == 0 { 0..0 } else { 3..sizes.len() + 1 };
    lengths.filter(move |&n| {
        halves += sizes[n - 3] / 2;
        let determining = sizes[n - 2];
        sizes[n - 1] > determining
            && halves == (n as u32 - 3) * (determining / 2 + 1)
            && sizes[..n - 2].iter().all(|&size| size % 2 == 1 || size == determining)
    })
}

/// Whether a position is an exception with the remoteness and the optimal moves that the closed form gives for n.
fn is_exception_of_length(judged: &Judged<'_>, n: usize) -> bool {
    let determining = judged.sizes[n - 2];
    let is_even = determining.is_multiple_of(2);
    // All heaps larger than xₙ₋₁, or xₙ₋₁ itself.
    let mut kept = if is_even { n - 1..judged.sizes.len() } else { n - 2..n - 1 };
    let lead = if is_even { 0 } else { 2 };
    judged.is_exception()
        && judged.remoteness == 2 * determining.div_ceil(2) + 1
        && judged.remoteness == judged.m_remoteness + lead
        && kept.all(|heap| judged.keeping(heap) + 1 == judged.remoteness)
}

fn misere_even(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    check(case, true, options, watch, |judged| {
        let (sizes, least) = (judged.sizes, judged.sizes[0]);
        let n = least as usize / 2 + 3;
        let claimed = n <= sizes.len() && sizes[n - 2] == least && least < sizes[n - 1];
        least % 2 == 1 || has_claimed_remoteness(judged, claimed.then_some(least + 1))
    })
}

fn misere_one(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    check(case, true, options, watch, |judged| {
        let [least, second, third, ..] = *judged.sizes else { return true };
        let remoteness = if second % 2 == 0 { second + 1 } else { second + 2 };
        least != 1 || has_claimed_remoteness(judged, (second < third).then_some(remoteness))
    })
}

/// Whether a position is an exception of the claimed remoteness, or no exception where `None` is claimed.
fn has_claimed_remoteness(judged: &Judged<'_>, claimed: Option<u32>) -> bool {
    claimed
        .map_or(!judged.is_exception(), |remoteness| judged.is_exception() && judged.remoteness == remoteness)
}

fn misere_odd(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    check(case, true, options, watch, |judged| {
        odd_families(judged.sizes)
            .into_iter()
            .flatten()
            .all(|remoteness| has_claimed_remoteness(judged, Some(remoteness)))
    })
}

/// The remoteness that each family with an odd x₁ ≥ 3 gives a position that belongs to it.
fn odd_families(sizes: &[u32]) -> [Option<u32>; 3] {
    let [least, second, third, ..] = *sizes else { return [None; 3] };
    if least % 2 == 0 || least < 3 {
        return [None; 3];
    }
    // xₙ₋₁ < xₙ, and the heaps from index `from` to xₙ₋₁ are equal; then R = 2⌊(xₙ₋₁ + 1)/2⌋ + 1.
    let plateau = |n: usize, from: usize| {
        let (&last, &before) = (sizes.get(n - 1)?, sizes.get(n - 2)?);
        (sizes[from] == before && before < last).then_some(2 * before.div_ceil(2) + 1)
    };
    let half = least.div_ceil(2) as usize;
    let in_step = least >= 5 && (second - least).is_multiple_of(2);
    let all_equal = plateau(half + 2, 1);
    let raised = plateau(half + 1, 2).filter(|_| in_step && (1..=2).contains(&(third - second)));
    let four = sizes.get(3).filter(|&&fourth| in_step && fourth == third + 1);
    let sum = least + second;
    let four = four.and_then(|&fourth| match sum.checked_sub(third) {
        Some(4) => Some(fourth),
        Some(3) => Some(fourth + 1),
        _ => None,
    });
    [all_equal, raised, four]
}

fn misere_properties(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let rules = rules(case, true)?;
    let region = Region::new(case.heaps, case.max)?;
    if let Some(source) = &options.source {
        check_source(&**source, &rules, &region, Quantity::Remoteness)?;
    }
    let shorter = Shorter::find(&rules, &region, options, watch)?;
    let options = MMoves::options(&rules, &region, options);
    let mut properties =
        Properties { max: region.max(), stems: HashMap::new(), violations: Violations::default() };
    let mut exceptions = Exceptions::new(&rules)?
        .with_shorter(shorter.clone())
        .listing(|exception: &Exception| properties.check(exception));
    let summary = Solver::new(&rules, &region, &options)?.run(&mut [&mut exceptions], watch)?;
    drop(exceptions);
    properties.check_gaps(&shorter, case.heaps as usize - 1);
    Ok(properties.violations.finding(summary.positions))
}

/// Checks what all exceptions of a region have in common.
struct Properties {
    max: u32,
    /// For all heaps but the largest: with which largest heap they are first and last an exception.
    stems: HashMap<Box<[u32]>, [u32; 2]>,
    violations: Violations,
}

impl Properties {
    /// Checks one exception; they come by increasing totals.
    fn check(&mut self, exception: &Exception) {
        let sizes = exception.position.sizes();
        let (stem, largest) = (&sizes[..sizes.len() - 1], sizes[sizes.len() - 1]);
        let loses = exception.m_remoteness % 2 == 1;
        let tight = exception.minimal != Some(true) || stem.last() == Some(&(largest - 1));
        if exception.remoteness.is_multiple_of(2) || !loses || !tight {
            self.violations.add(1, || exception.position.clone());
        }
        let range = self.stems.entry(stem.into()).or_insert([largest, largest - 1]);
        let expected = range[1] + 1;
        range[1] = largest;
        self.add_missing(stem, expected, largest);
    }

    /// Adds the positions that should be exceptions, as others follow from them, and are not: those beyond the largest
    /// heap of a stem, and those that `shorter` exceptions are the stems of.
    fn check_gaps(&mut self, shorter: &Shorter, stem_heaps: usize) {
        let ends = self.stems.iter().map(|(stem, range)| (stem.clone(), range[1] + 1)).collect::<Vec<_>>();
        for (stem, end) in ends {
            self.add_missing(&stem, end, self.max + 1);
        }
        for stem in shorter.of_heaps(stem_heaps) {
            let first = self.stems.get(stem).map_or(self.max + 1, |range| range[0]);
            self.add_missing(stem, stem[stem_heaps - 1], first);
        }
    }

    /// Adds the positions with this stem whose largest heap is `from` or more and below `to`.
    fn add_missing(&mut self, stem: &[u32], from: u32, to: u32) {
        let first = || Position::new([stem, &[from]].concat());
        self.violations.add(u64::from(to.saturating_sub(from)), first);
    }
}

/// The losing parity words of NIM(n, 2) with an even total, the bit of the largest heap on top, for n = 3, 4, 5, 6.
const EVEN_WORDS: [&[u32]; 4] =
    [&[0b000], &[0b0000, 0b1111], &[0b00000, 0b11110], &[0b000_000, 0b001_111, 0b110_011, 0b111_100]];

fn even_words(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let losing = case.heaps.checked_sub(3).and_then(|index| EVEN_WORDS.get(index as usize));
    let losing = losing.ok_or_else(|| about("3 to 6 heaps"))?;
    let rules = Ruleset::exact_slow(case.heaps, 2)?;
    let region = Region::new(case.heaps, case.max)?;
    let options = Options { quantity: Quantity::Verdict, ..options.clone() };
    let mut observer = EvenWords { losing, violations: Violations::default() };
    let summary = Solver::new(&rules, &region, &options)?.run(&mut [&mut observer], watch)?;
    Ok(observer.violations.finding(summary.positions))
}

struct EvenWords {
    losing: &'static [u32],
    violations: Violations,
}

impl EvenWords {
    /// The values of x₂ of a word of a row whose parity words are losing.
    fn losing_bits(&self, row: &Row<'_>) -> u32 {
        let (mut tail, mut count) = (0, 0);
        for size in row.smaller_heaps() {
            (tail, count) = ((tail << 1) | (size % 2), count + 1);
        }
        // Words start at multiples of 32, so even bits are even values of x₂.
        let bits = |second: u32| {
            let word = ((row.rest - second) % 2) << (count + 1) | second << count | tail;
            if self.losing.contains(&word) { 0x5555_5555 << second } else { 0 }
        };
        bits(0) | if row.last > 0 { bits(1) } else { 0 }
    }
}

impl Observer for EvenWords {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        if stratum.total % 2 == 1 {
            return;
        }
        let (this, violations) = (&*self, &self.violations);
        let parts = stratum.fold_rows(
            || violations.part(),
            |part, row| {
                let losing = this.losing_bits(row);
                for word in row.word_range() {
                    let wrong = (row.word(word) ^ losing) & row.valid(word);
                    let first = || row.position(word * 32 + wrong.trailing_zeros());
                    part.add(u64::from(wrong.count_ones()), first);
                }
            },
        );
        self.violations.add_parts(parts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::BackendChoice;
    use std::ops::ControlFlow;

    fn found(heaps: u32, max: u64, misere: bool, agrees: fn(&Judged<'_>) -> bool) -> (u64, Option<String>) {
        let case = Case { heaps, max, d: None, width: None };
        let options = Options { backend: BackendChoice::Cpu, ..Options::default() };
        let finding = check(&case, misere, &options, &mut |_| ControlFlow::Continue(()), agrees).unwrap();
        (finding.violations, finding.counterexample)
    }

    #[test]
    fn the_m_rule_fails_in_misere_play_where_the_exceptions_are() {
        for (heaps, max, exceptions, first) in [
            (3, 16, 120, "(1,1,2)"),
            (4, 12, 365, "(1,1,2,2)"),
            (5, 9, 440, "(1,1,2,2,2)"),
            (6, 8, 616, "(1,1,2,2,2,2)"),
        ] {
            let expected = (exceptions, Some(first.to_owned()));
            assert_eq!(found(heaps, max, true, |judged| !judged.is_exception()), expected);
        }
    }

    #[test]
    fn a_wrong_closed_form_is_refuted() {
        // Without its last condition.
        let (violations, _) = found(4, 12, true, |judged| {
            let sizes = judged.sizes;
            let claimed = (3..=sizes.len()).any(|n| {
                let halves = sizes[..n - 2].iter().map(|size| size / 2).sum::<u32>();
                sizes[0] > 0
                    && sizes[n - 1] > sizes[n - 2]
                    && halves == (n as u32 - 3) * (sizes[n - 2] / 2 + 1)
            });
            claimed == judged.is_exception()
        });
        assert!(violations > 0);
        // And a wrong remoteness, and a wrong optimal move.
        assert!(found(4, 9, true, |judged| !judged.is_exception() || judged.remoteness == 3).0 > 0);
        let keeps_largest = |judged: &Judged<'_>| {
            !judged.is_exception() || judged.keeping(judged.sizes.len() - 1) + 1 == judged.remoteness
        };
        assert!(found(4, 9, true, keeps_largest).0 > 0);
    }

    #[test]
    fn each_family_with_an_odd_least_heap_has_its_published_members() {
        assert_eq!(odd_families(&[3, 3, 3, 4]), [Some(5), None, None]);
        assert_eq!(odd_families(&[3, 4, 4, 9]), [Some(5), None, None]);
        assert_eq!(odd_families(&[5, 5, 6, 7]), [None, Some(7), Some(7)]);
        assert_eq!(odd_families(&[5, 5, 7, 8, 8]), [None, Some(9), Some(9)]);
        assert_eq!(odd_families(&[7, 9, 12, 13]), [None, None, Some(13)]);
        assert_eq!(odd_families(&[5, 5, 8, 9]), [None; 3]);
        assert_eq!(odd_families(&[4, 4, 4, 4, 5]), [None; 3]);
    }

    #[test]
    fn gaps_above_an_exception_are_violations() {
        let exception = |sizes: &[u32], minimal| Exception {
            position: Position::new(sizes.to_vec()),
            remoteness: 3,
            m_move: Position::new(sizes.to_vec()),
            m_remoteness: 3,
            optimal: Vec::new(),
            minimal: Some(minimal),
        };
        let check = |all: &[Exception]| {
            let mut properties =
                Properties { max: 6, stems: HashMap::new(), violations: Violations::default() };
            for one in all {
                properties.check(one);
            }
            properties.check_gaps(&Shorter::default(), 2);
            let finding = properties.violations.finding(0);
            (finding.violations, finding.counterexample)
        };
        let whole = [2, 3, 4, 5, 6].map(|largest| exception(&[1, 1, largest], largest == 2));
        assert_eq!(check(&whole), (0, None));
        assert_eq!(check(&whole[1..]), (0, None));
        assert_eq!(check(&[&whole[..1], &whole[3..]].concat()), (2, Some("(1,1,3)".to_owned())));
        assert_eq!(check(&whole[..3]), (2, Some("(1,1,5)".to_owned())));
        let loose = [4, 5, 6].map(|largest| exception(&[1, 2, largest], largest == 4));
        assert_eq!(check(&loose), (1, Some("(1,2,4)".to_owned())));
        let winning = Exception { m_remoteness: 2, ..exception(&[1, 5, 6], true) };
        assert_eq!(check(&[winning]), (1, Some("(1,5,6)".to_owned())));
        let even = Exception { remoteness: 4, ..exception(&[1, 5, 6], true) };
        assert_eq!(check(&[even]), (1, Some("(1,5,6)".to_owned())));
    }
}
