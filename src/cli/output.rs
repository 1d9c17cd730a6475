//! Standard output: a report as one JSON object, or as text.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Write};

use nimstrata::{Error, Result};
use serde::Serialize;

/// How results are shown.
#[derive(clap::Args)]
pub struct OutputArgs {
    /// Print one JSON object on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
}

impl OutputArgs {
    /// Prints a report in the form asked for. A reader that has seen enough and closed the pipe is no error.
    pub fn print<T: Serialize + fmt::Display>(&self, report: &T) -> Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = if self.json {
            serde_json::to_writer(&mut out, report)
                .map_err(io::Error::from)
                .and_then(|()| out.write_all(b"\n"))
        } else {
            write!(out, "{report}")
        };
        match written.and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                // What is left in the buffer has no reader; dropping it would only try again.
                let _ = out.into_parts();
                Ok(())
            }
            written => written.map_err(|source| Error::Io { what: "writing the output".to_owned(), source }),
        }
    }
}

/// Labelled lines, aligned.
#[derive(Default)]
pub struct Lines(Vec<(&'static str, String)>);

impl Lines {
    /// Adds a line; one with an empty label continues the line above.
    pub fn add(&mut self, label: &'static str, text: impl Into<String>) {
        self.0.push((label, text.into()));
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        self.0.iter().try_for_each(|(label, text)| writeln!(out, "{label:width$}  {text}"))
    }
}
