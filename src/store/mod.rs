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

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::game::{Position, Ruleset};
use crate::npy;
use crate::observe::{Digest, stratum_digest};
use crate::solver::{Known, Quantity, SolvedBefore};
use crate::space::{Canonical, Cell, Ranks, Region};
use folder::{DIGESTS, Folder, MANIFEST, OFFSETS, PROGRESS};
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
    /// The digest of each stratum.
    digests: Vec<u64>,
    /// Bytes before the data.
    header: usize,
    ranks: OnceLock<Ranks>,
}

impl Store {
    /// Opens a store. Its manifest, offsets and digests are checked, and that its data has the size it should have;
    /// the values are checked where all of a stratum is read in order ([`Known::values`]), and by [`check`](Self::check).
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
        let data = Mapped::open(&folder.file(folder.data())).map_err(missing)?;
        let header = folder.data_header();
        check_array(&data, &folder.file(folder.data()), &header, folder.data_bytes())?;
        let digests = read_digests(&folder, digest)?;
        check_offsets(&folder)?;
        let (header, ranks) = (header.len(), OnceLock::new());
        Ok(Self { manifest, counts, digest, folder, data, digests, header, ranks })
    }

    /// The name of the game, as its writer had it on the command line.
    #[must_use]
    pub fn game(&self) -> &str {
        &self.manifest.game
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

    /// Compares all values with their digests, on all threads of the pool that it is called in.
    ///
    /// # Errors
    /// [`Error::Damaged`] for values that are not as they were written.
    pub fn check(&self) -> Result<()> {
        self.region().strata().into_par_iter().try_for_each(|total| self.values(total).map(drop))
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

    fn values(&self, total: u32) -> Result<Canonical<'_>> {
        let values = self.folder.stratum(&self.data[self.header..], total).0;
        if stratum_digest(values) == self.digests[total as usize] {
            return Ok(values);
        }
        let path = self.folder.file(self.folder.data());
        Err(Error::Damaged { path, what: format!("the stratum with total {total} is not as it was written") })
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

/// What cannot be read of a store because it is not there, or no file, is damage.
fn missing(error: Error) -> Error {
    match error {
        Error::Io { what, source } if source.kind() != std::io::ErrorKind::PermissionDenied => {
            let path = what.strip_prefix("reading ").unwrap_or(&what).into();
            Error::Damaged { path, what: source.to_string() }
        }
        other => other,
    }
}

/// The digests of all strata, which must be those that the manifest has the digest of.
fn read_digests(folder: &Folder, digest: u64) -> Result<Vec<u64>> {
    let (file, header) = (folder.file(DIGESTS), folder.digests_header());
    let bytes = read(&file).map_err(missing)?;
    check_array(&bytes, &file, &header, 8 * u64::from(folder.strata()))?;
    let digests = bytes[header.len()..].as_chunks::<8>().0.iter().map(|&bytes| u64::from_le_bytes(bytes));
    let digests = digests.collect::<Vec<_>>();
    let mut whole = Digest::default();
    for &digest in &digests {
        whole.add(digest);
    }
    if whole.value() == digest {
        return Ok(digests);
    }
    Err(Error::Damaged { path: file, what: "its digests are not those of the manifest".to_owned() })
}

/// The offsets must be what the region asks for.
fn check_offsets(folder: &Folder) -> Result<()> {
    let file = folder.file(OFFSETS);
    if read(&file).map_err(missing)? == folder.offsets_file() {
        return Ok(());
    }
    Err(Error::Damaged { path: file, what: "it is not what the region asks for".to_owned() })
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
