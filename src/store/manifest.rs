//! `manifest.json`: what a store holds; and `progress.json`, the same of one that is not finished.
//!
//! Both end in a checksum: xxh3-64 of the whole file with zeros in its place, so that no changed byte goes unnoticed.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::game::{ForbiddenTotals, Ruleset, Take};
use crate::solver::Quantity;
use crate::space::{Cell, Region, largest_cap_within, remoteness_bound, remoteness_cell};

/// What the `format` of every manifest says.
const FORMAT: &str = "nimstrata store";
/// The version of the format that this program writes and reads.
const VERSION: u32 = 1;
/// What a manifest ends with; then come the checksum's digits and [`END`].
const CHECKSUM: &str = "\"checksum\": \"";
const END: &str = "\"\n}\n";
const NO_CHECKSUM: &str = "0000000000000000";

/// The rules, the region and the quantity that a store is about.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The rules of the game.
    pub rules: Ruleset,
    /// The positions.
    pub region: Region,
    /// What is known of each.
    pub quantity: Quantity,
}

impl PartialEq for Subject {
    fn eq(&self, other: &Self) -> bool {
        let region = |region: &Region| (region.heaps(), region.max(), region.strata().end);
        self.rules == other.rules
            && region(&self.region) == region(&other.region)
            && self.quantity == other.quantity
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quantity = match self.quantity {
            Quantity::Verdict => "verdicts",
            Quantity::Remoteness => "the remoteness",
        };
        let (region, last) = (&self.region, self.region.strata().end - 1);
        write!(out, "{quantity} of {}, every heap ≤ {}", self.rules, region.max())?;
        if last < region.heaps() * region.max() { write!(out, ", total ≤ {last}") } else { Ok(()) }
    }
}

impl Subject {
    /// What a cell must hold.
    ///
    /// # Errors
    /// [`Error::TooLong`] when games may last longer than remoteness is counted.
    pub fn cell(&self) -> Result<Cell> {
        let (max, last) = (u64::from(self.region.max()), u64::from(self.region.strata().end) - 1);
        match self.quantity {
            Quantity::Verdict => Ok(Cell::Verdicts),
            Quantity::Remoteness => remoteness_cell(&self.rules, max, last).ok_or_else(|| {
                let fits = |cap: u64, _| remoteness_cell(&self.rules, cap, last).map(|_| 0);
                Error::TooLong {
                    max: self.region.max(),
                    bound: remoteness_bound(&self.rules, max, last),
                    largest: largest_cap_within(max, 0, fits).0.unwrap_or(0),
                }
            }),
        }
    }
}

/// The counts of a finished store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Strata, from total 0 on.
    pub strata: u32,
    /// Positions in them.
    pub positions: u64,
    /// P-positions among these.
    pub p_positions: u64,
    /// The others.
    pub n_positions: u64,
    /// P-positions at forbidden totals (P₀).
    pub p_forbidden: u64,
}

/// What the file says.
#[derive(Serialize, Deserialize)]
struct File {
    format: String,
    format_version: u32,
    program_version: String,
    game: String,
    heaps: u32,
    /// The least and the greatest number of heaps that a move touches.
    touch: [u32; 2],
    /// Stones from each of them: `one`, `any`, or the most.
    take: String,
    forbid: Option<String>,
    misere: bool,
    max: u32,
    up_to_total: Option<u32>,
    quantity: String,
    #[serde(flatten)]
    counts: Option<Counts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    checksum: String,
}

/// The manifest of a finished store, or of what is there of an unfinished one.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The name of the game, on the command line.
    pub game: String,
    /// What the store is about.
    pub subject: Subject,
    /// Its counts, and the digest of the region; `None` while it is not finished.
    pub outcome: Option<(Counts, u64)>,
}

