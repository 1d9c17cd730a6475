// Verdicts of games that take any number of stones from one heap: one dispatch solves blocks of one stratum and marks
// the lines of every P-position that moves may arrive at. The CPU twin is src/cpu/sieve.rs; where the line bits are is
// told in src/space/lines.rs.
//
// A task is one block and every `panels`-th group of LANES lanes of it; LANES threads work on it, one lane each, up
// the words of the lane's window. Two positions of a stratum never share a line, so no thread reads a bit that another
// sets meanwhile; only the words are shared, hence the atomics.

// Heaps, and heaps less three: how many coordinates a block has.
override HEAPS: u32 = 3u;
override AXES: u32 = 0u;
// Threads a task.
override LANES: u32 = 8u;

const THREADS: u32 = 64u;
const MOST_HEAPS: u32 = 14u;

// What holds for the whole region. The last five are places in `index`.
struct Region {
    cap: i32,
    // The greatest x2 with a bit of its own: the cap, or 0 for one heap.
    second_max: i32,
    // The greatest lane where blocks have no coordinates.
    last_lane: i32,
    // AXES 16-bit coordinates a block, two to a word, the first in the low half.
    coordinates: u32,
    // What each coordinate of each axis adds to a block's rank.
    rank_terms: u32,
    // Six numbers a block: where its rows, mirror and diagonals start, each with the words from one row to the next.
    strips: u32,
    // For each block of one coordinate less, the number of its plane of rest 0, could it be there.
    first_planes: u32,
    // Two numbers a plane: where it starts, and the words from one row to the next.
    planes: u32,
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
    // Positions whose largest heap is smaller are terminal and N.
    least_largest: i32,
    // Whether moves may arrive at this total.
    allowed: u32,
    // Whether the verdicts are to be kept.
    keep: u32,
}

@group(0) @binding(0) var<uniform> region: Region;
@group(0) @binding(1) var<uniform> step: Step;
@group(0) @binding(2) var<storage, read> index: array<u32>;
@group(0) @binding(3) var<storage, read> active_blocks: array<u32>;
@group(0) @binding(4) var<storage, read_write> rows: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> mirror: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> diagonals: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> planes: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> slot: array<u32>;
@group(0) @binding(9) var<storage, read_write> counts: array<atomic<u32>>;

// For each task and axis, the plane of the line without that coordinate.
var<workgroup> task_planes: array<Plane, (AXES + 1u) * (THREADS / LANES)>;
var<workgroup> tally: atomic<u32>;

// The rows of one box: row w starts (lane 0) at word origin + w * stride of its table, all mod 2^32.
struct Strip {
    origin: u32,
    stride: u32,
}

// The plane of the lines without one coordinate, and 1; or 0 where that is equal to the next one: the lines are the same.
struct Plane {
    strip: Strip,
    present: u32,
}

fn place(strip: Strip, word: i32, lane: i32) -> u32 {
    return strip.origin + u32(word) * strip.stride + u32(lane);
}

fn block_strip(block: u32, table: u32) -> Strip {
    let at = region.strips + 6u * block + 2u * table;
    return Strip(index[at], index[at + 1u]);
}

fn plane_strip(plane: u32) -> Strip {
    let at = region.planes + 2u * plane;
    return Strip(index[at], index[at + 1u]);
}

fn coordinate(block: u32, axis: u32) -> u32 {
    let pair = index[region.coordinates + block * ((AXES + 1u) / 2u) + axis / 2u];
    return (pair >> (16u * (axis % 2u))) & 0xffffu;
}

fn rank_term(axis: u32, x: u32) -> u32 {
    return index[region.rank_terms + axis * (u32(region.cap) + 1u) + x];
}

fn block_last_lane(block: u32) -> i32 {
    if AXES == 0u {
        return region.last_lane;
    }
    return i32(coordinate(block, max(AXES, 1u) - 1u));
}

// The bits from `bit` on: all for bit <= 0, none for bit >= 32.
fn at_least(bit: i32) -> u32 {
    return select(0xffffffffu << u32(max(bit, 0)), 0u, bit >= 32);
}

