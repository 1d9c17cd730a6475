//! `nimstrata solve`: counts the P-positions of a region, and finds out how long its games last.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use nimstrata::checkpoint::Resumable;
use nimstrata::error::bytes;
use nimstrata::game::Position;
use nimstrata::observe::{Digest, Distribution, Longest};
use nimstrata::solver::{Observer, Quantity};
use nimstrata::{Error, Result};
use serde::{Serialize, Serializer};

use super::figures::{counted, grouped, share};
use super::game::{Game, GameArgs};
use super::output::{Lines, OutputArgs};
use super::predict::Prediction;
use super::report::Report;
use super::solving::{SavingArgs, Solved, SolvingArgs};

/// A longer table is shown without its middle.
const MOST_ROWS: usize = 40;
/// Rows shown at either end of such a table.
const END_ROWS: usize = 16;

/// Columns of a share.
const SHARE: usize = "under 0.1 %".len();

/// What to find out about each position.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum QuantityName {
    /// Who wins
    Verdict,
    /// Who wins and how long it takes: the winner hurries, the loser delays
    Remoteness,
}

/// Solve every position of a region and count the P-positions
///
/// With --quantity remoteness, for games that take one stone from a heap, also how long the games last. The remoteness R
/// of a position is the number of moves until the end of the game when the winner hurries and the loser delays; in misère
/// play one more. It is even for P-positions and odd for N-positions.
#[derive(clap::Args)]
#[command(after_help = "Example: five heaps up to 200, one stone from each of one or two heaps\n  \
    nimstrata solve bounded-moore --heaps 5 --width 2 --max 200\n\n\
    How long the games of four heaps last\n  \
    nimstrata solve exact-slow --heaps 4 --width 3 --max 100 --quantity remoteness\n\n\
    All verdicts in a folder, for numpy and for other commands\n  \
    nimstrata solve fts --heaps 3 --forbid 5k --max 500 --out d5")]
pub struct Args {
    #[command(flatten)]
    game: GameArgs,
    /// What to find out about each position
    #[arg(long, value_enum, default_value = "verdict")]
    quantity: QuantityName,
    /// Print a digest of all verdicts, or of all remoteness, the same on every backend
    #[arg(long)]
    digest: bool,
    /// Write a store, for numpy and for later commands: a new or empty folder, or one where this command was
    /// interrupted, to go on from there
    #[arg(long, value_name = "DIR", conflicts_with = "checkpoint")]
    out: Option<PathBuf>,
    /// Solve nothing: print positions, strata, memory and an estimate of the time
    #[arg(long, conflicts_with_all = ["digest", "out", "checkpoint"])]
    predict: bool,
    #[command(flatten)]
    saving: SavingArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    solving: SolvingArgs,
}

#[derive(Serialize)]
struct SolveReport {
    #[serde(flatten)]
    region: Report,
    #[serde(flatten)]
    lengths: Option<Lengths>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(flatten)]
    store: Option<StoreReport>,
}

/// The store that was written.
#[derive(Serialize)]
struct StoreReport {
    store: String,
    /// Bytes of its files.
    store_bytes: u64,
    /// Strata that were there before.
    strata_before: u64,
    #[serde(skip)]
    strata: u64,
}

impl StoreReport {
    fn new(folder: &Path, solved: &Solved) -> Self {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
        Self {
            store: folder.display().to_string(),
            store_bytes: sizes.sum(),
            strata_before: solved.before.strata,
            strata: solved.summary.strata,
        }
    }

    fn add(&self, lines: &mut Lines) {
        let before = match self.strata_before {
            0 => String::new(),
            all if all == self.strata => ", as it was".to_owned(),
            some => format!(", {} of its strata written before", grouped(some)),
        };
        lines.add("store", format!("{}, {}{before}", self.store, bytes(self.store_bytes.into())));
    }
}

/// How long games last.
#[derive(Serialize)]
struct Lengths {
    max_remoteness: u32,
    /// Each remoteness that occurs.
    distribution: Vec<Row>,
    longest_win: Option<LongestGame>,
    longest_loss: Option<LongestGame>,
    #[serde(skip)]
    misere: bool,
    #[serde(skip)]
    positions: u64,
}

#[derive(Serialize)]
struct Row {
    remoteness: u32,
    positions: u64,
}

#[derive(Serialize)]
struct LongestGame {
    remoteness: u32,
    #[serde(serialize_with = "sizes")]
    position: Position,
}

fn sizes<S: Serializer>(position: &Position, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    position.sizes().serialize(serializer)
}

