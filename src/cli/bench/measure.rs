//! Measurements: best of some runs, of the baseline, of a kernel on a backend, and of copying memory; and the clock.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use nimstrata::baseline::{self, Ranking};
use nimstrata::gpu::{self, AdapterSummary};
use nimstrata::solver::{BackendChoice, Options, Quantity, Solver, Summary};
use nimstrata::{Error, Result};

use super::case::Case;
use crate::cli::interrupt;

/// Bytes copied by the threads together: more than caches hold.
const COPIED: usize = 128 << 20;
/// Copies, of which the best counts.
const COPIES: u32 = 5;

/// Steps of a chain that tells the clock: each two operations of one cycle, so that it takes about a millisecond.
const CHAIN: u32 = 1 << 21;
/// Chains, of which the fastest counts: one is enough that nothing has interrupted.
const CHAINS: u32 = 40;

/// What some runs have in common, and the shortest of their times.
#[derive(Clone, Copy)]
pub struct Timed {
    /// Positions solved in each.
    pub positions: u64,
    /// Those of them that are P-positions.
    pub p_positions: u64,
    /// The time of the best run.
    pub time: Duration,
    /// How much of it the device worked, by its own clock, where there is one.
    pub kernel: Option<Duration>,
}

impl Timed {
    /// Positions solved a second.
    pub fn rate(&self) -> f64 {
        self.positions as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Stops a command that the user wants no more of.
pub fn go_on() -> Result<()> {
    if interrupt::asked() {
        Err(Error::Stopped { when: "between two measurements".to_owned() })
    } else {
        Ok(())
    }
}

fn best(runs: u32, mut run: impl FnMut() -> Result<Timed>) -> Result<Timed> {
    let mut best = run()?;
    for _ in 1..runs {
        go_on()?;
        let again = run()?;
        if again.time < best.time {
            best = again;
        }
    }
    Ok(best)
}

/// Solves a case one position at a time.
pub fn baseline(case: &Case, ranking: Ranking, runs: u32) -> Result<Timed> {
    best(runs, || {
        let start = Instant::now();
        let solved = match case.quantity {
            Quantity::Verdict => baseline::solve_with(&case.rules, &case.region, ranking),
            Quantity::Remoteness => baseline::solve_remoteness_with(&case.rules, &case.region, ranking),
        }?;
        let time = start.elapsed();
        Ok(Timed { positions: solved.positions, p_positions: solved.p_positions, time, kernel: None })
    })
}

/// Solves a case with its kernel, on the backend of the options. Every run starts over with the same memory.
pub fn kernel(case: &Case, options: &Options, runs: u32) -> Result<Timed> {
    let options = Options { quantity: case.quantity, ..options.clone() };
    let mut solver = Solver::new(&case.rules, &case.region, &options)?;
    solver.time_kernels()?;
    let start = solver.past()?;
    best(runs, || {
        solver.resume(&start, Summary::default())?;
        let mut watch = |_: &_| {
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let Summary { positions, p_positions, time, .. } = match solver.run(&mut [], &mut watch) {
            Err(Error::Interrupted { .. }) => return go_on().map(|()| unreachable!("the run was stopped")),
            solved => solved?,
        };
        Ok(Timed { positions, p_positions, time, kernel: solver.kernel_time() })
    })
}

/// The options for one thread or all that are allowed.
pub fn on_cpu(options: &Options, threads: usize) -> Options {
    Options { backend: BackendChoice::Cpu, adapter: None, threads, ..options.clone() }
}

/// The options for an adapter.
pub fn on_gpu(options: &Options, adapter: &AdapterSummary) -> Options {
    Options { backend: BackendChoice::Gpu, adapter: Some(adapter.name.clone()), ..options.clone() }
}

/// Bytes that these threads read and write a second while they copy memory.
pub fn copy_bandwidth(threads: usize) -> f64 {
    let part = COPIED / threads;
    let from = vec![1u8; COPIED];
    let mut to = vec![0u8; COPIED];
    let mut best = Duration::MAX;
    for _ in 0..COPIES {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for (to, from) in to.chunks_mut(part).zip(from.chunks(part)) {
                scope.spawn(|| to.copy_from_slice(from));
            }
        });
        best = best.min(start.elapsed());
        std::hint::black_box(&to);
    }
    2.0 * COPIED as f64 / best.as_secs_f64()
}

/// The same for an adapter and its own memory.
pub fn device_copy_bandwidth(adapter: &AdapterSummary) -> Result<f64> {
    gpu::Context::open(gpu::Choice::Named(&adapter.name))?.copy_bandwidth()
}

/// Cycles a second of one core that computes and does nothing else: by a chain of additions and exclusive ors, each of which
/// needs the result of the one before and takes one cycle.
pub fn clock() -> f64 {
    // Numbers that the compiler does not know, and two operations in turn: there is no shorter way to the result.
    let (plus, with) = std::hint::black_box((0x9e37_79b9_7f4a_7c15_u64, 0x5851_f42d_4c95_7f2d_u64));
    let mut best = Duration::MAX;
    for _ in 0..CHAINS {
        let start = Instant::now();
        let end = (0..CHAIN).fold(plus, |x, _| (x ^ with).wrapping_add(plus));
        std::hint::black_box(end);
        best = best.min(start.elapsed());
    }
    2.0 * f64::from(CHAIN) / best.as_secs_f64()
}
