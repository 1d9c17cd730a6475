//! `nimstrata query`: the verdict of one position and every winning move.

use std::fmt;

use nimstrata::game::{Move, Position, Ruleset, Take, legal_moves, parse_position};
use nimstrata::observe::Lookup;
use nimstrata::space::Region;
use nimstrata::{Error, Result};
use serde::{Serialize, Serializer};

use super::figures::{counted, grouped};
use super::game::{Game, RulesArgs};
use super::number;
use super::output::OutputArgs;
use super::solving::SolvingArgs;

/// Memory that a legal move takes at most, from listing to printing.
const BYTES_PER_MOVE: u128 = 500;

/// Find the verdict and every winning move of one position
///
/// Solves every position with as many heaps, none above the largest heap of the position, up to its total.
#[derive(clap::Args)]
#[command(after_help = "Example: is 5, 4, 2 a win for the player to move, and how?\n  \
    nimstrata query bounded-moore --width 2 --position 5,4,2")]
pub struct Args {
    #[command(flatten)]
    rules: RulesArgs,
    /// The heap sizes, in any order
    #[arg(long, value_name = "SIZES", allow_hyphen_values = true)]
    position: String,
    /// How many heaps [default: as many as the position has]
    #[arg(long, value_name = "N", value_parser = number::count, allow_hyphen_values = true)]
    heaps: Option<u32>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    solving: SolvingArgs,
}

#[derive(Serialize)]
struct QueryReport {
    game: &'static str,
    heaps: u32,
    width: Option<u32>,
    forbid: Option<String>,
    misere: bool,
    #[serde(serialize_with = "sizes")]
    position: Position,
    verdict: char,
    legal_moves: usize,
    winning_moves: Vec<WinningMove>,
    /// How the verdict was found: `solve` for every position below.
    method: &'static str,
    /// Positions solved.
    positions: u64,
    #[serde(skip)]
    rules: Ruleset,
}

#[derive(Serialize)]
struct WinningMove {
    #[serde(serialize_with = "sizes")]
    to: Position,
    removed: Vec<u32>,
}

fn sizes<S: Serializer>(position: &Position, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    position.sizes().serialize(serializer)
}

impl Args {
    /// Solves down from the position and prints.
    pub fn run(self) -> Result<()> {
        let heaps = self.heaps.unwrap_or(self.position.split(',').count() as u32);
        let game = self.rules.game(heaps)?;
        let position = parse_position(&self.position, heaps)?;
        let solving = self.solving.validated()?;
        let region = Region::new(heaps, position.largest().into())
            .map_err(|error| about(&position, error))?
            .up_to_total(position.total());
        // Where a move takes any number of stones there are as many moves as stones.
        let solving = match game.rules.take {
            Take::Any => {
                let what = format!("listing the moves of {position}");
                let needed = u128::from(position.total()) * BYTES_PER_MOVE;
                solving.reserving(what, needed, "a position with fewer stones would do")?
            }
            _ => solving,
        };
        let moves = legal_moves(&game.rules, &position);
        let mut lookup = Lookup::new(moves.iter().map(|one| one.to.clone()).chain([position.clone()]));
        let solved =
            solving.run(&game.rules, &region, &mut [&mut lookup]).map_err(|error| about(&position, error))?;
        self.output.print(&QueryReport::new(game, position, moves, &lookup, solved.summary.positions))
    }
}

/// What an error about a region means for the position whose region it is.
fn about(position: &Position, error: Error) -> Error {
    match error {
        Error::Region { heaps, largest, .. } => {
            Error::PositionSize { position: position.to_string(), heaps, largest }
        }
        Error::RegionMemory { heaps, max, needed, available, source_of_limit, largest } => Error::Memory {
            what: format!(
                "{position} is found by solving {} up to {max}, which",
                counted(heaps.into(), "heap")
            ),
            needed,
            available,
            source_of_limit,
            remedy: match largest {
                Some(largest) => format!("a position fits if no heap is above {largest}"),
                None => format!("no position of {} fits", counted(heaps.into(), "heap")),
            },
        },
        other => other,
    }
}

impl QueryReport {
    fn new(game: Game, position: Position, moves: Vec<Move>, lookup: &Lookup, positions: u64) -> Self {
        let is_p = |position: &Position| {
            lookup.is_p(position).expect("the region holds the position and its options")
        };
        Self {
            game: game.name.name(),
            heaps: game.rules.heaps,
            width: game.width,
            forbid: game.forbid(),
            misere: game.rules.misere,
            verdict: if is_p(&position) { 'P' } else { 'N' },
            legal_moves: moves.len(),
            winning_moves: moves
                .into_iter()
                .filter(|one| is_p(&one.to))
                .map(|one| WinningMove { to: one.to, removed: one.removed })
                .collect(),
            position,
            method: "solve",
            positions,
            rules: game.rules,
        }
    }

