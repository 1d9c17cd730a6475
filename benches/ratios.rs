//! The CPU kernels, one thread, against the baseline: positions a second of both, and the ratio, in the same run.
//!
//! The baseline solves a smaller cap, as its rate hardly depends on the cap of a take-one game. Where it scans all moves,
//! its work for a position grows as the cap does, and its rate is scaled down accordingly.
#![allow(clippy::print_stdout, reason = "the figures are the output")]

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use nimstrata::baseline::{self, Ranking};
use nimstrata::game::Ruleset;
use nimstrata::solver::{BackendChoice, Options, Quantity, Solver};
use nimstrata::space::Region;

/// Positions a second, best of some runs.
fn rate(positions: u64, mut run: impl FnMut() -> Duration) -> f64 {
    let best = (0..3).map(|_| run()).min().expect("there are runs");
    positions as f64 / best.as_secs_f64()
}

fn kernel(rules: &Ruleset, max: u64, quantity: Quantity) -> f64 {
    let region = Region::new(rules.heaps, max).expect("the table names regions that can be counted");
    let options = Options { quantity, backend: BackendChoice::Cpu, threads: 1, ..Options::default() };
    rate(region.positions(), || {
        let mut solver = Solver::new(rules, &region, &options).expect("the region fits");
        solver.run(&mut [], &mut |_| ControlFlow::Continue(())).expect("nothing stops the run").time
    })
}

fn one_at_a_time(rules: &Ruleset, max: u64, quantity: Quantity, ranking: Ranking) -> f64 {
    let region = Region::new(rules.heaps, max).expect("the table names regions that can be counted");
    rate(region.positions(), || {
        let start = Instant::now();
        let solved = match quantity {
            Quantity::Verdict => baseline::solve_with(rules, &region, ranking),
            Quantity::Remoteness => baseline::solve_remoteness_with(rules, &region, ranking),
        };
        std::hint::black_box(solved.expect("the baseline covers the rules").p_positions);
        start.elapsed()
    })
}

fn main() {
    let moore =
        |heaps, width| Ruleset::bounded_moore(heaps, width).expect("the table names games that exist");
    let fts = Ruleset::forbidden_total_size(3)
        .expect("the game exists")
        .with_forbidden("5k".parse().expect("a set"));
    let (verdict, remoteness) = (Quantity::Verdict, Quantity::Remoteness);
    println!("{:<42} {:>10} {:>10} {:>8} {:>12}", "", "kernel", "baseline", "ratio", "differences");
    for (name, rules, max, small, quantity) in [
        ("verdict, 5 heaps, width 2, cap 100", moore(5, 2), 100, 60, verdict),
        ("verdict, 5 heaps, width 2, cap 200", moore(5, 2), 200, 60, verdict),
        ("verdict, 4 heaps, width 2, cap 400", moore(4, 2), 400, 120, verdict),
        ("verdict, 7 heaps, width 3, cap 40", moore(7, 3), 40, 24, verdict),
        ("remoteness, 4 heaps, width 3, cap 200", moore(4, 3), 200, 100, remoteness),
        ("verdict, fts, 3 heaps, 5k, cap 1000", fts, 1000, 250, verdict),
    ] {
        let scale = if rules.touch_most == 1 { small as f64 / max as f64 } else { 1.0 };
        let kernel = kernel(&rules, max, quantity);
        let [sums, differences] = [Ranking::Sums, Ranking::Differences]
            .map(|ranking| scale * one_at_a_time(&rules, small, quantity, ranking));
        println!("{name:<42} {kernel:>10.2e} {sums:>10.2e} {:>8.0} {differences:>12.2e}", kernel / sums);
    }
}
