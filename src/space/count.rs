//! Exact counting: the sizes of strata are coefficients of Gaussian binomials.

/// The number of nondecreasing `parts`-tuples of numbers from 0 to `cap` with sum `total`: the coefficient of
/// q^total in the Gaussian binomial [cap + parts choose parts]. Exact modulo 2^64.
#[must_use]
pub fn count_tuples(parts: u32, cap: u32, total: u64) -> u64 {
    let (cap, full) = (u64::from(cap), u64::from(cap) * u64::from(parts));
    if total > full {
        return 0;
    }
    match parts {
        0 | 1 => 1,
        2 => total / 2 - total.saturating_sub(cap) + 1,
        // The coefficients read the same from both ends: take the shorter way.
        _ => gaussian_binomial(parts, cap as u32, total.min(full - total)).last().copied().unwrap_or(0),
    }
}

/// The coefficients of q^0 … q^degree of the Gaussian binomial [cap + parts choose parts], modulo 2^64: the sizes
/// of the strata 0 ..= degree. Product formula Π (1 − q^(cap+i)) / (1 − q^i), i = 1 … parts.
pub(super) fn gaussian_binomial(parts: u32, cap: u32, degree: u64) -> Vec<u64> {
    let mut series = vec![0u64; degree as usize + 1];
    series[0] = 1;
    for i in 1..=parts as usize {
        for at in (cap as usize + i..series.len()).rev() {
            series[at] = series[at].wrapping_sub(series[at - cap as usize - i]);
        }
        for at in i..series.len() {
            series[at] = series[at].wrapping_add(series[at - i]);
        }
    }
    series
}

/// [`count_tuples`] for many caps and totals, at the price of a few multiplications.
///
/// The Gaussian binomial is Π (1 − q^(cap+i)) times 1/Π (1 − q^i), i = 1 … parts. The second factor does not depend on
/// the cap: it counts partitions into at most `parts` parts, and is kept as a table. The first is a short polynomial, by
/// the q-binomial theorem Σ (−1)^j q^(j·cap + j(j+1)/2) [parts choose j], j = 0 … parts.
pub(super) struct Counts(Vec<Parts>);

/// What counts tuples of one length.
struct Parts {
    /// Partitions of 0, 1, … into at most so many parts.
    partitions: Vec<u64>,
    terms: Vec<Term>,
}

/// `factor`·q^(`caps`·cap + `more`), the factor modulo 2^64.
struct Term {
    caps: u64,
    more: u64,
    factor: u64,
}

impl Counts {
    /// For tuples of at most `parts` numbers up to at most `cap`.
    pub(super) fn new(parts: u32, cap: u32) -> Self {
        Self((0..=parts).map(|parts| Parts::new(parts, cap)).collect())
    }

    /// As [`count_tuples`].
    pub(super) fn count(&self, parts: u32, cap: u32, total: u64) -> u64 {
        let full = u64::from(cap) * u64::from(parts);
        match parts {
            _ if total > full => 0,
            0..=2 => count_tuples(parts, cap, total),
            _ => self.0[parts as usize].count(cap, total.min(full - total)),
        }
    }
}

impl Parts {
    fn new(parts: u32, cap: u32) -> Self {
        if parts <= 2 {
            return Self { partitions: Vec::new(), terms: Vec::new() };
        }
        // The coefficients read the same from both ends.
        let degree = u64::from(parts) * u64::from(cap) / 2;
        let partitions = gaussian_binomial(parts, degree as u32, degree);
        let terms_of = |j: u32| {
            let coefficients = gaussian_binomial(j, parts - j, u64::from(j * (parts - j)));
            let sign = if j.is_multiple_of(2) { 1 } else { u64::MAX };
            (u64::from(j * (j + 1) / 2)..).zip(coefficients).map(move |(more, coefficient)| Term {
                caps: j.into(),
                more,
                factor: coefficient.wrapping_mul(sign),
            })
        };
        Self { partitions, terms: (0..=parts).flat_map(terms_of).collect() }
    }

    fn count(&self, cap: u32, total: u64) -> u64 {
        let value = |term: &Term| {
            let rest = total.checked_sub(term.caps * u64::from(cap) + term.more)?;
            Some(term.factor.wrapping_mul(self.partitions[rest as usize]))
        };
        self.terms.iter().filter_map(value).fold(0, u64::wrapping_add)
    }
}

/// C(n, k) if it fits 128 bits.
pub(super) fn binomial(n: u64, k: u64) -> Option<u128> {
    let k = k.min(n.checked_sub(k)?);
    (1..=u128::from(k)).try_fold(1u128, |value, i| {
        // value · (n − k + i) is divisible by i, as value is C(n − k + i − 1, i − 1).
        Some(value.checked_mul(u128::from(n - k) + i)? / i)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_counts_agree_with_listing() {
        for (parts, cap) in [(0, 4), (1, 4), (2, 3), (3, 5), (4, 4), (5, 2), (3, 0)] {
            let mut sizes = vec![0u64; (parts * cap) as usize + 1];
            let mut stack = vec![(0u32, 0u32, 0u32)];
            while let Some((depth, least, sum)) = stack.pop() {
                if depth == parts {
                    sizes[sum as usize] += 1;
                } else {
                    stack.extend((least..=cap).map(|part| (depth + 1, part, sum + part)));
                }
            }
            for (total, &size) in sizes.iter().enumerate() {
                assert_eq!(
                    count_tuples(parts, cap, total as u64),
                    size,
                    "{parts} parts ≤ {cap}, total {total}"
                );
            }
            assert_eq!(gaussian_binomial(parts, cap, u64::from(parts * cap)), sizes);
            assert_eq!(count_tuples(parts, cap, u64::from(parts * cap) + 1), 0);
        }
    }

    #[test]
    fn tables_count_as_one_by_one() {
        for (parts, most) in [(1, 9), (2, 9), (3, 40), (4, 17), (6, 12), (14, 4)] {
            let counts = Counts::new(parts, most);
            for (parts, cap) in (0..=parts).flat_map(|parts| (0..=most).map(move |cap| (parts, cap))) {
                for total in 0..=u64::from(parts * cap) + 1 {
                    let expected = count_tuples(parts, cap, total);
                    assert_eq!(counts.count(parts, cap, total), expected, "{parts} parts ≤ {cap}, {total}");
                }
            }
        }
    }

    #[test]
    fn binomials_are_exact_or_absent() {
        assert_eq!(binomial(205, 5), Some(2_872_408_791));
        assert_eq!(binomial(405, 5), Some(88_578_967_581));
        assert_eq!(binomial(3, 5), None);
        assert_eq!(binomial(u64::MAX, 16), None);
    }
}
