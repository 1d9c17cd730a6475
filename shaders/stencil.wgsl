// What the kernels of take-one games share: this file comes before theirs. The layout is told in
// src/space/layout.rs, and how the ring of strata lies in buffers in src/gpu/cells.rs.
//
// One dispatch solves blocks of one stratum. A task is one block and every `panels`-th group of LANES words of each of its
// rows; LANES threads work on it, one word each, up the rows of the word's own window. Where a block's moves lead is the
// same for all its words, so the threads of a task first look that up together, one row of cells each.
//
// A kernel says how many values of x2 a row has (ROW_VALUES), what is kept of the options of a move (Best, better, beside),
// and solves every `stride`-th word of a block's rows (solve_words).

// Heaps less three: how many coordinates a block has.
override AXES: u32 = 2u;
// Threads a task: 8, or more where moves lead to so many rows that fewer tasks share the workgroup's memory.
override LANES: u32 = 8u;

// The rows that a block's moves lead to: first those of its own slab, then those of the slab below. Either list is sorted by
// how many stones a move takes from x1, x2 and the lane; here is where those with 1, 2 and 3 start and where all end. As
// constants, so that compilers unroll the loops. The defaults are those of five heaps of width 2.
override OWN_1: u32 = 1u;
override OWN_2: u32 = 3u;
override OWN_3: u32 = 4u;
override OWN_END: u32 = 4u;
override LOWER_1: u32 = 6u;
override LOWER_2: u32 = 7u;
override LOWER_3: u32 = 7u;
override ROWS: u32 = 7u;
// Entries a task has in the workgroup's list of rows: a multiple of 4, so that four are loaded at once. Where it is not
// above ROWS they do not fit, and are looked up anew for every word.
override STRIDE: u32 = 8u;

const THREADS: u32 = 64u;
// In a source, that no move may arrive there.
const FORBIDDEN: u32 = 0x80000000u;

// What holds for the whole region.
struct Region {
    cap: i32,
    // The greatest x2 with a bit of its own: the cap, or 0 for one heap.
    second_max: i32,
    // The greatest lane where blocks have no coordinates.
    last_lane: i32,
    // Strata in the ring.
    slots: u32,
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
    // Positions with fewer nonempty heaps are terminal and N.
    least_nonempty: u32,
    // The rows of the bit axis to solve, where blocks have no coordinates; elsewhere all.
    first_row: i32,
    last_row: i32,
    // For each number of touched heaps, the slot that such moves arrive in, or FORBIDDEN and some slot that is not written.
    // For none, the slot that is written.
    sources: array<vec4<u32>, 4>,
}

@group(0) @binding(0) var<uniform> region: Region;
@group(0) @binding(1) var<uniform> step: Step;
// AXES 16-bit coordinates a block, two to a word, the first in the low half.
@group(0) @binding(2) var<storage, read> coordinates: array<u32>;
// Where each block's first row starts in slot 0, in groups of 8 words, as if there were one slot only.
@group(0) @binding(3) var<storage, read> bases: array<u32>;
@group(0) @binding(4) var<storage, read> active_blocks: array<u32>;
// For each of the ROWS rows which coordinates lose a stone (bits 0 to 15, bit i for coordinate i) and the number of touched
// heaps (bits 16 on). Then 0: the block's own row, to be written.
@group(0) @binding(5) var<storage, read> moves: array<u32>;
// For each axis and coordinate x, by how much the rank falls from x to x - 1; then for each slab where it starts and
// how long its rows are, in groups of 8 words.
@group(0) @binding(6) var<storage, read> ranks: array<u32>;
// The slabs that the dispatch's blocks are in, and the slabs one below each of them. Often the same memory.
@group(0) @binding(7) var<storage, read_write> own: array<u32>;
@group(0) @binding(8) var<storage, read_write> lower: array<u32>;
@group(0) @binding(9) var<storage, read_write> counts: array<atomic<u32>>;

// For each task and row, where it is, and the mask of what is read there.
var<workgroup> places: array<u32, STRIDE * (THREADS / LANES)>;
var<workgroup> masks: array<u32, STRIDE * (THREADS / LANES)>;
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

// What the words of a block have in common.
struct Task {
    block: u32,
    // Where its rows start in the workgroup's list.
    list: u32,
    // Words from one row to the next, in its own slab and in the slab below.
    own_pitch: u32,
    lower_pitch: u32,
    // The row of the bit axis that places are counted from: the block's first, or the dispatch's where it is one block.
    first_row: u32,
}

fn task_of(block: u32, number: u32) -> Task {
    if AXES == 0u {
        // Each row is a slab of its own, of all slots.
        return Task(block, number * STRIDE, row_pitch(0u) * region.slots, 0u, u32(step.first_row));
    }
    let x3 = coordinate(block, 0u);
    return Task(block, number * STRIDE, row_pitch(x3), row_pitch(max(x3, 1u) - 1u), x3 / ROW_VALUES);
}

// A row of cells that moves from a block lead to: the word of lane 0 in the bound window, for the task's first row, and a
// mask that is 0 where no such move is legal. The place is one to be read from even then.
struct Row {
    place: u32,
    mask: u32,
}

