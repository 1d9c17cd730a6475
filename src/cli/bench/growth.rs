//! Curves of the time that a position takes, by the cap and by the number of heaps, as CSV and SVG.

mod chart;

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;

use nimstrata::baseline::Ranking;
use nimstrata::game::Ruleset;
use nimstrata::output_file::OutputFile;
use nimstrata::solver::Quantity;
use nimstrata::space::Region;
use nimstrata::{Error, Result};

use self::chart::{Chart, Series};
use super::Bench;
use super::case::Case;
use super::measure::{self, Timed};
use super::report::{BenchReport, Solver};
use crate::cli::figures::counted;
use crate::cli::progress::Bar;

/// Caps of five heaps, width 2.
const CAPS: [u64; 7] = [50, 100, 150, 200, 250, 300, 400];
const QUICK_CAPS: [u64; 4] = [10, 20, 30, 40];
/// Numbers of heaps, width 2, in regions with at most so many positions.
const HEAPS: std::ops::RangeInclusive<u32> = 3..=8;
const POSITIONS: u64 = 100_000_000;
const QUICK_POSITIONS: u64 = 2_000_000;

/// The most positions that the baseline solves where it is given whole regions.
const BASELINE_POSITIONS: u64 = 100_000_000;

/// One curve's file, and what it is about.
struct Curve {
    stem: &'static str,
    title: &'static str,
    subtitle: String,
    axis: &'static str,
    /// Where each case lies along the axis.
    cases: Vec<(u32, Case)>,
    /// Whether the baseline solves a smaller region where a case is too large for it; else it is left out there.
    shrink: bool,
}

/// One point of a curve.
struct Point {
    solver: Solver,
    at: u32,
    case: Case,
    timed: Timed,
}

impl Point {
    fn nanoseconds(&self) -> f64 {
        1e9 / self.timed.rate()
    }
}

/// Measures the curves and writes two files for each.
pub fn write(bench: &Bench, folder: &Path, quiet: bool) -> Result<()> {
    let made = std::fs::create_dir_all(folder);
    made.map_err(|source| Error::Io { what: format!("creating {}", folder.display()), source })?;
    for curve in [by_cap(bench.quick)?, by_heaps(bench.quick)?] {
        let mut outputs = Vec::new();
        for ending in ["csv", "svg"] {
            outputs.push(OutputFile::create(&folder.join(format!("{}.{ending}", curve.stem)))?);
        }
        let machine = BenchReport::new(bench.runs).machine();
        let points = points(bench, &curve, quiet)?;
        let note = format!("{machine}; best of {}", counted(bench.runs.into(), "run"));
        for (output, text) in outputs.into_iter().zip([csv(&points), svg(&curve, &points, &note)]) {
            output.write(&mut |_| ControlFlow::Continue(()), |out| out.write_all(text.as_bytes()))?;
        }
    }
    Ok(())
}

fn moore(heaps: u32, max: u64) -> Result<Case> {
    let rules = Ruleset::bounded_moore(heaps, 2)?;
    Ok(Case { rules, region: Region::new(heaps, max)?, quantity: Quantity::Verdict })
}

fn by_cap(quick: bool) -> Result<Curve> {
    let caps: &[u64] = if quick { &QUICK_CAPS } else { &CAPS };
    let cases = caps.iter().map(|&cap| Ok((cap as u32, moore(5, cap)?))).collect::<Result<Vec<_>>>()?;
    let (title, subtitle) =
        ("Time for one position, by the cap", "five heaps; a move takes a stone from one heap or from two");
    Ok(Curve {
        stem: "growth-cap",
        title,
        subtitle: subtitle.to_owned(),
        axis: "cap: the greatest size of a heap",
        cases,
        shrink: false,
    })
}

fn by_heaps(quick: bool) -> Result<Curve> {
    let most = if quick { QUICK_POSITIONS } else { POSITIONS };
    let case = |heaps| moore(heaps, 900)?.largest(|case| case.region.positions() <= most);
    let cases = HEAPS.map(|heaps| Ok((heaps, case(heaps)?))).collect::<Result<Vec<_>>>()?;
    let title = "Time for one position, by the number of heaps";
    let (million, moves) = (most / 1_000_000, "a move takes a stone from one heap or from two");
    let subtitle =
        format!("{moves}; the kernels at the greatest cap with at most {million} million positions");
    Ok(Curve { stem: "growth-heaps", title, subtitle, axis: "heaps", cases, shrink: true })
}

fn points(bench: &Bench, curve: &Curve, quiet: bool) -> Result<Vec<Point>> {
    let mut bar = Bar::stepping(curve.cases.len() as u64, quiet);
    let mut points = Vec::new();
    for (done, (at, case)) in curve.cases.iter().enumerate() {
        bar.update(done as u64, || case.name());
        measure::go_on()?;
        let small = if curve.shrink { case.for_baseline(bench.quick)? } else { case.clone() };
        if curve.shrink || case.region.positions() <= BASELINE_POSITIONS {
            let timed = measure::baseline(&small, Ranking::Sums, bench.runs)?;
            points.push(Point { solver: Solver::Baseline, at: *at, case: small, timed });
        }
        for threads in bench.threads() {
            let timed = measure::kernel(case, &measure::on_cpu(&bench.options, threads), bench.runs)?;
            points.push(Point { solver: Solver::Cpu { threads }, at: *at, case: case.clone(), timed });
        }
        for adapter in &bench.adapters {
            let timed = measure::kernel(case, &measure::on_gpu(&bench.options, adapter), bench.runs)?;
            points.push(Point { solver: Solver::gpu(adapter), at: *at, case: case.clone(), timed });
        }
    }
    Ok(points)
}

fn csv(points: &[Point]) -> String {
    let mut text =
        "solver,threads,adapter,heaps,width,max,positions,seconds,nanoseconds_per_position\n".to_owned();
    for point in points {
        let (threads, adapter) = match &point.solver {
            Solver::Baseline | Solver::Differences => ("1".to_owned(), String::new()),
            Solver::Cpu { threads } => (threads.to_string(), String::new()),
            Solver::Gpu { adapter, .. } => (String::new(), format!("\"{}\"", adapter.replace('"', "\"\""))),
        };
        let Timed { positions, time, .. } = point.timed;
        let (heaps, width, max) =
            (point.case.rules.heaps, point.case.rules.touch_most, point.case.region.max());
        let (name, seconds, nanoseconds) = (point.solver.name(), time.as_secs_f64(), point.nanoseconds());
        let _ = writeln!(
            text,
            "{name},{threads},{adapter},{heaps},{width},{max},{positions},{seconds:.6},{nanoseconds:.4}"
        );
    }
    text
}

fn svg(curve: &Curve, points: &[Point], note: &str) -> String {
    let mut series: Vec<Series> = Vec::new();
    for point in points {
        let (name, at) = (point.solver.to_string(), (f64::from(point.at), point.nanoseconds()));
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(at),
            None => series.push(Series { name, points: vec![at] }),
        }
    }
    let ticks = curve.cases.iter().map(|&(at, _)| at).collect();
    Chart {
        title: curve.title,
        subtitle: &curve.subtitle,
        axes: [curve.axis, "nanoseconds a position"],
        note,
        ticks,
        series,
    }
    .svg()
}
