//! Dispatches `shaders/take_one.wgsl`: verdicts of take-one games, stratum by stratum.
//!
//! Dispatches are gathered in a batch until it is worth a submit, and at most two submits are on their way.
//! P-positions are counted on the device, a counter for each dispatch. Where observers want the verdicts, every
//! stratum is a batch of its own, its active slabs are copied out behind it, and while observers read one stratum
//! the device solves the next.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytemuck::Zeroable;
use wgpu::util::DeviceExt;

use super::Context;
use super::cells::{Cells, Span, Window, words_a_block};
use super::params::{FORBIDDEN, TakeOneRegion, TakeOneStep};
use crate::backend::{Backend, Visit};
use crate::error::Result;
use crate::game::Ruleset;
use crate::space::{LANE_GROUP, Layout, Region, Shift, Stencil, Stratum, Term};

/// The shader's source.
pub const SHADER: &str = include_str!("../../shaders/take_one.wgsl");

/// Submits on their way at most.
const FLIGHTS: usize = 2;
/// Threads in a workgroup of the shader.
const THREADS: u32 = 64;
/// Neighbour blocks that fit a workgroup's memory: the more a block has, the fewer blocks share a workgroup.
const NEIGHBOURS: u32 = 2048;
/// Dispatches in a batch at most.
const BATCH_DISPATCHES: usize = 1024;
/// Entries of a batch's list of active blocks at most.
const BATCH_BLOCKS: usize = 1 << 20;
/// Bytes from one dispatch's parameters to the next: the most that any device aligns uniform windows to.
const STEP_BYTES: usize = 256;
/// Threads that keep a large GPU busy; smaller dispatches deal the lanes of a block to several tasks.
const BUSY_THREADS: u32 = 1 << 17;
/// How long one submit should take: far below the seconds after which a driver gives a device up.
const SUBMIT_TIME: Duration = Duration::from_millis(30);
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
}

impl Default for Limits {
    fn default() -> Self {
        Self { bound_bytes: u64::MAX, submit_words: u64::MAX, copy_bytes: COPY_BYTES, checked: false }
    }
}

/// The GPU backend for take-one games.
pub struct TakeOne {
    context: Arc<Context>,
    rules: Ruleset,
    region: Region,
    layout: Layout,
    stencil: Stencil,
    cells: Cells,
    limits: Limits,
    pipeline: wgpu::ComputePipeline,
    /// One for each span of the cells.
    groups: Vec<wgpu::BindGroup>,
    steps: wgpu::Buffer,
    active: wgpu::Buffer,
    counts: wgpu::Buffer,
    /// Threads that work on one block.
    lanes: u32,
    /// Words of cells that a block has on average.
    words_a_block: u64,
}

