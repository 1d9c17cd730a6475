//! Checking invariants on the CPU, on the verdicts or the remoteness that were read back.

mod census;
pub mod claims;
mod digest;
mod distribution;
mod lookup;
mod subspace;

pub use census::{Census, WordCount};
pub use digest::Digest;
pub use distribution::{Distribution, Longest};
pub use lookup::Lookup;
pub use subspace::{Subspace, is_prime};
