//! Completions: the heap that turns n−1 given heaps into a P₁ position (a P-position at an allowed total).
//!
//! When a move takes any number of stones from one heap, the positions that agree in n−1 heaps all move to the lower of
//! each other, so at most one of them is a P₁. Write f(y) for the remaining heap of that one, y the other n−1 heaps
//! with sum s. It is the least z such that
//!
//! - the total s + z is allowed,
//! - z is not f of a multiset that y becomes by shrinking one heap (or that P₁ would be an option), and
//! - in misère play, the position is not terminal.
//!
//! The second rule excludes at most s numbers, one for each multiset; the third at most one, as only the first allowed
//! total from s on can have its predecessor below s. So f is found among the first s + 1 (s + 2 in misère play)
//! allowed totals from s on, and exists whenever there are that many; see [`Bound`].

mod bound;
mod export;
mod solved;
mod table;

pub use bound::Bound;
pub use export::{Format, Output};
pub use solved::{Completions, bytes, largest_cap, largest_within, region, solve};
pub use table::{MOST, Table, WatchPairs};

/// Completions of all multisets of heaps up to a cap.
pub trait Completing: Sync {
    /// How many heaps the game has; one less are completed.
    fn heaps(&self) -> u32;
    /// The greatest heap of the multisets.
    fn max(&self) -> u32;
    /// What completes these heaps, in any order; `None` when nothing does.
    fn completion(&self, others: &[u32]) -> Option<u32>;
    /// How many multisets there are.
    fn multisets(&self) -> u64;
    /// How many of them have a completion.
    fn completed(&self) -> u64;
    /// The greatest completion, if there is any.
    fn greatest(&self) -> Option<u32>;
}
