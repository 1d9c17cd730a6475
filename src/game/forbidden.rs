//! Forbidden totals: the totals at which no move may arrive.
//!
//! Written as a comma-separated union of `7`, `3..9` (inclusive), `5k` and `5k+2` (k ≥ 0).

use std::fmt;
use std::str::FromStr;

/// One part of a set of totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    /// All totals from the first to the second, both included.
    Range(u64, u64),
    /// `first`, `first + step`, `first + 2·step`, …; `step ≥ 1`.
    Progression { step: u64, first: u64 },
}

impl Part {
    fn contains(self, total: u64) -> bool {
        match self {
            Self::Range(first, last) => (first..=last).contains(&total),
            Self::Progression { step, first } => total >= first && (total - first).is_multiple_of(step),
        }
    }

    /// Whether all totals of another part are among these.
    fn holds(self, other: Self) -> bool {
        match (self, other) {
            (Self::Range(first, last), Self::Range(from, to)) => first <= from && to <= last,
            (Self::Progression { step, .. }, Self::Range(from, to)) => {
                (step == 1 || from == to) && self.contains(from)
            }
            (Self::Progression { step, .. }, Self::Progression { step: longer, first }) => {
                longer.is_multiple_of(step) && self.contains(first)
            }
            (Self::Range(..), Self::Progression { .. }) => false,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Range(first, last) if first == last => write!(out, "{first}"),
            Self::Range(first, last) => write!(out, "{first}..{last}"),
            Self::Progression { step, first: 0 } => write!(out, "{step}k"),
            Self::Progression { step, first } => write!(out, "{step}k+{first}"),
        }
    }
}

/// A set of totals at which no move may arrive. A game may start at any of them. The default is the empty set.
///
/// ```
/// use nimstrata::game::ForbiddenTotals;
/// let multiples_of_five: ForbiddenTotals = "5k".parse()?;
/// assert!(multiples_of_five.contains(0) && multiples_of_five.contains(35) && !multiples_of_five.contains(7));
/// let mixed: ForbiddenTotals = "10..20, 7, 5k+2".parse()?;
/// assert_eq!(mixed.to_string(), "10..20,5k+2");
/// assert_eq!("10k, 5k".parse(), Ok(multiples_of_five));
/// # Ok::<(), nimstrata::game::ParseForbiddenError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ForbiddenTotals {
    /// Sorted, ranges apart from each other, and none within another: as [`ForbiddenTotals::union`] makes them.
    parts: Vec<Part>,
}

impl ForbiddenTotals {
    /// The d of which these are the multiples; `None` for other sets.
    #[must_use]
    pub fn divisor(&self) -> Option<u64> {
        match *self.parts {
            [Part::Progression { step, first: 0 }] => Some(step),
            _ => None,
        }
    }

    /// The multiples of `divisor` (0 included), as in Forbidden-Total-Size Nim.
    ///
    /// # Panics
    /// If `divisor` is 0.
    #[must_use]
    pub fn multiples_of(divisor: u64) -> Self {
        assert!(divisor > 0, "multiples of 0 are written as the single total 0");
        Self { parts: vec![Part::Progression { step: divisor, first: 0 }] }
    }

    /// The union of some parts. It is the same however often a total is in it: ranges that overlap or touch become one, a
    /// progression that goes on from totals in a range begins there, and what is within another part is left out.
    /// That does not find sets equal of which one needs several parts where the other has one, as `2k,2k+1` and `k`.
    fn union(mut given: Vec<Part>) -> Self {
        given.sort_unstable();
        let (mut ranges, mut progressions): (Vec<[u64; 2]>, _) = (Vec::new(), Vec::new());
        for part in given {
            match (part, ranges.last_mut()) {
                (Part::Progression { step, first }, _) => progressions.push((step, first)),
                (Part::Range(first, last), Some(before)) if first <= before[1].saturating_add(1) => {
                    before[1] = before[1].max(last);
                }
                (Part::Range(first, last), _) => ranges.push([first, last]),
            }
        }
        let below = |total| ranges.iter().find(|[first, last]| (*first..=*last).contains(&total));
        for (step, first) in &mut progressions {
            while let Some(before) = first.checked_sub(*step)
                && let Some(range) = below(before)
            {
                *first = before - (before - range[0]) / *step * *step;
            }
        }
        let ranges = ranges.iter().map(|&[first, last]| Part::Range(first, last));
        let progressions = progressions.iter().map(|&(step, first)| Part::Progression { step, first });
        let mut all = ranges.chain(progressions).collect::<Vec<_>>();
        all.sort_unstable();
        all.dedup();
        let within_another = |part: Part| all.iter().any(|&other| other != part && other.holds(part));
        Self { parts: all.iter().copied().filter(|&part| !within_another(part)).collect() }
    }

