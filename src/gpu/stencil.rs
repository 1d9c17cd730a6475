//! What the kernels of take-one games share: the ring of strata on the device, the tables, and the dispatches of
//! `shaders/stencil.wgsl`, before which a kernel's own shader stands.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Zeroable;

use super::Context;
use super::cells::{Cells, Place, Span, Window, words_a_block};
use super::params::{StencilRegion, StencilStep};
use super::strata::{Buffers, Dispatch, Kernel, Problem, THREADS, Team};
use super::tables::{bind, bind_group_layout, pack_coordinates, part, table};
use crate::error::Result;
use crate::game::Ruleset;
use crate::space::{Cell, LANE_GROUP, Layout, Stencil, Term};

/// Bytes of a workgroup's memory that several blocks may share, which any device has; one block may take all there is.
const SHARED_BYTES: u32 = 1 << 14;

/// What one kernel has of its own.
pub trait Shader: Send + Sync {
    /// What it is called in messages.
    const NAME: &'static str;
    /// The source, `shaders/stencil.wgsl` included.
    const SOURCE: &'static str;
    /// What its cells hold.
    const CELL: Cell;
    /// Words that a thread solves at once.
    const WORDS: u32;
}

/// A kernel for a take-one game.
pub struct StencilKernel<S> {
    stencil: Stencil,
    cells: Cells,
    pipeline: wgpu::ComputePipeline,
    buffers: Buffers,
    /// One for each span of the cells.
    groups: Vec<wgpu::BindGroup>,
    /// Threads that work on one block.
    team: u32,
    shader: PhantomData<S>,
}

impl<S: Shader> StencilKernel<S> {
    fn slot(&self, total: u32) -> u32 {
        total % self.cells.slots as u32
    }

    /// The parameters that all dispatches of a stratum share.
    fn step(&self, rules: &Ruleset, total: u32) -> StencilStep {
        let touches = self.stencil.touches(rules, total);
        StencilStep {
            total: total as i32,
            least_nonempty: Stencil::least_nonempty(rules, touches),
            slot: self.slot(total),
            // And the block's own row, which no move leads to.
            arrivals: touches.0 | 1,
            ..StencilStep::zeroed()
        }
    }
}

/// Which of the active blocks a span's dispatch solves, and the slabs of the span that have positions.
fn share(layout: &Layout, span: &Span, total: u32, active: &[u32]) -> (Range<usize>, Range<usize>) {
    if layout.lane_is_floor() {
        // Rows are slabs, all of the one block.
        let last = ((total / 2).min(layout.second_max()) / layout.cell().row_values()) as usize;
        let slabs = span.slabs.start..span.slabs.end.min(last + 1);
        return (0..usize::from(!slabs.is_empty()), slabs);
    }
    let place = |block: usize| active.partition_point(|&rank| (rank as usize) < block);
    let share = place(span.blocks.start)..place(span.blocks.end);
    let slabs = match &active[share.clone()] {
        [first, .., last] => layout.slab_of(*first)..layout.slab_of(*last) + 1,
        [only] => layout.slab_of(*only)..layout.slab_of(*only) + 1,
        [] => 0..0,
    };
    (share, slabs)
}

impl<S: Shader> Kernel for StencilKernel<S> {
    const CELL: Cell = S::CELL;

    fn load(problem: &Problem) -> Result<Self> {
        let (context, layout) = (&problem.context, &problem.layout);
        let stencil = Stencil::new(&problem.rules, layout);
        let cells = Cells::new(context, layout, u64::from(stencil.depth()) + 1, problem.limits.bound_bytes)?;
        let mut rows = Rows::new(&stencil.terms);
        let (team, stride) = share_of_workgroup(context, rows.moves.len() as u32, LANE_GROUP / S::WORDS);
        rows.moves.resize(rows.moves.len().next_multiple_of(team as usize), 0);
        let tables = Tables::new(problem, &rows, &cells)?;
        let keep = problem.on_software().into();
        let axes = layout.axes() as u32;
        let constants = [("AXES", axes), ("TEAM", team), ("STRIDE", stride), ("KEEP_TASK", keep)];
        let overrides = constants.into_iter().chain(rows.bounds());
        let overrides = overrides.map(|(name, value)| (name, f64::from(value))).collect::<Vec<_>>();
        let bindings = bind_group_layout(context, S::NAME, 5, 3)?;
        let checked = problem.limits.checked;
        let pipeline = context.pipeline(S::NAME, S::SOURCE, "main", &bindings, &overrides, checked)?;
        let buffers = Buffers::new(context)?;
        let group = |span| tables.group(context, S::NAME, &bindings, &cells, span, &buffers);
        let groups = cells.spans.iter().map(group).collect::<Result<_>>()?;
        Ok(Self { stencil, cells, pipeline, buffers, groups, team, shader: PhantomData })
    }

