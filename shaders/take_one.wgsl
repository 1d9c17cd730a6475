// Verdicts of take-one games; shaders/stencil.wgsl comes before this. The CPU twin is src/cpu/take_one.rs.
//
// A word is one lane's verdicts for 32 values of x2.

const ROW_VALUES: u32 = 32u;

// A bit is set where some option is P.
alias Best = u32;

fn better(best: Best, verdicts: u32) -> Best {
    return best | verdicts;
}

// The verdicts of the lane one less.
fn beside(here: u32, before: u32) -> u32 {
    return before;
}

// Solves every word of one lane's window; `covered` has the bits that may be set. Returns the number of P-positions.
fn solve_lane(task: Task, block: Window, lane: i32, floor: i32, covered: u32, written: u32) -> u32 {
    let t = block.rest - lane;
    let low = max(max(i32(block.x3), t - region.cap), select(0, lane, AXES == 0u));
    let most = min(t >> 1u, region.second_max);
    var first = low >> 5u;
    var last = most >> 5u;
    if AXES == 0u {
        first = max(first, step.first_row);
        last = min(last, step.last_row);
    }
    if first > last {
        return 0u;
    }
    var place = place_of(task, u32(first), u32(lane));
    var carry = 0u;
    if first > 0 && low <= first * 32 {
        let below = options_below(task, u32(first), block.x3, place);
        carry = (below.either | below.shifted) >> 31u;
    }
    // The window's first and last bit, counted from the word's first.
    var least_bit = max(low, floor) - 32 * first;
    var most_bit = most - 32 * first;
    var count = 0u;
    for (var word = first; word <= last; word++) {
        let options = options_at(task, place);
        let shifted = options.either | options.shifted;
        let lost = options.unshifted | options.either | (shifted << 1u) | carry;
        let window = (covered << u32(max(least_bit, 0))) & (0xffffffffu >> u32(31 - min(most_bit, 31)));
        let verdict = ~lost & window;
        own[written + place.own] = verdict;
        count += countOneBits(verdict);
        carry = shifted >> 31u;
        place = next_row(task, place);
        least_bit -= 32;
        most_bit -= 32;
    }
    return count;
}

// Solves a thread's lanes of a block. Returns the number of P-positions.
fn solve_words(task: Task, block: Window, first: u32, stride: u32) -> u32 {
    // A position of lane 0 has nonempty + 2 nonempty heaps, one of a greater lane one more; only those with x2 = 0
    // have fewer: one if there are stones at all.
    var first_covered = 0;
    if block.nonempty + 3u < step.least_nonempty {
        first_covered = block.last_lane + 1;
    } else if block.nonempty + 2u < step.least_nonempty {
        first_covered = 1;
    }
    let floor = select(0, 1, block.nonempty == 0u && u32(step.total > 0) < step.least_nonempty);
    let written = row_of(task, ROWS).place;
    var count = 0u;
    let start = (block.first_lane & ~i32(LANES - 1u)) + i32(first);
    for (var lane = start; lane <= block.last_lane; lane += i32(stride)) {
        let covered = select(0u, 0xffffffffu, lane >= first_covered);
        count += solve_lane(task, block, lane, floor, covered, written);
    }
    return count;
}