impl Manifest {
    /// The text of the file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Subject { rules, region, quantity } = &self.subject;
        let last = region.strata().end - 1;
        let file = File {
            format: FORMAT.to_owned(),
            format_version: VERSION,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            game: self.game.clone(),
            heaps: rules.heaps,
            touch: [rules.touch_least, rules.touch_most],
            take: match rules.take {
                Take::One => "one".to_owned(),
                Take::Any => "any".to_owned(),
                Take::UpTo(most) => most.to_string(),
            },
            forbid: (!rules.forbidden.is_empty()).then(|| rules.forbidden.to_string()),
            misere: rules.misere,
            max: region.max(),
            up_to_total: (last < region.heaps() * region.max()).then_some(last),
            quantity: quantity.name().to_owned(),
            counts: self.outcome.map(|(counts, _)| counts),
            digest: self.outcome.map(|(_, digest)| format!("{digest:016x}")),
            checksum: NO_CHECKSUM.to_owned(),
        };
        let text = serde_json::to_string_pretty(&file).expect("it has no keys but strings") + "\n";
        let checksum = format!("{:016x}", xxh3_64(text.as_bytes()));
        let head = text.len() - END.len() - NO_CHECKSUM.len();
        text[..head].to_owned() + &checksum + END
    }

    /// Reads the file.
    ///
    /// # Errors
    /// [`Error::StoreVersion`] for a later format, [`Error::NoStore`] for another kind of file, [`Error::Damaged`] for
    /// what has been changed since it was written.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self> {
        let damaged = |what: &str| Error::Damaged { path: path.to_owned(), what: what.to_owned() };
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|_| damaged("it is no JSON"))?;
        if value.get("format").is_none() && value.get("checksum").is_none() {
            return Err(Error::NoStore {
                path: path.to_owned(),
                reason: "its manifest is that of something else".to_owned(),
            });
        }
        match value.get("format_version").and_then(serde_json::Value::as_u64) {
            Some(version) if version > u64::from(VERSION) => {
                return Err(Error::StoreVersion { path: path.to_owned(), version, supported: VERSION });
            }
            _ => {}
        }
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
        check(text).ok_or_else(|| damaged("its checksum is that of another text"))?;
        let file: File = serde_json::from_value(value).map_err(|error| damaged(&error.to_string()))?;
        let manifest = file.manifest().map_err(|error| damaged(&error.to_string()))?;
        if manifest.outcome.is_some() == (file.digest.is_some() && file.counts.is_some()) {
            Ok(manifest)
        } else {
            Err(damaged("it has counts without a digest"))
        }
    }
}

impl File {
    fn manifest(&self) -> Result<Manifest> {
        let take = match &*self.take {
            "one" => Take::One,
            "any" => Take::Any,
            most => Take::UpTo(most.parse().map_err(|_| unknown("take", most))?),
        };
        let forbidden = self.forbid.as_deref().map_or(Ok(ForbiddenTotals::default()), str::parse)?;
        let [least, most] = self.touch;
        let rules = Ruleset::touching(self.heaps, least, most, take)?;
        let rules = rules.with_forbidden(forbidden).with_misere(self.misere);
        let region = Region::new(self.heaps, self.max.into())?;
        let region = self.up_to_total.map_or(region.clone(), |total| region.up_to_total(total.into()));
        let quantities = [Quantity::Verdict, Quantity::Remoteness];
        let quantity = quantities.into_iter().find(|quantity| quantity.name() == self.quantity);
        let quantity = quantity.ok_or_else(|| unknown("quantity", &self.quantity))?;
        if self.format != FORMAT || self.format_version != VERSION {
            return Err(unknown("format", &format!("{}, version {}", self.format, self.format_version)));
        }
        let digest = self.digest.as_deref().and_then(|digest| u64::from_str_radix(digest, 16).ok());
        let outcome = self.counts.zip(digest);
        let game = self.game.clone();
        Ok(Manifest { game, subject: Subject { rules, region, quantity }, outcome })
    }
}

fn unknown(field: &str, value: &str) -> Error {
    Error::Io { what: format!("its {field} is {value}"), source: std::io::ErrorKind::InvalidData.into() }
}

/// The name that games with these rules have on the command line. Those of which a move takes one stone have two; this is
/// the one that is meant where nobody says.
pub fn game_name(rules: &Ruleset) -> &'static str {
    match (rules.take, rules.touch_least) {
        (Take::Any | Take::UpTo(2..), _) => "fts",
        (_, 1) => "bounded-moore",
        _ => "exact-slow",
    }
}

/// Whether a text has the checksum that it says.
fn check(text: &str) -> Option<()> {
    let head = text.strip_suffix(END)?;
    let (head, checksum) = head.split_at_checked(head.len().checked_sub(NO_CHECKSUM.len())?)?;
    let blank = [head, NO_CHECKSUM, END].concat();
    let sum = format!("{:016x}", xxh3_64(blank.as_bytes()));
    (head.ends_with(CHECKSUM) && sum == checksum).then_some(())
}
