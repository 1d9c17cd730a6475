//! Files that appear under their names when they are whole; what was there before stays until then.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Called with the number of bytes written; [`ControlFlow::Break`] stops the writing.
pub type WatchBytes<'a> = dyn FnMut(u64) -> ControlFlow<()> + 'a;

/// A file to be written, beside its name until it is whole.
pub struct OutputFile {
    /// As it was given.
    name: PathBuf,
    /// Where links lead.
    path: PathBuf,
    /// A name beside it for what is not yet whole.
    part: PathBuf,
    file: Option<File>,
}

impl OutputFile {
    /// Makes sure that the file can be written, before its contents are computed.
    ///
    /// # Errors
    /// [`Error::Overwrite`] for a name that a directory, a device or a read-only file has, [`Error::Io`] when the system
    /// refuses.
    pub fn create(name: &Path) -> Result<Self> {
        let refuse = |reason| Err(Error::Overwrite { path: name.to_owned(), reason });
        let old = fs::metadata(name).ok();
        match &old {
            Some(old) if !old.is_file() => return refuse("it is there and is no file"),
            Some(old) if old.permissions().readonly() => return refuse("it is there and is read-only"),
            _ => {}
        }
        let path = fs::canonicalize(name).unwrap_or_else(|_| name.to_owned());
        if is_in_store(&path) {
            return refuse("it is a file of a store");
        }
        let stem = path.file_name().unwrap_or_default().to_string_lossy();
        // A name that the next run finds again, so that what a killed one leaves does not pile up.
        let part = path.with_file_name(format!(".{stem}.part"));
        let created = File::options().write(true).create(true).truncate(false).open(&part);
        let file = created.map_err(|source| failed(name, source))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return refuse("it is being written already"),
            // A file system without locks: as good as it gets.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        file.set_len(0).map_err(|source| failed(name, source))?;
        if let Some(old) = old {
            // Best effort: the new file is no worse for having the usual permissions.
            let _ = file.set_permissions(old.permissions());
        }
        Ok(Self { name: name.to_owned(), path, part, file: Some(file) })
    }

    /// Writes what `contents` writes, and returns the size of the file. `watch` hears now and then how many bytes are
    /// written, and can stop it.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be written, [`Error::Stopped`] when `watch` stopped it.
    pub fn write(
        mut self,
        watch: &mut WatchBytes<'_>,
        contents: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<u64> {
        let mut stopped = false;
        let file = self.file.take().expect("it is taken here only");
        let write = |stopped: &mut bool| {
            let mut out = BufWriter::with_capacity(1 << 20, Watched { file, written: 0, watch, stopped });
            contents(&mut out)?;
            let file = out.into_inner().map_err(io::IntoInnerError::into_error)?.file;
            file.sync_all()?;
            Ok(file.metadata()?.len())
        };
        let written = write(&mut stopped).and_then(|size| {
            fs::rename(&self.part, &self.path)?;
            Ok(size)
        });
        match written {
            Err(_) if stopped => Err(Error::Stopped { when: format!("writing {}", self.name.display()) }),
            written => written.map_err(|source| failed(&self.name, source)),
        }
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // Once renamed it is not there; and nothing more can be done about a part that cannot be removed.
        let _ = fs::remove_file(&self.part);
    }
}

/// Whether a file has the name of a store's, in a folder with a store.
fn is_in_store(path: &Path) -> bool {
    const FILES: [&str; 6] =
        ["manifest.json", "progress.json", "verdict.npy", "remoteness.npy", "offsets.npy", "digests.npy"];
    let is = |name: &&str| path.file_name().is_some_and(|file| file == *name);
    let is_store = |name: &&str| {
        let text = fs::read(path.with_file_name(name)).unwrap_or_default();
        text.windows(16).take(64).any(|text| text == b"nimstrata store\"")
    };
    FILES.iter().any(is) && FILES[..2].iter().any(is_store)
}

fn failed(name: &Path, source: io::Error) -> Error {
    Error::Io { what: format!("writing {}", name.display()), source }
}

/// A file that is written only as long as it is wanted.
struct Watched<'a, 'b> {
    file: File,
    written: u64,
    watch: &'a mut WatchBytes<'b>,
    stopped: &'a mut bool,
}

impl Write for Watched<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.watch)(self.written).is_break() {
            *self.stopped = true;
            return Err(io::Error::other("no longer wanted"));
        }
        let written = self.file.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
