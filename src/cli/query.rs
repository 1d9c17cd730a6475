//! `nimstrata query`: the verdict of one position, every winning move, and how play goes on.

use std::fmt;

use nimstrata::game::{BigPosition, Position, Take, parse_big_position};
use nimstrata::store::Store;
use nimstrata::{Error, Result};
use num_bigint::BigUint;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::figures::grouped;
use super::game::{Game, SourceArgs, StoredRulesArgs, Typed};
use super::output::OutputArgs;
use super::play::{self, Analysis, Method, Reach, Step, Turn};
use super::solving::{Solving, SolvingArgs};
use super::{interrupt, number, stored};

/// Memory that a legal move takes at most, from listing to printing.
const BYTES_PER_MOVE: u128 = 500;
/// Moves that neither win nor are optimal are listed as far as there are no more moves than this in all.
const MOST_ROWS: usize = 20;

/// Where a move touches more different sizes, and all heaps but one, it is told by that one.
const MOST_NAMED: usize = 3;

/// Find the verdict and every winning move of one position, and how long the game lasts
///
/// Solves every position with as many heaps, none above the largest heap of the position, up to its total. In games that
/// take one stone from a heap it also finds the remoteness R: the number of moves until the end when the winner hurries
/// and the loser delays; in misère play R is one more.
///
/// Where those are too many, exact slow Nim with --width one less than the heaps is answered in closed form by the
/// M-rule, for heaps of any size: in normal play with nothing forbidden.
///
/// With --store nothing is solved: the position and its options are looked up in what `nimstrata solve --out` has
/// written. Remoteness and --line need a store of remoteness.
#[derive(clap::Args)]
#[command(override_usage = "nimstrata query [OPTIONS] --position <SIZES> <GAME>\n       \
    nimstrata query [OPTIONS] --position <SIZES> --store <DIR>")]
#[command(after_help = "Example: is 5, 4, 2 a win for the player to move, and how?\n  \
    nimstrata query bounded-moore --width 2 --position 5,4,2\n\n\
    Play it out to the end\n  \
    nimstrata query bounded-moore --width 2 --position 5,4,2 --line\n\n\
    Look it up in a store\n  \
    nimstrata query --store moore --position 1,2,2,4,5")]
pub struct Args {
    #[command(flatten)]
    rules: StoredRulesArgs,
    /// The heap sizes, in any order
    #[arg(long, value_name = "SIZES", allow_hyphen_values = true)]
    position: String,
    /// How many heaps [default: as many as the position has]
    #[arg(long, value_name = "N", value_parser = number::count, allow_hyphen_values = true)]
    heaps: Option<u32>,
    /// Play out optimal play to the end, in games that take one stone from a heap
    #[arg(long)]
    line: bool,
    #[command(flatten)]
    source: SourceArgs,
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
    position: BigPosition,
    verdict: char,
    /// Null in games whose remoteness is not solved, and where it is out of reach.
    #[serde(serialize_with = "optional_number")]
    remoteness: Option<BigUint>,
    legal_moves: usize,
    winning_moves: Vec<Shown>,
    /// Null without remoteness, as the two below.
    optimal_moves: Option<Vec<Shown>>,
    /// All legal moves, the best ones first.
    options: Option<Vec<Shown>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<Vec<ShownTurn>>,
    /// How the verdict was found.
    method: Method,
    /// Positions solved; null where none had to be.
    positions: Option<u64>,
    #[serde(skip)]
    is_forbidden: bool,
    #[serde(skip)]
    total: String,
    #[serde(skip)]
    note: Option<String>,
}

/// A move.
#[derive(Clone, Serialize)]
struct Shown {
    #[serde(serialize_with = "sizes")]
    to: BigPosition,
    removed: Vec<u32>,
    #[serde(serialize_with = "optional_number")]
    remoteness: Option<BigUint>,
    #[serde(skip)]
    wins: bool,
    #[serde(skip)]
    optimal: bool,
}

/// A position of a line of play, and the move made there.
#[derive(Serialize)]
struct ShownTurn {
    #[serde(serialize_with = "sizes")]
    position: BigPosition,
    #[serde(serialize_with = "exact")]
    remoteness: BigUint,
    /// Null at the end.
    removed: Option<Vec<u32>>,
}

/// A whole number: as a JSON number in 64 bits, as a string of digits above.
struct Exact<'a>(&'a BigUint);

impl Serialize for Exact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match u64::try_from(self.0) {
            Ok(number) => serializer.serialize_u64(number),
            Err(_) => serializer.collect_str(self.0),
        }
    }
}

