//! How many bytes a kernel loads and stores for a position, and how many loads a word takes, from the layout and the
//! rules.
//!
//! Counted are the words that the arithmetic needs, whether they come from memory or from a cache: for each word of the
//! layout with positions, one word of every neighbour row that a legal move leads to, and the word itself, written.
//! Where cells hold remoteness, a neighbour that is read at x₂ and at x₂ − 1 counts twice, as it is loaded twice. The sieve
//! loads a word of line bits for each heap and writes no verdicts; what it writes for the few P-positions is not counted.
//! Nor are the masks of what is a position.
//!
//! A load brings a row's words for a whole lane group, so a word takes one for each row, however it is read.
//!
//! **Verdicts of four heaps and more on the CPU** lie in cells of 16 places ([`FoldedLayout`]). Counted are the cells with
//! positions, ⌈positions / 16⌉ of each lane, and for each of them what [`take_one::accesses`] says:
//!
//! - loaded of the same run: two cells of the stratum below, as many of the second below if a move may touch two heaps,
//!   one of the third below if it may touch three;
//! - loaded of other runs: one cell for each set of x₃ … xₙ₋₁ that a move may take a stone from each of, if what is found
//!   for sets so large is read in the stratum. No heaps are taken to be equal or empty, for which there would be fewer;
//! - stored: the verdicts, and what is kept for moves of later strata, one cell for each size of such sets;
//! - from five heaps on, what is brought together of the runs with one y less: stored once and loaded twice, as what a
//!   register needs of it lies across two. Where short runs keep it in registers it is counted all the same;
//! - where a lane has several cells: of the first two strata in which the same run is read, the cell before and the cell
//!   after, as far as there are any.
//!
//! Two cells are a word, so that a word holds 32 verdicts here as well. A load of 32 bytes brings 16 cells, that is eight
//! words, for each of which it counts.
//!
//! [`FoldedLayout`]: nimstrata::space::FoldedLayout

use nimstrata::Result;
use nimstrata::cpu::take_one;
use nimstrata::game::Take;
use nimstrata::space::{Cell, Layout, Shift, Stencil, Term};

use super::case::Case;
use crate::cli::work;

/// What a kernel moves, on average over the region.
pub struct Traffic {
    /// Bytes loaded and stored for a position.
    pub bytes: f64,
    /// Words for a position: 32 verdicts of the layout, at least one of them that of a position, or four bytes of remoteness;
    /// or half the number of cells, where they have 16 places.
    pub words: f64,
    /// Loads for a word, each of which serves others as well.
    pub loads: f64,
}

/// Bytes of a word.
const WORD: f64 = 4.0;
/// Bytes of a cell of 16 places.
const FOLDED_CELL: f64 = 2.0;

impl Traffic {
    /// The traffic of a case on the CPU.
    pub fn on_cpu(case: &Case) -> Result<Self> {
        if work::is_folded(&case.rules, case.quantity) { Self::folded(case) } else { Self::on_gpu(case) }
    }

