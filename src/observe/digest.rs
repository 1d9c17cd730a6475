//! A fingerprint of all verdicts or of all remoteness of a region, the same on every backend.

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use serde_json::Value;

use crate::checkpoint::Resumable;
use crate::solver::Observer;
use crate::space::{Canonical, Stratum};

/// Numbers widened at a time.
const WIDENED: usize = 4096;

/// Digests strata in canonical order.
///
/// The digest of a stratum is xxh3-64 of its canonical bitmap, or with remoteness of its values in canonical order,
/// 2 bytes little-endian each, however wide they were stored. The digest of the region is xxh3-64 of all strata's
/// digests in order, 8 bytes little-endian each.
#[derive(Default)]
pub struct Digest {
    /// The digest of each stratum.
    strata: Vec<u64>,
}

impl Digest {
    /// The digest of the strata observed so far, as 16 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        format!("{:016x}", self.value())
    }

    /// The same as a number.
    #[must_use]
    pub fn value(&self) -> u64 {
        let mut whole = Xxh3Default::new();
        self.strata.iter().for_each(|digest| whole.update(&digest.to_le_bytes()));
        whole.digest()
    }
}

impl Digest {
    /// Adds the next stratum, of this digest.
    pub fn add(&mut self, digest: u64) {
        self.strata.push(digest);
    }
}

/// The digest of one stratum.
#[must_use]
pub fn stratum_digest(canonical: Canonical<'_>) -> u64 {
    match canonical {
        Canonical::Verdicts(bytes) => xxh3_64(bytes),
        Canonical::Remoteness8(values) => wide_digest(values),
        Canonical::Remoteness16(values) if cfg!(target_endian = "little") => {
            xxh3_64(bytemuck::cast_slice(values))
        }
        Canonical::Remoteness16(values) => wide_digest(values),
    }
}

/// The digest of numbers as two bytes each, little-endian.
fn wide_digest<T: Copy + Into<u16>>(values: &[T]) -> u64 {
    let mut digest = Xxh3Default::new();
    let mut wide = Vec::with_capacity(2 * WIDENED);
    for values in values.chunks(WIDENED) {
        wide.clear();
        wide.extend(values.iter().flat_map(|&value| value.into().to_le_bytes()));
        digest.update(&wide);
    }
    digest.digest()
}

impl Observer for Digest {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        self.add(stratum_digest(stratum.canonical().view()));
    }
}

impl Resumable for Digest {
    fn save(&self) -> Value {
        self.strata.clone().into()
    }

    fn load(&mut self, saved: Value) -> Option<()> {
        self.strata = serde_json::from_value(saved).ok()?;
        Some(())
    }
}
