//! The CPU twin of `shaders/density.wgsl`: counts positions and P-positions by two coordinates. What a segment is, is
//! told in `src/space/segment.rs`.

use crate::space::Segment;

/// Adds the positions of some segments to `counts`, of which each cell has two: positions, and those of them that are P.
/// `verdicts` are in canonical order, 1 = P, and one word more than they take; `step` is how many cells the next
/// position of a segment is further, modulo 2³².
pub fn count(step: u32, verdicts: &[u32], segments: &[Segment], counts: &mut [[u64; 2]]) {
    for segment in segments {
        if step == 0 {
            let mut p_positions = 0;
            for at in (0..segment.length).step_by(32) {
                let length = (segment.length - at).min(32);
                p_positions += verdicts_from(verdicts, segment.start + at, length).count_ones();
            }
            let [positions, p] = &mut counts[segment.cell as usize];
            *positions += u64::from(segment.length);
            *p += u64::from(p_positions);
            continue;
        }
        let mut cell = segment.cell;
        for at in (0..segment.length).step_by(32) {
            let length = (segment.length - at).min(32);
            let mut bits = verdicts_from(verdicts, segment.start + at, length);
            for _ in 0..length {
                let [positions, p] = &mut counts[cell as usize];
                *positions += 1;
                *p += u64::from(bits & 1);
                bits >>= 1;
                cell = cell.wrapping_add(step);
            }
        }
    }
}

/// The verdicts of `length` positions (32 at most) from bit `start` on; zeros above.
fn verdicts_from(verdicts: &[u32], start: u32, length: u32) -> u32 {
    let word = start as usize / 32;
    let both = u64::from(verdicts[word]) | u64::from(verdicts[word + 1]) << 32;
    (both >> (start % 32)) as u32 & (u32::MAX >> (32 - length))
}
