//! Which rows of the strata below a take-one move leads to.
//!
//! A move takes one stone from each heap of a set. For each set B of block coordinates, with or without the lane,
//! |B| = j heaps in all, one row of cells serves three kinds of move: those that take from neither x₁ nor x₂ (they
//! arrive in stratum s − j), from one of them (s − j − 1; the row is read unshifted for x₁ and shifted by one bit
//! for x₂), and from both (s − j − 2, shifted).

use super::Layout;
use crate::game::Ruleset;

/// How the bits of a neighbour's row meet those of the row being solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// The same x₂: the move takes from neither x₁ nor x₂.
    None,
    /// Both the same x₂ and x₂ − 1: one move takes from x₁, another from x₂.
    Either,
    /// x₂ − 1: the move takes from both.
    One,
}

/// One neighbour row of a take-one stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Which block coordinates lose a stone: bit `i` for coordinate `i`, the largest heap first.
    pub axes: u32,
    /// Whether the smallest heap, the lane, loses a stone.
    pub lane: bool,
    /// How many heaps the move touches: the row is in stratum total − touch.
    pub touch: u32,
    /// How its bits are read.
    pub shift: Shift,
}

/// A set of numbers of heaps that a move may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchMask(pub u32);

impl TouchMask {
    /// The numbers of heaps that a move from stratum `total` may touch: those that arrive at no forbidden total.
    #[must_use]
    pub fn legal(rules: &Ruleset, total: u32) -> Self {
        let legal = |&touch: &u32| touch <= total && !rules.forbidden.contains(u64::from(total - touch));
        Self((rules.touch_least..=rules.touch_most).filter(legal).fold(0, |mask, touch| mask | 1 << touch))
    }

    /// Whether a move may touch this many heaps.
    #[must_use]
    pub fn contains(self, touch: u32) -> bool {
        self.0 >> touch & 1 == 1
    }

    /// The least number of nonempty heaps with which there is a move; 32 when there is none at all.
    #[must_use]
    pub fn least(self) -> u32 {
        self.0.trailing_zeros()
    }
}

/// The neighbour rows of a take-one ruleset.
#[derive(Clone, Debug)]
pub struct Stencil {
    /// All terms, ordered by their set of block coordinates.
    pub terms: Vec<Term>,
    touch_most: u32,
}

impl Stencil {
    /// The stencil of a take-one ruleset in a layout.
    #[must_use]
    pub fn new(rules: &Ruleset, layout: &Layout) -> Self {
        let mut terms = Vec::new();
        for axes in 0..1u32 << layout.axes() {
            for lane in [false, true] {
                let below = axes.count_ones() + u32::from(lane);
                for (upper, shift) in [(0, Shift::None), (1, Shift::Either), (2, Shift::One)] {
                    let touch = below + upper;
                    // With one or two heaps the lane stands for a heap that is always empty.
                    let there = layout.heaps() >= 3 || !lane;
                    if there && (rules.touch_least..=rules.touch_most).contains(&touch) {
                        terms.push(Term { axes, lane, touch, shift });
                    }
                }
            }
        }
        Self { terms, touch_most: rules.touch_most }
    }

    /// How many strata below the one being solved are read.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.touch_most
    }

    /// The numbers of heaps that a move from stratum `total` may touch.
    #[must_use]
    pub fn touches(&self, rules: &Ruleset, total: u32) -> TouchMask {
        TouchMask::legal(rules, total)
    }

    /// Positions with fewer nonempty heaps than this are terminal and must come out N: in misère play those from
    /// which no move is legal, in normal play none.
    #[must_use]
    pub fn least_nonempty(rules: &Ruleset, touches: TouchMask) -> u32 {
        if rules.misere { touches.least() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Region;

    #[test]
    fn five_heaps_width_two_read_eleven_rows() {
        let layout = Layout::new(&Region::new(5, 9).unwrap()).unwrap();
        let moves = |rules: &Ruleset| {
            let terms = Stencil::new(rules, &layout).terms;
            // A term that is read both ways stands for two moves.
            (
                terms.len(),
                terms.iter().map(|term| 1 + usize::from(term.shift == Shift::Either)).sum::<usize>(),
            )
        };
        assert_eq!(moves(&Ruleset::bounded_moore(5, 2).unwrap()), (11, 5 + 10));
        assert_eq!(moves(&Ruleset::exact_slow(5, 4).unwrap()).1, 5);
        assert_eq!(moves(&Ruleset::bounded_moore(5, 5).unwrap()).1, 31);
    }

    #[test]
    fn forbidden_totals_take_moves_away() {
        let layout = Layout::new(&Region::new(4, 9).unwrap()).unwrap();
        let rules =
            Ruleset::bounded_moore(4, 3).unwrap().with_forbidden("5k".parse().unwrap()).with_misere(true);
        let stencil = Stencil::new(&rules, &layout);
        assert_eq!(stencil.touches(&rules, 6), TouchMask(0b1100));
        assert_eq!(stencil.touches(&rules, 7), TouchMask(0b1010));
        assert_eq!(stencil.touches(&rules, 1), TouchMask(0));
        assert_eq!(Stencil::least_nonempty(&rules, TouchMask(0b1100)), 2);
        assert_eq!(Stencil::least_nonempty(&rules, TouchMask(0)), 32);
    }
}
