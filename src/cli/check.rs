//! `nimstrata check`: published claims, verified on every position of a region.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use nimstrata::observe::claims::{self, Case, Claim, Outcome, Overrides, Status};
use nimstrata::solver::Progress;
use nimstrata::store::Store;
use nimstrata::{Error, Result};
use serde::Serialize;

use super::figures::{counted, grouped, time};
use super::game::SourceArgs;
use super::interrupt;
use super::number::{self, Cap};
use super::output::{self, OutputArgs};
use super::progress::Bar;
use super::solving::{Solving, SolvingArgs};

/// Text is at most so wide, however wide the terminal is.
const MOST_COLUMNS: usize = 100;

/// Verify published claims on every position of a region
///
/// A claim is checked on several games and regions, which take seconds. With --heaps, --max, --width and --d it is
/// checked there instead, also where nobody claims it. With --store it is checked on what the store holds, without solving
/// that again (misere-properties also needs the games of fewer heaps, and solves them). A claim that is violated is shown with the first counterexample by
/// total, and ends in exit code 1.
#[derive(clap::Args)]
#[command(after_help = "Example: what is claimed about parity words, on five heaps up to 30\n  \
    nimstrata check words-five --max 30\n\n\
    All that is claimed about the game of a store\n  \
    nimstrata check all --store moore\n\n\
    Statuses: proved in the literature, observed on a region, or a conjecture.")]
pub struct Args {
    /// The name of a claim, or all
    #[arg(required_unless_present = "list", conflicts_with = "list")]
    claim: Option<String>,
    /// List all claims
    #[arg(long)]
    list: bool,
    /// How many heaps [default: those of the claim]
    #[arg(long, value_name = "N", value_parser = number::count, allow_hyphen_values = true)]
    heaps: Option<u32>,
    /// The greatest size of a heap; for claims on completions, of a heap that is completed
    #[arg(long, value_name = "CAP", value_parser = number::cap, allow_hyphen_values = true)]
    max: Option<Cap>,
    /// How many heaps a move touches at most, for claims on bounded Moore's Nim
    #[arg(long, value_name = "K", value_parser = number::count, allow_hyphen_values = true)]
    width: Option<u32>,
    /// No move arrives at multiples of D, for claims on Forbidden-Total-Size Nim
    #[arg(long, value_name = "D", value_parser = number::total, allow_hyphen_values = true)]
    d: Option<u64>,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    solving: SolvingArgs,
}

impl Args {
    /// Lists, or checks and prints as it goes.
    pub fn run(self) -> Result<()> {
        let Some(name) = &self.claim else { return self.output.print(&List::new()) };
        let overrides = Overrides {
            heaps: self.heaps,
            max: self.max.as_ref().map(|max| max.value),
            width: self.width,
            d: self.d,
        };
        let store = self.source.open()?;
        let plan = Plan::new(name, &overrides, store.as_deref())?;
        let solving = self.solving.validated()?.reading(store);
        let mut printer = (!self.output.json).then(|| Printer::new(&plan));
        let start = Instant::now();
        let reports = plan.carry_out(&solving, printer.as_mut());
        let (reports, read) = reports.map_err(|error| about(self.max.as_ref(), error))?;
        let verdict = verdict(&reports);
        match printer {
            // The reader has seen enough; what has been found all the same decides how the command ends.
            _ if !read => {}
            Some(mut printer) => {
                printer.print(&summary(&reports, plan.all, start.elapsed()))?;
            }
            None if plan.all => output::print_json(&All::new(reports))?,
            None => output::print_json(&reports[0])?,
        }
        verdict
    }
}

/// An error about a region, with the cap as it was given.
fn about(max: Option<&Cap>, error: Error) -> Error {
    match (error, max) {
        (Error::Region { heaps, largest, .. }, Some(max)) => {
            Error::Region { heaps, max: max.text.clone(), largest }
        }
        (error, _) => error,
    }
}

/// What is to be checked.
struct Plan {
    /// Whether all claims are, so that those that the options do not fit are left out.
    all: bool,
    /// The claims, each with its cases or the reason why it has none.
    claims: Vec<(&'static Claim, std::result::Result<Vec<Case>, String>)>,
}

impl Plan {
    fn new(name: &str, overrides: &Overrides, store: Option<&Store>) -> Result<Self> {
        let all = name == "all";
        let claims = if all { claims::all().collect() } else { vec![claims::find(name)?] };
        let mut plan = Self { all, claims: Vec::new() };
        let mut refusal = None;
        for claim in claims {
            let cases = match store {
                Some(store) if all => claim.case_like(store, overrides).map(|case| vec![case]),
                Some(store) => claim.case_of(store, overrides).map(|case| vec![case]),
                None => claim.cases(overrides),
            };
            match cases {
                Ok(cases) => plan.claims.push((claim, Ok(cases))),
                Err(Error::ClaimCase { claim: name, reason }) => {
                    plan.claims.push((claim, Err(reason.clone())));
                    refusal = Some(Error::ClaimCase { claim: name, reason });
                }
                Err(error) => return Err(error),
            }
        }
        match refusal {
            Some(refusal) if plan.cases().next().is_none() => Err(refusal),
            _ => Ok(plan),
        }
    }

