//! What the solver asks of a backend: solve a region's strata from the bottom up, hand each one on, and stop and go on
//! between any two.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::error::Result;
use crate::space::{CanonicalBuf, Stratum, TABLES};

/// Receives each solved stratum in order; [`ControlFlow::Break`] stops the run.
pub type Visit<'a> = dyn FnMut(&Stratum<'_>) -> ControlFlow<()> + Send + 'a;

/// What a kernel must know of the strata below the next one, in a form that no backend has a part in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// The stratum to solve next.
    pub next: u32,
    /// What is known of those below.
    pub kept: Kept,
}

/// What is kept of solved strata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The last strata below the next one, in order: as many as the most heaps that a move touches, or all there are.
    Strata(Vec<CanonicalBuf>),
    /// The bits of all lines, in the tables of [`LineLayout`](crate::space::LineLayout).
    Lines([Vec<u32>; TABLES]),
}

/// A kernel on some machine, with a region loaded. At first it stands before stratum 0.
pub trait Backend {
    /// Solves all strata, from total 0 on.
    ///
    /// # Errors
    /// As [`go_on`](Self::go_on).
    fn run(&mut self, bits: bool, visit: &mut Visit<'_>) -> Result<()> {
        self.restart()?;
        self.go_on(bits, visit)
    }

    /// Solves the strata from the one it stands at, and calls `visit` once for each, in order. With `bits` the strata's
    /// verdicts can be read; without, only their counts, and the backend may keep the verdicts where they are.
    ///
    /// When `visit` stops it, strata that were solved by then are still visited; it then stands at the next, and can go
    /// on from there.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when a GPU fails.
    fn go_on(&mut self, bits: bool, visit: &mut Visit<'_>) -> Result<()>;

    /// Goes back to stratum 0.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when a GPU fails.
    fn restart(&mut self) -> Result<()>;

    /// What it knows of the strata below the one it stands at.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when a GPU fails.
    fn past(&self) -> Result<Past>;

    /// Goes to where a backend for the same rules and region stood.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when a GPU fails.
    ///
    /// # Panics
    /// If the past is that of other rules or of another region.
    fn resume(&mut self, past: &Past) -> Result<()>;

    /// Measures from now on how long kernels run, by the clock of the device, if it has one that can be read.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when a GPU fails.
    fn time_kernels(&mut self) -> Result<()> {
        Ok(())
    }

    /// How long kernels have run since it went to stratum 0 or resumed, if that is measured.
    fn kernel_time(&self) -> Option<Duration> {
        None
    }
}
