//! What was measured, as text, as Markdown and as JSON.

use std::fmt;
use std::time::Duration;

use nimstrata::gpu::AdapterSummary;
use nimstrata::solver::Quantity;
use serde::{Serialize, Serializer};

use super::case::Case;
use super::crossover::Crossover;
use super::measure::Timed;
use super::traffic::Traffic;
use crate::cli::figures::{counted, grouped, scientific, time};

/// Columns of the table, behind the game.
const COLUMNS: [&str; 10] = [
    "solved by",
    "cap",
    "positions/s",
    "ratio",
    "time",
    "kernel",
    "bytes/position",
    "of a copy",
    "words/cycle",
    "of the ports",
];
/// In text, columns that go side by side: how fast, and for kernels, by what that is bounded.
const SPEED: &[usize] = &[0, 1, 2, 3, 4, 5];
const BOUNDS: &[usize] = &[0, 6, 7, 8, 9];

/// Words that a core is assumed to load in a cycle: two times 32 bytes.
const LOADED_WORDS: f64 = 16.0;

/// Who solves.
#[derive(Clone, PartialEq, Eq)]
pub enum Solver {
    /// One position at a time, options ranked by sums.
    Baseline,
    /// One position at a time, options ranked by differences.
    Differences,
    /// The CPU's kernel.
    Cpu {
        /// On so many threads.
        threads: usize,
    },
    /// An adapter's.
    Gpu {
        /// Its name.
        adapter: String,
        /// Whether it is a CPU posing as a GPU.
        software: bool,
    },
}

impl Solver {
    /// An adapter.
    pub fn gpu(adapter: &AdapterSummary) -> Self {
        Self::Gpu { adapter: adapter.name.clone(), software: adapter.software }
    }

    /// Its name in a file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Differences => "baseline-differences",
            Self::Cpu { .. } => "cpu",
            Self::Gpu { .. } => "gpu",
        }
    }
}

impl fmt::Display for Solver {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Baseline => out.write_str("baseline"),
            Self::Differences => out.write_str("baseline, differences"),
            Self::Cpu { threads } => write!(out, "CPU, {}", counted(*threads as u64, "thread")),
            Self::Gpu { adapter, software: false } => out.write_str(adapter),
            Self::Gpu { adapter, software: true } => write!(out, "{adapter} (software)"),
        }
    }
}

impl Serialize for Solver {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Named<'a> {
            solver: &'static str,
            threads: Option<usize>,
            adapter: Option<&'a str>,
            software: bool,
        }
        let (threads, adapter, software) = match self {
            Self::Baseline | Self::Differences => (Some(1), None, false),
            Self::Cpu { threads } => (Some(*threads), None, false),
            Self::Gpu { adapter, software } => (None, Some(&**adapter), *software),
        };
        Named { solver: self.name(), threads, adapter, software }.serialize(serializer)
    }
}

/// One measurement.
#[derive(Serialize)]
pub struct Row {
    game: String,
    quantity: &'static str,
    #[serde(flatten)]
    solver: Solver,
    /// The cap that it ran on.
    max: u32,
    positions: u64,
    p_positions: u64,
    /// The time of the best run.
    seconds: f64,
    /// How much of it the device worked, by its own clock.
    kernel_seconds: Option<f64>,
    positions_per_second: f64,
    /// By what the baseline's rate is multiplied before it is compared, as it ran on a smaller cap.
    scaled_by: f64,
    /// Positions a second, as a multiple of the baseline's.
    ratio: f64,
    bytes_per_position: Option<f64>,
    copy_share: Option<f64>,
    /// Words with positions solved in a cycle of one thread.
    words_per_cycle: Option<f64>,
    /// The same as a share of what could be loaded.
    port_share: Option<f64>,
}

impl Row {
    /// A row on how a case was solved.
    pub fn new(case: &Case, solver: Solver, timed: &Timed, scaled_by: f64, ratio: f64) -> Self {
        Self {
            game: case.name(),
            quantity: match case.quantity {
                Quantity::Verdict => "verdict",
                Quantity::Remoteness => "remoteness",
            },
            solver,
            max: case.region.max(),
            positions: timed.positions,
            p_positions: timed.p_positions,
            seconds: timed.time.as_secs_f64(),
            kernel_seconds: timed.kernel.map(|kernel| kernel.as_secs_f64()),
            positions_per_second: timed.rate(),
            scaled_by,
            ratio,
            bytes_per_position: None,
            copy_share: None,
            words_per_cycle: None,
            port_share: None,
        }
    }

    fn cells(&self) -> [String; COLUMNS.len()] {
        let about = if (self.scaled_by - 1.0).abs() < 1e-9 { "" } else { "≈ " };
        let ratio = if self.ratio < 100.0 {
            format!("{:.1}", self.ratio)
        } else {
            grouped(self.ratio.round() as u64)
        };
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        let percent = |share: f64, digits: usize| format!("{:.digits$} %", share * 100.0);
        [
            self.solver.to_string(),
            grouped(self.max.into()),
            format!("{about}{}", scientific(self.positions_per_second * self.scaled_by)),
            ratio,
            time(Duration::from_secs_f64(self.seconds)),
            or_dash(self.kernel_seconds.map(|seconds| time(Duration::from_secs_f64(seconds)))),
            or_dash(self.bytes_per_position.map(|bytes| format!("{bytes:.2}"))),
            or_dash(self.copy_share.map(|share| percent(share, 0))),
            or_dash(self.words_per_cycle.map(|words| format!("{words:.3}"))),
            or_dash(self.port_share.map(|share| percent(share, 1))),
        ]
    }
}

