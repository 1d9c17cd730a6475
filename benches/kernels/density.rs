//! Density maps of verdicts in memory.

use std::ops::{ControlFlow, Range};

use criterion::{BenchmarkId, Criterion, Throughput};
use nimstrata::density::{Density, Verdicts, append_bytes};
use nimstrata::game::Ruleset;
use nimstrata::solver::{Observer, Quantity, Solver};
use nimstrata::space::{Coordinate, Region, Stratum};

use super::{THREADS, group, moore, options, region};

/// Verdicts in canonical order, a bitmap for each stratum.
struct Bitmaps(Vec<Vec<u8>>);

impl Bitmaps {
    fn solve(rules: &Ruleset, region: &Region) -> Self {
        let mut bitmaps = Self(Vec::new());
        let mut solver = Solver::new(rules, region, &options(Quantity::Verdict, 0)).expect("the region fits");
        solver.run(&mut [&mut bitmaps], &mut |_| ControlFlow::Continue(())).expect("nothing stops the run");
        bitmaps
    }
}

impl Observer for Bitmaps {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        self.0.push(stratum.canonical().view().bytes().to_vec());
    }
}

impl Verdicts for Bitmaps {
    fn append(&self, total: u32, places: Range<u64>, words: &mut Vec<u32>) {
        let bytes = places.start as usize / 8..places.end.div_ceil(8) as usize;
        append_bytes(&self.0[total as usize][bytes], words);
    }
}

pub fn maps(criterion: &mut Criterion) {
    let mut group = group(criterion, "density");
    for (heaps, max) in [(4, 100), (5, 60), (6, 30)] {
        let rules = moore(heaps, 2);
        let region = region(&rules, max);
        let bitmaps = Bitmaps::solve(&rules, &region);
        group.throughput(Throughput::Elements(region.positions()));
        for (axes, by) in [
            ([Coordinate::Heap(1), Coordinate::Heap(2)], "1,2"),
            ([Coordinate::Heap(2), Coordinate::Total], "2,total"),
        ] {
            for (threads, on) in THREADS {
                let options = options(Quantity::Verdict, threads);
                let id = BenchmarkId::new(on, format!("{heaps} heaps, cap {max}, by {by}"));
                group.bench_function(id, |bencher| {
                    bencher.iter(|| {
                        let watch = &mut |_| ControlFlow::Continue(());
                        Density::count(&bitmaps, &region, axes, &options, watch).expect("the counts fit")
                    });
                });
            }
        }
    }
    group.finish();
}
