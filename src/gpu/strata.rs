//! Drives the strata of a region through a kernel on the GPU.
//!
//! Dispatches are gathered in a batch until it is worth a submit, and at most two submits are on their way.
//! P-positions are counted on the device, a counter for each dispatch. Where observers want the verdicts, every
//! stratum is a batch of its own, its active slabs are copied out behind it, and while observers read one stratum
//! the device solves the next.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Context;
use super::cells::Place;
use super::clock::{Clock, STAMP_BYTES, Ticks};
use super::params::Deal;
use super::tables::part;
use crate::backend::{Backend, Kept, Past, Visit};
use crate::error::Result;
use crate::game::Ruleset;
use crate::space::{CanonicalBuf, Cell, Cells, CellsMut, Layout, LineLayout, Region, Stratum, fill};

/// Submits on their way at most.
const FLIGHTS: usize = 2;
/// Threads in a workgroup of every kernel.
pub const THREADS: u32 = 64;
/// Dispatches in a batch at most.
const BATCH_DISPATCHES: usize = 1024;
/// Entries of a batch's list of active blocks at most.
const BATCH_BLOCKS: usize = 1 << 20;
/// Bytes from one dispatch's parameters to the next: the most that any device aligns uniform windows to.
const STEP_BYTES: usize = 256;
/// Threads that keep a large GPU busy; smaller dispatches deal the lanes of a block to several tasks.
const BUSY_THREADS: u32 = 1 << 17;
/// The same where CPU cores pose as a GPU.
const BUSY_CPU_THREADS: u32 = 1 << 11;
/// How long one submit should take: far below the seconds after which a driver gives a device up.
const SUBMIT_TIME: Duration = Duration::from_millis(30);
/// Words of cells of the first submit, before anything is known of the device's speed.
const FIRST_SUBMIT_WORDS: u64 = 1 << 20;
/// Bytes of one copy to the host at most, unless a single slab is larger.
const COPY_BYTES: u64 = 256 << 20;

/// Bounds that tests tighten, so that small regions meet what large ones do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes of cells bound at once.
    pub bound_bytes: u64,
    /// Words of cells that a submit works on at most.
    pub submit_words: u64,
    /// The most bytes of one copy to the host, unless a single slab is larger.
    pub copy_bytes: u64,
    /// Whether the shader runs with wgpu's guards against wrong indices.
    pub checked: bool,
    /// Whether CPU cores that pose as a GPU get the work as a GPU does.
    pub as_gpu: bool,
}

impl Limits {
    /// Whether `NIMSTRATA_SHADER_CHECKS` in the environment asks for the guards, with `1`, or for none, with `0`.
    #[must_use]
    pub fn checks_asked_for() -> Option<bool> {
        std::env::var_os("NIMSTRATA_SHADER_CHECKS")
            .filter(|value| !value.is_empty())
            .map(|value| value != "0")
    }
}

impl Default for Limits {
    /// No bounds but what one copy to the host may take, and the guards as [`checks_asked_for`](Self::checks_asked_for) has
    /// it, by default none.
    fn default() -> Self {
        let checked = Self::checks_asked_for().unwrap_or(false);
        Self { bound_bytes: u64::MAX, submit_words: u64::MAX, copy_bytes: COPY_BYTES, checked, as_gpu: false }
    }
}

/// What is solved, and the device that solves it.
pub struct Problem {
    /// The device.
    pub context: Arc<Context>,
    /// The rules of the game.
    pub rules: Ruleset,
    /// The positions to solve.
    pub region: Region,
    /// How they lie in a slot.
    pub layout: Layout,
    /// Bounds on what is done at once.
    pub limits: Limits,
}

impl Problem {
    /// Whether to deal out work as suits CPU cores that pose as a GPU.
    #[must_use]
    pub fn on_software(&self) -> bool {
        self.context.summary.software && !self.limits.as_gpu
    }
}

/// Buffers that every kernel binds.
pub struct Buffers {
    /// The parameters of a batch's dispatches, a window of a uniform for each.
    pub steps: wgpu::Buffer,
    /// The active blocks of a batch.
    pub active: wgpu::Buffer,
    /// A counter of P-positions for each dispatch of a batch.
    pub counts: wgpu::Buffer,
}

