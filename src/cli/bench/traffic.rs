//! How many bytes a kernel loads and stores for a position, and how many loads a word takes, from the layout and the
//! stencil.
//!
//! Counted are the words that the arithmetic needs, whether they come from memory or from a cache: for each word of the
//! layout with positions, one word of every neighbour row that a legal move leads to, and the word itself, written.
//! Where cells hold remoteness, a neighbour that is read at x₂ and at x₂ − 1 counts twice, as it is loaded twice. The sieve
//! loads a word of line bits for each heap and writes no verdicts; what it writes for the few P-positions is not counted.
//!
//! A load brings a row's words for a whole lane group, so a word takes one for each row, however it is read.

use nimstrata::Result;
use nimstrata::game::Take;
use nimstrata::space::{Cell, Layout, Shift, Stencil, Term};

use super::case::Case;
use crate::cli::work;

/// What a kernel moves, on average over the region.
pub struct Traffic {
    /// Bytes loaded and stored for a position.
    pub bytes: f64,
    /// Words for a position: 32 verdicts of the layout, at least one of them that of a position, or four bytes of remoteness.
    pub words: f64,
    /// Rows that are read for a word, each of them a load.
    pub loads: f64,
}

/// Bytes of a word.
const WORD: f64 = 4.0;

impl Traffic {
    /// The traffic of a case.
    pub fn of(case: &Case) -> Result<Self> {
        let cell = case.cell()?;
        let layout = Layout::with_cells(&case.region, cell)?;
        let stencil = Stencil::new(&case.rules, &layout);
        let (mut bytes, mut words, mut loads, mut positions) = (0.0, 0.0, 0.0, 0.0);
        for total in work::samples(&layout, &case.region) {
            let useful = work::useful_cells(&layout, total) as f64 * f64::from(cell.bytes());
            bytes += f64::from(accesses(case, cell, &stencil, total)) * useful;
            words += useful / WORD;
            loads += f64::from(rows(case, &stencil, total)) * useful / WORD;
            positions += case.region.stratum_size(total) as f64;
        }
        let positions = f64::max(positions, 1.0);
        Ok(Self { bytes: bytes / positions, words: words / positions, loads: loads / f64::max(words, 1.0) })
    }
}

/// Rows that a stratum's words are solved from.
fn rows(case: &Case, stencil: &Stencil, total: u32) -> u32 {
    if case.rules.take != Take::One {
        return case.rules.heaps;
    }
    legal(case, stencil, total).count() as u32
}

/// Cells loaded and stored for one cell of a stratum.
fn accesses(case: &Case, cell: Cell, stencil: &Stencil, total: u32) -> u32 {
    let rows = rows(case, stencil, total);
    if case.rules.take != Take::One {
        return rows;
    }
    let twice = legal(case, stencil, total).filter(|term| term.shift == Shift::Either);
    1 + rows + if cell == Cell::Verdicts { 0 } else { twice.count() as u32 }
}

/// The terms that a stratum reads.
fn legal<'a>(case: &Case, stencil: &'a Stencil, total: u32) -> impl Iterator<Item = &'a Term> {
    let touches = stencil.touches(&case.rules, total);
    stencil.terms.iter().filter(move |term| touches.contains(term.touch))
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
        let Traffic { bytes, words, loads } = Traffic::of(&case(rules, 12, Quantity::Remoteness)).unwrap();
        assert!((14.9..=15.0).contains(&bytes), "{bytes}");
        // Four bytes are a word. Some rows serve two moves.
        assert!((words - 0.25).abs() < 1e-9 && (9.0..14.0).contains(&loads), "{words} {loads}");
    }

    #[test]
    fn five_heaps_of_width_two_move_twelve_words_for_thirteen_positions() {
        // The words that ARCHITECTURE.md counts: 12.8 positions in each, eleven loaded and one stored.
        let rules = Ruleset::bounded_moore(5, 2).unwrap();
        let Traffic { bytes, words, loads } = Traffic::of(&case(rules, 60, Quantity::Verdict)).unwrap();
        assert!((3.0..9.0).contains(&bytes), "{bytes}");
        assert!(
            (10.9..=11.0).contains(&loads) && (4.0 * words * (loads + 1.0) - bytes).abs() < 1e-6,
            "{loads}"
        );
    }

    #[test]
    fn the_sieve_loads_a_word_for_each_heap() {
        let rules = Ruleset::forbidden_total_size(3).unwrap();
        let Traffic { bytes, words, loads } = Traffic::of(&case(rules, 60, Quantity::Verdict)).unwrap();
        assert!((loads - 3.0).abs() < 1e-9 && (12.0 * words - bytes).abs() < 1e-9, "{bytes} {words} {loads}");
    }
}
