// Remoteness of take-one games; shaders/stencil.wgsl comes before this. The CPU twin is src/cpu/remoteness.rs.
//
// Remoteness is stored as keys of KEY_BITS bits, 8 or 16, such that the option to go for has the greatest key;
// src/space/cell.rs tells how. A row is one value of x2, and a word holds the keys of neighbouring lanes, the first in
// the low bits. KEY_BITS is a constant that the host puts in front of this text.

const ROW_VALUES: u32 = 1u;
const WORDS: u32 = 1u;

// Keys a word.
const KEYS: u32 = 32u / KEY_BITS;
// A one in every key, and the top bit of every key.
const ONES: u32 = select(0x00010001u, 0x01010101u, KEY_BITS == 8u);
const TOPS: u32 = ONES << (KEY_BITS - 1u);

alias Cells = u32;

fn own_cells(at: u32) -> Cells {
    return own[at];
}

fn lower_cells(at: u32) -> Cells {
    return lower[at];
}

// The words of keys between which a maximum is taken: word i has key i on top. As the top decides, it is the maximum of
// whole numbers, whatever is below.
struct Best {
    words: vec4<u32>,
}

fn better(best: Best, keys: Cells) -> Best {
    if KEY_BITS == 8u {
        return Best(max(best.words, vec4(keys << 24u, keys << 16u, keys << 8u, keys)));
    }
    return Best(vec4(max(best.words.xy, vec2(keys << 16u, keys)), vec2(0u)));
}

fn best_of(one: Best, other: Best) -> Best {
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

// The keys of the lanes one less.
fn beside(here: Cells, before: Cells) -> Cells {
    return (here << KEY_BITS) | (before >> (32u - KEY_BITS));
}

// The bits from `bit` on: all for bit <= 0, none for bit >= 32.
fn at_least(bit: i32) -> u32 {
    return select(0xffffffffu << u32(max(bit, 0)), 0u, bit >= 32);
}

// Solves one word of the rows of its lanes' windows. Returns the number of P-positions.
fn solve_word(number: u32, word: u32, written: u32) -> u32 {
    let task = task_at(number);
    let lane = i32(word * KEYS);
    let least = task.rest - min(lane + i32(KEYS) - 1, task.last_lane);
    var first = max(select(i32(task.x3), lane, AXES == 0u), least - region.cap);
    var last = min((task.rest - lane) / 2, region.second_max);
    if AXES == 0u {
        first = max(first, step.first_row);
        last = min(last, step.last_row);
    }
    if first > last {
        return 0u;
    }
    var place = place_of(number, u32(first), word);
    var below: Best;
    if first > 0 {
        let options = options_below(number, u32(first), place);
        below = best_of(options.either, options.shifted);
    }
    var count = 0u;
    for (var row = first; row <= last; row++) {
        let options = options_at(number, place);
        let best = best_of(best_of(options.unshifted, options.either), below);
        below = best_of(options.either, options.shifted);
        // The positions of a row are those of one interval of lanes.
        let first_lane = task.rest - region.cap - row;
        let highest = min(task.last_lane, task.rest - 2 * row);
        let last_lane = select(highest, min(highest, row), AXES == 0u);
        let bits = i32(KEY_BITS);
        let valid = at_least((first_lane - lane) * bits) & ~at_least((last_lane + 1 - lane) * bits);
        let keys = after(packed(best)) & valid;
        own[written + place.own] = keys;
        count += countOneBits(keys & TOPS);
        place = next_row(number, place);
    }
    return count;
}

// Solves a thread's words of a task. Returns the number of P-positions.
fn solve_words(number: u32, first: u32, stride: u32) -> u32 {
    let task = task_at(number);
    if task.last_lane < 0 {
        return 0u;
    }
    let written = row_of(number, ROWS).place;
    var count = 0u;
    let start = (u32(task.first_lane) / KEYS & ~7u) + first;
    for (var word = start; word <= u32(task.last_lane) / KEYS; word += stride) {
        count += solve_word(number, word, written);
    }
    return count;
}
