//! How many bytes a kernel loads and stores for a position, from the layout and the stencil.
//!
//! Counted are the words that the arithmetic needs, whether they come from memory or from a cache: for each word of the
//! layout with positions, one word of every neighbour row that a legal move leads to, and the word itself, written.
//! Where cells hold remoteness, a neighbour that is read at x₂ and at x₂ − 1 counts twice, as it is loaded twice. The sieve
//! loads a word of line bits for each heap and writes no verdicts; what it writes for the few P-positions is not counted.

use nimstrata::Result;
use nimstrata::game::Take;
use nimstrata::space::{Cell, Layout, Shift, Stencil};

use super::case::Case;

/// Strata that are looked at, spread over all of them.
const SAMPLES: u32 = 48;

/// Bytes for a position, on average over the region.
pub fn bytes_per_position(case: &Case) -> Result<f64> {
    let cell = case.cell()?;
    let layout = Layout::with_cells(&case.region, cell)?;
    let stencil = Stencil::new(&case.rules, &layout);
    let strata = case.region.strata().end;
    // Odd, so that no parity is preferred.
    let step = (strata / SAMPLES) | 1;
    let (mut bytes, mut positions) = (0.0, 0.0);
    for total in (0..strata).step_by(step as usize) {
        let accesses = f64::from(accesses(case, &stencil, total));
        let size = case.region.stratum_size(total) as f64;
        let cells = if cell == Cell::Verdicts { useful_words(&layout, total) as f64 } else { size };
        bytes += accesses * cells * f64::from(cell.bytes());
        positions += size;
    }
    Ok(bytes / f64::max(positions, 1.0))
}

/// Cells loaded and stored for one cell of a stratum.
fn accesses(case: &Case, stencil: &Stencil, total: u32) -> u32 {
    if case.rules.take != Take::One {
        return case.rules.heaps;
    }
    let touches = stencil.touches(&case.rules, total);
    let twice = |shift| {
        if case.cell().is_ok_and(|cell| cell == Cell::Verdicts) {
            0
        } else {
            u32::from(shift == Shift::Either)
        }
    };
    let legal = stencil.terms.iter().filter(|term| touches.contains(term.touch));
    1 + legal.map(|term| 1 + twice(term.shift)).sum::<u32>()
}

/// Words of a stratum that have positions.
fn useful_words(layout: &Layout, total: u32) -> u64 {
    let mut active = Vec::new();
    layout.active_blocks(total, &mut active);
    let mut words = 0;
    for rank in active {
        let window = layout.window(layout.block(rank).coordinates, total, 0);
        for lane in window.first_lane..=window.last_lane {
            let (first, last) = layout.second_heap(&window, lane);
            if first <= last {
                words += (last / 32 - first / 32 + 1) as u64;
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use nimstrata::game::Ruleset;
    use nimstrata::solver::Quantity;
    use nimstrata::space::Region;

    use super::*;

    fn case(rules: Ruleset, max: u64, quantity: Quantity) -> Case {
        Case { region: Region::new(rules.heaps, max).unwrap(), rules, quantity }
    }

    #[test]
    fn remoteness_loads_a_byte_for_every_move_and_stores_one() {
        // Four heaps, one to three of them: 14 moves, and totals below 2 do not matter.
        let rules = Ruleset::bounded_moore(4, 3).unwrap();
        let bytes = bytes_per_position(&case(rules, 12, Quantity::Remoteness)).unwrap();
        assert!((14.9..=15.0).contains(&bytes), "{bytes}");
    }

    #[test]
    fn five_heaps_of_width_two_move_twelve_words_for_thirteen_positions() {
        // The words that ARCHITECTURE.md counts: 12.8 positions in each, eleven loaded and one stored.
        let rules = Ruleset::bounded_moore(5, 2).unwrap();
        let bytes = bytes_per_position(&case(rules, 60, Quantity::Verdict)).unwrap();
        assert!((3.0..9.0).contains(&bytes), "{bytes}");
    }
}