impl Buffers {
    /// Allocates them.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when the device's memory runs out.
    pub fn new(context: &Context) -> Result<Self> {
        let copied = wgpu::BufferUsages::COPY_DST;
        let (dispatches, blocks) = (BATCH_DISPATCHES as u64, BATCH_BLOCKS as u64);
        let steps = dispatches * STEP_BYTES as u64;
        Ok(Self {
            steps: context.buffer("steps", steps, wgpu::BufferUsages::UNIFORM | copied)?,
            active: context.storage_buffer("active blocks", 4 * blocks, copied)?,
            counts: context.storage_buffer(
                "counts",
                4 * dispatches,
                copied | wgpu::BufferUsages::COPY_SRC,
            )?,
        })
    }
}

impl Buffers {
    /// The window of one dispatch's parameters.
    pub fn step_binding<Step>(&self) -> wgpu::BindingResource<'_> {
        part(&self.steps, 0, size_of::<Step>() as u64)
    }
}

/// A kernel that solves blocks of a stratum.
pub trait Kernel: Send + Sync + Sized {
    /// What its cells hold.
    const CELL: Cell;

    /// Compiles the shader and allocates what a problem needs.
    ///
    /// # Errors
    /// [`Error::Binding`](crate::Error::Binding) when the device cannot bind what must be seen at once, and
    /// [`Error::Device`](crate::Error::Device) when its memory runs out.
    fn load(problem: &Problem) -> Result<Self>;

    /// Its compiled shader.
    fn pipeline(&self) -> &wgpu::ComputePipeline;

    /// The buffers that it shares with all kernels.
    fn buffers(&self) -> &Buffers;

    /// What dispatches with this number bind.
    fn group(&self, number: usize) -> &wgpu::BindGroup;

    /// The threads that work on one block.
    fn team(&self) -> Team;

    /// The dispatches that solve a stratum, given the list of its active blocks, and the slabs that it has positions in.
    /// With `bits` its verdicts are to be kept.
    fn dispatches(
        &self,
        problem: &Problem,
        total: u32,
        bits: bool,
        active: &[u32],
    ) -> (Vec<Dispatch>, Range<usize>);

    /// The buffers in which strata leave something for later ones; all zero before the first.
    fn memory(&self) -> Vec<&wgpu::Buffer>;

    /// How many of the strata below a stratum is solved from; `None` where it is from the bits of lines, which are then
    /// the [`memory`](Self::memory), table by table.
    fn depth(&self) -> Option<u32>;

    /// Where each slab starts in a slot, in words, and where the last one ends.
    fn slab_starts(&self) -> &[u64];

    /// Where a slab of a solved stratum is.
    fn place(&self, total: u32, slab: usize) -> Place<'_>;
}

/// Threads that work on one block together.
#[derive(Clone, Copy, Debug)]
pub struct Team {
    /// How many, a power of two.
    pub threads: u32,
    /// Neighbouring words that they solve at once.
    pub words: u32,
}

/// One dispatch, before it has a place in a batch.
pub struct Dispatch {
    /// The number of the group that it binds.
    pub group: usize,
    /// Its parameters. They start with a [`Deal`], which is filled in later.
    pub step: Vec<u8>,
    /// Its part of the stratum's list of active blocks.
    pub active: Range<usize>,
}

/// A GPU backend that solves strata with a kernel.
pub struct Strata<K> {
    problem: Problem,
    kernel: K,
    /// Words of cells that a block has on average.
    words_a_block: u64,
    /// Whether the kernel's memory is as it was allocated.
    fresh: bool,
    /// The stratum to solve next.
    next: u32,
    /// The device's clock, where it is asked for and there is one.
    clock: Option<Clock>,
    /// How long the device has worked since it began, by its clock.
    kernel_time: Duration,
}

impl<K: Kernel> Strata<K> {
    /// Loads a region on a device.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) when the region cannot be laid out,
    /// [`Error::Binding`](crate::Error::Binding) when the device cannot bind what must be seen at once, and
    /// [`Error::Device`](crate::Error::Device) when its memory runs out.
    pub fn new(context: Arc<Context>, rules: &Ruleset, region: &Region) -> Result<Self> {
        Self::with_limits(context, rules, region, Limits::default())
    }

