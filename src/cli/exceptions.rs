//! `nimstrata exceptions`: positions of exact slow Nim whose M-move is not optimal.

use std::fmt::{self, Write as _};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use nimstrata::game::{Position, Ruleset};
use nimstrata::observe::{Exception, Exceptions, Shorter};
use nimstrata::solver::{Progress, Quantity, SolvedBefore};
use nimstrata::space::{Region, largest_cap_within, layout_bytes, remoteness_bound, remoteness_cell};
use nimstrata::store::Store;
use nimstrata::{Error, Result};
use serde::{Serialize, Serializer};

use super::figures::{grouped, share};
use super::game::{Game, GameName, SourceArgs, StoredRegionArgs, Typed};
use super::output::{self, Lines, OutputArgs};
use super::progress::Bar;
use super::report::Report;
use super::solving::{Solved, Solving, SolvingArgs};
use super::{interrupt, number};

/// The games of this command.
#[derive(Clone, Copy, ValueEnum)]
enum ExceptionsGame {
    /// Exact slow Nim: take one stone from each of exactly K heaps, here all but one
    ExactSlow,
}

/// How a list is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns, and the counts below
    Text,
    /// A header and a line each; positions after moves as sizes with blanks, several with semicolons between
    Csv,
    /// A JSON object on each line
    Jsonl,
}

/// Find the positions whose M-move is not optimal
///
/// In exact slow Nim with all heaps but one touched, the M-move keeps a smallest even heap, or a largest heap if all are
/// odd. An exception is a position with a move where that move does not lead to R(x) - 1: it does not win as early or lose as
/// late as another. In normal play there are none, as is proved.
///
/// Write x1 <= ... <= xn. An exception follows from another if it is that one with its largest heap grown, or if for
/// some m < n its m smallest heaps are an exception of the game of m heaps, so that larger or equal heaps were appended.
/// It is minimal if it follows from none.
///
/// Lists go by total, and in lexicographic order inside a total; only the text of --minimal is sorted by the heaps, with
/// a blank line where the smallest heap changes, to show families.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("listing"))]
#[command(override_usage = "nimstrata exceptions [OPTIONS] --heaps <N> --max <CAP> <GAME>\n       \
    nimstrata exceptions [OPTIONS] --store <DIR>")]
#[command(after_help = "Example: the exceptions in misère play from which all others up to 30 follow\n  \
    nimstrata exceptions exact-slow --heaps 4 --misere --max 30 --minimal\n\n\
    Those of a store of remoteness, without solving its game again\n  \
    nimstrata exceptions --store nim43 --list")]
pub struct Args {
    #[arg(value_enum, required_unless_present = "store")]
    game: Option<ExceptionsGame>,
    #[command(flatten)]
    region: StoredRegionArgs,
    /// How many different heaps a move touches [default: one less than --heaps, the only width with an M-move]
    #[arg(long, value_name = "K", value_parser = number::count, allow_hyphen_values = true)]
    width: Option<u32>,
    /// Misère play: the player without a legal move wins
    #[arg(long)]
    misere: bool,
    /// List every exception
    #[arg(long, group = "listing")]
    list: bool,
    /// List the minimal exceptions, and count them
    #[arg(long, group = "listing")]
    minimal: bool,
    /// List at most so many
    #[arg(long, value_name = "L", requires = "listing", value_parser = number::total, allow_hyphen_values = true)]
    limit: Option<u64>,
    /// How to write the list [default: text on a terminal, csv to a file or a pipe]
    #[arg(long, value_enum, requires = "listing", conflicts_with = "json")]
    format: Option<Format>,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    solving: SolvingArgs,
}

/// The counts. With a list, `list` stands before them in the JSON object.
#[derive(Serialize)]
struct ExceptionsReport {
    #[serde(flatten)]
    region: Report,
    exceptions: u64,
    /// Null where it was not counted.
    minimal_exceptions: Option<u64>,
}

