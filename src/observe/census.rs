//! Word census: how the verdicts spread over residue words.
//!
//! The word of a position reads its heaps largest first and gives each by its residue; with modulus 2 that is the
//! parity word. A word is **uniform** when all its positions have one verdict, and **losing** when all are
//! P-positions.

use std::collections::HashMap;

use serde_json::Value;

use crate::checkpoint::Resumable;
use crate::error::{Error, Result};
use crate::solver::Observer;
use crate::space::{Region, Row, Stratum};

/// Up to this many different words are counted in one array.
const DENSE_WORDS: u128 = 1 << 16;

/// Positions and P-positions of one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordCount {
    /// The residues, largest heap first.
    pub word: Vec<u32>,
    /// How many positions of the region have this word; at least 1.
    pub positions: u64,
    /// How many of them are P-positions.
    pub p_positions: u64,
}

impl WordCount {
    /// Whether all positions have the same verdict.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.p_positions == 0 || self.is_losing()
    }

    /// Whether all positions are P-positions.
    #[must_use]
    pub fn is_losing(&self) -> bool {
        self.p_positions == self.positions
    }
}

/// The greatest modulus for which a row is counted by masks.
const MOST_MASKS: u32 = u32::BITS;

/// Counts positions and P-positions of every word.
pub struct Census {
    heaps: u32,
    modulus: u32,
    /// Residues that occur: the modulus, or fewer if no heap is that large.
    residues: u32,
    counts: Counts,
    /// `masks[start][r]`: the bits i of a word with (start + i) mod modulus = r; empty for a modulus above
    /// [`MOST_MASKS`].
    masks: Vec<Vec<u32>>,
}

/// [positions, P-positions] by word, a word being read as a number in base `residues`.
#[derive(Clone)]
enum Counts {
    Dense(Vec<[u64; 2]>),
    Sparse(HashMap<u128, [u64; 2]>),
}

impl Counts {
    fn add(&mut self, word: u128, counts: [u64; 2]) {
        let entry = match self {
            Self::Dense(all) => &mut all[word as usize],
            Self::Sparse(all) => all.entry(word).or_default(),
        };
        entry[0] += counts[0];
        entry[1] += counts[1];
    }
}

impl Census {
    /// An empty census of a region.
    ///
    /// # Errors
    /// [`Error::Modulus`] for a modulus below 2.
    pub fn new(region: &Region, modulus: u32) -> Result<Self> {
        if modulus < 2 {
            return Err(Error::Modulus { modulus });
        }
        let residues = modulus.min(region.max() + 1);
        let all = u128::from(residues).checked_pow(region.heaps());
        let counts = match all {
            Some(words) if words <= DENSE_WORDS => Counts::Dense(vec![[0; 2]; words as usize]),
            _ => Counts::Sparse(HashMap::new()),
        };
        let bits = |start: u32, residue: u32| {
            (0..32).filter(|i| (start + i) % modulus == residue).fold(0, |mask, i| mask | 1 << i)
        };
        let starts = if modulus <= MOST_MASKS { modulus } else { 0 };
        let masks =
            (0..starts).map(|start| (0..modulus).map(|residue| bits(start, residue)).collect()).collect();
        Ok(Self { heaps: region.heaps(), modulus, residues, counts, masks })
    }

    /// Bytes that counting takes for each word while a stratum is observed on this many threads.
    #[must_use]
    pub fn bytes_a_word(threads: usize) -> u128 {
        // Every part of a stratum counts for itself: two counts, and in a map the word and room to grow.
        64 * Stratum::parts(threads) as u128
    }

    /// The words that occur, in lexicographic order.
    #[must_use]
    pub fn words(&self) -> Vec<WordCount> {
        let mut numbers = match &self.counts {
            Counts::Dense(all) => {
                all.iter().enumerate().map(|(word, &counts)| (word as u128, counts)).collect()
            }
            Counts::Sparse(all) => all.iter().map(|(&word, &counts)| (word, counts)).collect::<Vec<_>>(),
        };
        numbers.retain(|(_, counts)| counts[0] > 0);
        numbers.sort_unstable();
        let residues = u128::from(self.residues);
        numbers
            .into_iter()
            .map(|(number, [positions, p_positions])| {
                let digit = |place: u32| (number / residues.pow(self.heaps - 1 - place) % residues) as u32;
                WordCount { word: (0..self.heaps).map(digit).collect(), positions, p_positions }
            })
            .collect()
    }

