//! `nimstrata completion`: the heap that turns given heaps into a P-position at an allowed total.

use std::fmt;
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use nimstrata::completion::{self, Completing, Completions, MOST, Output, Table};
use nimstrata::error::bytes;
use nimstrata::game::Position;
use nimstrata::solver::SolvedBefore;
use nimstrata::space::{Region, largest_cap_within};
use nimstrata::store::Store;
use nimstrata::{Error, Result, cpu};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::figures::{counted, grouped, sentence, share, time};
use super::game::{Game, GameName, Typed, VariantArgs};
use super::interrupt;
use super::number::{self, Cap};
use super::output::{Lines, OutputArgs};
use super::progress::Bar;
use super::solving::{HostArgs, Solving};

/// More lines than this are no list for a terminal.
const MOST_LINES: u64 = 1000;
/// More numbers than this are no JSON object for a terminal.
const MOST_NUMBERS: u128 = 100_000;

/// The games of this command.
#[derive(Clone, Copy, ValueEnum)]
enum CompletionGame {
    /// Forbidden-Total-Size Nim: take any number of stones from one heap; plain Nim without --forbid
    Fts,
}

/// Find the heap that completes all others to a P-position
///
/// For all but one of the heaps, each up to CAP, this is the only last heap with which they are a P-position at an
/// allowed total (P₁), whatever its size. For three heaps it is the table f(x,y).
///
/// A file appears under its name when it is whole: .json and .npy (unsigned 32-bit; 4294967295 for none) hold an array
/// with an axis for each heap that is completed, .csv the rows of three heaps or a line for each multiset of other
/// numbers of heaps, .png a picture of three.
#[derive(clap::Args)]
#[command(override_usage = "nimstrata completion [OPTIONS] --heaps <N> --max <CAP> <GAME>\n       \
    nimstrata completion [OPTIONS] --store <DIR>")]
#[command(after_help = "Example: a picture of f(x,y) where no move arrives at a multiple of 5\n  \
    nimstrata completion fts --heaps 3 --forbid 5k --max 512 --out f.png\n\n\
    As far as a store goes\n  \
    nimstrata completion --store nim5 --out f.npy")]
pub struct Args {
    #[arg(value_enum, required_unless_present = "store")]
    game: Option<CompletionGame>,
    /// How many heaps, with the one that completes the others; 1 to 14
    #[arg(long, value_name = "N", required_unless_present = "store")]
    #[arg(value_parser = number::count, allow_hyphen_values = true)]
    heaps: Option<u32>,
    #[command(flatten)]
    variant: VariantArgs,
    /// The greatest size of a heap that is completed; with --store, by default that up to which the store has all
    /// completions
    #[arg(long, value_name = "CAP", required_unless_present = "store")]
    #[arg(value_parser = number::cap, allow_hyphen_values = true)]
    max: Option<Cap>,
    /// Read a store that `nimstrata solve --out` has written instead; what it holds need not be said again
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Write a file instead: its name ends in .npy, .csv, .json or .png
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    host: HostArgs,
}

impl Args {
    /// What to complete, and the store to read it from.
    fn validated(&self) -> Result<Task> {
        let Some(path) = &self.store else {
            let heaps = self.heaps.expect("required without a store");
            let game = self.variant.game(GameName::Fts, heaps, None)?;
            let max = self.max.clone().expect("required without a store");
            return Ok(Task { game, max, store: None });
        };
        let store = Arc::new(Store::open(path)?);
        let name = self.game.map(|CompletionGame::Fts| GameName::Fts).or(Some(GameName::Fts));
        let game = Typed { name, heaps: self.heaps, ..self.variant.typed() }.agreeing_with(&store)?;
        let largest = completion::largest_within(&game.rules, store.region());
        let max = self.max.clone().or(largest.map(|value| Cap { text: value.to_string(), value }));
        match max {
            Some(max) if largest.is_some_and(|largest| max.value <= largest) => {
                Ok(Task { game, max, store: Some(store) })
            }
            max => {
                let there = match largest {
                    Some(largest) => format!("all completions up to --max {largest}"),
                    None => "too few positions for all completions of empty heaps".to_owned(),
                };
                let wanted = max.map_or("any".to_owned(), |max| format!("--max {}", max.text));
                Err(Error::OtherStore { path: store.name().into(), there, wanted })
            }
        }
    }

