// Verdicts of take-one games; shaders/stencil.wgsl comes before this. The CPU twin is src/cpu/take_one.rs.
//
// A word is one lane's verdicts for 32 values of x2. A thread solves two lanes at once: their windows are the same words
// but for a few, so one look at the list of rows serves both, and of the words that they read three are two lanes'.

const ROW_VALUES: u32 = 32u;
const WORDS: u32 = 2u;
// More than any x2.
const NO_VALUE: i32 = 0x3fffffff;

alias Cells = vec2<u32>;
// A bit is set where some option is P.
alias Best = vec2<u32>;

fn own_cells(at: u32) -> Cells {
    return Cells(own[at], own[at + 1u]);
}

fn lower_cells(at: u32) -> Cells {
    return Cells(lower[at], lower[at + 1u]);
}

fn better(best: Best, verdicts: Cells) -> Best {
    return best | verdicts;
}

// The verdicts of the lanes one less.
fn beside(here: Cells, before: Cells) -> Cells {
    return before;
}

fn bits_from(bits: vec2<i32>) -> vec2<u32> {
    return vec2(at_least(bits.x), at_least(bits.y));
}

// The floor of x2 in two lanes where positions with few nonempty heaps are to come out N: beyond every x2 for a lane of such.
fn floor_of(block: u32, lanes: vec2<i32>) -> vec2<i32> {
    var nonempty = vec2(0u);
    for (var axis = 0u; axis < AXES; axis++) {
        nonempty += u32(coordinate(block, axis) > 0u);
    }
    nonempty += vec2<u32>(lanes > vec2(0));
    // x1 and x2 are two more; only where x2 = 0 fewer: one if there are stones at all.
    let least = vec2(step.least_nonempty);
    let floor = select(vec2(0), vec2(1), nonempty + u32(step.total > 0) < least);
    return select(floor, vec2(NO_VALUE), nonempty + 2u < least);
}

// Solves every word of the windows of two lanes, the first of which is given. Returns this count with their P-positions.
fn solve_lanes(task: Task, block: Window, lane: i32, written: u32, counted: u32) -> u32 {
    let lanes = vec2(lane, lane + 1);
    let t = block.rest - lanes;
    // The windows, with the other heap sizes.
    var low = max(t - region.cap, vec2(i32(block.x3)));
    var most = min(t >> vec2(1u), vec2(region.second_max));
    if AXES == 0u {
        low = max(max(low, lanes), vec2(32 * step.first_row));
        most = min(most, vec2(32 * step.last_row + 31));
    }
    // The greater lane has fewer stones left: its window starts and ends no later, by one value at most, but where x2 is bounded
    // by the lane itself.
    let first_low = min(low.x, low.y);
    let first = first_low >> 5u;
    let place0 = place_of(task, u32(first), u32(lane));
    var carry = vec2(0u);
    if first > 0 && first_low == 32 * first && first_low <= most.x {
        let below = options_below(task, u32(first), block.x3, place0);
        carry = (below.either | below.shifted) >> vec2(31u);
    }
    var place = place0;
    // How many values of x2 there are from the word's first to the last window's last.
    var left = most.x + 1 - 32 * first;
    // The same for the windows of positions that may be P.
    var ends = vec2(left, select(most.y + 1 - 32 * first, 0, lane == block.last_lane));
    if step.least_nonempty > 0u {
        let floor = floor_of(task.block, lanes);
        low = max(low, floor);
        ends = select(ends, vec2(0), floor == vec2(NO_VALUE));
    }
    var window = bits_from(low - 32 * first);
    var count = counted;
    while left > 0 {
        let options = options_at(task, place);
        let shifted = options.either | options.shifted;
        let lost = options.unshifted | options.either | (shifted << vec2(1u)) | carry;
        let verdict = ~(lost | bits_from(ends)) & window;
        own[written + place.own] = verdict.x;
        own[written + place.own + 1u] = verdict.y;
        count += countOneBits(verdict.x) + countOneBits(verdict.y);
        carry = shifted >> vec2(31u);
        window = vec2(0xffffffffu);
        left -= 32;
        ends -= 32;
        place = next_row(task, place);
    }
    return count;
}

// Solves a thread's lanes of a block. Returns the number of P-positions.
fn solve_words(task: Task, block: Window, first: u32, stride: u32) -> u32 {
    let written = row_of(task, ROWS).place;
    var count = 0u;
    // Whole groups of 8 words.
    let start = (block.first_lane & ~7) + i32(first);
    for (var lane = start; lane <= block.last_lane; lane += i32(stride)) {
        count = solve_lanes(task, block, lane, written, count);
    }
    return count;
}