fn exact<S: Serializer>(number: &BigUint, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    Exact(number).serialize(serializer)
}

#[allow(clippy::ref_option, reason = "serde hands over a reference to the field")]
fn optional_number<S: Serializer>(
    number: &Option<BigUint>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    number.as_ref().map(Exact).serialize(serializer)
}

fn sizes<S: Serializer>(position: &BigPosition, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    let mut sizes = serializer.serialize_seq(Some(position.sizes().len()))?;
    position.sizes().iter().try_for_each(|size| sizes.serialize_element(&Exact(size)))?;
    sizes.end()
}

impl Args {
    /// Solves down from the position, or looks it up, and prints.
    pub fn run(self) -> Result<()> {
        if let Some(store) = self.source.open()? {
            return self.look_up(&store);
        }
        let heaps = self.heaps.unwrap_or(self.position.split(',').count() as u32);
        let game = self.rules.game(heaps)?;
        if self.line && !game.takes_one() {
            return Err(Error::NoRemoteness { option: "--line", game: game.name.name() });
        }
        let position = parse_big_position(&self.position, heaps)?;
        let solving = self.solving.validated()?;
        let _requests = interrupt::Guard::new();
        let reach = match position.small() {
            Some(small) => {
                let solving = reserving(solving, &game, &small)?;
                play::analyse(&game, &solving, &small, self.line)?
            }
            None if play::has_closed_form(&game) => Reach::beyond(&position, self.line)?,
            None => return Err(play::too_large(&position)),
        };
        self.output.print(&QueryReport::new(&game, position, reach))
    }

    /// Looks the position and what play from it reaches up in a store.
    fn look_up(self, store: &Store) -> Result<()> {
        let game = Typed { heaps: self.heaps, ..self.rules.typed() }.agreeing_with(store)?;
        if self.line && !game.takes_one() {
            return Err(Error::NoRemoteness { option: "--line", game: game.name.name() });
        }
        let position = parse_big_position(&self.position, self.position.split(',').count() as u32)?;
        let held = position.small().filter(|small| store.is_p(small).is_some());
        let small = held.ok_or_else(|| stored::outside(store, &position))?;
        reserving(self.solving.validated()?, &game, &small)?;
        let reach = stored::look_up(store, &game.rules, &small, self.line)?;
        self.output.print(&QueryReport::new(&game, position, reach))
    }
}

/// Sets memory aside for the moves of a position: where a move takes any number of stones there are as many as stones.
fn reserving(solving: Solving, game: &Game, position: &Position) -> Result<Solving> {
    if game.rules.take != Take::Any {
        return Ok(solving);
    }
    let what = format!("listing the moves of {position}");
    let needed = u128::from(position.total()) * BYTES_PER_MOVE;
    solving.reserving(what, needed, "a position with fewer stones would do")
}

impl QueryReport {
    fn new(game: &Game, position: BigPosition, reach: Reach) -> Self {
        let Reach { analysis, line, note } = reach;
        let Analysis { is_p, remoteness, moves, method, positions } = analysis;
        let known = remoteness.is_some();
        let shown = |one: Step| {
            let optimal = remoteness.as_ref().zip(one.remoteness.as_ref());
            let optimal = optimal.is_some_and(|(before, after)| after + 1u32 == *before);
            Shown { to: one.to, removed: one.removed, remoteness: one.remoteness, wins: one.is_p, optimal }
        };
        let mut moves = moves.into_iter().map(shown).collect::<Vec<_>>();
        let winning_moves = moves.iter().filter(|one| one.wins).cloned().collect();
        let optimal_moves = known.then(|| moves.iter().filter(|one| one.optimal).cloned().collect());
        let legal_moves = moves.len();
        if known {
            // The least even R first, then the greatest odd one; equal ones stay in canonical order.
            moves.sort_by(|one, other| {
                other.wins.cmp(&one.wins).then_with(|| {
                    if one.wins {
                        one.remoteness.cmp(&other.remoteness)
                    } else {
                        other.remoteness.cmp(&one.remoteness)
                    }
                })
            });
        }
        let total: BigUint = position.sizes().iter().sum();
        let turn = |turn: Turn| ShownTurn {
            position: turn.position,
            remoteness: turn.remoteness,
            removed: turn.removed,
        };
        Self {
            game: game.name.name(),
            heaps: game.rules.heaps,
            width: game.width,
            forbid: game.forbid(),
            misere: game.rules.misere,
            verdict: if is_p { 'P' } else { 'N' },
            remoteness,
            legal_moves,
            winning_moves,
            optimal_moves,
            options: known.then_some(moves),
            line: line.map(|line| line.into_iter().map(turn).collect()),
            method,
            positions,
            is_forbidden: u64::try_from(&total).is_ok_and(|total| game.rules.forbidden.contains(total)),
            total: grouped_big(&total),
            position,
            note,
        }
    }

