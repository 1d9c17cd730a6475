//! The cells of other runs that are read where a move takes a stone from coordinates of the prefix.
//!
//! For the runs of a group, which differ in the last coordinate of the prefix only, and each set of other coordinates that
//! lose a stone, the runs that are read are a group as well, equally far from those that read them. So what depends on
//! the set is looked up once for a group. Where the last coordinate loses a stone too, the run before is read.

#![allow(
    clippy::inline_always,
    reason = "a kernel is compiled for each instruction set, with what is inlined into it"
)]

use fearless_simd::prelude::*;

use super::registers::{Cells, add};
use crate::space::{FoldedLayout, FoldedRun};

/// A set of coordinates of the prefix, but for the last, that lose a stone.
pub(super) struct Subset {
    axes: u32,
    /// The set without its first coordinate, which is this.
    rest: usize,
    axis: usize,
}

impl Subset {
    /// All sets of at most so many coordinates, from the empty one on: last those with the last coordinate that they can
    /// have, and before a set the one without its first.
    pub(super) fn up_to(most: u32, layout: &FoldedLayout) -> Vec<Self> {
        let axes = layout.axes() - 1;
        let mut sets = (0..1u32 << axes).filter(|set| set.count_ones() <= most).collect::<Vec<_>>();
        sets.sort_by_key(|&set| (set & last_of(axes), set.count_ones()));
        let mut places = vec![0; 1 << axes];
        for (place, &set) in sets.iter().enumerate() {
            places[set as usize] = place;
        }
        let subset = |&axes: &u32| Self {
            axes,
            rest: places[(axes & axes.wrapping_sub(1)) as usize],
            axis: axes.trailing_zeros() as usize,
        };
        sets.iter().map(subset).collect()
    }
}

/// What the runs of a group read.
pub(super) struct Neighbours<'s, 'a> {
    layout: &'s FoldedLayout,
    /// The sets that a move may take a stone from each of.
    subsets: &'s [Subset],
    /// The cells to read for moves that take so many stones from y and the prefix, from one on.
    sources: &'s [Option<&'a [u16]>],
    /// How much lower the rank is with each.
    lower: Vec<u32>,
    /// The last coordinate but one of the prefix; negative for none.
    left: i32,
    /// What is read with the same y, and what with one y less.
    same: Groups<'a>,
    below: Groups<'a>,
}

/// The cells of some groups, from the run of each on whose prefix ends with 0.
#[derive(Default)]
struct Groups<'a> {
    /// To be read with the same last coordinate of the prefix.
    stay: Vec<&'a [u16]>,
    /// How many of these there are for a run whose last two coordinates of the prefix are equal.
    stay_tied: usize,
    /// To be read with the last coordinate one less.
    less: Vec<&'a [u16]>,
}

