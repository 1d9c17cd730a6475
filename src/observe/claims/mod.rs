//! Published claims, checked against solved verdicts.
//!
//! A claim is never checked by running a solver's formula again: the region is solved by a kernel, and the set that
//! the claim describes is formed from its own words, 32 positions at a time where it can be, and compared with the
//! bitmaps. A claim may be checked outside the range where it is stated (`--heaps`, `--max`, `--d`), and is then
//! refuted where it fails.

mod bounded_moore;
mod completion;
mod exact_slow;
mod fts;
mod set;
mod violations;

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::game::MOST_HEAPS;
use crate::game::Ruleset;
use crate::solver::{Options, SolvedBefore, Watch};

/// How well a claim is founded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The source has a proof.
    Proved,
    /// Seen on a region.
    Observed,
    /// Believed, not proved.
    Conjecture,
}

impl Status {
    /// The status in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Observed => "observed",
            Self::Conjecture => "conjecture",
        }
    }
}

/// A claim with the regions on which it is checked by default.
#[derive(Clone, Copy)]
pub struct Claim {
    /// The name on the command line.
    pub name: &'static str,
    /// What is claimed.
    pub statement: &'static str,
    /// How well it is founded.
    pub status: Status,
    cases: fn() -> Vec<Case>,
    check: Check,
    /// Whether the cap of a case is that of heaps that are completed.
    completes: bool,
}

type Check = fn(&Case, &Options, &mut Watch<'_>) -> Result<Finding>;

/// One game and region on which a claim is checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// How many heaps.
    pub heaps: u32,
    /// The greatest heap size. For claims on completions, that of the heaps that are completed.
    pub max: u64,
    /// How many heaps a move touches at most; `None` for claims that say so themselves.
    pub width: Option<u32>,
    /// The divisor of the forbidden totals, at least 1; `None` for games that have none.
    pub d: Option<u64>,
}

impl fmt::Display for Case {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.heaps == 1 { "" } else { "s" };
        write!(out, "{} heap{plural} up to {}", self.heaps, self.max)?;
        self.width.map_or(Ok(()), |width| write!(out, ", width {width}"))?;
        self.d.map_or(Ok(()), |d| write!(out, ", d = {d}"))
    }
}

/// What a user puts in place of the default cases' numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overrides {
    /// How many heaps.
    pub heaps: Option<u32>,
    /// The greatest heap size.
    pub max: Option<u64>,
    /// How many heaps a move touches at most.
    pub width: Option<u32>,
    /// The divisor of the forbidden totals.
    pub d: Option<u64>,
}

/// What checking a claim on a region found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The claim's name.
    pub claim: &'static str,
    /// The game and region, such as `3 heaps up to 300, d = 5`.
    pub region: String,
    /// How many positions were solved.
    pub positions: u64,
    /// Whether the claim holds on all of the region.
    pub holds: bool,
    /// How many positions (for completions: multisets to be completed; for parity words: words) contradict it.
    pub violations: u64,
    /// The first of them, by total and then in canonical order.
    pub counterexample: Option<String>,
    /// What else is worth knowing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a check found, without the names.
#[derive(Default)]
struct Finding {
    positions: u64,
    violations: u64,
    counterexample: Option<String>,
    note: Option<String>,
}

impl Claim {
    /// The cases to check: the default ones with the user's numbers put in, each once. Those of games that this leaves
    /// with fewer heaps than a move touches are left out, unless the width is the user's.
    ///
    /// # Errors
    /// [`Error::ClaimCase`] when the claim has no width or no divisor to replace, or a divisor is 0; [`Error::Heaps`].
    pub fn cases(&self, overrides: &Overrides) -> Result<Vec<Case>> {
        let refuse = |reason: &str| Error::ClaimCase { claim: self.name, reason: reason.to_owned() };
        let put = |case: Case| match (case.d, overrides.d) {
            (_, Some(0)) => Err(refuse("--d 0 divides nothing; give 1 or more")),
            (None, Some(_)) => Err(refuse("it is about a game without --d; leave --d out")),
            _ if case.width.is_none() && overrides.width.is_some() => {
                Err(refuse("it is about a game without --width; leave --width out"))
            }
            (d, wanted) => Ok(Case {
                heaps: overrides.heaps.unwrap_or(case.heaps),
                max: overrides.max.unwrap_or(case.max),
                width: overrides.width.or(case.width),
                d: wanted.or(d),
            }),
        };
        if let Some(heaps) = overrides.heaps.filter(|heaps| !(1..=MOST_HEAPS).contains(heaps)) {
            return Err(Error::Heaps { heaps, most: MOST_HEAPS });
        }
        let mut seen = BTreeSet::new();
        let cases = (self.cases)().into_iter().map(put).collect::<Result<Vec<_>>>()?;
        let is_game =
            |case: &Case| overrides.width.is_some() || case.width.is_none_or(|width| width <= case.heaps);
        Ok(cases.into_iter().filter(|case| is_game(case) && seen.insert(case.clone())).collect())
    }

