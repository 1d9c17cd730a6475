//! Positions with heaps of any size, for what is answered by a formula and not by solving.

use std::fmt;

use num_bigint::BigUint;

use super::Position;
use crate::error::{Error, Result};

/// A multiset of heap sizes without an upper bound, kept as a nondecreasing tuple like [`Position`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BigPosition(Vec<BigUint>);

impl BigPosition {
    /// The position with these heap sizes, in any order.
    #[must_use]
    pub fn new(mut sizes: Vec<BigUint>) -> Self {
        sizes.sort_unstable();
        Self(sizes)
    }

    /// The sizes, smallest heap first.
    #[must_use]
    pub fn sizes(&self) -> &[BigUint] {
        &self.0
    }

    /// The size of the largest heap; 0 for a position without heaps.
    #[must_use]
    pub fn largest(&self) -> BigUint {
        self.0.last().cloned().unwrap_or_default()
    }

    /// The same position with sizes in 32 bits, `None` when a heap is too large for that.
    #[must_use]
    pub fn small(&self) -> Option<Position> {
        self.0.iter().map(|size| size.try_into().ok()).collect::<Option<_>>().map(Position::new)
    }
}

impl From<&Position> for BigPosition {
    fn from(position: &Position) -> Self {
        Self(position.sizes().iter().map(|&size| size.into()).collect())
    }
}

impl fmt::Display for BigPosition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "({})", self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
    }
}

/// Reads `5,4,2` or `(2,4,5)` (any order, blanks allowed, sizes of any length) as a position of exactly `heaps` heaps.
///
/// # Errors
/// [`Error::PositionSyntax`] when a size is no whole number from 0;
/// [`Error::PositionHeaps`] when there are more or fewer sizes than heaps.
pub fn parse_big_position(text: &str, heaps: u32) -> Result<BigPosition> {
    let printed = text.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let sizes = printed
        .unwrap_or(text)
        .split(',')
        .map(|part| parse_size(part.trim()))
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|reason| Error::PositionSyntax { text: text.to_owned(), reason })?;
    let given = sizes.len();
    if given != heaps as usize {
        return Err(Error::PositionHeaps { position: BigPosition(sizes).to_string(), given, heaps });
    }
    Ok(BigPosition::new(sizes))
}

fn parse_size(part: &str) -> std::result::Result<BigUint, String> {
    match part.parse() {
        // The library would also read +5 and 1_000.
        Ok(size) if part.bytes().all(|byte| byte.is_ascii_digit()) => Ok(size),
        _ if part.is_empty() => Err("a heap size is missing".to_owned()),
        _ if part.starts_with('-') => Err(format!("{part} is negative")),
        _ => Err(format!("{part:?} is not a whole number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_any_length_are_read_and_printed() {
        let position = parse_big_position("1000000000000000000000000000000, 7 ,0", 3).unwrap();
        assert_eq!(position.to_string(), "(0,7,1000000000000000000000000000000)");
        assert_eq!(position.small(), None);
        assert_eq!(parse_big_position(" (2,4,5)", 3).unwrap(), parse_big_position("5,4,2", 3).unwrap());
    }

    #[test]
    fn small_positions_convert_both_ways() {
        let small = Position::new(vec![u32::MAX, 2, 0]);
        assert_eq!(BigPosition::from(&small).small(), Some(small));
    }

    #[test]
    fn bad_sizes_are_named() {
        for (text, reason) in [
            ("", "a heap size is missing"),
            ("1,-2,3", "-2 is negative"),
            ("1,1_000,3", "\"1_000\" is not a whole number"),
            ("1,+5,3", "\"+5\" is not a whole number"),
            ("1,2", "the position (1,2) has 2 heaps, the game has 3"),
        ] {
            let message = parse_big_position(text, 3).unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
        }
    }
}