    /// As [`new`](Self::new), within tighter bounds.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_limits(
        context: Arc<Context>,
        rules: &Ruleset,
        region: &Region,
        limits: Limits,
    ) -> Result<Self> {
        let layout = Layout::with_cells(region, K::CELL)?;
        let problem = Problem { context, rules: rules.clone(), region: region.clone(), layout, limits };
        let kernel = K::load(&problem)?;
        let words_a_block = (problem.layout.words() / problem.layout.blocks() as u64).max(1);
        let kernel_time = Duration::ZERO;
        Ok(Self { problem, kernel, words_a_block, fresh: true, next: 0, clock: None, kernel_time })
    }

    /// Makes the kernel's memory as it was before the first run.
    fn clear(&self) -> Result<()> {
        let context = &self.problem.context;
        context.guarded(|| {
            let mut encoder =
                context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            for buffer in self.kernel.memory() {
                encoder.clear_buffer(buffer, 0, None);
            }
            context.queue.submit([encoder.finish()]);
        })
    }

    /// Over how many tasks the lanes of each of `blocks` blocks are dealt.
    fn panels(&self, blocks: u32) -> u32 {
        let lanes = self.problem.layout.block(self.problem.layout.blocks() as u32 - 1).last_lane + 1;
        let team = self.kernel.team();
        let most = (lanes * K::CELL.bytes()).div_ceil(4 * team.words);
        let busy = if self.problem.on_software() { BUSY_CPU_THREADS } else { BUSY_THREADS };
        (busy / (blocks * team.threads).max(1)).clamp(1, most)
    }

    /// Workgroups for the tasks of these blocks, folded into two dimensions. The third is the panels, unless the tasks of a
    /// workgroup are panels of the only block.
    fn workgroups(&self, blocks: u32, panels: u32) -> [u32; 3] {
        let (tasks, layers) =
            if self.problem.layout.lane_is_floor() { (panels, 1) } else { (blocks, panels) };
        let groups = u64::from(tasks.div_ceil(THREADS / self.kernel.team().threads));
        let most = u64::from(self.problem.context.summary.max_workgroups_per_dimension);
        let rows = groups.div_ceil(most);
        [groups.div_ceil(rows) as u32, rows as u32, layers]
    }

    /// Submits a batch and, behind it, a copy of cells to the staging buffers of this number.
    fn submit(
        &self,
        batch: &Batch,
        copy: Option<&Copy>,
        staging: &Staging,
        number: usize,
    ) -> Result<Submitted> {
        let (context, buffers) = (&self.problem.context, self.kernel.buffers());
        let encoder = context.guarded(|| {
            context.queue.write_buffer(&buffers.steps, 0, &batch.steps);
            context.queue.write_buffer(&buffers.active, 0, bytemuck::cast_slice(&batch.active));
            let mut encoder =
                context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.clear_buffer(&buffers.counts, 0, None);
            {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    timestamp_writes: self.clock.as_ref().map(|clock| clock.watch(number as u32)),
                    ..Default::default()
                });
                pass.set_pipeline(self.kernel.pipeline());
                for (index, &(group, [x, y, z])) in batch.dispatches.iter().enumerate() {
                    pass.set_bind_group(0, self.kernel.group(group), &[(index * STEP_BYTES) as u32]);
                    pass.dispatch_workgroups(x, y, z);
                }
            }
            encoder.copy_buffer_to_buffer(&buffers.counts, 0, &staging.counts, 0, buffers.counts.size());
            if let Some(clock) = &self.clock {
                clock.fetch(&mut encoder, number as u32, &staging.counts, buffers.counts.size());
            }
            if let (Some(copy), Some(bits)) = (copy, &staging.bits) {
                let starts = self.kernel.slab_starts();
                for slab in copy.slabs.clone() {
                    let place = self.kernel.place(copy.total, slab);
                    let to = (starts[slab] - starts[copy.slabs.start]) * 4;
                    encoder.copy_buffer_to_buffer(place.buffer, place.offset, bits, to, place.size);
                }
            }
            encoder
        })?;
        let submission = context.guarded(|| context.queue.submit([encoder.finish()]))?;
        let starts = self.kernel.slab_starts();
        let words = copy.map(|copy| starts[copy.slabs.start] as usize..starts[copy.slabs.end] as usize);
        Ok((submission, words))
    }

    /// Buffers that results are copied to, one set for each flight.
    fn staging(&self, bits: bool) -> Result<Vec<Staging>> {
        let (context, starts) = (&self.problem.context, self.kernel.slab_starts());
        let largest = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0) * 4;
        let whole = (starts[starts.len() - 1] - starts[0]) * 4;
        let bytes = whole.min(self.problem.limits.copy_bytes.max(largest));
        let set = |_| {
            let stamps = if self.clock.is_some() { STAMP_BYTES } else { 0 };
            let counts = context.staging_buffer("counts", self.kernel.buffers().counts.size() + stamps)?;
            let bits = bits.then(|| context.staging_buffer("verdicts", bytes)).transpose()?;
            Ok(Staging { counts, bits })
        };
        (0..FLIGHTS).map(set).collect()
    }

    /// Cuts the slabs of a stratum into copies that fit a staging buffer.
    fn copies(&self, slabs: Range<usize>, total: u32) -> Vec<Copy> {
        let (starts, most) = (self.kernel.slab_starts(), self.problem.limits.copy_bytes);
        let mut copies: Vec<Copy> = Vec::new();
        for slab in slabs {
            match copies.last_mut() {
                Some(copy) if (starts[slab + 1] - starts[copy.slabs.start]) * 4 <= most => {
                    copy.slabs.end = slab + 1;
                }
                _ => copies.push(Copy { slabs: slab..slab + 1, total }),
            }
        }
        copies
    }

    /// The slabs in which a stratum has positions.
    fn slabs(&self, total: u32) -> Range<usize> {
        let mut active = Vec::new();
        self.problem.layout.active_blocks(total, &mut active);
        self.kernel.dispatches(&self.problem, total, true, &active).1
    }

    /// Reads one of the last strata back into `host`, the words of a slot.
    fn read_stratum(&self, total: u32, host: &mut [u32]) -> Result<()> {
        let starts = self.kernel.slab_starts();
        for slab in self.slabs(total) {
            let place = self.kernel.place(total, slab);
            let words = starts[slab] as usize..starts[slab + 1] as usize;
            self.problem.context.download(place.buffer, place.offset, &mut host[words])?;
        }
        Ok(())
    }

    /// Writes a stratum from `host`, the words of a slot, to the device.
    fn write_stratum(&self, total: u32, host: &[u32]) -> Result<()> {
        let starts = self.kernel.slab_starts();
        for slab in self.slabs(total) {
            let place = self.kernel.place(total, slab);
            let words = starts[slab] as usize..starts[slab + 1] as usize;
            self.problem.context.upload(place.buffer, place.offset, &host[words])?;
        }
        Ok(())
    }

    /// The last strata solved, as many as the next ones are solved from.
    fn last_strata(&self, depth: u32) -> Result<Vec<CanonicalBuf>> {
        let Problem { layout, region, .. } = &self.problem;
        let mut host = vec![0; layout.words() as usize];
        let mut strata = Vec::new();
        for total in self.next.saturating_sub(depth)..self.next {
            self.read_stratum(total, &mut host)?;
            let counts = [region.stratum_size(total), 0];
            let cells = Cells::from_words(K::CELL, &host);
            strata.push(Stratum::new(layout, cells, total, false, counts).canonical());
        }
        Ok(strata)
    }
}

