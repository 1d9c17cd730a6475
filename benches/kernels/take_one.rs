//! Verdicts of take-one games: one block (three heaps), short rows, rows of several words, and many small blocks,
//! of which a move reaches few.

use criterion::Criterion;
use nimstrata::solver::Quantity;

use super::{exact_slow, group, moore, solves};

pub fn verdicts(criterion: &mut Criterion) {
    let mut group = group(criterion, "take-one");
    for case in [
        ("3 heaps, width 2", moore(3, 2), 1000),
        ("4 heaps, width 2", moore(4, 2), 200),
        ("5 heaps, width 2", moore(5, 2), 60),
        ("5 heaps, width 2", moore(5, 2), 100),
        ("6 heaps, exactly 3", exact_slow(6, 3), 40),
        ("7 heaps, width 3", moore(7, 3), 24),
        ("7 heaps, width 3, misère", moore(7, 3).with_misere(true), 24),
        ("11 heaps, width 1", moore(11, 1), 10),
        ("14 heaps, width 2", moore(14, 2), 6),
    ] {
        solves(&mut group, case, Quantity::Verdict);
    }
    group.finish();
}
