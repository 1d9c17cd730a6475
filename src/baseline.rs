//! One position at a time: the program that a careful researcher writes in a day, and that speeds are measured against.
//!
//! A table holds one value for each multiset of heap sizes, at its rank in the combinatorial number system: with
//! y₁ ≤ y₂ ≤ … ≤ yₙ, the rank is C(y₁, 1) + C(y₂ + 1, 2) + … + C(yₙ + n − 1, n). A smaller heap makes a smaller rank, so
//! in order of rank every option is solved before the positions that lead to it. The search for a P-position among the
//! options ends at the first one. One thread; no strata, no words of bits.
//!
//! Options of take-one games are ranked in one of two ways ([`Ranking`]): [`solve`] and [`solve_remoteness`] sum n
//! table entries for each option, and that is what is meant by *the baseline*. As taking a stone from heap i lowers the
//! rank by C(yᵢ + i − 2, i − 1), ranks can also be had by subtracting one number for each stone taken, kept up to date
//! from position to position. That is three times as fast, and already part of the way to the kernels.

use crate::error::{Error, Result};
use crate::game::{MOST_HEAPS, Position, Ruleset, Take};
use crate::space::Region;

/// A region solved one position at a time.
pub struct Baseline {
    /// Positions solved.
    pub positions: u64,
    /// Those of them that are P-positions.
    pub p_positions: u64,
    ranks: Ranks,
    /// The greatest total that was solved.
    last: u64,
    values: Values,
}

enum Values {
    /// Whether it is a P-position.
    Verdicts(Vec<bool>),
    Remoteness(Vec<u16>),
}

/// How the options of a take-one game are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranking {
    /// Each by the sum over its sorted heaps.
    #[default]
    Sums,
    /// By what the stones that were taken lower the rank of the position.
    Differences,
}

/// Solves the verdicts of a region: of take-one games, and of games that take from one heap. Memory: a byte for each
/// position of the full box.
///
/// # Errors
/// [`Error::NoKernel`] for other rules.
pub fn solve(rules: &Ruleset, region: &Region) -> Result<Baseline> {
    solve_with(rules, region, Ranking::default())
}

/// The same, with a choice of how options are ranked. Games that take any number have just one way: along the sizes
/// that a heap may shrink to, only one term of the sum changes.
///
/// # Errors
/// As [`solve`].
pub fn solve_with(rules: &Ruleset, region: &Region, ranking: Ranking) -> Result<Baseline> {
    match (rules.take, rules.touch_most, ranking) {
        (Take::One, _, Ranking::Sums) => Ok(verdicts(rules, region, &Summed(TakeOne::new(rules, region)))),
        (Take::One, _, Ranking::Differences) => Ok(verdicts(rules, region, &TakeOne::new(rules, region))),
        (_, 1, _) => Ok(verdicts(rules, region, &OneHeap::new(rules, region))),
        _ => Err(Error::NoKernel { what: rules.to_string() }),
    }
}

/// Solves the remoteness of a take-one game's region. Memory: two bytes for each position of the full box.
///
/// # Errors
/// [`Error::NoKernel`] for other rules.
pub fn solve_remoteness(rules: &Ruleset, region: &Region) -> Result<Baseline> {
    solve_remoteness_with(rules, region, Ranking::default())
}

/// The same, with a choice of how options are ranked.
///
/// # Errors
/// As [`solve_remoteness`].
pub fn solve_remoteness_with(rules: &Ruleset, region: &Region, ranking: Ranking) -> Result<Baseline> {
    if rules.take != Take::One {
        return Err(Error::NoKernel { what: format!("the remoteness of {rules}") });
    }
    let moves = TakeOne::new(rules, region);
    Ok(match ranking {
        Ranking::Sums => remoteness(rules, region, &Summed(moves)),
        Ranking::Differences => remoteness(rules, region, &moves),
    })
}

fn remoteness(rules: &Ruleset, region: &Region, moves: &impl Moves) -> Baseline {
    let mut walk = Walk::new(region);
    let mut solved = vec![0u16; walk.ranks.positions];
    let (mut positions, mut p_positions) = (0, 0);
    while let Some(rank) = walk.next() {
        let (mut least_even, mut greatest_odd) = (u16::MAX, 0);
        moves.find(&walk, rank, |to| {
            match solved[to] {
                even if even.is_multiple_of(2) => least_even = least_even.min(even),
                odd => greatest_odd = greatest_odd.max(odd),
            }
            false
        });
        solved[rank] = match (least_even, greatest_odd) {
            (u16::MAX, 0) => u16::from(rules.misere),
            (u16::MAX, odd) => odd + 1,
            (even, _) => even + 1,
        };
        positions += 1;
        p_positions += u64::from(solved[rank].is_multiple_of(2));
    }
    let (ranks, last) = (walk.ranks, walk.last);
    Baseline { positions, p_positions, ranks, last, values: Values::Remoteness(solved) }
}