    /// Computes or reads, writes or prints.
    pub fn run(self) -> Result<()> {
        let task = self.validated()?;
        let (game, heaps) = (&task.game, task.game.rules.heaps);
        let solving = self.host.validated().reading(task.store.clone());
        let file = self.out.as_ref().map(|path| Output::create(path, heaps)).transpose()?;
        let terminal = if self.out.is_none() { Terminal::of_stdout() } else { None };
        let json = self.output.json;
        let fits = |most| terminal.as_ref().map_or(Ok(()), |it| it.check(json, heaps, &task.max, most));
        // No table has numbers shorter than the cap.
        fits(task.max.value)?;

        let _requests = interrupt::Guard::new();
        let start = Instant::now();
        let (f, method): (Box<dyn Completing>, _) = match (&task.store, heaps) {
            (Some(_), _) => (Box::new(task.solved(solving.clone())?), "store"),
            (None, 3) => (Box::new(task.table(&solving)?), "scan"),
            (None, _) => (Box::new(task.solved(solving.clone())?), "solve"),
        };
        let found_in = start.elapsed();
        let greatest = f.greatest();
        fits(greatest.unwrap_or(0).into())?;

        let start = Instant::now();
        let file_bytes = file.map(|file| {
            let mut bar = Bar::stepping(1, solving.quiet());
            let mut watch = |written: u64| {
                bar.update(0, || format!("writing the file, {}", bytes(written.into())));
                if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let options = task.options();
            let out = self.out.as_ref().map(|out| format!(" --out {}", out.display())).unwrap_or_default();
            let store = self.store.as_ref().map(|path| format!(" --store {}", path.display()));
            let store = store.unwrap_or_default();
            let command = format!("nimstrata completion {options}{store}{out}");
            file.write(&*f, &sentence(&game.words()), [&options, &command], &mut watch)
        });
        let report = CompletionReport {
            game: game.name.name(),
            heaps,
            max: f.max(),
            forbid: game.forbid(),
            misere: game.rules.misere,
            multisets: f.multisets(),
            completed: f.completed(),
            greatest,
            method,
            threads: solving.threads(),
            seconds: found_in.as_secs_f64(),
            rows: self.out.is_none().then_some(Rows { f: &*f, first: &[] }),
            file_bytes: file_bytes.transpose()?,
            write_seconds: self.out.is_some().then(|| start.elapsed().as_secs_f64()),
            file: self.out.as_ref().map(|path| path.display().to_string()),
            words: game.words(),
            source: task.store.as_ref().map(|store| store.name()),
        };
        self.output.print(&report)
    }
}

/// What is to be completed.
struct Task {
    game: Game,
    /// The greatest size of a heap that is completed.
    max: Cap,
    /// Where to read it from, if it is not to be found.
    store: Option<Arc<Store>>,
}

impl Task {
    /// f for three heaps.
    fn table(&self, solving: &Solving) -> Result<Table> {
        let max = self.max.value;
        if max > MOST {
            return Err(self.too_large(MOST));
        }
        let available = solving.available();
        let (largest, needed) =
            largest_cap_within(max, available, |max, limit| Table::bytes(&self.game.rules, max, limit));
        if largest != Some(max) {
            return Err(Error::Memory {
                what: format!("the table of pairs up to {}", grouped(max)),
                needed,
                available,
                source_of_limit: solving.source_of_limit(),
                remedy: match largest {
                    Some(largest) => format!("the largest --max that fits is {largest}"),
                    None => "no table fits".to_owned(),
                },
            });
        }
        let all = Table::pairs(max);
        let mut bar = Bar::counting(all, "pairs", solving.quiet());
        let mut watch = |done| {
            bar.update(done, || format!("{} of {} pairs", grouped(done), grouped(all)));
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        cpu::threads(solving.threads())?.install(|| Table::watched(&self.game.rules, max, &mut watch))
    }

    /// The completions of another number of heaps, or of any number from a store.
    fn solved(&self, solving: Solving) -> Result<Completions> {
        let (heaps, max) = (self.game.rules.heaps, self.max.value);
        let what = format!("keeping the completions of {} up to {}", others(heaps), self.max.text);
        let remedy = match completion::largest_cap(heaps, max, solving.available()) {
            Some(largest) => format!("they fit up to --max {largest}"),
            None => format!("no completions of {} fit", others(heaps)),
        };
        let solving = solving.reserving(what, completion::bytes(heaps, max), &remedy)?;
        let region = match &self.store {
            Some(store) => Some(store.region().clone()),
            None => completion::region(&self.game.rules, max).map_err(|error| match error {
                Error::CompletionSize { largest, .. } | Error::Region { largest, .. } => {
                    self.too_large(largest)
                }
                other => other,
            })?,
        };
        let mut completions = Completions::new(heaps, max as u32);
        if let Some(region) = region {
            let about = |error| about(&self.max, &region, error);
            solving.run(&self.game.rules, &region, &mut [&mut completions]).map_err(about)?;
        }
        Ok(completions)
    }

    fn too_large(&self, largest: u64) -> Error {
        Error::CompletionSize { heaps: self.game.rules.heaps, max: self.max.text.clone(), largest }
    }

    /// The game and the heaps to be completed, as they were given.
    fn options(&self) -> String {
        let game = &self.game;
        let forbid = game.forbid().map(|forbid| format!(" --forbid {forbid}")).unwrap_or_default();
        let misere = if game.rules.misere { " --misere" } else { "" };
        let (name, heaps, max) = (game.name.name(), game.rules.heaps, &self.max.text);
        format!("{name} --heaps {heaps}{forbid}{misere} --max {max}")
    }
}

/// What is completed, such as `3 heaps` of a game of four.
fn others(heaps: u32) -> String {
    counted(u64::from(heaps) - 1, "heap")
}

/// What an error about the region that is solved means for the heaps that are completed.
fn about(max: &Cap, region: &Region, error: Error) -> Error {
    match error {
        Error::RegionMemory { heaps, needed, available, source_of_limit, .. } => Error::Memory {
            what: format!(
                "completing {} up to {} means solving {} up to {}, which",
                others(heaps),
                max.text,
                counted(heaps.into(), "heap"),
                grouped(region.max().into())
            ),
            needed,
            available,
            source_of_limit,
            remedy: "a smaller --max would do".to_owned(),
        },
        other => other,
    }
}

/// A terminal to print on.
struct Terminal {
    columns: usize,
}

impl Terminal {
    fn of_stdout() -> Option<Self> {
        let columns = terminal_size::terminal_size_of(io::stdout()).map_or(80, |(width, _)| width.0.into());
        io::stdout().is_terminal().then_some(Self { columns })
    }

