//! What every solved region has to say: the game, the region, the counts, and what they were solved on.

use std::time::Duration;

use nimstrata::error::bytes;
use nimstrata::solver::Quantity;
use nimstrata::space::Region;
use serde::Serialize;

use super::figures::{counted, grouped, rate, share, strata, time};
use super::game::Game;
use super::output::Lines;
use super::solving::Solved;

/// What a report is about. The fields are the first keys of its JSON object.
#[derive(Serialize)]
pub struct About {
    game: &'static str,
    pub(super) heaps: u32,
    width: Option<u32>,
    max: u32,
    /// The greatest total, where the region is bounded by one.
    up_to_total: Option<u32>,
    forbid: Option<String>,
    misere: bool,
    pub(super) quantity: &'static str,
    #[serde(skip)]
    words: String,
}

impl About {
    /// A region of a game, and what is known of its positions.
    pub fn new(game: &Game, region: &Region, quantity: Quantity) -> Self {
        Self {
            game: game.name.name(),
            heaps: region.heaps(),
            width: game.width,
            max: region.max(),
            up_to_total: region.bound(),
            forbid: game.forbid(),
            misere: game.rules.misere,
            quantity: quantity.name(),
            words: game.words(),
        }
    }

    /// The lines that say so.
    pub fn add(&self, lines: &mut Lines) {
        let bound =
            self.up_to_total.map_or(String::new(), |total| format!(", total ≤ {}", grouped(total.into())));
        lines.add("game", &*self.words);
        lines.add("region", format!("every heap ≤ {}{bound}", grouped(self.max.into())));
    }
}

/// A solved region. The fields are the keys of the JSON object.
#[derive(Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub(super) about: About,
    pub(super) positions: u64,
    pub(super) p_positions: u64,
    n_positions: u64,
    p_forbidden: u64,
    strata: u64,
    backend: &'static str,
    adapter: Option<String>,
    threads: usize,
    solve_seconds: f64,
    positions_per_second: f64,
    peak_memory_bytes: Option<u64>,
    #[serde(skip)]
    software: bool,
    #[serde(skip)]
    source: Option<String>,
}

impl Report {
    /// The report on a region of a game.
    pub fn new(game: &Game, region: &Region, solved: Solved) -> Self {
        let summary = solved.summary;
        // The clock may not have moved on a tiny region.
        let seconds = summary.time.as_secs_f64().max(1e-9);
        Self {
            about: About::new(game, region, solved.quantity),
            positions: summary.positions,
            p_positions: summary.p_positions,
            n_positions: summary.positions - summary.p_positions,
            p_forbidden: summary.p_forbidden,
            strata: summary.strata,
            backend: solved.backend,
            adapter: solved.adapter,
            threads: solved.threads,
            solve_seconds: seconds,
            positions_per_second: (summary.positions - solved.before.positions) as f64 / seconds,
            peak_memory_bytes: peak_memory(),
            software: solved.software,
            source: solved.source,
        }
    }

    /// The lines that say what was solved.
    pub fn add_region(&self, lines: &mut Lines) {
        self.about.add(lines);
    }

    /// The lines that say how many positions of which kind there are.
    pub fn add_counts(&self, lines: &mut Lines) {
        let of_all = |count| format!("{} ({})", grouped(count), share(count, self.positions));
        lines.add("positions", format!("{} in {}", grouped(self.positions), strata(self.strata)));
        lines.add("P-positions", of_all(self.p_positions));
        if let Some(forbid) = &self.about.forbid {
            let others = self.p_positions - self.p_forbidden;
            lines.add(
                "  P₀",
                format!("{} at totals {forbid}, where no move arrives", of_all(self.p_forbidden)),
            );
            lines.add("  P₁", format!("{} at all other totals", of_all(others)));
        }
    }

    /// The lines that say what the region was solved on and at what cost.
    pub fn add_cost(&self, lines: &mut Lines) {
        let threads = counted(self.threads as u64, "CPU thread");
        let (label, place) = match &self.source {
            Some(store) => ("read from", Some(store)),
            None => ("solved on", self.adapter.as_ref()),
        };
        lines.add(
            label,
            match place {
                Some(name) if self.software => {
                    format!("{name}, a software adapter: this CPU posing as a GPU")
                }
                Some(name) => format!("{name}, with {threads}"),
                None => threads,
            },
        );
        let seconds = Duration::from_secs_f64(self.solve_seconds);
        // A run that finds all solved has no rate.
        let rate = (self.positions_per_second > 0.0).then(|| rate(self.positions_per_second));
        lines.add("time", rate.map_or_else(|| time(seconds), |rate| format!("{} ({rate})", time(seconds))));
        if let Some(peak) = self.peak_memory_bytes {
            lines.add("peak memory", bytes(peak.into()));
        }
    }
}

/// The most memory that this process has held, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?;
    Some(kibibytes.parse::<u64>().ok()? * 1024)
}
