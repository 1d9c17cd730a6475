// Counts positions and P-positions by two coordinates: one dispatch counts segments of one stratum, one thread each. The
// CPU twin is src/cpu/density.rs; what a segment is, is told in src/space/segment.rs.
//
// Counts are sums, so the order of segments does not matter and threads add with atomics. The host reads the counts
// before any could exceed 32 bits.

// What holds for the whole map.
struct Grid {
    // How many cells the next position of a segment is further, modulo 2^32.
    step: u32,
}

// What holds for one dispatch.
struct Step {
    // How many segments there are.
    segments: u32,
}

// Consecutive positions of a row.
struct Segment {
    // The bit of the first position's verdict.
    start: u32,
    length: u32,
    // The cell of the first position.
    cell: u32,
}

@group(0) @binding(0) var<uniform> grid: Grid;
@group(0) @binding(1) var<uniform> step: Step;
// Verdicts in canonical order, least significant bit first, 1 = P; one word more than they take.
@group(0) @binding(2) var<storage, read> verdicts: array<u32>;
@group(0) @binding(3) var<storage, read> segments: array<Segment>;
// Two counts a cell: positions, and those of them that are P.
@group(0) @binding(4) var<storage, read_write> counts: array<atomic<u32>>;

// The verdicts of `length` positions (32 at most) from bit `start` on; zeros above.
fn verdicts_from(start: u32, length: u32) -> u32 {
    let word = start / 32u;
    let shift = start % 32u;
    // A shift by 32 is none, so the upper word is shifted in two steps.
    let bits = (verdicts[word] >> shift) | ((verdicts[word + 1u] << (31u - shift)) << 1u);
    return bits & (0xffffffffu >> (32u - length));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= step.segments {
        return;
    }
    let segment = segments[id.x];
    if grid.step == 0u {
        var p_positions = 0u;
        for (var at = 0u; at < segment.length; at += 32u) {
            p_positions += countOneBits(verdicts_from(segment.start + at, min(segment.length - at, 32u)));
        }
        atomicAdd(&counts[2u * segment.cell], segment.length);
        atomicAdd(&counts[2u * segment.cell + 1u], p_positions);
        return;
    }
    var cell = segment.cell;
    for (var at = 0u; at < segment.length; at += 32u) {
        let length = min(segment.length - at, 32u);
        var bits = verdicts_from(segment.start + at, length);
        for (var bit = 0u; bit < length; bit += 1u) {
            atomicAdd(&counts[2u * cell], 1u);
            if (bits & 1u) == 1u {
                atomicAdd(&counts[2u * cell + 1u], 1u);
            }
            bits >>= 1u;
            cell += grid.step;
        }
    }
}
