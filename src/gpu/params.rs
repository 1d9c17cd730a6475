//! What the shaders are told, as they lay it out; a test compares every field with the shader's own.

use bytemuck::{Pod, Zeroable};

/// `Deal` of every shader: which part of a batch's list of active blocks a dispatch works on.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub struct Deal {
    /// Where the dispatch's blocks start in the active list.
    pub first_active: u32,
    /// How many blocks it solves.
    pub active_count: u32,
    /// Over how many tasks the lanes of a block are dealt.
    pub panels: u32,
    /// Which counter the P-positions are added to.
    pub counter: u32,
}

/// `Region` of `shaders/stencil.wgsl`: what holds for the whole region.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct StencilRegion {
    /// The greatest size of a heap.
    pub cap: i32,
    /// The greatest x₂ with a bit of its own.
    pub second_max: i32,
    /// The greatest lane where blocks have no coordinates.
    pub last_lane: i32,
    /// Strata in the ring.
    pub slots: u32,
    /// 1 if the player without a move wins, else 0.
    pub misere: u32,
}

/// `Step` of `shaders/stencil.wgsl`: what holds for one dispatch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct StencilStep {
    /// Which blocks it solves.
    pub deal: Deal,
    /// The total of the stratum.
    pub total: i32,
    /// The first block in the bound windows of tables.
    pub block_origin: u32,
    /// The first word in the window of the blocks' own slabs, mod 2³².
    pub own_origin: u32,
    /// The first word in the window of the slabs below, mod 2³².
    pub lower_origin: u32,
    /// Positions with fewer nonempty heaps are terminal and N.
    pub least_nonempty: u32,
    /// The first row of the bit axis to solve, where blocks have no coordinates.
    pub first_row: i32,
    /// The last row of the bit axis to solve, where blocks have no coordinates.
    pub last_row: i32,
    /// The slot that is written; each stone taken leads one slot down, and from the first to the last.
    pub slot: u32,
    /// Bit k is set if moves that touch k heaps may arrive where they lead.
    pub arrivals: u32,
}

/// `Region` of `shaders/sieve.wgsl`: what holds for the whole region. The last five are places in the shader's `index`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct SieveRegion {
    /// The greatest size of a heap.
    pub cap: i32,
    /// The greatest x₂ with a bit of its own.
    pub second_max: i32,
    /// The greatest lane where blocks have no coordinates.
    pub last_lane: i32,
    /// The blocks' coordinates.
    pub coordinates: u32,
    /// What each coordinate adds to a block's rank.
    pub rank_terms: u32,
    /// Where each block's rows, mirror and diagonals lie.
    pub strips: u32,
    /// The number of the first plane of each block of one coordinate less.
    pub first_planes: u32,
    /// Where each plane lies.
    pub planes: u32,
}

/// `Step` of `shaders/sieve.wgsl`: what holds for one dispatch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct SieveStep {
    /// Which blocks it solves.
    pub deal: Deal,
    /// The total of the stratum.
    pub total: i32,
    /// Positions whose largest heap is smaller are terminal and N.
    pub least_largest: i32,
    /// 1 if moves may arrive at this total.
    pub allowed: u32,
    /// 1 if the verdicts are to be kept.
    pub keep: u32,
}

/// `Grid` of `shaders/density.wgsl`: what holds for the whole map.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct DensityGrid {
    /// How many cells the next position of a segment is further, modulo 2³².
    pub step: u32,
}

/// `Step` of `shaders/density.wgsl`: what holds for one dispatch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct DensityStep {
    /// How many segments there are.
    pub segments: u32,
}
