//! Remoteness of take-one games, in keys of eight bits and of sixteen.

use criterion::Criterion;
use nimstrata::solver::Quantity;

use super::{exact_slow, group, moore, solves};

pub fn remoteness(criterion: &mut Criterion) {
    let mut group = group(criterion, "remoteness");
    for case in [
        ("3 heaps, exactly 2", exact_slow(3, 2), 100),
        ("3 heaps, exactly 2", exact_slow(3, 2), 400),
        ("4 heaps, width 3", moore(4, 3), 40),
        ("4 heaps, width 3", moore(4, 3), 100),
        ("5 heaps, width 2", moore(5, 2), 40),
    ] {
        solves(&mut group, case, Quantity::Remoteness);
    }
    group.finish();
}
