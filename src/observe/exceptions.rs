//! Exceptions: positions of exact slow Nim NIM(n, n−1) whose [M-move](crate::game::m_move) is not optimal.
//!
//! In normal play there are none, as is proved; in misère play there are, and most of them follow from others. Write
//! x₁ ≤ … ≤ xₙ. An exception **follows** from another if it is
//!
//! - that one with its largest heap grown: (x₁, …, xₙ₋₁, y) with xₙ₋₁ ≤ y < xₙ is an exception, or
//! - that one with heaps appended, none smaller than its largest: for some m with 2 ≤ m < n, (x₁, …, xₘ) is an
//!   exception of NIM(m, m−1),
//!
//! and it is **minimal** if it follows from none. All exceptions found so far stay exceptions when they grow or are
//! appended to, so the minimal ones tell all.

use std::collections::HashSet;

use super::m_moves::{Judged, MMoves};
use crate::error::Result;
use crate::game::{Position, Ruleset, m_move};
use crate::solver::{Observer, Options, Solver, Watch};
use crate::space::{Region, Stratum};

/// A position whose M-move is not optimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The position x.
    pub position: Position,
    /// Its remoteness R(x).
    pub remoteness: u32,
    /// The position `x_M` after the M-move.
    pub m_move: Position,
    /// Its remoteness `R(x_M)`, which is not R(x) − 1.
    pub m_remoteness: u32,
    /// The positions that the optimal moves lead to, in canonical order; their remoteness is R(x) − 1.
    pub optimal: Vec<Position>,
    /// Whether it follows from no other exception; `None` where those of fewer heaps were not asked for.
    pub minimal: Option<bool>,
}

/// An exception before it is known whether anybody wants to read it.
struct Found {
    position: Position,
    remoteness: u32,
    m_remoteness: u32,
    /// Bit i: keeping heap i, the last of equal ones, is optimal.
    optimal: u32,
}

impl Found {
    fn new(judged: &Judged<'_>) -> Self {
        let sizes = judged.sizes;
        let is_move =
            |&heap: &usize| sizes.get(heap + 1) != Some(&sizes[heap]) && (heap == 0 || sizes[0] > 0);
        let is_optimal = |&heap: &usize| judged.keeping(heap) + 1 == judged.remoteness;
        let optimal =
            (0..sizes.len()).filter(is_move).filter(is_optimal).fold(0, |mask, heap| mask | 1 << heap);
        Self {
            position: judged.position(),
            remoteness: judged.remoteness,
            m_remoteness: judged.m_remoteness,
            optimal,
        }
    }

    fn describe(self, minimal: Option<bool>) -> Exception {
        let heaps = self.position.sizes().len();
        // The larger the kept heap, the smaller the position reached.
        let kept = (0..heaps).rev().filter(|heap| self.optimal >> heap & 1 == 1);
        Exception {
            remoteness: self.remoteness,
            m_move: m_move(&self.position).expect("an exception has a move"),
            m_remoteness: self.m_remoteness,
            optimal: kept.map(|heap| keep(&self.position, heap)).collect(),
            minimal,
            position: self.position,
        }
    }
}

/// The position after the move that keeps this heap.
fn keep(position: &Position, kept: usize) -> Position {
    let sizes = position.sizes().iter().enumerate();
    Position::new(sizes.map(|(heap, &size)| size - u32::from(heap != kept)).collect())
}

/// Receives exceptions, one after the other.
type List<'a> = Box<dyn FnMut(&Exception) + Send + 'a>;

/// Finds the exceptions of a game while its remoteness is solved.
pub struct Exceptions<'a> {
    moves: MMoves,
    covered: Option<Covered>,
    list: Option<List<'a>>,
    list_minimal_only: bool,
    positions: u64,
    count: u64,
    minimal: u64,
}

impl<'a> Exceptions<'a> {
    /// Will count the exceptions of a game.
    ///
    /// # Errors
    /// [`Error::NoMRule`](crate::Error::NoMRule) for any other game than NIM(n, n−1) with nothing forbidden.
    pub fn new(rules: &Ruleset) -> Result<Self> {
        let moves = MMoves::new(rules)?;
        Ok(Self {
            moves,
            covered: None,
            list: None,
            list_minimal_only: false,
            positions: 0,
            count: 0,
            minimal: 0,
        })
    }

    /// Will tell the minimal exceptions from the others, given those of fewer heaps.
    #[must_use]
    pub fn with_shorter(self, shorter: Shorter) -> Self {
        Self { covered: Some(Covered { shorter, stems: HashSet::new() }), ..self }
    }

    /// Will call `list` with every exception: by total, and in canonical order in each stratum.
    #[must_use]
    pub fn listing(self, list: impl FnMut(&Exception) + Send + 'a) -> Self {
        Self { list: Some(Box::new(list)), ..self }
    }

