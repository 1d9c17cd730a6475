//! `nimstrata census`: positions and P-positions of every residue word, and the shape of the losing words.

use std::collections::HashSet;
use std::fmt;

use nimstrata::Result;
use nimstrata::observe::{Census, Subspace, WordCount, is_prime};
use nimstrata::space::Region;
use serde::{Serialize, Serializer};

use super::figures::{counted, grouped, share, variable};
use super::game::StoredArgs;
use super::number;
use super::output::{Lines, OutputArgs};
use super::report::Report;
use super::solving::{SavingArgs, SolvingArgs};

/// Tables with more words than this leave the winning ones out.
const SHORT_TABLE: usize = 64;
/// So many words are listed in a line of the summary.
const LISTED_WORDS: usize = 16;
/// Memory that a word takes at most, from counting to printing.
const BYTES_PER_WORD: u128 = 320;

/// Count positions and P-positions of every residue word
///
/// The word of a position reads its heaps largest first, each by its residue; with modulus 2 that is the parity
/// word. Residues of a modulus above 10 are joined by dots, such as 11.0.7. A word is uniform when all its positions
/// have one verdict, and losing when all are P-positions. For a prime modulus, the losing words are tested for being
/// a linear subspace over the integers mod m.
#[derive(clap::Args)]
#[command(override_usage = "nimstrata census [OPTIONS] --heaps <N> --max <CAP> <GAME>\n       \
    nimstrata census [OPTIONS] --store <DIR>")]
#[command(after_help = "Example: the parity words of five heaps up to a hundred\n  \
    nimstrata census bounded-moore --heaps 5 --width 2 --max 100\n\n\
    Of what `nimstrata solve --out moore` has stored\n  \
    nimstrata census --store moore")]
pub struct Args {
    #[command(flatten)]
    game: StoredArgs,
    /// What the residues are taken by; 2 for parity words
    #[arg(long, value_name = "M", default_value = "2", value_parser = number::count, allow_hyphen_values = true)]
    modulus: u32,
    /// Print the winning words of a long table, too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    saving: SavingArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    solving: SolvingArgs,
}

impl Args {
    /// Solves or reads, counts and prints.
    pub fn run(self) -> Result<()> {
        let (game, region, store) = self.game.validated()?;
        let solving = self.solving.validated()?.reading(store);
        let mut census = Census::new(&region, self.modulus)?;
        let words = most_words(&region, self.modulus);
        let what = format!("counting up to {} words mod {}", grouped(words), self.modulus);
        let needed = u128::from(words) * (BYTES_PER_WORD + Census::bytes_a_word(solving.threads()));
        let solving = solving.reserving(what, needed, "a smaller --modulus or --max would do")?;
        let solved = match self.saving.saving(format!("the words mod {}", self.modulus)) {
            Some(saving) => solving.run_saving(&game.rules, &region, &mut [&mut census], &saving)?,
            None => solving.run(&game.rules, &region, &mut [&mut census])?,
        };
        let report = Report::new(&game, &region, solved);
        self.output.print(&CensusReport::new(report, census.words(), self.modulus, self.all))
    }
}

/// At least as many words as occur in a region.
fn most_words(region: &Region, modulus: u32) -> u64 {
    let residues = u64::from(modulus.min(region.max() + 1));
    residues.checked_pow(region.heaps()).map_or(region.positions(), |words| words.min(region.positions()))
}

/// A row of residues, or of coefficients of an equation, largest heap first.
#[derive(Clone)]
struct Word {
    residues: Vec<u32>,
    modulus: u32,
}

impl fmt::Display for Word {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = if self.modulus <= 10 { "" } else { "." };
        for (index, residue) in self.residues.iter().enumerate() {
            write!(out, "{}{residue}", if index == 0 { "" } else { dot })?;
        }
        Ok(())
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Word {
    /// The equation with these coefficients, such as `a₁ + 2a₃ = 0`.
    fn equation(&self) -> String {
        let term = |(index, &coefficient): (usize, &u32)| match coefficient {
            0 => None,
            1 => Some(variable(index + 1)),
            _ => Some(format!("{coefficient}{}", variable(index + 1))),
        };
        let terms = self.residues.iter().enumerate().filter_map(term).collect::<Vec<_>>();
        format!("{} = 0", terms.join(" + "))
    }
}

#[derive(Serialize)]
struct WordRow {
    word: Word,
    positions: u64,
    p_positions: u64,
    #[serde(skip)]
    verdict: WordVerdict,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WordVerdict {
    Losing,
    Winning,
    Mixed,
}

impl WordRow {
    fn new(count: WordCount, modulus: u32) -> Self {
        let verdict = match (count.is_uniform(), count.is_losing()) {
            (false, _) => WordVerdict::Mixed,
            (true, true) => WordVerdict::Losing,
            (true, false) => WordVerdict::Winning,
        };
        let word = Word { residues: count.word, modulus };
        Self { word, positions: count.positions, p_positions: count.p_positions, verdict }
    }