fn find_row(block: u32, number: u32) -> Row {
    let touch = moves[number] >> 16u;
    let source = step.sources[touch / 4u][touch % 4u];
    let slot = source & ~FORBIDDEN;
    var legal = source < FORBIDDEN;
    if AXES == 0u {
        let pitch = row_pitch(0u);
        let row = (8u + u32(step.first_row) * pitch) * region.slots + slot * pitch;
        return Row(row - step.own_origin, select(0u, 0xffffffffu, legal));
    }
    // The neighbour whose coordinates on these axes are one less. Unsorted or negative, it is no block.
    var rank = block;
    for (var axis = 0u; axis < AXES; axis++) {
        let x = coordinate(block, axis);
        if ((moves[number] >> axis) & 1u) == 1u {
            let next_stays = axis + 1u < AXES && ((moves[number] >> (axis + 1u)) & 1u) == 0u;
            legal &= x > 0u && !(next_stays && coordinate(block, axis + 1u) == x);
            rank -= ranks[axis * (u32(region.cap) + 1u) + x];
        }
    }
    let x3 = coordinate(block, 0u);
    let below = (moves[number] & 1u) == 1u;
    let slab = x3 - u32(below && x3 > 0u);
    let start = slab_start(slab);
    var base = start;
    if legal {
        base = bases[rank - step.block_origin];
    }
    // A slab of all slots starts at `slots` times its start in one slot.
    let groups = base + (region.slots - 1u) * start + slot * (slab_start(slab + 1u) - start);
    let first = (x3 / ROW_VALUES - slab / ROW_VALUES) * row_pitch(slab);
    let origin = select(step.own_origin, step.lower_origin, below);
    return Row(groups * 8u + first - origin, select(0u, 0xffffffffu, legal));
}

fn row_of(task: Task, number: u32) -> Row {
    if STRIDE > ROWS {
        return Row(places[task.list + number], masks[task.list + number]);
    }
    return find_row(task.block, number);
}

// The best of what moves lead to, by what they do to x2: they leave it, or take one stone, or (from x1 or from x2) do either.
struct Options {
    unshifted: Best,
    either: Best,
    shifted: Best,
}

// The options with a row's: its cells at a word, and those at the word before, whose lanes are less.
fn joined(options: Options, number: u32, here: u32, before: u32) -> Options {
    var taken = u32(number >= OWN_1) + u32(number >= OWN_2) + u32(number >= OWN_3);
    if number >= OWN_END {
        taken = u32(number >= LOWER_1) + u32(number >= LOWER_2) + u32(number >= LOWER_3);
    }
    // As many stones as the row says are taken from x1, x2 and the lane, one from each at most.
    var joined = options;
    if taken == 0u {
        joined.unshifted = better(options.unshifted, here);
    } else if taken == 1u {
        joined.either = better(options.either, here);
        joined.unshifted = better(options.unshifted, beside(here, before));
    } else if taken == 2u {
        joined.shifted = better(options.shifted, here);
        joined.either = better(options.either, beside(here, before));
    } else {
        joined.shifted = better(options.shifted, beside(here, before));
    }
    return joined;
}

// The options in the rows of the own slab; `at` is the word's distance from the task's first row and lane 0.
fn own_options(task: Task, at: u32) -> Options {
    var options: Options;
    for (var i = 0u; i < OWN_END; i++) {
        let row = row_of(task, i);
        let word = row.place + at;
        options = joined(options, i, own[word] & row.mask, own[word - 1u] & row.mask);
    }
    return options;
}

// These options with those in the rows first .. end, in the other window.
fn with_lower(found: Options, task: Task, first: u32, end: u32, at: u32) -> Options {
    var options = found;
    for (var i = first; i < end; i++) {
        let row = row_of(task, i);
        let word = row.place + at;
        options = joined(options, i, lower[word] & row.mask, lower[word - 1u] & row.mask);
    }
    return options;
}

// Where a word is that moves are looked up for.
struct Place {
    own: u32,
    lower: u32,
}

fn place_of(task: Task, row: u32, word: u32) -> Place {
    let rows = row - task.first_row;
    return Place(rows * task.own_pitch + word, rows * task.lower_pitch + word);
}

fn next_row(task: Task, place: Place) -> Place {
    return Place(place.own + task.own_pitch, place.lower + task.lower_pitch);
}

fn options_at(task: Task, place: Place) -> Options {
    return with_lower(own_options(task, place.own), task, OWN_END, ROWS, place.lower);
}

// The options in the row before the first of a word's window, `row`, for what it hands up.
fn options_below(task: Task, row: u32, x3: u32, place: Place) -> Options {
    let own_at = place.own - task.own_pitch;
    var options: Options;
    if AXES == 0u && i32(row) == step.first_row {
        // That row is in the other window.
        return with_lower(options, task, 0u, OWN_END, own_at + step.own_origin - step.lower_origin);
    }
    if row > x3 / ROW_VALUES {
        options = own_options(task, own_at);
    }
    return with_lower(options, task, OWN_END, ROWS, place.lower - task.lower_pitch);
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
    let number = local / LANES;
    let thread = local % LANES;
    let index = (workgroup.y * workgroups.x + workgroup.x) * (THREADS / LANES) + number;
    let there = index < step.deal.active_count;
    var block = 0u;
    if there {
        block = active_blocks[step.deal.first_active + index];
        if STRIDE > ROWS {
            for (var i = thread; i <= ROWS; i += LANES) {
                let row = find_row(block, i);
                places[number * STRIDE + i] = row.place;
                masks[number * STRIDE + i] = row.mask;
            }
        }
    }
    if local == 0u {
        atomicStore(&tally, 0u);
    }
    workgroupBarrier();
    if there {
        // Which of the words of each row is this thread's first, and how many words it is to the next.
        let first = workgroup.z * LANES + thread;
        let count = solve_words(task_of(block, number), window_of(block), first, step.deal.panels * LANES);
        if count > 0u {
            atomicAdd(&tally, count);
        }
    }
    workgroupBarrier();
    if local == 0u {
        atomicAdd(&counts[step.deal.counter], atomicLoad(&tally));
    }
}
