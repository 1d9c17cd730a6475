//! Drives the strata of a region on one backend and hands each solved stratum to observers.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Kept, Past, Visit};
use crate::cpu;
use crate::error::{Error, Result};
use crate::game::{Ruleset, Take};
use crate::gpu;
use crate::space::{
    Canonical, Cell, LineLayout, Reader, Region, Stratum, largest_cap_within, layout_bytes, remoteness_bound,
    remoteness_cell,
};

/// Regions with fewer positions are solved on the CPU unless a GPU is asked for: starting a GPU takes longer.
const WORTH_A_GPU: u64 = 200_000_000;

/// Where to solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendChoice {
    /// A hardware GPU if there is one and the region is large enough to gain from it, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU adapter, a software one (such as lavapipe) if there is no other.
    Gpu,
}

/// What to find out about each position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quantity {
    /// Who wins: a bit a position.
    #[default]
    Verdict,
    /// Who wins and how long it takes: one or two bytes a position. Take-one games only.
    Remoteness,
}

impl Quantity {
    /// Its name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Remoteness => "remoteness",
        }
    }
}

/// How to solve. The default is: verdicts, automatic backend, all threads, all free memory.
#[derive(Clone, Default)]
pub struct Options {
    /// Read the region from here instead of solving it.
    pub source: Option<Arc<dyn SolvedBefore>>,
    /// What to find out.
    pub quantity: Quantity,
    /// Where to solve.
    pub backend: BackendChoice,
    /// Part of the name of the GPU adapter wanted.
    pub adapter: Option<String>,
    /// How many CPU threads; 0 for all there are.
    pub threads: usize,
    /// Refuse what needs more bytes than this; `None` for what the machine has free.
    pub memory: Option<u64>,
    /// Bytes of that memory that observers need.
    pub reserved: u64,
}

impl Options {
    /// How many CPU threads are meant.
    #[must_use]
    pub fn threads(&self) -> usize {
        if self.threads == 0 {
            std::thread::available_parallelism().map_or(1, usize::from)
        } else {
            self.threads
        }
    }
}

/// Reads solved strata: counts words, digests, looks positions up.
///
/// With at least one observer the verdicts of every stratum are read back; while it is being observed, the next one
/// is solved.
pub trait Observer: Send {
    /// Called once for each stratum, from total 0 on.
    fn observe(&mut self, stratum: &Stratum<'_>);
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Strata solved.
    pub strata: u64,
    /// Positions in them.
    pub positions: u64,
}

/// What is known of the first strata of a region, such as what a store holds.
pub trait Known {
    /// How many strata are known, from total 0 on.
    fn strata(&self) -> u32;

    /// A known stratum.
    ///
    /// # Errors
    /// [`Error::Damaged`] when its values are not as they were written.
    fn values(&self, total: u32) -> Result<Canonical<'_>>;
}

/// A region that has been solved before, to be read instead of solved.
pub trait SolvedBefore: Known + Send + Sync {
    /// The rules that it was solved by.
    fn rules(&self) -> &Ruleset;

    /// Its positions.
    fn region(&self) -> &Region;

    /// What is known of each.
    fn quantity(&self) -> Quantity;

    /// What its values are.
    fn cell(&self) -> Cell;

    /// What it is, in messages.
    fn name(&self) -> String;
}

/// Called after each solved stratum; [`ControlFlow::Break`] stops the run.
pub type Watch<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + Send + 'a;

/// What a run has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Positions solved.
    pub positions: u64,
    /// Those of them that are P-positions.
    pub p_positions: u64,
    /// P-positions at forbidden totals (P₀).
    pub p_forbidden: u64,
    /// Strata solved.
    pub strata: u64,
    /// Time spent solving them, observers included.
    #[serde(skip)]
    pub time: Duration,
}

impl Summary {
    /// Adds a stratum.
    fn add(&mut self, stratum: &Stratum<'_>) {
        self.positions += stratum.positions;
        self.p_positions += stratum.p_positions;
        self.p_forbidden += if stratum.forbidden { stratum.p_positions } else { 0 };
        self.strata += 1;
    }

