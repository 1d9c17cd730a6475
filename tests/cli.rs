//! The command line: help, messages, exit codes, JSON keys, and published counts through it.
//!
//! No test here uses a GPU: the drivers are hidden from every run.

mod common;

use std::path::Path;
use std::process::{Command as Process, Stdio};

use assert_cmd::Command;
use common::program::{PROGRAM, hiding_drivers, nimstrata, printed, process, refusal};
use serde_json::Value;

/// What a run that succeeds prints.
fn output(arguments: &str) -> String {
    printed(nimstrata(arguments).assert())
}

/// The object that a run with `--json` prints, and nothing else.
fn json(arguments: &str) -> Value {
    let text = output(&format!("{arguments} --json"));
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// Asserts that a run prints nothing but this message, and ends with this code.
fn refuses(arguments: &str, code: i32, message: &str) {
    refuses_exactly(&arguments.split_whitespace().collect::<Vec<_>>(), code, message);
}

fn refuses_exactly(arguments: &[&str], code: i32, message: &str) {
    let errors = refusal(Command::from_std(process(arguments.iter().copied())).assert(), code);
    let said = errors.strip_prefix("nimstrata: error: ").unwrap_or_else(|| panic!("{arguments:?}: {errors}"));
    assert!(said.starts_with(message), "{arguments:?}: {errors}");
}

/// What a run that fails says on standard error.
fn message_of(arguments: &str) -> String {
    let run = nimstrata(arguments).assert().failure().stdout("");
    String::from_utf8(run.get_output().stderr.clone()).unwrap()
}

/// The number at the end of the message of a run that was refused for lack of memory, after these words.
fn largest_named(arguments: &str, words: &str) -> u32 {
    let message = message_of(arguments);
    message.split_once(words).unwrap_or_else(|| panic!("{message}")).1.trim().parse().unwrap()
}

/// Compares with `tests/snapshots/<name>.txt`. To accept what is printed now, run the tests with
/// `NIMSTRATA_UPDATE_SNAPSHOTS=1` and look at the difference.
fn snapshot(name: &str, printed: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.txt"));
    if std::env::var_os("NIMSTRATA_UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, printed).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(printed, expected, "not as in {}; NIMSTRATA_UPDATE_SNAPSHOTS=1 accepts it", path.display());
}

/// The lines of a report that do not depend on the machine.
fn without_cost(report: &str) -> String {
    let cost = ["solved on", "time", "peak memory"];
    let kept = report.split_inclusive('\n').filter(|line| !cost.iter().any(|label| line.starts_with(label)));
    kept.collect()
}

const FIVE_UP_TO_NINE: &str = "bounded-moore --heaps 5 --width 2 --max 9";

fn solve(more: &str) -> String {
    format!("solve {FIVE_UP_TO_NINE} {more}")
}

fn census(more: &str) -> String {
    format!("census {FIVE_UP_TO_NINE} {more}")
}

mod help {
    use super::*;

    #[test]
    fn every_command_explains_itself_with_an_example() {
        for command in [
            "solve",
            "census",
            "query",
            "completion",
            "check",
            "exceptions",
            "export",
            "render",
            "bench",
            "devices",
        ] {
            let help = output(&format!("{command} --help"));
            assert!(help.contains("Example: ") && help.contains(&format!("\n  nimstrata {command} ")));
            snapshot(&format!("help-{command}"), &help);
        }
        snapshot("help", &output("--help"));
    }

    #[test]
    fn examples_work() {
        let folder = tempfile::tempdir().unwrap();
        for command in ["", "solve", "census", "query", "completion", "check", "exceptions", "devices"] {
            let help = output(&format!("{command} --help"));
            let example = help.lines().find_map(|line| line.strip_prefix("  nimstrata ")).unwrap();
            let example = example.replace("--max 200", "--max 20").replace("--max 100", "--max 20");
            let file = folder.path().join("f.png");
            output(&example.replace("f.png", file.to_str().unwrap()));
        }
    }

    #[test]
    fn the_version_is_the_crates() {
        assert_eq!(output("--version"), concat!("nimstrata ", env!("CARGO_PKG_VERSION"), "\n"));
    }

    #[test]
    fn no_command_shows_the_help_as_an_error() {
        let run = nimstrata("").assert().code(2).stdout("");
        assert!(String::from_utf8_lossy(&run.get_output().stderr).starts_with("Solves whole families"));
    }
}

mod reports {
    use super::*;

    #[test]
    fn solve_prints_aligned_lines() {
        snapshot("solve", &without_cost(&output(&solve("--digest"))));
        let more = "--forbid 7k,20..30 --misere --up-to-total 30";
        snapshot("solve-forbid-misere", &without_cost(&output(&solve(more))));
    }

    #[test]
    fn census_prints_a_table_and_the_subspace() {
        snapshot("census", &without_cost(&output(&census(""))));
    }

    #[test]
    fn a_long_table_leaves_winning_words_out_unless_asked() {
        let arguments = "census bounded-moore --heaps 4 --width 2 --max 9 --modulus 4";
        let table = output(arguments);
        let full = output(&format!("{arguments} --all"));
        assert!(!table.contains(" winning\n") && table.contains("winning words, all with --all"));
        assert!(full.contains(" winning\n") && !full.contains("--all"));
        assert_eq!(full.lines().take_while(|line| !line.is_empty()).count(), 1 + 241);
    }

    #[test]
    fn equations_carry_coefficients_of_a_larger_prime() {
        // Without a legal move every position loses: all words that occur do. Up to 1 these are 00, 10 and 11.
        let report = output("census bounded-moore --heaps 2 --width 1 --max 1 --modulus 3 --forbid k");
        assert!(report.contains("no: 10 + 10 = 20, which no position here has"), "{report}");
        // Two heaps, one stone from both: the smaller heap decides.
        let report = output("census exact-slow --heaps 2 --width 2 --max 9");
        assert!(report.contains("equations    01  a₂ = 0"), "{report}");
    }

    #[test]
    fn devices_says_plainly_that_there_are_none() {
        assert!(output("devices").starts_with("No GPU adapter found: everything is solved on the CPU.\n"));
        assert_eq!(json("devices")["adapters"], Value::Array(vec![]));
    }
}

mod keys {
    use super::*;

    const REGION: [&str; 19] = [
        "game",
        "heaps",
        "width",
        "max",
        "up_to_total",
        "forbid",
        "misere",
        "quantity",
        "positions",
        "p_positions",
        "n_positions",
        "p_forbidden",
        "strata",
        "backend",
        "adapter",
        "threads",
        "solve_seconds",
        "positions_per_second",
        "peak_memory_bytes",
    ];

    pub fn assert_keys(object: &Value, expected: &[&str]) {
        let mut keys = object.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>();
        let mut expected = expected.to_vec();
        keys.sort_unstable();
        expected.sort_unstable();
        assert_eq!(keys, expected);
    }

    #[test]
    fn solve_has_exactly_its_keys() {
        let solved = json(&solve(""));
        assert_keys(&solved, &REGION);
        assert_eq!(solved["forbid"], Value::Null);
        assert_eq!(solved["adapter"], Value::Null);
        assert_eq!(solved["up_to_total"], Value::Null);
        assert_eq!(solved["quantity"], "verdict");
        assert_eq!([&solved["positions"], &solved["p_positions"], &solved["n_positions"]], [2002, 364, 1638]);
        assert_eq!([&solved["strata"], &solved["p_forbidden"]], [46, 0]);
        assert!(solved["solve_seconds"].as_f64().unwrap() > 0.0);
        assert!(cfg!(not(target_os = "linux")) || solved["peak_memory_bytes"].as_u64().unwrap() > 1 << 20);
    }

    #[test]
    fn solve_repeats_the_rules_as_understood() {
        let solved = json(&solve("--misere --forbid 7k,3..4,1 --up-to-total 20 --threads 3 --backend cpu"));
        assert_eq!(solved["forbid"], "1,3..4,7k");
        assert_eq!(solved["misere"], true);
        assert_eq!([&solved["up_to_total"], &solved["strata"], &solved["threads"]], [20, 21, 3]);
        assert!(solved["p_forbidden"].as_u64().unwrap() > 0);
    }

    #[test]
    fn a_digest_is_sixteen_hexadecimal_digits_whatever_the_threads() {
        let digests =
            ["--threads 1", "--threads 4"].map(|threads| json(&solve(&format!("--digest {threads}"))));
        let digest = digests[0]["digest"].as_str().unwrap();
        assert!(digest.len() == 16 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(digests[0]["digest"], digests[1]["digest"]);
        assert_ne!(digests[0]["digest"], json(&solve("--digest --misere"))["digest"]);
    }

    #[test]
    fn census_has_exactly_its_keys() {
        let counted = json(&census(""));
        let own = [
            "modulus",
            "words",
            "uniform_words",
            "uniform_positions",
            "losing_words",
            "subspace",
            "dimension",
            "basis",
            "equations",
        ];
        assert_keys(&counted, &[&REGION[..], &own].concat());
        assert_keys(&counted["words"][0], &["word", "positions", "p_positions"]);
        assert_eq!(counted["basis"], serde_json::json!(["10011", "01111"]));
        assert_eq!(counted["equations"], serde_json::json!(["10101", "01100", "00011"]));
    }

    #[test]
    fn a_composite_modulus_has_no_subspace() {
        let counted = json(&census("--modulus 4"));
        for key in ["subspace", "dimension", "basis", "equations"] {
            assert_eq!(counted[key], Value::Null);
        }
    }

    #[test]
    fn losing_words_that_are_no_subspace_have_no_equations() {
        let counted = json("census bounded-moore --heaps 3 --width 2 --max 7 --misere");
        assert_eq!(counted["subspace"], false);
        for key in ["dimension", "basis", "equations"] {
            assert_eq!(counted[key], Value::Null);
        }
    }

    #[test]
    fn residues_above_nine_are_joined_by_dots() {
        let counted = json("census bounded-moore --heaps 2 --width 1 --max 11 --modulus 11");
        assert!(counted["words"].as_array().unwrap().iter().any(|row| row["word"] == "10.9"));
    }

    #[test]
    fn query_has_exactly_its_keys() {
        let found = json("query bounded-moore --width 2 --position 5,4,2");
        let keys = [
            "game",
            "heaps",
            "width",
            "forbid",
            "misere",
            "position",
            "verdict",
            "remoteness",
            "legal_moves",
            "winning_moves",
            "optimal_moves",
            "options",
            "method",
            "positions",
        ];
        assert_keys(&found, &keys);
        assert_eq!(found["position"], serde_json::json!([2, 4, 5]));
        assert_eq!(found["verdict"], "N");
        assert_eq!(found["method"], "solve");
        let moves = serde_json::json!([
            { "to": [1, 3, 5], "removed": [1, 1, 0], "remoteness": 8 },
            { "to": [2, 4, 4], "removed": [0, 0, 1], "remoteness": 8 },
        ]);
        assert_eq!(found["winning_moves"], moves);
    }
}

mod query {
    use super::*;

    #[test]
    fn an_n_position_lists_every_winning_move() {
        let found = output("query bounded-moore --width 2 --position 5,4,2");
        assert_eq!(
            found,
            "(2,4,5) is an N-position: the player to move wins in 9 moves (R = 9)\n\
             2 of 6 legal moves win; 2 win the soonest (*):\n  \
             * to (1,3,5), R = 8, taking 1 each from the heap of 2 and the heap of 4\n  \
             * to (2,4,4), R = 8, taking 1 from the heap of 5\n\
             The others lose:\n    \
             to (1,4,5), R = 9, taking 1 from the heap of 2\n    \
             to (1,4,4), R = 7, taking 1 each from the heap of 2 and the heap of 5\n    \
             to (2,3,4), R = 7, taking 1 each from the heap of 4 and the heap of 5\n    \
             to (2,3,5), R = 7, taking 1 from the heap of 4\n"
        );
    }

    #[test]
    fn a_p_position_has_no_winning_move() {
        assert_eq!(
            output("query bounded-moore --width 2 --position 2,2,2"),
            "(2,2,2) is a P-position: the player to move loses in 4 moves (R = 4)\n\
             None of the 2 legal moves wins; 2 delay the longest (*):\n  \
             * to (1,1,2), R = 3, taking 1 each from 2 heaps of 2\n  \
             * to (1,2,2), R = 3, taking 1 from a heap of 2\n"
        );
        let found = json("query bounded-moore --width 2 --position 2,2,2");
        assert_eq!(found["verdict"], "P");
        assert_eq!(found["winning_moves"], Value::Array(vec![]));
    }

    #[test]
    fn the_convention_decides_terminal_positions() {
        assert_eq!(
            output("query exact-slow --width 2 --position 0,4,0"),
            "(0,0,4) is a P-position: the player to move has no legal move and loses, R = 0\n"
        );
        assert_eq!(
            output("query exact-slow --width 2 --position 0,4,0 --misere"),
            "(0,0,4) is an N-position: the player to move has no legal move and wins (misère), R = 1\n"
        );
    }

    #[test]
    fn a_forbidden_total_is_pointed_out() {
        let found = output("query bounded-moore --width 2 --position 3,4,5 --forbid 12");
        assert!(found.contains("Its total, 12, is forbidden: no move arrives here."), "{found}");
    }

    #[test]
    fn the_position_gives_the_number_of_heaps() {
        refuses(
            "query bounded-moore --width 1 --heaps 3 --position 1,2",
            2,
            "the position (1,2) has 2 heaps, the game has 3",
        );
        refuses(
            "query bounded-moore --width 2 --position 3",
            2,
            "--width 2 is out of range: a move in a game of 1 heap ",
        );
        let seventeen = ["1"; 17].join(",");
        refuses(
            &format!("query bounded-moore --width 2 --position {seventeen}"),
            2,
            "a game of 17 heaps is out of range",
        );
    }

    #[test]
    fn positions_that_are_none_are_refused() {
        for (position, reason) in [
            ("-1,2", "cannot read the position \"-1,2\": -1 is negative"),
            ("1,-2", "cannot read the position \"1,-2\": -2 is negative"),
            ("1,x", "cannot read the position \"1,x\": \"x\" is not a whole number"),
            ("1,,2", "cannot read the position \"1,,2\": a heap size is missing"),
            (
                "1,4294967296",
                "the position (1,4294967296) is too large: with 2 heaps, the largest can be up to ",
            ),
        ] {
            refuses(&format!("query bounded-moore --width 2 --position {position}"), 2, reason);
        }
        let empty = ["query", "bounded-moore", "--width", "1", "--position", ""];
        refuses_exactly(&empty, 2, "cannot read the position \"\": a heap size is missing");
        refuses(
            "query bounded-moore --width 1",
            2,
            "the following required arguments were not provided:\n  --position",
        );
    }

    #[test]
    fn positions_out_of_reach_are_refused_with_what_fits() {
        refuses(
            "query bounded-moore --width 2 --position 1,2,4294967295",
            2,
            "the position (1,2,4294967295) is too large: with 3 heaps, the largest can be up to 4801277",
        );
    }

    #[test]
    fn positions_that_do_not_fit_are_refused_with_the_largest_that_does() {
        let query =
            |largest: u32| format!("query bounded-moore --width 2 --position 1,2,3,4,{largest} --memory 1M");
        refuses(&query(200), 3, "(1,2,3,4,200) is found by solving 5 heaps up to 200, which needs ");
        let largest = largest_named(&query(200), "a position fits if no heap is above ");
        output(&query(largest));
        refuses(&query(largest + 1), 3, "(1,2,3,4,");
    }
}

mod fts {
    use super::*;

    #[test]
    fn solve_says_the_rules_and_counts_both_kinds_of_p_positions() {
        snapshot("solve-fts", &without_cost(&output("solve fts --heaps 3 --max 100 --forbid 5k")));
        let misere = output("solve fts --heaps 1 --max 7 --forbid 3..4 --misere");
        let rules = "Forbidden-Total-Size Nim, 1 heap, taking any number from 1 heap, misère, no move arrives at totals 3..4";
        assert_eq!(misere.lines().next().unwrap().strip_prefix("game         "), Some(rules));
    }

    #[test]
    fn without_forbidden_totals_it_is_nim() {
        let nim = output("solve fts --heaps 3 --max 15");
        assert!(nim.starts_with("game         Nim, 3 heaps, taking any number from 1 heap\n"), "{nim}");
        assert!(!nim.contains('₀'), "{nim}");
        let nim = json("solve fts --heaps 3 --max 15");
        // Sorted triples with nim-sum 0: 16 pairs of equal heaps and an empty one, and 16·15·14/6 lines less one in 16.
        assert_eq!([&nim["p_positions"], &nim["p_forbidden"]], [16 + 35, 0]);
        assert_eq!(
            [&nim["game"], &nim["width"], &nim["forbid"]],
            [&"fts".into(), &Value::Null, &Value::Null]
        );
    }

    #[test]
    fn published_counts_for_d_five() {
        let solved = json("solve fts --heaps 3 --max 1000 --forbid 5k --backend cpu");
        let counts = ["positions", "p_positions", "p_forbidden"].map(|key| solved[key].as_u64().unwrap());
        assert_eq!(counts, [167_668_501, 176_248, 29_576]);
    }

    #[test]
    fn digests_agree_whatever_the_threads() {
        let digest = |threads: u32| {
            json(&format!("solve fts --heaps 4 --max 40 --forbid 6k --digest --threads {threads}"))["digest"]
                .clone()
        };
        assert_eq!(digest(1), digest(3));
        assert!(digest(2).is_string());
    }

    #[test]
    fn census_counts_residues() {
        // d = 2: a position is P by its halved heaps, so words mod 4 tell more than parities do.
        let counted = json("census fts --heaps 2 --max 7 --forbid 2k --modulus 4");
        assert_eq!(counted["words"].as_array().unwrap().len(), 16);
        assert!(output("census fts --heaps 2 --max 7").contains("game         Nim, 2 heaps"));
    }

    #[test]
    fn query_knows_the_positions_of_the_source() {
        for position in ["2,4,5", "0,5,5", "0,5,6"] {
            let found = json(&format!("query fts --forbid 5k --position {position}"));
            assert_eq!([&found["verdict"], &found["winning_moves"]], [&"P".into(), &Value::Array(vec![])]);
        }
        assert_eq!(
            output("query fts --forbid 5k --position 3,4,5"),
            "(3,4,5) is an N-position: the player to move wins\n\
             1 of 9 legal moves wins:\n  \
             to (2,4,5), taking 1 from the heap of 3\n"
        );
        assert!(
            output("query fts --forbid 5k --position 0,5,5").contains("Its total, 10, is forbidden: no move")
        );
        assert_eq!(json("query fts --forbid 8k --position 1,1,3,3")["verdict"], "P");
    }

    #[test]
    fn a_width_is_refused() {
        let message = "fts takes no --width: a move takes from one heap\n";
        refuses("solve fts --heaps 3 --max 9 --width 1", 2, message);
        refuses("census fts --heaps 3 --max 9 --width 2", 2, message);
        refuses("query fts --position 1,2 --width 1", 2, message);
    }

    #[test]
    fn positions_with_too_many_moves_are_refused() {
        refuses(
            "query fts --position 900000000 --memory 1G",
            3,
            "listing the moves of (900000000) needs 419.1 GiB",
        );
    }
}

mod completion {
    use super::*;

    fn complete(more: &str) -> String {
        format!("completion fts --heaps 3 --forbid 5k {more}")
    }

    #[test]
    fn three_heaps_are_a_table() {
        snapshot("completion", &without_cost(&output(&complete("--max 15"))));
    }

    #[test]
    fn other_numbers_of_heaps_are_a_list() {
        snapshot(
            "completion-four-heaps",
            &without_cost(&output("completion fts --heaps 4 --max 2 --forbid 5k")),
        );
    }

    #[test]
    fn json_has_exactly_its_keys() {
        let found = json(&complete("--max 15"));
        let keys = [
            "game",
            "heaps",
            "max",
            "forbid",
            "misere",
            "multisets",
            "completed",
            "greatest",
            "method",
            "threads",
            "seconds",
            "rows",
        ];
        keys::assert_keys(&found, &keys);
        assert_eq!(
            [&found["heaps"], &found["max"], &found["multisets"], &found["completed"]],
            [3, 15, 136, 136]
        );
        assert_eq!([&found["forbid"], &found["method"]], ["5k", "scan"]);
        let row = |x: usize| {
            found["rows"][x].as_array().unwrap().iter().map(|f| f.as_u64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(row(0), [1, 0, 2, 3, 4, 6, 5, 7, 8, 9, 11, 10, 12, 13, 14, 16]);
        assert_eq!(row(5), [6, 5, 4, 8, 2, 1, 0, 10, 3, 12, 7, 13, 9, 11, 17, 18]);
        assert_eq!(found["rows"][2][3], 1);
    }

    #[test]
    fn files_are_written_whole_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        for (name, start) in [
            ("f.npy", &b"\x93NUMPY"[..]),
            ("f.csv", b"1,0,2,"),
            ("f.json", b"[[1,0,2,"),
            ("f.png", b"\x89PNG"),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, "what was there before").unwrap();
            let arguments = complete(&format!("--max 30 --out {}", path.display()));
            let written = json(&arguments);
            let keys = [
                "game",
                "heaps",
                "max",
                "forbid",
                "misere",
                "multisets",
                "completed",
                "greatest",
                "method",
                "threads",
                "seconds",
                "file",
                "file_bytes",
                "write_seconds",
            ];
            keys::assert_keys(&written, &keys);
            let bytes = std::fs::read(&path).unwrap();
            assert!(bytes.starts_with(start), "{name}");
            assert_eq!(written["file_bytes"], bytes.len());
            assert_eq!(written["file"], path.to_str().unwrap());
            let said = output(&arguments);
            assert!(said.contains(&format!("written     {}, ", path.display())), "{said}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "no parts are left");
    }

    #[test]
    fn a_picture_tells_the_command_that_made_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.png");
        output(&complete(&format!("--misere --max 9 --out {}", path.display())));
        let file = std::fs::read(&path).unwrap();
        let command = format!(
            "nimstrata completion fts --heaps 3 --forbid 5k --misere --max 9 --out {}",
            path.display()
        );
        assert!(file.windows(command.len()).any(|part| part == command.as_bytes()));
    }

    #[test]
    fn two_heaps_and_one() {
        let two = json("completion fts --heaps 2 --max 6 --forbid 5k");
        assert_eq!(two["rows"], serde_json::json!([1, 0, 2, 3, 4, 6, 5]));
        assert_eq!(two["method"], "solve");
        let one = json("completion fts --heaps 1 --max 6 --forbid 0..2");
        assert_eq!([&one["rows"], &one["multisets"]], [3, 1]);
    }

    #[test]
    fn without_forbidden_totals_they_are_nim_sums() {
        let nim = json("completion fts --heaps 3 --max 20");
        assert_eq!(nim["forbid"], Value::Null);
        for (x, y) in [(0, 0), (3, 5), (20, 7), (16, 15)] {
            assert_eq!(nim["rows"][x][y], x ^ y);
        }
        let four = json("completion fts --heaps 4 --max 3");
        assert_eq!(four["rows"][1][2][3], 0);
    }

    #[test]
    fn where_every_total_is_forbidden_nothing_completes() {
        for heaps in 1..5 {
            let none = json(&format!("completion fts --heaps {heaps} --max 2 --forbid k"));
            assert_eq!([&none["completed"], &none["greatest"]], [&Value::from(0), &Value::Null]);
        }
        let table = output("completion fts --heaps 3 --max 2 --forbid k");
        assert!(table.starts_with("x\\y  0 1 2\n  0  - - -\n"), "{table}");
        assert!(table.contains("completed   0 of 6 pairs (0 %); - stands for no completion\n"), "{table}");
    }

    #[test]
    fn other_games_have_no_completions() {
        refuses(
            "completion bounded-moore --heaps 3 --max 9",
            2,
            "invalid value 'bounded-moore' for '[GAME]'",
        );
        refuses("completion fts --heaps 3 --max 9 --width 1", 2, "unexpected argument '--width' found");
    }

    #[test]
    fn caps_out_of_range() {
        for cap in ["65537", "1000000000000000000000000000000"] {
            let message =
                format!("--max {cap} is out of range: completions of 3 heaps are found up to 65536\n");
            refuses(&complete(&format!("--max {cap}")), 2, &message);
        }
        refuses(&complete("--max -1"), 2, "invalid value '-1' for '--max <CAP>': it cannot be negative");
        let cap = "1000000000000000000000000000000";
        let message =
            format!("keeping the completions of 3 heaps up to {cap} needs more than can be addressed, ");
        refuses(&format!("completion fts --heaps 4 --max {cap}"), 3, &message);
        for heaps in [0, 15] {
            refuses(
                &format!("completion fts --heaps {heaps} --max 3"),
                2,
                &format!("a game of {heaps} heaps is out"),
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_largest_that_does() {
        let table = |max: u32| complete(&format!("--memory 1M --max {max}"));
        let largest = largest_named(&table(5000), "the largest --max that fits is ");
        output(&table(largest));
        refuses(&table(largest + 1), 3, &format!("the table of pairs up to {} needs 1.0 MiB, ", largest + 1));
        let kept = |max: u32| format!("completion fts --heaps 4 --memory 1M --max {max}");
        let largest = largest_named(&kept(500), "they fit up to --max ");
        refuses(&kept(largest + 1), 3, "keeping the completions of 3 heaps up to ");
        let message = "completing 13 heaps up to 2 means solving 14 heaps up to 32, which needs ";
        refuses("completion fts --heaps 14 --max 2 --forbid 5k --memory 1M", 3, message);
    }

    #[test]
    fn a_long_stretch_of_forbidden_totals_takes_no_time() {
        let message = "the table of pairs up to 9 needs more than can be addressed, ";
        refuses("completion fts --heaps 3 --max 9 --forbid 0..1000000000000000", 3, message);
        let short = json("completion fts --heaps 3 --max 2 --forbid 3..100");
        assert_eq!(short["rows"], serde_json::json!([[0, 1, 99], [1, 0, 98], [99, 98, 97]]));
    }

    #[test]
    fn files_that_cannot_be_written_are_refused_before_anything_is_computed() {
        let folder = tempfile::tempdir().unwrap();
        let out = |name: &str| complete(&format!("--max 60000 --out {}", folder.path().join(name).display()));
        let path = |name: &str| folder.path().join(name).display().to_string();
        let known = "give it a name that ends in .json, .csv, .npy or .png\n";
        for name in ["f.txt", "f", "f.npy.gz"] {
            refuses(
                &out(name),
                2,
                &format!("cannot tell what kind of file {} should be: {known}", path(name)),
            );
        }
        refuses(&out("nowhere/f.npy"), 2, &format!("writing {}: No such file", path("nowhere/f.npy")));
        std::fs::create_dir(folder.path().join("f.csv")).unwrap();
        let message =
            format!("{} is not overwritten: it is there and is no file; give another name\n", path("f.csv"));
        refuses(&out("f.csv"), 2, &message);
        let four = format!("completion fts --heaps 4 --max 3 --out {}", path("f.png"));
        refuses(
            &four,
            2,
            "a picture shows the completions of two heaps by a third, so of 3 heaps and not of 4 heaps",
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_interrupted_run_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.npy");
        std::fs::write(&path, "old").unwrap();
        let arguments = complete(&format!("--max 16000 --threads 1 --out {}", path.display()));
        let (errors, code) = streams::interrupted(streams::started(&arguments), &["-INT"]);
        assert!(errors.starts_with("nimstrata: error: interrupted after "), "{errors}");
        assert!(
            errors.ends_with(" % of the pairs, nothing was kept; the same command starts over\n"),
            "{errors}"
        );
        assert_eq!(code, Some(130));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no parts are left");
    }
}

mod check {
    use super::*;
    use nimstrata::observe::claims;

    /// What a run prints whose claims are violated.
    fn violated(arguments: &str, message: &str) -> String {
        let run =
            nimstrata(arguments).assert().code(1).stderr(format!("nimstrata: error: violated: {message}\n"));
        String::from_utf8(run.get_output().stdout.clone()).unwrap()
    }

    /// The lines without the time that the last one names.
    fn without_time(report: &str) -> String {
        let cut = |line: &str| {
            line.split_once(" positions in ").map_or(line.to_owned(), |(kept, _)| kept.to_owned())
        };
        report.lines().map(|line| cut(line) + "\n").collect()
    }

    #[test]
    fn the_list_has_every_claim_with_its_status() {
        let list = output("check --list");
        let listed = json("check --list");
        for (claim, listed) in claims::all().zip(listed["claims"].as_array().unwrap()) {
            keys::assert_keys(listed, &["claim", "status", "statement", "regions"]);
            assert_eq!([&listed["claim"], &listed["status"]], [claim.name, claim.status.name()]);
            assert!(!listed["regions"].as_array().unwrap().is_empty());
            assert!(list.lines().any(|line| {
                let mut words = line.split_whitespace();
                words.next() == Some(claim.name) && words.next() == Some(claim.status.name())
            }));
        }
        assert!(list.lines().all(|line| line.chars().count() <= 100), "{list}");
        assert_eq!(listed["claims"].as_array().unwrap().len(), claims::all().count());
    }

    #[test]
    fn a_claim_prints_a_line_a_region() {
        snapshot("check", &without_time(&output("check words-five --max 9")));
        snapshot("check-note", &without_time(&output("check fts-bounds --d 5 --max 40")));
    }

    #[test]
    fn a_violated_claim_ends_in_code_one_with_the_first_counterexample() {
        let report = violated("check fts-power-of-two --heaps 4 --max 7 --d 8", "fts-power-of-two");
        snapshot("check-violated", &without_time(&report));
        let report = violated("check words-five --heaps 6 --max 7", "words-five on 1 of 4 regions");
        assert!(report.contains("VIOLATED 31 times, first 000111 loses in 15 of 28 positions\n"), "{report}");
        assert!(report.contains("\n3 of 4 checks hold: 6,864 positions in "), "{report}");
    }

    #[test]
    fn json_has_exactly_its_keys() {
        let keys = [
            "claim",
            "status",
            "statement",
            "region",
            "positions",
            "holds",
            "violations",
            "counterexample",
            "checks",
        ];
        let checked = json("check fts-bounds --d 5 --max 40");
        keys::assert_keys(&checked, &keys);
        assert_eq!([&checked["claim"], &checked["status"]], ["fts-bounds", "proved"]);
        assert_eq!([&checked["holds"], &checked["counterexample"]], [&Value::Bool(true), &Value::Null]);
        assert_eq!(checked["region"], "3 heaps up to 40, d = 5");
        let own = ["claim", "region", "positions", "holds", "violations", "counterexample", "note"];
        keys::assert_keys(&checked["checks"][0], &own);
        assert!(checked["checks"][0]["note"].as_str().unwrap().ends_with("first f(2,3) = 1"));

        let text = violated("check fts-power-of-two --heaps 4 --max 7 --d 8 --json", "fts-power-of-two");
        let checked: Value = serde_json::from_str(&text).unwrap();
        keys::assert_keys(&checked, &keys);
        assert_eq!(
            [&checked["holds"], &checked["counterexample"]],
            [&Value::Bool(false), &"(1,1,3,3)".into()]
        );
        assert_eq!([&checked["positions"], &checked["violations"]], [330, 44]);
    }

    #[test]
    fn all_claims_hold_up_to_seven() {
        let report = output("check all --max 7");
        let lines = report.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>();
        assert!(lines.iter().all(|line| line.contains("  holds")), "{report}");
        let at = lines[0].find("holds").unwrap();
        for line in &lines {
            assert_eq!(line.find("holds"), Some(at), "not aligned: {line}");
        }
        for claim in claims::all() {
            assert!(lines.iter().any(|line| line.starts_with(&format!("{} ", claim.name))), "{}", claim.name);
        }
        assert!(report.contains(" are shown by: nimstrata check fts-bounds\n"), "{report}");

        let checked = json("check all --max 7");
        keys::assert_keys(&checked, &["claims", "positions", "holds"]);
        assert_eq!(checked["holds"], true);
        assert_eq!(checked["claims"].as_array().unwrap().len(), claims::all().count());
        let checks = checked["claims"]
            .as_array()
            .unwrap()
            .iter()
            .map(|claim| claim["checks"].as_array().unwrap().len());
        assert_eq!(checks.sum::<usize>(), lines.len());
    }

    #[test]
    fn all_goes_on_after_a_violation_and_leaves_out_what_the_options_do_not_fit() {
        let message = "fts-2 on 5 of 5 regions, fts-3 on 5 of 5 regions, fts-4 on 5 of 5 regions";
        let report = violated("check all --d 5 --max 9", message);
        let line = |start: &str| report.lines().find(|line| line.starts_with(start)).unwrap();
        assert!(line("fts-2 ").contains("VIOLATED"), "{report}");
        assert!(line("fts-bounds ").contains("  holds"), "{report}");
        assert!(line("nim-bouton ").ends_with("not checked: it is about a game without --d; leave --d out"));

        let checked: Value =
            serde_json::from_str(&violated("check all --d 5 --max 9 --json", message)).unwrap();
        assert_eq!(checked["holds"], false);
        let nim = &checked["claims"][0];
        assert_eq!([&nim["claim"], &nim["holds"]], [&"nim-bouton".into(), &Value::Null]);
        assert!(nim["not_checked"].is_string());
    }

    #[test]
    fn where_nothing_is_claimed_it_is_said_so() {
        let report = output("check words-where --heaps 7 --width 4 --max 7");
        assert!(
            report.contains("\n    nothing is claimed here; ")
                && report.contains(" of 128 words are uniform\n")
        );
    }

    #[test]
    fn claims_that_are_not_there() {
        let shows = "check --list shows all ";
        refuses(
            "check fts-5",
            2,
            &format!("no claim is called \"fts-5\"; did you mean fts-2, fts-3 or fts-4? {shows}"),
        );
        refuses(
            "check nim-butoun",
            2,
            &format!("no claim is called \"nim-butoun\"; did you mean nim-bouton? {shows}"),
        );
        refuses("check goldbach", 2, "no claim is called \"goldbach\"; there are: nim-bouton, nim-misere, ");
        refuses("check", 2, "the following required arguments were not provided:\n  <CLAIM>");
        refuses("check --list all", 2, "the argument '--list' cannot be used with");
    }

    #[test]
    fn options_that_do_not_fit_the_claim() {
        let refused = |arguments: &str, reason: &str| {
            let (claim, _) = arguments.split_once(' ').unwrap();
            refuses(&format!("check {arguments}"), 2, &format!("{claim} cannot be checked so: {reason}"));
        };
        refused("fts-two-heaps --d 0", "--d 0 divides nothing; give 1 or more\n");
        refused("fts-two-heaps --heaps 3", "it is about two heaps; leave --heaps out\n");
        refused("fts-mex --d 1", "it is about d of 2 or more: with --d 1 no move arrives anywhere\n");
        refused("fts-power-of-two --d 12", "it is about powers of two; give --d 4, 8, 16, …\n");
        refused("nim-bouton --d 5", "it is about a game without --d; leave --d out\n");
        refused("nim-bouton --width 2", "it is about a game without --width; leave --width out\n");
        refused(
            "words-six --heaps 5",
            "it is about 6 heaps of width 2 up to 7 or more; words-where asks others\n",
        );
        refuses(
            "check words-five --heaps 3 --width 4",
            2,
            "--width 4 is out of range: a move in a game of 3 heaps",
        );
        refuses("check all --heaps 15", 2, "a game of 15 heaps is out of range: give 1 to 14 heaps\n");
        let said = message_of("check all --d 0");
        assert!(said.ends_with(" cannot be checked so: --d 0 divides nothing; give 1 or more\n"), "{said}");
        for d in [1, 2] {
            // Below 3 the claim is not made, and does not hold.
            violated(&format!("check fts-two-heaps --d {d} --max 9"), "fts-two-heaps");
        }
    }

    #[test]
    fn caps_out_of_range() {
        let cap = "1000000000000000000000000000000";
        let message = format!(
            "--max {cap} is out of range: with 5 heaps, at most 2^64 positions and totals up to 2^30, "
        );
        refuses(&format!("check fts-3 --heaps 5 --max {cap}"), 2, &message);
        let check = |max: u32| format!("check fts-mex --d 5 --memory 100M --max {max}");
        let largest = largest_named(&check(9000), "the largest --max that fits is ");
        refuses(
            &check(largest + 1),
            3,
            &format!("keeping the completions of 3 heaps up to {}, d = 5 needs", largest + 1),
        );
        refuses("check fts-3 --heaps 5 --max 3000 --memory 100M", 3, "solving 5 heaps up to 3000 needs ");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_interrupted_check_says_how_far_it_came() {
        let arguments = "check words-five --max 400 --width 2 --backend cpu";
        let (errors, code) = streams::interrupted(streams::started(arguments), &["-TERM"]);
        assert!(errors.starts_with("nimstrata: error: interrupted after "), "{errors}");
        assert_eq!(code, Some(130));
    }
}

mod remoteness {
    use super::*;

    #[test]
    fn solve_prints_the_distribution_and_the_longest_games() {
        let arguments =
            "solve exact-slow --heaps 4 --width 3 --max 12 --misere --quantity remoteness --digest";
        snapshot("solve-remoteness", &without_cost(&output(arguments)));
    }

    #[test]
    fn a_long_distribution_is_shown_without_its_middle_and_told_whole() {
        let arguments = "solve bounded-moore --heaps 2 --width 1 --max 30 --quantity remoteness";
        let table = output(arguments);
        let rows = table.lines().take_while(|line| !line.is_empty()).count();
        assert_eq!(rows, 1 + 16 + 1 + 16, "{table}");
        assert!(table.contains(" 29 rows left out here, all with --json\n"), "{table}");
        let solved = json(arguments);
        let distribution = solved["distribution"].as_array().unwrap();
        assert_eq!(distribution.len(), 61);
        let positions = distribution.iter().map(|row| row["positions"].as_u64().unwrap());
        assert_eq!(positions.sum::<u64>(), 496);
    }

    #[test]
    fn solve_has_the_keys_of_remoteness() {
        let solved = json("solve exact-slow --heaps 3 --width 2 --max 4 --quantity remoteness --digest");
        assert_eq!(solved["quantity"], "remoteness");
        assert_eq!(solved["max_remoteness"], 6);
        assert_eq!(solved["distribution"][6], serde_json::json!({ "remoteness": 6, "positions": 1 }));
        assert_eq!(solved["longest_win"], serde_json::json!({ "remoteness": 5, "position": [3, 3, 4] }));
        assert_eq!(solved["longest_loss"], serde_json::json!({ "remoteness": 6, "position": [4, 4, 4] }));
        assert_eq!(solved["digest"].as_str().unwrap().len(), 16);
    }

    #[test]
    fn games_without_a_kernel_for_it_are_refused() {
        let message = "--quantity remoteness works with bounded-moore and exact-slow, whose moves take one";
        refuses("solve fts --heaps 3 --max 9 --quantity remoteness", 2, message);
        refuses("query fts --position 3,5,7 --line", 2, "--line works with bounded-moore and exact-slow");
        assert_eq!(json("query fts --position 3,5,7")["remoteness"], Value::Null);
    }

    #[test]
    fn published_values() {
        for (position, misere, expected) in [
            ("1,1,2", true, 3),
            ("2,2,2,3", true, 3),
            ("3,3,3,4", true, 5),
            ("3,4,4,5", true, 5),
            ("5,5,6,7", true, 7),
            ("2,3,4", false, 4),
            ("3,5,7", false, 7),
        ] {
            let width = position.split(',').count() - 1;
            let misere_option = if misere { "--misere" } else { "" };
            let command =
                format!("query exact-slow --width {width} --position {position} {misere_option} --line");
            let found = json(&command);
            assert_eq!(found["remoteness"], expected, "{position}");
            assert_eq!(found["method"], "solve");
            let line = found["line"].as_array().unwrap();
            assert_eq!(line.len() as u64 - 1, expected - u64::from(misere), "{position}");
            for (turn, next) in line.iter().zip(&line[1..]) {
                assert_eq!(turn["remoteness"], next["remoteness"].as_u64().unwrap() + 1);
            }
            assert_eq!(line.last().unwrap()["removed"], Value::Null);
        }
    }

    #[test]
    fn a_line_is_printed_to_the_end() {
        snapshot("query-line", &output("query exact-slow --width 3 --position 3,4,4,5 --misere --line"));
    }

    #[test]
    fn a_long_line_is_played_in_several_solves() {
        let found = json("query exact-slow --width 3 --position 101,102,105,107 --misere --line");
        let line = found["line"].as_array().unwrap();
        assert_eq!(line.len() as u64, found["remoteness"].as_u64().unwrap());
    }

    #[test]
    fn where_remoteness_does_not_fit_the_verdict_is_told() {
        let arguments = "query bounded-moore --width 2 --position 1,1,4000 --memory 8M";
        let found = output(arguments);
        assert!(
            found.contains("How long it takes is out of reach: (1,1,4000) is found by solving"),
            "{found}"
        );
        assert_eq!(json(arguments)["remoteness"], Value::Null);
    }

    /// Ten heaps, 10^30 and up.
    fn huge() -> String {
        (0..10).map(|heap| format!("1{}{heap}", "0".repeat(29))).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn the_m_rule_answers_what_is_out_of_reach() {
        let query = format!("query exact-slow --width 9 --position {}", huge());
        let found = json(&query);
        assert_eq!(found["remoteness"], "1111111111111111111111111111115");
        assert_eq!([&found["verdict"], &found["method"]], ["N", "m-rule"]);
        let said = output(&query);
        assert!(said.contains("(R = 1,111,111,111,111,111,111,111,111,111,115)\n"), "{said}");
        assert!(
            said.ends_with(
                "Found by the M-rule in closed form: the positions below are too many to solve.\n"
            )
        );
        let found = json("query exact-slow --width 2 --position 30,40,4000000000 --line");
        assert_eq!(found["method"], "m-rule");
        assert_eq!(found["remoteness"], 70);
        assert_eq!(found["line"].as_array().unwrap().len(), 71);
    }

    #[test]
    fn what_no_method_reaches_is_refused() {
        let query = format!("query exact-slow --width 9 --position {}", huge());
        refuses(&format!("{query} --line"), 2, "--line would play out 1111111111111111111111111111115 moves");
        refuses(&format!("{query} --misere"), 2, "the position (1000");
        let message = message_of(&format!("{query} --misere"));
        assert!(message.contains(" is too large: with 10 heaps, the largest can be up to "), "{message}");
        refuses("query exact-slow --width 2 --position 30,40,4000000000 --misere", 2, "the position (30,40,");
    }
}

mod exceptions {
    use super::*;

    #[test]
    fn published_numbers() {
        for (heaps, max, expected) in [(3, 16, 120), (4, 12, 365), (5, 9, 440), (6, 8, 616)] {
            let region = format!("--heaps {heaps} --width {} --max {max}", heaps - 1);
            let found = json(&format!("exceptions exact-slow {region} --misere"));
            assert_eq!(found["exceptions"], expected);
            assert_eq!([&found["minimal_exceptions"], &found["list"]], [&Value::Null, &Value::Null]);
            assert_eq!(json(&format!("exceptions exact-slow {region}"))["exceptions"], 0);
        }
    }

    #[test]
    fn minimal_ones_are_aligned_with_their_moves() {
        let arguments = "exceptions exact-slow --heaps 3 --width 2 --misere --max 16 --minimal --format text";
        snapshot("exceptions-minimal", &without_cost(&output(arguments)));
        let families = "exceptions exact-slow --heaps 4 --misere --max 12 --minimal --format text";
        snapshot("exceptions-families", &without_cost(&output(families)));
    }

    #[test]
    fn a_pipe_gets_csv() {
        let table = output("exceptions exact-slow --heaps 4 --width 3 --misere --max 12 --list");
        let mut lines = table.lines();
        assert_eq!(lines.next(), Some("x1,x2,x3,x4,remoteness,m_remoteness,m_move,optimal_moves"));
        let mut count = 0;
        for line in lines {
            let fields = line.split(',').collect::<Vec<_>>();
            assert_eq!(fields.len(), 8, "{line}");
            let numbers = fields[..6].iter().map(|field| field.parse::<u32>().unwrap()).collect::<Vec<_>>();
            assert!(numbers[..4].is_sorted() && numbers[5] + 1 != numbers[4], "{line}");
            for moved in fields[7].split(';').chain([fields[6]]) {
                let sizes = moved.split(' ').map(|size| size.parse::<u32>().unwrap());
                assert_eq!(sizes.sum::<u32>() + 3, numbers[..4].iter().sum::<u32>(), "{line}");
            }
            count += 1;
        }
        assert_eq!(count, 365);
        let none = output("exceptions exact-slow --heaps 4 --max 12 --list");
        assert_eq!(none, "x1,x2,x3,x4,remoteness,m_remoteness,m_move,optimal_moves\n");
    }

    #[test]
    fn lists_have_one_order_in_every_format() {
        let arguments = "exceptions exact-slow --heaps 3 --misere --max 9 --list";
        let found = json(arguments);
        let list = found["list"].as_array().unwrap();
        assert_eq!(found["exceptions"], list.len());
        assert_eq!(
            list[0],
            serde_json::json!({
                "position": [1, 1, 2],
                "remoteness": 3,
                "m_remoteness": 1,
                "m_move": [0, 0, 2],
                "optimal_moves": [[0, 1, 1]],
            })
        );
        let lines = output(&format!("{arguments} --format jsonl"));
        let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
        assert_eq!(&lines, list);
        let totals = |row: &Value| {
            row["position"].as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).sum::<u64>()
        };
        assert!(list.is_sorted_by_key(totals));
    }

    #[test]
    fn the_object_has_its_keys() {
        let found = json("exceptions exact-slow --heaps 4 --misere --max 12 --minimal --limit 3");
        for key in
            ["positions", "exceptions", "minimal_exceptions", "list", "game", "quantity", "solve_seconds"]
        {
            assert!(!found[key].is_null(), "{key}");
        }
        assert_eq!([&found["exceptions"], &found["minimal_exceptions"]], [365, 18]);
        assert_eq!(found["list"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn a_limit_says_what_it_leaves_out() {
        let table =
            output("exceptions exact-slow --heaps 3 --misere --max 16 --list --limit 2 --format text");
        assert!(table.contains("\n… 118 more, all without --limit\n"), "{table}");
        let none = output("exceptions exact-slow --heaps 3 --misere --max 16 --list --limit 0");
        assert_eq!(none.lines().count(), 1);
    }

    #[test]
    fn other_games_are_refused() {
        let message = "the M-rule is about exact slow Nim with --width one less than --heaps";
        refuses("exceptions exact-slow --heaps 4 --width 2 --max 9", 2, message);
        refuses("exceptions exact-slow --heaps 1 --max 9", 2, message);
        refuses(
            "exceptions bounded-moore --heaps 4 --max 9",
            2,
            "invalid value 'bounded-moore' for '[GAME]'",
        );
        refuses(
            "exceptions exact-slow --heaps 4 --max 9 --forbid 3",
            2,
            "unexpected argument '--forbid' found",
        );
        refuses(
            "exceptions exact-slow --heaps 4 --max 9 --list --minimal",
            2,
            "the argument '--list' cannot be used",
        );
        refuses("exceptions exact-slow --heaps 4 --max 9 --limit 3", 2, "the following required arguments");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_does() {
        let arguments = "exceptions exact-slow --heaps 4 --misere --memory 1M --max";
        let largest = largest_named(&format!("{arguments} 200"), "the largest --max that fits is ");
        output(&format!("{arguments} {largest}"));
        refuses(&format!("{arguments} {}", largest + 1), 3, "solving 4 heaps up to ");
    }
}

mod bad_input {
    use super::*;

    #[test]
    fn unknown_commands_and_games() {
        refuses("frobnicate", 2, "unrecognized subcommand 'frobnicate'");
        refuses("solve bounded-moor --heaps 5 --max 9", 2, "invalid value 'bounded-moor' for '<GAME>'");
        refuses("query bounded-moore --position 1 --max 3", 2, "unexpected argument '--max' found\n\nUsage:");
    }

    #[test]
    fn heaps_and_widths_out_of_range() {
        for heaps in [0, 15] {
            let arguments = format!("solve bounded-moore --heaps {heaps} --width 1 --max 9");
            refuses(&arguments, 2, &format!("a game of {heaps} heaps is out of range: give 1 to 14 heaps\n"));
        }
        for width in [0, 6] {
            let message = "is out of range: a move in a game of 5 heaps touches 1 to 5 of them\n";
            let arguments = format!("solve exact-slow --heaps 5 --width {width} --max 9");
            refuses(&arguments, 2, &format!("--width {width} {message}"));
        }
    }

    #[test]
    fn missing_options_are_named() {
        refuses(
            "solve bounded-moore --heaps 5 --max 9",
            2,
            "bounded-moore needs --width: how many different heaps",
        );
        refuses(
            "solve exact-slow --heaps 5 --max 9",
            2,
            "exact-slow needs --width: how many different heaps",
        );
        let missing = "the following required arguments were not provided:\n";
        refuses("census bounded-moore --heaps 5 --width 2", 2, &format!("{missing}  --max <CAP>\n"));
        refuses("solve bounded-moore --max 5 --width 2", 2, &format!("{missing}  --heaps <N>\n"));
    }

    #[test]
    fn absurd_caps_are_refused_with_the_largest_that_works() {
        for cap in ["1000000000000000000", "1000000000000000000000000000000"] {
            let message = format!("--max {cap} is out of range: with 5 heaps, at most 2^64 positions");
            refuses(&format!("solve bounded-moore --heaps 5 --width 2 --max {cap}"), 2, &message);
        }
        refuses(
            "census bounded-moore --heaps 14 --width 2 --max 500",
            2,
            "--max 500 is out of range: with 14 heaps, at most 2^64 positions and totals up to 2^30, it can be up to 136\n",
        );
    }

    #[test]
    fn negative_numbers_are_refused_in_our_words() {
        for option in ["--heaps", "--width", "--max", "--up-to-total", "--threads"] {
            let message = format!("invalid value '-3' for '{option} ");
            let others =
                ["--heaps 5", "--width 2", "--max 9"].into_iter().filter(|other| !other.starts_with(option));
            let others = others.collect::<Vec<_>>().join(" ");
            refuses(&format!("solve bounded-moore {others} {option} -3"), 2, &message);
            let said = message_of(&format!("solve bounded-moore {others} {option} -3"));
            assert!(
                said.contains(
                    ": it cannot be negative
"
                ),
                "{said}"
            );
        }
        refuses(&census("--modulus -2"), 2, "invalid value '-2' for '--modulus <M>': it cannot be negative");
        refuses(&solve("--memory -2"), 2, "invalid value '-2' for '--memory <BYTES>': give bytes, such as");
    }

    #[test]
    fn what_is_no_number_is_refused() {
        refuses(
            "solve bounded-moore --heaps five",
            2,
            "invalid value 'five' for '--heaps <N>': not a whole number",
        );
        refuses(
            "solve bounded-moore --max 9.5",
            2,
            "invalid value '9.5' for '--max <CAP>': not a whole number",
        );
        refuses(
            "solve bounded-moore --heaps 4294967296",
            2,
            "invalid value '4294967296' for '--heaps <N>': it is more",
        );
    }

    #[test]
    fn malformed_forbidden_totals_name_the_part_that_is_wrong() {
        for (set, reason) in [
            ("", "a total is missing"),
            ("-3", "\"-3\" is not a whole number from 0"),
            ("5x", "\"5x\" is not a whole number from 0"),
            ("9..3", "the range 9..3 is empty"),
            ("0k", "the step in 0k is 0"),
            ("1,,2", "a total is missing"),
        ] {
            let mut arguments = vec!["solve"];
            arguments.extend(FIVE_UP_TO_NINE.split(' '));
            arguments.extend(["--forbid", set]);
            refuses_exactly(&arguments, 2, &format!("cannot read the forbidden totals {set:?}: {reason}"));
        }
    }

    #[test]
    fn moduli_below_two() {
        for modulus in [0, 1] {
            let message =
                format!("--modulus {modulus} is out of range: residues need a modulus of 2 or more\n");
            refuses(&census(&format!("--modulus {modulus}")), 2, &message);
        }
    }

    #[test]
    fn silly_thread_counts() {
        refuses(
            &solve("--threads 0"),
            2,
            "invalid value '0' for '--threads <T>': at least one thread is needed",
        );
        refuses(
            &solve("--threads 1000000"),
            2,
            "invalid value '1000000' for '--threads <T>': at most 1024 threads",
        );
        assert_eq!(json(&solve("--threads 200"))["threads"], 200);
    }

    #[test]
    fn a_bound_on_the_total_beyond_the_region_changes_nothing() {
        for total in ["45", "46", "99999999999999999999999"] {
            let solved = json(&solve(&format!("--up-to-total {total}")));
            assert_eq!([&solved["positions"], &solved["strata"]], [2002, 46]);
            assert_eq!(solved["up_to_total"], Value::Null);
        }
        assert_eq!(json(&solve("--up-to-total 0"))["positions"], 1);
    }

    #[test]
    fn a_bound_on_the_total_bounds_the_heaps_too() {
        let small = json("solve exact-slow --heaps 5 --width 2 --max 20 --up-to-total 20 --digest");
        for max in ["10000", "1000000000000000000"] {
            let command =
                format!("solve exact-slow --heaps 5 --width 2 --max {max} --up-to-total 20 --digest");
            let large = json(&command);
            assert_eq!([&large["positions"], &large["digest"]], [&small["positions"], &small["digest"]]);
        }
    }
}

mod limits {
    use super::*;

    #[test]
    fn memory_that_makes_no_sense_is_refused() {
        refuses(
            &solve("--memory 0"),
            2,
            "invalid value '0' for '--memory <BYTES>': nothing can be solved in no memory",
        );
        refuses(
            &solve("--memory much"),
            2,
            "invalid value 'much' for '--memory <BYTES>': give bytes, such as",
        );
        for memory in ["512M", "2GiB", "64000000"] {
            output(&solve(&format!("--memory {memory}")));
        }
    }

    #[test]
    fn a_region_that_does_not_fit_is_refused_with_the_largest_that_does() {
        let region = "bounded-moore --heaps 5 --width 2 --memory 1M --max";
        let largest = largest_named(&format!("solve {region} 100"), "the largest --max that fits is ");
        // What is counted by words takes memory, too.
        let counted = largest_named(&format!("census {region} 100"), "the largest --max that fits is ");
        assert!((largest - 3..=largest).contains(&counted), "{counted} and {largest}");
        output(&format!("solve {region} {largest}"));
        let message = format!("solving 5 heaps up to {} needs 1.", largest + 1);
        refuses(&format!("solve {region} {}", largest + 1), 3, &message);
    }

    #[test]
    fn memory_too_small_for_any_region_is_said_so() {
        let message = message_of(&solve("--memory 1"));
        assert!(message.ends_with(", 1 byte allowed by --memory; no region of 5 heaps fits\n"), "{message}");
    }

    #[test]
    fn free_memory_is_the_default_limit() {
        let message = message_of("solve bounded-moore --heaps 5 --width 2 --max 2000");
        assert!(message.contains(" GiB, ") && message.contains(" free; the largest --max"), "{message}");
        let message = message_of("solve bounded-moore --heaps 5 --width 2 --max 18000");
        assert!(message.contains("needs more than can be addressed, "), "{message}");
    }

    #[test]
    fn a_census_of_too_many_words_is_refused_before_it_starts() {
        refuses(
            "census bounded-moore --heaps 5 --width 2 --max 60 --modulus 61 --memory 1G --threads 1",
            3,
            "counting up to 8,259,888 words mod 61 needs 4.4 GiB, 1.0 GiB allowed by --memory; a smaller --modulus",
        );
    }

    #[test]
    fn a_gpu_is_refused_where_there_is_none() {
        let message = "no GPU adapter found: install a Vulkan driver";
        refuses(&solve("--backend gpu"), 3, message);
        refuses(&solve("--adapter GeForce"), 3, message);
        // Advice that every command can take.
        let bench = message_of("bench bounded-moore --heaps 3 --width 1 --max 5 --adapter GeForce");
        assert!(bench.contains("leave out --backend gpu and --adapter"), "{bench}");
        assert_eq!(json(&solve("--backend auto"))["backend"], "cpu");
    }

    #[test]
    fn an_adapter_for_the_cpu_is_a_contradiction() {
        refuses(
            &solve("--backend cpu --adapter GeForce"),
            2,
            "--adapter \"GeForce\" names a GPU and --backend cpu",
        );
        refuses(&solve("--backend tpu"), 2, "invalid value 'tpu' for '--backend <BACKEND>'");
    }

    #[test]
    fn errors_stay_text_with_json() {
        refuses(&solve("--json --memory 1"), 3, "solving 5 heaps up to 9 needs");
        refuses(&solve("--json --threads 0"), 2, "invalid value '0' for '--threads <T>'");
    }
}

mod streams {
    use super::*;
    use std::io::{BufRead, BufReader, Read};
    use std::process::Child;

    /// More output than a pipe holds.
    const LONG_TABLE: &str = "census bounded-moore --heaps 8 --width 2 --max 9 --modulus 3 --all";

    pub fn started(arguments: &str) -> Child {
        piped(process(arguments.split(' ')))
    }

    /// Starts a process, with nothing to read.
    fn piped(mut process: Process) -> Child {
        process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn a_closed_pipe_is_no_error() {
        const LONG_LIST: &str = "exceptions exact-slow --heaps 3 --misere --max 150 --list";
        for arguments in [
            LONG_TABLE,
            &format!("{LONG_TABLE} --json"),
            LONG_LIST,
            &format!("{LONG_LIST} --json"),
            "solve --help",
            "check all --max 7",
        ] {
            for lines in 0..2 {
                let mut run = started(arguments);
                let mut reader = BufReader::with_capacity(64, run.stdout.take().unwrap());
                for _ in 0..lines {
                    reader.read_until(b' ', &mut Vec::new()).unwrap();
                }
                drop(reader);
                let ended = run.wait_with_output().unwrap();
                assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{arguments}");
                assert_eq!(ended.status.code(), Some(0), "{arguments}");
            }
        }
    }

    #[test]
    fn a_closed_pipe_hides_no_violation() {
        let mut run = started("check fts-power-of-two --heaps 4 --max 7 --d 8");
        drop(run.stdout.take());
        let ended = run.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "nimstrata: error: violated: fts-power-of-two\n");
        assert_eq!(ended.status.code(), Some(1));
    }

    #[test]
    fn a_limit_is_named_as_it_was_given() {
        let message = "solving 4 heaps up to 200 needs ";
        refuses("census fts --heaps 4 --max 200 --memory 1M", 3, message);
        assert!(
            message_of("census fts --heaps 4 --max 200 --memory 1M").contains(" 1.0 MiB allowed by --memory")
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_reported() {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut process = process(solve("").split_whitespace());
        let run = process.stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert!(String::from_utf8_lossy(&run.stderr).starts_with("nimstrata: error: writing the output: "));
        assert_eq!(run.status.code(), Some(3));
    }

    #[test]
    fn no_bar_is_drawn_where_standard_error_is_no_terminal() {
        // Half a second and more, where a bar would appear after 0.3 s; `output` wants an empty standard error.
        output("solve bounded-moore --heaps 5 --width 2 --max 100 --threads 1 --digest");
    }

    /// A run that takes seconds.
    const LONG_SOLVE: &str = "solve bounded-moore --heaps 5 --width 2 --max 400 --backend cpu";

    /// Sends signals to a run once it listens, and returns what it printed and its exit code.
    #[cfg(target_os = "linux")]
    pub fn interrupted(mut run: Child, signals: &[&str]) -> (String, Option<i32>) {
        let listens = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
            // Bit 1 is SIGINT, bit 14 SIGTERM.
            u64::from_str_radix(caught, 16).unwrap() & 0x4002 == 0x4002
        };
        while !listens() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        for signal in signals {
            Process::new("kill").args([*signal, &run.id().to_string()]).status().unwrap();
        }
        let mut errors = String::new();
        run.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (errors, run.wait().unwrap().code())
    }

    /// A long run that a program starts which does something to signals before.
    #[cfg(target_os = "linux")]
    fn started_by(program: &str, arguments: &[&str]) -> Child {
        let arguments = arguments.iter().copied().chain([PROGRAM]).chain(LONG_SOLVE.split(' '));
        piped(hiding_drivers(Process::new(program), arguments))
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_hang_up_is_left_to_the_system() {
        // Also where these tests ignore hang-ups themselves, as under nohup.
        let (errors, code) = interrupted(started_by("env", &["--default-signal=HUP"]), &["-HUP"]);
        assert_eq!((errors.as_str(), code), ("", None));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_hang_up_that_is_ignored_stays_ignored() {
        let (errors, code) = interrupted(started_by("nohup", &[]), &["-HUP", "-TERM"]);
        assert!(errors.contains("nimstrata: error: interrupted after "), "{errors}");
        assert_eq!(code, Some(130));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_interrupted_run_says_how_far_it_came() {
        for signal in ["-INT", "-TERM"] {
            for command in ["solve", "census"] {
                let arguments =
                    format!("{command} bounded-moore --heaps 5 --width 2 --max 400 --backend cpu");
                let (errors, code) = interrupted(started(&arguments), &[signal]);
                assert!(errors.starts_with("nimstrata: error: interrupted after "), "{errors}");
                assert!(errors.ends_with(" of 2001 strata; the same command starts over\n"), "{errors}");
                assert_eq!(code, Some(130));
            }
        }
    }
}

mod published {
    use super::*;

    fn count(counted: &Value, word: &str) -> [u64; 2] {
        let row = counted["words"].as_array().unwrap().iter().find(|row| row["word"] == word).unwrap();
        ["positions", "p_positions"].map(|key| row[key].as_u64().unwrap())
    }

    /// The losing words in lexicographic order, each with the number of its positions.
    fn losing(counted: &Value) -> Vec<(String, u64)> {
        let words = counted["losing_words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        words.map(|word| (word.to_owned(), count(counted, word)[1])).collect()
    }

    fn moore(heaps: u32, width: u32, max: u32) -> Value {
        json(&format!("census bounded-moore --heaps {heaps} --width {width} --max {max} --backend cpu"))
    }

    #[test]
    fn parity_words_settle_five_heaps_up_to_nine() {
        for (width, dimension) in [(1, 4), (2, 2), (3, 1), (4, 1)] {
            let counted = moore(5, width, 9);
            assert_eq!(counted["words"].as_array().unwrap().len(), 32);
            assert_eq!([&counted["uniform_words"], &counted["uniform_positions"]], [32, 2002]);
            assert_eq!(counted["subspace"], true);
            assert_eq!(counted["dimension"], dimension, "width {width}");
        }
    }

    #[test]
    fn five_heaps_of_width_two_lose_at_four_words() {
        let counted = moore(5, 2, 9);
        let expected = [("00000", 126), ("01111", 56), ("10011", 56), ("11100", 126)];
        assert_eq!(losing(&counted), expected.map(|(word, count)| (word.to_owned(), count)));
        assert_eq!([&counted["p_positions"], &counted["positions"]], [364, 2002]);
    }

    #[test]
    fn parity_words_settle_larger_caps() {
        for (max, positions) in [(11, 4368), (13, 8568)] {
            for width in 1..=4 {
                let counted = moore(5, width, max);
                assert_eq!([&counted["positions"], &counted["uniform_positions"]], [positions, positions]);
            }
        }
    }

    #[test]
    fn six_heaps_of_width_two_are_not_settled() {
        let counted = moore(6, 2, 7);
        assert_eq!(counted["words"].as_array().unwrap().len(), 64);
        assert_eq!(
            [&counted["uniform_words"], &counted["uniform_positions"], &counted["positions"]],
            [33, 792, 1716]
        );
        assert_eq!(count(&counted, "111000"), [84, 76]);
    }

    #[test]
    fn six_heaps_of_width_three_lose_at_four_words() {
        let counted = moore(6, 3, 7);
        assert_eq!(counted["uniform_words"], 64);
        let expected = [("000000", 84), ("001111", 28), ("110011", 28), ("111100", 84)];
        assert_eq!(losing(&counted), expected.map(|(word, count)| (word.to_owned(), count)));
    }

    #[test]
    fn even_totals_of_exact_slow_nim_lose_at_two_words() {
        let counted = json("census exact-slow --heaps 5 --width 2 --max 20");
        for row in counted["words"].as_array().unwrap() {
            let word = row["word"].as_str().unwrap();
            let even = word.bytes().filter(|&digit| digit == b'1').count() % 2 == 0;
            let loses = row["p_positions"] != 0;
            assert!(!even || loses == ["00000", "11110"].contains(&word), "{row}");
        }
    }
}
