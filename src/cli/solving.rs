//! How to solve, and a solve with its progress bar and its interruption.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use nimstrata::game::Ruleset;
use nimstrata::solver::{self, BackendChoice, Observer, Options, Quantity, SolvedBefore, Solver, Summary};
use nimstrata::space::Region;
use nimstrata::store::Store;
use nimstrata::{Error, Result};

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
    /// The store that was read, if it was.
    pub source: Option<String>,
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

    /// As [`run`](Self::run), but stops as soon as nobody wants the rest.
    pub fn run_while(
        &self,
        rules: &Ruleset,
        region: &Region,
        observers: &mut [&mut dyn Observer],
        wanted: &AtomicBool,
    ) -> Result<Solved> {
        let mut solver = Solver::new(rules, region, &self.options)?;
        let _requests = interrupt::Guard::new();
        let mut bar = Bar::counting(region.positions(), "positions", self.quiet);
        let summary = solver.run(observers, &mut |progress| {
            bar.update(progress.positions, || strata_of(region, progress));
            if interrupt::asked() || !wanted.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(Solved {
            summary,
            quantity: self.options.quantity,
            backend: solver.backend(),
            adapter: solver.adapter().map(str::to_owned),
            software: solver.is_software(),
            threads: solver.threads(),
            source: self.options.source.as_ref().map(|source| source.name()),
        })
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