fn verdicts(rules: &Ruleset, region: &Region, moves: &impl Moves) -> Baseline {
    let mut walk = Walk::new(region);
    let mut solved = vec![false; walk.ranks.positions];
    let (mut positions, mut p_positions) = (0, 0);
    while let Some(rank) = walk.next() {
        let mut terminal = true;
        let to_p = moves.find(&walk, rank, |to| {
            terminal = false;
            solved[to]
        });
        let is_p = !(to_p || terminal && rules.misere);
        solved[rank] = is_p;
        positions += 1;
        p_positions += u64::from(is_p);
    }
    let (ranks, last) = (walk.ranks, walk.last);
    Baseline { positions, p_positions, ranks, last, values: Values::Verdicts(solved) }
}

impl Baseline {
    /// Whether it is a P-position; `None` outside the region.
    #[must_use]
    pub fn is_p(&self, position: &Position) -> Option<bool> {
        let rank = self.rank(position)?;
        Some(match &self.values {
            Values::Verdicts(solved) => solved[rank],
            Values::Remoteness(solved) => solved[rank].is_multiple_of(2),
        })
    }

    /// The remoteness of a position; `None` outside the region and where verdicts were solved.
    #[must_use]
    pub fn remoteness(&self, position: &Position) -> Option<u32> {
        match &self.values {
            Values::Verdicts(_) => None,
            Values::Remoteness(solved) => Some(solved[self.rank(position)?].into()),
        }
    }

    fn rank(&self, position: &Position) -> Option<usize> {
        let there = position.sizes().len() == self.ranks.terms.len() && position.total() <= self.last;
        let terms = there.then_some(self.ranks.terms.iter())?;
        position.sizes().iter().zip(terms).map(|(&size, terms)| terms.get(size as usize)).sum()
    }
}

/// The combinatorial number system of a box of multisets.
struct Ranks {
    /// `terms[i][y]`: what heap i (from 0, the smallest) of size y adds to the rank, C(y + i, i + 1).
    terms: Vec<Vec<usize>>,
    positions: usize,
}

impl Ranks {
    fn new(heaps: usize, max: usize) -> Self {
        let mut terms = vec![(0..=max).collect::<Vec<usize>>()];
        while terms.len() < heaps {
            // C(y + i, i + 1) is the sum of C(z + i − 1, i) over z ≤ y.
            let sum = |sum: &mut usize, &term: &usize| {
                *sum += term;
                Some(*sum)
            };
            terms.push(terms[terms.len() - 1].iter().scan(0, sum).collect());
        }
        let positions = terms.iter().map(|terms| terms[max]).sum::<usize>() + 1;
        Self { terms, positions }
    }
}

/// All positions in order of rank.
struct Walk {
    ranks: Ranks,
    last: u64,
    /// The rank of the next position in the box.
    next: usize,
    /// The heaps, smallest first.
    heaps: [u32; MOST_HEAPS as usize],
    /// By how much taking a stone from each heap lowers the rank; 0 for an empty heap.
    drops: [usize; MOST_HEAPS as usize],
    total: u64,
}

impl Walk {
    fn new(region: &Region) -> Self {
        let ranks = Ranks::new(region.heaps() as usize, region.max() as usize);
        let last = u64::from(region.strata().end - 1);
        Self { ranks, last, next: 0, heaps: [0; _], drops: [0; _], total: 0 }
    }

    /// Goes to the next position whose total is in the region, and returns its rank.
    fn next(&mut self) -> Option<usize> {
        while self.next < self.ranks.positions {
            let rank = self.next;
            self.next += 1;
            if rank > 0 {
                self.step();
            }
            if self.total <= self.last {
                return Some(rank);
            }
        }
        None
    }

    /// The successor: the first heap that is smaller than the next grows, those before it become empty.
    fn step(&mut self) {
        let n = self.ranks.terms.len();
        let mut heap = 0;
        while heap + 1 < n && self.heaps[heap] == self.heaps[heap + 1] {
            self.total -= u64::from(self.heaps[heap]);
            self.heaps[heap] = 0;
            self.drops[heap] = 0;
            heap += 1;
        }
        self.heaps[heap] += 1;
        self.total += 1;
        let (size, terms) = (self.heaps[heap] as usize, &self.ranks.terms[heap]);
        self.drops[heap] = terms[size] - terms[size - 1];
    }
}