    fn pipeline(&self) -> &wgpu::ComputePipeline {
        &self.pipeline
    }

    fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    fn group(&self, number: usize) -> &wgpu::BindGroup {
        &self.groups[number]
    }

    fn team(&self) -> Team {
        Team { threads: self.team, words: self.team * S::WORDS }
    }

    fn dispatches(
        &self,
        problem: &Problem,
        total: u32,
        _bits: bool,
        active: &[u32],
    ) -> (Vec<Dispatch>, Range<usize>) {
        let layout = &problem.layout;
        let step = self.step(&problem.rules, total);
        let mut dispatches = Vec::new();
        let mut all_slabs: Option<Range<usize>> = None;
        for (group, span) in self.cells.spans.iter().enumerate() {
            let (share, slabs) = share(layout, span, total, active);
            if share.is_empty() {
                continue;
            }
            all_slabs = Some(all_slabs.map_or(slabs.start, |before| before.start)..slabs.end);
            let step = StencilStep {
                block_origin: span.block_origin as u32,
                own_origin: self.cells.window(span.slabs.clone()).origin as u32,
                lower_origin: self.cells.lower_window(span).origin as u32,
                first_row: slabs.start as i32,
                last_row: slabs.end as i32 - 1,
                ..step
            };
            dispatches.push(Dispatch { group, step: bytemuck::bytes_of(&step).to_vec(), active: share });
        }
        (dispatches, all_slabs.unwrap_or(0..0))
    }

    fn memory(&self) -> Vec<&wgpu::Buffer> {
        self.cells.buffers().collect()
    }

    fn depth(&self) -> Option<u32> {
        Some(self.stencil.depth())
    }

    fn slab_starts(&self) -> &[u64] {
        &self.cells.starts
    }

    fn place(&self, total: u32, slab: usize) -> Place<'_> {
        self.cells.place(slab, u64::from(self.slot(total)))
    }
}

/// The tables of a region, on the device.
struct Tables {
    region: wgpu::Buffer,
    coordinates: wgpu::Buffer,
    bases: wgpu::Buffer,
    moves: wgpu::Buffer,
    ranks: wgpu::Buffer,
    words_a_block: u64,
}

impl Tables {
    fn new(problem: &Problem, rows: &Rows, cells: &Cells) -> Result<Self> {
        let (context, layout) = (&problem.context, &problem.layout);
        let region = StencilRegion {
            cap: layout.max() as i32,
            second_max: layout.second_max() as i32,
            last_lane: if layout.lane_is_floor() { layout.block(0).last_lane as i32 } else { 0 },
            slots: cells.slots as u32,
            misere: problem.rules.misere.into(),
        };
        let storage = wgpu::BufferUsages::STORAGE;
        Ok(Self {
            region: table(context, "region", bytemuck::bytes_of(&region), wgpu::BufferUsages::UNIFORM)?,
            coordinates: table(
                context,
                "coordinates",
                bytemuck::cast_slice(&pack_coordinates(layout)),
                storage,
            )?,
            bases: table(context, "bases", bytemuck::cast_slice(&bases_in_slabs(layout)), storage)?,
            moves: table(context, "moves", bytemuck::cast_slice(&rows.moves), storage)?,
            ranks: table(context, "ranks", bytemuck::cast_slice(&rank_falls(layout, cells)), storage)?,
            words_a_block: words_a_block(layout),
        })
    }

    /// Binds what dispatches on a span see.
    fn group(
        &self,
        context: &Context,
        name: &str,
        layout: &wgpu::BindGroupLayout,
        cells: &Cells,
        span: &Span,
        buffers: &Buffers,
    ) -> Result<wgpu::BindGroup> {
        fn cell_part<'a>(window: &Window<'a>) -> wgpu::BindingResource<'a> {
            part(window.buffer, window.offset, window.size)
        }
        let first = span.block_origin as u64 * 4;
        let blocks = (span.blocks.end - span.block_origin).max(1) as u64 * 4;
        let per_block = self.words_a_block;
        let resources = [
            self.region.as_entire_binding(),
            buffers.step_binding::<StencilStep>(),
            part(&self.coordinates, first * per_block, blocks * per_block),
            part(&self.bases, first, blocks),
            buffers.active.as_entire_binding(),
            self.moves.as_entire_binding(),
            self.ranks.as_entire_binding(),
            cell_part(&cells.window(span.slabs.clone())),
            cell_part(&cells.lower_window(span)),
            buffers.counts.as_entire_binding(),
        ];
        bind(context, name, layout, resources)
    }
}

