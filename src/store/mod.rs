//! Stores: the verdicts or the remoteness of a region in a folder, for numpy and for later runs.
//!
//! | file | holds |
//! |---|---|
//! | `manifest.json` | rules, region, quantity, counts, digest, format version, and a checksum of itself |
//! | `verdict.npy` | bytes: a bit a position, 1 = P, least significant first; or |
//! | `remoteness.npy` | R of each position, one or two bytes |
//! | `offsets.npy` | 64-bit: where each stratum starts in that array, in bytes, and where the last one ends |
//! | `digests.npy` | 64-bit: the [digest](crate::observe::stratum_digest) of each stratum |
//!
//! Each stratum is in canonical order and starts at a multiple of eight bytes; what is between two is zero. numpy needs
//! nothing else: `np.unpackbits(v[o[s]:o[s+1]], bitorder="little")[:count]`.
//!
//! While it is written, a store has `progress.json` in place of the manifest, and the ends of `verdict.npy.part` and
//! `digests.npy.part` are where the run is. A digest is written behind its stratum, so a stratum counts as written when its
//! digest is there and right; [`Writer`] checks that when it goes on after a run that was killed.
//!
//! ```
//! use std::ops::ControlFlow;
//! use nimstrata::game::{Position, Ruleset};
//! use nimstrata::solver::{Options, Quantity, Solver};
//! use nimstrata::space::Region;
//! use nimstrata::store::{Store, Subject, Writer};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("store");
//! // Solve and store.
//! let rules = Ruleset::bounded_moore(5, 2)?;
//! let region = Region::new(5, 12)?;
//! let subject = Subject { rules: rules.clone(), region: region.clone(), quantity: Quantity::Verdict };
//! let mut writer = Writer::open(&path, subject, &mut |_| ControlFlow::Continue(()))?;
//! let mut solver = Solver::new(&rules, &region, &Options::default())?;
//! let summary = solver.run(&mut [&mut writer], &mut |_| ControlFlow::Continue(()))?;
//! writer.finish(&summary)?;
//!
//! // Open it, go through the P-positions of a stratum, and look one up.
//! let store = Store::open(&path)?;
//! for position in store.p_positions(9) {
//!     println!("{position}");
//! }
//! assert_eq!(store.p_positions(9).count() as u64, store.stratum(9).unwrap().p_positions());
//! assert_eq!(store.is_p(&Position::new(vec![0, 0, 0, 1, 1])), Some(false));
//! # Ok::<(), nimstrata::Error>(())
//! ```

mod folder;
mod manifest;
mod mapped;
mod verify;
mod writer;

use std::path::Path;
use std::sync::OnceLock;

pub use manifest::{Counts, Subject};
pub use verify::{Audit, Verdict, Verification, verify};
pub use writer::{WatchStrata, Writer};

use crate::error::{Error, Result};
use crate::game::{Position, Ruleset};
use crate::npy;
use crate::solver::{Known, Quantity, SolvedBefore};
use crate::space::{Canonical, Cell, Ranks, Region};
use folder::{Folder, MANIFEST, PROGRESS};
use manifest::Manifest;
use mapped::Mapped;

/// A stratum of a store.
pub use crate::space::Canonical as Stored;

/// A finished store, opened for reading. What is read of it is read from the disk as it is wanted.
pub struct Store {
    manifest: Manifest,
    counts: Counts,
    digest: u64,
    folder: Folder,
    data: Mapped,
    /// Bytes before the data.
    header: usize,
    ranks: OnceLock<Ranks>,
}

