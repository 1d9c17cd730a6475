//! `nimstrata export`: boxes, lists and bitmaps of stores against the oracle, and through the command line.
//!
//! No test here uses a GPU: the drivers are hidden from every run.

mod common;

use std::io::Read;
use std::process::{Command as Process, Stdio};

use common::Case;
use common::program::{Workshop, printed, process};
use nimstrata::export::{Bitmap, Entries, FullBox, List, ListFormat};
use nimstrata::game::{Position, Ruleset};
use nimstrata::oracle;
use nimstrata::slice::Slices;
use nimstrata::solver::Quantity;
use nimstrata::space::Region;
use nimstrata::store::Store;
use proptest::prelude::*;
use serde_json::Value;

impl Workshop {
    /// A store of Nim with totals of multiples of five forbidden.
    fn nim5(heaps: u32, max: u64) -> Self {
        let rules = Ruleset::forbidden_total_size(heaps).unwrap().with_forbidden("5k".parse().unwrap());
        Self::solving(&rules, &Region::new(heaps, max).unwrap(), Quantity::Verdict)
    }

    /// What an export that succeeds prints.
    fn output(&self, arguments: &str) -> String {
        printed(self.run(&format!("export store {arguments}")))
    }

    /// The object that a run with `--json` prints, and nothing else.
    fn export(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.output(&format!("{arguments} --json"))).unwrap()
    }

    /// Asserts that an export is refused with this message and this code.
    fn refuses(&self, arguments: &str, code: i32, message: &str) {
        self.refused(&format!("export store {arguments}"), code, message);
    }
}

/// The header of an `.npy` file, and its data.
fn npy(file: &[u8]) -> (&str, &[u8]) {
    assert!(file.starts_with(b"\x93NUMPY\x01\x00"));
    let end = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    assert_eq!(end % 64, 0);
    (std::str::from_utf8(&file[10..end]).unwrap().trim_end(), &file[end..])
}

/// The whole `.npy` file of a box.
fn box_of(store: &Store, max: u32, entries: Entries) -> Vec<u8> {
    let mut file = Vec::new();
    FullBox::new(store, max, entries).write(&mut file, &mut |_| Ok(())).unwrap();
    file
}

/// All tuples of numbers up to `max`, the last one changing fastest.
fn tuples(heaps: u32, max: u32) -> Vec<Vec<u32>> {
    (0..heaps).fold(vec![Vec::new()], |tuples, _| {
        let longer = |tuple: Vec<u32>| (0..=max).map(move |last| [tuple.as_slice(), &[last]].concat());
        tuples.into_iter().flat_map(longer).collect()
    })
}

/// Bits, least significant of a byte first, in rows that start on bytes.
fn packed(bits: &[bool], row: usize) -> Vec<u8> {
    let byte =
        |bits: &[bool]| bits.iter().enumerate().fold(0, |byte, (place, &bit)| byte | u8::from(bit) << place);
    bits.chunks(row).flat_map(|row| row.chunks(8).map(byte)).collect()
}

fn game() -> impl Strategy<Value = (Case, Quantity)> {
    let quantity = prop_oneof![Just(Quantity::Verdict), Just(Quantity::Remoteness)];
    prop_oneof![
        2 => (common::take_one_case(), quantity),
        1 => common::single_heap_case().prop_map(|case| (case, Quantity::Verdict)),
    ]
    .prop_filter("the box must not be large", |(case, _)| {
        let side = u64::from(case.region.max()) + 1;
        side.pow(case.region.heaps()) <= 100_000
    })
}