    /// Adds a stratum of which nothing but its values is known.
    fn add_counts(&mut self, rules: &Ruleset, region: &Region, total: u32, values: Canonical<'_>) {
        let p_positions = values.p_positions();
        self.positions += region.stratum_size(total);
        self.p_positions += p_positions;
        self.p_forbidden += if rules.forbidden.contains(total.into()) { p_positions } else { 0 };
        self.strata += 1;
    }
}

/// Bytes of memory that solving a region takes, about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Of this machine's memory.
    pub host: u64,
    /// Of a GPU's own memory, where one is used.
    pub device: Option<u64>,
}

/// A ruleset and a region, loaded on a backend.
pub struct Solver {
    rules: Ruleset,
    region: Region,
    kernel: Kernel,
    cell: Cell,
    backend: Box<dyn Backend + Send + Sync>,
    /// What has been found so far.
    summary: Summary,
    adapter: Option<String>,
    software: bool,
    threads: rayon::ThreadPool,
    name: &'static str,
    fallback: Option<Error>,
}

impl Solver {
    /// Chooses a backend, checks that the region fits its memory, and allocates.
    ///
    /// # Errors
    /// [`Error::NoKernel`] for rules that no kernel covers, [`Error::TooLong`] for remoteness beyond 16 bits,
    /// [`Error::RegionMemory`] for a region that does not fit, and [`Error::NoAdapter`], [`Error::AdapterNotFound`] or
    /// [`Error::Device`] when no GPU can be had.
    pub fn new(rules: &Ruleset, region: &Region, options: &Options) -> Result<Self> {
        if let Some(source) = &options.source {
            return Self::reading(source.clone(), rules, region, options);
        }
        let kernel = Kernel::of(rules, options.quantity)?;
        let cell = kernel.cell(rules, region)?;
        let check = |place| {
            let bytes = |cap: u64, limit: u128| kernel.host_bytes(rules, region, cap, place, limit);
            check_memory(region, bytes, options)
        };
        let on_device = open_gpu(region, options)?.map(|context| {
            // A device that computes on the CPU takes its memory from the same place.
            check(if context.summary.software { Place::SoftwareGpu } else { Place::Gpu })?;
            let (adapter, software) = (context.summary.name.clone(), context.summary.software);
            Ok((kernel.on_gpu(cell, Arc::new(context), rules, region)?, Some(adapter), software))
        });
        let mut fallback = None;
        let (backend, adapter, software) = match on_device {
            Some(Ok(device)) => device,
            // What a GPU that nobody asked for cannot hold is left to the CPU.
            Some(Err(error)) if options.backend == BackendChoice::Gpu || options.adapter.is_some() => {
                return Err(error);
            }
            other => {
                fallback = other.and_then(Result::err);
                check(Place::Cpu)?;
                (kernel.on_cpu(cell, rules, region)?, None, false)
            }
        };
        let threads = cpu::threads(options.threads())?;
        let (rules, region, summary) = (rules.clone(), region.clone(), Summary::default());
        let name = if adapter.is_some() { "gpu" } else { "cpu" };
        Ok(Self { rules, region, kernel, cell, backend, summary, adapter, software, threads, name, fallback })
    }

    /// A solver that only reads what has been solved before.
    fn reading(
        source: Arc<dyn SolvedBefore>,
        rules: &Ruleset,
        region: &Region,
        options: &Options,
    ) -> Result<Self> {
        check_source(&*source, rules, region, options.quantity)?;
        check_reading(&*source, options)?;
        let (cell, threads) = (source.cell(), cpu::threads(options.threads())?);
        let kernel = Kernel::of(rules, options.quantity)?;
        let backend = Box::new(Reading { source, next: 0 });
        let (rules, region, summary) = (rules.clone(), region.clone(), Summary::default());
        Ok(Self {
            rules,
            region,
            kernel,
            cell,
            backend,
            summary,
            adapter: None,
            software: false,
            threads,
            name: "store",
            fallback: None,
        })
    }

