//! The legal moves of one position, straight from the definition.

use std::collections::BTreeMap;

use super::{Position, Ruleset};

/// One legal move: where it leads and what it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The position after the move.
    pub to: Position,
    /// Stones removed from each heap, in the order of the sizes of the position moved from (smallest first).
    pub removed: Vec<u32>,
}

/// All legal moves of a position, in the order of the positions they lead to, one for each of those.
///
/// Where several moves lead to the same position (equal heaps), the one that takes from the larger index is kept.
#[must_use]
pub fn legal_moves(rules: &Ruleset, from: &Position) -> Vec<Move> {
    let mut moves = BTreeMap::new();
    let mut removed = vec![0; from.sizes().len()];
    extend(rules, from, 0, &mut removed, &mut moves);
    moves.into_iter().map(|(to, removed)| Move { to, removed }).collect()
}

/// Chooses what to take from heap `heap` and all later ones, and records every legal choice.
fn extend(
    rules: &Ruleset,
    from: &Position,
    heap: usize,
    removed: &mut Vec<u32>,
    moves: &mut BTreeMap<Position, Vec<u32>>,
) {
    let touched = removed.iter().filter(|&&stones| stones > 0).count() as u32;
    if touched > rules.touch_most {
        return;
    }
    let Some(&size) = from.sizes().get(heap) else {
        let to =
            Position::new(from.sizes().iter().zip(&*removed).map(|(size, stones)| size - stones).collect());
        if touched >= rules.touch_least && !rules.forbidden.contains(to.total()) {
            moves.entry(to).or_insert_with(|| removed.clone());
        }
        return;
    };
    for stones in 0..=rules.take.most(size) {
        removed[heap] = stones;
        extend(rules, from, heap + 1, removed, moves);
    }
    removed[heap] = 0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Take;

    fn options(rules: &Ruleset, sizes: &[u32]) -> Vec<String> {
        legal_moves(rules, &Position::new(sizes.to_vec())).iter().map(|one| one.to.to_string()).collect()
    }

    #[test]
    fn take_one_moves_touch_the_right_number_of_heaps() {
        let moore = Ruleset::bounded_moore(3, 2).unwrap();
        assert_eq!(options(&moore, &[0, 1, 2]), ["(0,0,1)", "(0,0,2)", "(0,1,1)"]);
        let exact = Ruleset::exact_slow(3, 2).unwrap();
        assert_eq!(options(&exact, &[1, 1, 1]), ["(0,0,1)"]);
        assert_eq!(options(&exact, &[0, 0, 5]), [""; 0]);
    }

    #[test]
    fn any_amount_and_bounded_amounts_leave_every_smaller_heap() {
        let nim = Ruleset::forbidden_total_size(2).unwrap();
        assert_eq!(options(&nim, &[1, 3]), ["(0,1)", "(0,3)", "(1,1)", "(1,2)"]);
        let up_to_two = Ruleset::touching(2, 2, 2, Take::UpTo(2)).unwrap();
        assert_eq!(options(&up_to_two, &[1, 3]), ["(0,1)", "(0,2)"]);
    }

    #[test]
    fn no_move_arrives_at_a_forbidden_total() {
        let nim = Ruleset::forbidden_total_size(2).unwrap().with_forbidden("3k".parse().unwrap());
        assert_eq!(options(&nim, &[1, 3]), ["(0,1)", "(1,1)"]);
    }

    #[test]
    fn removed_stones_stand_in_the_order_of_the_printed_position() {
        let moves = legal_moves(&Ruleset::bounded_moore(2, 1).unwrap(), &Position::new(vec![2, 2]));
        assert_eq!(moves, [Move { to: Position::new(vec![1, 2]), removed: vec![0, 1] }]);
    }
}
