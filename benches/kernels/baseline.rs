//! One position at a time, options ranked by sums and by differences.

use criterion::{BenchmarkId, Criterion, Throughput};
use nimstrata::baseline::{self, Ranking};

use super::{fts, group, moore, region};

/// Ways to rank the options of take-one games.
const RANKINGS: [(Ranking, &str); 2] = [(Ranking::Sums, "sums"), (Ranking::Differences, "differences")];

pub fn verdicts(criterion: &mut Criterion) {
    let mut group = group(criterion, "baseline");
    for (heaps, width, max) in [(4, 2, 40), (5, 2, 24), (7, 3, 9)] {
        let rules = moore(heaps, width);
        let region = region(&rules, max);
        group.throughput(Throughput::Elements(region.positions()));
        for (ranking, by) in RANKINGS {
            let id = BenchmarkId::new(by, format!("{heaps} heaps, width {width}, cap {max}"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    baseline::solve_with(&rules, &region, ranking).expect("the rules are covered").p_positions
                });
            });
        }
    }
    let rules = fts(3);
    let region = region(&rules, 60);
    group.throughput(Throughput::Elements(region.positions()));
    group.bench_function(BenchmarkId::new("along heaps", "fts, 3 heaps, 5k, cap 60"), |bencher| {
        bencher.iter(|| baseline::solve(&rules, &region).expect("the rules are covered").p_positions);
    });
    group.finish();
}

pub fn remoteness(criterion: &mut Criterion) {
    let mut group = group(criterion, "baseline remoteness");
    let rules = moore(4, 3);
    let region = region(&rules, 30);
    group.throughput(Throughput::Elements(region.positions()));
    for (ranking, by) in RANKINGS {
        group.bench_function(BenchmarkId::new(by, "4 heaps, width 3, cap 30"), |bencher| {
            bencher.iter(|| {
                let solved = baseline::solve_remoteness_with(&rules, &region, ranking);
                solved.expect("the rules are covered").p_positions
            });
        });
    }
    group.finish();
}
