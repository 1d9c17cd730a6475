//! `nimstrata bench` and `solve --predict` on tiny regions: what they print, and nothing about how long it takes.

mod common;

use common::program::{nimstrata, printed, refusal};
use serde_json::Value;

const SMALL: &str = "bounded-moore --heaps 4 --width 2 --max 12 --repeat 1";

fn output(arguments: &str) -> String {
    printed(nimstrata(arguments).assert())
}

fn json(arguments: &str) -> Value {
    serde_json::from_str(&output(&format!("{arguments} --json"))).unwrap()
}

fn refused(arguments: &str) -> String {
    refusal(nimstrata(arguments).assert(), 2)
}

#[test]
fn every_solver_has_a_row_and_finds_the_same() {
    for (game, solvers) in [
        (SMALL, 4),
        ("bounded-moore --heaps 4 --width 3 --max 9 --quantity remoteness --repeat 1", 4),
        ("fts --heaps 3 --forbid 5k --max 20 --repeat 2", 3),
        ("exact-slow --heaps 3 --width 2 --misere --max 9 --repeat 1", 4),
    ] {
        let report = json(&format!("bench {game} --threads 2"));
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), solvers, "{game}");
        // Such regions are small enough for the baseline as they are.
        for key in ["max", "positions", "p_positions"] {
            assert!(rows.iter().all(|row| row[key] == rows[0][key] && row[key].is_u64()), "{game}: {key}");
        }
        for row in rows {
            for key in ["seconds", "positions_per_second", "ratio", "scaled_by"] {
                assert!(row[key].as_f64().unwrap() > 0.0, "{game}: {key}");
            }
            let kernel = row["solver"] == "cpu";
            assert!(row["kernel_seconds"].is_null(), "{game}: no device has a clock here");
            for key in ["bytes_per_position", "copy_share", "words_per_cycle", "port_share"] {
                assert!(if kernel { row[key].is_f64() } else { row[key].is_null() }, "{game}: {key}");
            }
            // However little there is to do, no core loads more than it can.
            assert!(row["port_share"].as_f64().is_none_or(|share| share > 0.0 && share < 1.0), "{game}");
        }
        assert_eq!(rows[0]["solver"], "baseline");
        assert_eq!(rows[0]["ratio"], 1.0);
        assert!((5e7..2e10).contains(&report["clock_hertz"].as_f64().unwrap()), "{}", report["clock_hertz"]);
        assert_eq!(report["copies"].as_array().unwrap().len(), 2);
        assert_eq!(report["crossovers"], Value::Array(Vec::new()));
    }
}

#[test]
fn markdown_is_one_table() {
    let text = output(&format!("bench {SMALL} --threads 1 --markdown"));
    let rows = text.lines().take_while(|line| line.starts_with('|')).collect::<Vec<_>>();
    assert_eq!(rows.len(), 2 + 3, "{text}");
    let columns = rows[0].matches('|').count();
    assert!(rows.iter().all(|row| row.matches('|').count() == columns), "{text}");
    assert!(rows[2].starts_with("| `bounded-moore --heaps 4 --width 2` | baseline | 12 |"), "{text}");
    assert!(text.contains("\n\nBest of 1 run."), "{text}");
}

#[test]
fn text_has_a_heading_for_each_game() {
    let text = output(&format!("bench {SMALL} --threads 1"));
    let lines = text.lines().collect::<Vec<_>>();
    assert!(lines[0].trim_start().starts_with("solved by"), "{text}");
    assert_eq!(lines[1], "bounded-moore --heaps 4 --width 2");
    assert!(lines[2].starts_with("  baseline ") && lines[4].starts_with("  CPU, 1 thread "), "{text}");
    // What bounds the kernels is a second table.
    assert_eq!(lines[5], "");
    assert!(lines[6].starts_with("  solved by") && lines[6].ends_with("words/cycle  of the ports"), "{text}");
    assert_eq!(lines[7], lines[1]);
    assert!(lines[8].starts_with("  CPU, 1 thread ") && lines[8].ends_with(" %"), "{text}");
    assert!(lines[..10].iter().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    assert!(refused("bench --heaps 4").contains("required"));
    assert!(refused("bench bounded-moore --heaps 4 --width 2").contains("--max"));
    assert!(refused("bench fts --heaps 3 --max 9 --quantity remoteness").contains("--quantity remoteness"));
    nimstrata("bench --quick --adapter nothing").assert().code(3).stdout("");
}

#[test]
fn curves_are_csv_and_svg() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("curves");
    output(&format!("bench --growth {} --quick --repeat 1 --threads 1", path.display()));
    for stem in ["growth-cap", "growth-heaps"] {
        let csv = std::fs::read_to_string(path.join(format!("{stem}.csv"))).unwrap();
        let columns = csv.lines().next().unwrap().split(',').count();
        assert!(
            csv.lines().count() > 5 && csv.lines().all(|line| line.split(',').count() == columns),
            "{csv}"
        );
        let svg = std::fs::read_to_string(path.join(format!("{stem}.svg"))).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
    }
}

#[test]
fn a_prediction_solves_nothing_and_counts_all() {
    let game = "solve bounded-moore --heaps 5 --width 2 --max 300";
    let predicted = json(&format!("{game} --predict"));
    assert_eq!([&predicted["positions"], &predicted["strata"]], [21_281_794_436_u64, 1501]);
    for key in ["host_memory_bytes", "predicted_seconds", "calibrated_on_positions", "positions_per_second"] {
        assert!(predicted[key].as_f64().unwrap() > 0.0, "{key}");
    }
    assert!(predicted["device_memory_bytes"].is_null() && predicted["p_positions"].is_null());
    assert!(output(&format!("{game} --predict")).contains("an estimate"));
    assert!(refused(&format!("{game} --predict --digest")).contains("--digest"));
    // No more is allowed than a solve could have.
    nimstrata(&format!("{game} --predict --memory 1M")).assert().code(3);
}
