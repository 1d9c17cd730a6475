//! The program as tests run it: on a machine without any GPU driver, in a terminal of 100 columns.

use std::path::{Path, PathBuf};
use std::process;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use nimstrata::game::Ruleset;
use nimstrata::solver::Quantity;
use nimstrata::space::Region;
use nimstrata::store::Store;
use tempfile::TempDir;

/// Where the program is.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_nimstrata");

/// The program with these arguments, to be started.
pub fn process<'a>(arguments: impl IntoIterator<Item = &'a str>) -> process::Command {
    hiding_drivers(process::Command::new(PROGRAM), arguments)
}

/// Another program with these arguments, which starts this one.
pub fn hiding_drivers<'a>(
    mut command: process::Command,
    arguments: impl IntoIterator<Item = &'a str>,
) -> process::Command {
    command.args(arguments).env("COLUMNS", "100");
    for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        command.env(variable, "/nonexistent");
    }
    command
}

/// The program with these arguments, split at blanks, to be judged.
pub fn nimstrata(arguments: &str) -> Command {
    Command::from_std(process(arguments.split_whitespace()))
}

/// What a run prints that succeeds without a word on standard error.
pub fn printed(run: Assert) -> String {
    let run = run.success().stderr("");
    String::from_utf8(run.get_output().stdout.clone()).unwrap()
}

/// What a run says on standard error that prints nothing and ends with this code.
pub fn refusal(run: Assert, code: i32) -> String {
    let run = run.code(code).stdout("");
    String::from_utf8(run.get_output().stderr.clone()).unwrap()
}

/// A folder with a store in it, named `store`.
pub struct Workshop(TempDir);

impl Workshop {
    /// Solves and stores a region.
    pub fn solving(rules: &Ruleset, region: &Region, quantity: Quantity) -> Self {
        let workshop = Self(tempfile::tempdir().unwrap());
        super::write_store(&workshop.path("store"), rules, region, quantity);
        workshop
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    /// Where a file of the folder is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn store(&self) -> Store {
        Store::open(&self.path("store")).unwrap()
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Runs the program in the folder.
    pub fn run(&self, arguments: &str) -> Assert {
        nimstrata(arguments).current_dir(self.folder()).assert()
    }

    /// Asserts that a run prints nothing but this message, ends with this code, and leaves the folder as it was.
    pub fn refused(&self, arguments: &str, code: i32, message: &str) {
        let before = self.names();
        let errors = refusal(self.run(arguments), code);
        let said = errors.strip_prefix("nimstrata: ").unwrap_or_else(|| panic!("{arguments}: {errors}"));
        let said = said.strip_prefix("error: ").unwrap_or(said);
        assert!(said.starts_with(message), "{arguments}: {errors}");
        assert_eq!(self.names(), before, "{arguments}");
    }

    /// The names of what is in the folder.
    pub fn names(&self) -> Vec<std::ffi::OsString> {
        let entries = std::fs::read_dir(self.folder()).unwrap();
        let mut names = entries.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        names.sort();
        names
    }
}
