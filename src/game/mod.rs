//! What a game is: rulesets, forbidden totals, legal moves, positions and their notation. No solver in sight.
//!
//! A **position** is a multiset of heap sizes, written as a nondecreasing tuple. A [`Ruleset`] says how many
//! different heaps a move touches, how many stones leave each touched heap, at which totals no move may arrive,
//! and who wins when nobody can move.

mod big_position;
mod forbidden;
pub mod m_rule;
mod moves;
mod position;
mod ruleset;

pub use big_position::{BigPosition, parse_big_position};
pub use forbidden::{ForbiddenTotals, ParseForbiddenError};
pub use m_rule::{MAnalysis, MOption, m_analysis, m_kept, m_length, m_move, m_sequence};
pub use moves::{Move, legal_moves};
pub use position::{Position, parse_position};
pub use ruleset::{MOST_HEAPS, Ruleset, Take};
