//! The verdicts of a few positions, and their remoteness.

use std::collections::{BTreeMap, HashMap};

use crate::game::Position;
use crate::solver::Observer;
use crate::space::Stratum;

/// Looks up given positions while their region is solved.
pub struct Lookup {
    /// By total, so that a stratum does not go through those of all others.
    strata: HashMap<u64, BTreeMap<Position, Option<Found>>>,
}

#[derive(Clone, Copy)]
struct Found {
    is_p: bool,
    remoteness: Option<u32>,
}

impl Lookup {
    /// Will look these positions up.
    pub fn new(positions: impl IntoIterator<Item = Position>) -> Self {
        let mut strata: HashMap<u64, BTreeMap<_, _>> = HashMap::new();
        for position in positions {
            strata.entry(position.total()).or_default().insert(position, None);
        }
        Self { strata }
    }

    /// Whether this is a P-position. `None` when it was not among those asked for or its stratum was not solved.
    #[must_use]
    pub fn is_p(&self, position: &Position) -> Option<bool> {
        self.found(position).map(|found| found.is_p)
    }

    /// The remoteness of this position. `None` as for [`is_p`](Self::is_p), and where only verdicts were solved.
    #[must_use]
    pub fn remoteness(&self, position: &Position) -> Option<u32> {
        self.found(position)?.remoteness
    }

    fn found(&self, position: &Position) -> Option<Found> {
        self.strata.get(&position.total())?.get(position).copied().flatten()
    }
}

impl Observer for Lookup {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        for (position, found) in self.strata.get_mut(&u64::from(stratum.total)).into_iter().flatten() {
            let look = |is_p| Found { is_p, remoteness: stratum.remoteness(position) };
            *found = found.or_else(|| stratum.is_p(position).map(look));
        }
    }
}
