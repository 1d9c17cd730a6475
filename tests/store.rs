//! Stores: written, read back, gone on with, and checked.

mod common;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use nimstrata::Error;
use nimstrata::game::Ruleset;
use nimstrata::oracle;
use nimstrata::solver::{Options, Quantity, Solver};
use nimstrata::space::Region;
use nimstrata::store::{Audit, Store, Subject, Writer, verify};
use proptest::prelude::*;

fn go_on(_: u32) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn subject(rules: &Ruleset, region: &Region, quantity: Quantity) -> Subject {
    Subject { rules: rules.clone(), region: region.clone(), quantity }
}

/// Solves into a folder; stops after so many strata. Returns whether it was finished.
fn solve(path: &Path, subject: &Subject, stop: usize) -> bool {
    let options = Options { quantity: subject.quantity, threads: 2, ..Options::default() };
    let mut solver = Solver::new(&subject.rules, &subject.region, &options).unwrap();
    let mut writer = Writer::open(path, subject.clone(), &mut go_on).unwrap();
    solver.learn(&writer.known(), &mut [], &mut |_| ControlFlow::Continue(())).unwrap();
    let mut left = stop;
    let run = solver.run(&mut [&mut writer], &mut |_| {
        left = left.saturating_sub(1);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match run {
        Ok(summary) => {
            assert_eq!(summary.positions, subject.region.positions());
            writer.finish(&summary).unwrap();
            true
        }
        Err(Error::Interrupted { .. }) => {
            writer.pause().unwrap();
            false
        }
        Err(other) => panic!("{other}"),
    }
}

/// All files of a folder with their bytes.
fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut files = entries.map(|entry| (name(&entry), fs::read(entry.path()).unwrap())).collect::<Vec<_>>();
    files.sort();
    files
}

proptest! {
    #![proptest_config(common::cases(60))]

    #[test]
    fn a_store_holds_what_the_oracle_says(
        case in prop_oneof![common::take_one_case(), common::single_heap_case()],
        remoteness in any::<bool>(),
        stops in prop::collection::vec(1usize..20, 0..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        let takes_one = case.rules.take == nimstrata::game::Take::One;
        let quantity = if remoteness && takes_one { Quantity::Remoteness } else { Quantity::Verdict };
        let subject = subject(&case.rules, &case.region, quantity);
        prop_assert!(solve(&one, &subject, usize::MAX));
        // Interrupted now and then.
        for stop in stops {
            solve(&other, &subject, stop);
        }
        prop_assert!(solve(&other, &subject, usize::MAX));
        // A finished store stays as it is.
        prop_assert!(solve(&other, &subject, 1));
        prop_assert_eq!(files(&one), files(&other));
        let store = Store::open(&one).unwrap();
        let verdicts = oracle::verdicts(&case.rules, &case.region);
        for (position, &is_p) in &verdicts {
            prop_assert_eq!(store.is_p(position), Some(is_p));
        }
        if quantity == Quantity::Remoteness {
            for (position, &remoteness) in &oracle::remoteness(&case.rules, &case.region) {
                prop_assert_eq!(store.remoteness(position), Some(remoteness));
            }
        }
        let found = verify(&one, Audit::All, &mut |_, _| ControlFlow::Continue(())).unwrap();
        prop_assert!(found.is_intact());
        prop_assert_eq!((found.audited, found.disagreeing), (case.region.positions(), 0));
    }
}

/// A small store of each kind.
fn stores() -> Vec<(tempfile::TempDir, Subject)> {
    let fts = Ruleset::forbidden_total_size(3).unwrap().with_forbidden("5k".parse().unwrap());
    let cases = [
        (Ruleset::bounded_moore(5, 2).unwrap(), 9, Quantity::Verdict),
        (Ruleset::exact_slow(4, 3).unwrap(), 11, Quantity::Remoteness),
        (Ruleset::bounded_moore(1, 1).unwrap(), 300, Quantity::Remoteness),
        (fts, 20, Quantity::Verdict),
    ];
    let made = cases.into_iter().map(|(rules, max, quantity)| {
        let folder = tempfile::tempdir().unwrap();
        let subject = subject(&rules, &Region::new(rules.heaps, max).unwrap(), quantity);
        assert!(solve(&folder.path().join("store"), &subject, usize::MAX));
        (folder, subject)
    });
    made.collect()
}

#[test]
fn every_flipped_bit_is_found() {
    for (folder, subject) in stores() {
        let path = folder.path().join("store");
        let whole = files(&path);
        let all = whole.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        let step = (all / 400).max(1);
        for at in (0..all).step_by(step) {
            let mut rest = at;
            let (name, bytes) = whole
                .iter()
                .find(|(_, bytes)| {
                    let here = rest < bytes.len();
                    rest -= if here { 0 } else { bytes.len() };
                    here
                })
                .unwrap();
            let mut changed = bytes.clone();
            changed[rest] ^= 1 << (at % 8);
            fs::write(path.join(name), &changed).unwrap();
            let found = verify(&path, Audit::None, &mut |_, _| ControlFlow::Continue(()));
            assert!(
                !found.is_ok_and(|found| found.is_intact()),
                "bit {} of byte {rest} of {name} of {subject}",
                at % 8
            );
            fs::write(path.join(name), bytes).unwrap();
        }
        let found = verify(&path, Audit::Random(200), &mut |_, _| ControlFlow::Continue(())).unwrap();
        assert!(found.is_intact() && found.disagreeing == 0 && found.audited == 200);
    }
}

#[test]
fn a_bad_stratum_is_named() {
    let (folder, subject) = stores().swap_remove(0);
    let path = folder.path().join("store");
    let file = path.join("verdict.npy");
    let mut bytes = fs::read(&file).unwrap();
    let last = bytes.len() - 8;
    bytes[last] ^= 1;
    fs::write(&file, bytes).unwrap();
    let found = verify(&path, Audit::None, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!(found.bad_strata, [subject.region.strata().end - 1]);
    assert!(found.bad_files.is_empty());
}

#[test]
fn an_audit_finds_verdicts_that_do_not_follow_from_the_rules() {
    // What one game's verdicts say of another game.
    let folder = tempfile::tempdir().unwrap();
    let region = Region::new(3, 8).unwrap();
    let [one, other] = [1, 2].map(|width| {
        let rules = Ruleset::bounded_moore(3, width).unwrap();
        let path = folder.path().join(width.to_string());
        assert!(solve(&path, &subject(&rules, &region, Quantity::Verdict), usize::MAX));
        path
    });
    for name in ["verdict.npy", "digests.npy"] {
        fs::copy(other.join(name), one.join(name)).unwrap();
    }
    // The manifest's digest is that of the other one, too.
    let [text, digest] = [&one, &other].map(|path| fs::read_to_string(path.join("manifest.json")).unwrap());
    assert!(text != digest);
    let found = verify(&one, Audit::All, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert!(!found.is_intact());
    assert_eq!(found.audited, 0);
}

#[test]
fn what_cannot_be_opened_is_refused_with_the_reason() {
    let (folder, first) = stores().swap_remove(0);
    let path = folder.path().join("store");
    // Another region.
    let wider = subject(&first.rules, &Region::new(5, 10).unwrap(), Quantity::Verdict);
    let Err(refused @ Error::OtherStore { .. }) = Writer::open(&path, wider, &mut go_on) else {
        panic!("written over");
    };
    assert!(
        refused.to_string().contains("every heap ≤ 9") && refused.to_string().contains("every heap ≤ 10")
    );
    // A later version, whatever its checksum.
    let manifest = path.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"format_version\": 1", "\"format_version\": 2")).unwrap();
    assert!(matches!(Store::open(&path), Err(Error::StoreVersion { version: 2, .. })));
    fs::write(&manifest, &text).unwrap();
    // A data file cut short, and one of something else.
    let data = path.join("verdict.npy");
    let bytes = fs::read(&data).unwrap();
    for other in [&bytes[..bytes.len() - 1], &bytes[..40], b"something else", &[]] {
        fs::write(&data, other).unwrap();
        assert!(matches!(Store::open(&path), Err(Error::Damaged { .. })));
    }
    // Folders with other files, and none.
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("thesis.tex"), "x").unwrap();
    assert!(matches!(Writer::open(other.path(), first.clone(), &mut go_on), Err(Error::Foreign { .. })));
    assert!(matches!(Store::open(other.path()), Err(Error::NoStore { .. })));
    assert!(matches!(Store::open(&other.path().join("none")), Err(Error::NoStore { .. })));
    assert_eq!(fs::read_to_string(other.path().join("thesis.tex")).unwrap(), "x");
}

#[test]
fn two_runs_cannot_write_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let subject =
        subject(&Ruleset::bounded_moore(3, 1).unwrap(), &Region::new(3, 9).unwrap(), Quantity::Verdict);
    let first = Writer::open(&path, subject.clone(), &mut go_on).unwrap();
    assert!(matches!(Writer::open(&path, subject.clone(), &mut go_on), Err(Error::StoreBusy { .. })));
    assert!(matches!(Store::open(&path), Err(Error::UnfinishedStore { done: 0, strata: 28, .. })));
    drop(first);
    assert!(solve(&path, &subject, usize::MAX));
    assert!(Writer::open(&path, subject, &mut go_on).unwrap().is_finished());
}
