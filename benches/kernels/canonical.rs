//! Putting strata in canonical order, reading them back, digesting them, and writing whole stores.

use std::ops::ControlFlow;

use criterion::{BenchmarkId, Criterion, Throughput};
use nimstrata::cpu;
use nimstrata::game::Ruleset;
use nimstrata::observe::stratum_digest;
use nimstrata::solver::{Observer, Quantity, Solver};
use nimstrata::space::{CanonicalBuf, Cell, Reader, Stratum};
use nimstrata::store::{Subject, Writer};

use super::{THREADS, fts, group, moore, options, region};

/// Keeps one stratum in canonical order.
struct Keep {
    total: u32,
    kept: Option<CanonicalBuf>,
}

impl Observer for Keep {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        if stratum.total == self.total {
            self.kept = Some(stratum.canonical());
        }
    }
}

/// The largest stratum of a region.
pub fn order(criterion: &mut Criterion) {
    let mut group = group(criterion, "order");
    let (verdict, remoteness) = (Quantity::Verdict, Quantity::Remoteness);
    for (name, rules, max, quantity) in [
        ("verdicts, 4 heaps, cap 300", moore(4, 2), 300, verdict),
        ("verdicts, 5 heaps, cap 150", moore(5, 2), 150, verdict),
        ("verdicts, 7 heaps, cap 30", moore(7, 2), 30, verdict),
        ("remoteness, 4 heaps, cap 60", moore(4, 3), 60, remoteness),
    ] {
        let region = region(&rules, max);
        let total = region.strata().end / 2;
        let mut keep = Keep { total, kept: None };
        let mut solver = Solver::new(&rules, &region, &options(quantity, 0)).expect("the region fits");
        solver.run(&mut [&mut keep], &mut |_| ControlFlow::Continue(())).expect("nothing stops the run");
        let kept = keep.kept.expect("the solver shows every stratum");
        let cell = if quantity == verdict { Cell::Verdicts } else { Cell::Remoteness8 };
        let mut reader = Reader::new(&rules, &region, cell).expect("the region fits");
        group.throughput(Throughput::Elements(region.stratum_size(total)));
        group.bench_function(BenchmarkId::new("reading back", name), |bencher| {
            bencher.iter(|| reader.read(total, kept.view()));
        });
        group.bench_function(BenchmarkId::new("digest", name), |bencher| {
            bencher.iter(|| stratum_digest(kept.view()));
        });
        for (threads, on) in THREADS {
            let pool = cpu::threads(threads).expect("the system starts threads");
            let stratum = reader.stratum(total);
            group.bench_function(BenchmarkId::new(format!("putting in order, {on}"), name), |bencher| {
                bencher.iter(|| pool.install(|| stratum.canonical()));
            });
        }
    }
    group.finish();
}

/// Solves into a store in the folder for temporary files, until all of it is on the disk.
pub fn stores(criterion: &mut Criterion) {
    let mut group = group(criterion, "store");
    for (name, rules, max, quantity) in [
        ("verdicts, 5 heaps, cap 80", moore(5, 2), 80, Quantity::Verdict),
        ("verdicts, fts, 3 heaps, 5k, cap 500", fts(3), 500, Quantity::Verdict),
        ("remoteness, 4 heaps, cap 60", moore(4, 3), 60, Quantity::Remoteness),
    ] {
        group.throughput(Throughput::Elements(region(&rules, max).positions()));
        group.bench_function(BenchmarkId::new("all threads", name), |bencher| {
            bencher.iter(|| store(&rules, max, quantity));
        });
    }
    group.finish();
}

fn store(rules: &Ruleset, max: u64, quantity: Quantity) {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let region = region(rules, max);
    let mut solver = Solver::new(rules, &region, &options(quantity, 0)).expect("the region fits");
    let subject = Subject { rules: rules.clone(), region, quantity };
    let watch = &mut |_| ControlFlow::Continue(());
    let mut writer = Writer::open(&folder.path().join("store"), subject, watch).expect("there is room");
    let summary =
        solver.run(&mut [&mut writer], &mut |_| ControlFlow::Continue(())).expect("nothing stops the run");
    writer.finish(&summary).expect("there is room");
}