    /// "cpu", "gpu", or "store" for what is only read.
    #[must_use]
    pub fn backend(&self) -> &'static str {
        self.name
    }

    /// Why the GPU that there is was left alone, where one would have been used.
    #[must_use]
    pub fn fallback(&self) -> Option<&Error> {
        self.fallback.as_ref()
    }

    /// The name of the GPU adapter, if one is used.
    #[must_use]
    pub fn adapter(&self) -> Option<&str> {
        self.adapter.as_deref()
    }

    /// Whether the GPU adapter is a CPU posing as one.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.software
    }

    /// CPU threads used by the CPU backend and by observers.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.current_num_threads()
    }

    /// Measures from now on how long kernels run, by the clock of the device, if it has one that can be read.
    ///
    /// # Errors
    /// [`Error::Device`] when a GPU failed.
    pub fn time_kernels(&mut self) -> Result<()> {
        self.backend.time_kernels()
    }

    /// How long kernels have run since the start or since the past that the solver resumed from, if that is measured.
    #[must_use]
    pub fn kernel_time(&self) -> Option<Duration> {
        self.backend.kernel_time()
    }

    /// Solves what is left of the region and shows every stratum of it to every observer. `watch` is called after each
    /// stratum and can stop the run.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when `watch` stopped the run, [`Error::Device`] when a GPU failed.
    pub fn run(&mut self, observers: &mut [&mut dyn Observer], watch: &mut Watch<'_>) -> Result<Summary> {
        self.go_on(observers, watch)?;
        let (done, strata) = (self.summary.strata, u64::from(self.region.strata().end));
        if done < strata {
            return Err(Error::Interrupted { done, strata, goes_on: false });
        }
        Ok(self.summary)
    }

    /// As [`run`](Self::run), but when `watch` stopped it returns what has been found so far, and can go on. That includes
    /// a few more strata than `watch` has seen when it stopped the run.
    ///
    /// # Errors
    /// [`Error::Device`] when a GPU failed.
    pub fn go_on(&mut self, observers: &mut [&mut dyn Observer], watch: &mut Watch<'_>) -> Result<Summary> {
        if self.summary.strata == u64::from(self.region.strata().end) {
            return Ok(self.summary);
        }
        let start = Instant::now();
        let bits = !observers.is_empty();
        let Self { summary, backend, threads, .. } = self;
        let mut visit = |stratum: &Stratum<'_>| {
            summary.add(stratum);
            for observer in &mut *observers {
                observer.observe(stratum);
            }
            watch(&Progress { strata: summary.strata, positions: summary.positions })
        };
        threads.install(|| backend.go_on(bits, &mut visit))?;
        self.summary.time += start.elapsed();
        Ok(self.summary)
    }

    /// The memory that solving the region takes.
    #[must_use]
    pub fn needs(&self) -> Needs {
        let bytes = |place| {
            let cap = u64::from(self.region.max());
            let bytes = self.kernel.host_bytes(&self.rules, &self.region, cap, place, u128::from(u64::MAX));
            bytes.map_or(u64::MAX, |bytes| bytes as u64)
        };
        match (self.name, self.software) {
            ("gpu", true) => Needs { host: bytes(Place::SoftwareGpu), device: None },
            // The device holds the tables and the strata of the layout.
            ("gpu", false) => Needs { host: bytes(Place::Gpu), device: Some(bytes(Place::Device)) },
            _ => Needs { host: bytes(Place::Cpu), device: None },
        }
    }

    /// What has been found so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// What the backend must know to go on from here, on this or another machine.
    ///
    /// # Errors
    /// [`Error::Device`] when a GPU failed.
    pub fn past(&self) -> Result<Past> {
        self.threads.install(|| self.backend.past())
    }

    /// Goes to where another solver for the same rules, region and quantity stood, which had found `summary`.
    ///
    /// # Errors
    /// [`Error::Device`] when a GPU failed.
    ///
    /// # Panics
    /// If the past is that of other rules or of another region.
    pub fn resume(&mut self, past: &Past, summary: Summary) -> Result<()> {
        self.threads.install(|| self.backend.resume(past))?;
        self.summary = summary;
        Ok(())
    }

    /// Takes the first strata as solved, shows each to every observer, and stands behind them. `watch` is called after
    /// each one and can stop that.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when `watch` stopped it, [`Error::Device`] when a GPU failed.
    pub fn learn(
        &mut self,
        known: &(dyn Known + Sync),
        observers: &mut [&mut dyn Observer],
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let start = Instant::now();
        let Self { rules, region, kernel, cell, backend, summary, threads, .. } = self;
        let (next, last) = (known.strata(), region.strata().end);
        // Where nothing is left to solve, nothing need be kept.
        let mut sieve = match kernel {
            Kernel::Sieve if next < last => Some(cpu::sieve::Sieve::new(rules, region)?),
            _ => None,
        };
        if observers.is_empty() && sieve.is_none() {
            for total in 0..next {
                summary.add_counts(rules, region, total, known.values(total)?);
            }
        } else {
            let mut visit = |stratum: &Stratum<'_>| {
                summary.add(stratum);
                if let Some(sieve) = &mut sieve {
                    sieve.learn(stratum);
                }
                for observer in &mut *observers {
                    observer.observe(stratum);
                }
                watch(&Progress { strata: summary.strata, positions: summary.positions })
            };
            threads.install(|| replay(known, rules, region, *cell, &mut visit))?;
        }
        if next < last {
            let kept = match sieve {
                Some(sieve) => sieve.past()?.kept,
                None => last_strata(known, rules)?,
            };
            threads.install(|| backend.resume(&Past { next, kept }))?;
        }
        self.summary.time += start.elapsed();
        Ok(())
    }
}