    /// Who wins and how soon, and why if there is no move.
    fn verdict(&self) -> String {
        let outcome = if self.verdict == 'P' { "loses" } else { "wins" };
        let terminal = if self.legal_moves == 0 { "has no legal move and " } else { "" };
        let misere = if self.legal_moves == 0 && self.misere { " (misère)" } else { "" };
        let after = match &self.remoteness {
            Some(remoteness) if self.legal_moves > 0 => {
                let moves = remoteness - u32::from(self.misere);
                let plural = if moves == BigUint::from(1u32) { "" } else { "s" };
                let one_more = if self.misere { ", in misère play one more" } else { "" };
                format!(
                    " in {} move{plural} (R = {}{one_more})",
                    grouped_big(&moves),
                    grouped_big(remoteness)
                )
            }
            Some(remoteness) => format!(", R = {remoteness}"),
            None => String::new(),
        };
        format!(
            "{} is {} {}-position: the player to move {terminal}{outcome}{misere}{after}",
            self.position,
            if self.verdict == 'P' { "a" } else { "an" },
            self.verdict
        )
    }

    /// The line above the moves, and whether they are listed.
    fn heading(&self) -> (String, bool) {
        let legal = grouped(self.legal_moves as u64);
        let winning = self.winning_moves.len();
        let optimal = self.optimal_moves.as_ref().map(Vec::len);
        let best = |verb: &str| {
            optimal.map_or(String::new(), |count| format!("; {} {verb} (*)", grouped(count as u64)))
        };
        let text = match (self.legal_moves, winning) {
            (1, 0) => "The only legal move does not win".to_owned(),
            (1, _) => "The only legal move wins".to_owned(),
            (_, 0) => {
                let verb = if optimal == Some(1) { "delays the longest" } else { "delay the longest" };
                format!("None of the {legal} legal moves wins{}", best(verb))
            }
            (_, 1) => format!("1 of {legal} legal moves wins{}", if optimal.is_some() { " (*)" } else { "" }),
            (..) => {
                let verb = if optimal == Some(1) { "wins the soonest" } else { "win the soonest" };
                format!("{} of {legal} legal moves win{}", grouped(winning as u64), best(verb))
            }
        };
        let listed = winning > 0 || self.options.is_some();
        (format!("{text}{}", if listed { ":" } else { "." }), listed)
    }

    fn write_moves(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (heading, listed) = self.heading();
        writeln!(out, "{heading}")?;
        if !listed {
            return Ok(());
        }
        let rows = self.options.as_ref().unwrap_or(&self.winning_moves);
        let few = rows.len() <= MOST_ROWS;
        let rows = rows.iter().filter(|one| few || one.wins || one.optimal).collect::<Vec<_>>();
        let targets = rows.iter().map(|one| format!("{},", one.to)).collect::<Vec<_>>();
        let width = targets.iter().map(String::len).max().unwrap_or(0);
        let remoteness = rows.iter().map(|one| one.remoteness.as_ref().map_or_else(String::new, grouped_big));
        let remoteness = remoteness.collect::<Vec<_>>();
        let digits = remoteness.iter().map(String::len).max().unwrap_or(0);
        let marks = self.options.is_some() && self.legal_moves > 1;
        let winning = self.winning_moves.len();
        for (index, ((one, to), remoteness)) in rows.iter().zip(targets).zip(remoteness).enumerate() {
            if index == winning && winning > 0 {
                writeln!(
                    out,
                    "{}",
                    if rows.len() == winning + 1 && self.legal_moves == rows.len() {
                        "The other one loses:"
                    } else {
                        "The others lose:"
                    }
                )?;
            }
            let mark = match (marks, one.optimal) {
                (false, _) => "",
                (true, true) => "* ",
                (true, false) => "  ",
            };
            let after = if digits == 0 { String::new() } else { format!(" R = {remoteness:>digits$},") };
            writeln!(out, "  {mark}to {to:width$}{after} taking {}", taking(&self.position, &one.removed))?;
        }
        let others = self.legal_moves - rows.len();
        if self.options.is_some() && others > 0 {
            writeln!(
                out,
                "  … and {} that {}, all with --json",
                grouped(others as u64),
                if winning > 0 { "lose" } else { "lose sooner" }
            )?;
        }
        Ok(())
    }