impl Args {
    /// The game and the region, validated, and the store that they are read from.
    fn validated(&self) -> Result<(Game, Region, Option<Arc<Store>>)> {
        let name = self.game.map(|ExceptionsGame::ExactSlow| GameName::ExactSlow);
        let Some(store) = self.source.open()? else {
            let region = self.region.region();
            let width = self.width.unwrap_or_else(|| region.heaps.saturating_sub(1).max(1));
            let rules = Ruleset::exact_slow(region.heaps, width)?.with_misere(self.misere);
            let game = Game { name: GameName::ExactSlow, width: Some(width), rules };
            // Refuses other widths before anything is counted.
            Exceptions::new(&game.rules)?;
            return Ok((game, region.validated()?, None));
        };
        let typed = Typed { name, width: self.width, misere: self.misere, ..Typed::default() };
        let game = self.region.added_to(typed).agreeing_with(&store)?;
        Exceptions::new(&game.rules)?;
        if store.quantity() == Quantity::Verdict {
            return Err(Error::NoStoredRemoteness { path: store.name().into(), option: "exceptions" });
        }
        let region = store.region().clone();
        // The game of two heaps has another name, too.
        Ok((Game { name: GameName::ExactSlow, ..game }, region, Some(store)))
    }

    /// Solves or reads, and prints as it finds.
    pub fn run(self) -> Result<()> {
        let (game, region, store) = self.validated()?;
        let solving = self.solving.validated()?.finding(Quantity::Remoteness).reading(store);

        let lists = self.list || self.minimal;
        let on_terminal = io::stdout().is_terminal();
        let form = match (lists, self.output.json, self.format) {
            (false, ..) => None,
            (_, true, _) => Some(Form::Json),
            (_, _, Some(format)) => Some(Form::Lines(format)),
            (..) => Some(Form::Lines(if on_terminal { Format::Text } else { Format::Csv })),
        };
        // A list that scrolls by shows its own progress, and a bar would be in its way.
        let collects = self.minimal && form == Some(Form::Lines(Format::Text));
        let solving = if lists && on_terminal && !collects { solving.silent() } else { solving };

        let reserved = reserving(solving.clone(), &game.rules, &region)?;
        let _requests = interrupt::Guard::new();
        let shorter = self.minimal.then(|| find_shorter(&solving, &game.rules, &region)).transpose()?;
        let wanted = AtomicBool::new(true);
        let mut printer = Printer::new(form, &game.rules, &region, self.limit, &wanted);
        printer.sorted = collects.then(Vec::new);
        let mut exceptions = Exceptions::new(&game.rules)?;
        if let Some(shorter) = shorter {
            exceptions = exceptions.with_shorter(shorter);
        }
        if self.minimal {
            exceptions = exceptions.listing_minimal(|exception| printer.add(exception));
        } else if lists {
            exceptions = exceptions.listing(|exception| printer.add(exception));
        }
        let solved = reserved.run_while(&game.rules, &region, &mut [&mut exceptions], &wanted);
        let (count, minimal) = (exceptions.count(), exceptions.minimal());
        drop(exceptions);
        if !wanted.load(Ordering::Relaxed) {
            return printer.end();
        }
        let solved: Solved = solved?;
        let report = ExceptionsReport {
            region: Report::new(&game, &region, solved),
            exceptions: count,
            minimal_exceptions: minimal,
        };
        printer.finish(&report, self.output.json)
    }
}

/// Sets memory aside for the strata that M-moves lead to, of which as many are kept as a move touches heaps.
fn reserving(solving: Solving, rules: &Ruleset, region: &Region) -> Result<Solving> {
    let heaps = rules.heaps;
    let last_total = u64::from(region.strata().end) - 1;
    let bytes = |slots: u32| {
        move |cap: u64, limit| {
            layout_bytes(heaps, cap, remoteness_cell(rules, cap, last_total)?, slots, limit)
        }
    };
    let max = u64::from(region.max());
    let available = solving.available();
    let source_of_limit = solving.source_of_limit();
    // Remoteness that is too great for any cell is the solver's to refuse.
    if remoteness_cell(rules, max, last_total).is_none() {
        return Ok(solving);
    }
    let (largest, needed) = largest_cap_within(max, available, bytes(2 * heaps - 1));
    if largest != Some(max) && solving.options().source.is_none() {
        return Err(Error::RegionMemory {
            heaps,
            max: region.max(),
            needed,
            available,
            source_of_limit,
            largest,
        });
    }
    let kept = bytes(heaps - 1)(max, u128::MAX).unwrap_or(0);
    let remedy = match solving.options().source {
        Some(_) => "a store of a smaller region would do",
        None => "a smaller --max would do",
    };
    solving.reserving("keeping the strata that moves lead to".to_owned(), kept, remedy)
}

