//! How many cells are loaded and stored for one that is solved.

use super::folded::{axes, kept, levels};
use super::sweep::MOST_DEPTH;
use crate::game::Ruleset;

/// How many cells are loaded and stored for one that is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accesses {
    /// Loaded.
    pub loads: u32,
    /// Loaded besides for each cell that follows another in its lane, and for each that another follows.
    pub loads_beside: u32,
    /// Stored.
    pub stores: u32,
}

/// Loads and stores for a cell of a stratum in which no heaps are equal or empty.
#[must_use]
pub fn accesses(rules: &Ruleset, total: u32) -> Accesses {
    let (axes, most) = (axes(rules), rules.touch_most);
    let is_level = |size: &u32| *size <= levels(rules) && kept(rules, *size) > 0;
    let is_read = |size: &u32| {
        let arrives = |total: u32| !rules.forbidden.contains(total.into());
        total.checked_sub(*size).is_some_and(|total| is_level(size) || *size == most && arrives(total))
    };
    let sets = |size: u32| (0..size).fold(1, |sets, k| sets * (axes - k) / (k + 1));
    let runs = (1..=axes).filter(is_read).map(sets).sum::<u32>();
    let levels = (1..=axes).filter(is_level).count() as u32;
    let depth = most.min(MOST_DEPTH as u32);
    let either = depth.min(2);
    // What is brought together of the runs with one y less is stored, and two loads are where its readers look for it.
    let (loads, stores) = if axes > 1 { (2, 1) } else { (0, 0) };
    Accesses { loads: either + depth + runs + loads, loads_beside: either, stores: 1 + levels + stores }
}
