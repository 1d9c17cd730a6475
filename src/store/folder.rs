//! The files of a store: their names, and where each stratum is.

use std::path::{Path, PathBuf};

use super::manifest::Subject;
use crate::error::Result;
use crate::npy;
use crate::space::{Canonical, Cell};

/// Strata start at multiples of so many bytes.
const ALIGNMENT: u64 = 8;

/// The manifest of a finished store.
pub(super) const MANIFEST: &str = "manifest.json";
/// The manifest of one that is not finished.
pub(super) const PROGRESS: &str = "progress.json";
/// The digest of each stratum.
pub(super) const DIGESTS: &str = "digests.npy";
/// Where each stratum starts in the data, in bytes, and where the last one ends.
pub(super) const OFFSETS: &str = "offsets.npy";

/// Where everything is in the folder of a store.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub path: PathBuf,
    pub cell: Cell,
    /// Where each stratum starts in the data, in bytes, and where the last one ends.
    pub offsets: Vec<u64>,
    /// Positions of each stratum.
    sizes: Vec<u64>,
}

impl Folder {
    pub fn new(path: &Path, subject: &Subject) -> Result<Self> {
        let cell = subject.cell()?;
        let sizes =
            subject.region.strata().map(|total| subject.region.stratum_size(total)).collect::<Vec<_>>();
        let mut offsets = vec![0];
        let mut end = 0;
        for &size in &sizes {
            end += bytes_of(cell, size).next_multiple_of(ALIGNMENT);
            offsets.push(end);
        }
        Ok(Self { path: path.to_owned(), cell, offsets, sizes })
    }

    pub fn strata(&self) -> u32 {
        self.sizes.len() as u32
    }

    /// The name of the file with the data.
    pub fn data(&self) -> &'static str {
        data_name(self.cell)
    }

    /// Bytes of the data, without the header.
    pub fn data_bytes(&self) -> u64 {
        self.offsets[self.sizes.len()]
    }

    pub fn data_header(&self) -> Vec<u8> {
        let (descr, bytes) = if self.cell == Cell::Remoteness16 { ("<u2", 2) } else { ("|u1", 1) };
        npy::header(descr, &[self.data_bytes() / bytes])
    }

    pub fn digests_header(&self) -> Vec<u8> {
        npy::header("<u8", &[self.strata().into()])
    }

    /// The whole file of offsets.
    pub fn offsets_file(&self) -> Vec<u8> {
        let mut file = npy::header("<u8", &[self.offsets.len() as u64]);
        file.extend(self.offsets.iter().flat_map(|offset| offset.to_le_bytes()));
        file
    }

    /// A stratum in the data (without the header), and the bytes between it and the next.
    pub fn stratum<'a>(&self, data: &'a [u8], total: u32) -> (Canonical<'a>, &'a [u8]) {
        let total = total as usize;
        let whole = &data[self.offsets[total] as usize..self.offsets[total + 1] as usize];
        let (bytes, padding) = whole.split_at(bytes_of(self.cell, self.sizes[total]) as usize);
        let canonical = match self.cell {
            Cell::Verdicts => Canonical::Verdicts(bytes),
            Cell::Remoteness8 => Canonical::Remoteness8(bytes),
            Cell::Remoteness16 => Canonical::Remoteness16(bytemuck::cast_slice(bytes)),
        };
        (canonical, padding)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The name of a file that is not whole.
    pub fn part(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.part"))
    }
}

/// The name of the file with the data.
pub(super) fn data_name(cell: Cell) -> &'static str {
    match cell {
        Cell::Verdicts => "verdict.npy",
        Cell::Remoteness8 | Cell::Remoteness16 => "remoteness.npy",
    }
}

/// Bytes of so many positions.
fn bytes_of(cell: Cell, positions: u64) -> u64 {
    match cell {
        Cell::Verdicts => positions.div_ceil(8),
        Cell::Remoteness8 => positions,
        Cell::Remoteness16 => 2 * positions,
    }
}
