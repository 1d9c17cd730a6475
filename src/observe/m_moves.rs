//! The remoteness of every position of exact slow Nim NIM(n, n−1) beside that of the position after its
//! [M-move](crate::game::m_move).
//!
//! A move of NIM(n, n−1) leads n − 1 strata down, so the last n − 1 strata are kept, each as a copy of the cells that
//! hold its positions: while one stratum is observed, the solver is already writing over what lies n − 1 below it.
//!
//! Along a run of positions that differ in the smallest heap xₙ alone (and in x₁), the M-moves lead to two rows: an
//! even xₙ is a smallest even heap and is kept; beside an odd one the same heap is kept throughout, the smallest even
//! one of x₂ … xₙ₋₁ or else x₁, which is then the only even heap or a largest odd one. Only at the end of a run equal
//! heaps may exchange their places.

use std::ops::Range;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::game::{MOST_HEAPS, Position, Ruleset, Take, m_rule};
use crate::solver::{Options, Quantity};
use crate::space::{Cell, Key, Layout, Region, Run, Stratum, layout_bytes, remoteness_cell};

/// Walks over solved strata and knows those that M-moves lead to.
pub struct MMoves {
    heaps: usize,
    eight: Below<u8>,
    sixteen: Below<u16>,
}

/// A position with a legal move, and how good its M-move is.
pub struct Judged<'a> {
    /// The heap sizes, nondecreasing.
    pub sizes: &'a [u32],
    /// The remoteness R(x).
    pub remoteness: u32,
    /// The remoteness `R(x_M)` after the M-move.
    pub m_remoteness: u32,
    below: &'a dyn Fn(&[u32]) -> u32,
}

impl Judged<'_> {
    /// Whether the M-move is not optimal: `R(x_M)` ≠ R(x) − 1.
    #[must_use]
    pub fn is_exception(&self) -> bool {
        self.m_remoteness + 1 != self.remoteness
    }

    /// The position.
    #[must_use]
    pub fn position(&self) -> Position {
        Position::new(self.sizes.to_vec())
    }

    /// The remoteness after the move that keeps this heap, which must be a legal one.
    #[must_use]
    pub fn keeping(&self, heap: usize) -> u32 {
        (self.below)(&after(self.sizes, heap)[..self.sizes.len()])
    }
}

impl MMoves {
    /// For strata of these rules, from total 0 on.
    ///
    /// # Errors
    /// [`Error::NoMRule`] for any other game than NIM(n, n−1), n ≥ 2, with nothing forbidden.
    pub fn new(rules: &Ruleset) -> Result<Self> {
        let width = rules.heaps - 1;
        let exact = rules.touch_least == width && rules.touch_most == width;
        let one = matches!(rules.take, Take::One | Take::UpTo(1));
        if rules.heaps < 2 || !exact || !one || !rules.forbidden.is_empty() {
            return Err(Error::NoMRule { rules: rules.to_string() });
        }
        Ok(Self { heaps: rules.heaps as usize, eight: Below::default(), sixteen: Below::default() })
    }

    /// How to solve a region for this: remoteness, with memory set aside for the copies of strata.
    #[must_use]
    pub fn options(rules: &Ruleset, region: &Region, options: &Options) -> Options {
        let (max, last_total) = (u64::from(region.max()), u64::from(region.strata().end) - 1);
        let bytes = remoteness_cell(rules, max, last_total)
            .and_then(|cell| layout_bytes(rules.heaps, max, cell, rules.heaps - 1, u64::MAX.into()));
        let copies = bytes.and_then(|bytes| bytes.try_into().ok()).unwrap_or(u64::MAX);
        let reserved = options.reserved.saturating_add(copies);
        Options { quantity: Quantity::Remoteness, reserved, ..options.clone() }
    }