/// Visits the strata that are known, in order, on the threads of the pool that it is called in: one is read while the
/// one before it is visited.
///
/// # Errors
/// [`Error::Memory`] when the region cannot be laid out, [`Error::Interrupted`] when `visit` stopped it.
pub fn replay(
    known: &(impl Known + Sync + ?Sized),
    rules: &Ruleset,
    region: &Region,
    cell: Cell,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut readers = [Reader::new(rules, region, cell)?, Reader::new(rules, region, cell)?];
    let [one, other] = &mut readers;
    let (mut one, mut other) = (one, other);
    let mut read = None;
    for total in 0..=known.strata() {
        let load = || -> Result<bool> {
            let more = total < known.strata();
            if more {
                other.read(total, known.values(total)?);
            }
            Ok(more)
        };
        let look = || read.is_some_and(|done: u32| visit(&one.stratum(done)).is_break());
        let (loaded, stop) = rayon::join(load, look);
        if stop && total < known.strata() {
            let (done, strata) = (total.into(), region.strata().end.into());
            return Err(Error::Interrupted { done, strata, goes_on: false });
        }
        read = loaded?.then_some(total);
        std::mem::swap(&mut one, &mut other);
    }
    Ok(())
}

/// The backend of what is only read.
struct Reading {
    source: Arc<dyn SolvedBefore>,
    next: u32,
}

impl Backend for Reading {
    fn go_on(&mut self, _bits: bool, visit: &mut Visit<'_>) -> Result<()> {
        let (source, next) = (&*self.source, &mut self.next);
        let mut visit = |stratum: &Stratum<'_>| {
            if stratum.total < *next {
                return ControlFlow::Continue(());
            }
            *next = stratum.total + 1;
            visit(stratum)
        };
        match replay(source, source.rules(), source.region(), source.cell(), &mut visit) {
            // Where it stands says that it was stopped.
            Err(Error::Interrupted { .. }) => Ok(()),
            other => other,
        }
    }

    fn restart(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }

    fn past(&self) -> Result<Past> {
        Ok(Past { next: self.next, kept: Kept::Strata(Vec::new()) })
    }

    fn resume(&mut self, past: &Past) -> Result<()> {
        self.next = past.next;
        Ok(())
    }
}

/// The strata from which the next one is solved.
fn last_strata(known: &(dyn Known + Sync), rules: &Ruleset) -> Result<Kept> {
    let next = known.strata();
    let first = next.saturating_sub(rules.touch_most);
    let strata = (first..next).map(|total| known.values(total).map(Canonical::to_owned));
    Ok(Kept::Strata(strata.collect::<Result<_>>()?))
}

/// The kernels, by the kind of move they know and what they find out.
#[derive(Clone, Copy)]
enum Kernel {
    /// One stone from each of several heaps: verdicts.
    TakeOne,
    /// One stone from each of several heaps: remoteness.
    Remoteness,
    /// Any number of stones from one heap: verdicts.
    Sieve,
}

