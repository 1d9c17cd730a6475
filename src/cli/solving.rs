//! How to solve, and a solve with its progress bar and its interruption.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use nimstrata::checkpoint::{self, Resumable};
use nimstrata::game::Ruleset;
use nimstrata::output_file::OutputFile;
use nimstrata::solver::{
    self, BackendChoice, Known, Observer, Options, Progress, Quantity, SolvedBefore, Solver, Summary,
};
use nimstrata::space::Region;
use nimstrata::store::{Store, Subject, Writer};
use nimstrata::{Error, Result};

use super::figures::grouped;
use super::game::Game;
use super::progress::{Bar, strata_of};
use super::{interrupt, number};

/// Where to solve.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BackendName {
    /// A real GPU if there is one and the region is worth it, else the CPU
    Auto,
    /// The CPU
    Cpu,
    /// A GPU; a software adapter if there is no other
    Gpu,
}

/// The solving options as they were typed.
#[derive(clap::Args)]
#[command(next_help_heading = "Solving options")]
pub struct SolvingArgs {
    /// Where to solve
    #[arg(long, value_enum, default_value = "auto")]
    backend: BackendName,
    /// Part of the name of the GPU to use, as in `nimstrata devices`
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    adapter: Option<String>,
    #[command(flatten)]
    host: HostArgs,
}

/// What may be used of this machine.
#[derive(clap::Args)]
#[command(next_help_heading = "Solving options")]
pub struct HostArgs {
    /// How many CPU threads [default: all]
    #[arg(long, value_name = "T", value_parser = number::threads, allow_hyphen_values = true)]
    threads: Option<usize>,
    /// Refuse what needs more memory, such as 512M or 2GiB [default: what is free]
    #[arg(long, value_name = "BYTES", value_parser = number::bytes, allow_hyphen_values = true)]
    memory: Option<u64>,
    /// Show no progress bar
    #[arg(long)]
    quiet: bool,
}

impl HostArgs {
    /// The options, for solving on the CPU.
    pub fn validated(&self) -> Solving {
        let options = Options {
            backend: BackendChoice::Cpu,
            threads: self.threads.unwrap_or(0),
            memory: self.memory,
            ..Options::default()
        };
        Solving { options, quiet: self.quiet }
    }
}

impl SolvingArgs {
    /// The options, validated.
    pub fn validated(self) -> Result<Solving> {
        let backend = match self.backend {
            BackendName::Auto => BackendChoice::Auto,
            BackendName::Cpu => BackendChoice::Cpu,
            BackendName::Gpu => BackendChoice::Gpu,
        };
        match self.adapter {
            Some(adapter) if backend == BackendChoice::Cpu => Err(Error::AdapterOnCpu { adapter }),
            adapter => {
                let Solving { options, quiet } = self.host.validated();
                Ok(Solving { options: Options { backend, adapter, ..options }, quiet })
            }
        }
    }
}

/// Where a run that only counts saves how far it is.
#[derive(clap::Args)]
pub struct SavingArgs {
    /// Save in this file how far the run is, now and then and on Ctrl-C; the same command goes on from there
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Save at least this often
    #[arg(long, value_name = "SECONDS", default_value = "60", requires = "checkpoint", value_parser = number::total, allow_hyphen_values = true)]
    every: u64,
}

/// Where and how often a run saves how far it is, and what it counts.
pub struct Saving {
    path: PathBuf,
    every: Duration,
    what: String,
}

impl SavingArgs {
    /// The same, for what is counted, if it is wanted.
    pub fn saving(&self, what: String) -> Option<Saving> {
        let every = Duration::from_secs(self.every);
        self.checkpoint.clone().map(|path| Saving { path, every, what })
    }

    /// Whether something has been saved.
    pub fn there(&self) -> bool {
        self.checkpoint.as_deref().is_some_and(Path::exists)
    }
}

/// How to solve.
#[derive(Clone)]
pub struct Solving {
    options: Options,
    quiet: bool,
}

