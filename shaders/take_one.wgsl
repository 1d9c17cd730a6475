// Verdicts of take-one games; shaders/stencil.wgsl comes before this. The CPU twin is src/cpu/take_one.rs.
//
// A word is one lane's verdicts for 32 values of x2.

const ROW_VALUES: u32 = 32u;

// The bits from `bit` on: all for bit <= 0, none for bit >= 32.
fn at_least(bit: i32) -> u32 {
    return select(0xffffffffu << u32(max(bit, 0)), 0u, bit >= 32);
}

// The OR of the rows that the terms first .. end read, at one word and lane.
fn gather(first: u32, end: u32, word: u32, lane: u32, rows: Rows) -> u32 {
    var bits = 0u;
    for (var i = first; i < end; i++) {
        let term = terms[i];
        let touch = term >> 18u;
        let slot = step.sources[touch / 4u][touch % 4u];
        if slot == FORBIDDEN {
            continue;
        }
        let place = neighbours[rows.neighbours + (term & 0xffffu)];
        if place == NOWHERE {
            continue;
        }
        let at = place + lane - ((term >> 16u) & 1u);
        if ((term >> 17u) & 1u) == 1u {
            bits |= lower[at + slot * rows.lower_slot + word * rows.lower_row];
        } else {
            bits |= own[at + slot * rows.own_slot + word * rows.own_row];
        }
    }
    return bits;
}

// The top bit of the shifted rows' word below the first. `x3` is the least x2 of the block's own rows.
fn first_carry(word: u32, lane: u32, x3: u32, rows: Rows) -> u32 {
    var bits = 0u;
    for (var i = region.unshifted_end; i < region.shifted_end; i++) {
        let term = terms[i];
        let touch = term >> 18u;
        let slot = step.sources[touch / 4u][touch % 4u];
        let place = neighbours[rows.neighbours + (term & 0xffffu)];
        if slot == FORBIDDEN || place == NOWHERE {
            continue;
        }
        let at = place + lane - ((term >> 16u) & 1u);
        let own_at = at + slot * rows.own_slot + word * rows.own_row;
        if AXES == 0u && i32(word) < step.first_row {
            // The row below the first is in the other window.
            bits |= lower[own_at + step.own_origin - step.lower_origin];
        } else if ((term >> 17u) & 1u) == 0u {
            if word >= x3 / 32u {
                bits |= own[own_at];
            }
        } else if word >= (x3 - 1u) / 32u {
            bits |= lower[at + slot * rows.lower_slot + word * rows.lower_row];
        }
    }
    return bits >> 31u;
}

// Solves every word of one lane's window. Returns the number of P-positions.
fn solve_lane(lane: i32, rest: i32, x3: u32, floor: i32, covered: bool, place: u32, rows: Rows) -> u32 {
    let t = rest - lane;
    let low = max(i32(x3), select(0, lane, AXES == 0u));
    let least = max(max(low, floor), t - region.cap);
    let most = min(t / 2, region.second_max);
    let first = max(max(low, t - region.cap) / 32, step.first_row);
    let last = min(most / 32, step.last_row);
    var carry = 0u;
    if first > 0 && first <= last && max(low, t - region.cap) <= first * 32 {
        carry = first_carry(u32(first) - 1u, u32(lane), x3, rows);
    }
    var count = 0u;
    for (var word = first; word <= last; word++) {
        let either = gather(region.unshifted_end, region.either_end, u32(word), u32(lane), rows);
        let unshifted = either | gather(NEIGHBOURS, region.unshifted_end, u32(word), u32(lane), rows);
        let shifted = either | gather(region.either_end, region.shifted_end, u32(word), u32(lane), rows);
        let window = at_least(least - 32 * word) & ~at_least(most + 1 - 32 * word);
        let verdict = select(0u, ~(unshifted | (shifted << 1u) | carry) & window, covered);
        own[place + step.slot * rows.own_slot + u32(word) * rows.own_row + u32(lane)] = verdict;
        carry = shifted >> 31u;
        count += countOneBits(verdict);
    }
    return count;
}

// Solves a thread's lanes of a block. Returns the number of P-positions.
fn solve_words(block: Window, first: u32, stride: u32, place: u32, rows: Rows) -> u32 {
    // A position of lane 0 has nonempty + 2 nonempty heaps, one of a greater lane one more; only those with x2 = 0
    // have fewer: one if there are stones at all.
    var first_covered = 0;
    if block.nonempty + 3u < step.least_nonempty {
        first_covered = block.last_lane + 1;
    } else if block.nonempty + 2u < step.least_nonempty {
        first_covered = 1;
    }
    let floor = select(0, 1, block.nonempty == 0u && u32(step.total > 0) < step.least_nonempty);
    var count = 0u;
    let start = (block.first_lane & ~i32(LANES - 1u)) + i32(first);
    for (var lane = start; lane <= block.last_lane; lane += i32(stride)) {
        count += solve_lane(lane, block.rest, block.x3, floor, lane >= first_covered, place, rows);
    }
    return count;
}