    /// Who wins, and why if there is no move.
    fn verdict(&self) -> String {
        let outcome = if self.verdict == 'P' { "loses" } else { "wins" };
        let terminal = if self.legal_moves == 0 { "has no legal move and " } else { "" };
        let misere = if self.legal_moves == 0 && self.misere { " (misère)" } else { "" };
        format!(
            "{} is {} {}-position: the player to move {terminal}{outcome}{misere}",
            self.position,
            if self.verdict == 'P' { "a" } else { "an" },
            self.verdict
        )
    }
}

impl fmt::Display for QueryReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.verdict())?;
        if self.rules.forbidden.contains(self.position.total()) {
            writeln!(
                out,
                "Its total, {}, is forbidden: no move arrives here.",
                grouped(self.position.total())
            )?;
        }
        let legal = grouped(self.legal_moves as u64);
        match (self.legal_moves, self.winning_moves.len()) {
            (0, _) => return Ok(()),
            (1, 0) => return writeln!(out, "The only legal move does not win."),
            (_, 0) => return writeln!(out, "None of the {legal} legal moves wins."),
            (1, _) => writeln!(out, "The only legal move wins:")?,
            (_, 1) => writeln!(out, "1 of {legal} legal moves wins:")?,
            (_, winning) => writeln!(out, "{} of {legal} legal moves win:", grouped(winning as u64))?,
        }
        let targets = self.winning_moves.iter().map(|one| one.to.to_string()).collect::<Vec<_>>();
        let width = targets.iter().map(String::len).max().unwrap_or(0) + 1;
        for (one, to) in self.winning_moves.iter().zip(targets) {
            writeln!(
                out,
                "  to {:width$} taking {}",
                format!("{to},"),
                taking(&self.position, &one.removed)
            )?;
        }
        Ok(())
    }
}

/// What a move takes, such as `1 each from the heap of 4 and both heaps of 5`. Moves that lead to the same position
/// cannot be told apart, so equal heaps are counted, not pointed at.
fn taking(position: &Position, removed: &[u32]) -> String {
    let sizes = position.sizes();
    let mut from = Vec::new();
    for group in sizes.iter().zip(removed).collect::<Vec<_>>().chunk_by(|one, other| one == other) {
        let (&size, &stones) = group[0];
        if stones > 0 {
            let equal = sizes.iter().filter(|&&other| other == size).count();
            from.push((stones, group.len(), heaps_of(size, group.len(), equal)));
        }
    }
    let (stones, count, _) = from[0];
    if from.iter().any(|&(other, ..)| other != stones) {
        return joined(
            &from.iter().map(|(stones, _, heaps)| format!("{stones} from {heaps}")).collect::<Vec<_>>(),
        );
    }
    let each = if from.len() == 1 && count == 1 { "" } else { " each" };
    let heaps = from.into_iter().map(|(_, _, heaps)| heaps).collect::<Vec<_>>();
    format!("{stones}{each} from {}", joined(&heaps))
}

/// `touched` of `equal` heaps of one size.
fn heaps_of(size: u32, touched: usize, equal: usize) -> String {
    match (touched, equal) {
        (1, 1) => format!("the heap of {size}"),
        (2, 2) => format!("both heaps of {size}"),
        (1, _) => format!("a heap of {size}"),
        (touched, equal) if touched == equal => format!("all {equal} heaps of {size}"),
        _ => format!("{touched} heaps of {size}"),
    }
}

fn joined(parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_told_by_the_sizes_they_take_from() {
        let position = Position::new(vec![0, 2, 4, 5, 5, 5]);
        let said = |removed: [u32; 6]| taking(&position, &removed);
        assert_eq!(said([0, 0, 1, 0, 0, 0]), "1 from the heap of 4");
        assert_eq!(said([0, 0, 0, 0, 0, 1]), "1 from a heap of 5");
        assert_eq!(said([0, 0, 0, 0, 1, 1]), "1 each from 2 heaps of 5");
        assert_eq!(said([0, 1, 1, 1, 1, 1]), "1 each from the heap of 2, the heap of 4 and all 3 heaps of 5");
        assert_eq!(said([0, 2, 0, 0, 1, 1]), "2 from the heap of 2 and 1 from 2 heaps of 5");
        assert_eq!(taking(&Position::new(vec![3, 3]), &[1, 1]), "1 each from both heaps of 3");
    }
}