    fn cases(&self) -> impl Iterator<Item = &Case> {
        self.claims.iter().filter_map(|(_, cases)| cases.as_ref().ok()).flatten()
    }

    /// Checks one case after another; ends early, with `false`, when nobody reads what is printed any more.
    fn carry_out(
        &self,
        solving: &Solving,
        mut printer: Option<&mut Printer>,
    ) -> Result<(Vec<ClaimReport>, bool)> {
        let _requests = interrupt::Guard::new();
        let all = self.cases().count() as u64;
        let mut bar = Bar::stepping(all, solving.quiet());
        let mut done = 0;
        let mut reports = Vec::new();
        for (claim, cases) in &self.claims {
            let mut report = ClaimReport::new(claim, cases.as_ref().err().cloned());
            for case in cases.iter().flatten() {
                let mut watch = |progress: &Progress| {
                    bar.update(done, || {
                        let solved = grouped(progress.positions);
                        format!("{}/{all} {}, {case}: {solved} positions", done + 1, claim.name)
                    });
                    if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                match claim.check(case, solving.options(), &mut watch) {
                    Ok(outcome) => report.add(outcome),
                    Err(Error::ClaimCase { reason, .. }) if self.all => {
                        report.not_checked = Some(reason);
                        break;
                    }
                    Err(error) => return Err(error),
                }
                done += 1;
                if let (Some(printer), Some(outcome)) = (&mut printer, report.checks.last())
                    && !bar.suspend(|| printer.add(claim, outcome))?
                {
                    reports.push(report);
                    return Ok((reports, false));
                }
            }
            if let (Some(printer), Some(reason)) = (&mut printer, &report.not_checked)
                && !bar.suspend(|| printer.add_skipped(claim, reason))?
            {
                return Ok((reports, false));
            }
            reports.push(report);
        }
        if reports.iter().all(|report| report.checks.is_empty())
            && let Some(ClaimReport { claim, not_checked: Some(reason), .. }) = reports.pop()
        {
            return Err(Error::ClaimCase { claim, reason });
        }
        Ok((reports, true))
    }
}

/// What was found about a claim, on all its cases together and on each.
#[derive(Serialize)]
struct ClaimReport {
    claim: &'static str,
    status: Status,
    statement: &'static str,
    /// All regions.
    region: String,
    positions: u64,
    /// Null for a claim that was not checked.
    holds: Option<bool>,
    violations: u64,
    /// The first one.
    counterexample: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_checked: Option<String>,
    checks: Vec<Outcome>,
}

impl ClaimReport {
    fn new(claim: &Claim, not_checked: Option<String>) -> Self {
        Self {
            claim: claim.name,
            status: claim.status,
            statement: claim.statement,
            region: String::new(),
            positions: 0,
            holds: None,
            violations: 0,
            counterexample: None,
            not_checked,
            checks: Vec::new(),
        }
    }

    fn add(&mut self, outcome: Outcome) {
        if !self.checks.is_empty() {
            self.region.push_str("; ");
        }
        self.region.push_str(&outcome.region);
        self.positions += outcome.positions;
        self.holds = Some(self.holds.unwrap_or(true) && outcome.holds);
        self.violations += outcome.violations;
        if self.counterexample.is_none() {
            self.counterexample.clone_from(&outcome.counterexample);
        }
        self.checks.push(outcome);
    }
}

/// All claims, as one JSON object.
#[derive(Serialize)]
struct All {
    claims: Vec<ClaimReport>,
    positions: u64,
    holds: bool,
}

impl All {
    fn new(claims: Vec<ClaimReport>) -> Self {
        let positions = claims.iter().map(|claim| claim.positions).sum();
        let holds = claims.iter().all(|claim| claim.holds != Some(false));
        Self { claims, positions, holds }
    }
}

/// An error when a claim is violated.
fn verdict(reports: &[ClaimReport]) -> Result<()> {
    let violated = reports.iter().filter(|report| report.holds == Some(false));
    let named = violated
        .map(|report| {
            let failed = report.checks.iter().filter(|check| !check.holds).count();
            match report.checks.len() {
                1 => report.claim.to_owned(),
                all => format!("{} on {failed} of {all} regions", report.claim),
            }
        })
        .collect::<Vec<_>>();
    if named.is_empty() { Ok(()) } else { Err(Error::Violated { claims: named.join(", ") }) }
}

/// The last lines of what is printed.
fn summary(reports: &[ClaimReport], all: bool, took: Duration) -> String {
    let checks = || reports.iter().flat_map(|report| &report.checks);
    let held = grouped(checks().filter(|check| check.holds).count() as u64);
    let (count, positions) = (checks().count() as u64, checks().map(|check| check.positions).sum());
    let (positions, took) = (grouped(positions), time(took));
    let verb = if count == 1 { "holds" } else { "hold" };
    let notes = reports.iter().filter(|_| all).map(|report| {
        let count = report.checks.iter().filter(|check| check.note.is_some()).count() as u64;
        let (verb, claim) = (if count == 1 { "is" } else { "are" }, report.claim);
        match count {
            0 => String::new(),
            _ => format!("{} on {claim} {verb} shown by: nimstrata check {claim}\n", counted(count, "note")),
        }
    });
    let notes = notes.collect::<String>();
    format!("\n{held} of {} {verb}: {positions} positions in {took}\n{notes}", counted(count, "check"))
}

/// Prints a line a check, as they come.
struct Printer {
    /// What stands above the first line.
    head: String,
    /// Columns of the claims' names and statuses, where several are checked.
    name: Option<[usize; 2]>,
    region: usize,
}

impl Printer {
    /// Columns of the numbers of positions.
    const POSITIONS: usize = 14;