impl Args {
    /// Solves and prints.
    pub fn run(self) -> Result<()> {
        let (game, region) = self.game.validated()?;
        let remoteness = self.quantity == QuantityName::Remoteness;
        if remoteness && !game.takes_one() {
            return Err(Error::NoRemoteness { option: "--quantity remoteness", game: game.name.name() });
        }
        let quantity = if remoteness { Quantity::Remoteness } else { Quantity::Verdict };
        let solving = self.solving.validated()?.finding(quantity);
        if self.predict {
            return self.output.print(&Prediction::new(&game, &region, &solving)?);
        }
        // What goes on from before takes less.
        if !self.out.as_deref().is_some_and(Path::exists) && !self.saving.there() {
            Prediction::announce(&game, &region, &solving)?;
        }
        let mut distribution = remoteness.then(Distribution::default);
        // A store knows its digest.
        let mut digest = (self.digest && self.out.is_none()).then(Digest::default);
        let counted = match (&distribution, &digest) {
            (None, None) => "counts",
            (Some(_), None) => "the distribution",
            (None, Some(_)) => "counts and the digest",
            (Some(_), Some(_)) => "the distribution and the digest",
        };
        let saving = self.saving.saving(counted.to_owned());
        let mut resumable: Vec<&mut dyn Resumable> = Vec::new();
        resumable.extend(distribution.as_mut().map(|distribution| distribution as &mut dyn Resumable));
        resumable.extend(digest.as_mut().map(|digest| digest as &mut dyn Resumable));
        let solved = match (&self.out, saving) {
            (None, Some(saving)) => solving.run_saving(&game.rules, &region, &mut resumable, &saving)?,
            (out, _) => {
                let mut observers =
                    resumable.into_iter().map(|observer| observer as &mut dyn Observer).collect::<Vec<_>>();
                match out {
                    Some(folder) => solving.run_storing(&game, &region, &mut observers, folder)?,
                    None => solving.run(&game.rules, &region, &mut observers)?,
                }
            }
        };
        let positions = solved.summary.positions;
        let stored = solved.digest.map(|digest| format!("{digest:016x}"));
        let store = self.out.as_deref().map(|folder| StoreReport::new(folder, &solved));
        self.output.print(&SolveReport {
            region: Report::new(&game, &region, solved),
            lengths: distribution.map(|distribution| Lengths::new(&game, &distribution, positions)),
            digest: digest.map(|digest| digest.hex()).or(stored),
            store,
        })
    }
}

impl Lengths {
    fn new(game: &Game, distribution: &Distribution, positions: u64) -> Self {
        let longest = |longest: &Longest| LongestGame {
            remoteness: longest.remoteness,
            position: longest.position.clone(),
        };
        let rows = (0..).zip(distribution.counts()).filter(|&(_, &positions)| positions > 0);
        Self {
            max_remoteness: distribution.max_remoteness().unwrap_or(0),
            distribution: rows.map(|(remoteness, &positions)| Row { remoteness, positions }).collect(),
            longest_win: distribution.longest_win().map(longest),
            longest_loss: distribution.longest_loss().map(longest),
            misere: game.rules.misere,
            positions,
        }
    }

    /// The lines on the longest games.
    fn add_longest(&self, lines: &mut Lines) {
        for (label, longest) in [("longest win", &self.longest_win), ("longest loss", &self.longest_loss)] {
            let text = longest.as_ref().map_or_else(
                || "none".to_owned(),
                |LongestGame { remoteness, position }| {
                    let moves = u64::from(remoteness - u32::from(self.misere));
                    format!(
                        "R = {}, {}, first in {position}",
                        grouped(u64::from(*remoteness)),
                        counted(moves, "move")
                    )
                },
            );
            lines.add(label, text);
        }
    }

    /// The table of the distribution, without its middle where it is long.
    fn write_table(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = &self.distribution;
        let number = |number: u64| grouped(number).len();
        let remoteness = number(self.max_remoteness.into()).max(2);
        let count = rows.iter().map(|row| number(row.positions)).max().unwrap_or(0).max("positions".len());
        writeln!(out, "{:>remoteness$}     {:>count$}  {:>SHARE$}", "R", "positions", "share")?;
        let hidden = if rows.len() > MOST_ROWS { END_ROWS..rows.len() - END_ROWS } else { 0..0 };
        for (index, row) in rows.iter().enumerate() {
            if index == hidden.start && !hidden.is_empty() {
                let left_out = &rows[hidden.clone()];
                let positions = left_out.iter().map(|row| row.positions).sum();
                writeln!(
                    out,
                    "{:>remoteness$}     {:>count$}  {:>SHARE$}  {} left out here, all with --json",
                    "…",
                    grouped(positions),
                    share(positions, self.positions),
                    counted(left_out.len() as u64, "row"),
                )?;
            }
            if !hidden.contains(&index) {
                let verdict = if row.remoteness.is_multiple_of(2) { 'P' } else { 'N' };
                writeln!(
                    out,
                    "{:>remoteness$}  {verdict}  {:>count$}  {:>SHARE$}",
                    grouped(row.remoteness.into()),
                    grouped(row.positions),
                    share(row.positions, self.positions)
                )?;
            }
        }
        writeln!(out)
    }
}

impl fmt::Display for SolveReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines::default();
        self.region.add_region(&mut lines);
        self.region.add_counts(&mut lines);
        if let Some(lengths) = &self.lengths {
            lengths.write_table(out)?;
            lengths.add_longest(&mut lines);
        }
        self.region.add_cost(&mut lines);
        if let Some(digest) = &self.digest {
            lines.add("digest", &**digest);
        }
        if let Some(store) = &self.store {
            store.add(&mut lines);
        }
        lines.fmt(out)
    }
}
