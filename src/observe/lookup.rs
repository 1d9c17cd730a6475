//! The verdicts of a few positions.

use std::collections::BTreeMap;

use crate::game::Position;
use crate::solver::Observer;
use crate::space::Stratum;

/// Looks up the verdicts of given positions while their region is solved.
pub struct Lookup {
    verdicts: BTreeMap<Position, Option<bool>>,
}

impl Lookup {
    /// Will look these positions up.
    pub fn new(positions: impl IntoIterator<Item = Position>) -> Self {
        Self { verdicts: positions.into_iter().map(|position| (position, None)).collect() }
    }

    /// Whether this is a P-position. `None` when it was not among those asked for or its stratum was not solved.
    #[must_use]
    pub fn is_p(&self, position: &Position) -> Option<bool> {
        self.verdicts.get(position).copied().flatten()
    }
}

impl Observer for Lookup {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        for (position, verdict) in &mut self.verdicts {
            *verdict = verdict.or_else(|| stratum.is_p(position));
        }
    }
}
