//! The GPU backend: adapters, a device that reports its failures, and the kernels' dispatches.

mod adapter;
mod cells;
mod clock;
mod context;
mod copying;
pub mod density;
pub mod params;
pub mod remoteness;
pub mod sieve;
mod stencil;
mod strata;
mod tables;
pub mod take_one;

pub use adapter::{AdapterSummary, Choice, adapters};
pub use context::{Context, Mapped};
pub use strata::Limits;

/// Strata that may be on their way back to the host at once.
pub const STAGING_SLOTS: u32 = 2;
