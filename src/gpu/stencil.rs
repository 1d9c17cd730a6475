//! What the kernels of take-one games share: the ring of strata on the device, the tables, and the dispatches of
//! `shaders/stencil.wgsl`, before which a kernel's own shader stands.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Zeroable;

use super::Context;
use super::cells::{Cells, Place, Span, Window, words_a_block};
use super::params::{FORBIDDEN, StencilRegion, StencilStep};
use super::strata::{Buffers, Dispatch, Kernel, Problem, THREADS};
use super::tables::{bind, bind_group_layout, pack_coordinates, part, table};
use crate::error::Result;
use crate::game::Ruleset;
use crate::space::{Cell, LANE_GROUP, Layout, Shift, Stencil, Term};

/// Neighbour blocks that fit a workgroup's memory: the more a block has, the fewer blocks share a workgroup.
const NEIGHBOURS: u32 = 2048;

/// What one kernel has of its own.
pub trait Shader: Send + Sync {
    /// What it is called in messages.
    const NAME: &'static str;
    /// The source, `shaders/stencil.wgsl` included.
    const SOURCE: &'static str;
    /// What its cells hold.
    const CELL: Cell;
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
    lanes: u32,
    shader: PhantomData<S>,
}

impl<S: Shader> StencilKernel<S> {
    fn slot(&self, total: u32) -> u32 {
        total % self.cells.slots as u32
    }

    /// The parameters that all dispatches of a stratum share.
    fn step(&self, rules: &Ruleset, total: u32) -> StencilStep {
        let touches = self.stencil.touches(rules, total);
        let source = |touch: usize| {
            let touch = touch as u32;
            if touches.contains(touch) { self.slot(total - touch) } else { FORBIDDEN }
        };
        StencilStep {
            total: total as i32,
            slot: self.slot(total),
            least_nonempty: Stencil::least_nonempty(rules, touches),
            sources: std::array::from_fn(source),
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
        let tables = Tables::new(problem, &stencil, &cells)?;
        // As many threads to a block as leave its neighbours room: 8, 16, 32 or 64.
        let lanes = (THREADS * tables.neighbours).div_ceil(NEIGHBOURS).next_power_of_two().max(LANE_GROUP);
        let overrides = [
            ("AXES", layout.axes() as f64),
            ("LANES", f64::from(lanes)),
            ("NEIGHBOURS", f64::from(tables.neighbours)),
        ];
        let bindings = bind_group_layout(context, S::NAME, 5, 3)?;
        let checked = problem.limits.checked;
        let pipeline = context.pipeline(S::NAME, S::SOURCE, "main", &bindings, &overrides, checked)?;
        let buffers = Buffers::new(context)?;
        let group = |span| tables.group(context, S::NAME, &bindings, &cells, span, &buffers);
        let groups = cells.spans.iter().map(group).collect::<Result<_>>()?;
        Ok(Self { stencil, cells, pipeline, buffers, groups, lanes, shader: PhantomData })
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

    fn lanes(&self) -> u32 {
        self.lanes
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
            let rows = (layout.second_max() / S::CELL.row_values()) as usize + 1;
            let rows = if layout.lane_is_floor() { slabs } else { 0..rows };
            let step = StencilStep {
                block_origin: span.block_origin as u32,
                own_origin: self.cells.window(span.slabs.clone()).origin as u32,
                lower_origin: self.cells.lower_window(span).origin as u32,
                first_row: rows.start as i32,
                last_row: rows.end as i32 - 1,
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
    terms: wgpu::Buffer,
    ranks: wgpu::Buffer,
    words_a_block: u64,
    /// Different sets of coordinates that terms take from: the neighbour blocks of each block.
    neighbours: u32,
}

impl Tables {
    fn new(problem: &Problem, stencil: &Stencil, cells: &Cells) -> Result<Self> {
        let (context, layout) = (&problem.context, &problem.layout);
        let (terms, ends, neighbours) = encode_terms(&stencil.terms);
        let region = StencilRegion {
            cap: layout.max() as i32,
            second_max: layout.second_max() as i32,
            last_lane: if layout.lane_is_floor() { layout.block(0).last_lane as i32 } else { 0 },
            slots: cells.slots as u32,
            unshifted_end: ends[0],
            either_end: ends[1],
            shifted_end: ends[2],
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
            bases: table(context, "bases", bytemuck::cast_slice(layout.bases()), storage)?,
            terms: table(context, "terms", bytemuck::cast_slice(&terms), storage)?,
            ranks: table(context, "ranks", bytemuck::cast_slice(&rank_falls(layout, cells)), storage)?,
            words_a_block: words_a_block(layout),
            neighbours,
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
            self.terms.as_entire_binding(),
            self.ranks.as_entire_binding(),
            cell_part(&cells.window(span.slabs.clone())),
            cell_part(&cells.lower_window(span)),
            buffers.counts.as_entire_binding(),
        ];
        bind(context, name, layout, resources)
    }
}

/// Terms as the shader reads them, the ends of their three groups by how their rows are read, and the number of
/// different sets of coordinates, which stand before the terms.
fn encode_terms(terms: &[Term]) -> (Vec<u32>, [u32; 3], u32) {
    let mut encoded = vec![0];
    encoded.extend(terms.iter().map(|term| term.axes).filter(|&axes| axes != 0));
    encoded.dedup();
    let neighbours = encoded.len();
    let ends = [Shift::None, Shift::Either, Shift::One].map(|shift| {
        for term in terms.iter().filter(|term| term.shift == shift) {
            let neighbour = encoded[..neighbours].iter().position(|&axes| axes == term.axes);
            let neighbour = neighbour.expect("the sets of all terms are listed") as u32;
            let below = term.axes & 1;
            encoded.push(neighbour | u32::from(term.lane) << 16 | below << 17 | term.touch << 18);
        }
        encoded.len() as u32
    });
    (encoded, ends, neighbours as u32)
}

/// By how much a block's rank falls when a coordinate does, for each axis and coordinate; then the starts of slabs and
/// the lengths of their rows, in lane groups.
fn rank_falls(layout: &Layout, cells: &Cells) -> Vec<u32> {
    let falls = |terms: &Vec<u32>| {
        std::iter::once(0).chain(terms.windows(2).map(|pair| pair[1] - pair[0])).collect::<Vec<_>>()
    };
    let mut table: Vec<u32> = layout.rank_terms().iter().flat_map(falls).collect();
    let starts = cells.starts.iter().map(|&start| (start / u64::from(LANE_GROUP)) as u32);
    let pitches = layout.pitches().iter().copied().chain(std::iter::once(0));
    table.extend(starts.zip(pitches).flat_map(|(start, pitch)| [start, pitch]));
    table
}
