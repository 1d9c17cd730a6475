//! Rulesets: the general family, and the named games of it.

use std::fmt;

use super::ForbiddenTotals;
use crate::error::{Error, Result};

/// The greatest number of heaps of a ruleset. A take-one stencil has up to 2^heaps moves, so more is out of reach.
pub const MOST_HEAPS: u32 = 14;

/// How many stones leave each touched heap, independently, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Take {
    /// Exactly one.
    One,
    /// From one up to this many; at least 1.
    UpTo(u32),
    /// Any number, up to the whole heap.
    Any,
}

impl Take {
    /// The most stones that may leave a heap of `size` stones.
    #[must_use]
    pub fn most(self, size: u32) -> u32 {
        match self {
            Self::One => size.min(1),
            Self::UpTo(most) => size.min(most),
            Self::Any => size,
        }
    }
}

/// The rules of a heap game.
///
/// A move chooses between [`touch_least`](Self::touch_least) and [`touch_most`](Self::touch_most) different heaps
/// and takes stones from each as [`take`](Self::take) says; it may not arrive at a total in
/// [`forbidden`](Self::forbidden). The player without a legal move loses, or in misère play wins.
///
/// ```
/// use nimstrata::game::Ruleset;
/// let game = Ruleset::bounded_moore(5, 2)?;
/// assert_eq!(game.to_string(), "5 heaps, take 1 from each of 1..=2");
/// # Ok::<(), nimstrata::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ruleset {
    /// How many heaps, 1 to [`MOST_HEAPS`].
    pub heaps: u32,
    /// The least number of different heaps a move touches, at least 1.
    pub touch_least: u32,
    /// The greatest number of different heaps a move touches, from `touch_least` to `heaps`.
    pub touch_most: u32,
    /// How many stones leave each touched heap.
    pub take: Take,
    /// The totals at which no move may arrive.
    pub forbidden: ForbiddenTotals,
    /// Whether the player without a legal move wins.
    pub misere: bool,
}

impl Ruleset {
    /// Bounded Moore's Nim, also slow k-Nim NIM¹(n,≤k): take one stone from each of 1 to `width` heaps.
    ///
    /// # Errors
    /// [`Error::Heaps`] or [`Error::Width`] when a number is out of range.
    pub fn bounded_moore(heaps: u32, width: u32) -> Result<Self> {
        Self::touching(heaps, 1, width, Take::One)
    }

    /// Exact slow Nim NIM¹₌(n,k): take one stone from each of exactly `width` heaps.
    ///
    /// # Errors
    /// [`Error::Heaps`] or [`Error::Width`] when a number is out of range.
    pub fn exact_slow(heaps: u32, width: u32) -> Result<Self> {
        Self::touching(heaps, width, width, Take::One)
    }

    /// Plain Nim, and with forbidden totals Forbidden-Total-Size Nim: take any number of stones from one heap.
    ///
    /// # Errors
    /// [`Error::Heaps`] when the number of heaps is out of range.
    pub fn forbidden_total_size(heaps: u32) -> Result<Self> {
        Self::touching(heaps, 1, 1, Take::Any)
    }

    /// Normal play, nothing forbidden, touching `least` to `most` heaps.
    ///
    /// # Errors
    /// [`Error::Heaps`] or [`Error::Width`] when a number is out of range.
    pub fn touching(heaps: u32, least: u32, most: u32, take: Take) -> Result<Self> {
        if heaps == 0 || heaps > MOST_HEAPS {
            return Err(Error::Heaps { heaps, most: MOST_HEAPS });
        }
        if least == 0 || most > heaps || least > most {
            return Err(Error::Width { width: if least == 0 { least } else { most }, heaps });
        }
        let forbidden = ForbiddenTotals::default();
        Ok(Self { heaps, touch_least: least, touch_most: most, take, forbidden, misere: false })
    }

    /// The same rules with these totals forbidden.
    #[must_use]
    pub fn with_forbidden(self, forbidden: ForbiddenTotals) -> Self {
        Self { forbidden, ..self }
    }

    /// The same rules with the player without a legal move winning (`true`) or losing (`false`).
    #[must_use]
    pub fn with_misere(self, misere: bool) -> Self {
        Self { misere, ..self }
    }
}

impl fmt::Display for Ruleset {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let take = match self.take {
            Take::One => "1".to_owned(),
            Take::UpTo(most) => format!("1 to {most}"),
            Take::Any => "any".to_owned(),
        };
        let plural = if self.heaps == 1 { "" } else { "s" };
        write!(out, "{} heap{plural}, take {take} from each of ", self.heaps)?;
        if self.touch_least == self.touch_most {
            write!(out, "{}", self.touch_most)?;
        } else {
            write!(out, "{}..={}", self.touch_least, self.touch_most)?;
        }
        if !self.forbidden.is_empty() {
            write!(out, ", forbidden totals {}", self.forbidden)?;
        }
        if self.misere { write!(out, ", misère") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused_with_the_range() {
        assert_eq!(
            Ruleset::bounded_moore(5, 6).unwrap_err().to_string(),
            "--width 6 is out of range: a move in a game of 5 heaps touches 1 to 5 of them"
        );
        assert!(matches!(Ruleset::bounded_moore(5, 0), Err(Error::Width { width: 0, heaps: 5 })));
        assert!(matches!(Ruleset::exact_slow(0, 1), Err(Error::Heaps { heaps: 0, .. })));
        assert!(matches!(Ruleset::exact_slow(15, 1), Err(Error::Heaps { heaps: 15, .. })));
    }

    #[test]
    fn rulesets_print_their_rules() {
        let game = Ruleset::exact_slow(4, 2).unwrap().with_misere(true).with_forbidden("7k".parse().unwrap());
        assert_eq!(game.to_string(), "4 heaps, take 1 from each of 2, forbidden totals 7k, misère");
    }
}