    /// Whether no move may arrive at this total.
    #[must_use]
    pub fn contains(&self, total: u64) -> bool {
        self.parts.iter().any(|part| part.contains(total))
    }

    /// The least allowed total from `from` on; `None` when all of those are forbidden.
    ///
    /// From some total on only progressions count. Where k of them forbid 2^k totals in a row, they forbid all
    /// (Crittenden and Vanden Eynden, 1970), so the search ends.
    #[must_use]
    pub fn next_allowed(&self, from: u64) -> Option<u64> {
        let start = |part: &Part| match *part {
            Part::Range(_, last) => last.saturating_add(1),
            Part::Progression { first, .. } => first,
        };
        let settled = self.parts.iter().map(start).max().unwrap_or(0).max(from);
        let progressions = self.parts.iter().filter(|part| matches!(part, Part::Progression { .. })).count();
        let beyond = settled.saturating_add(1u64.checked_shl(progressions as u32).unwrap_or(u64::MAX));
        let mut total = from;
        while total <= beyond {
            // A range may be long: go to its end in one step.
            let last = self.parts.iter().filter(|part| part.contains(total)).map(|part| match *part {
                Part::Range(_, last) => last,
                Part::Progression { .. } => total,
            });
            match last.max() {
                None => return Some(total),
                Some(last) => total = last.checked_add(1)?,
            }
        }
        None
    }

    /// Whether nothing is forbidden.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

impl fmt::Display for ForbiddenTotals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(out, "{comma}{part}")?;
        }
        Ok(())
    }
}

/// Why a set of forbidden totals could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read the forbidden totals {text:?}: {reason}; write totals such as 7, 3..9, 5k or 5k+2, with commas between them"
)]
pub struct ParseForbiddenError {
    text: String,
    reason: String,
}

impl FromStr for ForbiddenTotals {
    type Err = ParseForbiddenError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text
            .split(',')
            .map(|part| parse_part(part.trim()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|reason| ParseForbiddenError { text: text.to_owned(), reason })?;
        Ok(Self::union(parts))
    }
}

fn parse_part(part: &str) -> Result<Part, String> {
    if part.is_empty() {
        return Err("a total is missing".to_owned());
    }
    if let Some((first, last)) = part.split_once("..") {
        let (first, last) = (parse_total(first)?, parse_total(last.strip_prefix('=').unwrap_or(last))?);
        return if first <= last {
            Ok(Part::Range(first, last))
        } else {
            Err(format!("the range {part} is empty, its first total is above its last"))
        };
    }
    if let Some((step, first)) = part.split_once('k') {
        let step = if step.is_empty() { 1 } else { parse_total(step)? };
        let first = match first.trim_start() {
            "" => 0,
            rest => {
                parse_total(rest.strip_prefix('+').ok_or_else(|| format!("{rest:?} after k in {part}"))?)?
            }
        };
        return if step > 0 {
            Ok(Part::Progression { step, first })
        } else {
            Err(format!("the step in {part} is 0; the single total is written {first}"))
        };
    }
    parse_total(part).map(|total| Part::Range(total, total))
}