/// Finds the exceptions of fewer heaps, with a bar.
fn find_shorter(solving: &Solving, rules: &Ruleset, region: &Region) -> Result<Shorter> {
    let last_total = u64::from(region.strata().end) - 1;
    let regions = (2..rules.heaps).map(|heaps| {
        Region::new(heaps, region.max().into()).map_or(0, |region| region.up_to_total(last_total).positions())
    });
    let mut bar = Bar::counting(regions.sum(), "positions", solving.quiet());
    let (mut before, mut last) = (0, 0);
    Shorter::find(rules, region, solving.options(), &mut |progress: &Progress| {
        if progress.positions < last {
            before += last;
        }
        last = progress.positions;
        bar.update(before + last, || "games of fewer heaps".to_owned());
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// What a list is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Lines of their own.
    Lines(Format),
    /// One JSON object.
    Json,
}

/// Prints exceptions as they come.
struct Printer<'a> {
    out: BufWriter<Stdout>,
    form: Option<Form>,
    heaps: u32,
    /// Columns of a heap size, and of a remoteness.
    size: usize,
    remoteness: usize,
    limit: u64,
    listed: u64,
    left_out: u64,
    /// Whether what stands above the list was written.
    begun: bool,
    /// Those to be sorted before they are printed, where they are.
    sorted: Option<Vec<Exception>>,
    /// Set to false when nothing more can be written.
    wanted: &'a AtomicBool,
    failure: Option<io::Error>,
}

impl<'a> Printer<'a> {
    fn new(
        form: Option<Form>,
        rules: &Ruleset,
        region: &Region,
        limit: Option<u64>,
        wanted: &'a AtomicBool,
    ) -> Self {
        let last_total = u64::from(region.strata().end) - 1;
        let bound = remoteness_bound(rules, region.max().into(), last_total);
        Self {
            out: BufWriter::new(io::stdout()),
            form,
            heaps: rules.heaps,
            size: region.max().to_string().len(),
            remoteness: bound.to_string().len().max(HEAD_M.len()),
            limit: limit.unwrap_or(u64::MAX),
            listed: 0,
            left_out: 0,
            begun: false,
            sorted: None,
            wanted,
            failure: None,
        }
    }

    /// Lists one more.
    fn add(&mut self, exception: &Exception) {
        if self.listed == self.limit {
            self.left_out += 1;
            return;
        }
        self.listed += 1;
        match &mut self.sorted {
            Some(sorted) => sorted.push(exception.clone()),
            None => self.print(exception, self.listed > 1),
        }
    }

    fn print(&mut self, exception: &Exception, follows: bool) {
        let line = match self.form {
            Some(Form::Lines(Format::Text)) => self.text(exception),
            Some(Form::Lines(Format::Csv)) => csv(exception),
            Some(Form::Lines(Format::Jsonl)) => json(exception) + "\n",
            Some(Form::Json) => format!("{}{}", if follows { "," } else { "" }, json(exception)),
            None => return,
        };
        let head = self.head();
        self.write(&(head + &line));
    }

    /// What stands above the list, once.
    fn head(&mut self) -> String {
        if std::mem::replace(&mut self.begun, true) {
            return String::new();
        }
        match self.form {
            Some(Form::Lines(Format::Text)) => {
                let (position, remoteness) = (self.position_width(), self.remoteness);
                format!(
                    "{:position$}  {:>remoteness$}  {HEAD_M:>remoteness$}  {:position$}  optimal move to\n",
                    "position", "R", "M-move to"
                )
            }
            Some(Form::Lines(Format::Csv)) => {
                let sizes = (1..=self.heaps).map(|heap| format!("x{heap}")).collect::<Vec<_>>().join(",");
                format!("{sizes},remoteness,m_remoteness,m_move,optimal_moves\n")
            }
            Some(Form::Json) => "{\"list\":[".to_owned(),
            Some(Form::Lines(Format::Jsonl)) | None => String::new(),
        }
    }

    fn position_width(&self) -> usize {
        ((self.size + 1) * self.heaps as usize + 1).max(HEAD_MOVE)
    }

    fn text(&self, exception: &Exception) -> String {
        let (position, remoteness) = (self.position_width(), self.remoteness);
        let optimal = exception.optimal.iter().map(|to| self.aligned(to)).collect::<Vec<_>>().join(" ");
        format!(
            "{:position$}  {:>remoteness$}  {:>remoteness$}  {:position$}  {optimal}\n",
            self.aligned(&exception.position),
            exception.remoteness,
            exception.m_remoteness,
            self.aligned(&exception.m_move),
        )
    }

    /// A position with its sizes below those of others.
    fn aligned(&self, position: &Position) -> String {
        let size = self.size;
        let sizes = position.sizes().iter().map(|x| format!("{x:>size$}")).collect::<Vec<_>>();
        format!("({})", sizes.join(","))
    }

    fn write(&mut self, text: &str) {
        if self.failure.is_none()
            && let Err(failure) = self.out.write_all(text.as_bytes())
        {
            self.failure = Some(failure);
            self.wanted.store(false, Ordering::Relaxed);
        }
    }

    /// Prints what comes after the last exception.
    fn finish(mut self, report: &ExceptionsReport, as_json: bool) -> Result<()> {
        if let Some(mut sorted) = self.sorted.take() {
            sorted.sort_unstable_by(|one, other| one.position.cmp(&other.position));
            let mut smallest = None;
            for exception in sorted {
                let first = exception.position.sizes().first().copied();
                if smallest.is_some() && smallest != first {
                    self.write("\n");
                }
                smallest = first;
                self.print(&exception, false);
            }
        }
        let mut text = if self.listed > 0 || self.form != Some(Form::Lines(Format::Text)) {
            self.head()
        } else {
            String::new()
        };
        match self.form {
            None if as_json => {
                let _ = writeln!(text, "{{\"list\":null,{}", &to_json(report)[1..]);
            }
            Some(Form::Json) => {
                let _ = writeln!(text, "],{}", &to_json(report)[1..]);
            }
            None => text += &report.to_string(),
            Some(Form::Lines(Format::Text)) => {
                if self.left_out > 0 {
                    let _ = writeln!(text, "… {} more, all without --limit", grouped(self.left_out));
                }
                if self.listed + self.left_out > 0 {
                    text.push('\n');
                }
                text += &report.to_string();
            }
            Some(Form::Lines(Format::Csv | Format::Jsonl)) => {}
        }
        self.write(&text);
        self.end()
    }

    /// Writes the rest of the buffer; a reader who has seen enough is no error.
    fn end(mut self) -> Result<()> {
        let written = self.failure.take().map_or_else(|| self.out.flush(), Err);
        if !output::delivered(written)? {
            // What is left in the buffer has no reader; dropping it would only try again.
            let _ = self.out.into_parts();
        }
        Ok(())
    }
}

/// Heads of columns.
const HEAD_M: &str = "R(x_M)";
const HEAD_MOVE: usize = "M-move to".len();

fn csv(exception: &Exception) -> String {
    let sizes = |position: &Position, between: &str| {
        position.sizes().iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
    };
    format!(
        "{},{},{},{},{}\n",
        sizes(&exception.position, ","),
        exception.remoteness,
        exception.m_remoteness,
        sizes(&exception.m_move, " "),
        exception.optimal.iter().map(|to| sizes(to, " ")).collect::<Vec<_>>().join(";")
    )
}

#[derive(Serialize)]
struct Listed<'a> {
    #[serde(serialize_with = "sizes")]
    position: &'a Position,
    remoteness: u32,
    m_remoteness: u32,
    #[serde(serialize_with = "sizes")]
    m_move: &'a Position,
    optimal_moves: Vec<&'a [u32]>,
}

fn sizes<S: Serializer>(position: &Position, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    position.sizes().serialize(serializer)
}

fn json(exception: &Exception) -> String {
    to_json(&Listed {
        position: &exception.position,
        remoteness: exception.remoteness,
        m_remoteness: exception.m_remoteness,
        m_move: &exception.m_move,
        optimal_moves: exception.optimal.iter().map(Position::sizes).collect(),
    })
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("keys are strings and nothing else can fail")
}

impl fmt::Display for ExceptionsReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines::default();
        self.region.add_region(&mut lines);
        self.region.add_counts(&mut lines);
        let of_all = share(self.exceptions, self.region.positions);
        lines.add("exceptions", format!("{} ({of_all})", grouped(self.exceptions)));
        if let Some(minimal) = self.minimal_exceptions {
            lines.add("  minimal", format!("{}, from which all others follow", grouped(minimal)));
        }
        self.region.add_cost(&mut lines);
        lines.fmt(out)
    }
}
