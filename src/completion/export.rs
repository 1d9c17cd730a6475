//! Writes completions to files: JSON, CSV, `.npy`, and a picture.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::Completing;
use crate::error::{Error, Result};
use crate::picture::{self, Chart, Legend};

/// Where a multiset has no completion, `.npy` files hold this.
const NONE: u32 = u32::MAX;

/// Called with the number of bytes written; [`ControlFlow::Break`] stops the writing.
pub type WatchBytes<'a> = dyn FnMut(u64) -> ControlFlow<()> + 'a;

/// The kind of a file, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An array with an axis for each heap completed, such as rows of numbers; `null` where there is no completion.
    Json,
    /// For three heaps a row a line, without a header; otherwise a line a multiset, its heaps and then its completion,
    /// below a header. Nothing where there is no completion.
    Csv,
    /// numpy: unsigned 32-bit, max + 1 along an axis for each heap completed; 4294967295 where there is no completion.
    Npy,
    /// A picture of the pairs that three heaps have.
    Png,
}

impl Format {
    /// The format that a file name asks for.
    ///
    /// # Errors
    /// [`Error::Format`] for a name that ends otherwise.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("json") => Ok(Self::Json),
            Some("csv") => Ok(Self::Csv),
            Some("npy") => Ok(Self::Npy),
            Some("png") => Ok(Self::Png),
            _ => Err(Error::Format { path: path.to_owned(), known: ".json, .csv, .npy or .png" }),
        }
    }
}

/// A file that will hold completions. It appears under its name when it is whole; what was there before stays until
/// then.
pub struct Output {
    /// As it was given.
    name: PathBuf,
    /// Where links lead.
    path: PathBuf,
    /// A name beside it for what is not yet whole.
    part: PathBuf,
    file: Option<File>,
    format: Format,
}

impl Output {
    /// Makes sure that completions of this many heaps can be written, before they are computed.
    ///
    /// # Errors
    /// [`Error::Format`] for an unknown kind of file, [`Error::Picture`] for a picture of other than three heaps,
    /// [`Error::Overwrite`] for a name that a directory, a device or a read-only file has, [`Error::Io`] when the system
    /// refuses.
    pub fn create(name: &Path, heaps: u32) -> Result<Self> {
        let format = Format::of(name)?;
        if format == Format::Png && heaps != 3 {
            return Err(Error::Picture { heaps });
        }
        let refuse = |reason| Err(Error::Overwrite { path: name.to_owned(), reason });
        let old = fs::metadata(name).ok();
        match &old {
            Some(old) if !old.is_file() => return refuse("it is there and is no file"),
            Some(old) if old.permissions().readonly() => return refuse("it is there and is read-only"),
            _ => {}
        }
        let path = fs::canonicalize(name).unwrap_or_else(|_| name.to_owned());
        let stem = path.file_name().unwrap_or_default().to_string_lossy();
        let part = path.with_file_name(format!(".{stem}.{}.part", std::process::id()));
        let created = File::options().write(true).create_new(true).open(&part);
        let file = created.map_err(|source| failed(name, source))?;
        if let Some(old) = old {
            // Best effort: the new file is no worse for having the usual permissions.
            let _ = file.set_permissions(old.permissions());
        }
        Ok(Self { name: name.to_owned(), path, part, file: Some(file), format })
    }

