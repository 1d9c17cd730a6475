//! From which size on a GPU is faster than the CPU: the same game with growing caps, on both.

use std::time::Duration;

use nimstrata::Result;
use nimstrata::gpu::AdapterSummary;
use nimstrata::solver::Options;
use serde::Serialize;

use super::case::Case;
use super::measure::{self, Timed};
use crate::cli::figures::grouped;

/// Regions with fewer positions are not looked at: either side takes less than a millisecond.
const LEAST_POSITIONS: u64 = 20_000;
/// Each cap solved has so many times the positions of the one before.
const GROWTH: u64 = 4;
/// No larger cap is looked at once both sides take longer than this together.
const LONG: Duration = Duration::from_millis(800);
/// Runs on either side, of which the best counts.
const RUNS: u32 = 2;

/// The least of the caps that were solved from which on the GPU won.
#[derive(Serialize)]
pub struct Crossover {
    game: String,
    adapter: String,
    /// CPU threads that it was compared with.
    threads: usize,
    /// The cap; `None` where the CPU won at the largest that was solved.
    wins_from_max: Option<u32>,
    wins_from_positions: Option<u64>,
    /// All caps that were solved.
    sizes: Vec<Size>,
}

/// Both times at one cap.
#[derive(Serialize)]
struct Size {
    max: u32,
    positions: u64,
    cpu_seconds: f64,
    gpu_seconds: f64,
}

impl Crossover {
    /// Solves growing caps up to that of the case.
    pub fn find(case: &Case, adapter: &AdapterSummary, options: &Options) -> Result<Self> {
        let on_cpu = measure::on_cpu(options, options.threads());
        let on_gpu = measure::on_gpu(options, adapter);
        let mut sizes: Vec<Size> = Vec::new();
        let mut most = LEAST_POSITIONS;
        loop {
            let smaller = case.largest(|case| case.region.positions() <= most)?;
            most = most.saturating_mul(GROWTH);
            let max = smaller.region.max();
            if sizes.last().is_some_and(|size| size.max == max) {
                continue;
            }
            let [cpu, gpu] = [&on_cpu, &on_gpu].map(|options| measure::kernel(&smaller, options, RUNS));
            let seconds = |timed: &Timed| timed.time.as_secs_f64();
            let (cpu, gpu) = (cpu?, gpu?);
            sizes.push(Size {
                max,
                positions: cpu.positions,
                cpu_seconds: seconds(&cpu),
                gpu_seconds: seconds(&gpu),
            });
            if max == case.region.max() || cpu.time + gpu.time > LONG {
                break;
            }
        }
        let lost = sizes.iter().rposition(|size| size.cpu_seconds <= size.gpu_seconds);
        let first = sizes.get(lost.map_or(0, |lost| lost + 1));
        Ok(Self {
            game: case.name(),
            adapter: adapter.name.clone(),
            threads: options.threads(),
            wins_from_max: first.map(|size| size.max),
            wins_from_positions: first.map(|size| size.positions),
            sizes,
        })
    }

    /// What was found, in a sentence.
    pub fn sentence(&self) -> String {
        let Self { game, adapter, threads, .. } = self;
        let last = self.sizes.last().map_or(0, |size| size.max);
        match (self.wins_from_max, self.wins_from_positions) {
            (Some(max), Some(positions)) => format!(
                "{game}: {adapter} is faster than {threads} CPU threads from --max {max} on ({} positions); caps solved: {}",
                grouped(positions),
                self.caps()
            ),
            _ => format!(
                "{game}: {adapter} is slower than {threads} CPU threads up to --max {last}; caps solved: {}",
                self.caps()
            ),
        }
    }

    fn caps(&self) -> String {
        self.sizes.iter().map(|size| size.max.to_string()).collect::<Vec<_>>().join(", ")
    }
}
