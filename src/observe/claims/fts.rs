//! The claims on Nim and Forbidden-Total-Size Nim (no move arrives at a multiple of d).

use super::completion;
use super::set::{self, Words, one_by_one, quotients};
use super::{Case, Claim, Finding, Status};
use crate::error::{Error, Result};
use crate::game::{ForbiddenTotals, Ruleset};
use crate::solver::{Options, Watch};
use crate::space::{Region, Row};

/// All of them, in the order of the literature.
pub(super) static CLAIMS: [Claim; 10] = [
    Claim {
        name: "nim-bouton",
        statement: "nothing forbidden: P iff the nim-sum of the heaps is 0",
        status: Status::Proved,
        cases: nim_cases,
        check: nim_bouton,
        completes: false,
    },
    Claim {
        name: "nim-misere",
        statement: "total 0 forbidden: P iff some heap is 2 or more and the nim-sum is 0, or no heap is and an odd \
                    number of heaps are 1, or all are empty",
        status: Status::Proved,
        cases: nim_cases,
        check: nim_misere,
        completes: false,
    },
    Claim {
        name: "fts-two-heaps",
        statement: "two heaps, d >= 3, D = {x : d divides 2x}: P0 = {(x,x) : x in D}; P1 = {(x,x) : x, x-1 not in D} \
                    and {(x,x+1) : x in D}",
        status: Status::Proved,
        cases: || (3..=64).map(|d| case(2, 500, d)).collect(),
        check: two_heaps,
        completes: false,
    },
    Claim {
        name: "fts-2",
        statement: "d = 2: with B = {XOR of floor(x/2) = 0}, P0 = B with all heaps even, P1 = B with odd total",
        status: Status::Proved,
        cases: || quotient_cases(2),
        check: halves,
        completes: false,
    },
    Claim {
        name: "fts-3",
        statement: "d = 3: with B = {XOR of floor(x/d) = 0}, P0 = B with total 0 mod d and no heap d-1 mod d, P1 = B \
                    with total 1 mod d",
        status: Status::Proved,
        cases: || quotient_cases(3),
        check: thirds,
        completes: false,
    },
    Claim {
        name: "fts-4",
        statement: "d = 4: the same sets as for d = 2",
        status: Status::Proved,
        cases: || quotient_cases(4),
        check: halves,
        completes: false,
    },
    Claim {
        name: "fts-completion",
        statement: "three heaps: for each (x,y) exactly one z = f(x,y) has (x,y,z) in P1; any number of heaps: at most \
                    one",
        status: Status::Proved,
        cases: completion_cases,
        check: completion::unique,
        completes: true,
    },
    Claim {
        name: "fts-mex",
        statement: "three heaps: f(x,y) = mex({kd-x-y} and {f(x,y') : y' < y} and {f(x',y) : x' < x})",
        status: Status::Proved,
        cases: completion_cases,
        check: completion::mex,
        completes: true,
    },
    Claim {
        name: "fts-bounds",
        statement: "three heaps: |x-y|-1 <= f(x,y) <= x+y+1, and f(x,y) = x+y+1 only if d divides 2(x+y)",
        status: Status::Proved,
        cases: completion_cases,
        check: completion::bounds,
        completes: true,
    },
    Claim {
        name: "fts-power-of-two",
        statement: "three heaps, d = 2h a power of two, q = floor(x/h), r = x mod h: P1 iff XOR of q = 0 and r is a \
                    P-position of misere Nim; P0 iff XOR of q = 0 and r = 0",
        status: Status::Proved,
        cases: || (2..=6).map(|k| case(3, 200, 1 << k)).collect(),
        check: power_of_two,
        completes: false,
    },
];

fn case(heaps: u32, max: u64, d: u64) -> Case {
    Case { heaps, max, width: None, d: Some(d) }
}

fn nim_cases() -> Vec<Case> {
    [(1, 2000), (2, 2000), (3, 400), (4, 120), (5, 60), (6, 36)]
        .map(|(heaps, max)| Case { heaps, max, width: None, d: None })
        .into()
}

fn quotient_cases(d: u64) -> Vec<Case> {
    [(2, 1000), (3, 300), (4, 100), (5, 48), (6, 30)].map(|(heaps, max)| case(heaps, max, d)).into()
}

fn completion_cases() -> Vec<Case> {
    (2..=32).map(|d| case(3, 300, d)).collect()
}

/// The game of a case: nothing forbidden, or the multiples of d.
pub(super) fn rules(case: &Case) -> Result<Ruleset> {
    let forbidden = case.d.map_or_else(ForbiddenTotals::default, ForbiddenTotals::multiples_of);
    Ok(Ruleset::forbidden_total_size(case.heaps)?.with_forbidden(forbidden))
}

/// XOR of the shifted heaps that all positions of a row have.
fn xor(row: &Row<'_>, shift: u32) -> u32 {
    row.smaller_heaps().fold(0, |sum, size| sum ^ (size >> shift))
}

