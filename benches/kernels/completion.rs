//! Tables of completions of two heaps, whose elements are pairs of heaps.

use criterion::{BenchmarkId, Criterion, Throughput};
use nimstrata::completion::Table;
use nimstrata::cpu;

use super::{THREADS, fts, group};

pub fn tables(criterion: &mut Criterion) {
    let mut group = group(criterion, "completion");
    let rules = fts(3);
    for max in [1_000, 4_000, 10_000] {
        group.throughput(Throughput::Elements(Table::pairs(max)));
        for (threads, on) in THREADS {
            let pool = cpu::threads(threads).expect("the system starts threads");
            group.bench_function(BenchmarkId::new(on, format!("5k, cap {max}")), |bencher| {
                bencher.iter(|| pool.install(|| Table::new(&rules, max).expect("the table fits")));
            });
        }
    }
    group.finish();
}
