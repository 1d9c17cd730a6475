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
        if self.json { print_json(report) } else { print_with(|out| write!(out, "{report}")) }
    }
}

/// Prints one JSON object.
pub fn print_json(report: &impl Serialize) -> Result<()> {
    print_with(|out| {
        serde_json::to_writer(&mut *out, report).map_err(io::Error::from)?;
        out.write_all(b"\n")
    })
}

/// Prints a text as it is.
pub fn print_text(text: &str) -> Result<()> {
    print_with(|out| out.write_all(text.as_bytes()))
}

fn print_with(write: impl FnOnce(&mut BufWriter<io::StdoutLock<'_>>) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|()| out.flush());
    if !delivered(written)? {
        // What is left in the buffer has no reader; dropping it would only try again.
        let _ = out.into_parts();
    }
    Ok(())
}

/// Whether what was written to standard output has found a reader.
pub fn delivered(written: io::Result<()>) -> Result<bool> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(source) => Err(Error::Io { what: "writing the output".to_owned(), source }),
    }
}

/// Breaks a line between words where it is longer than `columns`; what follows is indented.
pub fn wrapped(line: &str, indent: usize, columns: usize) -> String {
    let columns = columns.max(indent + 20);
    let body = line.trim_start();
    let mut text = " ".repeat(line.len() - body.len());
    let mut length = text.len();
    for (index, word) in body.split(' ').enumerate() {
        let width = word.chars().count();
        if index > 0 && length > indent && length + 1 + width > columns {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            length = indent;
        } else if index > 0 {
            text.push(' ');
            length += 1;
        }
        text.push_str(word);
        length += width;
    }
    text.push('\n');
    text
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words_and_indented() {
        assert_eq!(wrapped("one two", 0, 80), "one two\n");
        let text = "fts-2  proved  nothing is forbidden here at all";
        assert_eq!(
            wrapped(text, 15, 35),
            "fts-2  proved  nothing is forbidden\n               here at all\n"
        );
        assert_eq!(wrapped("    a note", 4, 80), "    a note\n");
        assert_eq!(wrapped(&"x".repeat(30), 0, 20), format!("{}\n", "x".repeat(30)));
    }
}