impl<K: Kernel> Backend for Strata<K> {
    fn go_on(&mut self, bits: bool, visit: &mut Visit<'_>) -> Result<()> {
        let staging = self.staging(bits)?;
        let words = if bits { self.problem.layout.words() as usize } else { 0 };
        self.fresh = false;
        let first = self.next;
        let mut run = Run {
            driver: self,
            staging,
            flights: VecDeque::new(),
            next_staging: 0,
            batch: Batch::default(),
            budget: self.problem.limits.submit_words.min(FIRST_SUBMIT_WORDS),
            since: Instant::now(),
            unfinished: 0,
            host: vec![0; words],
            ticks: Ticks::default(),
            stopped: false,
            visit,
        };
        let mut active = Vec::new();
        let mut next = first;
        while next < run.driver.problem.region.strata().end && !run.stopped {
            run.stratum(next, bits, &mut active)?;
            next += 1;
        }
        run.finish()?;
        let worked = run.ticks.worked;
        self.kernel_time += self.clock.as_ref().map_or(Duration::ZERO, |clock| clock.duration(worked));
        self.next = next;
        Ok(())
    }

    fn restart(&mut self) -> Result<()> {
        if !self.fresh {
            self.clear()?;
        }
        self.fresh = true;
        self.next = 0;
        self.kernel_time = Duration::ZERO;
        Ok(())
    }

    fn time_kernels(&mut self) -> Result<()> {
        self.clock = Clock::new(&self.problem.context, FLIGHTS as u32)?;
        Ok(())
    }

    fn kernel_time(&self) -> Option<Duration> {
        self.clock.as_ref().map(|_| self.kernel_time)
    }

