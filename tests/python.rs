//! Stores and boxes as numpy reads them: by a solver of a few lines of Python, and by the example script.
//!
//! Where there is no Python with numpy, each test says so and passes; `NIMSTRATA_PYTHON` names another Python.

mod common;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::program::{Workshop, process};
use nimstrata::game::Ruleset;
use nimstrata::solver::Quantity;
use nimstrata::space::Region;

fn python() -> Command {
    let mut python = Command::new(std::env::var_os("NIMSTRATA_PYTHON").unwrap_or_else(|| "python3".into()));
    // Nothing is left beside the scripts.
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    python
}

/// Whether there is a Python with numpy; says so if there is none.
fn has_numpy() -> bool {
    let there = python().args(["-c", "import numpy"]).output().is_ok_and(|run| run.status.success());
    if !there {
        // Written past the test harness, which would show it for tests that fail only.
        let _ =
            writeln!(io::stderr(), "no Python with numpy here: nothing was tested (Debian: python3-numpy)");
    }
    there
}

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// What a command that succeeds prints.
fn output(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// Solves, exports, and lets Python compare both with the definition.
fn agrees(rules: &Ruleset, region: &Region, quantity: Quantity) {
    if !has_numpy() {
        return;
    }
    let workshop = Workshop::solving(rules, region, quantity);
    for arguments in ["export store --out box.npy", "export store --out packed.npy --packed"] {
        output(process(arguments.split(' ')).current_dir(workshop.folder()));
    }
    let mut check = python();
    check.arg(in_repository("tests/check_store.py")).args(["store", "box.npy", "packed.npy"]);
    let said = output(check.current_dir(workshop.folder()));
    let (positions, strata) = (region.positions(), region.strata().end);
    assert_eq!(said, format!("{positions} positions in {strata} strata agree\n"));
}

#[test]
fn bounded_moore_in_numpy_is_by_definition() {
    let rules = Ruleset::bounded_moore(4, 2).unwrap();
    agrees(&rules, &Region::new(4, 7).unwrap(), Quantity::Verdict);
    let bounded = Region::new(3, 9).unwrap().up_to_total(17);
    agrees(&Ruleset::bounded_moore(3, 2).unwrap().with_misere(true), &bounded, Quantity::Verdict);
}

#[test]
fn exact_slow_in_numpy_is_by_definition() {
    let rules = Ruleset::exact_slow(4, 3).unwrap().with_misere(true);
    agrees(&rules, &Region::new(4, 7).unwrap(), Quantity::Verdict);
    agrees(&rules, &Region::new(4, 7).unwrap().up_to_total(20), Quantity::Remoteness);
    // Two bytes a position.
    let long = Ruleset::exact_slow(2, 1).unwrap();
    agrees(&long, &Region::new(2, 130).unwrap(), Quantity::Remoteness);
}

#[test]
fn fts_in_numpy_is_by_definition() {
    let rules = Ruleset::forbidden_total_size(3).unwrap().with_forbidden("5k,7..8".parse().unwrap());
    agrees(&rules, &Region::new(3, 12).unwrap(), Quantity::Verdict);
}

#[test]
fn the_example_looks_positions_up_and_draws_slices() {
    if !has_numpy() {
        return;
    }
    let rules = Ruleset::forbidden_total_size(3).unwrap();
    let workshop = Workshop::solving(&rules, &Region::new(3, 20).unwrap(), Quantity::Verdict);
    let example = |arguments: &str| {
        let mut python = python();
        python.arg(in_repository("examples/read_store.py")).args(arguments.split(' '));
        output(python.current_dir(workshop.folder()))
    };
    assert_eq!(example("store --position 3,1,2"), "P-position\n");
    assert_eq!(example("store --position 3,1,3"), "N-position\n");
    let said = example("store --slice 5 --out slice.png");
    let file = said.trim().strip_prefix("wrote ").unwrap();
    let picture = workshop.read(file);
    if file == "slice.pbm" {
        let mut export = process(["export", "store", "--fix", "5", "--out", "own.pbm"]);
        output(export.current_dir(workshop.folder()));
        assert!(workshop.read("own.pbm") == picture, "another picture than export's");
    } else {
        assert!(picture.starts_with(b"\x89PNG"));
    }

    let rules = Ruleset::exact_slow(4, 3).unwrap().with_misere(true);
    let workshop = Workshop::solving(&rules, &Region::new(4, 9).unwrap(), Quantity::Remoteness);
    let mut python = python();
    python.arg(in_repository("examples/read_store.py")).args(["store", "--position", "5,4,4,3"]);
    // As the README has it.
    assert_eq!(output(python.current_dir(workshop.folder())), "N-position, R = 5\n");
}
