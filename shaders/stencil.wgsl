// What the kernels of take-one games share: this file comes before theirs. The layout is told in
// src/space/layout.rs, and how the ring of strata lies in buffers in src/gpu/cells.rs.
//
// One dispatch solves blocks of one stratum. A task is one block and every `panels`-th group of words of each of its rows;
// TEAM threads work on it, WORDS neighbouring words each, up the rows of these words' own windows. Where a block's moves
// lead is the same for all its words, so the threads of a task first look that up together, one row of cells each.
//
// A kernel says how many values of x2 a row has (ROW_VALUES) and how many words a thread takes at once (WORDS, Cells), what
// is kept of the options of a move (Best, better, beside), and solves its share of a block's words (solve_words).

// Heaps less three: how many coordinates a block has.
override AXES: u32 = 2u;
// Threads a task: as many as solve 8 words, or more where moves lead to so many rows that fewer tasks share the
// workgroup's memory.
override TEAM: u32 = 4u;

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
// The workgroup's list of rows has for each task the rows, as many as its threads find at once or a multiple, then the pitches:
// words from one row to the next. STRIDE is this length, rounded up to an even one, so that two rows are loaded at once.
// Where it is not above ROWS they do not fit, and are looked up anew for every word.
override PITCHES: u32 = (ROWS / TEAM + 1u) * TEAM;
override STRIDE: u32 = 10u;

// Whether threads keep what they know of their task in registers, which costs nothing where CPU cores pose as a GPU. A GPU has
// the more threads on their way the fewer registers each takes; there they look it up when they need it.
override KEEP_TASK: bool = false;

const THREADS: u32 = 64u;

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
    // The slot that is written; each stone taken leads one slot down, and from the first to the last.
    slot: u32,
    // Bit k is set if moves that touch k heaps may arrive where they lead.
    arrivals: u32,
}

@group(0) @binding(0) var<uniform> region: Region;
@group(0) @binding(1) var<uniform> step: Step;
// AXES 16-bit coordinates a block, two to a word, the first in the low half.
@group(0) @binding(2) var<storage, read> coordinates: array<u32>;
// Words from the start of each block's slab to the block's first row.
@group(0) @binding(3) var<storage, read> bases: array<u32>;
@group(0) @binding(4) var<storage, read> active_blocks: array<u32>;
// For each of the ROWS rows which coordinates lose a stone (bits 0 to 15, bit i for coordinate i), the number of touched
// heaps (bits 16 to 30), and in bit 31 whether stones are taken from x1, x2 and the lane. Then 0: the block's own row, to be
// written, and up to a multiple of TEAM.
@group(0) @binding(5) var<storage, read> moves: array<u32>;
// For each axis but the last and each coordinate x, by how much the rank falls from x to x - 1. Then for each slab where it
// starts, mod 2^32, the words from one slot to the next, and those from one row to the next.
@group(0) @binding(6) var<storage, read> ranks: array<u32>;
// The slabs that the dispatch's blocks are in, and the slabs one below each of them. Often the same memory.
@group(0) @binding(7) var<storage, read_write> own: array<u32>;
@group(0) @binding(8) var<storage, read_write> lower: array<u32>;
@group(0) @binding(9) var<storage, read_write> counts: array<atomic<u32>>;

// The rows that each task's moves lead to.
var<workgroup> rows: array<Row, STRIDE * (THREADS / TEAM)>;
var<workgroup> tasks: array<Task, THREADS / TEAM>;
var<workgroup> tally: atomic<u32>;
var<private> kept_task: Task;

fn coordinate(block: u32, axis: u32) -> u32 {
    let pair = coordinates[(block - step.block_origin) * ((AXES + 1u) / 2u) + axis / 2u];
    return (pair >> (16u * (axis % 2u))) & 0xffffu;
}

// Which axis bounds the lanes. Where there are none, some number that no shift objects to.
fn last_axis() -> u32 {
    return max(AXES, 1u) - 1u;
}

// How a slab lies in the bound ring: where it starts, and the words from one slot and from one row to the next.
struct Slab {
    start: u32,
    slot: u32,
    pitch: u32,
}

fn slab_of(x3: u32) -> Slab {
    let at = last_axis() * (u32(region.cap) + 1u) + 3u * x3;
    return Slab(ranks[at], ranks[at + 1u], ranks[at + 2u]);
}

