//! The command line of nimstrata: parse, run, map the error to an exit code.

mod cli;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let error = match cli::Cli::try_parse() {
        Err(unusable) => return cli::refuse(unusable),
        Ok(cli) => match cli.run() {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => error,
        },
    };
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "nimstrata: error: {error}");
    ExitCode::from(error.exit_code())
}