/// A finished solve, and what it ran on.
pub struct Solved {
    /// What was found.
    pub summary: Summary,
    /// What was to be found.
    pub quantity: Quantity,
    /// `cpu`, `gpu` or `store`.
    pub backend: &'static str,
    /// The name of the GPU adapter, if one was used.
    pub adapter: Option<String>,
    /// Whether that adapter is a CPU posing as a GPU.
    pub software: bool,
    /// CPU threads.
    pub threads: usize,
    /// What had been solved before.
    pub before: Summary,
    /// The store that was read, if it was.
    pub source: Option<String>,
    /// The digest of the region, where a store was written.
    pub digest: Option<u64>,
}

impl Solved {
    fn new(solver: &Solver, quantity: Quantity, summary: Summary) -> Self {
        Self {
            summary,
            quantity,
            backend: solver.backend(),
            adapter: solver.adapter().map(str::to_owned),
            software: solver.is_software(),
            threads: solver.threads(),
            before: Summary::default(),
            source: None,
            digest: None,
        }
    }
}

/// An interruption after which the same command goes on, from so many strata on.
fn keeping(error: Error, there: Option<u64>) -> Error {
    match error {
        Error::Interrupted { done, strata, .. } => {
            Error::Interrupted { done: there.unwrap_or(done), strata, goes_on: true }
        }
        other => other,
    }
}

/// Shows how far a solve is, and says whether to go on: as long as that is wanted and nobody asks it to stop.
fn step(bar: &mut Bar, region: &Region, progress: &Progress, wanted: bool) -> ControlFlow<()> {
    bar.update(progress.positions, || strata_of(region, progress));
    flow(wanted && !interrupt::asked())
}

