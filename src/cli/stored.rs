//! One position looked up in a store: its verdict, its moves and a line of play, each by the ranks of the positions
//! themselves, so that it takes no longer where the store is large.

use nimstrata::game::{BigPosition, Move, Position, Ruleset, legal_moves};
use nimstrata::solver::{Quantity, SolvedBefore};
use nimstrata::store::Store;
use nimstrata::{Error, Result};
use num_bigint::BigUint;

use super::play::{Analysis, Method, Reach, Step, Turn};

/// All that a store tells about a position that is in it.
pub fn look_up(store: &Store, rules: &Ruleset, position: &Position, line: bool) -> Result<Reach> {
    if line && store.quantity() == Quantity::Verdict {
        return Err(Error::NoStoredRemoteness { path: store.name().into(), option: "--line" });
    }
    let step = |one: Move| Step {
        is_p: is_p(store, &one.to),
        remoteness: store.remoteness(&one.to).map(BigUint::from),
        to: BigPosition::from(&one.to),
        removed: one.removed,
    };
    let analysis = Analysis {
        is_p: is_p(store, position),
        remoteness: store.remoteness(position).map(BigUint::from),
        moves: legal_moves(rules, position).into_iter().map(step).collect(),
        method: Method::Store,
        positions: None,
    };
    let line = line.then(|| line_from(store, rules, position)).transpose()?;
    Ok(Reach { analysis, line, note: Some(store.name()) })
}

/// The refusal of a position that is not in a store.
pub fn outside(store: &Store, position: &BigPosition) -> Error {
    let region = store.region();
    Error::OutsideStore {
        path: store.name().into(),
        position: position.to_string(),
        heaps: region.heaps(),
        max: region.max(),
        last: region.bound(),
    }
}

fn is_p(store: &Store, position: &Position) -> bool {
    store.is_p(position).expect("what moves lead to is no larger")
}

/// Plays optimally to the end, by the first optimal move each time.
fn line_from(store: &Store, rules: &Ruleset, start: &Position) -> Result<Vec<Turn>> {
    let remoteness = |position: &Position| store.remoteness(position).expect("a store of remoteness");
    let mut position = start.clone();
    let mut line = Vec::new();
    loop {
        let here = remoteness(&position);
        let moves = legal_moves(rules, &position);
        let is_end = moves.is_empty();
        let chosen = moves.into_iter().find(|one| remoteness(&one.to) + 1 == here);
        if chosen.is_none() && !is_end {
            let what = format!("R = {here} at {position}, and no move leads to one less");
            return Err(Error::Damaged { path: store.name().into(), what });
        }
        line.push(Turn {
            position: BigPosition::from(&position),
            remoteness: here.into(),
            removed: chosen.as_ref().map(|one| one.removed.clone()),
        });
        match chosen {
            Some(chosen) => position = chosen.to,
            None => return Ok(line),
        }
    }
}
