//! Writes completions to files: JSON, CSV, `.npy`, and a picture.

use std::io::{self, Write};
use std::path::Path;

use super::Completing;
use crate::error::{Error, Result};
use crate::npy;
use crate::output_file::{OutputFile, WatchBytes};
use crate::picture::{self, Chart, Key, Legend};

/// Where a multiset has no completion, `.npy` files hold this.
const NONE: u32 = u32::MAX;

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
    file: OutputFile,
    format: Format,
}

impl Output {
    /// Makes sure that completions of this many heaps can be written, before they are computed.
    ///
    /// # Errors
    /// [`Error::Format`] for an unknown kind of file, [`Error::Picture`] for a picture of other than three heaps, and as
    /// [`OutputFile::create`].
    pub fn create(name: &Path, heaps: u32) -> Result<Self> {
        let format = Format::of(name)?;
        if format == Format::Png && heaps != 3 {
            return Err(Error::Picture { heaps });
        }
        Ok(Self { file: OutputFile::create(name)?, format })
    }

    /// Writes the file and returns its size. `game`, `ruleset` and `command` go into a picture; `watch` hears now and
    /// then how many bytes are written, and can stop it.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be written, [`Error::Stopped`] when `watch` stopped it.
    pub fn write(
        self,
        f: &dyn Completing,
        game: &str,
        [ruleset, command]: [&str; 2],
        watch: &mut WatchBytes<'_>,
    ) -> Result<u64> {
        self.file.write(watch, |out| match self.format {
            Format::Json => write_json(f, out),
            Format::Csv => write_csv(f, out),
            Format::Npy => write_npy(f, out),
            Format::Png => write_png(f, out, game, [ruleset, command]),
        })
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

fn write_npy(f: &dyn Completing, out: &mut dyn Write) -> io::Result<()> {
    let size = u64::from(f.max()) + 1;
    npy::write_header(&mut *out, "<u4", &vec![size; f.heaps() as usize - 1])?;
    tuples(f, &mut |heaps| out.write_all(&f.completion(heaps).unwrap_or(NONE).to_le_bytes()))
}

/// A square a pair, coloured by f from 0 to the greatest f of the table.
fn write_png(
    f: &dyn Completing,
    out: &mut dyn Write,
    game: &str,
    [ruleset, command]: [&str; 2],
) -> io::Result<()> {
    let most = f.greatest().unwrap_or(0);
    let description = format!(
        "f(x,y), the heap that completes x and y to a P-position at an allowed total. {game}. x to the right and y up, \
         both from 0 in the lower left corner to {}; colour: dark violet f = 0, blue, green, to yellow f = {most}; grey: \
         no heap completes x and y.",
        f.max()
    );
    let chart = Chart {
        title: &["f(x,y) completes x and y to a P-position at an allowed total", game],
        size: [f.max() + 1; 2],
        axes: ["x", "y"],
        captions: &[String::new()],
        columns: 1,
        key: Key::Scale {
            name: "f(x,y)",
            least: 0,
            most,
            unit: 1,
            none: (f.completed() < f.multisets()).then_some("none"),
        },
        value: &|_, x, y| f.completion(&[x, y]),
    };
    picture::write_png(out, &chart, &Legend { description: &description, command, ruleset })
}
