//! What the solver asks of a backend: solve a region's strata from the bottom up, and hand each one on.

use std::ops::ControlFlow;

use crate::error::Result;
use crate::space::Stratum;

/// Receives each solved stratum in order; [`ControlFlow::Break`] stops the run.
pub type Visit<'a> = dyn FnMut(&Stratum<'_>) -> ControlFlow<()> + Send + 'a;

/// A kernel on some machine, with a region loaded.
pub trait Backend {
    /// Solves the strata from total 0 on, and calls `visit` once for each, in order. With `bits` the strata's
    /// verdicts can be read; without, only their counts, and the backend may keep the verdicts where they are.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when a GPU fails.
    fn run(&mut self, bits: bool, visit: &mut Visit<'_>) -> Result<()>;
}
