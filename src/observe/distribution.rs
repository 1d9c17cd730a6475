//! How remoteness is distributed, and the longest games.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checkpoint::Resumable;
use crate::game::Position;
use crate::solver::Observer;
use crate::space::{Cell, Key, Run, Stratum};

/// Counts how many positions there are of each remoteness, and finds the longest games. Strata of verdicts add nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Distribution {
    counts: Vec<u64>,
    /// The longest loss (R even) and the longest win (R odd).
    longest: [Option<Longest>; 2],
}

/// A position with the greatest remoteness of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Longest {
    /// The remoteness.
    pub remoteness: u32,
    /// The first position that has it: least total first, then canonical order.
    pub position: Position,
}

/// Tables in which a part counts side by side, so that equal neighbours do not wait for each other.
const TABLES: usize = 4;

impl Distribution {
    /// The number of positions at each remoteness, from 0 up to the greatest that occurs.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The greatest remoteness that occurs; `None` before a stratum was observed.
    #[must_use]
    pub fn max_remoteness(&self) -> Option<u32> {
        self.counts.len().checked_sub(1).map(|last| last as u32)
    }

    /// The longest win: the greatest odd remoteness. `None` when every position is lost.
    #[must_use]
    pub fn longest_win(&self) -> Option<&Longest> {
        self.longest[1].as_ref()
    }

    /// The longest loss: the greatest even remoteness. `None` when every position is won.
    #[must_use]
    pub fn longest_loss(&self) -> Option<&Longest> {
        self.longest[0].as_ref()
    }

    fn observe_keys<K: Key>(&mut self, stratum: &Stratum<'_>) {
        let new = || Histogram::new(stratum.total);
        let parts = stratum.fold_runs(new, |histogram, run: &Run<'_, K>| histogram.add(run.keys));
        let mut greatest = [None; 2];
        for part in parts {
            for (remoteness, count) in part.counts() {
                let index = remoteness as usize;
                if index >= self.counts.len() {
                    self.counts.resize(index + 1, 0);
                }
                self.counts[index] += count;
                greatest[index % 2] = greatest[index % 2].max(Some(remoteness));
            }
        }
        for (longest, greatest) in self.longest.iter_mut().zip(greatest) {
            let Some(remoteness) = greatest else { continue };
            if longest.as_ref().is_none_or(|longest| longest.remoteness < remoteness) {
                *longest =
                    first_of::<K>(stratum, remoteness).map(|position| Longest { remoteness, position });
            }
        }
    }
}

impl Observer for Distribution {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        match stratum.cell() {
            Cell::Verdicts => {}
            Cell::Remoteness8 => self.observe_keys::<u8>(stratum),
            Cell::Remoteness16 => self.observe_keys::<u16>(stratum),
        }
    }
}

impl Resumable for Distribution {
    fn save(&self) -> Value {
        serde_json::to_value(self).expect("it has no keys but strings")
    }

    fn load(&mut self, saved: Value) -> Option<()> {
        *self = serde_json::from_value(saved).ok()?;
        Some(())
    }
}

/// The first position of a stratum, in canonical order, with this remoteness.
fn first_of<K: Key>(stratum: &Stratum<'_>, remoteness: u32) -> Option<Position> {
    let wanted = K::of(remoteness);
    let parts = stratum.fold_runs(
        || None::<Position>,
        |first, run: &Run<'_, K>| {
            // The first of a run has its least lane.
            let Some(index) = run.keys.iter().position(|&key| key == wanted) else { return };
            let position = run.position(index);
            if first.as_ref().is_none_or(|first| position < *first) {
                *first = Some(position);
            }
        },
    );
    parts.into_iter().flatten().min()
}

/// How often each key occurs in a part of a stratum.
struct Histogram {
    /// Indexed by the key as a signed number, from `origin` on.
    tables: [Vec<u32>; TABLES],
    /// The index of 0.
    origin: i32,
}

impl Histogram {
    /// For positions with `total` stones: a game lasts at most as many moves, so R is at most total + 1.
    fn new(total: u32) -> Self {
        let origin = total as i32 / 2 + 2;
        Self { tables: std::array::from_fn(|_| vec![0; 2 * origin as usize]), origin }
    }

    fn add<K: Key>(&mut self, keys: &[K]) {
        let chunks = keys.chunks_exact(TABLES);
        for (table, key) in self.tables.iter_mut().zip(chunks.remainder()) {
            table[(self.origin + key.signed()) as usize] += 1;
        }
        for chunk in chunks {
            for (table, key) in self.tables.iter_mut().zip(chunk) {
                table[(self.origin + key.signed()) as usize] += 1;
            }
        }
    }

    /// Every remoteness that occurs, with its count.
    fn counts(&self) -> impl Iterator<Item = (u32, u64)> {
        let count = |index: usize| self.tables.iter().map(|table| u64::from(table[index])).sum();
        let counts = (0..self.tables[0].len()).map(move |index| (index as i32 - self.origin, count(index)));
        counts.filter(|&(_, count)| count > 0).map(|(signed, count)| {
            let remoteness = if signed < 0 { -2 * (signed + 1) } else { 2 * signed - 1 };
            (remoteness as u32, count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Ruleset;
    use crate::oracle;
    use crate::solver::{BackendChoice, Options, Quantity, Solver};
    use crate::space::Region;
    use std::ops::ControlFlow;

    #[test]
    fn counts_and_longest_games_are_the_oracles() {
        for (heaps, width, max, misere) in
            [(1, 1, 9, false), (2, 1, 12, true), (3, 2, 14, false), (4, 3, 11, true), (5, 2, 6, false)]
        {
            let rules = Ruleset::bounded_moore(heaps, width).unwrap().with_misere(misere);
            let region = Region::new(heaps, max).unwrap();
            let options =
                Options { backend: BackendChoice::Cpu, quantity: Quantity::Remoteness, ..Options::default() };
            let mut distribution = Distribution::default();
            let mut solver = Solver::new(&rules, &region, &options).unwrap();
            solver.run(&mut [&mut distribution], &mut |_| ControlFlow::Continue(())).unwrap();
            let solved = oracle::remoteness(&rules, &region);
            let greatest = *solved.values().max().unwrap();
            assert_eq!(distribution.max_remoteness(), Some(greatest));
            for remoteness in 0..=greatest {
                let count = solved.values().filter(|&&value| value == remoteness).count() as u64;
                assert_eq!(distribution.counts()[remoteness as usize], count, "{rules}: R = {remoteness}");
            }
            for (longest, parity) in [(distribution.longest_loss(), 0), (distribution.longest_win(), 1)] {
                let remoteness = *solved.values().filter(|&&value| value % 2 == parity).max().unwrap();
                let of_it = solved.iter().filter(|&(_, &value)| value == remoteness);
                let position = of_it.map(|(position, _)| position).min_by_key(|p| (p.total(), (*p).clone()));
                let position = position.unwrap().clone();
                assert_eq!(longest, Some(&Longest { remoteness, position }), "{rules} ≤ {max}");
            }
        }
    }
}
