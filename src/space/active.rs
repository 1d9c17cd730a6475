//! Which tuples of coordinates have positions in a stratum.

use std::ops::Range;

/// A search through non-increasing tuples of coordinates x₃, x₄, …, one axis at a time: each axis has one interval of
/// coordinates that can lead to any positions. A few tuples without any may be found as well.
pub(super) struct Search<'a> {
    /// `rank_terms[axis][x]`: what a coordinate adds to the rank of a tuple; on the last axis, the coordinate itself.
    pub rank_terms: &'a [Vec<u32>],
    /// The total of the stratum.
    pub total: i32,
    /// The greatest size of a heap.
    pub max: i32,
    /// How many heaps come after the tuple, of which none is larger than its last coordinate.
    pub later: i32,
    /// The most stones that x₁ and x₂, and whatever the tuple does not bound, may hold together.
    pub slack: i32,
}

impl Search<'_> {
    /// Finds all tuples, in order of rank: of those that differ in the last coordinate only, the ranks.
    pub(super) fn run(&self, found: &mut impl FnMut(Range<u32>)) {
        if self.rank_terms.is_empty() {
            // The one without coordinates.
            found(0..1);
        } else {
            self.extend(0, 0, 0, 0, self.max, found);
        }
    }

    fn extend(
        &self,
        axis: usize,
        rank: u32,
        sum: i32,
        x3: i32,
        most: i32,
        found: &mut impl FnMut(Range<u32>),
    ) {
        let rest = self.total - sum;
        // x₁ and x₂ are at least x₃ each, and this coordinate comes on top; the later ones are at most as large as it.
        let last = if axis == 0 { rest / 3 } else { rest - 2 * x3 }.min(most);
        let bounded = (self.rank_terms.len() - axis) as i32 + self.later;
        let first = (rest - self.slack + bounded - 1).div_euclid(bounded).max(0);
        if axis + 1 == self.rank_terms.len() {
            if first <= last {
                found(rank + first as u32..rank + last as u32 + 1);
            }
            return;
        }
        let terms = &self.rank_terms[axis];
        for x in first..=last {
            let x3 = if axis == 0 { x } else { x3 };
            self.extend(axis + 1, rank + terms[x as usize], sum + x, x3, x, found);
        }
    }
}
