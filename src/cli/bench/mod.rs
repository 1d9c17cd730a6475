//! `nimstrata bench`: one position at a time against the CPU's kernels against every adapter, measured in one run.

mod case;
mod crossover;
mod growth;
mod measure;
mod report;
mod traffic;

use std::path::PathBuf;

use clap::ValueEnum;
use nimstrata::baseline::Ranking;
use nimstrata::game::ForbiddenTotals;
use nimstrata::gpu::{self, AdapterSummary};
use nimstrata::solver::{Options, Quantity};
use nimstrata::space::Region;
use nimstrata::{Error, Result};

use case::Case;
use crossover::Crossover;
use measure::Timed;
use report::{BenchReport, Copy, Row, Solver};
use traffic::Traffic;

use super::figures::counted;
use super::game::GameName;
use super::output::{OutputArgs, print_text};
use super::progress::Bar;
use super::solving::HostArgs;
use super::{interrupt, number};

/// What to find out about each position.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum QuantityName {
    /// Who wins
    Verdict,
    /// Who wins and how long it takes
    Remoteness,
}

/// Measure solving one position at a time, on the CPU and on every GPU, in one run
///
/// Each line is the best of some runs, the same number for all, of: the baseline, a program that solves one position after
/// another and ranks each option by summing over its heaps; the same with ranks kept up to date (for games that take one
/// stone); the CPU's kernel on one thread and on all; the kernel on each GPU. Ratios are to the baseline, which solves a
/// smaller cap of the same game: its rate hardly depends on the cap, and where it takes any number of stones, where its work for a
/// position grows with the cap, its rate is scaled down by the quotient of the caps (marked ≈).
///
/// Bytes a position are what a kernel loads and stores, computed from the layout: for each 32-bit word with
/// positions, one word of each neighbour row that a move leads to and the word itself; where the CPU solves verdicts of four
/// heaps or more, for each cell of 16 bits with positions, every cell that it is solved from or that is written for it, for the
/// moves of later strata as well; where it solves remoteness, a byte or two for each move; where it sieves, a word of line
/// bits for each heap. Most of them come from caches, so that they can be more
/// than what a copy of memory moves. "Of a copy" compares them with copying 128 MiB on as many threads, or 256 MiB
/// on the GPU, read and written, measured in the same run. Times are by the host's clock, without opening a
/// device; "kernel" is how much of it a GPU worked, by its own clock, where that can be read.
///
/// Words a cycle are of one thread. A word is 32 bits of the layout: 32 verdicts, at least one of them that of a position, or
/// for four heaps or more two cells of 16, each with a position; or
/// the remoteness of four positions, of two where it takes two bytes. A cycle is the time of one step in a chain of additions
/// and exclusive ors, each of which needs the one before; measured on one thread in the same run, it is the effective clock of a
/// core. "Of the ports" compares them with what loading alone would allow: a load of 32 bytes for each neighbour row, for
/// each cell that a cell is solved from, or
/// where the kernel sieves for each heap, and two such loads a cycle. That many is an assumption: today's x86-64 cores do it when
/// everything lies in the first cache, and some load 64 bytes as often. What is left is loads that wait, setting up, and words
/// without positions that are solved along with others.
///
/// For each GPU, growing caps are solved on it and on the CPU, to find from which on it is faster.
#[derive(clap::Args)]
#[command(after_help = "Example: some usual games, small\n  \
    nimstrata bench --quick\n\n\
    One game\n  \
    nimstrata bench bounded-moore --heaps 5 --width 2 --max 300\n\n\
    Curves of time a position, as CSV and SVG\n  \
    nimstrata bench --growth curves")]
