//! Positions that contradict a claim: how many, and which is first.

use super::Finding;
use crate::game::Position;

/// Positions that contradict a claim, of a whole region or of one part of a stratum.
#[derive(Default)]
pub(super) struct Violations {
    count: u64,
    /// The first by total and then in canonical order, with its total.
    first: Option<(u64, Position)>,
    /// Whether it is known that no later position comes first.
    settled: bool,
}

impl Violations {
    /// An empty list for a part of a stratum, when strata come by increasing totals.
    pub fn part(&self) -> Self {
        Self { count: 0, first: None, settled: self.first.is_some() }
    }

    /// Adds `count` positions, of which `first` is the first.
    pub fn add(&mut self, count: u64, first: impl FnOnce() -> Position) {
        self.count += count;
        if count > 0 && !self.settled {
            let position = first();
            self.consider(Some((position.total(), position)));
        }
    }

    /// Adds what the parts of a stratum hold.
    pub fn add_parts(&mut self, parts: Vec<Self>) {
        for part in parts {
            self.count += part.count;
            self.consider(part.first);
        }
    }

    fn consider(&mut self, position: Option<(u64, Position)>) {
        self.first = self.first.take().into_iter().chain(position).min();
    }

    /// What a check of so many positions found.
    pub fn finding(self, positions: u64) -> Finding {
        let counterexample = self.first.map(|(_, position)| position.to_string());
        Finding { positions, violations: self.count, counterexample, note: None }
    }
}