/// Where a kernel runs, or what its memory is that of.
#[derive(Clone, Copy)]
enum Place {
    Cpu,
    SoftwareGpu,
    /// This machine's memory for a GPU with its own.
    Gpu,
    /// That GPU's.
    Device,
}

impl Kernel {
    fn of(rules: &Ruleset, quantity: Quantity) -> Result<Self> {
        match (quantity, rules.take, rules.touch_most) {
            (Quantity::Verdict, Take::One | Take::UpTo(1), _) => Ok(Self::TakeOne),
            (Quantity::Verdict, Take::Any, 1) => Ok(Self::Sieve),
            (Quantity::Verdict, ..) => Err(Error::NoKernel { what: rules.to_string() }),
            (Quantity::Remoteness, Take::One | Take::UpTo(1), _) => Ok(Self::Remoteness),
            (Quantity::Remoteness, ..) => Err(Error::NoKernel { what: format!("the remoteness of {rules}") }),
        }
    }

    /// What the cells of a region hold.
    fn cell(self, rules: &Ruleset, region: &Region) -> Result<Cell> {
        let max = u64::from(region.max());
        self.cell_up_to(rules, region, max).ok_or_else(|| {
            let fits = |cap: u64, _| self.cell_up_to(rules, region, cap).map(|_| 0);
            Error::TooLong {
                max: region.max(),
                bound: remoteness_bound(rules, max, last_total(region)),
                largest: largest_cap_within(max, 0, fits).0.unwrap_or(0),
            }
        })
    }

    /// What they hold in such a region with another cap; `None` when no cell can.
    fn cell_up_to(self, rules: &Ruleset, region: &Region, cap: u64) -> Option<Cell> {
        match self {
            Self::TakeOne | Self::Sieve => Some(Cell::Verdicts),
            Self::Remoteness => remoteness_cell(rules, cap, last_total(region)),
        }
    }

    fn on_cpu(self, cell: Cell, rules: &Ruleset, region: &Region) -> Result<Box<dyn Backend + Send + Sync>> {
        Ok(match (self, cell) {
            (Self::TakeOne, _) => Box::new(cpu::take_one::TakeOne::new(rules, region)?),
            (Self::Sieve, _) => Box::new(cpu::sieve::Sieve::new(rules, region)?),
            (_, Cell::Remoteness8) => Box::new(cpu::remoteness::Remoteness::<u8>::new(rules, region)?),
            _ => Box::new(cpu::remoteness::Remoteness::<u16>::new(rules, region)?),
        })
    }

    fn on_gpu(
        self,
        cell: Cell,
        context: Arc<gpu::Context>,
        rules: &Ruleset,
        region: &Region,
    ) -> Result<Box<dyn Backend + Send + Sync>> {
        Ok(match (self, cell) {
            (Self::TakeOne, _) => Box::new(gpu::take_one::TakeOne::new(context, rules, region)?),
            (Self::Sieve, _) => Box::new(gpu::sieve::Sieve::new(context, rules, region)?),
            (_, Cell::Remoteness8) => {
                Box::new(gpu::remoteness::Remoteness::<u8>::new(context, rules, region)?)
            }
            _ => Box::new(gpu::remoteness::Remoteness::<u16>::new(context, rules, region)?),
        })
    }

    /// Bytes of this machine's memory for a region with this cap; `None` when they are more than `limit`.
    fn host_bytes(
        self,
        rules: &Ruleset,
        region: &Region,
        cap: u64,
        place: Place,
        limit: u128,
    ) -> Option<u128> {
        let ring = rules.touch_most + 1;
        let slots = match (self, place) {
            (_, Place::Gpu) => gpu::STAGING_SLOTS,
            (Self::Sieve, Place::Cpu | Place::Device) => {
                return LineLayout::bytes(rules.heaps, cap, 2, limit);
            }
            (Self::Sieve, Place::SoftwareGpu) => {
                return LineLayout::bytes(rules.heaps, cap, 1 + gpu::STAGING_SLOTS, limit);
            }
            (Self::TakeOne, Place::Cpu) => return cpu::take_one::TakeOne::bytes(rules, cap, limit),
            (_, Place::Cpu | Place::Device) => ring,
            (_, Place::SoftwareGpu) => ring + gpu::STAGING_SLOTS,
        };
        layout_bytes(rules.heaps, cap, self.cell_up_to(rules, region, cap)?, slots, limit)
    }
}

