//! Positions: sorted tuples of heap sizes, and their notation.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::big_position::parse_big_position;
use crate::error::{Error, Result};

/// A multiset of heap sizes, kept as a nondecreasing tuple: `(2,4,5)`.
///
/// The derived order is the lexicographic order of the tuples, which inside one stratum is the canonical order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position(Vec<u32>);

impl Position {
    /// The position with these heap sizes, in any order.
    #[must_use]
    pub fn new(mut sizes: Vec<u32>) -> Self {
        sizes.sort_unstable();
        Self(sizes)
    }

    /// The sizes, smallest heap first.
    #[must_use]
    pub fn sizes(&self) -> &[u32] {
        &self.0
    }

    /// The number of stones in all heaps together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().map(|&size| u64::from(size)).sum()
    }

    /// The size of the largest heap; 0 for a position without heaps.
    #[must_use]
    pub fn largest(&self) -> u32 {
        self.0.last().copied().unwrap_or(0)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "({})", self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
    }
}

/// Reads `5,4,2` (any order, blanks allowed) as a position of exactly `heaps` heaps.
///
/// # Errors
/// [`Error::PositionSyntax`] when a size is no whole number from 0 to 4,294,967,295;
/// [`Error::PositionHeaps`] when there are more or fewer sizes than heaps.
pub fn parse_position(text: &str, heaps: u32) -> Result<Position> {
    let position = parse_big_position(text, heaps)?;
    position.small().ok_or_else(|| Error::PositionSyntax {
        text: text.to_owned(),
        reason: format!("{} is more than {}", position.largest(), u32::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_print_smallest_heap_first() {
        let position = parse_position(" 5, 4,2", 3).unwrap();
        assert_eq!(position.to_string(), "(2,4,5)");
        assert_eq!((position.total(), position.largest()), (11, 5));
    }

    #[test]
    fn bad_positions_name_the_part_that_is_wrong() {
        for (text, reason) in [
            ("", "a heap size is missing"),
            ("1,,2", "a heap size is missing"),
            ("1,-2,3", "-2 is negative"),
            ("1,x,3", "\"x\" is not a whole number"),
            ("1,4294967296,3", "4294967296 is more than 4294967295"),
        ] {
            let message = parse_position(text, 3).unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
        }
        let message = parse_position("1,2", 3).unwrap_err().to_string();
        assert!(message.starts_with("the position (1,2) has 2 heaps, the game has 3"), "{message}");
    }
}