// What the words of a block have in common. What is read for each word or pair of them comes first, to be loaded at once.
struct Task {
    // The block's x3, or 0.
    x3: u32,
    // Stones left for x1, x2 and the lane; negative for no positions.
    rest: i32,
    // Words from one row to the next, in its own slab and in the slab below.
    own_pitch: u32,
    lower_pitch: u32,
    // The first and the last lane with positions.
    first_lane: i32,
    last_lane: i32,
    block: u32,
    // So that each task starts where four words can be loaded at once.
    padding: u32,
}

fn task_of(block: u32) -> Task {
    var task: Task;
    task.block = block;
    task.rest = step.total;
    for (var axis = 0u; axis < AXES; axis++) {
        task.rest -= i32(coordinate(block, axis));
    }
    var bound = region.last_lane;
    var highest = task.rest / 3;
    if AXES == 0u {
        // Each row is a slab of its own, of all slots.
        task.own_pitch = slab_of(0u).pitch * region.slots;
    } else {
        task.x3 = coordinate(block, 0u);
        bound = i32(coordinate(block, last_axis()));
        highest = task.rest - 2 * i32(task.x3);
        task.own_pitch = slab_of(task.x3).pitch;
        task.lower_pitch = slab_of(max(task.x3, 1u) - 1u).pitch;
    }
    task.first_lane = max(task.rest - region.cap - region.second_max, 0);
    task.last_lane = select(min(bound, highest), -1, task.rest < 0);
    return task;
}

fn task_at(number: u32) -> Task {
    if KEEP_TASK {
        return kept_task;
    }
    return tasks[number];
}

// Where rows of a block's moves lie in the bound windows, mod 2^32: where row 0 of the bit axis would start in the first slot,
// for the first block of the slab, and the words from one slot to the next; for its own slab and the slab below.
struct Home {
    own_start: u32,
    own_slot: u32,
    lower_start: u32,
    lower_slot: u32,
}

fn home_of(block: u32) -> Home {
    if AXES == 0u {
        let slab = slab_of(0u);
        return Home(slab.start - step.own_origin, slab.pitch, 0u, 0u);
    }
    let x3 = coordinate(block, 0u);
    let below_x3 = max(x3, 1u) - 1u;
    let slab = slab_of(x3);
    let below = slab_of(below_x3);
    return Home(
        slab.start - x3 / ROW_VALUES * slab.pitch - step.own_origin,
        slab.slot,
        below.start - below_x3 / ROW_VALUES * below.pitch - step.lower_origin,
        below.slot,
    );
}

// A row of cells that moves from a block lead to: the word of lane 0 in the bound window, or the word before where moves take
// from x1, x2 or the lane, counted mod 2^32 from where row 0 of the bit axis would be; and a mask that is 0 where no such move
// is legal. The place is one to be read from even then.
struct Row {
    place: u32,
    mask: u32,
}

fn find_row(block: u32, home: Home, number: u32) -> Row {
    let packed_move = moves[number];
    let touch = (packed_move >> 16u) & 31u;
    var legal = ((step.arrivals >> touch) & 1u) == 1u;
    // The lesser of the two is the one that has not wrapped below 0.
    let slot = min(step.slot - touch, step.slot - touch + region.slots);
    // The neighbour, one less on each of the move's axes. It is no block where it is unsorted or negative.
    var rank = block;
    var most = u32(region.cap);
    for (var axis = 0u; axis < AXES; axis++) {
        let x = coordinate(block, axis);
        let falls = (packed_move >> axis) & 1u;
        // A heap of none wraps to more than any.
        legal &= x - falls <= most;
        most = x - falls;
        var fall = 1u;
        if axis + 1u < AXES {
            fall = ranks[axis * (u32(region.cap) + 1u) + x];
        }
        rank -= select(0u, fall, falls == 1u);
    }
    let below = (packed_move & 1u) == 1u;
    var place = select(home.own_start, home.lower_start, below) - (packed_move >> 31u);
    place += slot * select(home.own_slot, home.lower_slot, below);
    if AXES > 0u {
        place += select(0u, bases[select(block, rank, legal) - step.block_origin], legal);
    }
    return Row(place, select(0u, 0xffffffffu, legal));
}

// A row that the moves of a task's block lead to.
fn row_of(task: u32, number: u32) -> Row {
    if STRIDE > ROWS {
        return rows[task * STRIDE + number];
    }
    let block = task_at(task).block;
    return find_row(block, home_of(block), number);
}

// The best of what moves lead to, by what they do to x2: they leave it, or take one stone, or (from x1 or from x2) do either.
struct Options {
    unshifted: Best,
    either: Best,
    shifted: Best,
}