proptest! {
    #![proptest_config(common::cases(60))]

    #[test]
    fn boxes_lists_and_bitmaps_are_what_the_oracle_says(
        (case, quantity) in game(),
        less in 0u32..3,
        limit in prop_oneof![3 => Just(u64::MAX), 1 => 0u64..20],
    ) {
        let Case { rules, region } = &case;
        let store = Workshop::solving(rules, region, quantity).store();
        let verdicts = oracle::verdicts(rules, region);
        let is_p = |sizes: &[u32]| verdicts.get(&Position::new(sizes.to_vec())).copied().unwrap_or(false);
        let max = region.max().saturating_sub(less);

        // The box, in three ways.
        let tuples = tuples(region.heaps(), max);
        let bits = tuples.iter().map(|tuple| is_p(tuple)).collect::<Vec<_>>();
        let bytes = bits.iter().map(|&bit| u8::from(bit)).collect::<Vec<_>>();
        let file = box_of(&store, max, Entries::Verdicts);
        prop_assert_eq!(npy(&file).1, bytes);
        let row = max as usize + 1;
        let file = box_of(&store, max, Entries::Packed);
        prop_assert_eq!(npy(&file).1, packed(&bits, row));
        if quantity == Quantity::Remoteness {
            let solved = oracle::remoteness(rules, region);
            let file = box_of(&store, max, Entries::Remoteness);
            let (header, data) = npy(&file);
            let wide = header.contains("<u2");
            let values = data.chunks(if wide { 2 } else { 1 });
            let values = values.map(|bytes| bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte)));
            let outside = if wide { 65_535 } else { 255 };
            let expected =
                tuples.iter().map(|tuple| solved.get(&Position::new(tuple.clone())).copied().unwrap_or(outside));
            prop_assert!(values.eq(expected));
        }

        // The list.
        let mut list = List::new(&store);
        (list.max, list.limit) = (max, limit);
        let mut file = Vec::new();
        let listed = list.write(ListFormat::Csv, &mut file, &mut |_| Ok(())).unwrap();
        let mut lines = std::str::from_utf8(&file).unwrap().lines();
        let header = lines.next().unwrap().to_owned();
        let lines = lines.collect::<Vec<_>>();
        prop_assert_eq!(lines.len() as u64, listed);
        let expected = region.strata().flat_map(|total| region.stratum(total)).filter(|at| verdicts[at]);
        let expected = expected.filter(|at| at.largest() <= max).take(limit.min(1 << 40) as usize);
        let solved = (quantity == Quantity::Remoteness).then(|| oracle::remoteness(rules, region));
        let expected = expected.map(|at| {
            let mut line = at.sizes().iter().map(ToString::to_string).collect::<Vec<_>>();
            line.extend(solved.as_ref().map(|solved| solved[&at].to_string()));
            let forbidden = rules.forbidden.contains(at.total());
            line.extend((!rules.forbidden.is_empty()).then(|| if forbidden { "P0" } else { "P1" }.to_owned()));
            line.join(",")
        });
        prop_assert_eq!(&lines, &expected.collect::<Vec<_>>());
        prop_assert!(lines.iter().all(|line| line.split(',').count() == header.split(',').count()));

        // A bitmap of the slice whose other heaps are empty, or the middle of the box.
        if region.heaps() >= 2 && max > 0 {
            let fixed = vec![max / 2; region.heaps() as usize - 2];
            let slices = Slices::new(&store, vec![fixed.clone()]);
            let mut file = Vec::new();
            Bitmap::new(&slices, max).write(&mut file, &mut |_| Ok(())).unwrap();
            let header = format!("P4\n{row} {row}\n");
            prop_assert!(file.starts_with(header.as_bytes()));
            let bits = (0..=max).rev().flat_map(|y| (0..=max).map(move |x| [x, y]));
            let bits = bits.map(|pair| is_p(&[fixed.as_slice(), &pair].concat())).collect::<Vec<_>>();
            let expected = packed(&bits, row).into_iter().map(u8::reverse_bits).collect::<Vec<_>>();
            prop_assert_eq!(&file[header.len()..], expected);
        }
    }
}

#[test]
fn long_rows_and_many_pieces_are_filled_in_order() {
    // More than a round of one mebibyte, with rows that are no multiple of a piece.
    let rules = Ruleset::forbidden_total_size(2).unwrap();
    let region = Region::new(2, 1500).unwrap();
    let store = Workshop::solving(&rules, &region, Quantity::Verdict).store();
    let file = box_of(&store, 1500, Entries::Verdicts);
    let (header, data) = npy(&file);
    assert_eq!(header, "{'descr': '|b1', 'fortran_order': False, 'shape': (1501, 1501), }");
    assert_eq!(data.len(), 1501 * 1501);
    assert!(data.iter().enumerate().all(|(at, &byte)| (byte == 1) == (at / 1501 == at % 1501)));
    let file = box_of(&store, 1500, Entries::Packed);
    let (header, data) = npy(&file);
    assert_eq!(header, "{'descr': '|u1', 'fortran_order': False, 'shape': (1501, 188), }");
    let bit = |x: usize, y: usize| data[188 * x + y / 8] >> (y % 8) & 1 == 1;
    assert!((0..1501).all(|x| (0..1504).all(|y| bit(x, y) == (x == y))));
}

