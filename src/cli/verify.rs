//! `nimstrata verify`: whether a store is as it was written, and whether it follows from the rules.

use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use nimstrata::store::{Audit, Verdict, Verification, verify};
use nimstrata::{Error, Result, cpu};
use serde::{Serialize, Serializer};

use super::figures::{counted, grouped, strata, time};
use super::interrupt;
use super::output::{Lines, OutputArgs};
use super::progress::Bar;
use super::solving::HostArgs;

/// Strata that are named in a line.
const NAMED: usize = 12;

/// Find every changed byte of a store, and positions that do not follow from the rules
///
/// Every byte is covered: the values by a digest for each stratum, the digests by one digest in the manifest, the manifest
/// by a checksum of its own; headers, offsets and the bytes between strata must be exactly what the region asks for.
///
/// With --audit, positions are derived again from the values of their options, by the definition of the game and not by
/// the kernels that solved them.
#[derive(clap::Args)]
#[command(after_help = "Example: check a store and derive a thousand of its positions again\n  \
    nimstrata verify d5 --audit 1000")]
pub struct Args {
    /// The folder of a store, as solve --out writes it
    #[arg(value_name = "DIR")]
    store: PathBuf,
    /// Derive so many random positions again, or all
    #[arg(long, value_name = "N|all", allow_hyphen_values = true)]
    audit: Option<AuditName>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    host: HostArgs,
}

#[derive(Clone)]
struct AuditName(Audit);

impl FromStr for AuditName {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let number = || text.parse().map(Audit::Random);
        let audit = if text == "all" { Ok(Audit::All) } else { number() };
        audit.map(Self).map_err(|_| "give a number of positions such as 1000, or all".to_owned())
    }
}

#[derive(Serialize)]
struct VerifyReport {
    store: String,
    strata: u32,
    bad_strata: Vec<u32>,
    bad_files: Vec<BadFile>,
    intact: bool,
    audited: u64,
    disagreements: u64,
    /// The first few.
    disagreeing: Vec<Disagreement>,
    seconds: f64,
}

#[derive(Serialize)]
struct BadFile {
    file: String,
    what: String,
}

#[derive(Serialize)]
struct Disagreement {
    position: Vec<u32>,
    #[serde(serialize_with = "shown")]
    stored: Verdict,
    #[serde(serialize_with = "shown")]
    derived: Verdict,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn shown<S: Serializer>(verdict: &Verdict, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    match verdict {
        Verdict::P(is_p) => serializer.serialize_char(if *is_p { 'P' } else { 'N' }),
        Verdict::Remoteness(remoteness) => serializer.serialize_u32(*remoteness),
    }
}

fn word(verdict: Verdict) -> String {
    match verdict {
        Verdict::P(true) => "P".to_owned(),
        Verdict::P(false) => "N".to_owned(),
        Verdict::Remoteness(remoteness) => format!("R = {remoteness}"),
    }
}

impl Args {
    /// Checks and prints.
    pub fn run(self) -> Result<()> {
        let solving = self.host.validated();
        let _requests = interrupt::Guard::new();
        let start = Instant::now();
        let mut bar = Bar::counting(1, "done", solving.quiet());
        let audit = self.audit.map_or(Audit::None, |audit| audit.0);
        let mut watch = |done, all| {
            bar.set_length(all);
            bar.update(done, || format!("{} of {}", grouped(done), grouped(all)));
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let threads = cpu::threads(solving.threads())?;
        let found = threads.install(|| verify(&self.store, audit, &mut watch))?;
        drop(bar);
        let verdict = verdict(&self.store, &found);
        let report = VerifyReport::new(self.store.display().to_string(), found, start.elapsed());
        self.output.print(&report)?;
        verdict
    }
}

/// How the command ends.
fn verdict(store: &std::path::Path, found: &Verification) -> Result<()> {
    if found.is_intact() && found.disagreeing == 0 {
        return Ok(());
    }
    if found.is_intact() {
        let count = counted(found.disagreeing, "audited position");
        return Err(Error::Violated {
            claims: format!("{count} of {} do not follow from the rules", store.display()),
        });
    }
    let files = found.bad_files.iter().map(|(name, what)| format!("{name}: {what}"));
    let bad = (!found.bad_strata.is_empty()).then(|| {
        let count = strata(found.bad_strata.len() as u64);
        format!("{count} not as written: {}", strata_list(&found.bad_strata))
    });
    let what = bad.into_iter().chain(files).collect::<Vec<_>>().join("; ");
    Err(Error::Damaged { path: store.to_owned(), what })
}

impl VerifyReport {
    fn new(store: String, found: Verification, time: Duration) -> Self {
        let intact = found.is_intact();
        let bad_file = |(file, what)| BadFile { file, what };
        let disagreement = |(position, stored, derived): (nimstrata::game::Position, _, _)| Disagreement {
            position: position.sizes().to_vec(),
            stored,
            derived,
        };
        Self {
            store,
            strata: found.strata,
            bad_strata: found.bad_strata,
            bad_files: found.bad_files.into_iter().map(bad_file).collect(),
            intact,
            audited: found.audited,
            disagreements: found.disagreeing,
            disagreeing: found.disagreements.into_iter().map(disagreement).collect(),
            seconds: time.as_secs_f64(),
        }
    }
}

impl fmt::Display for VerifyReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines::default();
        lines.add("store", &*self.store);
        let bad = self.bad_strata.len() as u64;
        let all = strata(self.strata.into());
        lines.add(
            "strata",
            match bad {
                0 if self.intact => format!("{all}, all as written"),
                0 => all,
                _ => format!("{} of {all} not as written: {}", grouped(bad), strata_list(&self.bad_strata)),
            },
        );
        for BadFile { file, what } in &self.bad_files {
            lines.add("damaged", format!("{file}: {what}"));
        }
        if self.audited > 0 {
            let agree = if self.disagreements == 0 {
                "all as the rules say".to_owned()
            } else {
                format!("{} not as the rules say", grouped(self.disagreements))
            };
            lines.add("audit", format!("{}, {agree}", counted(self.audited, "position")));
        }
        for one in &self.disagreeing {
            let sizes = one.position.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            lines.add(
                "",
                format!("({sizes}) is stored as {} and comes out as {}", word(one.stored), word(one.derived)),
            );
        }
        lines.add("time", time(Duration::from_secs_f64(self.seconds)));
        lines.fmt(out)
    }
}

/// Totals in a line.
fn strata_list(totals: &[u32]) -> String {
    let named = totals.iter().take(NAMED).map(|&total| grouped(total.into())).collect::<Vec<_>>().join(", ");
    let more = totals.len().saturating_sub(NAMED);
    if more > 0 { format!("total {named} and {more} more") } else { format!("total {named}") }
}