    fn past(&self) -> Result<Past> {
        let kept = if let Some(depth) = self.kernel.depth() {
            Kept::Strata(self.last_strata(depth)?)
        } else {
            let words = LineLayout::new(&self.problem.layout)?.words();
            let mut tables = words.map(|words| vec![0; words as usize]);
            for (buffer, table) in self.kernel.memory().into_iter().zip(&mut tables) {
                self.problem.context.download(buffer, 0, table)?;
            }
            Kept::Lines(tables)
        };
        Ok(Past { next: self.next, kept })
    }

    fn resume(&mut self, past: &Past) -> Result<()> {
        self.restart()?;
        self.fresh = false;
        self.next = past.next;
        match &past.kept {
            Kept::Strata(strata) => {
                let layout = &self.problem.layout;
                let mut host = vec![0; layout.words() as usize];
                for (stratum, total) in strata.iter().zip(past.next - strata.len() as u32..) {
                    host.fill(0);
                    fill(layout, total, stratum.view(), CellsMut::from_words(K::CELL, &mut host));
                    self.write_stratum(total, &host)?;
                }
            }
            Kept::Lines(tables) => {
                for (buffer, table) in self.kernel.memory().into_iter().zip(tables) {
                    self.problem.context.upload(buffer, 0, table)?;
                }
            }
        }
        Ok(())
    }
}

/// Dispatches that go into one submit.
#[derive(Default)]
struct Batch {
    steps: Vec<u8>,
    active: Vec<u32>,
    /// The group that each dispatch binds, and its workgroups.
    dispatches: Vec<(usize, [u32; 3])>,
    /// The stratum of each dispatch.
    totals: Vec<u32>,
    /// The strata whose last dispatch this batch holds.
    finished: Vec<u32>,
    /// Words of cells worked on, about.
    words: u64,
}

/// Slabs of one stratum, to be copied out.
struct Copy {
    slabs: Range<usize>,
    total: u32,
}

/// Buffers that the host reads one flight's results from.
struct Staging {
    /// The counters, and behind them the stamps of the device's clock where it is read.
    counts: wgpu::Buffer,
    bits: Option<wgpu::Buffer>,
}

/// A submit, and which words of a slot it copies out.
type Submitted = (wgpu::SubmissionIndex, Option<Range<usize>>);

/// A submit on its way.
struct Flight {
    submission: wgpu::SubmissionIndex,
    batch: Batch,
    /// Which of the run's staging buffers it fills.
    staging: usize,
    words: Option<Range<usize>>,
}

/// The state of one run through the strata.
struct Run<'a, 'v, K> {
    driver: &'a Strata<K>,
    staging: Vec<Staging>,
    flights: VecDeque<Flight>,
    next_staging: usize,
    batch: Batch,
    /// Words of cells that a submit should work on.
    budget: u64,
    /// When the device began with the flight that lands next.
    since: Instant,
    /// P-positions counted in the stratum that is not finished.
    unfinished: u64,
    /// The stratum that observers read.
    host: Vec<u32>,
    /// How long the device has worked, where its clock is read.
    ticks: Ticks,
    /// Whether the visitor wants no more strata than are on their way.
    stopped: bool,
    visit: &'a mut Visit<'v>,
}

impl<K: Kernel> Run<'_, '_, K> {
    /// Queues one stratum; shows observers those that have landed meanwhile.
    fn stratum(&mut self, total: u32, bits: bool, active: &mut Vec<u32>) -> Result<()> {
        let (problem, kernel) = (&self.driver.problem, &self.driver.kernel);
        active.clear();
        problem.layout.active_blocks(total, active);
        let (dispatches, slabs) = kernel.dispatches(problem, total, bits, active);
        for dispatch in dispatches {
            let mut left = dispatch.active.clone();
            while !left.is_empty() {
                let most = (self.budget / self.driver.words_a_block).clamp(1, BATCH_BLOCKS as u64) as usize;
                let piece = left.start..left.end.min(left.start + most);
                if self.batch_is_full(piece.len()) {
                    self.fly(None)?;
                }
                left.start = piece.end;
                self.add(&dispatch, total, &active[piece]);
            }
        }
        if !bits {
            self.batch.finished.push(total);
            return Ok(());
        }
        let copies = self.driver.copies(slabs, total);
        for (index, copy) in copies.iter().enumerate() {
            if index + 1 == copies.len() {
                self.batch.finished.push(total);
            }
            self.fly(Some(copy))?;
        }
        Ok(())
    }

    fn batch_is_full(&self, blocks: usize) -> bool {
        self.batch.dispatches.len() == BATCH_DISPATCHES
            || self.batch.active.len() + blocks > BATCH_BLOCKS
            || (self.batch.words > 0
                && self.batch.words + blocks as u64 * self.driver.words_a_block > self.budget)
    }