    /// Refuses what would only scroll by: completions up to `max` of which none is above `greatest`.
    fn check(&self, json: bool, heaps: u32, max: &Cap, greatest: u64) -> Result<()> {
        let size = u128::from(max.value) + 1;
        let entries = size.saturating_pow(heaps - 1);
        let refuse = |what: String, remedy: &str| {
            let remedy =
                format!("{remedy}--out f.csv (or .npy, .json, .png) writes a file, and a pipe takes all");
            Err(Error::Terminal { what: format!("--max {} would print {what}", max.text), remedy })
        };
        match heaps {
            _ if json && entries > MOST_NUMBERS => refuse("that much JSON".to_owned(), ""),
            _ if json => Ok(()),
            3 => {
                let fits = |max: u64, greatest| table_width(max, greatest) <= self.columns;
                if fits(max.value, greatest) {
                    return Ok(());
                }
                // f is at most twice as long as its heaps in most games, so about as many digits.
                let largest =
                    (0..max.value.min(self.columns as u64)).rev().find(|&max| fits(max, 2 * max + 1));
                let what = format!(
                    "a table of {} columns, too wide for the {}",
                    grouped(max.value.saturating_add(1)),
                    self.columns
                );
                match largest {
                    Some(largest) => refuse(what, &format!("up to about {largest} it fits; ")),
                    None => refuse(what, ""),
                }
            }
            _ if entries > u128::from(MOST_LINES) => {
                refuse(format!("a list of more than {} lines", grouped(MOST_LINES)), "")
            }
            _ => Ok(()),
        }
    }
}

/// Columns that a table up to `max` takes when no number in it is above `greatest`.
fn table_width(max: u64, greatest: u64) -> usize {
    let [label, number] = [max, greatest.max(max)].map(|number| number.to_string().len());
    let numbers = (max as usize).saturating_add(1).saturating_mul(number + 1);
    numbers.saturating_add(label.max(CORNER.len()) + 1)
}

/// What stands in the upper left corner of a table.
const CORNER: &str = "x\\y";

/// The completions of all tuples that start with some heaps, as nested arrays.
struct Rows<'a> {
    f: &'a dyn Completing,
    first: &'a [u32],
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if self.first.len() as u32 == self.f.heaps() - 1 {
            return self.f.completion(self.first).serialize(serializer);
        }
        let mut rows = serializer.serialize_seq(Some(self.f.max() as usize + 1))?;
        let mut longer = self.first.to_vec();
        longer.push(0);
        for heap in 0..=self.f.max() {
            longer[self.first.len()] = heap;
            rows.serialize_element(&Rows { f: self.f, first: &longer })?;
        }
        rows.end()
    }
}