    /// The verdict in words; for a mixed word with the share that loses.
    fn verdict(&self) -> String {
        match self.verdict {
            WordVerdict::Losing => "losing".to_owned(),
            WordVerdict::Winning => "winning".to_owned(),
            WordVerdict::Mixed => format!("mixed, {} lose", share(self.p_positions, self.positions)),
        }
    }
}

#[derive(Serialize)]
struct CensusReport {
    #[serde(flatten)]
    region: Report,
    modulus: u32,
    words: Vec<WordRow>,
    uniform_words: usize,
    uniform_positions: u64,
    losing_words: Vec<Word>,
    /// Whether the losing words are a linear subspace; null for a composite modulus. The next three are null unless
    /// they are.
    subspace: Option<bool>,
    dimension: Option<usize>,
    basis: Option<Vec<Word>>,
    equations: Option<Vec<Word>>,
    /// Print winning words in a long table.
    #[serde(skip)]
    all: bool,
}

impl CensusReport {
    fn new(region: Report, counts: Vec<WordCount>, modulus: u32, all: bool) -> Self {
        let words = counts.into_iter().map(|count| WordRow::new(count, modulus)).collect::<Vec<_>>();
        let uniform = || words.iter().filter(|row| row.verdict != WordVerdict::Mixed);
        let losing = words.iter().filter(|row| row.verdict == WordVerdict::Losing);
        let losing_words = losing.map(|row| row.word.clone()).collect::<Vec<_>>();
        let residues = || losing_words.iter().map(|word| word.residues.clone()).collect::<Vec<_>>();
        let prime = is_prime(modulus);
        let space = prime.then(|| Subspace::of(&residues(), modulus)).flatten();
        let dimension = space.as_ref().map(|space| space.basis.len());
        let as_words = |rows: Vec<Vec<u32>>| {
            rows.into_iter().map(|residues| Word { residues, modulus }).collect::<Vec<_>>()
        };
        let (basis, equations) =
            space.map(|space| (as_words(space.basis), as_words(space.equations))).unzip();
        Self {
            region,
            modulus,
            uniform_words: uniform().count(),
            uniform_positions: uniform().map(|row| row.positions).sum(),
            losing_words,
            subspace: prime.then_some(dimension.is_some()),
            dimension,
            basis,
            equations,
            all,
            words,
        }
    }

    /// The rows of the table: all of a short one, of a long one those that are not winning.
    fn shown(&self) -> impl Iterator<Item = &WordRow> {
        let everything = self.all || self.words.len() <= SHORT_TABLE;
        self.words.iter().filter(move |row| everything || row.verdict != WordVerdict::Winning)
    }

    fn write_table(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest =
            |cells: &mut dyn Iterator<Item = usize>, title: &str| cells.max().unwrap_or(0).max(title.len());
        let word = widest(&mut self.shown().map(|row| row.word.to_string().len()), "word");
        let positions = widest(&mut self.shown().map(|row| grouped(row.positions).len()), "positions");
        let losing = widest(&mut self.shown().map(|row| grouped(row.p_positions).len()), "losing");
        writeln!(out, "{:word$}  {:>positions$}  {:>losing$}  verdict", "word", "positions", "losing")?;
        for row in self.shown() {
            let (all, lose) = (grouped(row.positions), grouped(row.p_positions));
            writeln!(
                out,
                "{:word$}  {all:>positions$}  {lose:>losing$}  {}",
                row.word.to_string(),
                row.verdict()
            )?;
        }
        match self.words.len() - self.shown().count() {
            0 => Ok(()),
            left_out => writeln!(out, "and {}, all with --all", counted(left_out as u64, "winning word")),
        }
    }