pub struct Args {
    /// A game to measure, with a region [default: some usual ones]
    #[arg(value_enum, requires = "heaps", requires = "max")]
    game: Option<GameName>,
    /// How many heaps, 1 to 14
    #[arg(long, value_name = "N", requires = "game", value_parser = number::count, allow_hyphen_values = true)]
    heaps: Option<u32>,
    /// How many different heaps a move touches (bounded-moore: at most, exact-slow: exactly, fts: leave it out)
    #[arg(long, value_name = "K", requires = "game", value_parser = number::count, allow_hyphen_values = true)]
    width: Option<u32>,
    /// The greatest size of a heap
    #[arg(long, value_name = "CAP", requires = "game", value_parser = number::count, allow_hyphen_values = true)]
    max: Option<u32>,
    /// Totals at which no move may arrive, such as 5k or 0,7,10..20
    #[arg(long, value_name = "SET", requires = "game", allow_hyphen_values = true)]
    forbid: Option<String>,
    /// Misère play: the player without a legal move wins
    #[arg(long, requires = "game")]
    misere: bool,
    /// What to find out about each position
    #[arg(long, value_enum, default_value = "verdict", requires = "game")]
    quantity: QuantityName,
    /// Measure smaller regions
    #[arg(long)]
    quick: bool,
    /// Best of so many runs
    #[arg(long, value_name = "RUNS", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
    /// Measure only the adapter with this text in its name, as in `nimstrata devices`; a software adapter must be named
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    adapter: Option<String>,
    /// Write curves of the time a position takes by the cap and by the number of heaps into a folder, as CSV and SVG
    #[arg(long, value_name = "DIR", conflicts_with_all = ["game", "markdown", "json"])]
    growth: Option<PathBuf>,
    /// Print a table in Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    host: HostArgs,
}

impl Args {
    /// Measures and prints.
    pub fn run(self) -> Result<()> {
        let _requests = interrupt::Guard::new();
        let solving = self.host.validated();
        let bench = Bench {
            options: solving.options().clone(),
            adapters: adapters(self.adapter.as_deref())?,
            runs: self.repeat,
            quick: self.quick,
        };
        if let Some(folder) = &self.growth {
            return growth::write(&bench, folder, solving.quiet());
        }
        let cases = match self.game {
            Some(game) => vec![self.case(game)?],
            None => Case::usual(self.quick)?,
        };
        let report = bench.report(&cases, solving.quiet())?;
        if self.markdown { print_text(&report.markdown()) } else { self.output.print(&report) }
    }

    /// The case that was typed.
    fn case(&self, game: GameName) -> Result<Case> {
        let (heaps, max) = (self.heaps.unwrap_or_default(), self.max.unwrap_or_default());
        let forbidden = self.forbid.as_deref().map_or(Ok(ForbiddenTotals::default()), str::parse)?;
        let rules = game.rules(heaps, self.width)?.with_forbidden(forbidden).with_misere(self.misere);
        let quantity = match self.quantity {
            QuantityName::Verdict => Quantity::Verdict,
            QuantityName::Remoteness if game == GameName::Fts => {
                return Err(Error::NoRemoteness { option: "--quantity remoteness", game: game.name() });
            }
            QuantityName::Remoteness => Quantity::Remoteness,
        };
        Ok(Case { region: Region::new(heaps, max.into())?, rules, quantity })
    }
}

/// The adapters to measure: real GPUs, each once though it may be reached in several ways, or the one that is named.
fn adapters(named: Option<&str>) -> Result<Vec<AdapterSummary>> {
    let all = gpu::adapters();
    let mut chosen: Vec<AdapterSummary> = Vec::new();
    let wanted = |adapter: &AdapterSummary| match named {
        Some(name) => adapter.name.to_lowercase().contains(&name.to_lowercase()),
        None => !adapter.software,
    };
    for adapter in all.iter().filter(|adapter| wanted(adapter)) {
        if !chosen.iter().any(|other| other.name == adapter.name) {
            chosen.push(adapter.clone());
        }
    }
    match named {
        Some(_) if all.is_empty() => Err(Error::NoAdapter),
        Some(wanted) if chosen.is_empty() => Err(Error::AdapterNotFound {
            wanted: wanted.to_owned(),
            found: all.into_iter().map(|adapter| adapter.name).collect(),
        }),
        Some(_) => Ok(chosen.into_iter().take(1).collect()),
        None => Ok(chosen),
    }
}