impl<'s, 'a> Neighbours<'s, 'a> {
    /// For cells of a stratum that are read for moves that take one stone, two and so on from y and the prefix.
    pub(super) fn new(
        layout: &'s FoldedLayout,
        subsets: &'s [Subset],
        sources: &'s [Option<&'a [u16]>],
    ) -> Self {
        let (lower, same, below) = (vec![0; subsets.len()], Groups::default(), Groups::default());
        Self { layout, subsets, sources, lower, left: -1, same, below }
    }

    /// Turns to the group of this run.
    pub(super) fn find(&mut self, run: &FoldedRun<'_>, rank: u32) {
        let prefix = &run.prefix[..run.prefix.len() - 1];
        let first = rank - run.limit as u32;
        self.left = prefix.last().map_or(-1, |&x| x.into());
        // A coordinate equal to the next cannot shrink alone, and an empty heap not at all.
        let (mut ties, mut empty) = (0u32, 0u32);
        for (axis, &x) in prefix.iter().enumerate() {
            ties |= u32::from(prefix.get(axis + 1) == Some(&x)) << axis;
            empty |= u32::from(x == 0) << axis;
        }
        let last = last_of(prefix.len());
        let (same, below) = (&mut self.same, &mut self.below);
        for groups in [&mut *same, &mut *below] {
            groups.stay.clear();
            groups.less.clear();
        }
        let terms = self.layout.rank_terms();
        for (at, &Subset { axes, rest, axis }) in self.subsets.iter().enumerate() {
            if axes & empty != 0 {
                continue;
            }
            if axes != 0 {
                let x = usize::from(prefix[axis]);
                self.lower[at] = self.lower[rest] + terms[axis][x] - terms[axis][x - 1];
            }
            if axes & ties & !(axes >> 1) != 0 {
                continue;
            }
            let base = self.layout.bases()[(first - self.lower[at]) as usize] as usize;
            let size = axes.count_ones() as usize;
            // For so many stones from y and the prefix.
            let cells = |stones: usize| {
                let cells = self.sources.get(stones.checked_sub(1)?).copied().flatten();
                cells.map(|cells| &cells[base..])
            };
            same.stay.extend(cells(size));
            same.less.extend(cells(size + 1));
            below.stay.extend(cells(size + 1));
            below.less.extend(cells(size + 2));
            if axes & last == 0 {
                same.stay_tied = same.stay.len();
                below.stay_tied = below.stay.len();
            }
        }
    }

    /// What a row of a run of the group reads with the same y, and what with one y less.
    #[inline(always)]
    pub(super) fn of(&self, run: &FoldedRun<'_>, row: usize) -> [Sources<'_, 'a>; 2] {
        let row = self.layout.row(row).start;
        let stay_at = row + self.layout.start(run.limit);
        let less_at = if run.limit > 0 { row + self.layout.start(run.limit - 1) } else { 0 };
        [&self.same, &self.below].map(|groups| Sources {
            stay: if run.limit == self.left { &groups.stay[..groups.stay_tied] } else { &groups.stay },
            stay_at,
            less: if run.limit > 0 { &groups.less } else { &[] },
            less_at,
        })
    }
}

/// The set of the last of so many coordinates; the empty set if there are none.
fn last_of(axes: usize) -> u32 {
    1 << axes >> 1
}

/// The cells of other runs that a row of a run reads.
pub(super) struct Sources<'n, 'a> {
    stay: &'n [&'a [u16]],
    stay_at: usize,
    less: &'n [&'a [u16]],
    less_at: usize,
}

impl Sources<'_, '_> {
    /// What any of them has in some registers that follow one another.
    #[inline(always)]
    pub(super) fn load<S: Simd, const REGISTERS: usize>(&self, simd: S, at: usize) -> [Cells<S>; REGISTERS] {
        let mut reached = [Cells::<S>::splat(simd, 0); REGISTERS];
        for cells in self.stay {
            add(simd, &mut reached, cells, self.stay_at + at);
        }
        for cells in self.less {
            add(simd, &mut reached, cells, self.less_at + at);
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Region;

    #[test]
    fn only_sets_that_a_move_can_use_are_looked_up() {
        // Ten coordinates, x₃ … x₁₂, of which the last is in no set.
        let layout = FoldedLayout::new(&Region::new(14, 2).unwrap()).unwrap();
        for (most, sets) in [(1, 1 + 9), (2, 1 + 9 + 36), (14, 1 << 9)] {
            assert_eq!(Subset::up_to(most, &layout).len(), sets, "{most}");
        }
    }

    #[test]
    fn a_set_comes_after_the_one_it_is_found_from() {
        let layout = FoldedLayout::new(&Region::new(9, 2).unwrap()).unwrap();
        let subsets = Subset::up_to(3, &layout);
        for (place, subset) in subsets.iter().enumerate().skip(1) {
            assert!(subset.rest < place);
            assert_eq!(subsets[subset.rest].axes | 1 << subset.axis, subset.axes);
        }
        assert!(subsets.is_sorted_by_key(|subset| subset.axes >> 3));
    }
}