    fn new(plan: &Plan) -> Self {
        let widest = |text: fn(&Claim) -> &'static str| {
            plan.claims.iter().map(|(claim, _)| text(claim).len()).max().unwrap_or(0)
        };
        let name = plan.all.then(|| [widest(|claim| claim.name), widest(|claim| claim.status.name())]);
        let region = plan.cases().map(|case| case.to_string().len()).max().unwrap_or(0);
        let head = match plan.claims.first() {
            Some((claim, _)) if !plan.all => {
                let text = format!("{}, {}: {}", claim.name, claim.status.name(), claim.statement);
                format!("{}\n", output::wrapped(&text, 0, columns()))
            }
            _ => String::new(),
        };
        Self { head, name, region }
    }

    /// Prints a check; `false` when nobody reads it.
    fn add(&mut self, claim: &Claim, outcome: &Outcome) -> Result<bool> {
        let found = match &outcome.counterexample {
            Some(first) => format!("VIOLATED {}, first {first}", times(outcome.violations)),
            None if outcome.holds && outcome.note.is_some() && self.name.is_some() => {
                "holds, with a note".to_owned()
            }
            None if outcome.holds => "holds".to_owned(),
            None => format!("VIOLATED {}", times(outcome.violations)),
        };
        let (region, positions) = (self.region, grouped(outcome.positions));
        let name = self.named(claim);
        let mut text = format!(
            "{name}{:region$}  {positions:>width$}  {found}\n",
            outcome.region,
            width = Self::POSITIONS
        );
        if let (Some(note), None) = (&outcome.note, self.name) {
            text += &output::wrapped(&format!("    {note}"), 4, columns());
        }
        self.print(&text)
    }

    fn add_skipped(&mut self, claim: &Claim, reason: &str) -> Result<bool> {
        let text = format!("{}not checked: {reason}\n", self.named(claim));
        self.print(&text)
    }

    fn named(&self, claim: &Claim) -> String {
        self.name.map_or_else(String::new, |[name, status]| {
            format!("{:name$}  {:status$}  ", claim.name, claim.status.name())
        })
    }

    fn print(&mut self, text: &str) -> Result<bool> {
        let head = std::mem::take(&mut self.head);
        let mut out = io::stdout().lock();
        output::delivered(write!(out, "{head}{text}").and_then(|()| out.flush()))
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", grouped(count)) }
}

/// How wide text should be.
fn columns() -> usize {
    let terminal =
        io::stdout().is_terminal().then(|| terminal_size::terminal_size_of(io::stdout())).flatten();
    terminal.map_or(MOST_COLUMNS, |(width, _)| MOST_COLUMNS.min(width.0.into()))
}

/// All claims.
#[derive(Serialize)]
struct List {
    claims: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    claim: &'static str,
    status: Status,
    statement: &'static str,
    /// Where it is checked by default.
    regions: Vec<String>,
}

impl List {
    fn new() -> Self {
        let regions = |claim: &Claim| {
            let cases = claim.cases(&Overrides::default()).unwrap_or_default();
            cases.iter().map(ToString::to_string).collect()
        };
        let listed = |claim: &Claim| Listed {
            claim: claim.name,
            status: claim.status,
            statement: claim.statement,
            regions: regions(claim),
        };
        Self { claims: claims::all().map(listed).collect() }
    }
}

impl fmt::Display for List {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = |cells: &mut dyn Iterator<Item = usize>| cells.max().unwrap_or(0);
        let name = widest(&mut self.claims.iter().map(|claim| claim.claim.len()));
        let status = widest(&mut self.claims.iter().map(|claim| claim.status.name().len()));
        for Listed { claim, status: its, statement, .. } in &self.claims {
            let line = format!("{claim:name$}  {:status$}  {statement}", its.name());
            out.write_str(&output::wrapped(&line, name + status + 4, columns()))?;
        }
        Ok(())
    }
}