    /// Will call `list` with every exception that is minimal, in the same order; needs
    /// [`with_shorter`](Self::with_shorter).
    #[must_use]
    pub fn listing_minimal(self, list: impl FnMut(&Exception) + Send + 'a) -> Self {
        Self { list_minimal_only: true, ..self.listing(list) }
    }

    /// How many positions were observed.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// How many of them are exceptions.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of those are minimal; `None` without the exceptions of fewer heaps.
    #[must_use]
    pub fn minimal(&self) -> Option<u64> {
        self.covered.as_ref().map(|_| self.minimal)
    }

    /// Counts exceptions that are not wanted one by one.
    fn count_only(&mut self, stratum: &Stratum<'_>) {
        let parts =
            self.moves.fold(stratum, || 0, |count, judged| *count += u64::from(judged.is_exception()));
        self.count += parts.into_iter().sum::<u64>();
    }
}

impl Observer for Exceptions<'_> {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        self.positions += stratum.positions;
        if self.covered.is_none() && self.list.is_none() {
            return self.count_only(stratum);
        }
        let parts = self.moves.fold(stratum, Vec::new, |part, judged| {
            if judged.is_exception() {
                part.push(Found::new(judged));
            }
        });
        let mut found = parts.into_iter().flatten().collect::<Vec<_>>();
        found.sort_unstable_by(|one, other| one.position.cmp(&other.position));
        self.count += found.len() as u64;
        for exception in found {
            let minimal = self.covered.as_mut().map(|covered| covered.is_new(exception.position.sizes()));
            self.minimal += u64::from(minimal == Some(true));
            if let Some(list) = &mut self.list
                && (minimal == Some(true) || !self.list_minimal_only)
            {
                list(&exception.describe(minimal));
            }
        }
    }
}

/// What exceptions may follow from.
struct Covered {
    shorter: Shorter,
    /// All exceptions so far without their largest heap. Those with a smaller largest heap have a smaller total, so they
    /// came before.
    stems: HashSet<Box<[u32]>>,
}

impl Covered {
    /// Whether an exception is minimal; it covers others from now on.
    fn is_new(&mut self, sizes: &[u32]) -> bool {
        let stem = &sizes[..sizes.len() - 1];
        let grown = !self.stems.insert(stem.into());
        !grown && !self.shorter.begin(stem)
    }
}

/// All exceptions of fewer heaps than a game has, of the same convention, cap and greatest total.
#[derive(Clone, Debug, Default)]
pub struct Shorter {
    found: HashSet<Box<[u32]>>,
}

impl Shorter {
    /// Solves the games NIM(m, m−1), 2 ≤ m < n, one after the other, also where the options say that the game of n
    /// heaps is read. `watch` is called after each of their strata.
    ///
    /// # Errors
    /// As [`Exceptions::new`], [`Solver::new`] and [`Solver::run`].
    pub fn find(rules: &Ruleset, region: &Region, options: &Options, watch: &mut Watch<'_>) -> Result<Self> {
        let last_total = u64::from(region.strata().end) - 1;
        let mut found = HashSet::new();
        for heaps in 2..rules.heaps {
            let rules = Ruleset::exact_slow(heaps, heaps - 1)?.with_misere(rules.misere);
            let region = Region::new(heaps, u64::from(region.max()))?.up_to_total(last_total);
            let mut exceptions = Exceptions::new(&rules)?.listing(|exception: &Exception| {
                found.insert(exception.position.sizes().into());
            });
            let options = Options { source: None, ..MMoves::options(&rules, &region, options) };
            Solver::new(&rules, &region, &options)?.run(&mut [&mut exceptions], watch)?;
        }
        Ok(Self { found })
    }

    /// The exceptions of this many heaps, in no particular order.
    pub fn of_heaps(&self, heaps: usize) -> impl Iterator<Item = &[u32]> {
        self.found.iter().map(|sizes| &**sizes).filter(move |sizes| sizes.len() == heaps)
    }

