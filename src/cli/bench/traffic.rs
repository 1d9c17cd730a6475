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
use crate::cli::work;

/// Bytes for a position, on average over the region.
pub fn bytes_per_position(case: &Case) -> Result<f64> {
    let cell = case.cell()?;
    let layout = Layout::with_cells(&case.region, cell)?;
    let stencil = Stencil::new(&case.rules, &layout);
    let (mut bytes, mut positions) = (0.0, 0.0);
    for total in work::samples(&layout, &case.region) {
        let size = case.region.stratum_size(total) as f64;
        let cells = work::useful_cells(&layout, total) as f64;
        bytes += f64::from(accesses(case, cell, &stencil, total)) * cells * f64::from(cell.bytes());
        positions += size;
    }
    Ok(bytes / f64::max(positions, 1.0))
}

/// Cells loaded and stored for one cell of a stratum.
fn accesses(case: &Case, cell: Cell, stencil: &Stencil, total: u32) -> u32 {
    if case.rules.take != Take::One {
        return case.rules.heaps;
    }
    let touches = stencil.touches(&case.rules, total);
    let again = |shift| u32::from(cell != Cell::Verdicts && shift == Shift::Either);
    let legal = stencil.terms.iter().filter(|term| touches.contains(term.touch));
    1 + legal.map(|term| 1 + again(term.shift)).sum::<u32>()
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
