//! The kernels on the CPU, each on several sizes: `cargo bench --bench kernels -- NAME` runs those with NAME in their names.
//! `ratios` compares them with the baseline; the kernels on GPUs are compared by `nimstrata bench`.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

mod baseline;
mod canonical;
mod completion;
mod density;
mod remoteness;
mod sieve;
mod take_one;

use std::ops::ControlFlow;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nimstrata::game::Ruleset;
use nimstrata::solver::{BackendChoice, Options, Quantity, Solver, Summary};
use nimstrata::space::Region;

/// Threads to measure, and what they are called: one and all.
const THREADS: [(usize, &str); 2] = [(1, "one thread"), (0, "all threads")];

/// A group of benches of a kernel. Solves are long and alike, so few of them tell enough.
fn group<'a>(criterion: &'a mut Criterion, kernel: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(kernel);
    group.sample_size(10).nresamples(10_000);
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(600));
    group
}

fn moore(heaps: u32, width: u32) -> Ruleset {
    Ruleset::bounded_moore(heaps, width).expect("the benches name games that exist")
}

fn exact_slow(heaps: u32, width: u32) -> Ruleset {
    Ruleset::exact_slow(heaps, width).expect("the benches name games that exist")
}

/// Moves of any size, with the multiples of five forbidden.
fn fts(heaps: u32) -> Ruleset {
    let rules = Ruleset::forbidden_total_size(heaps).expect("the benches name games that exist");
    rules.with_forbidden("5k".parse().expect("a set"))
}

fn region(rules: &Ruleset, max: u64) -> Region {
    Region::new(rules.heaps, max).expect("the benches name regions that can be counted")
}

/// What to find out, on so many CPU threads.
fn options(quantity: Quantity, threads: usize) -> Options {
    Options { quantity, backend: BackendChoice::Cpu, threads, ..Options::default() }
}

/// Solves a region without observers, on one thread and on all. Every run starts over with the same memory.
fn solves(
    group: &mut BenchmarkGroup<'_, WallTime>,
    (name, rules, max): (&str, Ruleset, u64),
    quantity: Quantity,
) {
    let region = region(&rules, max);
    group.throughput(Throughput::Elements(region.positions()));
    for (threads, on) in THREADS {
        let mut solver = Solver::new(&rules, &region, &options(quantity, threads)).expect("the region fits");
        let start = solver.past().expect("the CPU does not fail");
        group.bench_function(BenchmarkId::new(on, format!("{name}, cap {max}")), |bencher| {
            bencher.iter(|| {
                solver.resume(&start, Summary::default()).expect("the CPU does not fail");
                solver.run(&mut [], &mut |_| ControlFlow::Continue(())).expect("nothing stops the run")
            });
        });
    }
}

criterion_group!(
    benches,
    take_one::verdicts,
    remoteness::remoteness,
    sieve::sieve,
    completion::tables,
    density::maps,
    canonical::order,
    canonical::stores,
    baseline::verdicts,
    baseline::remoteness,
);
criterion_main!(benches);
