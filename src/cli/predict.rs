//! What a solve will take, before it starts: memory from the layout, time from solving a smaller region of the same game.
//!
//! Time is scaled by the lane groups or cells of both regions ([`work::amount`]), as each takes about as long at any cap
//! while positions get cheaper with longer rows. It is an estimate all the same: small regions are slowed by what every
//! stratum costs, and large ones where strata no longer fit a cache.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use nimstrata::Result;
use nimstrata::error::bytes;
use nimstrata::game::Ruleset;
use nimstrata::solver::{BackendChoice, Needs, Options, Quantity, Solver};
use nimstrata::space::Region;
use serde::Serialize;

use super::figures::{counted, grouped, rate, strata, whole_seconds};
use super::game::Game;
use super::output::Lines;
use super::solving::{Solving, flow};
use super::{interrupt, work};

/// Solves expected to take longer than this are announced.
const LONG: Duration = Duration::from_secs(10);
/// Regions with fewer positions never take that long.
const FEW_POSITIONS: u64 = 500_000_000;
/// A region is large enough to tell the rate when it takes this long to solve.
const CALIBRATION: Duration = Duration::from_millis(100);
/// Positions of the first region that is tried.
const FIRST_POSITIONS: u64 = 500_000;

/// What solving a region will take. The fields are the keys of the JSON object.
#[derive(Serialize)]
pub struct Prediction {
    game: &'static str,
    heaps: u32,
    width: Option<u32>,
    max: u32,
    quantity: &'static str,
    backend: &'static str,
    adapter: Option<String>,
    threads: usize,
    positions: u64,
    strata: u64,
    host_memory_bytes: u64,
    device_memory_bytes: Option<u64>,
    /// An estimate.
    predicted_seconds: f64,
    /// Positions of the region that the estimate is from, and its cap.
    calibrated_on_positions: u64,
    calibrated_on_max: u32,
    /// As many as the estimate comes to.
    positions_per_second: f64,
}

impl Prediction {
    /// Loads the region as a solve would, and solves a small one.
    pub fn new(game: &Game, region: &Region, solving: &Solving) -> Result<Self> {
        let options = solving.options();
        let solver = Solver::new(&game.rules, region, options)?;
        let (needs, adapter) = (solver.needs(), solver.adapter().map(str::to_owned));
        let (backend, threads) = (solver.backend(), solver.threads());
        drop(solver);
        let on_cpu = adapter.is_none();
        let choice = if on_cpu { BackendChoice::Cpu } else { BackendChoice::Gpu };
        let small = Options { source: None, backend: choice, adapter: adapter.clone(), ..options.clone() };
        let (calibrated, time) = calibrate(&game.rules, region, &small)?;
        let amount = |region| work::amount(&game.rules, region, options.quantity, on_cpu);
        let seconds = time.as_secs_f64() * amount(region)? / amount(&calibrated)?.max(1.0);
        let Needs { host, device } = needs;
        Ok(Self {
            game: game.name.name(),
            heaps: region.heaps(),
            width: game.width,
            max: region.max(),
            quantity: match options.quantity {
                Quantity::Verdict => "verdict",
                Quantity::Remoteness => "remoteness",
            },
            backend,
            adapter,
            threads,
            positions: region.positions(),
            strata: region.strata().end.into(),
            host_memory_bytes: host,
            device_memory_bytes: device,
            predicted_seconds: seconds,
            calibrated_on_positions: calibrated.positions(),
            calibrated_on_max: calibrated.max(),
            positions_per_second: region.positions() as f64 / seconds.max(1e-9),
        })
    }

    /// Says on a terminal what a long solve will take.
    pub fn announce(game: &Game, region: &Region, solving: &Solving) -> Result<()> {
        if solving.quiet() || !io::stderr().is_terminal() || region.positions() < FEW_POSITIONS {
            return Ok(());
        }
        let prediction = Self::new(game, region, solving)?;
        if prediction.time() > LONG {
            // Where standard error is closed there is nobody to tell.
            let _ = writeln!(io::stderr(), "{}", prediction.line());
        }
        Ok(())
    }

    fn time(&self) -> Duration {
        Duration::try_from_secs_f64(self.predicted_seconds).unwrap_or(Duration::MAX)
    }

    fn memory(&self) -> String {
        let host = bytes(self.host_memory_bytes.into());
        let device =
            self.device_memory_bytes.map(|device| format!(" and {} of the GPU's", bytes(device.into())));
        format!("{host}{}", device.unwrap_or_default())
    }

    /// All of it in a line.
    fn line(&self) -> String {
        let (positions, strata) = (grouped(self.positions), strata(self.strata));
        let time = whole_seconds(self.time());
        format!("{positions} positions in {strata}, {} of memory, about {time} (an estimate)", self.memory())
    }
}

/// Solves regions of growing caps until one takes long enough to tell the rate, or is the whole: the better of two runs.
fn calibrate(rules: &Ruleset, region: &Region, options: &Options) -> Result<(Region, Duration)> {
    let mut positions = FIRST_POSITIONS;
    loop {
        let small = part(region, positions)?;
        // With memory that is new, as a solve has it.
        let solve = || -> Result<_> {
            let mut solver = Solver::new(rules, &small, options)?;
            Ok(solver.run(&mut [], &mut |_| flow(!interrupt::asked()))?.time)
        };
        let mut time = solve()?;
        if time >= CALIBRATION {
            // Something else may have slowed it.
            time = time.min(solve()?);
        }
        if time >= CALIBRATION || small.positions() >= region.positions() {
            return Ok((small, time));
        }
        // No more than sixteen times as many at once: small regions are slow, and say little of how slow.
        let wanted = (CALIBRATION.as_secs_f64() / time.as_secs_f64().max(1e-9)).clamp(1.5, 16.0);
        positions = (positions as f64 * wanted * 1.2) as u64;
    }
}

/// The part of a region with the greatest cap that leaves at most so many positions, and the total bounded in proportion.
fn part(region: &Region, positions: u64) -> Result<Region> {
    let (max, last) = (u64::from(region.max()), u64::from(region.strata().end) - 1);
    let with = |cap: u64| -> Result<Region> {
        let total = (last * cap).div_ceil(max.max(1));
        Ok(Region::new(region.heaps(), cap)?.up_to_total(total))
    };
    let (mut low, mut high) = (0, max + 1);
    while low + 1 < high {
        let middle = u64::midpoint(low, high);
        let fits = with(middle).is_ok_and(|region| region.positions() <= positions);
        (low, high) = if fits { (middle, high) } else { (low, middle) };
    }
    with(low)
}

impl fmt::Display for Prediction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines::default();
        lines.add("positions", format!("{} in {}", grouped(self.positions), strata(self.strata)));
        lines.add("memory", self.memory());
        let on = self.adapter.clone().unwrap_or_else(|| counted(self.threads as u64, "CPU thread"));
        lines.add("solved on", on);
        let (time, rate) = (whole_seconds(self.time()), rate(self.positions_per_second));
        let cap = grouped(self.calibrated_on_max.into());
        lines.add("time", format!("about {time}, an estimate from every heap ≤ {cap} ({rate})"));
        lines.fmt(out)
    }
}