    /// Whether these nondecreasing sizes are one of the exceptions, or begin with one.
    #[must_use]
    pub fn begin(&self, sizes: &[u32]) -> bool {
        (2..=sizes.len()).any(|heaps| self.found.contains(&sizes[..heaps]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle;
    use crate::solver::{BackendChoice, Quantity};
    use std::collections::{BTreeSet, HashMap};
    use std::ops::ControlFlow;

    fn options() -> Options {
        Options { backend: BackendChoice::Cpu, quantity: Quantity::Remoteness, ..Options::default() }
    }

    /// All exceptions of a region, with what is asked for.
    fn list(rules: &Ruleset, region: &Region, minimal: bool) -> Vec<Exception> {
        let mut watch = |_: &_| ControlFlow::Continue(());
        let mut listed = Vec::new();
        let mut exceptions =
            Exceptions::new(rules).unwrap().listing(|exception: &Exception| listed.push(exception.clone()));
        if minimal {
            let shorter = Shorter::find(rules, region, &options(), &mut watch).unwrap();
            exceptions = exceptions.with_shorter(shorter);
        }
        Solver::new(rules, region, &options()).unwrap().run(&mut [&mut exceptions], &mut watch).unwrap();
        assert_eq!(exceptions.positions(), region.positions());
        let (count, of_minimal) = (exceptions.count(), exceptions.minimal());
        drop(exceptions);
        assert_eq!(count, listed.len() as u64);
        let counted = listed.iter().filter(|exception| exception.minimal == Some(true)).count() as u64;
        assert_eq!(of_minimal, minimal.then_some(counted));
        if minimal {
            let mut only_minimal = Vec::new();
            let shorter = Shorter::find(rules, region, &options(), &mut watch).unwrap();
            let mut exceptions = Exceptions::new(rules)
                .unwrap()
                .with_shorter(shorter)
                .listing_minimal(|exception: &Exception| only_minimal.push(exception.clone()));
            Solver::new(rules, region, &options()).unwrap().run(&mut [&mut exceptions], &mut watch).unwrap();
            drop(exceptions);
            assert!(
                only_minimal.iter().eq(listed.iter().filter(|exception| exception.minimal == Some(true)))
            );
        }
        listed
    }

    /// The exceptions straight from the oracle.
    fn by_oracle(rules: &Ruleset, region: &Region) -> (BTreeSet<Position>, HashMap<Position, u32>) {
        let solved = oracle::remoteness(rules, region);
        let is_exception = |position: &&Position| {
            m_move(position).is_some_and(|after| solved[&after] + 1 != solved[*position])
        };
        (solved.keys().filter(is_exception).cloned().collect(), solved)
    }

    fn misere(heaps: u32) -> Ruleset {
        Ruleset::exact_slow(heaps, heaps - 1).unwrap().with_misere(true)
    }

    #[test]
    fn published_numbers_of_misere_exceptions() {
        for (heaps, max, expected) in [(3, 16, 120), (4, 12, 365), (5, 9, 440), (6, 8, 616)] {
            let region = Region::new(heaps, max).unwrap();
            let mut exceptions = Exceptions::new(&misere(heaps)).unwrap();
            let mut solver = Solver::new(&misere(heaps), &region, &options()).unwrap();
            solver.run(&mut [&mut exceptions], &mut |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(exceptions.count(), expected, "{heaps} heaps ≤ {max}");
        }
    }

    #[test]
    fn normal_play_has_none() {
        for (heaps, max) in [(2, 20), (3, 30), (4, 16), (5, 10), (6, 7)] {
            let rules = Ruleset::exact_slow(heaps, heaps - 1).unwrap();
            assert_eq!(list(&rules, &Region::new(heaps, max).unwrap(), false), []);
        }
    }

    #[test]
    fn every_exception_is_listed_in_order_with_its_moves() {
        for (heaps, max) in [(3, 16), (4, 12), (5, 9), (6, 6)] {
            let (rules, region) = (misere(heaps), Region::new(heaps, max).unwrap());
            let (expected, solved) = by_oracle(&rules, &region);
            let listed = list(&rules, &region, false);
            let positions = listed.iter().map(|exception| exception.position.clone());
            assert_eq!(positions.clone().collect::<BTreeSet<_>>(), expected);
            assert!(positions.is_sorted_by_key(|position| (position.total(), position)));
            for exception in listed {
                assert_eq!(exception.remoteness, solved[&exception.position]);
                assert_eq!(Some(&exception.m_move), m_move(&exception.position).as_ref());
                assert_eq!(exception.m_remoteness, solved[&exception.m_move]);
                let moves = crate::game::legal_moves(&rules, &exception.position).into_iter();
                let optimal = moves.map(|one| one.to).filter(|to| solved[to] + 1 == exception.remoteness);
                assert_eq!(exception.optimal, optimal.collect::<Vec<_>>(), "{}", exception.position);
                assert_eq!(exception.minimal, None);
            }
        }
    }

    #[test]
    fn minimal_exceptions_follow_from_no_other() {
        let mut all = BTreeSet::new();
        for (heaps, max) in [(2, 11), (3, 11), (4, 11), (5, 9), (6, 7)] {
            let (rules, region) = (misere(heaps), Region::new(heaps, max).unwrap());
            all.extend(by_oracle(&rules, &region).0.into_iter().map(|position| position.sizes().to_vec()));
            for exception in list(&rules, &region, true) {
                let sizes = exception.position.sizes();
                let (&largest, stem) = sizes.split_last().unwrap();
                let smaller = stem[stem.len() - 1]..largest;
                let grown = smaller.map(|y| [stem, &[y]].concat()).any(|other| all.contains(&other));
                let appended = (2..sizes.len()).any(|heaps| all.contains(&sizes[..heaps]));
                assert_eq!(exception.minimal, Some(!grown && !appended), "{}", exception.position);
            }
        }
        assert!(all.contains(&vec![1, 1, 2]) && all.contains(&vec![3, 4, 4, 5]));
    }
}