/// Whether to go on.
pub fn flow(wanted: bool) -> ControlFlow<()> {
    if wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

impl Solving {
    /// Solves a region, showing its strata to the observers and its progress to the user.
    pub fn run(
        &self,
        rules: &Ruleset,
        region: &Region,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Solved> {
        self.run_while(rules, region, observers, &AtomicBool::new(true))
    }

    /// A solver for a region. Where a GPU that nobody asked for cannot hold it, standard error says so.
    fn solver(&self, rules: &Ruleset, region: &Region) -> Result<Solver> {
        let solver = Solver::new(rules, region, &self.options)?;
        if let Some(reason) = solver.fallback()
            && !self.quiet
        {
            // Where standard error is closed there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "nimstrata: solving on the CPU: {reason}");
        }
        Ok(solver)
    }

    /// As [`run`](Self::run), but stops as soon as nobody wants the rest.
    pub fn run_while(
        &self,
        rules: &Ruleset,
        region: &Region,
        observers: &mut [&mut dyn Observer],
        wanted: &AtomicBool,
    ) -> Result<Solved> {
        let mut solver = self.solver(rules, region)?;
        let _requests = interrupt::Guard::new();
        let mut bar = Bar::counting(region.positions(), "positions", self.quiet);
        let summary = solver.run(observers, &mut |progress| {
            step(&mut bar, region, progress, wanted.load(Ordering::Relaxed))
        })?;
        Ok(Solved { source: self.source(), ..Solved::new(&solver, self.options.quantity, summary) })
    }

    /// As [`run`](Self::run), saving in a file how far it is, now and then and when it is interrupted. Where the file is
    /// there, it goes on from it.
    pub fn run_saving(
        &self,
        rules: &Ruleset,
        region: &Region,
        observers: &mut [&mut dyn Resumable],
        saving: &Saving,
    ) -> Result<Solved> {
        let mut solver = self.solver(rules, region)?;
        // Refuses what cannot be written before anything is solved.
        drop(OutputFile::create(&saving.path)?);
        let _requests = interrupt::Guard::new();
        let mut bar = Bar::counting(region.positions(), "positions", self.quiet);
        let subject =
            Subject { rules: rules.clone(), region: region.clone(), quantity: self.options.quantity };
        let about = format!("{} of {subject}", saving.what);
        let before = checkpoint::resume(&saving.path, &about, &mut solver, observers)?;
        bar.start_at(before.positions);
        let strata = u64::from(region.strata().end);
        loop {
            let saved = Instant::now();
            let mut all = observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer);
            let summary = solver.go_on(&mut all.by_ref().collect::<Vec<_>>(), &mut |progress| {
                step(&mut bar, region, progress, saved.elapsed() < saving.every)
            })?;
            if summary.strata == strata {
                // Finished; that it was there is no longer of use, and that it stays no harm.
                let _ = std::fs::remove_file(&saving.path);
                let source = self.source();
                return Ok(Solved { before, source, ..Solved::new(&solver, self.options.quantity, summary) });
            }
            checkpoint::write(&saving.path, &about, &solver, observers)?;
            if interrupt::asked() {
                return Err(Error::Interrupted { done: summary.strata, strata, goes_on: true });
            }
        }
    }

    /// Solves a region into a store, or what is left of it. Observers see all of it.
    pub fn run_storing(
        &self,
        game: &Game,
        region: &Region,
        observers: &mut [&mut dyn Observer],
        folder: &Path,
    ) -> Result<Solved> {
        let quantity = self.options.quantity;
        let rules = &game.rules;
        let subject = Subject { rules: rules.clone(), region: region.clone(), quantity };
        let needed = u128::from(Writer::memory(&subject)?);
        let what = format!("writing the strata of {}", folder.display());
        let this = self.clone().reserving(what, needed, "a smaller --max would do")?;
        let mut solver = this.solver(rules, region)?;
        let _requests = interrupt::Guard::new();
        let mut bar = Bar::counting(region.positions(), "positions", self.quiet);
        let mut reading = |done: u32| {
            bar.update(0, || format!("reading {} strata back", grouped(done.into())));
            flow(!interrupt::asked())
        };
        let mut writer = Writer::open_named(folder, game.name.name(), subject, &mut reading)?;
        if writer.known().strata() > 0 {
            let mut watch = |progress: &Progress| step(&mut bar, region, progress, true);
            let learned = solver.learn(&writer.known(), observers, &mut watch);
            // However far it was read, all of it is still there.
            let there = u64::from(writer.known().strata());
            learned.map_err(|error| keeping(error, Some(there)))?;
        }
        let before = solver.summary();
        bar.start_at(before.positions);
        let failed = writer.failure();
        let mut all =
            observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer).collect::<Vec<_>>();
        all.push(&mut writer);
        let run = solver
            .run(&mut all, &mut |progress| step(&mut bar, region, progress, !failed.load(Ordering::Relaxed)));
        // What was solved is on the disk before anything is said, whatever ended the run.
        writer.pause()?;
        let summary = run.map_err(|error| keeping(error, None))?;
        let digest = writer.finish(&summary)?;
        Ok(Solved { before, digest: Some(digest), ..Solved::new(&solver, quantity, summary) })
    }

    /// The store that is read, in messages.
    fn source(&self) -> Option<String> {
        self.options.source.as_ref().map(|source| source.name())
    }

    /// Reads this store instead of solving.
    pub fn reading(mut self, store: Option<Arc<Store>>) -> Self {
        self.options.source = store.map(|store| store as Arc<dyn SolvedBefore>);
        self
    }

    /// Finds out this quantity.
    pub fn finding(mut self, quantity: Quantity) -> Self {
        self.options.quantity = quantity;
        self
    }

    /// Shows no progress bar.
    pub fn silent(self) -> Self {
        Self { quiet: true, ..self }
    }

    /// Sets memory aside for an observer, `needed` bytes for `what`.
    pub fn reserving(mut self, what: String, needed: u128, remedy: &str) -> Result<Self> {
        let available = self.available();
        if needed > u128::from(available) {
            let (source_of_limit, remedy) = (self.source_of_limit(), remedy.to_owned());
            let needed = (needed < u128::MAX).then_some(needed);
            return Err(Error::Memory { what, needed, available, source_of_limit, remedy });
        }
        self.options.reserved = needed as u64;
        Ok(self)
    }

    /// Bytes of memory that may be used.
    pub fn available(&self) -> u64 {
        self.options.memory.unwrap_or_else(solver::free_memory)
    }

    /// Where that limit comes from.
    pub fn source_of_limit(&self) -> &'static str {
        if self.options.memory.is_some() { "allowed by --memory" } else { "free" }
    }

    /// The options, for the library.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Whether no progress bar is wanted.
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    /// CPU threads that will be used.
    pub fn threads(&self) -> usize {
        self.options.threads()
    }
}
