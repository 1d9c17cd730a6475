//! Writes tables of completions: JSON, CSV, `.npy`, and a picture.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::Table;
use crate::error::{Error, Result};
use crate::picture::{self, Legend};

/// Where a pair has no completion, `.npy` files hold this.
const NONE: u32 = u32::MAX;

/// The kind of a file, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An array of rows of numbers; `null` where there is no completion.
    Json,
    /// A row a line; nothing between the commas where there is no completion.
    Csv,
    /// numpy: unsigned 32-bit, (max + 1) × (max + 1); 4294967295 where there is no completion.
    Npy,
    /// A picture, a pixel a pair.
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
            _ => Err(Error::Format { path: path.to_owned(), known: ".json, .csv, .npy, .png" }),
        }
    }
}

/// Writes a table to a file in the format of its name; `game` and `command` go into a picture's legend. The file appears
/// under its name only when it is whole.
///
/// # Errors
/// [`Error::Format`] for an unknown kind of file, [`Error::Io`] when it cannot be written.
pub fn save(table: &Table, path: &Path, game: &str, command: &str) -> Result<()> {
    let format = Format::of(path)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let write = || {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&part)?);
        match format {
            Format::Json => write_json(table, &mut out)?,
            Format::Csv => write_csv(table, &mut out)?,
            Format::Npy => write_npy(table, &mut out)?,
            Format::Png => write_png(table, &mut out, game, command)?,
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&part, path)
    };
    write().map_err(|source| {
        // Nothing more can be done about a part that cannot be removed.
        let _ = std::fs::remove_file(&part);
        Error::Io { what: format!("writing {}", path.display()), source }
    })
}

fn write_json(table: &Table, out: &mut impl Write) -> io::Result<()> {
    write_rows(table, out, ["[", ",\n ", "]\n"], ["[", ",", "]"], "null")
}

fn write_csv(table: &Table, out: &mut impl Write) -> io::Result<()> {
    write_rows(table, out, ["", "\n", "\n"], ["", ",", ""], "")
}

/// Writes rows between `around` [before, between, after], and each row's numbers between `inside`.
fn write_rows(
    table: &Table,
    out: &mut impl Write,
    around: [&str; 3],
    inside: [&str; 3],
    none: &str,
) -> io::Result<()> {
    for x in 0..=table.max() {
        out.write_all(around[usize::from(x > 0)].as_bytes())?;
        for (y, f) in table.row(x).enumerate() {
            out.write_all(inside[usize::from(y > 0)].as_bytes())?;
            match f {
                Some(f) => write!(out, "{f}")?,
                None => out.write_all(none.as_bytes())?,
            }
        }
        out.write_all(inside[2].as_bytes())?;
    }
    out.write_all(around[2].as_bytes())
}

/// numpy's format 1.0: magic, version, length of the header, header padded to 64 bytes, data.
fn write_npy(table: &Table, out: &mut impl Write) -> io::Result<()> {
    let size = table.max() + 1;
    let header = format!("{{'descr': '<u4', 'fortran_order': False, 'shape': ({size}, {size}), }}");
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(length as u16).to_le_bytes())?;
    writeln!(out, "{header:<width$}", width = length - 1)?;
    for x in 0..size {
        for f in table.row(x) {
            out.write_all(&f.unwrap_or(NONE).to_le_bytes())?;
        }
    }
    Ok(())
}

/// A pixel a pair, x down and y to the right, coloured by f from 0 to the greatest f of the table.
fn write_png(table: &Table, out: &mut impl Write, game: &str, command: &str) -> io::Result<()> {
    let size = table.max() + 1;
    let values = || (0..size).flat_map(|x| table.row(x));
    let most = values().flatten().max().unwrap_or(0);
    let colour = |f: Option<u32>| match f {
        Some(f) => picture::colour(f64::from(f) / f64::from(most.max(1))),
        None => picture::NOTHING,
    };
    let pixels = values().map(colour).collect::<Vec<_>>();
    let description = format!(
        "f(x,y), the heap that completes x and y to a P-position at an allowed total ({game}). x down and y right from 0 \
         in the upper left corner to {}; colour: dark violet f = 0, blue, green, to yellow f = {most}; grey: none.",
        table.max()
    );
    picture::write_png(out, [size, size], &pixels, &Legend { description: &description, command })
}
