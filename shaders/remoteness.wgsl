// Remoteness of take-one games; shaders/stencil.wgsl comes before this. The CPU twin is src/cpu/remoteness.rs.
//
// Remoteness is stored as keys of KEY_BITS bits, 8 or 16, such that the option to go for has the greatest key;
// src/space/cell.rs tells how. A row is one value of x2, and a word holds the keys of neighbouring lanes, the first in
// the low bits. KEY_BITS is a constant that the host puts in front of this text.

const ROW_VALUES: u32 = 1u;

// Keys a word.
const KEYS: u32 = 32u / KEY_BITS;
// A one in every key, and the top bit of every key.
const ONES: u32 = select(0x00010001u, 0x01010101u, KEY_BITS == 8u);
const TOPS: u32 = ONES << (KEY_BITS - 1u);

// The bits from `bit` on: all for bit <= 0, none for bit >= 32.
fn at_least(bit: i32) -> u32 {
    return select(0xffffffffu << u32(max(bit, 0)), 0u, bit >= 32);
}

// The words of keys between which a maximum is taken: word i has key i on top. As the top decides, it is the maximum of
// whole numbers, whatever is below.
struct Best {
    words: vec4<u32>,
}

fn greater(best: Best, keys: u32) -> Best {
    if KEY_BITS == 8u {
        return Best(max(best.words, vec4(keys << 24u, keys << 16u, keys << 8u, keys)));
    }
    return Best(vec4(max(best.words.xy, vec2(keys << 16u, keys)), vec2(0u)));
}

fn greatest(one: Best, other: Best) -> Best {
    return Best(max(one.words, other.words));
}

// The keys on top, as one word.
fn packed(best: Best) -> u32 {
    let words = best.words;
    if KEY_BITS == 8u {
        let low = (words.x >> 24u) | ((words.y >> 16u) & 0xff00u);
        return low | ((words.z >> 8u) & 0xff0000u) | (words.w & 0xff000000u);
    }
    return (words.x >> 16u) | (words.y & 0xffff0000u);
}

// The keys of positions from the keys of their best options; 0 is no option.
fn after(options: u32) -> u32 {
    // Neither sum carries into the next key: where 1 is added, the top bit of the key is 0 before.
    let next = ~options + ((options >> (KEY_BITS - 1u)) & ONES);
    // Top bits of the keys that are 0; theirs is the key of R = 0 by now, all bits set, and that of R = 1 is a 1.
    let terminal = ~(options | ((options & ~TOPS) + ~TOPS)) & TOPS;
    let fall = ((1u << KEY_BITS) - 2u) * region.misere;
    return next - (terminal >> (KEY_BITS - 1u)) * fall;
}

// The keys that a term reads at a place: those of a word, or of the lanes one less.
fn own_keys(at: u32, lane_falls: bool) -> u32 {
    if lane_falls {
        return (own[at] << KEY_BITS) | (own[at - 1u] >> (32u - KEY_BITS));
    }
    return own[at];
}

fn lower_keys(at: u32, lane_falls: bool) -> u32 {
    if lane_falls {
        return (lower[at] << KEY_BITS) | (lower[at - 1u] >> (32u - KEY_BITS));
    }
    return lower[at];
}

// The best of what the terms first .. end read in one row.
fn gather(first: u32, end: u32, row: u32, word: u32, rows: Rows) -> Best {
    var best: Best;
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
        let lane_falls = ((term >> 16u) & 1u) == 1u;
        if ((term >> 17u) & 1u) == 1u {
            best = greater(best, lower_keys(place + word + slot * rows.lower_slot + row * rows.lower_row, lane_falls));
        } else {
            best = greater(best, own_keys(place + word + slot * rows.own_slot + row * rows.own_row, lane_falls));
        }
    }
    return best;
}

// The best of what the row below the first hands up. `x3` is the least x2 of the block's own rows.
fn first_below(row: u32, word: u32, x3: u32, rows: Rows) -> Best {
    var best: Best;
    for (var i = region.unshifted_end; i < region.shifted_end; i++) {
        let term = terms[i];
        let touch = term >> 18u;
        let slot = step.sources[touch / 4u][touch % 4u];
        let place = neighbours[rows.neighbours + (term & 0xffffu)];
        if slot == FORBIDDEN || place == NOWHERE {
            continue;
        }
        let lane_falls = ((term >> 16u) & 1u) == 1u;
        let own_at = place + word + slot * rows.own_slot + row * rows.own_row;
        if AXES == 0u && i32(row) < step.first_row {
            // The row below the first is in the other window.
            best = greater(best, lower_keys(own_at + step.own_origin - step.lower_origin, lane_falls));
        } else if ((term >> 17u) & 1u) == 0u {
            if row >= x3 {
                best = greater(best, own_keys(own_at, lane_falls));
            }
        } else if row + 1u >= x3 {
            best = greater(best, lower_keys(place + word + slot * rows.lower_slot + row * rows.lower_row, lane_falls));
        }
    }
    return best;
}

// Solves one word of the rows of its lanes' windows. Returns the number of P-positions.
fn solve_word(block: Window, word: u32, place: u32, rows: Rows) -> u32 {
    let lane = i32(word * KEYS);
    let least = block.rest - min(lane + i32(KEYS) - 1, block.last_lane);
    let floor = select(i32(block.x3), lane, AXES == 0u);
    let first = max(max(floor, least - region.cap), step.first_row);
    let last = min(min((block.rest - lane) / 2, region.second_max), step.last_row);
    var below: Best;
    if first > 0 && first <= last {
        below = first_below(u32(first) - 1u, word, block.x3, rows);
    }
    var count = 0u;
    for (var row = first; row <= last; row++) {
        let either = gather(region.unshifted_end, region.either_end, u32(row), word, rows);
        let unshifted = gather(NEIGHBOURS, region.unshifted_end, u32(row), word, rows);
        let options = greatest(greatest(either, unshifted), below);
        below = greatest(either, gather(region.either_end, region.shifted_end, u32(row), word, rows));
        // The positions of a row are those of one interval of lanes.
        let first_lane = block.rest - region.cap - row;
        let highest = min(block.last_lane, block.rest - 2 * row);
        let last_lane = select(highest, min(highest, row), AXES == 0u);
        let bits = i32(KEY_BITS);
        let valid = at_least((first_lane - lane) * bits) & ~at_least((last_lane + 1 - lane) * bits);
        let keys = after(packed(options)) & valid;
        own[place + step.slot * rows.own_slot + u32(row) * rows.own_row + word] = keys;
        count += countOneBits(keys & TOPS);
    }
    return count;
}

// Solves a thread's words of a block. Returns the number of P-positions.
fn solve_words(block: Window, first: u32, stride: u32, place: u32, rows: Rows) -> u32 {
    if block.last_lane < 0 {
        return 0u;
    }
    var count = 0u;
    let start = (u32(block.first_lane) / KEYS & ~(LANES - 1u)) + first;
    for (var word = start; word <= u32(block.last_lane) / KEYS; word += stride) {
        count += solve_word(block, word, place, rows);
    }
    return count;
}