impl TakeOne {
    /// Compiles the kernel and allocates the ring for a region.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) when the region cannot be laid out,
    /// [`Error::Binding`](crate::Error::Binding) when the device cannot bind a slab of it, and
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
        let layout = Layout::new(region)?;
        let stencil = Stencil::new(rules, &layout);
        let cells = Cells::new(&context, &layout, u64::from(stencil.depth()) + 1, limits.bound_bytes)?;
        let lanes = LANE_GROUP.max((THREADS << layout.axes()) / NEIGHBOURS);
        let bindings = bind_group_layout(&context)?;
        let neighbours = (THREADS / lanes) << layout.axes();
        let overrides = [
            ("AXES", layout.axes() as f64),
            ("LANES", f64::from(lanes)),
            ("NEIGHBOURS", f64::from(neighbours)),
        ];
        let pipeline = context.pipeline("take one", SHADER, "main", &bindings, &overrides, limits.checked)?;
        let copied = wgpu::BufferUsages::COPY_DST;
        let steps_bytes = (BATCH_DISPATCHES * STEP_BYTES) as u64;
        let steps = context.buffer("steps", steps_bytes, wgpu::BufferUsages::UNIFORM | copied)?;
        let active = context.storage_buffer("active blocks", 4 * BATCH_BLOCKS as u64, copied)?;
        let counts_bytes = 4 * BATCH_DISPATCHES as u64;
        let counts = context.storage_buffer("counts", counts_bytes, copied | wgpu::BufferUsages::COPY_SRC)?;
        let words_a_block = (layout.words() / layout.blocks() as u64).max(1);
        let tables = Tables::new(&context, &layout, &stencil, &cells)?;
        let bind = |span| tables.bind(&context, &bindings, &cells, span, [&steps, &active, &counts]);
        let groups = cells.spans.iter().map(bind).collect::<Result<_>>()?;
        let (rules, region) = (rules.clone(), region.clone());
        Ok(Self {
            context,
            rules,
            region,
            layout,
            stencil,
            cells,
            limits,
            pipeline,
            groups,
            steps,
            active,
            counts,
            lanes,
            words_a_block,
        })
    }

    /// The parameters that all dispatches of a stratum share.
    fn step(&self, total: u32) -> TakeOneStep {
        let touches = self.stencil.touches(&self.rules, total);
        let slot = |touch: u32| total.wrapping_sub(touch) % self.cells.slots as u32;
        let source =
            |touch: usize| if touches.contains(touch as u32) { slot(touch as u32) } else { FORBIDDEN };
        TakeOneStep {
            total: total as i32,
            slot: slot(0),
            least_nonempty: Stencil::least_nonempty(&self.rules, touches),
            sources: std::array::from_fn(source),
            ..TakeOneStep::zeroed()
        }
    }

    /// The dispatches that solve a stratum, and the slabs that it has positions in.
    fn dispatches(&self, total: u32, active: &mut Vec<u32>) -> (Vec<Dispatch>, Range<usize>) {
        active.clear();
        self.layout.active_blocks(total, self.cells.slots as u32, active);
        let step = self.step(total);
        let mut dispatches = Vec::new();
        let mut slabs: Option<Range<usize>> = None;
        for (index, span) in self.cells.spans.iter().enumerate() {
            let mut step = TakeOneStep {
                block_origin: span.block_origin as u32,
                own_origin: self.cells.window(span.slabs.clone()).origin as u32,
                lower_origin: self.cells.lower_window(span).origin as u32,
                ..step
            };
            let (here, used) = if self.layout.lane_is_floor() {
                let last = (total / 2).min(self.layout.second_max()) as usize / 32;
                (step.first_word, step.last_word) = (span.slabs.start as i32, span.slabs.end as i32 - 1);
                (0..usize::from(span.slabs.start <= last), span.slabs.start..span.slabs.end.min(last + 1))
            } else {
                step.last_word = self.layout.second_max() as i32 / 32;
                let place = |block: usize| active.partition_point(|&rank| (rank as usize) < block);
                let here = place(span.blocks.start)..place(span.blocks.end);
                let slab = |rank: &u32| usize::from(self.layout.block(*rank).coordinates[0]);
                let ends = active[here.clone()].first().map(slab).zip(active[here.clone()].last().map(slab));
                (here, ends.map_or(0..0, |(first, last)| first..last + 1))
            };
            if here.is_empty() {
                continue;
            }
            slabs = Some(slabs.map_or(used.clone(), |before| before.start..used.end));
            let most = (self.limits.submit_words / self.words_a_block).clamp(1, BATCH_BLOCKS as u64) as usize;
            for start in here.clone().step_by(most) {
                dispatches.push(Dispatch { span: index, step, active: start..here.end.min(start + most) });
            }
        }
        (dispatches, slabs.unwrap_or(0..0))
    }

    /// Over how many tasks the lanes of each of `blocks` blocks are dealt.
    fn panels(&self, blocks: u32) -> u32 {
        let most = (self.layout.block(self.layout.blocks() as u32 - 1).last_lane + 1).div_ceil(self.lanes);
        (BUSY_THREADS / (blocks * self.lanes).max(1)).clamp(1, most)
    }

    /// Workgroups for `tasks` tasks, folded into two dimensions.
    fn workgroups(&self, tasks: u64) -> [u32; 2] {
        let groups = tasks.div_ceil(u64::from(THREADS / self.lanes));
        let most = u64::from(self.context.summary.max_workgroups_per_dimension);
        let rows = groups.div_ceil(most);
        [groups.div_ceil(rows) as u32, rows as u32]
    }

    /// Submits a batch and, behind it, a copy of cells to `staging`.
    fn submit(&self, batch: &Batch, copy: Option<&Copy>, staging: &Staging) -> Result<Submitted> {
        let encoder = self.context.guarded(|| {
            self.context.queue.write_buffer(&self.steps, 0, &batch.steps);
            self.context.queue.write_buffer(&self.active, 0, bytemuck::cast_slice(&batch.active));
            let mut encoder =
                self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.clear_buffer(&self.counts, 0, None);
            {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&self.pipeline);
                for (index, &(span, [x, y])) in batch.dispatches.iter().enumerate() {
                    pass.set_bind_group(0, &self.groups[span], &[(index * STEP_BYTES) as u32]);
                    pass.dispatch_workgroups(x, y, 1);
                }
            }
            encoder.copy_buffer_to_buffer(&self.counts, 0, &staging.counts, 0, self.counts.size());
            if let (Some(copy), Some(bits)) = (copy, &staging.bits) {
                for slab in copy.slabs.clone() {
                    let place = self.cells.place(slab, copy.slot);
                    let to = (self.cells.starts[slab] - self.cells.starts[copy.slabs.start]) * 4;
                    encoder.copy_buffer_to_buffer(place.buffer, place.offset, bits, to, place.size);
                }
            }
            encoder
        })?;
        let submission = self.context.guarded(|| self.context.queue.submit([encoder.finish()]))?;
        let words = copy.map(|copy| {
            self.cells.starts[copy.slabs.start] as usize..self.cells.starts[copy.slabs.end] as usize
        });
        Ok((submission, words))
    }

    /// Buffers that results are copied to, one set for each flight.
    fn staging(&self, bits: bool) -> Result<Vec<Staging>> {
        let largest = self.cells.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0) * 4;
        let whole = (self.cells.starts[self.cells.starts.len() - 1] - self.cells.starts[0]) * 4;
        let bytes = whole.min(self.limits.copy_bytes.max(largest));
        let set = |_| {
            let counts = self.context.staging_buffer("counts", self.counts.size())?;
            let bits = bits.then(|| self.context.staging_buffer("verdicts", bytes)).transpose()?;
            Ok(Staging { counts, bits })
        };
        (0..FLIGHTS).map(set).collect()
    }

    /// Cuts the slabs of a stratum into copies that fit a staging buffer.
    fn copies(&self, slabs: Range<usize>, slot: u64) -> Vec<Copy> {
        let mut copies: Vec<Copy> = Vec::new();
        for slab in slabs {
            let end = self.cells.starts[slab + 1];
            match copies.last_mut() {
                Some(copy) if (end - self.cells.starts[copy.slabs.start]) * 4 <= self.limits.copy_bytes => {
                    copy.slabs.end = slab + 1;
                }
                _ => copies.push(Copy { slabs: slab..slab + 1, slot }),
            }
        }
        copies
    }
}

