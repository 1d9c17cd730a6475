//! What is measured: a game, a region of it and a quantity; and those that are measured when none is named.

use nimstrata::Result;
use nimstrata::game::{Ruleset, Take};
use nimstrata::solver::Quantity;
use nimstrata::space::{Cell, Region};

use crate::cli::game::Game;
use crate::cli::work;

/// Options that the baseline looks at in one measurement at most, about.
const BASELINE_WORK: u64 = 40_000_000;
/// The same with `--quick`.
const QUICK_BASELINE_WORK: u64 = 4_000_000;

/// A region to be solved.
#[derive(Clone)]
pub struct Case {
    /// The rules.
    pub rules: Ruleset,
    /// The positions.
    pub region: Region,
    /// What to find out.
    pub quantity: Quantity,
}

impl Case {
    /// The cases measured when no game is named: verdicts of few and of many heaps, remoteness, and a game of the sieve.
    pub fn usual(quick: bool) -> Result<Vec<Self>> {
        let fts = Ruleset::forbidden_total_size(3)?.with_forbidden("5k".parse()?);
        let (verdict, remoteness) = (Quantity::Verdict, Quantity::Remoteness);
        [
            (Ruleset::bounded_moore(5, 2)?, [100, 200], verdict),
            (Ruleset::bounded_moore(7, 3)?, [24, 40], verdict),
            (Ruleset::bounded_moore(4, 3)?, [80, 200], remoteness),
            (fts, [400, 1000], verdict),
        ]
        .into_iter()
        .map(|(rules, caps, quantity)| {
            let region = Region::new(rules.heaps, caps[usize::from(!quick)])?;
            Ok(Self { rules, region, quantity })
        })
        .collect()
    }

    /// The game and what is asked, as on the command line, without the region.
    pub fn name(&self) -> String {
        let options = Game::of(self.rules.clone()).options(&self.region);
        let game = options.split(" --max ").next().unwrap_or_default();
        let quantity = if self.quantity == Quantity::Remoteness { " --quantity remoteness" } else { "" };
        format!("{game}{quantity}")
    }

    /// The same with another cap, and the greatest total in proportion.
    pub fn with_cap(&self, cap: u32) -> Result<Self> {
        let (full, last) = (u64::from(self.region.max()), u64::from(self.region.strata().end) - 1);
        let total = (last * u64::from(cap)).div_ceil(full.max(1));
        let region = Region::new(self.rules.heaps, cap.into())?.up_to_total(total);
        Ok(Self { region, ..self.clone() })
    }

    /// The part of the case that the baseline solves in bearable time.
    pub fn for_baseline(&self, quick: bool) -> Result<Self> {
        let most = if quick { QUICK_BASELINE_WORK } else { BASELINE_WORK };
        self.largest(|case| case.region.positions().saturating_mul(case.moves().max(1)) <= most)
    }

    /// The greatest cap, up to the case's own, that still is small enough.
    pub fn largest(&self, small: impl Fn(&Self) -> bool) -> Result<Self> {
        let (mut low, mut high) = (0, self.region.max() + 1);
        while low + 1 < high {
            let middle = u32::midpoint(low, high);
            let fits = self.with_cap(middle).is_ok_and(|case| small(&case));
            (low, high) = if fits { (middle, high) } else { (low, middle) };
        }
        self.with_cap(low)
    }

    /// By what the baseline's positions a second at another cap are multiplied for those at this one. Where it takes one
    /// stone its work for a position does not depend on the cap; where it takes any number it grows in proportion.
    pub fn baseline_scale(&self, solved: &Self) -> f64 {
        match self.rules.take {
            Take::One => 1.0,
            _ => f64::from(solved.region.max().max(1)) / f64::from(self.region.max().max(1)),
        }
    }

    /// Moves of a position, about.
    fn moves(&self) -> u64 {
        let heaps = u64::from(self.rules.heaps);
        match self.rules.take {
            Take::One => {
                let sets = |size: u32| (0..u64::from(size)).fold(1, |sets, k| sets * (heaps - k) / (k + 1));
                (self.rules.touch_least..=self.rules.touch_most).map(sets).sum()
            }
            _ => heaps * u64::from(self.region.max()) / 4,
        }
    }

    /// What the cells of its strata hold.
    pub fn cell(&self) -> Result<Cell> {
        work::cell(&self.rules, &self.region, self.quantity)
    }
}
