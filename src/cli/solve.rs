//! `nimstrata solve`: counts the P-positions of a region.

use std::fmt;

use nimstrata::Result;
use nimstrata::observe::Digest;
use nimstrata::solver::Observer;
use serde::Serialize;

use super::game::GameArgs;
use super::output::{Lines, OutputArgs};
use super::report::Report;
use super::solving::SolvingArgs;

/// Solve every position of a region and count the P-positions
#[derive(clap::Args)]
#[command(after_help = "Example: five heaps up to 200, one stone from each of one or two heaps\n  \
    nimstrata solve bounded-moore --heaps 5 --width 2 --max 200")]
pub struct Args {
    #[command(flatten)]
    game: GameArgs,
    /// Print a digest of all verdicts, the same on every backend
    #[arg(long)]
    digest: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    solving: SolvingArgs,
}

#[derive(Serialize)]
struct SolveReport {
    #[serde(flatten)]
    region: Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

impl Args {
    /// Solves and prints.
    pub fn run(self) -> Result<()> {
        let (game, region) = self.game.validated()?;
        let solving = self.solving.validated()?;
        let mut digest = self.digest.then(Digest::default);
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(digest.as_mut().map(|digest| digest as &mut dyn Observer));
        let solved = solving.run(&game.rules, &region, &mut observers)?;
        let digest = digest.map(|digest| digest.hex());
        self.output.print(&SolveReport { region: Report::new(&game, &region, solved), digest })
    }
}

impl fmt::Display for SolveReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines::default();
        self.region.add_region(&mut lines);
        self.region.add_counts(&mut lines);
        self.region.add_cost(&mut lines);
        if let Some(digest) = &self.digest {
            lines.add("digest", &**digest);
        }
        lines.fmt(out)
    }
}
