//! Checks a store: whether every byte is as it was written, and whether its values follow from the rules.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::folder::{DIGESTS, Folder, MANIFEST, OFFSETS};
use super::mapped::Mapped;
use super::{
    Counts, Store, Stored, check_array, check_offsets, manifest::Manifest, missing, read, read_digests,
};
use crate::error::{Error, Result};
use crate::game::{Position, Ruleset, legal_moves};
use crate::observe::{Digest, stratum_digest};
use crate::solver::Quantity;

/// Strata, or positions, that are checked between two looks at whether the rest is wanted.
const ROUND: usize = 256;

/// Which positions are derived again from the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audit {
    /// None.
    None,
    /// So many, chosen at random, each position as likely as any other.
    Random(u64),
    /// Every one.
    All,
}

/// What a position is by a store, or by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A P-position or not.
    P(bool),
    /// Its remoteness.
    Remoteness(u32),
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Strata of the store.
    pub strata: u32,
    /// Those whose values are not as they were written.
    pub bad_strata: Vec<u32>,
    /// Files that are not as they were written, and what is wrong with them.
    pub bad_files: Vec<(String, String)>,
    /// Positions derived again.
    pub audited: u64,
    /// Those for which the rules say something else, with what the store says and what the rules say: the first few.
    pub disagreements: Vec<(Position, Verdict, Verdict)>,
    /// How many there are.
    pub disagreeing: u64,
}

impl Verification {
    /// Whether every byte is as it was written.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.bad_strata.is_empty() && self.bad_files.is_empty()
    }
}

/// Disagreements that are listed at most.
const LISTED: usize = 20;