/// The greatest total of a region.
fn last_total(region: &Region) -> u64 {
    u64::from(region.strata().end) - 1
}

/// Refuses to read what was solved before where it is not this.
///
/// # Errors
/// [`Error::OtherStore`].
pub(crate) fn check_source(
    source: &dyn SolvedBefore,
    rules: &Ruleset,
    region: &Region,
    quantity: Quantity,
) -> Result<()> {
    let lacks = quantity == Quantity::Remoteness && source.quantity() == Quantity::Verdict;
    if source.rules() == rules && source.region().is_same(region) && !lacks {
        return Ok(());
    }
    let describe = |rules: &Ruleset, region: &Region, quantity: Quantity| {
        let bound = region.bound().map_or(String::new(), |last| format!(", total ≤ {last}"));
        format!("the {} of {rules}, every heap ≤ {}{bound}", quantity.name(), region.max())
    };
    Err(Error::OtherStore {
        path: source.name().into(),
        there: describe(source.rules(), source.region(), source.quantity()),
        // Remoteness tells the verdict, too, so only what is lacking is worth a word.
        wanted: describe(rules, region, if lacks { quantity } else { source.quantity() }),
    })
}

/// Refuses to read what was solved before where two of its strata, one that is read and one that is observed, do not fit.
fn check_reading(source: &dyn SolvedBefore, options: &Options) -> Result<()> {
    let (region, cell) = (source.region(), source.cell());
    let available = options.memory.unwrap_or_else(free_memory);
    let strata = layout_bytes(region.heaps(), region.max().into(), cell, 2, u128::MAX);
    let needed = strata.map(|bytes| bytes + u128::from(options.reserved));
    if needed.is_some_and(|needed| needed <= available.into()) {
        return Ok(());
    }
    Err(Error::Memory {
        what: format!("reading {}", source.name()),
        needed,
        available,
        source_of_limit: if options.memory.is_some() { "allowed by --memory" } else { "free" },
        remedy: "a store of a smaller region would do".to_owned(),
    })
}

/// Opens the GPU that the options ask for; `None` for the CPU.
fn open_gpu(region: &Region, options: &Options) -> Result<Option<gpu::Context>> {
    let choice = match (options.backend, options.adapter.as_deref()) {
        (BackendChoice::Cpu, _) => return Ok(None),
        (_, Some(name)) => gpu::Choice::Named(name),
        (BackendChoice::Gpu, None) => gpu::Choice::Any,
        (BackendChoice::Auto, None) if region.positions() < WORTH_A_GPU => return Ok(None),
        (BackendChoice::Auto, None) => gpu::Choice::Hardware,
    };
    match gpu::Context::open(choice) {
        Err(Error::NoAdapter) if matches!(choice, gpu::Choice::Hardware) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Refuses a region whose strata do not fit, and says which would.
/// `bytes` gives what a cap needs, as for [`largest_cap_within`].
fn check_memory(region: &Region, bytes: impl Fn(u64, u128) -> Option<u128>, options: &Options) -> Result<()> {
    let allowed = options.memory;
    let available = allowed.unwrap_or_else(free_memory);
    let left = available.saturating_sub(options.reserved);
    let (fits, needed) = largest_cap_within(u64::from(region.max()), left, bytes);
    if fits == Some(u64::from(region.max())) {
        return Ok(());
    }
    Err(Error::RegionMemory {
        heaps: region.heaps(),
        max: region.max(),
        // With what observers need: the limit is named as it was given.
        needed: needed.map(|bytes| bytes + u128::from(options.reserved)),
        available,
        source_of_limit: if allowed.is_some() { "allowed by --memory" } else { "free" },
        largest: fits,
    })
}

/// Bytes of memory that this process could still get: of the machine, or of its control group if that has less.
/// Where the system does not tell, as much as can be addressed.
#[must_use]
pub fn free_memory() -> u64 {
    let Ok(mut system) = sysinfo::System::new() else { return u64::MAX };
    system.refresh_memory();
    let free = system.available_memory();
    system.cgroup_limits().map_or(free, |limits| limits.free_memory.min(free))
}
