//! Dispatches `shaders/sieve.wgsl`: verdicts of games that take any number of stones from one heap.
//!
//! Line bits may be anywhere in a table, so each table is bound whole. Verdicts are kept for one stratum, and only
//! where observers want them.

use std::ops::Range;

use super::cells::{Place, slab_starts};
use super::params::{Deal, SieveRegion, SieveStep};
use super::strata::{Buffers, Dispatch, Kernel, Problem, Strata, Team};
use super::tables::{bind, bind_group_layout, pack_coordinates, table};
use crate::error::{Error, Result};
use crate::space::{Cell, LANE_GROUP, Layout, LineLayout, Strip};

/// The shader's source.
pub const SHADER: &str = include_str!("../../shaders/sieve.wgsl");

/// A distance that no heap reaches.
const UNREACHABLE: i32 = 1 << 30;

/// The GPU backend for games that take any number of stones from one heap.
pub type Sieve = Strata<SieveKernel>;

/// The kernel for verdicts of games that take any number of stones from one heap.
pub struct SieveKernel {
    pipeline: wgpu::ComputePipeline,
    buffers: Buffers,
    group: wgpu::BindGroup,
    slot: wgpu::Buffer,
    lines: [wgpu::Buffer; 4],
    starts: Vec<u64>,
}

impl Kernel for SieveKernel {
    const CELL: Cell = Cell::Verdicts;

    fn load(problem: &Problem) -> Result<Self> {
        let (context, layout) = (&problem.context, &problem.layout);
        let lines = LineLayout::new(layout)?;
        let limit = context.summary.max_binding_bytes;
        let needed = 4 * lines.words().into_iter().chain([layout.words()]).max().unwrap_or(0);
        if needed > limit {
            return Err(Error::Binding { adapter: context.summary.name.clone(), needed, limit });
        }
        let overrides = [("HEAPS", f64::from(layout.heaps())), ("AXES", layout.axes() as f64)];
        let bindings = bind_group_layout(context, "sieve", 2, 6)?;
        let checked = problem.limits.checked;
        let pipeline = context.pipeline("sieve", SHADER, "main", &bindings, &overrides, checked)?;
        let buffers = Buffers::new(context)?;
        let (region, index) = index(layout, &lines);
        let region = table(context, "region", bytemuck::bytes_of(&region), wgpu::BufferUsages::UNIFORM)?;
        let index = table(context, "index", bytemuck::cast_slice(&index), wgpu::BufferUsages::STORAGE)?;
        let copied = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let [rows, mirror, diagonals, planes] =
            lines.words().map(|words| context.storage_buffer("lines", 4 * words, copied));
        let lines = [rows?, mirror?, diagonals?, planes?];
        let slot = context.storage_buffer("stratum", 4 * layout.words(), wgpu::BufferUsages::COPY_SRC)?;
        let tables =
            [&index, &buffers.active, &lines[0], &lines[1], &lines[2], &lines[3], &slot, &buffers.counts];
        let resources = [region.as_entire_binding(), buffers.step_binding::<SieveStep>()]
            .into_iter()
            .chain(tables.map(wgpu::Buffer::as_entire_binding));
        let group = bind(context, "sieve", &bindings, resources)?;
        Ok(Self { pipeline, buffers, group, slot, lines, starts: slab_starts(layout) })
    }

    fn pipeline(&self) -> &wgpu::ComputePipeline {
        &self.pipeline
    }

    fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    fn group(&self, _number: usize) -> &wgpu::BindGroup {
        &self.group
    }

    fn team(&self) -> Team {
        Team { threads: LANE_GROUP, words: LANE_GROUP }
    }

    fn dispatches(
        &self,
        problem: &Problem,
        total: u32,
        bits: bool,
        active: &[u32],
    ) -> (Vec<Dispatch>, Range<usize>) {
        let (rules, layout) = (&problem.rules, &problem.layout);
        let allowed = |total: &u32| !rules.forbidden.contains(u64::from(*total));
        let distance = (0..total).rev().find(allowed).map_or(UNREACHABLE, |below| (total - below) as i32);
        let step = SieveStep {
            deal: Deal::default(),
            total: total as i32,
            least_largest: if rules.misere { distance } else { 0 },
            allowed: u32::from(allowed(&total)),
            keep: u32::from(bits),
        };
        let slabs = match active {
            _ if layout.lane_is_floor() => 0..(total / 2).min(layout.second_max()) as usize / 32 + 1,
            [first, .., last] => layout.slab_of(*first)..layout.slab_of(*last) + 1,
            [only] => layout.slab_of(*only)..layout.slab_of(*only) + 1,
            [] => 0..0,
        };
        let step = bytemuck::bytes_of(&step).to_vec();
        (vec![Dispatch { group: 0, step, active: 0..active.len() }], slabs)
    }

    fn slab_starts(&self) -> &[u64] {
        &self.starts
    }

    fn place(&self, _total: u32, slab: usize) -> Place<'_> {
        let (start, end) = (self.starts[slab], self.starts[slab + 1]);
        Place { buffer: &self.slot, offset: 4 * start, size: 4 * (end - start) }
    }

    fn memory(&self) -> Vec<&wgpu::Buffer> {
        self.lines.iter().collect()
    }

    fn depth(&self) -> Option<u32> {
        None
    }
}

/// All that the shader looks up, in one table, and the places of its parts.
fn index(layout: &Layout, lines: &LineLayout) -> (SieveRegion, Vec<u32>) {
    let mut index: Vec<u32> = Vec::new();
    let mut part = |values: &mut dyn Iterator<Item = u32>| {
        let start = index.len() as u32;
        index.extend(values);
        start
    };
    let wrapped = |strip: Strip| [strip.origin as u32, strip.stride as u32];
    let block_strips = |rank: u32| {
        let block = layout.block(rank);
        let strips = [lines.rows(&block), lines.mirror(rank, &block), lines.diagonals(rank, &block)];
        strips.into_iter().flat_map(wrapped)
    };
    let region = SieveRegion {
        cap: layout.max() as i32,
        second_max: layout.second_max() as i32,
        last_lane: if layout.lane_is_floor() { layout.block(0).last_lane as i32 } else { 0 },
        coordinates: part(&mut pack_coordinates(layout).into_iter()),
        rank_terms: part(&mut layout.rank_terms().iter().flatten().copied()),
        strips: part(&mut (0..layout.blocks() as u32).flat_map(block_strips)),
        first_planes: part(&mut lines.first_planes().iter().map(|&plane| plane as u32)),
        planes: part(&mut lines.plane_strips().flat_map(wrapped)),
    };
    // A part that is empty may be at the very end.
    index.push(0);
    (region, index)
}
