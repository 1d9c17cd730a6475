// What the kernels of take-one games share: this file comes before theirs. The layout is told in
// src/space/layout.rs, and how the ring of strata lies in buffers in src/gpu/cells.rs.
//
// One dispatch solves blocks of one stratum. A task is one block and every `panels`-th group of LANES words of each of its
// rows; LANES threads work on it, one word each, up the rows of the word's own window. All tasks of a workgroup first
// look up their blocks' neighbours together.
//
// A kernel says how many values of x2 a row has, ROW_VALUES, and solves every `stride`-th word of a block's rows in
// solve_words.

// Heaps less three: how many coordinates a block has.
override AXES: u32 = 2u;
// Threads a task: 8, or more where a block has so many neighbours that fewer tasks share the workgroup's memory.
override LANES: u32 = 8u;

// Neighbour blocks that a block has, itself among them: different sets of coordinates that moves take from.
override NEIGHBOURS: u32 = 4u;

const THREADS: u32 = 64u;
// A neighbour that would be unsorted or negative. Never the place of a row, as those are multiples of 8.
const NOWHERE: u32 = 0xffffffffu;
// The source of a number of touched heaps with which no move may arrive.
const FORBIDDEN: u32 = 0xffffffffu;

// What holds for the whole region.
struct Region {
    cap: i32,
    // The greatest x2 with a bit of its own: the cap, or 0 for one heap.
    second_max: i32,
    // The greatest lane where blocks have no coordinates.
    last_lane: i32,
    // Strata in the ring.
    slots: u32,
    // Ends of the three lists of terms: read unshifted, read both ways, read shifted.
    unshifted_end: u32,
    either_end: u32,
    shifted_end: u32,
    // 1 if the player without a move wins, else 0.
    misere: u32,
}

// Which part of the list of active blocks a dispatch works on.
struct Deal {
    first_active: u32,
    active_count: u32,
    panels: u32,
    counter: u32,
}

// What holds for one dispatch.
struct Step {
    deal: Deal,
    total: i32,
    // The first block in the bound windows of coordinates and bases.
    block_origin: u32,
    // The first words, mod 2^32, in the bound windows of cells.
    own_origin: u32,
    lower_origin: u32,
    // The slot that is written.
    slot: u32,
    // Positions with fewer nonempty heaps are terminal and N.
    least_nonempty: u32,
    // The rows of the bit axis to solve.
    first_row: i32,
    last_row: i32,
    // For each number of touched heaps, the slot that such moves arrive in.
    sources: array<vec4<u32>, 4>,
}

@group(0) @binding(0) var<uniform> region: Region;
@group(0) @binding(1) var<uniform> step: Step;
// AXES 16-bit coordinates a block, two to a word, the first in the low half.
@group(0) @binding(2) var<storage, read> coordinates: array<u32>;
// Where each block's first row starts in slot 0, in groups of 8 words, as if there were one slot only.
@group(0) @binding(3) var<storage, read> bases: array<u32>;
@group(0) @binding(4) var<storage, read> active_blocks: array<u32>;
// First the NEIGHBOURS sets of coordinates that lose a stone, bit i for coordinate i, the empty set first. Then the
// terms: the number of the set (bits 0 to 15), whether the lane loses a stone (bit 16), whether x3 does (bit 17), and
// the number of touched heaps (bits 18 on).
@group(0) @binding(5) var<storage, read> terms: array<u32>;
// For each axis and coordinate x, by how much the rank falls from x to x - 1; then for each slab where it starts and
// how long its rows are, in groups of 8 words.
@group(0) @binding(6) var<storage, read> ranks: array<u32>;
// The slabs that the dispatch's blocks are in, and the slabs one below each of them. Often the same memory.
@group(0) @binding(7) var<storage, read_write> own: array<u32>;
@group(0) @binding(8) var<storage, read_write> lower: array<u32>;
@group(0) @binding(9) var<storage, read_write> counts: array<atomic<u32>>;

var<workgroup> neighbours: array<u32, NEIGHBOURS * (THREADS / LANES)>;
var<workgroup> tally: atomic<u32>;

fn coordinate(block: u32, axis: u32) -> u32 {
    let pair = coordinates[(block - step.block_origin) * ((AXES + 1u) / 2u) + axis / 2u];
    return (pair >> (16u * (axis % 2u))) & 0xffffu;
}

// Which axis bounds the lanes. Where there are none, some number that no shift objects to.
fn last_axis() -> u32 {
    return max(AXES, 1u) - 1u;
}

fn slab_start(slab: u32) -> u32 {
    return ranks[AXES * (u32(region.cap) + 1u) + 2u * slab];
}

