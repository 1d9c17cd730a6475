//! What the CPU backends share that keep the last strata in a ring of slots: one stratum is taken to the observers while the
//! next is solved, and a run goes on from strata that are known.

use crate::backend::{Backend, Kept, Past, Visit};
use crate::error::Result;
use crate::space::{Canonical, Region, Stratum};

/// Where a ring stands.
pub struct Progress {
    /// The stratum to solve next.
    next: u32,
    /// How many strata the region has.
    end: u32,
    /// How many strata below are needed.
    depth: u32,
    /// Whether all slots are as they were allocated: zero.
    fresh: bool,
}

impl Progress {
    /// Before stratum 0 of a region, with slots as they were allocated.
    pub fn new(region: &Region, depth: u32) -> Self {
        Self { next: 0, end: region.strata().end, depth, fresh: true }
    }
}

/// A backend that keeps the last strata.
pub trait Ring: Sync {
    /// What one stratum goes to.
    type Slots: Send;

    /// Where it stands.
    fn progress_mut(&mut self) -> &mut Progress;

    /// The same, to look at.
    fn progress(&self) -> &Progress;

    /// Takes the slots out of the ring that a stratum goes to.
    fn take(&mut self, total: u32) -> Self::Slots;

    /// Puts them back.
    fn put(&mut self, total: u32, slots: Self::Slots);

    /// Makes all slots zero.
    fn clear(&mut self);

    /// Solves a stratum, and returns the number of its P-positions.
    fn solve(&self, total: u32, slots: &mut Self::Slots) -> u64;

    /// Puts a stratum that is known into its slots.
    fn fill(&self, total: u32, values: Canonical<'_>, slots: &mut Self::Slots);

    /// A stratum that is in the ring, as observers see it.
    fn stratum(&self, total: u32, p_positions: u64) -> Stratum<'_>;
}

impl<R: Ring> Backend for R {
    fn go_on(&mut self, bits: bool, visit: &mut Visit<'_>) -> Result<()> {
        let mut solved: Option<(u32, u64)> = None;
        let mut stop = false;
        while self.progress().next < self.progress().end && !stop {
            let total = self.progress().next;
            let mut slots = self.take(total);
            let this = &*self;
            let mut solve = || this.solve(total, &mut slots);
            let mut observe =
                || solved.is_some_and(|(total, count)| visit(&this.stratum(total, count)).is_break());
            let count;
            (count, stop) = if bits { rayon::join(solve, observe) } else { (solve(), observe()) };
            self.put(total, slots);
            stand_before(self, total + 1);
            solved = Some((total, count));
        }
        if let Some((total, count)) = solved {
            // It stops after this one in any case.
            let _ = visit(&self.stratum(total, count));
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<()> {
        if !self.progress().fresh {
            self.clear();
        }
        let progress = self.progress_mut();
        (progress.next, progress.fresh) = (0, true);
        Ok(())
    }

    fn past(&self) -> Result<Past> {
        let &Progress { next, depth, .. } = self.progress();
        let strata = (next.saturating_sub(depth)..next).map(|total| self.stratum(total, 0).canonical());
        Ok(Past { next, kept: Kept::Strata(strata.collect()) })
    }

    fn resume(&mut self, past: &Past) -> Result<()> {
        self.restart()?;
        let Kept::Strata(strata) = &past.kept else { unreachable!("take-one kernels keep strata") };
        for (stratum, total) in strata.iter().zip(past.next - strata.len() as u32..) {
            let mut slots = self.take(total);
            self.fill(total, stratum.view(), &mut slots);
            self.put(total, slots);
        }
        stand_before(self, past.next);
        Ok(())
    }
}

/// Stands before a stratum, the slots no longer as they were allocated.
fn stand_before(ring: &mut impl Ring, total: u32) {
    let progress = ring.progress_mut();
    (progress.next, progress.fresh) = (total, false);
}
