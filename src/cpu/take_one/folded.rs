//! Verdicts of four heaps and more, in the [`FoldedLayout`].
//!
//! A move takes a stone from each heap of a set S. Let A be the part of S among x₃ … xₙ₋₁ and B the rest, among x₁, x₂
//! and xₙ. Then x − S is reached from x by way of x − A, which lies in the same place of another cell; so with
//!
//! Uᵢ(x) = some B with a ≤ i + |B| ≤ w leads from x to a P-position, x itself for the empty B
//!
//! for moves of a to w heaps, a position x is N exactly when U₀ holds of it or Uᵢ of some x − A with |A| = i. Seven heaps of
//! width 3 have 63 moves; by way of U₁, U₂ and U₃ = P a position needs 14 cells of others. Uᵢ of a stratum is found and
//! kept with its verdicts, and read i strata later.
//!
//! x − A need be no position: where xₙ₋₁ = xₙ both may lose a stone, and the lane is the greater on the way. Hence there is
//! a cell for one more lane, in which no verdict is P and Uᵢ is what the moves say.

use fearless_simd::Level;

use super::lower::Lower;
use super::neighbours::Subset;
use super::registers::lanes;
use super::sweep::{self, Step, Stones};
use crate::cpu::ring::{Progress, Ring};
use crate::cpu::slot::Slot;
use crate::cpu::tasks::WORDS_PER_TASK;
use crate::error::Result;
use crate::game::Ruleset;
use crate::space::{
    Canonical, Cell, Cells, CellsMut, FoldedCells, FoldedLayout, Layout, Region, Stratum, TouchMask, fill,
    folded_bytes, layout_bytes,
};

/// The CPU backend for verdicts of take-one games of four heaps and more.
pub struct Folded {
    rules: Ruleset,
    region: Region,
    layout: FoldedLayout,
    lower: Lower,
    subsets: Vec<Subset>,
    /// The blocks and windows by which observers walk through strata.
    plain: Layout,
    /// Slot `total % verdicts.len()` has the verdicts of stratum `total`.
    verdicts: Vec<Slot<u16>>,
    /// The same for U₁, U₂ and so on, of which Uᵢ is kept for i strata.
    levels: Vec<Vec<Slot<u16>>>,
    progress: Progress,
    task_cells: usize,
    level: Level,
}

impl Folded {
    /// Allocates the strata for a region.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) when the region cannot be laid out.
    pub fn new(rules: &Ruleset, region: &Region) -> Result<Self> {
        Self::with_level(rules, region, Level::new())
    }

    /// The same with an instruction set of this machine.
    fn with_level(rules: &Ruleset, region: &Region, level: Level) -> Result<Self> {
        let layout = FoldedLayout::new(region)?;
        let slots = |count: u32| (0..count).map(|_| Slot::new(layout.cells())).collect::<Vec<_>>();
        let verdicts = slots(rules.touch_most + 1);
        let levels = (1..=levels(rules)).map(|level| slots(kept(rules, level))).collect();
        Ok(Self {
            rules: rules.clone(),
            region: region.clone(),
            plain: Layout::new(region)?,
            verdicts,
            levels,
            lower: Lower::new(&layout, lanes(level)),
            subsets: Subset::up_to(rules.touch_most, &layout),
            layout,
            progress: Progress::new(region, rules.touch_most),
            task_cells: 2 * WORDS_PER_TASK as usize,
            level,
        })
    }

    /// The same, splitting work over threads down to about this many 32-bit words of cells.
    #[must_use]
    pub fn with_task_words(self, task_words: u64) -> Self {
        Self { task_cells: 2 * task_words as usize, ..self }
    }