/// The rows that a block's moves lead to. One serves all moves that take from the same block coordinates and touch as many
/// heaps: what remains is taken from x₁, x₂ and the lane, of which one stone each. Hence two terms may read the same row,
/// one of them at the lane one less.
struct Rows {
    /// The rows as the shader reads them, then 0 for what is written.
    moves: Vec<u32>,
    /// How many rows are in the blocks' own slab and in the slab below, with 0, 1, 2 and 3 stones taken from x₁, x₂ and the
    /// lane.
    counts: [[u32; 4]; 2],
}

impl Rows {
    fn new(terms: &[Term]) -> Self {
        let row = |term: &Term| (term.axes & 1, term.touch - term.axes.count_ones(), term.axes, term.touch);
        let rows = terms.iter().map(row).collect::<BTreeSet<_>>();
        let mut counts = [[0; 4]; 2];
        for &(below, taken, ..) in &rows {
            counts[below as usize][taken as usize] += 1;
        }
        let packed = |&(_, taken, axes, touch): &_| axes | touch << 16 | u32::from(taken > 0) << 31;
        let moves = rows.iter().map(packed).chain([0]).collect();
        Self { moves, counts }
    }

    /// Where the parts of the list start and end, by the shader's names.
    fn bounds(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let names = ["OWN_1", "OWN_2", "OWN_3", "OWN_END", "LOWER_1", "LOWER_2", "LOWER_3", "ROWS"];
        let ends = self.counts.as_flattened().iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        });
        names.into_iter().zip(ends.collect::<Vec<_>>())
    }
}

/// How many threads work on one block whose moves lead to so many rows, `least` or more, and the entries that it has in
/// the workgroup's list of rows.
fn share_of_workgroup(context: &Context, rows: u32, least: u32) -> (u32, u32) {
    // One entry more for the pitches.
    let stride = |team: u32| (rows.next_multiple_of(team) + 1).next_multiple_of(2);
    // A place and a mask each, and the eight words of a task; some words are used otherwise.
    let bytes = |team: u32| (8 * stride(team) + 32) * (THREADS / team) + 64;
    let most = context.device.limits().max_compute_workgroup_storage_size;
    let mut teams = std::iter::successors(Some(least), |&team| (team < THREADS).then_some(2 * team));
    match teams.find(|&team| bytes(team) <= if team == THREADS { most } else { SHARED_BYTES }) {
        Some(team) => (team, stride(team)),
        None => (least, 1),
    }
}

/// By how much a block's rank falls when a coordinate does, for each axis but the last, where it is 1. Then for each slab
/// where it starts in the ring, mod 2³², the words from one slot to the next, and those from one row to the next.
fn rank_falls(layout: &Layout, cells: &Cells) -> Vec<u32> {
    let falls = |terms: &Vec<u32>| {
        std::iter::once(0).chain(terms.windows(2).map(|pair| pair[1] - pair[0])).collect::<Vec<_>>()
    };
    let axes = &layout.rank_terms()[..layout.axes().saturating_sub(1)];
    let mut table = axes.iter().flat_map(falls).collect::<Vec<_>>();
    let pitches = layout.pitches().iter().map(|pitch| pitch * LANE_GROUP);
    let slabs = cells.starts.windows(2).zip(pitches);
    table.extend(slabs.flat_map(|(ends, pitch)| {
        let start = (cells.slots * ends[0]) as u32;
        [start, (ends[1] - ends[0]) as u32, pitch]
    }));
    table
}

/// Words from the start of each block's slab to the block's first row.
fn bases_in_slabs(layout: &Layout) -> Vec<u32> {
    let of_slab = |slab| {
        let bases = &layout.bases()[layout.slab_first_block(slab)..layout.slab_first_block(slab + 1)];
        bases.iter().map(|base| (base - bases[0]) * LANE_GROUP)
    };
    (0..layout.slabs()).flat_map(of_slab).collect()
}
