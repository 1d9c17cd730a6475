//! Files mapped to memory.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Error, Result};

/// The bytes of a file, read from the disk as they are wanted.
pub(super) struct Mapped(Option<Mmap>);

impl Mapped {
    /// No bytes.
    pub fn empty() -> Self {
        Self(None)
    }

    pub fn open(path: &Path) -> Result<Self> {
        let failed = |source| Error::Io { what: format!("reading {}", path.display()), source };
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() == 0 {
            return Ok(Self(None));
        }
        map(&file).map(|map| Self(Some(map))).map_err(failed)
    }
}

#[allow(unsafe_code, reason = "the system cannot promise that nobody writes to a file")]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the bytes are only ever read as plain numbers, of which any are valid. A file that another program changes
    // meanwhile gives other numbers; one that it cuts short ends this process, as everywhere where files are mapped.
    unsafe { Mmap::map(file) }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(&[])
    }
}