    /// Visits every position with a legal move of the next stratum, on all threads of the pool it is called in: each
    /// part of the stratum starts with `new`. Returns the parts in the order of the layout; none where the stratum
    /// holds verdicts only.
    pub fn fold<T: Send>(
        &mut self,
        stratum: &Stratum<'_>,
        new: impl Fn() -> T + Sync,
        visit: impl Fn(&mut T, &Judged<'_>) + Sync,
    ) -> Vec<T> {
        match stratum.cell() {
            Cell::Verdicts => Vec::new(),
            Cell::Remoteness8 => self.eight.fold(self.heaps, stratum, new, visit),
            Cell::Remoteness16 => self.sixteen.fold(self.heaps, stratum, new, visit),
        }
    }
}

/// The last n − 1 strata.
struct Below<K> {
    layout: Option<Layout>,
    /// Slot `total % (n − 1)` holds stratum `total`, in the order of the layout. Outside the windows there is anything.
    slots: Vec<Vec<K>>,
}

impl<K> Default for Below<K> {
    fn default() -> Self {
        Self { layout: None, slots: Vec::new() }
    }
}

impl<K: Key> Below<K> {
    fn fold<T: Send>(
        &mut self,
        heaps: usize,
        stratum: &Stratum<'_>,
        new: impl Fn() -> T + Sync,
        visit: impl Fn(&mut T, &Judged<'_>) + Sync,
    ) -> Vec<T> {
        let layout = &*self.layout.get_or_insert_with(|| stratum.layout().clone());
        if self.slots.is_empty() {
            self.slots = vec![vec![K::NONE; layout.cells()]; heaps - 1];
        }
        // The stratum n − 1 below has the slot that this one is to get.
        let slot = stratum.total as usize % (heaps - 1);
        let lower = Lower { layout, keys: &self.slots[slot] };
        let parts = stratum.fold_runs(new, |part, run: &Run<'_, K>| {
            if heaps == 2 {
                lower.judge_pair(run, |judged| visit(part, judged));
            } else {
                lower.judge_run(run, |judged| visit(part, judged));
            }
        });
        if let Some(keys) = stratum.keys::<K>() {
            copy(&layout.occupied(stratum.total), keys, &mut self.slots[slot]);
        }
        parts
    }
}

/// Copies these ranges on all threads.
fn copy<K: Key>(ranges: &[Range<usize>], from: &[K], to: &mut [K]) {
    let (mut rest, mut start) = (to, 0);
    let mut copies = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (part, after) = rest[range.start - start..].split_at_mut(range.len());
        copies.push((part, &from[range.clone()]));
        (rest, start) = (after, range.end);
    }
    copies.into_par_iter().for_each(|(to, from)| to.copy_from_slice(from));
}

/// The stratum that moves lead to.
struct Lower<'a, K> {
    layout: &'a Layout,
    keys: &'a [K],
}

impl<K: Key> Lower<'_, K> {
    /// The remoteness of a position of the stratum; `sizes` are nondecreasing.
    fn remoteness(&self, sizes: &[u32]) -> u32 {
        let mut largest_first = [0; MOST_HEAPS as usize];
        let largest_first = &mut largest_first[..sizes.len()];
        largest_first.copy_from_slice(sizes);
        largest_first.reverse();
        self.keys[self.layout.place(largest_first).0].remoteness()
    }

    /// Judges the position of a run in a game of two heaps.
    fn judge_pair(&self, run: &Run<'_, K>, visit: impl FnOnce(&Judged<'_>)) {
        let sizes = [run.second, run.rest];
        if let Some(kept) = m_rule::kept_heap(&sizes) {
            let below = |sizes: &[u32]| self.remoteness(sizes);
            let m_remoteness = below(&after(&sizes, kept)[..2]);
            let remoteness = run.keys[0].remoteness();
            visit(&Judged { sizes: &sizes, remoteness, m_remoteness, below: &below });
        }
    }

    /// Judges all positions of a run that have a legal move, in a game of three heaps or more.
    fn judge_run(&self, run: &Run<'_, K>, mut visit: impl FnMut(&Judged<'_>)) {
        let mut sizes = [0; MOST_HEAPS as usize];
        let heaps = run.coordinates.len() + 3;
        let sizes = &mut sizes[..heaps];
        for (size, &x) in sizes[1..].iter_mut().zip(run.coordinates.iter().rev()) {
            *size = x.into();
        }
        sizes[heaps - 2] = run.second;
        if sizes[1] == 0 {
            // Two empty heaps.
            return;
        }
        let fixed = heaps - 1;
        let kept = sizes[1..fixed].iter().position(|size| size.is_multiple_of(2));
        let kept = kept.map_or(fixed, |index| last_equal(&sizes[..fixed], index + 1));
        let (beside_even, beside_odd) = (self.row(sizes, 0), self.row(sizes, kept));
        let below = |sizes: &[u32]| self.remoteness(sizes);
        let last = run.keys.len() - 1;
        for (index, key) in run.keys.iter().enumerate() {
            let lane = run.first_lane + index as u32;
            (sizes[0], sizes[fixed]) = (lane, run.rest - lane);
            let is_even = lane.is_multiple_of(2);
            // Equal heaps meet where the run ends, if at all.
            let tied = index == last && if is_even { lane == sizes[1] } else { sizes[kept] == sizes[fixed] };
            let m_remoteness = if tied {
                let kept = m_rule::kept_heap(sizes).expect("at most the smallest heap is empty");
                below(&after(sizes, kept)[..heaps])
            } else {
                let at = if is_even { beside_even + lane as usize } else { beside_odd + lane as usize - 1 };
                self.keys[at].remoteness()
            };
            visit(&Judged { sizes, remoteness: key.remoteness(), m_remoteness, below: &below });
        }
    }

    /// The place that a smallest heap of 0 would have in the row that a run's moves lead to which keep this heap.
    fn row(&self, sizes: &[u32], kept: usize) -> usize {
        let mut largest_first = [0; MOST_HEAPS as usize];
        for (heap, &size) in sizes.iter().enumerate().skip(1) {
            // The largest heap has no say, and is not known for the whole run.
            let size = if heap == sizes.len() - 1 { 0 } else { size - u32::from(heap != kept) };
            largest_first[sizes.len() - 1 - heap] = size;
        }
        self.layout.place(&largest_first[..sizes.len()]).0
    }
}

