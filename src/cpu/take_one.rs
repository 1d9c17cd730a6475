//! CPU twin of `shaders/take_one.wgsl`: verdicts of take-one games, stratum by stratum.
//!
//! Up to three heaps are solved in the layout of the shaders (`three`), more in one that is half as large, in
//! which moves are taken in two steps (`folded`).

mod accesses;
mod folded;
mod lower;
mod neighbours;
mod registers;
mod sweep;
mod three;
mod windows;

pub use self::accesses::{Accesses, accesses};
pub use self::windows::{Swept, swept};

use self::folded::Folded;
use self::three::Verdicts;
use super::stencil::Strata;
use crate::backend::{Backend, Past, Visit};
use crate::error::Result;
use crate::game::Ruleset;
use crate::space::{Cell, FOLDED_HEAPS, Region, layout_bytes};

/// The CPU backend for verdicts of take-one games. It runs on the threads of the pool that it is called in.
pub enum TakeOne {
    /// Up to three heaps.
    Few(Box<Strata<Verdicts>>),
    /// Four heaps and more.
    Many(Box<Folded>),
}

impl TakeOne {
    /// Allocates the strata for a region.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) when the region cannot be laid out.
    pub fn new(rules: &Ruleset, region: &Region) -> Result<Self> {
        Ok(if rules.heaps < FOLDED_HEAPS {
            Self::Few(Box::new(Strata::new(rules, region)?))
        } else {
            Self::Many(Box::new(Folded::new(rules, region)?))
        })
    }

    /// The same, splitting work over threads down to about this many 32-bit words of cells.
    #[must_use]
    pub fn with_task_words(self, task_words: u64) -> Self {
        match self {
            Self::Few(strata) => Self::Few(Box::new(strata.with_task_words(task_words))),
            Self::Many(folded) => Self::Many(Box::new(folded.with_task_words(task_words))),
        }
    }

    /// Bytes of memory for a region with this cap; `None` when they are more than `limit`.
    #[must_use]
    pub fn bytes(rules: &Ruleset, max: u64, limit: u128) -> Option<u128> {
        if rules.heaps < FOLDED_HEAPS {
            layout_bytes(rules.heaps, max, Cell::Verdicts, rules.touch_most + 1, limit)
        } else {
            Folded::bytes(rules, max, limit)
        }
    }

    fn backend(&self) -> &dyn Backend {
        match self {
            Self::Few(strata) => &**strata,
            Self::Many(folded) => &**folded,
        }
    }

    fn backend_mut(&mut self) -> &mut dyn Backend {
        match self {
            Self::Few(strata) => &mut **strata,
            Self::Many(folded) => &mut **folded,
        }
    }
}

impl Backend for TakeOne {
    fn go_on(&mut self, bits: bool, visit: &mut Visit<'_>) -> Result<()> {
        self.backend_mut().go_on(bits, visit)
    }

    fn restart(&mut self) -> Result<()> {
        self.backend_mut().restart()
    }

    fn past(&self) -> Result<Past> {
        self.backend().past()
    }

    fn resume(&mut self, past: &Past) -> Result<()> {
        self.backend_mut().resume(past)
    }
}
