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

// The bits below `bits`, which are not negative: all for 32 and more.
fn bits_below(bits: vec2<i32>) -> vec2<u32> {
    return select(~(vec2(0xffffffffu) << (vec2<u32>(bits) & vec2(31u))), vec2(0xffffffffu), bits >= vec2(32));
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
fn solve_lanes(task: u32, lane: i32, counted: u32) -> u32 {
    let lanes = vec2(lane, lane + 1);
    let t = task_at(task).rest - lanes;
    // The windows, with the other heap sizes.
    var low = max(t - region.cap, vec2(i32(task_at(task).x3)));
    var most = min(t >> vec2(1u), vec2(region.second_max));
    if AXES == 0u {
        low = max(max(low, lanes), vec2(32 * step.first_row));
        most = min(most, vec2(32 * step.last_row + 31));
    }
    // The greater lane has fewer stones left: its window starts and ends no later, by one value at most, but where x2 is bounded
    // by the lane itself.
    let first_low = min(low.x, low.y);
    let first = first_low >> 5u;
    // The first lane's last value of x2, from the word's first on. The second's is the same or, if that is shorter, one less.
    var last = most.x - 32 * first;
    let shorter = most.y < most.x;
    // Lanes without positions that may be P.
    var dead = vec2(false, lane == task_at(task).last_lane);
    if step.least_nonempty > 0u {
        let floor = floor_of(task_at(task).block, lanes);
        low = max(low, floor);
        dead = dead | (floor == vec2(NO_VALUE));
    }
    // What is below a window is as good as lost.
    var carry = bits_below(low - 32 * first);
    var place = place_of(task, u32(first), u32(lane));
    if first > 0 && (first_low & 31) == 0 && last >= 0 {
        let below = options_below(task, u32(first), place);
        carry |= (below.either | below.shifted) >> vec2(31u);
    }
    var count = counted;
    while last >= 0 {
        let options = options_at(task, place);
        let shifted = options.either | options.shifted;
        let lost = options.unshifted | options.either | (shifted << vec2(1u)) | carry;
        let from_last = 0xffffffffu << (u32(last) & 31u);
        let beyond = vec2(from_last << 1u, select(from_last << 1u, from_last, shorter));
        let verdict = select(~(lost | select(vec2(0u), beyond, last < 32)), vec2(0u), dead);
        let written = row_of(task, ROWS).place + place.own;
        own[written] = verdict.x;
        own[written + 1u] = verdict.y;
        count += countOneBits(verdict.x);
        count += countOneBits(verdict.y);
        carry = shifted >> vec2(31u);
        last -= 32;
        place = next_row(task, place);
    }
    return count;
}

// Solves a thread's lanes of a block. Returns the number of P-positions.
fn solve_words(task: u32, first: u32, stride: u32) -> u32 {
    var count = 0u;
    // Whole groups of 8 words.
    let start = (task_at(task).first_lane & ~7) + i32(first);
    for (var lane = start; lane <= task_at(task).last_lane; lane += i32(stride)) {
        count = solve_lanes(task, lane, count);
    }
    return count;
}