/// The sizes after the move that keeps this heap, nondecreasing; `sizes` are.
fn after(sizes: &[u32], kept: usize) -> [u32; MOST_HEAPS as usize] {
    let kept = last_equal(sizes, kept);
    let mut after = [0; MOST_HEAPS as usize];
    for (heap, (to, &size)) in after.iter_mut().zip(sizes).enumerate() {
        *to = size - u32::from(heap != kept);
    }
    after
}

/// The last index with the same size as this one.
fn last_equal(sizes: &[u32], index: usize) -> usize {
    sizes.partition_point(|&size| size <= sizes[index]) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::m_move;
    use crate::oracle;
    use crate::solver::{BackendChoice, Observer, Solver};
    use std::collections::HashMap;
    use std::ops::ControlFlow;

    /// R(x) and `R(x_M)` of every position seen, and R after keeping each heap that may be kept.
    struct Seen(MMoves, HashMap<Position, (u32, u32, Vec<u32>)>);

    impl Observer for Seen {
        fn observe(&mut self, stratum: &Stratum<'_>) {
            let parts = self.0.fold(stratum, Vec::new, |part, judged| {
                let heaps = if judged.sizes[0] == 0 { 0..1 } else { 0..judged.sizes.len() };
                let after = heaps.map(|heap| judged.keeping(heap)).collect();
                part.push((judged.position(), (judged.remoteness, judged.m_remoteness, after)));
            });
            self.1.extend(parts.into_iter().flatten());
        }
    }

    #[test]
    fn every_position_with_a_move_is_seen_beside_its_m_move() {
        for (heaps, max, misere) in [
            (2, 9, true),
            (3, 12, false),
            (3, 20, true),
            (4, 11, true),
            (5, 8, true),
            (6, 6, false),
            (7, 4, true),
        ] {
            let rules = Ruleset::exact_slow(heaps, heaps - 1).unwrap().with_misere(misere);
            let region = Region::new(heaps, max).unwrap();
            let solved = oracle::remoteness(&rules, &region);
            let expected = solved.iter().filter_map(|(position, &remoteness)| {
                let sizes = position.sizes();
                let keep = |kept: usize| {
                    let after = |(heap, &size): (usize, &u32)| size - u32::from(heap != kept);
                    solved[&Position::new(sizes.iter().enumerate().map(after).collect())]
                };
                let m_remoteness = solved[&m_move(position)?];
                let heaps = if sizes[0] == 0 { 0..1 } else { 0..sizes.len() };
                Some((position.clone(), (remoteness, m_remoteness, heaps.map(keep).collect())))
            });
            let options = Options { backend: BackendChoice::Cpu, ..Options::default() };
            let options = MMoves::options(&rules, &region, &options);
            let mut seen = Seen(MMoves::new(&rules).unwrap(), HashMap::new());
            let mut solver = Solver::new(&rules, &region, &options).unwrap();
            solver.run(&mut [&mut seen], &mut |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(seen.1, expected.collect(), "{rules} ≤ {max}");
        }
    }

    #[test]
    fn copies_of_strata_count_as_memory() {
        let (rules, region) = (Ruleset::exact_slow(4, 3).unwrap(), Region::new(4, 100).unwrap());
        let both = |memory| {
            let options = Options { backend: BackendChoice::Cpu, memory, ..Options::default() };
            let alone = Options { quantity: Quantity::Remoteness, ..options.clone() };
            let copied = MMoves::options(&rules, &region, &options);
            [alone, copied].map(|options| Solver::new(&rules, &region, &options).is_ok())
        };
        let slot = layout_bytes(4, 100, Cell::Remoteness8, 1, u128::MAX).unwrap() as u64;
        assert_eq!(both(Some(slot * 5)), [true, false]);
        assert_eq!(both(Some(slot * 8)), [true, true]);
    }

    #[test]
    fn other_games_have_no_m_rule() {
        for rules in [
            Ruleset::exact_slow(4, 2).unwrap(),
            Ruleset::bounded_moore(4, 3).unwrap(),
            Ruleset::exact_slow(4, 3).unwrap().with_forbidden("3k".parse().unwrap()),
            Ruleset::exact_slow(1, 1).unwrap(),
        ] {
            assert!(matches!(MMoves::new(&rules), Err(Error::NoMRule { .. })), "{rules}");
        }
    }
}