fn row_pitch(slab: u32) -> u32 {
    return ranks[AXES * (u32(region.cap) + 1u) + 2u * slab + 1u] * 8u;
}

// How the rows lie that a block's terms read: those of its own slab, and those of the slab below.
struct Rows {
    // Words from one slot to the next.
    own_slot: u32,
    lower_slot: u32,
    // Words from one row to the next.
    own_row: u32,
    lower_row: u32,
    // Where the task's neighbours start in the workgroup's list.
    neighbours: u32,
}

fn rows_of(block: u32, task: u32) -> Rows {
    var rows: Rows;
    rows.neighbours = task * NEIGHBOURS;
    if AXES == 0u {
        // Each row is a slab of its own.
        rows.own_slot = row_pitch(0u);
        rows.own_row = rows.own_slot * region.slots;
        return rows;
    }
    let x3 = coordinate(block, 0u);
    let below = max(x3, 1u) - 1u;
    let start = slab_start(x3);
    rows.own_slot = (slab_start(x3 + 1u) - start) * 8u;
    rows.lower_slot = (start - slab_start(below)) * 8u;
    rows.own_row = row_pitch(x3);
    rows.lower_row = row_pitch(below);
    return rows;
}

// Where row 0, lane 0 of slot 0 of the neighbour would be whose coordinates on the axes of `removed` are one less.
fn neighbour(block: u32, removed: u32, rows: Rows) -> u32 {
    if AXES == 0u {
        return 8u * region.slots - step.own_origin;
    }
    var rank = block;
    var x3 = 0u;
    for (var axis = 0u; axis < AXES; axis++) {
        let x = coordinate(block, axis);
        let falls = (removed >> axis) & 1u;
        if axis == 0u {
            x3 = x - falls;
        }
        if falls == 1u {
            let next_stays = axis + 1u < AXES && ((removed >> (axis + 1u)) & 1u) == 0u;
            if x == 0u || (next_stays && coordinate(block, axis + 1u) == x) {
                return NOWHERE;
            }
            rank -= ranks[axis * (u32(region.cap) + 1u) + x];
        }
    }
    let below = (removed & 1u) == 1u;
    let row = select(rows.own_row, rows.lower_row, below);
    let origin = select(step.own_origin, step.lower_origin, below);
    // A slab of all slots starts at `slots` times its start in one slot.
    let base = bases[rank - step.block_origin] + (region.slots - 1u) * slab_start(x3);
    return base * 8u - (x3 / ROW_VALUES) * row - origin;
}

// The positions of a block in the stratum.
struct Window {
    // Stones left for x1, x2 and the lane; negative for no positions.
    rest: i32,
    // The first and the last lane with positions.
    first_lane: i32,
    last_lane: i32,
    // The block's x3, or 0.
    x3: u32,
    // How many of the block's coordinates are not 0.
    nonempty: u32,
}

fn window_of(block: u32) -> Window {
    var window: Window;
    var sum = 0u;
    for (var axis = 0u; axis < AXES; axis++) {
        let x = coordinate(block, axis);
        sum += x;
        window.nonempty += u32(x > 0u);
    }
    var bound = region.last_lane;
    if AXES > 0u {
        window.x3 = coordinate(block, 0u);
        bound = i32(coordinate(block, last_axis()));
    }
    window.rest = step.total - i32(sum);
    window.first_lane = max(window.rest - region.cap - region.second_max, 0);
    let highest = select(window.rest - 2 * i32(window.x3), window.rest / 3, AXES == 0u);
    window.last_lane = select(min(bound, highest), -1, window.rest < 0);
    return window;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let slot_in_group = local / LANES;
    let thread = local % LANES;
    let task = (workgroup.y * workgroups.x + workgroup.x) * (THREADS / LANES) + slot_in_group;
    let index = task / step.deal.panels;
    let there = index < step.deal.active_count;
    var block = 0u;
    var rows: Rows;
    if there {
        block = active_blocks[step.deal.first_active + index];
        rows = rows_of(block, slot_in_group);
        for (var i = thread; i < NEIGHBOURS; i += LANES) {
            neighbours[rows.neighbours + i] = neighbour(block, terms[i], rows);
        }
    }
    if local == 0u {
        atomicStore(&tally, 0u);
    }
    workgroupBarrier();
    if there {
        let place = neighbours[rows.neighbours];
        // Which of the words of each row is this thread's first, and how many words it is to the next.
        let first = task % step.deal.panels * LANES + thread;
        let count = solve_words(window_of(block), first, step.deal.panels * LANES, place, rows);
        if count > 0u {
            atomicAdd(&tally, count);
        }
    }
    workgroupBarrier();
    if local == 0u {
        atomicAdd(&counts[step.deal.counter], atomicLoad(&tally));
    }
}