/// How fast memory was copied.
#[derive(Serialize)]
pub struct Copy {
    /// By whom.
    #[serde(flatten)]
    pub solver: Solver,
    /// Bytes read and written a second.
    #[serde(rename = "bytes_per_second")]
    pub bytes: f64,
}

/// All measurements. The fields are the keys of the JSON object.
#[derive(Serialize)]
pub struct BenchReport {
    version: &'static str,
    /// The model of the CPU, where the system tells.
    cpu: Option<String>,
    logical_cpus: usize,
    /// How many tasks were waiting for the CPU before, on average over the last minute, where the system tells.
    load_before: Option<f64>,
    /// Cycles a second of one thread, where they were measured.
    pub clock_hertz: Option<f64>,
    runs: u32,
    /// One for each solver and case.
    pub rows: Vec<Row>,
    /// One for each kind of memory.
    pub copies: Vec<Copy>,
    /// One for each adapter and case.
    pub crossovers: Vec<Crossover>,
    /// What could not be measured.
    pub notes: Vec<String>,
}

impl BenchReport {
    /// A report without rows.
    pub fn new(runs: u32) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            cpu: cpu_model(),
            logical_cpus: std::thread::available_parallelism().map_or(1, usize::from),
            load_before: sysinfo::System::load_average().ok().map(|load| load.one),
            clock_hertz: None,
            runs,
            rows: Vec::new(),
            copies: Vec::new(),
            crossovers: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds the row of a kernel with this traffic.
    pub fn push_kernel(&mut self, row: Row, traffic: &Traffic) {
        let copy = self.copies.iter().find(|copy| copy.solver == row.solver);
        let copy_share = copy.map(|copy| row.positions_per_second * traffic.bytes / copy.bytes);
        let words_per_cycle = match (&row.solver, self.clock_hertz) {
            (Solver::Cpu { threads }, Some(hertz)) => {
                Some(row.positions_per_second * traffic.words / (hertz * *threads as f64))
            }
            _ => None,
        };
        let port_share = words_per_cycle.map(|words| words * traffic.loads / LOADED_WORDS);
        let bytes_per_position = Some(traffic.bytes);
        self.rows.push(Row { bytes_per_position, copy_share, words_per_cycle, port_share, ..row });
    }

    /// The lines that stand below a table.
    fn below(&self) -> Vec<String> {
        let copies = self.copies.iter().map(|copy| format!("{}, {:.1} GB/s", copy.solver, copy.bytes / 1e9));
        let mut lines = vec![
            format!("Best of {}. {}.", counted(self.runs.into(), "run"), self.machine()),
            format!("Copying memory, read and written: {}.", copies.collect::<Vec<_>>().join("; ")),
        ];
        if let Some(hertz) = self.clock_hertz {
            let loads = "ports: two loads of 32 bytes a cycle, as assumed";
            lines.push(format!("Clock of one thread: {:.2} GHz; {loads}.", hertz / 1e9));
        }
        if self.rows.iter().any(|row| row.scaled_by < 1.0) {
            lines.push("≈ measured at the cap shown, scaled to that of the kernels.".to_owned());
        }
        lines.extend(self.crossovers.iter().map(|crossover| format!("{}.", crossover.sentence())));
        lines.extend(self.notes.iter().map(|note| format!("Not measured: {note}.")));
        lines
    }

    /// What it ran on.
    pub fn machine(&self) -> String {
        let model = self.cpu.as_deref().unwrap_or("a CPU of unknown model");
        let load = self.load_before.map(|load| format!(", load {load:.1} before")).unwrap_or_default();
        let cpus = counted(self.logical_cpus as u64, "logical CPU");
        format!("Nimstrata {} on {model}, {cpus}{load}", self.version)
    }

    /// The table in Markdown, and what stands below it.
    pub fn markdown(&self) -> String {
        let mut text =
            format!("| game | {} |\n|---|---|{}\n", COLUMNS.join(" | "), "--:|".repeat(COLUMNS.len() - 1));
        for row in &self.rows {
            text.extend(["| `", &row.game, "` | ", &row.cells().join(" | "), " |\n"]);
        }
        for line in self.below() {
            text.extend(["\n", &line, "\n"]);
        }
        text
    }
}

/// A table of how fast and one of what bounds the kernels, each with a heading for each game.
impl fmt::Display for BenchReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_table(out, &self.rows, SPEED)?;
        writeln!(out)?;
        write_table(out, self.rows.iter().filter(|row| row.bytes_per_position.is_some()), BOUNDS)?;
        writeln!(out)?;
        self.below().iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

/// Some columns of some rows.
fn write_table<'a>(
    out: &mut fmt::Formatter<'_>,
    rows: impl IntoIterator<Item = &'a Row>,
    columns: &[usize],
) -> fmt::Result {
    let heading = COLUMNS.map(str::to_owned);
    let rows = rows.into_iter().map(|row| (&*row.game, row.cells())).collect::<Vec<_>>();
    let all = || rows.iter().map(|(_, cells)| cells).chain([&heading]);
    let width = |&column: &usize| all().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
    let widths = columns.iter().map(width).collect::<Vec<_>>();
    let line = |out: &mut fmt::Formatter<'_>, cells: &[String; COLUMNS.len()]| {
        write!(out, "  {:<width$}", cells[columns[0]], width = widths[0])?;
        for (&column, &width) in columns.iter().zip(&widths).skip(1) {
            write!(out, "  {:>width$}", cells[column])?;
        }
        writeln!(out)
    };
    line(out, &heading)?;
    let mut heading = "";
    for (game, cells) in &rows {
        if *game != heading {
            heading = game;
            writeln!(out, "{heading}")?;
        }
        line(out, cells)?;
    }
    Ok(())
}

/// What the processor calls itself, where the system tells.
fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
