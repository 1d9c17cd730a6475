//! Claims that describe the sets P₀ and P₁: formed a word at a time and compared with the verdicts.

use super::Finding;
use super::violations::Violations;
use crate::error::Result;
use crate::game::Ruleset;
use crate::solver::{Observer, Options, Solver, Watch};
use crate::space::{Region, Row, Stratum};

/// Two words of a row: which of its 32 values of x₂ are claimed to be in P₀, and which in P₁. Values that are not in
/// the row may be claimed either way.
pub(super) type Words = [u32; 2];

/// Solves a region and compares P₀ and P₁ with what a claim says of word `.1` of row `.0`.
pub(super) fn check(
    rules: &Ruleset,
    region: &Region,
    options: &Options,
    watch: &mut Watch<'_>,
    claimed: impl Fn(&Row<'_>, u32) -> Words + Sync + Send,
) -> Result<Finding> {
    let mut comparison = Comparison { claimed, violations: Violations::default() };
    let summary = Solver::new(rules, region, options)?.run(&mut [&mut comparison], watch)?;
    Ok(comparison.violations.finding(summary.positions))
}

struct Comparison<F> {
    claimed: F,
    violations: Violations,
}

impl<F: Fn(&Row<'_>, u32) -> Words + Sync + Send> Observer for Comparison<F> {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        let (claimed, violations) = (&self.claimed, &self.violations);
        let parts = stratum.fold_rows(
            || violations.part(),
            |part, row| {
                for word in row.word_range() {
                    let [p0, p1] = claimed(row, word);
                    // All P-positions of a forbidden total are P₀ and none P₁, and the other way round.
                    let (expected, absent) = if stratum.forbidden { (p0, p1) } else { (p1, p0) };
                    let wrong = ((row.word(word) ^ expected) | absent) & row.valid(word);
                    let first = || row.position(word * 32 + wrong.trailing_zeros());
                    part.add(u64::from(wrong.count_ones()), first);
                }
            },
        );
        self.violations.add_parts(parts);
    }
}

/// The values of x₂ in word `word` that agree with `value` in every bit but the `free` ones, which may be anything.
pub(super) fn agreeing(word: u32, free: u32, value: u32) -> u32 {
    if ((word * 32) ^ value) & !free & !31 != 0 {
        return 0;
    }
    // Start with the free bits zero, and double the set for each that is free.
    (0..5)
        .filter(|bit| free >> bit & 1 == 1)
        .fold(1 << (value & !free & 31), |set, bit| set | (set << (1 << bit)))
}

/// The values of x₂ in word `word` of a row for which ⌊x₁/h⌋ ⊕ ⌊x₂/h⌋ = `quotient`, h = 2^`shift`, and `residues`
/// holds for x₁ mod h and x₂ mod h.
///
/// In a row x₁ + x₂ = rest. Let r₂ = x₂ mod h. The quotients' sum T is ⌊rest/h⌋, or one less where r₂ > rest mod h. They
/// have XOR Q exactly when T − Q is twice a number `a` without a bit of Q, and ⌊x₂/h⌋ is `a` with any bits of Q besides.
pub(super) fn quotients(
    row: &Row<'_>,
    word: u32,
    shift: u32,
    quotient: u32,
    residues: impl Fn(u32, u32) -> bool,
) -> u32 {
    let low = (1u32 << shift) - 1;
    let (whole, part) = (row.rest >> shift, row.rest & low);
    let mut set = 0;
    for borrow in [0, 1] {
        let Some(twice) = whole.checked_sub(borrow + quotient) else { continue };
        if twice % 2 == 1 || (twice / 2) & quotient != 0 {
            continue;
        }
        let candidates = agreeing(word, (quotient << shift) | low, (twice / 2) << shift);
        let mut left = candidates;
        while left != 0 {
            let second = (word * 32 + left.trailing_zeros()) & low;
            if (second > part) == (borrow == 1) && residues(part.wrapping_sub(second) & low, second) {
                set |= left & left.wrapping_neg();
            }
            left &= left - 1;
        }
    }
    set
}

/// The values of x₂ in word `word` of a row for which `claimed` holds, one at a time.
pub(super) fn one_by_one(row: &Row<'_>, word: u32, claimed: impl Fn(u32, u32) -> bool) -> u32 {
    let mut left = row.valid(word);
    let mut set = 0;
    while left != 0 {
        let second = word * 32 + left.trailing_zeros();
        if claimed(row.rest - second, second) {
            set |= left & left.wrapping_neg();
        }
        left &= left - 1;
    }
    set
}
