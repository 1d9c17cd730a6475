//! Verdicts of take-one games on the CPU: one thread and all, several shapes of region.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use std::ops::ControlFlow;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nimstrata::game::Ruleset;
use nimstrata::solver::{BackendChoice, Options, Solver};
use nimstrata::space::Region;

fn verdicts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("verdicts");
    group.sample_size(10);
    for (heaps, width, max) in [(5, 2, 60), (5, 2, 100), (4, 2, 200), (7, 3, 16)] {
        let rules = Ruleset::bounded_moore(heaps, width).expect("the table names games that exist");
        let region = Region::new(heaps, max).expect("the table names regions that can be counted");
        group.throughput(Throughput::Elements(region.positions()));
        for threads in [1, 0] {
            let options = Options { backend: BackendChoice::Cpu, threads, ..Options::default() };
            let name = if threads == 1 { "one thread" } else { "all threads" };
            let id = BenchmarkId::new(name, format!("{heaps} heaps, width {width}, cap {max}"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    let mut solver = Solver::new(&rules, &region, &options).expect("the region fits");
                    solver.run(&mut [], &mut |_| ControlFlow::Continue(())).expect("nothing stops the run")
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, verdicts);
criterion_main!(benches);