impl Backend for TakeOne {
    fn run(&mut self, bits: bool, visit: &mut Visit<'_>) -> Result<()> {
        let staging = self.staging(bits)?;
        let words = if bits { self.layout.words() as usize } else { 0 };
        let mut run = Run {
            kernel: self,
            staging,
            flights: VecDeque::new(),
            next_staging: 0,
            batch: Batch::default(),
            budget: self.limits.submit_words.min(FIRST_SUBMIT_WORDS),
            since: Instant::now(),
            unfinished: 0,
            host: vec![0; words],
            visit,
        };
        let mut active = Vec::new();
        for total in self.region.strata() {
            if run.stratum(total, bits, &mut active)?.is_break() {
                return Ok(());
            }
        }
        let _ = run.finish()?;
        Ok(())
    }
}

/// Words of cells of the first submit, before anything is known of the device's speed.
const FIRST_SUBMIT_WORDS: u64 = 1 << 20;

/// One dispatch, before it has a place in a batch.
struct Dispatch {
    span: usize,
    step: TakeOneStep,
    /// Its part of the stratum's list of active blocks.
    active: Range<usize>,
}

/// Dispatches that go into one submit.
#[derive(Default)]
struct Batch {
    steps: Vec<u8>,
    active: Vec<u32>,
    /// The span and the workgroups of each dispatch.
    dispatches: Vec<(usize, [u32; 2])>,
    /// The stratum of each dispatch.
    totals: Vec<u32>,
    /// The strata whose last dispatch this batch holds.
    finished: Vec<u32>,
    /// Words of cells worked on, about.
    words: u64,
}