#[test]
fn long_games_have_two_bytes_in_a_box() {
    let rules = Ruleset::bounded_moore(1, 1).unwrap();
    let region = Region::new(1, 300).unwrap();
    let store = Workshop::solving(&rules, &region, Quantity::Remoteness).store();
    let file = box_of(&store, 300, Entries::Remoteness);
    let (header, data) = npy(&file);
    assert_eq!(header, "{'descr': '<u2', 'fortran_order': False, 'shape': (301,), }");
    let values = data.chunks(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    assert!(values.eq(0..=300));
}

#[test]
fn files_are_named_in_the_report() {
    let workshop = Workshop::nim5(3, 7);
    let report = workshop.export("--out a.npy --out b.csv --out c.jsonl --out d.txt --out e.pbm --fix 0..2");
    assert_eq!(report["files"], serde_json::json!(["a.npy", "b.csv", "c.jsonl", "d.txt", "e.pbm"]));
    let sizes =
        report["files"].as_array().unwrap().iter().map(|name| workshop.read(name.as_str().unwrap()).len());
    assert_eq!(report["bytes"], serde_json::json!(sizes.collect::<Vec<_>>()));
    assert_eq!(report["shape"], serde_json::json!([8, 8, 8]));
    assert_eq!((&report["dtype"], &report["outside"]), (&Value::from("|b1"), &Value::Null));
    assert_eq!((&report["slices"], &report["game"]), (&Value::from(3), &Value::from("fts")));
    assert_eq!(report["listed"], workshop.store().counts().p_positions);
    // Three bitmaps of 8 rows of a byte each, one after the other.
    assert_eq!(workshop.read("e.pbm").len(), 3 * (b"P4\n8 8\n".len() + 8));
}

#[test]
fn lists_say_what_the_store_knows() {
    let workshop = Workshop::nim5(3, 9);
    // f(0,0) = 1 and f(1,1) = 1, as the README has it; no move arrives at total 0.
    let csv = workshop.output("--format csv --limit 3");
    assert_eq!(csv, "x1,x2,x3,kind\n0,0,0,P0\n0,0,1,P1\n1,1,1,P1\n");
    let text = workshop.output("--format text --limit 2");
    assert_eq!(text, "(0,0,0)  P0\n(0,0,1)  P1\n");
    let lines = workshop.output("--out - --format jsonl --total 1");
    assert_eq!(lines, "{\"position\":[0,0,1],\"kind\":\"P1\"}\n");
    // A pipe is no terminal.
    assert_eq!(workshop.output("--out - --limit 3"), csv);

    let rules = Ruleset::exact_slow(3, 2).unwrap().with_misere(true);
    let region = Region::new(3, 5).unwrap();
    let workshop = Workshop::solving(&rules, &region, Quantity::Remoteness);
    let solved = oracle::remoteness(&rules, &region);
    let (first, remoteness) = region
        .strata()
        .flat_map(|total| region.stratum(total))
        .find_map(|at| Some((at.to_string(), solved[&at])).filter(|(_, remoteness)| remoteness % 2 == 0))
        .unwrap();
    assert_eq!(workshop.output("--format text --limit 1"), format!("{first}  R = {remoteness}\n"));
    let sizes = first.trim_matches(['(', ')']);
    assert_eq!(
        workshop.output("--format jsonl --limit 1"),
        format!("{{\"position\":[{sizes}],\"remoteness\":{remoteness}}}\n")
    );
}

#[test]
fn totals_are_chosen_in_the_usual_notation() {
    let workshop = Workshop::nim5(3, 9);
    let all = workshop.output("--format csv");
    let chosen = workshop.output("--format csv --total 5k,7..8");
    let total = |line: &str| line.split(',').filter_map(|size| size.parse::<u32>().ok()).sum::<u32>();
    let expected = all
        .lines()
        .filter(|line| line.starts_with('x') || matches!(total(line), 7..=8) || total(line) % 5 == 0);
    assert_eq!(chosen.lines().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    assert!(chosen.lines().count() < all.lines().count());
}

#[test]
fn a_bounded_total_is_told_of() {
    let rules = Ruleset::exact_slow(3, 2).unwrap();
    let region = Region::new(3, 6).unwrap().up_to_total(9);
    let workshop = Workshop::solving(&rules, &region, Quantity::Remoteness);
    let report = workshop.export("--out a.npy");
    assert_eq!((&report["dtype"], &report["outside"]), (&Value::from("|u1"), &Value::from(255)));
    let report = workshop.export("--out a.npy --verdicts");
    assert_eq!((&report["dtype"], &report["outside"]), (&Value::from("|b1"), &Value::from(0)));
    assert!(
        workshop.output("--out a.npy").contains("dtype |u1, the greatest number where the total is larger\n")
    );
    // No total of the smaller box is beyond the bound.
    assert_eq!(workshop.export("--out a.npy --packed --max 3")["outside"], Value::Null);
}

#[test]
fn boxes_that_no_program_could_read_are_refused() {
    let workshop = Workshop::nim5(8, 17);
    workshop.refuses(
        "--out a.npy",
        2,
        "the box of 8 heaps up to 17 would take 10.3 GiB, and up to 8.0 GiB are written; the largest --max that fits is 16, with --packed 17\n",
    );
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let workshop = Workshop::nim5(3, 9);
    workshop.refuses("", 2, "the following required arguments were not provided:\n  --out <FILE>");
    workshop.refuses(
        "--out a.png",
        2,
        "cannot tell what kind of file a.png should be: give it a name that ends in .npy, .csv, .jsonl, .txt or .pbm\n",
    );
    workshop.refuses(
        "--format csv --json",
        2,
        "--json prints one object on standard output, where the list goes; --out",
    );
    workshop.refuses(
        "--out a.csv --format csv",
        2,
        "--format is about a list on standard output, and none goes there;",
    );
    for option in ["--packed", "--verdicts"] {
        let message = format!("{option} is about .npy files, and none is written; leave it out\n");
        workshop.refuses(&format!("--out a.csv {option}"), 2, &message);
    }
    for option in ["--limit 3", "--total 3"] {
        let name = option.split(' ').next().unwrap();
        let message = format!("{name} is about lists, and none is written; leave it out\n");
        workshop.refuses(&format!("--out a.npy {option}"), 2, &message);
    }
    workshop.refuses(
        "--out a.npy --fix 0",
        2,
        "--fix is about .pbm files, and none is written; leave it out\n",
    );
    workshop.refuses("--out a.pbm", 2, ".pbm shows two heaps and needs sizes for all others: give --fix,");
    workshop.refuses(
        "--out a.pbm --fix 0,0",
        2,
        "--fix 0,0 is no slice of the store: two of its 3 heaps vary",
    );
    workshop.refuses(
        "--format csv --total x",
        2,
        "invalid value 'x' for '--total <SET>': give totals such as 7,",
    );
    workshop.refuses("--out nowhere/a.npy", 2, "writing nowhere/a.npy: No such file");
    let one = Workshop::nim5(1, 9);
    one.refuses("--out a.pbm", 2, ".pbm shows two heaps, and the positions of the store have one;");
}

#[test]
fn only_finished_and_whole_stores_are_exported() {
    let workshop = Workshop::nim5(3, 9);
    let path = workshop.path("store/verdict.npy");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    workshop.refuses("--out a.csv", 4, "store/verdict.npy is damaged: it has ");
    std::fs::remove_dir_all(workshop.path("store")).unwrap();
    let run = workshop.run("export store --out a.csv").code(2).stdout("");
    let errors = String::from_utf8_lossy(&run.get_output().stderr);
    assert_eq!(
        errors,
        "nimstrata: error: store is no store: there is no such folder; solve with --out writes one\n"
    );
}

#[test]
fn a_closed_pipe_is_no_error() {
    let workshop = Workshop::nim5(3, 400);
    let mut run = process(["export", "store", "--format", "csv"])
        .current_dir(workshop.folder())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    run.stdout.take().unwrap().read_exact(&mut first).unwrap();
    // The pipe is closed here, long before the list is through.
    let ended = run.wait_with_output().unwrap();
    assert_eq!((&first, ended.status.code()), (b"x1,x2,x3,k", Some(0)));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[cfg(unix)]
#[test]
fn an_interrupted_export_leaves_nothing() {
    let workshop = Workshop::nim5(8, 16);
    let mut run = process(["export", "store", "--out", "a.npy"])
        .current_dir(workshop.folder())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The part that is being written is there from the start.
    let entries = || workshop.names().len();
    while entries() == 1 {
        assert!(run.try_wait().unwrap().is_none(), "it ended before it began");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // Not before the signal is waited for.
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(Process::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    let ended = run.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    assert_eq!(
        String::from_utf8_lossy(&ended.stderr),
        "nimstrata: error: interrupted writing a.npy, nothing was kept; the same command starts over\n"
    );
    assert_eq!(entries(), 1);
}