#[derive(Serialize)]
struct CompletionReport<'a> {
    game: &'static str,
    heaps: u32,
    max: u32,
    forbid: Option<String>,
    misere: bool,
    /// Multisets of the heaps to be completed, and how many of them have a completion.
    multisets: u64,
    completed: u64,
    greatest: Option<u32>,
    /// How they were found: `scan` by bitsets, `solve`, or read from a `store`.
    method: &'static str,
    threads: usize,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Rows<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_seconds: Option<f64>,
    #[serde(skip)]
    words: String,
    #[serde(skip)]
    source: Option<String>,
}

impl CompletionReport<'_> {
    /// How many of the pairs, or whatever they are, have a completion.
    fn completed(&self, noun: &str) -> String {
        if self.completed == self.multisets {
            return match self.multisets {
                1 => format!("the only {noun}"),
                all => format!("all {}", counted(all, noun)),
            };
        }
        let percent = share(self.completed, self.multisets);
        let others = if self.rows.is_some() { "; - stands for no completion" } else { "" };
        format!("{} of {} ({percent}){others}", grouped(self.completed), counted(self.multisets, noun))
    }

    /// A table of three heaps: x down, y across.
    fn write_table(&self, f: &dyn Completing, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = self.max.to_string().len().max(CORNER.len());
        let number = self.greatest.unwrap_or(0).max(self.max).to_string().len();
        write!(out, "{CORNER:>label$} ")?;
        for y in 0..=self.max {
            write!(out, " {y:>number$}")?;
        }
        writeln!(out)?;
        for x in 0..=self.max {
            write!(out, "{x:>label$} ")?;
            for y in 0..=self.max {
                write!(out, " {:>number$}", shown(f.completion(&[x, y])))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// A list of all multisets of another number of heaps.
    fn write_list(&self, f: &dyn Completing, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut heaps = vec![0; self.heaps as usize - 1];
        let longest = Position::new(vec![self.max; heaps.len()]).to_string().len().max("heaps".len());
        let number = self.greatest.unwrap_or(0).to_string().len();
        writeln!(out, "{:longest$}  {:>number$}", "heaps", "f")?;
        loop {
            let multiset = Position::new(heaps.clone()).to_string();
            writeln!(out, "{multiset:longest$}  {:>number$}", shown(f.completion(&heaps)))?;
            // The next nondecreasing tuple.
            let Some(place) = heaps.iter().rposition(|&heap| heap < self.max) else { return Ok(()) };
            let next = heaps[place] + 1;
            heaps[place..].fill(next);
        }
    }
}

fn shown(f: Option<u32>) -> String {
    f.map_or_else(|| "-".to_owned(), |f| f.to_string())
}

impl fmt::Display for CompletionReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rows {
            Some(Rows { f, .. }) if self.heaps == 3 => self.write_table(*f, out)?,
            Some(Rows { f, .. }) => self.write_list(*f, out)?,
            None => {}
        }
        if self.rows.is_some() {
            writeln!(out)?;
        }
        let mut lines = Lines::default();
        lines.add("game", &*self.words);
        let (what, noun) = match self.heaps {
            1 => ("none: there is only one heap".to_owned(), "multiset"),
            2 => (format!("1 heap ≤ {}", grouped(self.max.into())), "heap"),
            3 => (format!("2 heaps, each ≤ {}", grouped(self.max.into())), "pair"),
            heaps => (format!("{}, each ≤ {}", others(heaps), grouped(self.max.into())), "multiset"),
        };
        lines.add("completes", what);
        lines.add("completed", self.completed(noun));
        let greatest = self.greatest.map_or_else(|| "none".to_owned(), |f| grouped(f.into()));
        lines.add("greatest f", greatest);
        if let Some(source) = &self.source {
            lines.add("read from", &**source);
        }
        let took = |seconds: f64| time(Duration::from_secs_f64(seconds));
        lines
            .add("time", format!("{} on {}", took(self.seconds), counted(self.threads as u64, "CPU thread")));
        if let (Some(file), Some(size), Some(seconds)) = (&self.file, self.file_bytes, self.write_seconds) {
            lines.add("written", format!("{file}, {} in {}", bytes(size.into()), took(seconds)));
        }
        lines.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(columns: usize, json: bool, heaps: u32, max: u64) -> String {
        let cap = Cap { text: max.to_string(), value: max };
        let checked = Terminal { columns }.check(json, heaps, &cap, max);
        checked.err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn a_terminal_is_spared_what_it_cannot_show() {
        assert_eq!(refusal(80, false, 3, 15), "");
        assert_eq!(
            refusal(80, false, 3, 512),
            "--max 512 would print a table of 513 columns, too wide for the 80 on a terminal; up to about 24 it fits; \
             --out f.csv (or .npy, .json, .png) writes a file, and a pipe takes all"
        );
        assert!(refusal(3, false, 3, 9).contains("columns, too wide for the 3 on a terminal; --out f.csv"));
        assert!(
            refusal(80, true, 3, 512)
                .starts_with("--max 512 would print that much JSON on a terminal; --out")
        );
        assert_eq!(refusal(80, true, 3, 300), "");
        assert!(refusal(80, false, 5, 9).contains("a list of more than 1,000 lines on a terminal"));
        assert_eq!(refusal(80, false, 14, 0), "");
        assert_ne!(refusal(80, false, 3, u64::MAX), "");
        assert_ne!(refusal(80, true, 14, u64::MAX), "");
    }

    #[test]
    fn a_table_is_as_wide_as_foretold() {
        assert_eq!(table_width(9, 19), "x\\y   0  1  2  3  4  5  6  7  8  9".len());
    }
}
