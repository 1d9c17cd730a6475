//! Published and measured figures of Forbidden-Total-Size Nim, and completions against the solvers.

mod common;

use std::ops::ControlFlow;
use std::path::Path;

use nimstrata::completion::{self, Completing, Output, Table};
use nimstrata::game::{ForbiddenTotals, Position, Ruleset, legal_moves, parse_position};
use nimstrata::observe::{Digest, Lookup};
use nimstrata::oracle;
use nimstrata::solver::{BackendChoice, Observer, Options, Solver, Summary};
use nimstrata::space::Region;
use proptest::prelude::*;

fn rules(heaps: u32, d: u64) -> Ruleset {
    Ruleset::forbidden_total_size(heaps).unwrap().with_forbidden(ForbiddenTotals::multiples_of(d))
}

fn cpu() -> Options {
    Options { backend: BackendChoice::Cpu, ..Options::default() }
}

fn solve(rules: &Ruleset, max: u64, observers: &mut [&mut dyn Observer]) -> Summary {
    let region = Region::new(rules.heaps, max).unwrap();
    let mut solver = Solver::new(rules, &region, &cpu()).unwrap();
    solver.run(observers, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn position(text: &str) -> Position {
    parse_position(text, text.split(',').count() as u32).unwrap()
}

#[test]
fn positions_of_the_source_and_their_neighbours() {
    let rules = rules(3, 5);
    let p_positions = ["2,4,5", "0,5,5", "0,5,6"].map(position);
    let neighbours = ["3,4,5", "2,5,5", "2,4,6"].map(position);
    let replies = neighbours.iter().flat_map(|from| legal_moves(&rules, from)).map(|one| one.to);
    let asked = p_positions.iter().chain(&neighbours).cloned().chain(replies).collect::<Vec<_>>();
    let mut lookup = Lookup::new(asked);
    solve(&rules, 8, &mut [&mut lookup]);
    for one in &p_positions {
        assert_eq!(lookup.is_p(one), Some(true), "{one}");
    }
    let winning = |from: &Position| {
        let moves = legal_moves(&rules, from).into_iter().map(|one| one.to);
        moves.filter(|to| lookup.is_p(to) == Some(true)).map(|to| to.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(winning(&neighbours[0]), ["(2,4,5)"]);
    assert_eq!(winning(&neighbours[1]), ["(1,5,5)", "(2,4,5)"]);
    assert_eq!(winning(&neighbours[2]), ["(1,4,6)", "(2,4,5)"]);
}

#[test]
fn small_regions_hold_as_many_p_positions_as_published() {
    for d in [2, 3, 4] {
        assert_eq!(solve(&rules(4, d), 7, &mut []).p_positions, 51, "d = {d}");
    }
    for (d, count) in [(5, 19), (6, 23), (7, 23), (8, 19)] {
        assert_eq!(solve(&rules(3, d), 8, &mut []).p_positions, count, "d = {d}");
    }
}

#[test]
fn a_position_of_four_heaps_that_no_power_rule_allows() {
    let one = position("1,1,3,3");
    let mut lookup = Lookup::new([one.clone()]);
    solve(&rules(4, 8), 3, &mut [&mut lookup]);
    assert_eq!(lookup.is_p(&one), Some(true));
}

#[test]
fn d_five_up_to_a_thousand() {
    let summary = solve(&rules(3, 5), 1000, &mut []);
    assert_eq!(summary.positions, 167_668_501);
    assert_eq!([summary.p_positions, summary.p_forbidden], [176_248, 29_576]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "10.7 billion positions: run with --release")]
fn d_five_up_to_four_thousand() {
    let summary = solve(&rules(3, 5), 4000, &mut []);
    assert_eq!(summary.positions, 10_682_674_001);
    assert_eq!([summary.p_positions, summary.p_forbidden], [2_813_987, 476_768]);
}

#[test]
fn digests_do_not_depend_on_the_number_of_threads() {
    for (heaps, max, d, misere) in
        [(3, 300, 5, false), (4, 60, 6, false), (5, 24, 7, true), (2, 5000, 12, false)]
    {
        let rules = rules(heaps, d).with_misere(misere);
        let region = Region::new(heaps, max).unwrap();
        let digests = [1, 2, 3].map(|threads| {
            let mut digest = Digest::default();
            let mut solver = Solver::new(&rules, &region, &Options { threads, ..cpu() }).unwrap();
            solver.run(&mut [&mut digest], &mut |_| ControlFlow::Continue(())).unwrap();
            digest.hex()
        });
        assert_eq!(digests[0], digests[1]);
        assert_eq!(digests[0], digests[2]);
    }
}

#[test]
fn memory_is_checked_before_a_region_is_solved() {
    let region = Region::new(3, 20_000).unwrap();
    let options = Options { memory: Some(100 << 20), ..cpu() };
    let message = Solver::new(&rules(3, 5), &region, &options).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("100.0 MiB allowed by --memory; the largest --max that fits is "), "{message}");
}

fn row(table: &Table, x: u32, count: usize) -> Vec<u32> {
    table.row(x).take(count).map(Option::unwrap).collect()
}

#[test]
fn completions_for_d_five_start_as_published() {
    let table = Table::new(&rules(3, 5), 300).unwrap();
    assert_eq!(row(&table, 0, 16), [1, 0, 2, 3, 4, 6, 5, 7, 8, 9, 11, 10, 12, 13, 14, 16]);
    assert_eq!(row(&table, 5, 16), [6, 5, 4, 8, 2, 1, 0, 10, 3, 12, 7, 13, 9, 11, 17, 18]);
    assert_eq!(table.get(2, 3), Some(1));
}

#[test]
fn completions_have_closed_forms_for_two_and_three() {
    let (twos, threes) = (Table::new(&rules(3, 2), 200).unwrap(), Table::new(&rules(3, 3), 200).unwrap());
    for x in 0..=200 {
        for y in 0..=200 {
            let base = 2 * ((x / 2) ^ (y / 2));
            assert_eq!(twos.get(x, y), Some(base + u32::from((x + y) % 2 == 0)));
            let base = 3 * ((x / 3) ^ (y / 3));
            assert_eq!(threes.get(x, y), (base..base + 3).find(|z| (x + y + z) % 3 == 1));
        }
    }
}

#[test]
fn completions_of_nim_are_nim_sums() {
    let table = Table::new(&Ruleset::forbidden_total_size(3).unwrap(), 400).unwrap();
    assert!((0..=400).all(|x| (0..=400).all(|y| table.get(x, y) == Some(x ^ y))));
}

#[test]
fn a_table_is_for_three_heaps_and_moves_from_one() {
    assert!(Table::new(&rules(4, 5), 9).is_err());
    assert!(Table::new(&Ruleset::bounded_moore(3, 1).unwrap(), 9).is_err());
}

#[test]
fn files_hold_the_table() {
    let table = Table::new(&rules(3, 5), 130).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str| {
        let path = folder.path().join(name);
        let output = Output::create(&path, 3).unwrap();
        let size = output
            .write(&table, "d = 5", ["fts", "nimstrata …"], &mut |_| ControlFlow::Continue(()))
            .unwrap();
        let file = std::fs::read(path).unwrap();
        assert_eq!(file.len() as u64, size);
        file
    };
    let rows: Vec<Vec<u32>> = serde_json::from_slice(&save("f.json")).unwrap();
    let text = String::from_utf8(save("f.csv")).unwrap();
    let npy = save("f.npy");
    assert!(npy.starts_with(b"\x93NUMPY\x01\x00") && npy.len() == 128 + 4 * 131 * 131);
    let header = std::str::from_utf8(&npy[10..128]).unwrap();
    assert!(
        header.starts_with("{'descr': '<u4', 'fortran_order': False, 'shape': (131, 131), }"),
        "{header}"
    );
    let numbers =
        npy[128..].chunks(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect::<Vec<_>>();
    assert_eq!(rows.len(), 131);
    for (x, (row, line)) in rows.iter().zip(text.lines()).enumerate() {
        let expected = table.row(x as u32).map(Option::unwrap).collect::<Vec<_>>();
        assert_eq!(row, &expected);
        assert_eq!(line, expected.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
        assert_eq!(numbers[131 * x..][..131], expected);
    }
    assert!(save("f.png").starts_with(b"\x89PNG"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "no parts are left");
    let message = Output::create(Path::new("f.txt"), 3).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("ends in .json, .csv, .npy or .png"), "{message}");
}

#[test]
fn files_hold_completions_of_any_number_of_heaps() {
    let folder = tempfile::tempdir().unwrap();
    for heaps in [1, 2, 4] {
        let solved =
            completion::solve(&rules(heaps, 5), 6, &cpu(), &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!([solved.completed(), solved.multisets()], [[1, 7, 0, 84][heaps as usize - 1]; 2]);
        let save = |name: &str| {
            let path = folder.path().join(name);
            let output = Output::create(&path, heaps).unwrap();
            output.write(&solved, "", ["", ""], &mut |_| ControlFlow::Continue(())).unwrap();
            std::fs::read(path).unwrap()
        };
        let mut nested: serde_json::Value = serde_json::from_slice(&save("f.json")).unwrap();
        let text = String::from_utf8(save("f.csv")).unwrap();
        let npy = save("f.npy");
        let numbers = &npy[npy.len() - 4 * 7usize.pow(heaps - 1)..];
        let header = String::from_utf8_lossy(&npy[10..npy.len() - numbers.len()]).into_owned();
        let shape = ["()", "(7,)", "", "(7, 7, 7)"][heaps as usize - 1];
        assert!(header.contains(&format!("'shape': {shape}, ")), "{header}");
        for (line, total) in text.lines().skip(1).zip(0..) {
            let mut row = line.split(',').map(|number| number.parse().unwrap()).collect::<Vec<u32>>();
            let f = row.pop().unwrap();
            assert_eq!(solved.completion(&row), Some(f), "{total}");
            let entry = row.iter().fold(&nested, |rows, &heap| &rows[heap as usize]);
            assert_eq!(entry, f);
            let place = row.iter().fold(0, |place, &heap| 7 * place + heap as usize);
            assert_eq!(numbers[4 * place..][..4], f.to_le_bytes());
        }
        assert_eq!(text.lines().count() as u64, 1 + solved.multisets());
        for _ in 1..heaps {
            nested = nested[6].take();
        }
        assert!(nested.is_number());
    }
}

#[test]
fn what_is_no_file_or_not_wanted_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.csv");
    let table = Table::new(&rules(3, 5), 5).unwrap();
    std::fs::write(&path, "old").unwrap();
    let output = Output::create(&path, 3).unwrap();
    let stopped = output.write(&table, "", ["", ""], &mut |_| ControlFlow::Break(())).unwrap_err();
    assert!(stopped.to_string().starts_with("interrupted writing "), "{stopped}");
    drop(Output::create(&path, 3).unwrap());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no parts are left");

    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let refused = Output::create(&path, 3).map(|_| ()).unwrap_err().to_string();
    assert!(refused.ends_with("f.csv is not overwritten: it is there and is read-only; give another name"));
    let inside = folder.path().join("folder.npy");
    std::fs::create_dir(&inside).unwrap();
    let refused = Output::create(&inside, 3).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("it is there and is no file"), "{refused}");
}

#[test]
fn a_table_can_be_stopped() {
    let mut heard = Vec::new();
    let stopped = Table::watched(&rules(3, 5), 200, &mut |done| {
        heard.push(done);
        if heard.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let message = stopped.map(|_| ()).unwrap_err().to_string();
    assert!(message.starts_with("interrupted after ") && message.contains(" % of the pairs, "), "{message}");
    let mut last = 0;
    Table::watched(&rules(3, 5), 200, &mut |done| {
        assert!(done > last);
        last = done;
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(last, Table::pairs(200));
}

/// f(x,y) from the oracle's verdicts, for a pair that the region completes.
fn by_oracle(rules: &Ruleset, max: u32, limit: u64) -> Vec<Option<u32>> {
    let region = Region::new(3, limit).unwrap();
    let verdicts = oracle::verdicts(rules, &region);
    let completes = |x: u32, y: u32, z: u32| {
        let position = Position::new(vec![x, y, z]);
        !rules.forbidden.contains(position.total()) && verdicts[&position]
    };
    let pairs = (0..=max).flat_map(|x| (0..=max).map(move |y| (x, y)));
    pairs.map(|(x, y)| (0..=limit as u32).find(|&z| completes(x, y, z))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn completions_agree_with_the_oracle(
        forbidden in common::forbidden_totals(),
        misere in any::<bool>(),
        max in 0u32..8,
    ) {
        let rules = Ruleset::forbidden_total_size(3).unwrap().with_forbidden(forbidden).with_misere(misere);
        let table = Table::new(&rules, u64::from(max)).unwrap();
        let actual = (0..=max).flat_map(|x| table.row(x)).collect::<Vec<_>>();
        // What the bound promises is all there is: a larger box completes no more pairs.
        let limit = u64::from(actual.iter().flatten().max().copied().unwrap_or(0).max(max)) + 6;
        prop_assert_eq!(&actual, &by_oracle(&rules, max, limit));
    }

    #[test]
    fn tables_agree_with_solved_strata(
        forbidden in common::forbidden_totals(),
        misere in any::<bool>(),
        max in prop_oneof![0u32..40, 120u32..160],
    ) {
        let rules = Ruleset::forbidden_total_size(3).unwrap().with_forbidden(forbidden).with_misere(misere);
        let table = Table::new(&rules, u64::from(max)).unwrap();
        let solved = completion::solve(&rules, u64::from(max), &cpu(), &mut |_| ControlFlow::Continue(())).unwrap();
        for x in 0..=max {
            for y in x..=max {
                let expected = table.get(x, y);
                let actual = solved.of(&Position::new(vec![x, y]));
                prop_assert_eq!(actual, expected.as_slice(), "f({},{}) of {}", x, y, &rules);
            }
        }
    }
}

#[test]
fn four_heaps_are_completed_by_solving() {
    let solved = completion::solve(&rules(4, 5), 6, &cpu(), &mut |_| ControlFlow::Continue(())).unwrap();
    let region = Region::new(4, 27).unwrap().up_to_total(45);
    let verdicts = oracle::verdicts(&rules(4, 5), &region);
    for total in 0..=18 {
        for triple in Region::new(3, 6).unwrap().stratum(total) {
            let complete = |z: u32| Position::new([triple.sizes(), &[z]].concat());
            let is_p1 = |z: u32| !complete(z).total().is_multiple_of(5) && verdicts[&complete(z)];
            let expected = (0..=27).filter(|&z| is_p1(z)).collect::<Vec<_>>();
            assert_eq!(solved.of(&triple), expected, "{triple}");
            assert_eq!(expected.len(), 1);
        }
    }
}