    /// Bytes of memory for a region with this cap; `None` when they are more than `limit`.
    #[must_use]
    pub fn bytes(rules: &Ruleset, max: u64, limit: u128) -> Option<u128> {
        let slots = rules.touch_most + 1 + (1..=levels(rules)).map(|level| kept(rules, level)).sum::<u32>();
        let folded = folded_bytes(rules.heaps, max, slots, limit)?;
        let plain = layout_bytes(rules.heaps, max, Cell::Verdicts, 0, limit)?;
        let lower = Lower::bytes(rules.heaps, max);
        Some(folded + lower + plain).filter(|&bytes| bytes <= limit)
    }

    /// Whether moves may arrive at a stratum.
    fn is_open(&self, total: Option<u32>) -> bool {
        total.is_some_and(|total| !self.rules.forbidden.contains(total.into()))
    }

    /// What solving stratum `total` needs to know.
    fn step(&self, total: u32) -> Step<'_> {
        let before = |strata: u32| total.checked_sub(strata);
        let open: [bool; 4] = std::array::from_fn(|strata| self.is_open(before(strata as u32)));
        let (least, most) = (self.rules.touch_least, self.rules.touch_most);
        let moves = |level: u32| {
            let may = |count| open[count] && (least..=most).contains(&(level + count as u32));
            Stones(std::array::from_fn(may))
        };
        let source = |size: u32| {
            let total = before(size).filter(|_| size <= most)?;
            if size == most {
                return self.is_open(Some(total)).then(|| self.verdicts_of(total));
            }
            let slots = &self.levels[size as usize - 1];
            (!slots.is_empty()).then(|| &*slots[total as usize % slots.len()])
        };
        let touches = TouchMask::legal(&self.rules, total);
        let stored = (1..).zip(&self.levels).filter(|(_, slots)| !slots.is_empty());
        Step {
            layout: &self.layout,
            lower: &self.lower,
            subsets: &self.subsets,
            total,
            least_nonempty: if self.rules.misere { touches.least() } else { 0 },
            verdicts: (1..=most.min(3)).map(|strata| self.verdicts_of(total.wrapping_sub(strata))).collect(),
            sources: (1..=axes(&self.rules)).map(source).collect(),
            own: moves(0),
            levels: stored.map(|(size, _)| moves(size)).collect(),
            task_cells: self.task_cells,
            level: self.level,
        }
    }

    /// The slot of the verdicts of a stratum; one of zeros for what would be below the first.
    fn verdicts_of(&self, total: u32) -> &[u16] {
        let slots = self.verdicts.len() as i32;
        &self.verdicts[total.cast_signed().rem_euclid(slots) as usize]
    }

    /// Of verdicts, and of the levels that are kept.
    fn rings(&mut self) -> impl Iterator<Item = &mut [Slot<u16>]> {
        let levels = self.levels.iter_mut().map(Vec::as_mut_slice).filter(|slots| !slots.is_empty());
        std::iter::once(self.verdicts.as_mut_slice()).chain(levels)
    }
}

/// How many heaps are not among x₁, x₂ and xₙ.
pub(super) fn axes(rules: &Ruleset) -> u32 {
    rules.heaps - 3
}

/// How many Uᵢ there are but U₀ and the verdicts themselves.
pub(super) fn levels(rules: &Ruleset) -> u32 {
    axes(rules).min(rules.touch_most - 1)
}

/// How many strata of Uᵢ are kept: none where no move can make use of it, as there are only three heaps besides.
pub(super) fn kept(rules: &Ruleset, level: u32) -> u32 {
    if level + 3 < rules.touch_least { 0 } else { level + 1 }
}

impl Ring for Folded {
    /// Verdicts first, then the levels.
    type Slots = Vec<Slot<u16>>;

    fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn take(&mut self, total: u32) -> Vec<Slot<u16>> {
        self.rings().map(|slots| std::mem::take(&mut slots[total as usize % slots.len()])).collect()
    }

    fn put(&mut self, total: u32, taken: Vec<Slot<u16>>) {
        for (slots, slot) in self.rings().zip(taken) {
            slots[total as usize % slots.len()] = slot;
        }
    }

    fn clear(&mut self) {
        self.rings().flatten().for_each(|slot| slot.fill(0));
    }