    /// The case on which what was solved before is to be checked: its numbers are taken from there. What the claim is
    /// not about in spite of that, [`check`](Self::check) refuses.
    ///
    /// # Errors
    /// [`Error::ClaimCase`] when the claim is about games that have something this one has not, or about regions of
    /// another kind; [`Error::OtherStore`] when the user's numbers are others.
    pub fn case_of(&self, source: &dyn SolvedBefore, overrides: &Overrides) -> Result<Case> {
        let (rules, region, name) = (source.rules(), source.region(), source.name());
        let refuse = |reason: String| Error::ClaimCase { claim: self.name, reason };
        let like = (self.cases)().into_iter().next();
        let d = match like.as_ref().and_then(|case| case.d) {
            Some(_) => Some(rules.forbidden.divisor().ok_or_else(|| {
                refuse(format!("it is about the multiples of d being forbidden, and {name} holds {rules}"))
            })?),
            None => None,
        };
        let max = if self.completes {
            completion::largest_within(region).ok_or_else(|| {
                refuse(format!("it is about completions, and {name} has no room for those of any heaps"))
            })?
        } else if region.bound().is_some() {
            return Err(refuse(format!(
                "it is checked on all totals, and {name} stops at {}",
                region.strata().end - 1
            )));
        } else {
            region.max().into()
        };
        let width = like.and_then(|case| case.width).map(|_| rules.touch_most);
        let there = Case { heaps: rules.heaps, max, width, d };
        let smaller = overrides.max.filter(|&wanted| self.completes && wanted < max).unwrap_or(max);
        let there = Case { max: smaller, ..there };
        let wanted = Case {
            heaps: overrides.heaps.unwrap_or(there.heaps),
            max: overrides.max.unwrap_or(there.max),
            width: overrides.width.or(there.width),
            d: overrides.d.or(there.d),
        };
        if wanted == there {
            return Ok(there);
        }
        let [there, wanted] = [there, wanted].map(|case| case.to_string());
        Err(Error::OtherStore { path: name.into(), there, wanted })
    }

    /// As [`case_of`](Self::case_of), but a game with another number of heaps, width or d than all cases of the claim have
    /// is refused, too, unless the user has typed it.
    ///
    /// # Errors
    /// As [`case_of`](Self::case_of).
    pub fn case_like(&self, source: &dyn SolvedBefore, overrides: &Overrides) -> Result<Case> {
        self.refuse_others(source.rules(), overrides, &source.name())?;
        self.case_of(source, overrides)
    }

    fn refuse_others(&self, rules: &Ruleset, overrides: &Overrides, name: &str) -> Result<()> {
        let cases = (self.cases)();
        let only = |number: &dyn Fn(&Case) -> Option<u64>| {
            let first = cases.first().and_then(number)?;
            cases.iter().all(|case| number(case) == Some(first)).then_some(first)
        };
        let numbers = [
            (
                "--heaps",
                only(&|case| Some(case.heaps.into())),
                Some(rules.heaps.into()),
                overrides.heaps.is_some(),
            ),
            (
                "--width",
                only(&|case| case.width.map(u64::from)),
                Some(rules.touch_most.into()),
                overrides.width.is_some(),
            ),
            ("--d", only(&|case| case.d), rules.forbidden.divisor(), overrides.d.is_some()),
        ];
        for (option, claimed, there, typed) in numbers {
            if let (Some(claimed), Some(there), false) = (claimed, there, typed)
                && claimed != there
            {
                let reason = format!("it is about {option} {claimed}, and {name} holds {option} {there}");
                return Err(Error::ClaimCase { claim: self.name, reason });
            }
        }
        Ok(())
    }

    /// Solves the region of a case and checks the claim on it.
    ///
    /// # Errors
    /// [`Error::ClaimCase`] when the claim says nothing about that number of heaps, or nothing about what the options
    /// say is to be read; otherwise as [`Solver::new`](crate::solver::Solver::new) and
    /// [`Solver::run`](crate::solver::Solver::run).
    pub fn check(&self, case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Outcome> {
        let finding = (self.check)(case, options, watch).map_err(|error| match error {
            Error::ClaimCase { reason, .. } => Error::ClaimCase { claim: self.name, reason },
            Error::OtherStore { path, there, wanted } => {
                let reason = format!("it is about {wanted}, and {} holds {there}", path.display());
                Error::ClaimCase { claim: self.name, reason }
            }
            error => error,
        })?;
        Ok(Outcome {
            claim: self.name,
            region: case.to_string(),
            positions: finding.positions,
            holds: finding.violations == 0,
            violations: finding.violations,
            counterexample: finding.counterexample,
            note: finding.note,
        })
    }
}

/// All claims, in the order in which they are listed.
pub fn all() -> impl Iterator<Item = &'static Claim> {
    fts::CLAIMS.iter().chain(&exact_slow::CLAIMS).chain(&bounded_moore::CLAIMS)
}

/// The claim of this name.
///
/// # Errors
/// [`Error::UnknownClaim`] when there is none.
pub fn find(name: &str) -> Result<&'static Claim> {
    all().find(|claim| claim.name == name).ok_or_else(|| Error::UnknownClaim {
        name: name.to_owned(),
        similar: all().map(|claim| claim.name).filter(|known| is_similar(name, known)).collect(),
        known: all().map(|claim| claim.name).collect(),
    })
}

/// Whether a name that does not exist may have been meant as one that does.
fn is_similar(name: &str, known: &str) -> bool {
    let name = name.to_lowercase().replace('_', "-");
    let part = name.len() >= 3 && (known.contains(&name) || name.contains(known));
    part || strsim::damerau_levenshtein(&name, known) <= 1 + known.len() / 8
}
