//! What the CPU backends share that keep the last strata in a ring of slots: one stratum is taken to the observers while the
//! next is solved, and a run goes on from strata that are known.

use crate::backend::{Kept, Past, Visit};
use crate::space::{Canonical, Stratum};

/// A backend that keeps the last strata.
pub trait Ring: Sync {
    /// What one stratum goes to.
    type Slots: Send;

    /// The stratum to solve next.
    fn next(&self) -> u32;

    /// Stands before a stratum, its slots no longer as they were allocated.
    fn stand_before(&mut self, total: u32);

    /// How many strata the region has.
    fn end(&self) -> u32;

    /// How many strata below are needed.
    fn depth(&self) -> u32;

    /// Takes the slots out of the ring that a stratum goes to.
    fn take(&mut self, total: u32) -> Self::Slots;

    /// Puts them back.
    fn put(&mut self, total: u32, slots: Self::Slots);

    /// Solves a stratum, and returns the number of its P-positions.
    fn solve(&self, total: u32, slots: &mut Self::Slots) -> u64;

    /// Puts a stratum that is known into its slots.
    fn fill(&self, total: u32, values: Canonical<'_>, slots: &mut Self::Slots);

    /// A stratum that is in the ring, as observers see it.
    fn stratum(&self, total: u32, p_positions: u64) -> Stratum<'_>;
}

/// As [`Backend::go_on`](crate::backend::Backend::go_on).
pub fn go_on<R: Ring>(ring: &mut R, bits: bool, visit: &mut Visit<'_>) {
    let mut solved: Option<(u32, u64)> = None;
    let mut stop = false;
    while ring.next() < ring.end() && !stop {
        let total = ring.next();
        let mut slots = ring.take(total);
        let this = &*ring;
        let mut solve = || this.solve(total, &mut slots);
        let mut observe =
            || solved.is_some_and(|(total, count)| visit(&this.stratum(total, count)).is_break());
        let count;
        (count, stop) = if bits { rayon::join(solve, observe) } else { (solve(), observe()) };
        ring.put(total, slots);
        ring.stand_before(total + 1);
        solved = Some((total, count));
    }
    if let Some((total, count)) = solved {
        // It stops after this one in any case.
        let _ = visit(&ring.stratum(total, count));
    }
}

/// As [`Backend::past`](crate::backend::Backend::past).
pub fn past(ring: &impl Ring) -> Past {
    let first = ring.next().saturating_sub(ring.depth());
    let strata = (first..ring.next()).map(|total| ring.stratum(total, 0).canonical()).collect();
    Past { next: ring.next(), kept: Kept::Strata(strata) }
}

/// As [`Backend::resume`](crate::backend::Backend::resume), from a ring that is as it was allocated.
pub fn resume(ring: &mut impl Ring, past: &Past) {
    let Kept::Strata(strata) = &past.kept else { unreachable!("take-one kernels keep strata") };
    for (stratum, total) in strata.iter().zip(past.next - strata.len() as u32..) {
        let mut slots = ring.take(total);
        ring.fill(total, stratum.view(), &mut slots);
        ring.put(total, slots);
    }
    ring.stand_before(past.next);
}