/// What all measurements have in common.
struct Bench {
    options: Options,
    adapters: Vec<AdapterSummary>,
    runs: u32,
    quick: bool,
}

impl Bench {
    /// Numbers of threads to measure: one and all.
    fn threads(&self) -> Vec<usize> {
        let mut threads = vec![1, self.options.threads()];
        threads.dedup();
        threads
    }

    fn report(&self, cases: &[Case], quiet: bool) -> Result<BenchReport> {
        let mut report = BenchReport::new(self.runs);
        let each = 2 + self.threads().len() + 2 * self.adapters.len();
        let mut bar = Bar::stepping((cases.len() * each + 1) as u64, quiet);
        bar.update(0, || "copying memory".to_owned());
        for threads in self.threads() {
            report
                .copies
                .push(Copy { solver: Solver::Cpu { threads }, bytes: measure::copy_bandwidth(threads) });
        }
        report.clock_hertz = Some(measure::clock());
        for adapter in &self.adapters {
            match measure::device_copy_bandwidth(adapter) {
                Ok(bytes) => report.copies.push(Copy { solver: Solver::gpu(adapter), bytes }),
                Err(error) => report.notes.push(format!("copying memory: {error}")),
            }
        }
        let mut done = 1;
        for case in cases {
            self.measure(case, &mut report, &mut |what| {
                bar.update(done, || format!("{}, {what}", case.name()));
                done += 1;
                measure::go_on()
            })?;
        }
        Ok(report)
    }

    /// All rows of one case.
    fn measure(
        &self,
        case: &Case,
        report: &mut BenchReport,
        next: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        let small = case.for_baseline(self.quick)?;
        let scale = case.baseline_scale(&small);
        next("the baseline")?;
        let plain = measure::baseline(&small, Ranking::Sums, self.runs)?;
        let to_plain =
            |timed: &Timed, scale: f64| timed.rate() * scale / (plain.rate() * case.baseline_scale(&small));
        report.rows.push(Row::new(&small, Solver::Baseline, &plain, scale, 1.0));
        if case.rules.take == nimstrata::game::Take::One {
            next("the faster baseline")?;
            let other = measure::baseline(&small, Ranking::Differences, self.runs)?;
            report.rows.push(Row::new(&small, Solver::Differences, &other, scale, to_plain(&other, scale)));
        }
        let traffic = Traffic::on_cpu(case)?;
        for threads in self.threads() {
            next(&counted(threads as u64, "CPU thread"))?;
            let timed = measure::kernel(case, &measure::on_cpu(&self.options, threads), self.runs)?;
            let row = Row::new(case, Solver::Cpu { threads }, &timed, 1.0, to_plain(&timed, 1.0));
            report.push_kernel(row, &traffic);
        }
        for adapter in &self.adapters {
            next(&adapter.name)?;
            let options = measure::on_gpu(&self.options, adapter);
            let measured = measure::kernel(case, &options, self.runs).and_then(|timed| {
                let traffic = Traffic::on_gpu(case)?;
                let row = Row::new(case, Solver::gpu(adapter), &timed, 1.0, to_plain(&timed, 1.0));
                report.push_kernel(row, &traffic);
                next("from which cap on the GPU is faster")?;
                report.crossovers.push(Crossover::find(case, adapter, &self.options)?);
                Ok(())
            });
            match measured {
                Err(stopped @ Error::Stopped { .. }) => return Err(stopped),
                Err(error) => report.notes.push(format!("{}: {error}", case.name())),
                Ok(()) => {}
            }
        }
        Ok(())
    }
}
