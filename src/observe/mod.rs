//! Checking invariants on the CPU, on the verdicts or the remoteness that were read back.

mod census;
pub mod claims;
mod digest;
mod distribution;
mod exceptions;
mod lookup;
mod m_moves;
mod subspace;

pub use census::{Census, WordCount};
pub use digest::{Digest, stratum_digest};
pub use distribution::{Distribution, Longest};
pub use exceptions::{Exception, Exceptions, Shorter};
pub use lookup::Lookup;
pub use m_moves::{Judged, MMoves};
pub use subspace::{Subspace, is_prime};