/// Slabs of one slot, to be copied out.
struct Copy {
    slabs: Range<usize>,
    slot: u64,
}

/// Buffers that the host reads one flight's results from.
struct Staging {
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
struct Run<'a, 'v> {
    kernel: &'a TakeOne,
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
    visit: &'a mut Visit<'v>,
}

impl Run<'_, '_> {
    /// Queues one stratum; shows observers those that have landed meanwhile.
    fn stratum(&mut self, total: u32, bits: bool, active: &mut Vec<u32>) -> Result<ControlFlow<()>> {
        let (dispatches, slabs) = self.kernel.dispatches(total, active);
        for dispatch in dispatches {
            if self.batch_is_full(dispatch.active.len()) && self.fly(None)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.add(&dispatch, active);
        }
        if !bits {
            self.batch.finished.push(total);
            return Ok(ControlFlow::Continue(()));
        }
        let slot = u64::from(total) % self.kernel.cells.slots;
        let copies = self.kernel.copies(slabs, slot);
        for (index, copy) in copies.iter().enumerate() {
            if index + 1 == copies.len() {
                self.batch.finished.push(total);
            }
            if self.fly(Some(copy))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn batch_is_full(&self, blocks: usize) -> bool {
        self.batch.dispatches.len() == BATCH_DISPATCHES
            || self.batch.active.len() + blocks > BATCH_BLOCKS
            || (self.batch.words > 0
                && self.batch.words + blocks as u64 * self.kernel.words_a_block > self.budget)
    }

    fn add(&mut self, dispatch: &Dispatch, active: &[u32]) {
        let blocks = dispatch.active.len() as u32;
        let panels = self.kernel.panels(blocks);
        let step = TakeOneStep {
            first_active: self.batch.active.len() as u32,
            active_count: blocks,
            panels,
            counter: self.batch.dispatches.len() as u32,
            ..dispatch.step
        };
        self.batch.steps.extend_from_slice(bytemuck::bytes_of(&step));
        self.batch.steps.resize((step.counter as usize + 1) * STEP_BYTES, 0);
        self.batch.active.extend_from_slice(&active[dispatch.active.clone()]);
        let tasks = u64::from(blocks) * u64::from(panels);
        self.batch.dispatches.push((dispatch.span, self.kernel.workgroups(tasks)));
        self.batch.totals.push(step.total as u32);
        self.batch.words += u64::from(blocks) * self.kernel.words_a_block;
    }

    /// Submits the batch, once there is room for another flight.
    fn fly(&mut self, copy: Option<&Copy>) -> Result<ControlFlow<()>> {
        let landed = if self.flights.len() == FLIGHTS { self.land()? } else { ControlFlow::Continue(()) };
        if self.flights.is_empty() {
            self.since = Instant::now();
        }
        let batch = std::mem::take(&mut self.batch);
        let staging = self.next_staging;
        let (submission, words) = self.kernel.submit(&batch, copy, &self.staging[staging])?;
        self.next_staging = (staging + 1) % FLIGHTS;
        self.flights.push_back(Flight { submission, batch, staging, words });
        Ok(landed)
    }

    /// Waits for the oldest flight, adds its counts up, and shows its finished strata to the observers.
    fn land(&mut self) -> Result<ControlFlow<()>> {
        let Some(flight) = self.flights.pop_front() else { return Ok(ControlFlow::Continue(())) };
        self.kernel.context.wait(flight.submission)?;
        self.budget = self.next_budget(flight.batch.words);
        let (context, staging) = (&self.kernel.context, &self.staging[flight.staging]);
        let counts = context.read(&staging.counts, 0..staging.counts.size())?;
        let counts: &[u32] = bytemuck::cast_slice(&counts);
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
            let forbidden = self.kernel.rules.forbidden.contains(u64::from(total));
            let counts = [self.kernel.region.stratum_size(total), p_positions];
            let stratum = Stratum::new(&self.kernel.layout, &self.host, total, forbidden, counts);
            if (self.visit)(&stratum).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.unfinished += counted.map(|(_, &count)| u64::from(count)).sum::<u64>();
        Ok(ControlFlow::Continue(()))
    }

    /// What a submit should work on to take [`SUBMIT_TIME`], from how long the last one took: no more than twice as
    /// much as it did.
    fn next_budget(&mut self, work: u64) -> u64 {
        let took = self.since.elapsed();
        self.since = Instant::now();
        let fitting = work as f64 * SUBMIT_TIME.as_secs_f64() / took.as_secs_f64().max(1e-6);
        let (least, most) = (self.budget / 2, self.budget.saturating_mul(2));
        (fitting as u64).clamp(least.max(1), most).min(self.kernel.limits.submit_words)
    }

    /// Lands everything that is on its way.
    fn finish(&mut self) -> Result<ControlFlow<()>> {
        if !self.batch.finished.is_empty() && self.fly(None)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        while !self.flights.is_empty() {
            if self.land()?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The tables of a region, on the device.
struct Tables {
    region: wgpu::Buffer,
    coordinates: wgpu::Buffer,
    bases: wgpu::Buffer,
    terms: wgpu::Buffer,
    ranks: wgpu::Buffer,
    words_a_block: u64,
}

impl Tables {
    fn new(context: &Context, layout: &Layout, stencil: &Stencil, cells: &Cells) -> Result<Self> {
        let (terms, ends) = encode_terms(&stencil.terms);
        let region = TakeOneRegion {
            cap: layout.max() as i32,
            second_max: layout.second_max() as i32,
            last_lane: if layout.lane_is_floor() { layout.block(0).last_lane as i32 } else { 0 },
            slots: cells.slots as u32,
            unshifted_end: ends[0],
            either_end: ends[1],
            shifted_end: ends[2],
            padding: 0,
        };
        let buffer = |label, bytes: &[u8], usage| {
            // A buffer must not be empty.
            let contents = if bytes.is_empty() { &[0; 4] } else { bytes };
            let descriptor = wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage };
            context.guarded(|| context.device.create_buffer_init(&descriptor))
        };
        let storage = wgpu::BufferUsages::STORAGE;
        Ok(Self {
            region: buffer("region", bytemuck::bytes_of(&region), wgpu::BufferUsages::UNIFORM)?,
            coordinates: buffer("coordinates", bytemuck::cast_slice(&pack_coordinates(layout)), storage)?,
            bases: buffer("bases", bytemuck::cast_slice(layout.bases()), storage)?,
            terms: buffer("terms", bytemuck::cast_slice(&terms), storage)?,
            ranks: buffer("ranks", bytemuck::cast_slice(&rank_falls(layout, cells)), storage)?,
            words_a_block: words_a_block(layout),
        })
    }

    /// Binds what dispatches on a span see.
    fn bind(
        &self,
        context: &Context,
        layout: &wgpu::BindGroupLayout,
        cells: &Cells,
        span: &Span,
        [steps, active, counts]: [&wgpu::Buffer; 3],
    ) -> Result<wgpu::BindGroup> {
        fn part(buffer: &wgpu::Buffer, offset: u64, size: u64) -> wgpu::BindingResource<'_> {
            let size = NonZeroU64::new(size);
            wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size })
        }
        fn cell_part<'a>(window: &Window<'a>) -> wgpu::BindingResource<'a> {
            part(window.buffer, window.offset, window.size)
        }
        let first = span.block_origin as u64 * 4;
        let blocks = (span.blocks.end - span.block_origin).max(1) as u64 * 4;
        let per_block = self.words_a_block;
        let resources = [
            self.region.as_entire_binding(),
            part(steps, 0, size_of::<TakeOneStep>() as u64),
            part(&self.coordinates, first * per_block, blocks * per_block),
            part(&self.bases, first, blocks),
            active.as_entire_binding(),
            self.terms.as_entire_binding(),
            self.ranks.as_entire_binding(),
            cell_part(&cells.window(span.slabs.clone())),
            cell_part(&cells.lower_window(span)),
            counts.as_entire_binding(),
        ];
        let entries =
            (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource });
        let entries = entries.collect::<Vec<_>>();
        let descriptor = wgpu::BindGroupDescriptor { label: Some("take one"), layout, entries: &entries };
        context.guarded(|| context.device.create_bind_group(&descriptor))
    }
}