    /// The traffic of a case on a GPU, or on the CPU where it works in the same layout.
    pub fn on_gpu(case: &Case) -> Result<Self> {
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

    /// The traffic of verdicts of four heaps or more on the CPU.
    fn folded(case: &Case) -> Result<Self> {
        let layout = Layout::new(&case.region)?;
        let (mut cells, mut loads, mut stores, mut positions) = (0, 0, 0, 0);
        for total in work::samples(&layout, &case.region) {
            let each = take_one::accesses(&case.rules, total);
            let (useful, lanes) = work::useful_folded_cells(&layout, total);
            // All but the last of a lane have one after them, and all but the first one before.
            loads += u64::from(each.loads) * useful + 2 * u64::from(each.loads_beside) * (useful - lanes);
            stores += u64::from(each.stores) * useful;
            cells += useful;
            positions += case.region.stratum_size(total);
        }
        let (cells, positions) = (cells as f64, positions.max(1) as f64);
        Ok(Self {
            bytes: (loads + stores) as f64 * FOLDED_CELL / positions,
            words: cells * FOLDED_CELL / WORD / positions,
            loads: loads as f64 / cells.max(1.0),
        })
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
    use nimstrata::cpu::take_one::Accesses;
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
        let Traffic { bytes, words, loads } =
            Traffic::on_cpu(&case(rules, 12, Quantity::Remoteness)).unwrap();
        assert!((14.9..=15.0).contains(&bytes), "{bytes}");
        // Four bytes are a word. Some rows serve two moves.
        assert!((words - 0.25).abs() < 1e-9 && (9.0..14.0).contains(&loads), "{words} {loads}");
    }

    #[test]
    fn five_heaps_of_width_two_move_twelve_words_of_the_shaders() {
        // 12.8 positions in each, eleven loaded and one stored.
        let rules = Ruleset::bounded_moore(5, 2).unwrap();
        let Traffic { bytes, words, loads } = Traffic::on_gpu(&case(rules, 60, Quantity::Verdict)).unwrap();
        assert!((3.0..9.0).contains(&bytes), "{bytes}");
        assert!(
            (10.9..=11.0).contains(&loads) && (4.0 * words * (loads + 1.0) - bytes).abs() < 1e-6,
            "{loads}"
        );
    }

    #[test]
    fn five_heaps_of_width_two_load_nine_cells_and_store_three() {
        // Four of the same run, three for x₃, x₄ and both, two of what is brought together. Stored are the verdicts, one
        // level, and what is brought together.
        let rules = Ruleset::bounded_moore(5, 2).unwrap();
        assert_eq!(take_one::accesses(&rules, 20), Accesses { loads: 9, loads_beside: 2, stores: 3 });
        // One position in each stratum. From the total 0 no move leads down, and from 1 none that touches two heaps.
        let Traffic { bytes, words, loads } = Traffic::on_cpu(&case(rules, 1, Quantity::Verdict)).unwrap();
        let (loaded, stored) = (6.0 + 8.0 + 4.0 * 9.0, 6.0 * 3.0);
        assert!((bytes - 2.0 * (loaded + stored) / 6.0).abs() < 1e-9, "{bytes}");
        assert!((words - 0.5).abs() < 1e-9 && (loads - loaded / 6.0).abs() < 1e-9, "{words} {loads}");
    }

    #[test]
    fn seven_heaps_of_width_three_need_five_and_fourteen_loads_for_63_moves() {
        let rules = Ruleset::bounded_moore(7, 3).unwrap();
        // Fourteen are 4 + 6 + 4, and two are of what is brought together. Two levels are stored.
        let accesses = Accesses { loads: 5 + 14 + 2, loads_beside: 2, stores: 1 + 2 + 1 };
        assert_eq!(take_one::accesses(&rules, 20), accesses);
        // Up to the cap of 12 every lane has one cell.
        let Traffic { bytes, words, loads } = Traffic::on_cpu(&case(rules, 12, Quantity::Verdict)).unwrap();
        assert!((20.9..=21.0).contains(&loads), "{loads}");
        assert!((2.0 * 2.0 * words * (loads + 4.0) - bytes).abs() < 1e-6, "{bytes} {words} {loads}");
    }

    #[test]
    fn what_no_move_makes_use_of_is_not_counted() {
        // A move of five heaps leaves x₁, x₂ and the lane only after at least two others: 10 + 10 + 5 + 1 sets, three levels.
        let rules = Ruleset::exact_slow(8, 5).unwrap();
        let accesses = Accesses { loads: 5 + 26 + 2, loads_beside: 2, stores: 1 + 3 + 1 };
        assert_eq!(take_one::accesses(&rules, 20), accesses);
        // No move leads from 12 to 11.
        let rules = Ruleset::bounded_moore(4, 1).unwrap().with_forbidden("11".parse().unwrap());
        let loads = |total| take_one::accesses(&rules, total).loads;
        assert_eq!([loads(12), loads(13)], [2, 3]);
    }

    #[test]
    fn cells_of_a_lane_load_those_beside_them() {
        let rules = Ruleset::bounded_moore(4, 2).unwrap();
        let case = case(rules, 400, Quantity::Verdict);
        let Traffic { words, loads, .. } = Traffic::on_cpu(&case).unwrap();
        // Of two strata one before and one after, but for the ends of lanes, which have six cells or so.
        assert!((5.0 + 2.0..5.0 + 4.0).contains(&loads), "{loads}");
        assert!((0.5 / 16.0..0.5 / 13.0).contains(&words), "{words}");
    }

    #[test]
    fn the_sieve_loads_a_word_for_each_heap() {
        let rules = Ruleset::forbidden_total_size(3).unwrap();
        let Traffic { bytes, words, loads } = Traffic::on_cpu(&case(rules, 60, Quantity::Verdict)).unwrap();
        assert!((loads - 3.0).abs() < 1e-9 && (12.0 * words - bytes).abs() < 1e-9, "{bytes} {words} {loads}");
    }
}