    /// Writes the file and returns its size. `game` and `command` go into a picture; `watch` hears now and then how many
    /// bytes are written, and can stop it.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be written, [`Error::Stopped`] when `watch` stopped it.
    pub fn write(
        mut self,
        f: &dyn Completing,
        game: &str,
        command: &str,
        watch: &mut WatchBytes<'_>,
    ) -> Result<u64> {
        let mut stopped = false;
        let mut write = |file: File, stopped: &mut bool| {
            let watched = Watched { file, written: 0, watch: &mut *watch, stopped };
            let mut out = BufWriter::with_capacity(1 << 20, watched);
            match self.format {
                Format::Json => write_json(f, &mut out)?,
                Format::Csv => write_csv(f, &mut out)?,
                Format::Npy => write_npy(f, &mut out)?,
                Format::Png => write_png(f, &mut out, game, command)?,
            }
            let file = out.into_inner().map_err(io::IntoInnerError::into_error)?.file;
            file.sync_all()?;
            Ok(file.metadata()?.len())
        };
        let file = self.file.take().expect("it is taken here only");
        let written = write(file, &mut stopped).and_then(|size| {
            fs::rename(&self.part, &self.path)?;
            Ok(size)
        });
        match written {
            Err(_) if stopped => Err(Error::Stopped { when: format!("writing {}", self.name.display()) }),
            written => written.map_err(|source| failed(&self.name, source)),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Once renamed it is not there; and nothing more can be done about a part that cannot be removed.
        let _ = fs::remove_file(&self.part);
    }
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

/// Calls `visit` for every tuple of heaps, the last one changing fastest.
fn tuples(f: &dyn Completing, visit: &mut dyn FnMut(&[u32]) -> io::Result<()>) -> io::Result<()> {
    let mut heaps = vec![0; f.heaps() as usize - 1];
    loop {
        visit(&heaps)?;
        let Some(place) = heaps.iter().rposition(|&heap| heap < f.max()) else { return Ok(()) };
        heaps[place] += 1;
        heaps[place + 1..].fill(0);
    }
}

/// Nested brackets, a line for each value of the first heap.
fn write_json(f: &dyn Completing, out: &mut dyn Write) -> io::Result<()> {
    let axes = f.heaps() as usize - 1;
    tuples(f, &mut |heaps| {
        // Brackets open on the way to a first entry and close after a last one.
        let opened = heaps.iter().rev().take_while(|&&heap| heap == 0).count();
        let closed = heaps.iter().rev().take_while(|&&heap| heap == f.max()).count();
        if opened < axes {
            out.write_all(if opened == axes - 1 && axes > 1 { b",\n " } else { b"," })?;
        }
        out.write_all(&b"[".repeat(opened))?;
        match f.completion(heaps) {
            Some(f) => write!(out, "{f}")?,
            None => out.write_all(b"null")?,
        }
        out.write_all(&b"]".repeat(closed))
    })?;
    out.write_all(b"\n")
}

fn write_csv(f: &dyn Completing, out: &mut dyn Write) -> io::Result<()> {
    let value = |f: Option<u32>| f.map_or_else(String::new, |f| f.to_string());
    if f.heaps() == 3 {
        return tuples(f, &mut |heaps| {
            let end = if heaps[1] == f.max() { "\n" } else { "," };
            write!(out, "{}{end}", value(f.completion(heaps)))
        });
    }
    for heap in 1..f.heaps() {
        write!(out, "x{heap},")?;
    }
    writeln!(out, "f")?;
    tuples(f, &mut |heaps| {
        if heaps.is_sorted() {
            for heap in heaps {
                write!(out, "{heap},")?;
            }
            writeln!(out, "{}", value(f.completion(heaps)))?;
        }
        Ok(())
    })
}

/// numpy's format 1.0: magic, version, length of the header, header padded to 64 bytes, data.
fn write_npy(f: &dyn Completing, out: &mut dyn Write) -> io::Result<()> {
    let size = f.max() + 1;
    let shape = match f.heaps() {
        2 => format!("({size},)"),
        heaps => format!("({})", vec![size.to_string(); heaps as usize - 1].join(", ")),
    };
    let header = format!("{{'descr': '<u4', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(length as u16).to_le_bytes())?;
    writeln!(out, "{header:<width$}", width = length - 1)?;
    tuples(f, &mut |heaps| out.write_all(&f.completion(heaps).unwrap_or(NONE).to_le_bytes()))
}

/// A square a pair, coloured by f from 0 to the greatest f of the table.
fn write_png(f: &dyn Completing, out: &mut dyn Write, game: &str, command: &str) -> io::Result<()> {
    let most = f.greatest().unwrap_or(0);
    let description = format!(
        "f(x,y), the heap that completes x and y to a P-position at an allowed total. {game}. x to the right and y up, \
         both from 0 in the lower left corner to {}; colour: dark violet f = 0, blue, green, to yellow f = {most}; grey: \
         no heap completes x and y.",
        f.max()
    );
    let chart = Chart {
        title: &["f(x,y) completes x and y to a P-position at an allowed total", game],
        size: f.max() + 1,
        axes: ["x", "y"],
        name: "f(x,y)",
        most,
        gaps: f.completed() < f.multisets(),
        value: &|x, y| f.completion(&[x, y]),
    };
    picture::write_png(out, &chart, &Legend { description: &description, command })
}