fn parse_total(text: &str) -> Result<u64, String> {
    let text = text.trim();
    match text.parse() {
        Ok(total) if !text.starts_with('+') => Ok(total),
        _ if text.is_empty() => Err("a total is missing".to_owned()),
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Err(format!("{text} is more than {}", u64::MAX))
        }
        _ => Err(format!("{text:?} is not a whole number from 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn members(text: &str) -> Vec<u64> {
        let set: ForbiddenTotals = text.parse().unwrap();
        (0..24).filter(|&total| set.contains(total)).collect()
    }

    #[test]
    fn every_kind_of_part_means_what_the_notation_says() {
        assert_eq!(members("7"), [7]);
        assert_eq!(members("3..6"), [3, 4, 5, 6]);
        assert_eq!(members("5k"), [0, 5, 10, 15, 20]);
        assert_eq!(members("9k+11"), [11, 20]);
        assert_eq!(members("0, 10..11 ,8k+2"), [0, 2, 10, 11, 18]);
        assert_eq!(members("k"), (0..24).collect::<Vec<_>>());
        assert!(ForbiddenTotals::default().is_empty() && !ForbiddenTotals::default().contains(0));
    }

    #[test]
    fn what_adds_nothing_is_left_out() {
        for (typed, plain) in [
            ("5k,10k", "5k"),
            ("10k,5k,15k+30", "5k"),
            ("5k+5,10k+10,10k+2", "5k+5,10k+2"),
            ("5k,7,10,20..20", "7,5k"),
            ("0,5k+5", "5k"),
            ("0..7,12,5k+17", "0..7,5k+2"),
            ("3..5,4..9,10,12", "3..10,12"),
            ("k+5,3..4", "1k+3"),
            ("k,7,3..4,2k", "1k"),
            ("2k+1,4..6", "4..6,2k+1"),
            ("18446744073709551615,0..18446744073709551614", "0..18446744073709551615"),
            ("6k+1,4k+1", "4k+1,6k+1"),
        ] {
            let [set, same]: [ForbiddenTotals; 2] = [typed, plain].map(|text| text.parse().unwrap());
            assert_eq!((&set, set.to_string().as_str()), (&same, plain), "{typed}");
        }
        let divisor = "10k,5k".parse::<ForbiddenTotals>().unwrap().divisor();
        assert_eq!(divisor, Some(5));
    }

    #[test]
    fn the_next_allowed_total_is_found_or_there_is_none() {
        for text in
            ["7", "3..6", "5k", "0..9,4k", "2k,3k+1", "2k+9,2k+20", "k+5", "2k,2k+1", "3k,3k+1,6k+2,6k+5"]
        {
            let set: ForbiddenTotals = text.parse().unwrap();
            for from in 0..40 {
                assert_eq!(
                    set.next_allowed(from),
                    (from..500).find(|&total| !set.contains(total)),
                    "{text} from {from}"
                );
            }
        }
        assert_eq!(ForbiddenTotals::default().next_allowed(3), Some(3));
        let long: ForbiddenTotals = "0..1000000000000000000,2k".parse().unwrap();
        assert_eq!(long.next_allowed(7), Some(1_000_000_000_000_000_001));
        assert_eq!("5..18446744073709551615".parse::<ForbiddenTotals>().unwrap().next_allowed(5), None);
    }

    #[test]
    fn malformed_sets_name_the_part_that_is_wrong() {
        for (text, reason) in [
            ("", "a total is missing"),
            ("1,", "a total is missing"),
            ("..4", "a total is missing"),
            ("9..3", "the range 9..3 is empty"),
            ("0k", "the step in 0k is 0"),
            ("5k-2", "\"-2\" after k in 5k-2"),
            ("5m", "\"5m\" is not a whole number"),
            ("-4", "\"-4\" is not a whole number"),
            ("99999999999999999999", "is more than 18446744073709551615"),
        ] {
            let message = text.parse::<ForbiddenTotals>().unwrap_err().to_string();
            assert!(message.contains(reason), "{text:?}: {message}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_reading_give_the_same_set(
            parts in prop::collection::vec((0u64..3, 0u64..40, 1u64..12), 1..5)
        ) {
            let text = parts.iter().map(|&(kind, first, extent)| match kind {
                0 => format!("{first}"),
                1 => format!("{first}..{}", first + extent),
                _ => format!("{extent}k+{first}"),
            }).collect::<Vec<_>>().join(",");
            let set: ForbiddenTotals = text.parse().unwrap();
            let again: ForbiddenTotals = set.to_string().parse().unwrap();
            prop_assert_eq!(&set, &again);
            for total in 0..60 {
                let expected = parts.iter().any(|&(kind, first, extent)| match kind {
                    0 => total == first,
                    1 => total >= first && total <= first + extent,
                    _ => total >= first && (total - first) % extent == 0,
                });
                prop_assert_eq!(set.contains(total), expected);
            }
        }
    }
}
