//! Checkpoints: what a run that only counts must know to go on, in one file.
//!
//! A line of JSON tells what is counted, how far the run is and what the observers have counted; behind it is what the
//! kernel must know of the strata below ([`Past`]), and at the end xxh3-64 of all that. The file is replaced as a whole, so
//! there is always a whole one.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::backend::{Kept, Past};
use crate::error::{Error, Result};
use crate::output_file::OutputFile;
use crate::solver::{Observer, Solver, Summary};
use crate::space::CanonicalBuf;

const FORMAT: &str = "nimstrata checkpoint";
const VERSION: u32 = 1;
/// Bytes of the checksum at the end.
const CHECKSUM: usize = 8;

/// An observer that can be saved and go on.
pub trait Resumable: Observer {
    /// What it has counted.
    fn save(&self) -> Value;

    /// Takes what another one like it has counted; `None` when it is of another kind.
    fn load(&mut self, saved: Value) -> Option<()>;
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    format_version: u32,
    program_version: String,
    /// What is counted.
    about: String,
    next: u32,
    summary: Summary,
    observers: Vec<Value>,
    kind: Kind,
    /// Bytes of each stratum or table.
    parts: Vec<u64>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Verdicts,
    Remoteness8,
    Remoteness16,
    Lines,
}

/// Writes a checkpoint of a solver and its observers. `about` says in words what they are for.
///
/// # Errors
/// [`Error::Io`] when it cannot be written, [`Error::Device`] when a GPU failed.
pub fn write(path: &Path, about: &str, solver: &Solver, observers: &[&mut dyn Resumable]) -> Result<()> {
    let Past { next, kept } = solver.past()?;
    let strata = match &kept {
        Kept::Strata(strata) => strata.iter().map(|stratum| stratum.view().bytes()).collect::<Vec<_>>(),
        Kept::Lines(tables) => tables.iter().map(|table| bytemuck::cast_slice(table)).collect(),
    };
    let header = Header {
        format: FORMAT.to_owned(),
        format_version: VERSION,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        about: about.to_owned(),
        next,
        summary: solver.summary(),
        observers: observers.iter().map(|observer| observer.save()).collect(),
        kind: match &kept {
            Kept::Lines(_) => Kind::Lines,
            Kept::Strata(strata) => match strata.first() {
                Some(CanonicalBuf::Remoteness8(_)) => Kind::Remoteness8,
                Some(CanonicalBuf::Remoteness16(_)) => Kind::Remoteness16,
                _ => Kind::Verdicts,
            },
        },
        parts: strata.iter().map(|part| part.len() as u64).collect(),
    };
    let mut bytes = serde_json::to_vec(&header).expect("it has no keys but strings");
    bytes.push(b'\n');
    for part in &strata {
        bytes.extend_from_slice(part);
    }
    let checksum = xxh3_64(&bytes);
    OutputFile::create(path)?.write(&mut |_| ControlFlow::Continue(()), |out: &mut dyn Write| {
        out.write_all(&bytes)?;
        out.write_all(&checksum.to_le_bytes())
    })?;
    Ok(())
}

/// Brings a solver and its observers to where a checkpoint was written. Returns what had been found by then; nothing
/// where there is no such file.
///
/// # Errors
/// [`Error::OtherStore`] for a checkpoint of something else, [`Error::Overwrite`] for another kind of file,
/// [`Error::StoreVersion`] for a later format, [`Error::Damaged`] for what has been changed since, [`Error::Io`] for what
/// cannot be read.
pub fn resume(
    path: &Path,
    about: &str,
    solver: &mut Solver,
    observers: &mut [&mut dyn Resumable],
) -> Result<Summary> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Summary::default()),
        Err(source) => return Err(Error::Io { what: format!("reading {}", path.display()), source }),
    };
    let damaged = |what: &str| Error::Damaged { path: path.to_owned(), what: what.to_owned() };
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or(&[]);
    let value = serde_json::from_slice::<Value>(line).ok();
    match value
        .as_ref()
        .and_then(|value| Some((value.get("format")?.as_str()?, value.get("format_version")?)))
    {
        Some((FORMAT, version)) if version.as_u64().is_some_and(|version| version > VERSION.into()) => {
            let version = version.as_u64().unwrap_or(0);
            return Err(Error::StoreVersion { path: path.to_owned(), version, supported: VERSION });
        }
        Some((FORMAT, _)) => {}
        _ if bytes.windows(FORMAT.len()).take(64).any(|text| text == FORMAT.as_bytes()) => {
            return Err(damaged("its first line is no longer readable"));
        }
        _ => {
            return Err(Error::Overwrite {
                path: path.to_owned(),
                reason: "it is there and is no checkpoint",
            });
        }
    }
    let (body, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(|| damaged("it is cut short"))?;
    if xxh3_64(body) != u64::from_le_bytes(*checksum) {
        return Err(damaged("its checksum is that of other contents"));
    }
    let header: Header = value
        .and_then(|value| serde_json::from_value(value).ok())
        .ok_or_else(|| damaged("its first line has other fields"))?;
    if header.about != about {
        return Err(Error::OtherStore {
            path: path.to_owned(),
            there: header.about,
            wanted: about.to_owned(),
        });
    }
    let past = past(&header, &body[line.len() + 1..]).ok_or_else(|| damaged("it has other lengths"))?;
    solver.resume(&past, header.summary)?;
    if header.observers.len() != observers.len() {
        return Err(damaged("it has another number of observers"));
    }
    for (observer, saved) in observers.iter_mut().zip(header.observers) {
        observer.load(saved).ok_or_else(|| damaged("its counts are of another kind"))?;
    }
    Ok(header.summary)
}

/// What is behind the first line.
fn past(header: &Header, mut bytes: &[u8]) -> Option<Past> {
    let mut parts = Vec::new();
    for &length in &header.parts {
        let (part, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
        parts.push(part);
        bytes = rest;
    }
    if !bytes.is_empty() {
        return None;
    }
    let wide = |part: &[u8]| part.as_chunks().0.iter().map(|&pair| u16::from_le_bytes(pair)).collect();
    let words =
        |part: &[u8]| part.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect::<Vec<_>>();
    let strata = |stratum: &dyn Fn(&[u8]) -> CanonicalBuf| {
        Kept::Strata(parts.iter().map(|part| stratum(part)).collect())
    };
    let kept = match header.kind {
        Kind::Verdicts => strata(&|part| CanonicalBuf::Verdicts(part.to_vec())),
        Kind::Remoteness8 => strata(&|part| CanonicalBuf::Remoteness8(part.to_vec())),
        Kind::Remoteness16 => strata(&|part| CanonicalBuf::Remoteness16(wide(part))),
        Kind::Lines => {
            let tables = parts.iter().map(|part| words(part)).collect::<Vec<_>>();
            Kept::Lines(tables.try_into().ok()?)
        }
    };
    Some(Past { next: header.next, kept })
}