    fn solve(&self, total: u32, slots: &mut Vec<Slot<u16>>) -> u64 {
        sweep::solve(&self.step(total), slots, false)
    }

    fn fill(&self, total: u32, values: Canonical<'_>, slots: &mut Vec<Slot<u16>>) {
        fill(&self.plain, total, values, CellsMut::Folded(&self.layout, &mut slots[0]));
        // The levels follow from the verdicts of this stratum and of those below.
        sweep::solve(&self.step(total), slots, true);
    }

    fn stratum(&self, total: u32, p_positions: u64) -> Stratum<'_> {
        let forbidden = self.rules.forbidden.contains(u64::from(total));
        let counts = [self.region.stratum_size(total), p_positions];
        let cells = FoldedCells::new(&self.layout, self.verdicts_of(total));
        Stratum::new(&self.plain, Cells::Folded(cells), total, forbidden, counts)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::backend::Backend;
    use crate::game::{Position, Take};
    use crate::{baseline, oracle};

    /// The instruction sets of this machine.
    fn levels() -> Vec<Level> {
        let best = Level::new();
        let levels = [
            best.as_avx512().map(Level::Avx512),
            best.as_avx2().map(Level::Avx2),
            best.as_sse4_2().map(Level::Sse4_2),
            best.as_sse2().map(Level::Sse2),
        ];
        levels.into_iter().flatten().collect()
    }

    /// Solves a region with every instruction set, and compares all verdicts.
    fn assert_verdicts(
        rules: &Ruleset,
        region: &Region,
        expected: impl Fn(&Position) -> Option<bool> + Sync,
    ) {
        for level in levels() {
            let mut folded = Folded::with_level(rules, region, level).unwrap();
            let mut check = |stratum: &Stratum<'_>| {
                for position in region.stratum(stratum.total) {
                    let expected = expected(&position);
                    assert_eq!(stratum.is_p(&position), expected, "{position} of {rules}, {level:?}");
                }
                ControlFlow::Continue(())
            };
            folded.run(true, &mut check).unwrap();
        }
    }

    #[test]
    fn every_instruction_set_finds_the_same() {
        for (heaps, least, most, max) in [
            (4, 1, 2, 33),
            (4, 3, 3, 20),
            (5, 1, 2, 12),
            (5, 1, 5, 9),
            (6, 2, 4, 7),
            (7, 1, 3, 5),
            (8, 7, 7, 4),
        ] {
            for (misere, forbid) in [(false, ""), (true, "3k+1,7"), (true, "")] {
                let rules = Ruleset::touching(heaps, least, most, Take::One).unwrap();
                let mut rules = rules.with_misere(misere);
                if !forbid.is_empty() {
                    rules = rules.with_forbidden(forbid.parse().unwrap());
                }
                let region = Region::new(heaps, max).unwrap();
                let solved = oracle::verdicts(&rules, &region);
                assert_verdicts(&rules, &region, |position| solved.get(position).copied());
            }
        }
    }

    #[test]
    fn memory_that_is_needed_is_enough() {
        for (heaps, width, max) in [(4, 1, 100), (6, 1, 40), (6, 3, 20), (9, 2, 8), (14, 1, 3)] {
            let rules = Ruleset::bounded_moore(heaps, width).unwrap();
            let needed = Folded::bytes(&rules, max, u128::MAX).unwrap();
            assert_eq!(Folded::bytes(&rules, max, needed), Some(needed), "{heaps} {width} {max}");
            assert_eq!(Folded::bytes(&rules, max, needed - 1), None, "{heaps} {width} {max}");
        }
    }

    #[test]
    fn moves_in_y_lead_further_than_the_widest_register() {
        let rules = Ruleset::bounded_moore(5, 3).unwrap().with_misere(true);
        let region = Region::new(5, 37).unwrap();
        let solved = baseline::solve(&rules, &region).unwrap();
        assert_verdicts(&rules, &region, |position| solved.is_p(position));
    }
}