/// Checks a store. Every byte of every file is covered: the manifest by its own checksum, the values by the digest of
/// their stratum, the digests by that of the region in the manifest, the offsets and all headers by being exactly what the
/// region asks for, and the bytes between strata by being zero.
///
/// An audit derives positions from the stored values of their options by the definition of the game. `watch` hears how
/// many strata, then how many positions are done, and can stop it.
///
/// # Errors
/// As [`Store::open`] for what has no readable manifest, and [`Error::Stopped`] when `watch` stopped it.
pub fn verify(
    path: &Path,
    audit: Audit,
    watch: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Verification> {
    let manifest = super::read_manifest(path)?;
    let (counts, digest) = manifest
        .outcome
        .ok_or_else(|| Error::Damaged { path: path.join(MANIFEST), what: "it has no counts".to_owned() })?;
    let folder = Folder::new(path, &manifest.subject)?;
    let mut found = Verification { strata: folder.strata(), ..Verification::default() };
    if manifest.to_text().as_bytes() != read(&path.join(MANIFEST))?.as_slice() {
        // Its checksum is right, so another version of this program wrote it.
        check_written(&manifest, path)?;
    }
    let digests = check_digests(&folder, digest, &mut found)?;
    match check_offsets(&folder) {
        Err(Error::Damaged { what, .. }) => found.bad(OFFSETS, &what),
        other => other?,
    }
    let data = Mapped::open(&folder.file(folder.data())).map_err(missing);
    let header = folder.data_header();
    let data = data.and_then(|data| {
        check_array(&data, &folder.file(folder.data()), &header, folder.data_bytes()).map(|()| data)
    });
    match data {
        Ok(data) => {
            let data = &data[header.len()..];
            check_strata(&folder, data, digests.as_deref(), digest, &mut found, watch)?;
        }
        Err(Error::Damaged { what, .. }) => found.bad(folder.data(), &what),
        Err(other) => return Err(other),
    }
    if found.is_intact() {
        let store = Store::open(path)?;
        if counted(&store) != counts {
            found.bad(MANIFEST, "its counts are not those of the values");
        }
        derive(&store, audit, &mut found, watch)?;
    }
    Ok(found)
}

/// What the values of a store say of its counts.
fn counted(store: &Store) -> Counts {
    let (region, forbidden) = (store.region(), &store.rules().forbidden);
    let of = |total: u32| {
        let count = store.stratum(total).map_or(0, Stored::p_positions);
        [count, if forbidden.contains(total.into()) { count } else { 0 }]
    };
    let sum = |one: [u64; 2], other: [u64; 2]| [one[0] + other[0], one[1] + other[1]];
    let [p_positions, p_forbidden] = region.strata().into_par_iter().map(of).reduce(|| [0; 2], sum);
    let (strata, positions) = (region.strata().end, region.positions());
    Counts { strata, positions, p_positions, n_positions: positions - p_positions, p_forbidden }
}

/// A manifest that another version wrote must at least agree with itself.
fn check_written(manifest: &Manifest, path: &Path) -> Result<()> {
    let name = path.join(MANIFEST);
    Manifest::read(&name, manifest.to_text().as_bytes()).map(drop)
}

impl Verification {
    fn bad(&mut self, name: &str, what: &str) {
        self.bad_files.push((name.to_owned(), what.to_owned()));
    }
}

/// The stored digests, where they are those of the manifest; else none, and the file is bad.
fn check_digests(folder: &Folder, digest: u64, found: &mut Verification) -> Result<Option<Vec<u64>>> {
    match read_digests(folder, digest) {
        Ok(digests) => Ok(Some(digests)),
        Err(Error::Damaged { what, .. }) => {
            found.bad(DIGESTS, &what);
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

fn digest_of(digests: &[u64]) -> u64 {
    let mut whole = Digest::default();
    for &digest in digests {
        whole.add(digest);
    }
    whole.value()
}

/// Compares every stratum with its digest. Where the digests are lost, the digest of the region tells whether all are
/// right.
fn check_strata(
    folder: &Folder,
    data: &[u8],
    digests: Option<&[u64]>,
    digest: u64,
    found: &mut Verification,
    watch: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<()> {
    let totals = (0..folder.strata()).collect::<Vec<_>>();
    let mut computed = Vec::with_capacity(totals.len());
    for totals in totals.chunks(ROUND) {
        let digest = |&total: &u32| {
            let (canonical, padding) = folder.stratum(data, total);
            (stratum_digest(canonical), padding.iter().all(|&byte| byte == 0))
        };
        computed.par_extend(totals.par_iter().map(digest));
        if watch(computed.len() as u64, u64::from(folder.strata())).is_break() {
            return Err(stopped(computed.len() as u64, "strata"));
        }
    }
    for (total, &(digest, padded)) in (0..).zip(&computed) {
        let expected = digests.map_or(digest, |digests| digests[total as usize]);
        if digest != expected || !padded {
            found.bad_strata.push(total);
        }
    }
    let computed = computed.into_iter().map(|(digest, _)| digest).collect::<Vec<_>>();
    if digests.is_none() && digest_of(&computed) != digest {
        found.bad(folder.data(), "its values are not those that the manifest has the digest of");
    }
    Ok(())
}

/// Derives positions again from the stored values of their options.
fn derive(
    store: &Store,
    audit: Audit,
    found: &mut Verification,
    watch: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<()> {
    let region = store.region();
    let all = match audit {
        Audit::None => return Ok(()),
        Audit::Random(count) => count,
        Audit::All => region.positions(),
    };
    let mut totals = region.strata();
    let mut stratum: Box<dyn Iterator<Item = Position>> = Box::new(std::iter::empty());
    let mut next = || loop {
        if audit != Audit::All {
            return Some(random_position(store));
        }
        if let Some(position) = stratum.next() {
            return Some(position);
        }
        stratum = Box::new(region.stratum(totals.next()?));
    };
    let disagreeing = AtomicU64::new(0);
    while found.audited < all {
        let round = ((all - found.audited) as usize).min(64 * ROUND);
        let positions = std::iter::from_fn(&mut next).take(round).collect::<Vec<_>>();
        let check = |position: &Position| {
            let (stored, derived) = (stored(store, position)?, derived(store, position)?);
            if stored == derived {
                return None;
            }
            disagreeing.fetch_add(1, Ordering::Relaxed);
            Some((position.clone(), stored, derived))
        };
        let disagreements = positions.par_iter().filter_map(check).collect::<Vec<_>>();
        found.disagreements.extend(disagreements);
        found.disagreements.truncate(LISTED);
        found.audited += positions.len() as u64;
        if watch(found.audited, all).is_break() {
            return Err(stopped(found.audited, "positions"));
        }
    }
    found.disagreeing = disagreeing.into_inner();
    Ok(())
}

fn stopped(done: u64, what: &str) -> Error {
    Error::Stopped { when: format!("after {done} {what}") }
}

/// A position of the region, each as likely as any other.
fn random_position(store: &Store) -> Position {
    let region = store.region();
    loop {
        let mut rank = fastrand::u64(..region.positions());
        for total in region.strata() {
            let size = region.stratum_size(total);
            if rank < size
                && let Some(position) = store.position(total, rank)
            {
                return position;
            }
            rank = rank.wrapping_sub(size);
        }
    }
}

fn stored(store: &Store, position: &Position) -> Option<Verdict> {
    match store.quantity() {
        Quantity::Verdict => store.is_p(position).map(Verdict::P),
        Quantity::Remoteness => store.remoteness(position).map(Verdict::Remoteness),
    }
}

/// What the definition makes of a position's options.
fn derived(store: &Store, position: &Position) -> Option<Verdict> {
    let rules: &Ruleset = store.rules();
    let options = legal_moves(rules, position);
    match store.quantity() {
        Quantity::Verdict if options.is_empty() => Some(Verdict::P(!rules.misere)),
        Quantity::Verdict => {
            let verdicts = options.iter().map(|option| store.is_p(&option.to)).collect::<Option<Vec<_>>>()?;
            Some(Verdict::P(!verdicts.contains(&true)))
        }
        Quantity::Remoteness if options.is_empty() => Some(Verdict::Remoteness(rules.misere.into())),
        Quantity::Remoteness => {
            let lengths = options.iter().map(|option| store.remoteness(&option.to));
            let lengths = lengths.collect::<Option<Vec<_>>>()?;
            let even = lengths.iter().filter(|&&length| length.is_multiple_of(2)).min();
            even.or(lengths.iter().max()).map(|&best| Verdict::Remoteness(best + 1))
        }
    }
}
