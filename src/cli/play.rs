//! One position: who wins and how soon, what each move leads to, and a line of optimal play, by solving every position
//! below or by the M-rule.

use std::collections::HashSet;

use nimstrata::game::{BigPosition, Move, Position, Ruleset, legal_moves, m_analysis};
use nimstrata::observe::{Lookup, MMoves};
use nimstrata::solver::Quantity;
use nimstrata::space::Region;
use nimstrata::{Error, Result};
use num_bigint::BigUint;
use serde::Serialize;

use super::figures::counted;
use super::game::Game;
use super::solving::Solving;

/// For a line of play, about so many positions are looked up in one solve.
const LOOKED_UP: usize = 20_000;
/// Where a closed form answers at once, no more positions than this are solved: a matter of seconds.
const MOST_SOLVED: u64 = 300_000_000;
/// Longer lines of play are not written down.
const MOST_MOVES: u32 = 100_000;

/// How an answer was found.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Method {
    /// By solving every position below.
    #[serde(rename = "solve")]
    Solve,
    /// By the M-rule, in closed form.
    #[serde(rename = "m-rule")]
    MRule,
    /// By looking them up in a store.
    #[serde(rename = "store")]
    Store,
}

/// A position and its moves.
pub struct Analysis {
    /// Whether the player to move loses.
    pub is_p: bool,
    /// The remoteness, if it was found.
    pub remoteness: Option<BigUint>,
    /// All legal moves, in the order of the positions they lead to.
    pub moves: Vec<Step>,
    /// How that was found.
    pub method: Method,
    /// Positions solved.
    pub positions: Option<u64>,
}

/// A legal move.
pub struct Step {
    /// Where it leads.
    pub to: BigPosition,
    /// What it takes from each heap, smallest heap first.
    pub removed: Vec<u32>,
    /// Whether it wins.
    pub is_p: bool,
    /// The remoteness of where it leads, if it was found.
    pub remoteness: Option<BigUint>,
}

/// A position on a line of play.
pub struct Turn {
    /// The position.
    pub position: BigPosition,
    /// Its remoteness.
    pub remoteness: BigUint,
    /// What is taken from each heap; `None` at the end.
    pub removed: Option<Vec<u32>>,
}

/// All that could be found out.
pub struct Reach {
    /// The position and its moves.
    pub analysis: Analysis,
    /// A line of optimal play to the end, if it was asked for.
    pub line: Option<Vec<Turn>>,
    /// Why remoteness was not found, where it could have been; or the store that all was looked up in.
    pub note: Option<String>,
}

/// Whether the M-rule tells everything about a game.
pub fn has_closed_form(game: &Game) -> bool {
    !game.rules.misere && MMoves::new(&game.rules).is_ok()
}

/// Finds out all that can be about a position.
pub fn analyse(game: &Game, solving: &Solving, position: &Position, line: bool) -> Result<Reach> {
    let closed = has_closed_form(game);
    let solved = region_of(position).and_then(|region| {
        if closed && region.positions() > MOST_SOLVED {
            return Ok(None);
        }
        by_solving(game, solving, &region, position, game.takes_one(), line).map(Some)
    });
    let refusal = match solved {
        Ok(Some(reach)) => return Ok(reach),
        Ok(None) => return Reach::beyond(&position.into(), line),
        Err(refusal @ (Error::Region { .. } | Error::RegionMemory { .. } | Error::TooLong { .. })) => refusal,
        Err(error) => return Err(error),
    };
    if closed {
        return Reach::beyond(&position.into(), line);
    }
    if line || !game.takes_one() || matches!(refusal, Error::Region { .. }) {
        return Err(about(position, refusal));
    }
    // A verdict takes a bit where remoteness takes a byte or two.
    let verdict =
        region_of(position).and_then(|region| by_solving(game, solving, &region, position, false, false));
    match verdict {
        Ok(reach) => Ok(Reach { note: Some(about(position, refusal).to_string()), ..reach }),
        Err(error) => Err(about(position, error)),
    }
}

/// The region of all positions that play from here can reach.
fn region_of(position: &Position) -> Result<Region> {
    let region = Region::new(position.sizes().len() as u32, position.largest().into())?;
    Ok(region.up_to_total(position.total()))
}

fn by_solving(
    game: &Game,
    solving: &Solving,
    region: &Region,
    position: &Position,
    remoteness: bool,
    line: bool,
) -> Result<Reach> {
    let quantity = if remoteness { Quantity::Remoteness } else { Quantity::Verdict };
    let solving = solving.clone().finding(quantity);
    let moves = legal_moves(&game.rules, position);
    let mut lookup = Lookup::new(near(&game.rules, position, &moves, line));
    let solved = solving.run(&game.rules, region, &mut [&mut lookup])?;
    let line = line.then(|| line_from(game, &solving, position, &lookup)).transpose()?;
    let step = |one: Move| Step {
        is_p: is_p(&lookup, &one.to),
        remoteness: lookup.remoteness(&one.to).map(BigUint::from),
        to: BigPosition::from(&one.to),
        removed: one.removed,
    };
    let analysis = Analysis {
        is_p: is_p(&lookup, position),
        remoteness: lookup.remoteness(position).map(BigUint::from),
        moves: moves.into_iter().map(step).collect(),
        method: Method::Solve,
        positions: Some(solved.summary.positions),
    };
    Ok(Reach { analysis, line, note: None })
}