    /// Adds a part of a dispatch to the batch.
    fn add(&mut self, dispatch: &Dispatch, total: u32, active: &[u32]) {
        let blocks = active.len() as u32;
        let deal = Deal {
            first_active: self.batch.active.len() as u32,
            active_count: blocks,
            panels: self.driver.panels(blocks),
            counter: self.batch.dispatches.len() as u32,
        };
        let deal_bytes = bytemuck::bytes_of(&deal);
        self.batch.steps.extend_from_slice(deal_bytes);
        self.batch.steps.extend_from_slice(&dispatch.step[deal_bytes.len()..]);
        self.batch.steps.resize((deal.counter as usize + 1) * STEP_BYTES, 0);
        self.batch.active.extend_from_slice(active);
        self.batch.dispatches.push((dispatch.group, self.driver.workgroups(blocks, deal.panels)));
        self.batch.totals.push(total);
        self.batch.words += u64::from(blocks) * self.driver.words_a_block;
    }

    /// Submits the batch, once there is room for another flight.
    fn fly(&mut self, copy: Option<&Copy>) -> Result<()> {
        if self.flights.len() == FLIGHTS {
            self.land()?;
        }
        if self.flights.is_empty() {
            self.since = Instant::now();
        }
        let batch = std::mem::take(&mut self.batch);
        let staging = self.next_staging;
        let (submission, words) = self.driver.submit(&batch, copy, &self.staging[staging], staging)?;
        self.next_staging = (staging + 1) % FLIGHTS;
        self.flights.push_back(Flight { submission, batch, staging, words });
        Ok(())
    }

    /// Waits for the oldest flight, adds its counts up, and shows its finished strata to the observers.
    fn land(&mut self) -> Result<()> {
        let Some(flight) = self.flights.pop_front() else { return Ok(()) };
        self.driver.problem.context.wait(flight.submission)?;
        self.budget = self.next_budget(flight.batch.words);
        let (context, staging) = (&self.driver.problem.context, &self.staging[flight.staging]);
        let counts = context.read(&staging.counts, 0..staging.counts.size())?;
        let (counts, stamps) = counts.split_at(self.driver.kernel.buffers().counts.size() as usize);
        if let Ok(stamps) = bytemuck::try_pod_read_unaligned(stamps) {
            self.ticks.add(stamps);
        }
        let counts: &[u32] = bytemuck::cast_slice(counts);
        if let (Some(words), Some(bits)) = (flight.words, &staging.bits) {
            let mapped = context.read(bits, 0..words.len() as u64 * 4)?;
            self.host[words].copy_from_slice(bytemuck::cast_slice(&mapped));
        }
        let mut counted = flight.batch.totals.iter().zip(counts).peekable();
        for total in flight.batch.finished {
            while let Some((_, &count)) = counted.next_if(|&(&of, _)| of == total) {
                self.unfinished += u64::from(count);
            }
            let p_positions = std::mem::take(&mut self.unfinished);
            let forbidden = self.driver.problem.rules.forbidden.contains(u64::from(total));
            let counts = [self.driver.problem.region.stratum_size(total), p_positions];
            let stratum = Stratum::new(
                &self.driver.problem.layout,
                Cells::from_words(K::CELL, &self.host),
                total,
                forbidden,
                counts,
            );
            self.stopped |= (self.visit)(&stratum).is_break();
        }
        self.unfinished += counted.map(|(_, &count)| u64::from(count)).sum::<u64>();
        Ok(())
    }

    /// What a submit should work on to take [`SUBMIT_TIME`], from how long the last one took: no more than twice as
    /// much as it did.
    fn next_budget(&mut self, work: u64) -> u64 {
        let took = self.since.elapsed();
        self.since = Instant::now();
        let fitting = work as f64 * SUBMIT_TIME.as_secs_f64() / took.as_secs_f64().max(1e-6);
        let (least, most) = (self.budget / 2, self.budget.saturating_mul(2));
        (fitting as u64).clamp(least.max(1), most).min(self.driver.problem.limits.submit_words)
    }

    /// Submits what is gathered, and lands everything that is on its way.
    fn finish(&mut self) -> Result<()> {
        if !self.batch.finished.is_empty() {
            self.fly(None)?;
        }
        while !self.flights.is_empty() {
            self.land()?;
        }
        Ok(())
    }
}
