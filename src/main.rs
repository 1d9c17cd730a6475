//! The command line of nimstrata: parse, run, map the error to an exit code.

mod cli;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    quiet_drivers();
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

/// Some Vulkan drivers print a line that looks like an error of ours where this variable is not set.
#[allow(unsafe_code, reason = "there is no safe way to set an environment variable")]
fn quiet_drivers() {
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no other thread has been started yet that could read the environment.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", std::env::temp_dir()) };
    }
}
