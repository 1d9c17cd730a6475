//! The command line: what can be said, one file for each subcommand, and how results are shown. No solving here.
//!
//! Each subcommand has a clap type for what was typed, turns it into the library's validated types, solves through
//! [`solving`], and builds a report that is both serialised (`--json`) and displayed.
//!
//! To add a game: one variant in [`game::GameName`], and one arm in each of its methods.

mod bench;
mod census;
mod check;
mod completion;
mod devices;
mod exceptions;
mod export;
mod figures;
mod game;
mod interrupt;
mod number;
mod output;
mod play;
mod predict;
mod progress;
mod query;
mod render;
mod report;
mod solve;
mod solving;
mod stored;
mod verify;
mod work;

use std::io::Write;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::{Parser, Subcommand};
use nimstrata::Result;

/// Solves whole families of heap games in bulk, on the GPU or the CPU.
#[derive(Parser)]
#[command(version, max_term_width = 100, disable_help_subcommand = true, arg_required_else_help = true)]
#[command(after_help = "Example: count the parity words of five heaps up to a hundred\n  \
    nimstrata census bounded-moore --heaps 5 --width 2 --max 100\n\n\
    Exit codes: 0 done, 1 a check failed, 2 bad usage or input, 3 no device or not enough memory or disk,\n\
    4 damaged data, 130 interrupted.")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Solve(solve::Args),
    Census(census::Args),
    Query(query::Args),
    Completion(completion::Args),
    Exceptions(exceptions::Args),
    Check(check::Args),
    Verify(verify::Args),
    Export(export::Args),
    Render(render::Args),
    Bench(bench::Args),
    Devices(devices::Args),
}

impl Cli {
    /// Does what was asked for.
    ///
    /// # Errors
    /// Whatever the library reports; the message is for the user as it is.
    pub fn run(self) -> Result<()> {
        match self.command {
            Command::Solve(args) => args.run(),
            Command::Census(args) => args.run(),
            Command::Query(args) => args.run(),
            Command::Completion(args) => args.run(),
            Command::Exceptions(args) => args.run(),
            Command::Check(args) => args.run(),
            Command::Verify(args) => args.run(),
            Command::Export(args) => args.run(),
            Command::Render(args) => args.run(),
            Command::Bench(args) => args.run(),
            Command::Devices(args) => args.run(),
        }
    }
}

/// Says why the command line could not be used, or shows the help or version that was asked for.
pub fn refuse(mut unusable: clap::Error) -> ExitCode {
    if unusable.use_stderr() {
        // The help that is shown when no command is given is no message of ours.
        let help = unusable.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
        // It would be "to pass '--max' as a value, use '-- --max'", which is never what was meant here.
        unusable.remove(ContextKind::Suggested);
        // Where standard error is closed there is nobody to tell.
        let _ = write!(std::io::stderr(), "{}{}", if help { "" } else { "nimstrata: " }, unusable.render());
    } else {
        // A closed pipe is no error.
        let _ = unusable.print();
    }
    ExitCode::from(unusable.exit_code() as u8)
}