/// Terms as the shader reads them, grouped by how their rows are read, and the ends of the three groups.
fn encode_terms(terms: &[Term]) -> (Vec<u32>, [u32; 3]) {
    let mut encoded = Vec::new();
    let ends = [Shift::None, Shift::Either, Shift::One].map(|shift| {
        let group = terms.iter().filter(|term| term.shift == shift);
        encoded.extend(group.map(|term| term.axes | u32::from(term.lane) << 16 | term.touch << 17));
        encoded.len() as u32
    });
    (encoded, ends)
}

/// Two coordinates to a word, each block starting with a word of its own.
fn pack_coordinates(layout: &Layout) -> Vec<u32> {
    let pack = |pair: &[u16]| u32::from(pair[0]) | u32::from(pair.get(1).copied().unwrap_or(0)) << 16;
    match layout.axes() {
        0 => Vec::new(),
        axes => layout.coordinates().chunks(axes).flat_map(|block| block.chunks(2).map(pack)).collect(),
    }
}

/// By how much a block's rank falls when a coordinate does, for each axis and coordinate; then the starts of slabs and
/// the lengths of their rows, in lane groups.
fn rank_falls(layout: &Layout, cells: &Cells) -> Vec<u32> {
    let falls = |terms: &Vec<u32>| {
        std::iter::once(0).chain(terms.windows(2).map(|pair| pair[1] - pair[0])).collect::<Vec<_>>()
    };
    let mut table: Vec<u32> = layout.rank_terms().iter().flat_map(falls).collect();
    let starts = cells.starts.iter().map(|&start| (start / u64::from(LANE_GROUP)) as u32);
    let pitches = layout.pitches().iter().copied().chain(std::iter::repeat(0));
    table.extend(starts.zip(pitches).flat_map(|(start, pitch)| [start, pitch]));
    table
}

fn bind_group_layout(context: &Context) -> Result<wgpu::BindGroupLayout> {
    let uniform = |has_dynamic_offset| (wgpu::BufferBindingType::Uniform, has_dynamic_offset);
    let storage = |read_only| (wgpu::BufferBindingType::Storage { read_only }, false);
    let kinds = [
        uniform(false),
        uniform(true),
        storage(true),
        storage(true),
        storage(true),
        storage(true),
        storage(true),
        storage(false),
        storage(false),
        storage(false),
    ];
    let entries = (0..).zip(kinds).map(|(binding, (ty, has_dynamic_offset))| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    });
    let entries = entries.collect::<Vec<_>>();
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some("take one"), entries: &entries };
    context.guarded(|| context.device.create_bind_group_layout(&descriptor))
}