    fn write_line(&self, line: &[ShownTurn], out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "\nOptimal play:")?;
        let rows = line
            .iter()
            .map(|turn| (turn.position.to_string(), turn.remoteness.to_string()))
            .collect::<Vec<_>>();
        let position = rows.iter().map(|(position, _)| position.len()).max().unwrap_or(0);
        let digits = rows.iter().map(|(_, remoteness)| remoteness.len()).max().unwrap_or(0);
        for (turn, (at, remoteness)) in line.iter().zip(rows) {
            let what = match &turn.removed {
                Some(removed) => format!("take {}", taking(&turn.position, removed)),
                None if self.misere => "no legal move: the player to move wins".to_owned(),
                None => "no legal move: the player to move loses".to_owned(),
            };
            writeln!(out, "  {at:position$}  R = {remoteness:>digits$}  {what}")?;
        }
        Ok(())
    }
}

impl fmt::Display for QueryReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.verdict())?;
        if self.is_forbidden {
            writeln!(out, "Its total, {}, is forbidden: no move arrives here.", self.total)?;
        }
        if self.legal_moves > 0 {
            self.write_moves(out)?;
        }
        if let Some(line) = &self.line {
            self.write_line(line, out)?;
        }
        match (&self.note, self.method) {
            (Some(store), Method::Store) => writeln!(out, "Looked up in {store}."),
            (Some(note), _) => writeln!(out, "How long it takes is out of reach: {note}"),
            (_, Method::MRule) => {
                writeln!(
                    out,
                    "Found by the M-rule in closed form: the positions below are too many to solve."
                )
            }
            _ => Ok(()),
        }
    }
}

/// A number of any length with its digits in groups.
fn grouped_big(number: &BigUint) -> String {
    let digits = number.to_string();
    let first = match digits.len() % 3 {
        0 => 3.min(digits.len()),
        first => first,
    };
    let groups =
        digits.as_bytes()[first..].chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    std::iter::once(digits[..first].to_owned()).chain(groups).collect::<Vec<_>>().join(",")
}

/// What a move takes, such as `1 each from the heap of 4 and both heaps of 5`. Moves that lead to the same position
/// cannot be told apart, so equal heaps are counted, not pointed at.
fn taking(position: &BigPosition, removed: &[u32]) -> String {
    let sizes = position.sizes();
    let mut from = Vec::new();
    for group in sizes.iter().zip(removed).collect::<Vec<_>>().chunk_by(|one, other| one == other) {
        let (size, &stones) = group[0];
        if stones > 0 {
            let equal = sizes.iter().filter(|&other| other == size).count();
            from.push((stones, group.len(), heaps_of(size, group.len(), equal)));
        }
    }
    let (stones, count, _) = from[0];
    if from.iter().any(|&(other, ..)| other != stones) {
        return joined(
            &from.iter().map(|(stones, _, heaps)| format!("{stones} from {heaps}")).collect::<Vec<_>>(),
        );
    }
    // Where nearly all heaps are touched, the one that is not tells more.
    let kept = sizes.iter().zip(removed).filter(|&(size, &stones)| stones == 0 && *size > BigUint::ZERO);
    if let ([(size, _)], true) = (&*kept.collect::<Vec<_>>(), from.len() > MOST_NAMED) {
        let equal = sizes.iter().filter(|other| other == size).count();
        return format!("{stones} each from all heaps but {}", heaps_of(size, 1, equal));
    }
    let each = if from.len() == 1 && count == 1 { "" } else { " each" };
    let heaps = from.into_iter().map(|(_, _, heaps)| heaps).collect::<Vec<_>>();
    format!("{stones}{each} from {}", joined(&heaps))
}

/// `touched` of `equal` heaps of one size.
fn heaps_of(size: &BigUint, touched: usize, equal: usize) -> String {
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
        let position = BigPosition::from(&Position::new(vec![0, 2, 4, 5, 5, 5]));
        let said = |removed: [u32; 6]| taking(&position, &removed);
        assert_eq!(said([0, 0, 1, 0, 0, 0]), "1 from the heap of 4");
        assert_eq!(said([0, 0, 0, 0, 0, 1]), "1 from a heap of 5");
        assert_eq!(said([0, 0, 0, 0, 1, 1]), "1 each from 2 heaps of 5");
        assert_eq!(said([0, 1, 1, 1, 1, 1]), "1 each from the heap of 2, the heap of 4 and all 3 heaps of 5");
        assert_eq!(said([0, 2, 0, 0, 1, 1]), "2 from the heap of 2 and 1 from 2 heaps of 5");
        assert_eq!(
            taking(&BigPosition::from(&Position::new(vec![3, 3])), &[1, 1]),
            "1 each from both heaps of 3"
        );
    }
}