impl Store {
    /// Opens a store. Its manifest is checked, and that its data has the size it should have; [`verify`] checks all.
    ///
    /// # Errors
    /// [`Error::NoStore`] for a folder that holds none, [`Error::UnfinishedStore`] for one that is not finished,
    /// [`Error::StoreVersion`] for a later format, [`Error::Damaged`] for files that are not as they were written, and
    /// [`Error::Io`] for what cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let manifest = read_manifest(path)?;
        let Some((counts, digest)) = manifest.outcome else {
            return Err(Error::Damaged { path: path.join(MANIFEST), what: "it has no counts".to_owned() });
        };
        let folder = Folder::new(path, &manifest.subject)?;
        let data = Mapped::open(&folder.file(folder.data()))?;
        let header = folder.data_header();
        check_array(&data, &folder.file(folder.data()), &header, folder.data_bytes())?;
        Ok(Self { manifest, counts, digest, folder, data, header: header.len(), ranks: OnceLock::new() })
    }

    /// The rules of the game.
    #[must_use]
    pub fn rules(&self) -> &Ruleset {
        &self.manifest.subject.rules
    }

    /// Its positions.
    #[must_use]
    pub fn region(&self) -> &Region {
        &self.manifest.subject.region
    }

    /// What it knows of each position.
    #[must_use]
    pub fn quantity(&self) -> Quantity {
        self.manifest.subject.quantity
    }

    /// What its values are: bits, or numbers of one or two bytes.
    #[must_use]
    pub fn cell(&self) -> Cell {
        self.folder.cell
    }

    /// How many positions of which kind there are.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The [digest](crate::observe::Digest) of the region.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// One stratum; `None` outside the region.
    #[must_use]
    pub fn stratum(&self, total: u32) -> Option<Stored<'_>> {
        (total < self.folder.strata()).then(|| self.folder.stratum(&self.data[self.header..], total).0)
    }

    /// The place of a position. `None` outside the region.
    fn place(&self, sizes: &[u32]) -> Option<(Stored<'_>, u64)> {
        let ranks = self.ranks.get_or_init(|| Ranks::new(self.region()));
        let (total, rank) = ranks.place(sizes)?;
        Some((self.stratum(total)?, rank))
    }

    /// The position at a place of a stratum; `None` outside the region.
    #[must_use]
    pub fn position(&self, total: u32, rank: u64) -> Option<Position> {
        self.ranks.get_or_init(|| Ranks::new(self.region())).position(total, rank)
    }

    /// Whether a position is a P-position. `None` outside the region.
    #[must_use]
    pub fn is_p(&self, position: &Position) -> Option<bool> {
        self.place(position.sizes()).map(|(stratum, rank)| stratum.is_p(rank))
    }

    /// The remoteness of a position. `None` outside the region, and in a store of verdicts.
    #[must_use]
    pub fn remoteness(&self, position: &Position) -> Option<u32> {
        self.place(position.sizes()).and_then(|(stratum, rank)| stratum.remoteness(rank))
    }

    /// The P-positions of a stratum in canonical order; none outside the region.
    pub fn p_positions(&self, total: u32) -> impl Iterator<Item = Position> {
        let stratum = self.stratum(total);
        let ranked = self.region().stratum(total).zip(0..);
        ranked.filter(move |&(_, rank)| stratum.is_some_and(|stratum| stratum.is_p(rank))).map(|(at, _)| at)
    }
}

impl Known for Store {
    fn strata(&self) -> u32 {
        self.folder.strata()
    }

    fn values(&self, total: u32) -> Canonical<'_> {
        self.folder.stratum(&self.data[self.header..], total).0
    }
}

impl SolvedBefore for Store {
    fn rules(&self) -> &Ruleset {
        self.rules()
    }

    fn region(&self) -> &Region {
        self.region()
    }

    fn quantity(&self) -> Quantity {
        self.quantity()
    }

    fn cell(&self) -> Cell {
        self.cell()
    }

    fn name(&self) -> String {
        self.folder.path.display().to_string()
    }
}

/// Reads the manifest of a finished store.
fn read_manifest(path: &Path) -> Result<Manifest> {
    let name = path.join(MANIFEST);
    match read(&name) {
        Ok(bytes) => Manifest::read(&name, &bytes),
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            let no = |reason: &str| Error::NoStore { path: path.to_owned(), reason: reason.to_owned() };
            if !path.exists() {
                return Err(no("there is no such folder"));
            }
            let progress = path.join(PROGRESS);
            let bytes = read(&progress).map_err(|_| no("it has no manifest.json"))?;
            let Manifest { subject, .. } = Manifest::read(&progress, &bytes)?;
            let folder = Folder::new(path, &subject)?;
            let done = writer::written(&folder);
            Err(Error::UnfinishedStore { path: path.to_owned(), done, strata: folder.strata().into() })
        }
        Err(other) => Err(other),
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| Error::Io { what: format!("reading {}", path.display()), source })
}

/// Refuses an array file with another header or length than it should have.
fn check_array(file: &[u8], path: &Path, header: &[u8], bytes: u64) -> Result<()> {
    let damaged = |what: String| Err(Error::Damaged { path: path.to_owned(), what });
    if let Some(found) = npy::found(file, header) {
        return damaged(found);
    }
    let (length, whole) = (file.len() as u64, header.len() as u64 + bytes);
    if length == whole { Ok(()) } else { damaged(format!("it has {length} bytes and should have {whole}")) }
}
