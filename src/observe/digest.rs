//! A fingerprint of all verdicts of a region, the same on every backend.

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::solver::Observer;
use crate::space::Stratum;

/// Digests strata in canonical order.
///
/// The digest of a stratum is xxh3-64 of its canonical bitmap; the digest of the region is xxh3-64 of all strata's
/// digests in order, 8 bytes little-endian each.
#[derive(Default)]
pub struct Digest {
    strata: Xxh3Default,
}

impl Digest {
    /// The digest of the strata observed so far, as 16 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        format!("{:016x}", self.strata.digest())
    }
}

impl Observer for Digest {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        self.strata.update(&xxh3_64(&stratum.canonical_bitmap()).to_le_bytes());
    }
}
