//! Where an export goes, and what each file holds by the end of its name.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use nimstrata::export::ListFormat;
use nimstrata::output_file::OutputFile;
use nimstrata::{Error, Result};

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The full box.
    Box,
    /// P-positions.
    List(ListFormat),
    /// Slices.
    Bitmap,
}

impl Kind {
    fn of(path: &Path) -> Result<Self> {
        Ok(match path.extension().and_then(|ending| ending.to_str()) {
            Some("npy") => Self::Box,
            Some("csv") => Self::List(ListFormat::Csv),
            Some("jsonl") => Self::List(ListFormat::JsonLines),
            Some("txt") => Self::List(ListFormat::Text),
            Some("pbm") => Self::Bitmap,
            _ => {
                let (path, known) = (path.to_owned(), ".npy, .csv, .jsonl, .txt or .pbm");
                return Err(Error::Format { path, known });
            }
        })
    }
}

/// All that is to be written.
pub struct Targets {
    files: Vec<(PathBuf, Kind)>,
    /// How the list is written that goes to standard output, if one does.
    pub printed: Option<ListFormat>,
}

impl Targets {
    /// What these names ask for. Without any, it is a list on standard output.
    pub fn of(mut names: Vec<PathBuf>, format: Option<ListFormat>) -> Result<Self> {
        let given = names.len();
        names.retain(|name| name.as_os_str() != "-");
        let printed = (names.len() < given || given == 0).then(|| format.unwrap_or_else(default_format));
        names.dedup();
        let files = names.into_iter().map(|path| {
            let kind = Kind::of(&path)?;
            Ok((path, kind))
        });
        Ok(Self { files: files.collect::<Result<_>>()?, printed })
    }

    /// Whether a file is of a kind.
    pub fn any(&self, is: impl Fn(Kind) -> bool) -> bool {
        self.files.iter().any(|&(_, kind)| is(kind))
    }

    /// Makes sure that all files can be written.
    pub fn create(&self) -> Result<Vec<Target>> {
        let create = |(path, kind): &(PathBuf, Kind)| {
            Ok(Target { path: path.clone(), file: OutputFile::create(path)?, kind: *kind })
        };
        self.files.iter().map(create).collect()
    }
}

/// As people read it on a terminal, as programs do elsewhere.
fn default_format() -> ListFormat {
    if io::stdout().is_terminal() { ListFormat::Text } else { ListFormat::Csv }
}

/// A file to be written.
pub struct Target {
    /// Its name as it was given.
    pub path: PathBuf,
    pub file: OutputFile,
    pub kind: Kind,
}