/// The moves of a game.
trait Moves {
    /// Shows the ranks of a position's options until `found` says yes; returns whether it did.
    fn find(&self, walk: &Walk, rank: usize, found: impl FnMut(usize) -> bool) -> bool;
}

/// The totals at which moves may arrive, from 0 on.
fn allowed(rules: &Ruleset, region: &Region) -> Vec<bool> {
    region.strata().map(|total| !rules.forbidden.contains(u64::from(total))).collect()
}

/// One stone from each heap of a set.
struct TakeOne {
    /// The heaps of each set, as their numbers.
    sets: Vec<Vec<usize>>,
    allowed: Vec<bool>,
}

impl TakeOne {
    fn new(rules: &Ruleset, region: &Region) -> Self {
        let heaps_of =
            |set: u32| (0..rules.heaps as usize).filter(move |heap| set >> heap & 1 == 1).collect();
        let mut sets: Vec<Vec<usize>> = (1..1u32 << rules.heaps).map(heaps_of).collect();
        sets.retain(|set| (rules.touch_least as usize..=rules.touch_most as usize).contains(&set.len()));
        sets.sort_by_key(Vec::len);
        Self { sets, allowed: allowed(rules, region) }
    }
}

impl Moves for TakeOne {
    #[inline]
    fn find(&self, walk: &Walk, rank: usize, mut found: impl FnMut(usize) -> bool) -> bool {
        'sets: for set in &self.sets {
            let mut to = rank;
            let mut before = None;
            for &heap in set {
                // Of equal heaps the first ones are taken from: the option is sorted, and no other set leads there.
                let equal = heap > 0 && walk.heaps[heap] == walk.heaps[heap - 1];
                if walk.heaps[heap] == 0 || equal && before != Some(heap - 1) {
                    continue 'sets;
                }
                to -= walk.drops[heap];
                before = Some(heap);
            }
            if self.allowed[walk.total as usize - set.len()] && found(to) {
                return true;
            }
        }
        false
    }
}

/// The same, each option copied and ranked by its heaps.
struct Summed(TakeOne);

impl Moves for Summed {
    #[inline]
    fn find(&self, walk: &Walk, _rank: usize, mut found: impl FnMut(usize) -> bool) -> bool {
        let n = walk.ranks.terms.len();
        'sets: for set in &self.0.sets {
            let mut to = walk.heaps;
            for &heap in set {
                if to[heap] == 0 || heap > 0 && to[heap] == to[heap - 1] {
                    continue 'sets;
                }
                to[heap] -= 1;
            }
            if !self.0.allowed[walk.total as usize - set.len()] {
                continue;
            }
            let to = to[..n].iter().zip(&walk.ranks.terms).map(|(&size, terms)| terms[size as usize]).sum();
            if found(to) {
                return true;
            }
        }
        false
    }
}

/// Any number of stones (or up to a number) from one heap.
struct OneHeap {
    take: Take,
    allowed: Vec<bool>,
}

impl OneHeap {
    fn new(rules: &Ruleset, region: &Region) -> Self {
        Self { take: rules.take, allowed: allowed(rules, region) }
    }
}

impl Moves for OneHeap {
    #[inline]
    fn find(&self, walk: &Walk, rank: usize, mut found: impl FnMut(usize) -> bool) -> bool {
        let terms = &walk.ranks.terms;
        for (heap, heap_terms) in terms.iter().enumerate() {
            let size = walk.heaps[heap];
            if heap > 0 && size == walk.heaps[heap - 1] {
                continue;
            }
            let least = size - self.take.most(size);
            let others = walk.total as usize - size as usize;
            // The heap shrinks past one smaller heap after another; each that it passes moves up a place.
            let (mut place, mut top) = (heap, size);
            let mut rest = rank - heap_terms[size as usize];
            loop {
                let floor = if place == 0 { 0 } else { walk.heaps[place - 1] }.max(least);
                for smaller in (floor..top).rev() {
                    let smaller = smaller as usize;
                    if self.allowed[others + smaller] && found(rest + terms[place][smaller]) {
                        return true;
                    }
                }
                if place == 0 || floor == least {
                    break;
                }
                let passed = walk.heaps[place - 1] as usize;
                rest += terms[place][passed];
                rest -= terms[place - 1][passed];
                (place, top) = (place - 1, floor);
            }
        }
        false
    }
}
