//! A fingerprint of all verdicts or of all remoteness of a region, the same on every backend.

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::solver::Observer;
use crate::space::Stratum;

/// Digests strata in canonical order.
///
/// The digest of a stratum is xxh3-64 of its canonical bitmap, or with remoteness of its values in canonical order,
/// 2 bytes little-endian each, however wide they were stored. The digest of the region is xxh3-64 of all strata's
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
        let digest = match stratum.canonical_remoteness() {
            Some(mut values) => {
                for value in &mut values {
                    *value = value.to_le();
                }
                xxh3_64(bytemuck::cast_slice(&values))
            }
            None => xxh3_64(&stratum.canonical_bitmap()),
        };
        self.strata.update(&digest.to_le_bytes());
    }
}