    /// Adds the positions of one row to `counts`.
    fn count_row(&self, row: &Row<'_>, counts: &mut Counts) {
        let residues = u128::from(self.residues);
        let digit = |size: u32| u128::from(size % self.modulus);
        let mut tail = 0;
        for &x in row.coordinates {
            tail = tail * residues + digit(u32::from(x));
        }
        let mut place = residues.pow(row.coordinates.len() as u32);
        if self.heaps >= 3 {
            tail = tail * residues + digit(row.lane);
            place *= residues;
        }
        let word = |second: u32| {
            let first = digit(row.rest - second);
            if self.heaps == 1 { first } else { (first * residues + digit(second)) * place + tail }
        };
        if self.masks.is_empty() {
            for second in row.first..=row.last {
                let is_p = row.word(second / 32) >> (second % 32) & 1;
                counts.add(word(second), [1, u64::from(is_p)]);
            }
            return;
        }
        let mut found = [[0u32; 2]; MOST_MASKS as usize];
        let found = &mut found[..self.modulus.min(row.last + 1) as usize];
        for at in row.word_range() {
            let (valid, bits) = (row.valid(at), row.word(at));
            for (count, mask) in found.iter_mut().zip(&self.masks[(at * 32 % self.modulus) as usize]) {
                count[0] += (valid & mask).count_ones();
                count[1] += (bits & mask).count_ones();
            }
        }
        for (residue, &count) in (0..).zip(&*found) {
            if count[0] > 0 {
                // Any x₂ of this residue gives the word; take the first of the row.
                let second = row.first + (residue + self.modulus - row.first % self.modulus) % self.modulus;
                counts.add(word(second), count.map(u64::from));
            }
        }
    }
}

impl Resumable for Census {
    fn save(&self) -> Value {
        let all: Vec<(String, [u64; 2])> = match &self.counts {
            Counts::Dense(all) => {
                (0u128..).zip(all).map(|(word, &counts)| (word.to_string(), counts)).collect()
            }
            Counts::Sparse(all) => all.iter().map(|(word, &counts)| (word.to_string(), counts)).collect(),
        };
        let some = all.into_iter().filter(|(_, counts)| counts[0] > 0).collect::<Vec<_>>();
        serde_json::to_value(some).expect("it has no keys but strings")
    }

    fn load(&mut self, saved: Value) -> Option<()> {
        for (word, counts) in serde_json::from_value::<Vec<(String, [u64; 2])>>(saved).ok()? {
            let word: u128 = word.parse().ok()?;
            if let Counts::Dense(all) = &self.counts {
                all.get(usize::try_from(word).ok()?)?;
            }
            self.counts.add(word, counts);
        }
        Some(())
    }
}

impl Observer for Census {
    fn observe(&mut self, stratum: &Stratum<'_>) {
        let empty = match &self.counts {
            Counts::Dense(all) => Counts::Dense(vec![[0; 2]; all.len()]),
            Counts::Sparse(_) => Counts::Sparse(HashMap::new()),
        };
        let this = &*self;
        let parts = stratum.fold_rows(|| empty.clone(), |counts, row| this.count_row(row, counts));
        for part in parts {
            match part {
                Counts::Dense(all) => {
                    for (word, counts) in all.into_iter().enumerate() {
                        self.counts.add(word as u128, counts);
                    }
                }
                Counts::Sparse(all) => {
                    for (word, counts) in all {
                        self.counts.add(word, counts);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Ruleset;
    use crate::oracle;
    use crate::solver::{BackendChoice, Options, Solver};
    use std::collections::BTreeMap;
    use std::ops::ControlFlow;

    /// The census straight from the oracle's verdicts, one position at a time.
    fn by_hand(rules: &Ruleset, region: &Region, modulus: u32) -> Vec<WordCount> {
        let mut words: BTreeMap<Vec<u32>, [u64; 2]> = BTreeMap::new();
        for (position, is_p) in oracle::verdicts(rules, region) {
            let word = position.sizes().iter().rev().map(|size| size % modulus).collect();
            let counts = words.entry(word).or_default();
            counts[0] += 1;
            counts[1] += u64::from(is_p);
        }
        let count = |(word, [positions, p_positions]): (Vec<u32>, [u64; 2])| WordCount {
            word,
            positions,
            p_positions,
        };
        words.into_iter().map(count).collect()
    }

    #[test]
    fn any_modulus_counts_like_the_oracle() {
        for (heaps, width, max) in [(1, 1, 70), (2, 1, 40), (3, 2, 33), (4, 2, 11), (6, 3, 5), (3, 3, 0)] {
            let rules = Ruleset::bounded_moore(heaps, width).unwrap();
            let region = Region::new(heaps, max).unwrap();
            for modulus in [2, 3, 4, 7, 31, 32, 33, 50] {
                let mut census = Census::new(&region, modulus).unwrap();
                let options = Options { backend: BackendChoice::Cpu, ..Options::default() };
                let mut solver = Solver::new(&rules, &region, &options).unwrap();
                solver.run(&mut [&mut census], &mut |_| ControlFlow::Continue(())).unwrap();
                assert_eq!(
                    census.words(),
                    by_hand(&rules, &region, modulus),
                    "{rules} ≤ {max}, mod {modulus}"
                );
            }
        }
    }

    #[test]
    fn a_modulus_below_two_is_refused() {
        let region = Region::new(3, 4).unwrap();
        assert!(matches!(Census::new(&region, 1), Err(Error::Modulus { modulus: 1 })));
    }
}