// How many stones the moves of a row take from x1, x2 and the lane.
fn taken_by(number: u32) -> u32 {
    if number < OWN_END {
        return u32(number >= OWN_1) + u32(number >= OWN_2) + u32(number >= OWN_3);
    }
    return u32(number >= LOWER_1) + u32(number >= LOWER_2) + u32(number >= LOWER_3);
}

// The options with a row's: its cells at a thread's words, and those at the words one before, whose lanes are less.
fn joined(options: Options, taken: u32, here: Cells, before: Cells) -> Options {
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

// The options in the rows of the own slab; `at` is the word's distance from row 0 and lane 0.
fn own_options(task: u32, at: u32) -> Options {
    var options: Options;
    for (var i = 0u; i < OWN_END; i++) {
        let row = row_of(task, i);
        let taken = taken_by(i);
        let before = row.place + at;
        let here = before + min(taken, 1u);
        options = joined(options, taken, own_cells(here) & Cells(row.mask), own_cells(before) & Cells(row.mask));
    }
    return options;
}

// These options with those in the rows first .. end, in the other window.
fn with_lower(found: Options, task: u32, first: u32, end: u32, at: u32) -> Options {
    var options = found;
    for (var i = first; i < end; i++) {
        let row = row_of(task, i);
        let taken = taken_by(i);
        let before = row.place + at;
        let here = before + min(taken, 1u);
        options = joined(options, taken, lower_cells(here) & Cells(row.mask), lower_cells(before) & Cells(row.mask));
    }
    return options;
}

// Where a word is that moves are looked up for.
struct Place {
    own: u32,
    lower: u32,
}

fn place_of(task: u32, row: u32, word: u32) -> Place {
    return Place(row * task_at(task).own_pitch + word, row * task_at(task).lower_pitch + word);
}

fn next_row(task: u32, place: Place) -> Place {
    if STRIDE > ROWS && !KEEP_TASK {
        // Not the task's own, which compilers would keep from the start.
        let pitches = rows[task * STRIDE + PITCHES];
        return Place(place.own + pitches.place, place.lower + pitches.mask);
    }
    return Place(place.own + task_at(task).own_pitch, place.lower + task_at(task).lower_pitch);
}

fn options_at(task: u32, place: Place) -> Options {
    return with_lower(own_options(task, place.own), task, OWN_END, ROWS, place.lower);
}

// The options in the row before the first of a word's window, `row`, for what it hands up.
fn options_below(task: u32, row: u32, place: Place) -> Options {
    let own_at = place.own - task_at(task).own_pitch;
    var options: Options;
    if AXES == 0u && i32(row) == step.first_row {
        // That row is in the other window.
        return with_lower(options, task, 0u, OWN_END, own_at + step.own_origin - step.lower_origin);
    }
    if row > task_at(task).x3 / ROW_VALUES {
        options = own_options(task, own_at);
    }
    return with_lower(options, task, OWN_END, ROWS, place.lower - task_at(task).lower_pitch);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = local / TEAM;
    let thread = local % TEAM;
    var index = (workgroup.y * workgroups.x + workgroup.x) * (THREADS / TEAM) + number;
    var panel = workgroup.z;
    var there = index < step.deal.active_count;
    if AXES == 0u {
        // There is but one block: the tasks of a workgroup are its panels.
        panel = index;
        there = panel < step.deal.panels;
        index = 0u;
    }
    if there {
        let block = active_blocks[step.deal.first_active + index];
        if STRIDE > ROWS {
            let home = home_of(block);
            for (var i = 0u; i < PITCHES; i += TEAM) {
                rows[number * STRIDE + i + thread] = find_row(block, home, i + thread);
            }
        }
        let task = task_of(block);
        if KEEP_TASK {
            kept_task = task;
        } else if thread == 0u {
            tasks[number] = task;
            if STRIDE > ROWS {
                rows[number * STRIDE + PITCHES] = Row(task.own_pitch, task.lower_pitch);
            }
        }
    }
    if local == 0u {
        atomicStore(&tally, 0u);
    }
    workgroupBarrier();
    var count = 0u;
    if there {
        // Which of the words of each row are this thread's first, and how many words it is to the next.
        let first = (panel * TEAM + thread) * WORDS;
        count = solve_words(number, first, step.deal.panels * TEAM * WORDS);
    }
    // Outside the condition, where a compiler that adds up a wave's counts first needs no registers for it until here.
    atomicAdd(&tally, count);
    workgroupBarrier();
    if local == 0u {
        atomicAdd(&counts[step.deal.counter], atomicLoad(&tally));
    }
}