fn is_p(lookup: &Lookup, position: &Position) -> bool {
    lookup.is_p(position).expect("the region holds the position and its options")
}

/// A position, its options, and for a line those further down as far as they are not too many.
fn near(rules: &Ruleset, position: &Position, moves: &[Move], line: bool) -> HashSet<Position> {
    let mut near = HashSet::from([position.clone()]);
    let mut newest = moves.iter().map(|one| one.to.clone()).collect::<HashSet<_>>();
    while !newest.is_empty() {
        near.extend(newest.iter().cloned());
        let mut next = HashSet::new();
        if line {
            for position in newest {
                if near.len() + next.len() < LOOKED_UP {
                    next.extend(legal_moves(rules, &position).into_iter().map(|one| one.to));
                }
            }
        }
        newest = next;
    }
    near
}

/// Plays optimally to the end. Where what was looked up does not reach, a smaller region is solved.
fn line_from(game: &Game, solving: &Solving, start: &Position, first: &Lookup) -> Result<Vec<Turn>> {
    let mut position = start.clone();
    let mut remoteness = first.remoteness(start).expect("the region holds the position");
    let mut later: Option<Lookup> = None;
    let mut line = Vec::new();
    loop {
        let moves = legal_moves(&game.rules, &position);
        let optimal = |lookup: &Lookup| {
            moves
                .iter()
                .find(|one| lookup.remoteness(&one.to).is_some_and(|after| after + 1 == remoteness))
                .cloned()
        };
        let mut chosen = optimal(later.as_ref().unwrap_or(first));
        if chosen.is_none() && !moves.is_empty() {
            let mut lookup = Lookup::new(near(&game.rules, &position, &moves, true));
            solving.run(&game.rules, &region_of(&position)?, &mut [&mut lookup])?;
            chosen = optimal(&lookup);
            later = Some(lookup);
        }
        let at = BigPosition::from(&position);
        let removed = chosen.as_ref().map(|one| one.removed.clone());
        line.push(Turn { position: at, remoteness: remoteness.into(), removed });
        let Some(chosen) = chosen else { return Ok(line) };
        (position, remoteness) = (chosen.to, remoteness - 1);
    }
}

impl Reach {
    /// What the M-rule tells about a position that is out of reach of solving.
    pub fn beyond(position: &BigPosition, line: bool) -> Result<Self> {
        let heaps = position.sizes().len();
        let taking = |kept| (0..heaps).map(|heap| u32::from(heap != kept)).collect::<Vec<_>>();
        let found = m_analysis(position);
        let line = line.then(|| m_line(position, &found.length, taking)).transpose()?;
        let is_p = found.is_p();
        let step = |option: nimstrata::game::MOption| Step {
            to: option.to,
            removed: taking(option.kept),
            is_p: !option.length.bit(0),
            remoteness: Some(option.length),
        };
        let analysis = Analysis {
            is_p,
            remoteness: Some(found.length),
            moves: found.options.into_iter().map(step).collect(),
            method: Method::MRule,
            positions: None,
        };
        Ok(Self { analysis, line, note: None })
    }
}

/// The play of M-moves to the end.
fn m_line(position: &BigPosition, length: &BigUint, taking: impl Fn(usize) -> Vec<u32>) -> Result<Vec<Turn>> {
    if *length > BigUint::from(MOST_MOVES) {
        return Err(Error::LineLength { moves: length.to_string(), most: MOST_MOVES });
    }
    let mut position = position.clone();
    let mut line = Vec::new();
    loop {
        let found = m_analysis(&position);
        let chosen = found.options.into_iter().find(|option| option.m_move);
        let removed = chosen.as_ref().map(|option| taking(option.kept));
        line.push(Turn { position, remoteness: found.length, removed });
        match chosen {
            Some(option) => position = option.to,
            None => return Ok(line),
        }
    }
}

/// The refusal of a position with a heap above 32 bits.
pub fn too_large(position: &BigPosition) -> Error {
    let heaps = position.sizes().len() as u32;
    match Region::new(heaps, u64::MAX) {
        Err(Error::Region { largest, .. }) => {
            Error::PositionSize { position: position.to_string(), heaps, largest }
        }
        Err(error) => error,
        Ok(_) => unreachable!("no region has heaps of 64 bits"),
    }
}

/// What an error about a region means for the position whose region it is.
fn about(position: &Position, error: Error) -> Error {
    let heaps_of = |heaps: u32| counted(heaps.into(), "heap");
    match error {
        Error::Region { heaps, largest, .. } => {
            Error::PositionSize { position: position.to_string(), heaps, largest }
        }
        Error::TooLong { largest, .. } => Error::PositionSize {
            position: position.to_string(),
            heaps: position.sizes().len() as u32,
            largest,
        },
        Error::RegionMemory { heaps, max, needed, available, source_of_limit, largest } => Error::Memory {
            what: format!("{position} is found by solving {} up to {max}, which", heaps_of(heaps)),
            needed,
            available,
            source_of_limit,
            remedy: match largest {
                Some(largest) => format!("a position fits if no heap is above {largest}"),
                None => format!("no position of {} fits", heaps_of(heaps)),
            },
        },
        other => other,
    }
}