// The plane of the lines without one coordinate of a block, where x1 + x2 + lane = rest.
fn plane_without(block: u32, left_out: u32, rest: i32) -> Plane {
    if left_out + 1u < AXES && coordinate(block, left_out + 1u) == coordinate(block, left_out) {
        return Plane(Strip(0u, 0u), 0u);
    }
    // With one coordinate less, an axis has the terms that the next one has here.
    var rank = 0u;
    for (var axis = 0u; axis < left_out; axis++) {
        rank += rank_term(axis + 1u, coordinate(block, axis));
    }
    for (var axis = left_out + 1u; axis < AXES; axis++) {
        rank += rank_term(axis, coordinate(block, axis));
    }
    return Plane(plane_strip(index[region.first_planes + rank] + u32(rest)), 1u);
}

// What the words of a block in a stratum have in common.
struct Task {
    block: u32,
    // Where its planes are in the workgroup's list.
    planes: u32,
    // Stones left for x1, x2 and the lane.
    rest: i32,
    // The least and the greatest values of what else bounds its windows: x3, or 0, and the lane.
    x3: i32,
    last_lane: i32,
    rows: Strip,
    mirror: Strip,
    diagonals: Strip,
}

fn task_of(block: u32, number: u32, rest: i32) -> Task {
    var task: Task;
    task.block = block;
    task.planes = number * AXES;
    task.rest = rest;
    if AXES > 0u {
        task.x3 = i32(coordinate(block, 0u));
    }
    task.last_lane = block_last_lane(block);
    task.rows = block_strip(block, 0u);
    if HEAPS >= 2u {
        task.mirror = block_strip(block, 1u);
    }
    if HEAPS >= 3u {
        task.diagonals = block_strip(block, 2u);
    }
    return task;
}

// The line bits of 32 neighbouring values of x2, those of all lines of a position in one.
fn taken(task: Task, word: i32, lane: i32) -> u32 {
    var bits = atomicLoad(&rows[place(task.rows, word, lane)]);
    if HEAPS >= 2u {
        let bit = region.cap + task.last_lane - task.rest + word * 32;
        let low = atomicLoad(&mirror[place(task.mirror, bit >> 5u, lane)]);
        let high = atomicLoad(&mirror[place(task.mirror, (bit >> 5u) + 1, lane)]);
        let shift = u32(bit) % 32u;
        bits |= (low >> shift) | ((high << 1u) << (31u - shift));
    }
    if HEAPS >= 3u {
        bits |= atomicLoad(&diagonals[place(task.diagonals, word, 2 * region.cap - task.rest + lane)]);
    }
    for (var axis = 0u; axis < AXES; axis++) {
        let plane = task_planes[task.planes + axis];
        if plane.present != 0u {
            bits |= atomicLoad(&planes[place(plane.strip, word, lane)]);
        }
    }
    return bits;
}

// The rank of the block with the coordinates heap[first], heap[first + 1], … where the first axis is `axis`.
fn rank_of(heap: ptr<function, array<i32, MOST_HEAPS>>, first: u32, axis: u32) -> u32 {
    var rank = 0u;
    for (var i = axis; i < AXES; i++) {
        rank += rank_term(i, u32((*heap)[first + i - axis]));
    }
    return rank;
}

// Sets the bits of the line that is named by the first HEAPS - 1 of these heaps, in every table.
fn mark_line(heap: ptr<function, array<i32, MOST_HEAPS>>) {
    var block = 0u;
    var lane = 0;
    if HEAPS >= 3u {
        block = rank_of(heap, 1u, 0u);
        lane = (*heap)[max(HEAPS, 2u) - 2u];
    }
    let first = select((*heap)[0], 0, HEAPS == 1u);
    atomicOr(&rows[place(block_strip(block, 0u), first / 32, lane)], 1u << (u32(first) % 32u));
    if HEAPS >= 2u {
        let bit = region.cap + block_last_lane(block) - (first + lane);
        atomicOr(&mirror[place(block_strip(block, 1u), bit / 32, lane)], 1u << (u32(bit) % 32u));
    }
    let second = (*heap)[1];
    let place_in_word = 1u << (u32(second) % 32u);
    if HEAPS >= 3u {
        let strip = block_strip(rank_of(heap, 2u, 0u), 2u);
        let diagonal = 2 * region.cap - (first + second);
        atomicOr(&diagonals[place(strip, second / 32, diagonal)], place_in_word);
    }
    if HEAPS >= 4u {
        let rank = rank_of(heap, 2u, 1u);
        let plane = index[region.first_planes + rank] + u32(first + second + lane);
        atomicOr(&planes[place(plane_strip(plane), second / 32, lane)], place_in_word);
    }
}

