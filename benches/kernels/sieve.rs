//! Verdicts of games that take any number of stones from one heap.

use criterion::Criterion;
use nimstrata::solver::Quantity;

use super::{fts, group, solves};

pub fn sieve(criterion: &mut Criterion) {
    let mut group = group(criterion, "sieve");
    for (name, heaps, max) in [
        ("2 heaps, 5k", 2, 4000),
        ("3 heaps, 5k", 3, 250),
        ("3 heaps, 5k", 3, 1000),
        ("4 heaps, 5k", 4, 100),
        ("5 heaps, 5k", 5, 40),
    ] {
        solves(&mut group, (name, fts(heaps), max), Quantity::Verdict);
    }
    group.finish();
}