fn nim_bouton(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let region = Region::new(case.heaps, case.max)?;
    let claimed = |row: &Row<'_>, word| [0, quotients(row, word, 0, xor(row, 0), |_, _| true)];
    set::check(&rules(case)?, &region, options, watch, claimed)
}

fn nim_misere(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let region = Region::new(case.heaps, case.max)?;
    let zero: ForbiddenTotals = "0".parse()?;
    set::check(&rules(case)?.with_forbidden(zero), &region, options, watch, misere_words)
}

fn misere_words(row: &Row<'_>, word: u32) -> Words {
    let all = quotients(row, word, 0, xor(row, 0), |_, _| true);
    if row.rest > 2 || row.smaller_heaps().any(|size| size > 1) {
        return [0, all];
    }
    let ones = row.smaller_heaps().sum::<u32>() + row.rest;
    let is_small = |first, second| first <= 1 && second <= 1;
    let small = one_by_one(row, word, is_small);
    let odd = if ones % 2 == 1 { small } else { 0 };
    let empty = if ones == 0 { small } else { 0 };
    [empty, (all & !small) | odd]
}

fn two_heaps(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    if case.heaps != 2 {
        return Err(about_else("two heaps", "leave --heaps out", options));
    }
    let region = Region::new(2, case.max)?;
    let d = case.d.unwrap_or(1);
    let in_d = |x: u32| (2 * u64::from(x)).is_multiple_of(d);
    let claimed = |row: &Row<'_>, word: u32| {
        // The heaps differ by 0 or 1, so x₂ is half the total.
        let x = row.rest / 2;
        let bit = if x / 32 == word { 1 << (x % 32) } else { 0 };
        let (p0, p1) =
            if row.rest.is_multiple_of(2) { (in_d(x), !in_d(x) && !in_d(x - 1)) } else { (false, in_d(x)) };
        [if p0 { bit } else { 0 }, if p1 { bit } else { 0 }]
    };
    set::check(&rules(case)?, &region, options, watch, claimed)
}

fn halves(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let region = Region::new(case.heaps, case.max)?;
    let claimed = |row: &Row<'_>, word| {
        let smaller = row.smaller_heaps().fold(0, |sum, size| sum | (size % 2));
        let odd = row.smaller_heaps().fold(row.rest, |sum, size| sum ^ size) % 2 == 1;
        let set = |keep: &dyn Fn(u32, u32) -> bool| quotients(row, word, 1, xor(row, 1), keep);
        [set(&|first, second| smaller | first | second == 0), set(&|_, _| odd)]
    };
    set::check(&rules(case)?, &region, options, watch, claimed)
}

fn thirds(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let region = Region::new(case.heaps, case.max)?;
    let d = case.d.and_then(|d| u32::try_from(d).ok()).unwrap_or(u32::MAX);
    let claimed = |row: &Row<'_>, word| {
        let residue = (row.smaller_heaps().sum::<u32>() + row.rest) % d;
        if residue > 1 {
            return [0, 0];
        }
        let quotient = row.smaller_heaps().fold(0, |sum, size| sum ^ (size / d));
        let small = |size: u32| residue == 1 || size % d != d - 1;
        if !row.smaller_heaps().all(small) {
            return [0, 0];
        }
        let set = one_by_one(row, word, |first, second| {
            (first / d) ^ (second / d) == quotient && small(first) && small(second)
        });
        if residue == 0 { [set, 0] } else { [0, set] }
    };
    set::check(&rules(case)?, &region, options, watch, claimed)
}

fn power_of_two(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let d = case.d.unwrap_or(0);
    if !d.is_power_of_two() || !(4..=1 << 31).contains(&d) {
        return Err(about_else("powers of two", "give --d 4, 8, 16, …", options));
    }
    let region = Region::new(case.heaps, case.max)?;
    let shift = d.trailing_zeros() - 1;
    let low = (1 << shift) - 1;
    let claimed = |row: &Row<'_>, word| {
        let (mut sum, mut most, mut ones) = (0, 0, 0);
        for residue in row.smaller_heaps().map(|size| size & low) {
            (sum, most, ones) = (sum ^ residue, most.max(residue), ones + u32::from(residue == 1));
        }
        let misere = |first: u32, second: u32| {
            if most.max(first).max(second) >= 2 {
                sum ^ first ^ second == 0
            } else {
                (ones + first + second) % 2 == 1
            }
        };
        let set = |keep: &dyn Fn(u32, u32) -> bool| quotients(row, word, shift, xor(row, shift), keep);
        [set(&|first, second| most | first | second == 0), set(&misere)]
    };
    set::check(&rules(case)?, &region, options, watch, claimed)
}

/// The error of a claim that is about something else, with what would work where the game is not given by a store.
pub(super) fn about_else(what: &str, remedy: &str, options: &Options) -> Error {
    if options.source.is_some() { about(what) } else { about(&format!("{what}; {remedy}")) }
}

/// The error of a claim that is about something else.
pub(super) fn about(what: &str) -> Error {
    Error::ClaimCase { claim: "", reason: format!("it is about {what}") }
}