// Sets the bits of all lines of a P-position.
fn mark(block: u32, second: i32, lane: i32, rest: i32) {
    var heap: array<i32, MOST_HEAPS>;
    heap[0] = rest - lane - second;
    heap[1] = second;
    for (var axis = 0u; axis < AXES; axis++) {
        heap[2u + axis] = i32(coordinate(block, axis));
    }
    if HEAPS >= 3u {
        heap[HEAPS - 1u] = lane;
    }
    // Leave out the last heap, then put it back in place of the one before, and so on.
    var left_out = heap[HEAPS - 1u];
    for (var i = HEAPS; i > 0u; i--) {
        mark_line(&heap);
        if i > 1u {
            let back = left_out;
            left_out = heap[i - 2u];
            heap[i - 2u] = back;
        }
    }
}

// Solves every word of one lane's window. Returns the number of P-positions.
fn solve_lane(task: Task, lane: i32) -> u32 {
    let t = task.rest - lane;
    let least = max(max(task.x3, select(0, lane, AXES == 0u)), t - region.cap);
    let most = min(t >> 1u, region.second_max);
    let covered = min(most, t - step.least_largest);
    var count = 0u;
    for (var word = least >> 5u; word <= most >> 5u; word++) {
        let window = at_least(least - 32 * word) & ~at_least(covered + 1 - 32 * word);
        let verdict = ~taken(task, word, lane) & window;
        if step.keep != 0u {
            slot[place(task.rows, word, lane)] = verdict;
        }
        count += countOneBits(verdict);
        var left = select(0u, verdict, step.allowed != 0u);
        while left != 0u {
            mark(task.block, word * 32 + i32(firstTrailingBit(left)), lane, task.rest);
            left &= left - 1u;
        }
    }
    return count;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = local / LANES;
    let thread = local % LANES;
    var index = (workgroup.y * workgroups.x + workgroup.x) * (THREADS / LANES) + number;
    var panel = workgroup.z;
    var there = index < step.deal.active_count;
    if AXES == 0u {
        // There is but one block: the tasks of a workgroup are its panels.
        panel = index;
        there = panel < step.deal.panels;
        index = 0u;
    }
    var block = 0u;
    var rest = step.total;
    if there {
        block = active_blocks[step.deal.first_active + index];
        for (var axis = 0u; axis < AXES; axis++) {
            rest -= i32(coordinate(block, axis));
        }
        for (var axis = thread; axis < AXES; axis += LANES) {
            task_planes[number * AXES + axis] = plane_without(block, axis, rest);
        }
    }
    if local == 0u {
        atomicStore(&tally, 0u);
    }
    workgroupBarrier();
    if there && rest >= 0 {
        let task = task_of(block, number, rest);
        let first_lane = max(rest - region.cap - region.second_max, 0);
        let last_lane = min(task.last_lane, select(rest - 2 * task.x3, rest / 3, AXES == 0u));
        let start = (first_lane & ~i32(LANES - 1u)) + i32(panel * LANES + thread);
        var count = 0u;
        for (var lane = start; lane <= last_lane; lane += i32(step.deal.panels * LANES)) {
            if lane >= first_lane {
                count += solve_lane(task, lane);
            }
        }
        if count > 0u {
            atomicAdd(&tally, count);
        }
    }
    workgroupBarrier();
    if local == 0u {
        atomicAdd(&counts[step.deal.counter], atomicLoad(&tally));
    }
}