    /// The lines that say which words are uniform.
    fn add_words(&self, lines: &mut Lines) {
        let (words, uniform) = (grouped(self.words.len() as u64), grouped(self.uniform_words as u64));
        let (all, covered) = (grouped(self.region.positions), grouped(self.uniform_positions));
        let noun = if self.words.len() == 1 { "word" } else { "words" };
        lines.add("words", format!("{uniform} of {words} {noun} uniform, {covered} of {all} positions"));
        let possible = u128::from(self.modulus).checked_pow(self.region.about.heaps);
        if possible != Some(self.words.len() as u128) {
            let possible = possible.and_then(|words| u64::try_from(words).ok());
            let possible = possible.map_or_else(|| "over 2⁶⁴".to_owned(), grouped);
            lines.add("", format!("{words} of {possible} possible words occur in this region"));
        }
        lines.add(
            "losing",
            match self.losing_words.len() {
                0 => "no word loses in all its positions".to_owned(),
                count => format!("{}: {}", counted(count as u64, "word"), listed(&self.losing_words)),
            },
        );
    }

    /// The lines that say whether the losing words are a subspace, and which.
    fn add_subspace(&self, lines: &mut Lines) {
        let (Some(dimension), Some(basis), Some(equations)) = (self.dimension, &self.basis, &self.equations)
        else {
            let why_not = match self.subspace {
                None => format!("not asked: {} is not prime", self.modulus),
                Some(_) => format!("no: {}", self.not_closed()),
            };
            return lines.add("subspace", why_not);
        };
        lines
            .add("subspace", format!("yes, of dimension {dimension} over the integers mod {}", self.modulus));
        lines.add("basis", if basis.is_empty() { "empty".to_owned() } else { listed(basis) });
        if equations.is_empty() {
            lines.add("equations", "none: every word loses");
        }
        for (index, equation) in equations.iter().enumerate() {
            let label = if index == 0 { "equations" } else { "" };
            lines.add(label, format!("{equation}  {}", equation.equation()));
        }
    }

    /// Why the losing words are no subspace: a set of words mod a prime is one exactly when it is not empty and
    /// closed under addition.
    fn not_closed(&self) -> String {
        const TRIED: usize = 1000;
        let words = &self.losing_words;
        let known = words.iter().map(|word| &word.residues).collect::<HashSet<_>>();
        let sum = |a: &Word, b: &Word| {
            let add =
                |(a, b): (&u32, &u32)| ((u64::from(*a) + u64::from(*b)) % u64::from(self.modulus)) as u32;
            Word { residues: a.residues.iter().zip(&b.residues).map(add).collect(), modulus: self.modulus }
        };
        let tried = &words[..words.len().min(TRIED)];
        let pairs = tried.iter().flat_map(|a| tried.iter().map(move |b| (a, b, sum(a, b))));
        match pairs.into_iter().find(|(_, _, sum)| !known.contains(&sum.residues)) {
            Some((a, b, sum)) => {
                let occurs = self.words.iter().any(|row| row.word.residues == sum.residues);
                format!(
                    "{a} + {b} = {sum}, which {}",
                    if occurs { "is not losing" } else { "no position here has" }
                )
            }
            None if words.is_empty() => "there are no losing words".to_owned(),
            None => "the losing words are not closed under addition".to_owned(),
        }
    }
}

/// Some words with commas, and how many more there are.
fn listed(words: &[Word]) -> String {
    let shown = words.iter().take(LISTED_WORDS).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match words.len().saturating_sub(LISTED_WORDS) {
        0 => shown,
        more => format!("{shown} and {} more", grouped(more as u64)),
    }
}

impl fmt::Display for CensusReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_table(out)?;
        let mut lines = Lines::default();
        self.region.add_region(&mut lines);
        self.region.add_counts(&mut lines);
        self.add_words(&mut lines);
        self.add_subspace(&mut lines);
        self.region.add_cost(&mut lines);
        write!(out, "\n{lines}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_name_the_heaps_and_leave_ones_out() {
        let word = |residues: &[u32], modulus| Word { residues: residues.to_vec(), modulus };
        assert_eq!(word(&[1, 0, 2], 3).equation(), "a₁ + 2a₃ = 0");
        assert_eq!(word(&[0, 0, 1], 2).equation(), "a₃ = 0");
        assert_eq!(word(&[1, 0, 2], 10).to_string(), "102");
        assert_eq!(word(&[1, 0, 10], 11).to_string(), "1.0.10");
    }

    #[test]
    fn there_are_no_more_words_than_residues_or_positions_allow() {
        let region = Region::new(5, 9).unwrap();
        assert_eq!([2, 3, 5, 99].map(|modulus| most_words(&region, modulus)), [32, 243, 2002, 2002]);
        assert_eq!(
            most_words(&Region::new(16, 100).unwrap(), u32::MAX),
            Region::new(16, 100).unwrap().positions()
        );
    }
}
