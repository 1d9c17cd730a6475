//! `nimstrata render`: pictures of a store, as slices or as density maps.

mod density;
pub mod slices;

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nimstrata::density::Density;
use nimstrata::error::bytes;
use nimstrata::output_file::OutputFile;
use nimstrata::picture::{self, Chart, Legend};
use nimstrata::space::Coordinate;
use nimstrata::store::Store;
use nimstrata::{Error, Result};
use serde::Serialize;

use super::figures::{counted, grouped, share, time};
use super::game::Game;
use super::output::{Lines, OutputArgs};
use super::report::About;
use super::solving::{Solving, SolvingArgs};
use super::{interrupt, number};
use density::parse_coordinates;
use slices::Fixed;

/// No picture is larger each way: what draws pictures on a screen seldom takes more.
const MOST_PIXELS: u32 = 16_384;

/// Draw slices or a density map of a store
///
/// A slice shows the full square of two heaps, x to the right and y up, with the others fixed by --fix: P- and
/// N-positions, or the remoteness if the store holds it. Each heap that is fixed has one size or a range of sizes; all
/// slices that come of it, and of further --fix, stand on one sheet.
///
/// A density map shows which share of the positions are P-positions, by two coordinates: 1 for the largest heap, 2 for
/// the second largest and so on, or total. A file that ends in .npy holds the shares as 16-bit floats with an axis for
/// each coordinate in the order given, NaN where there are no positions. It is counted on the CPU unless --backend gpu or
/// --adapter is given.
///
/// The command, the rules and a description are in each picture's text chunks.
#[derive(clap::Args)]
#[command(after_help = "Example: nine slices on one sheet\n  \
    nimstrata solve fts --heaps 3 --forbid 5k --max 100 --out nim5\n  \
    nimstrata render nim5 --fix 0..8 --out nim5.png")]
pub struct Args {
    /// A folder that `nimstrata solve --out` has written
    #[arg(value_name = "DIR")]
    store: PathBuf,
    /// The sizes of all heaps but two, such as 3 or 0..8 for three heaps, 2,5 or 2,0..8 for four; may be repeated
    #[arg(long, value_name = "SIZES", value_parser = Fixed::parse, allow_hyphen_values = true)]
    fix: Vec<Fixed>,
    /// Draw slices up to this size of the two heaps [default: the store's]
    #[arg(long, value_name = "CAP", value_parser = number::total, allow_hyphen_values = true)]
    max: Option<u64>,
    /// Draw a density map instead: two coordinates, to the right and up, such as 1,2 or 2,total
    #[arg(long, value_name = "C,C", value_parser = parse_coordinates, conflicts_with_all = ["fix", "max"])]
    density: Option<[Coordinate; 2]>,
    /// The file to write: .png, or .npy for a density map; may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    out: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    solving: SolvingArgs,
}

/// A file to be written.
struct Target {
    path: PathBuf,
    file: OutputFile,
    /// Whether it is numbers and not a picture.
    npy: bool,
}

impl Target {
    fn create(path: PathBuf, npy_allowed: bool) -> Result<Self> {
        let npy = match path.extension().and_then(|ending| ending.to_str()) {
            Some("png") => false,
            Some("npy") if npy_allowed => true,
            _ if npy_allowed => return Err(Error::Format { path, known: ".png or .npy" }),
            _ => return Err(Error::Format { path, known: ".png" }),
        };
        Ok(Self { file: OutputFile::create(&path)?, path, npy })
    }

    fn create_all(paths: Vec<PathBuf>, npy_allowed: bool) -> Result<Vec<Self>> {
        paths.into_iter().map(|path| Self::create(path, npy_allowed)).collect()
    }
}

impl Args {
    /// Reads the store and draws.
    pub fn run(mut self) -> Result<()> {
        let solving = self.solving.validated()?;
        let store = Store::open(&self.store)?;
        let game = Game::stored(&store);
        let show = Show { store: &store, game: &game, solving: &solving, folder: &self.store };
        self.out.dedup();
        let _requests = interrupt::Guard::new();
        let report = match self.density {
            Some(axes) => {
                store.check()?;
                show.density(axes, self.out)?
            }
            None => show.slices(&self.fix, self.max, self.out)?,
        };
        self.output.print(&report)
    }
}

/// What every picture of a store has in common.
struct Show<'a> {
    store: &'a Store,
    game: &'a Game,
    solving: &'a Solving,
    folder: &'a Path,
}

impl Show<'_> {
    /// Writes all files, and returns their names and sizes.
    fn write(
        &self,
        targets: Vec<Target>,
        chart: &Chart<'_>,
        description: &str,
        options: &str,
        density: Option<&Density>,
    ) -> Result<Vec<(String, u64)>> {
        let ruleset = self.game.options(self.store.region());
        let written = targets.into_iter().map(|target| {
            let name = target.path.display().to_string();
            let command = format!("nimstrata render {}{options} --out {name}", self.folder.display());
            let legend = Legend { description, command: &command, ruleset: &ruleset };
            let mut watch =
                |_| if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            let size = target.file.write(&mut watch, |out| match density {
                Some(density) if target.npy => density.write_npy(out),
                _ => picture::write_png(out, chart, &legend),
            })?;
            Ok((name, size))
        });
        written.collect()
    }

    /// The rules and the region in a sentence.
    fn about(&self) -> String {
        let region = self.store.region();
        format!("{}, every heap up to {}", self.game.words(), region.max())
    }

    fn report(&self, start: Instant, files: Vec<(String, u64)>) -> RenderReport {
        RenderReport {
            about: About::new(self.game, self.store.region(), self.store.quantity()),
            slices: None,
            density: None,
            counted: None,
            seconds: start.elapsed().as_secs_f64(),
            files: files.iter().map(|(name, _)| name.clone()).collect(),
            sizes: files.into_iter().map(|(_, size)| size).collect(),
        }
    }
}

/// Refuses a picture that is too large.
fn check_size(chart: &Chart<'_>, remedy: &str) -> Result<()> {
    let size = match picture::pixels(chart, MOST_PIXELS) {
        Some([width, height]) if width.max(height) <= MOST_PIXELS => return Ok(()),
        Some([width, height]) => format!("{width} x {height}"),
        None => {
            let rows = chart.captions.len().div_ceil(chart.columns) as u64;
            let [width, height] = chart.size.map(u64::from);
            format!("more than {} x {}", width * chart.columns as u64, height * rows)
        }
    };
    Err(Error::PictureSize { size, most: MOST_PIXELS, remedy: remedy.to_owned() })
}

#[derive(Serialize)]
struct RenderReport {
    #[serde(flatten)]
    about: About,
    /// How many slices were drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    slices: Option<usize>,
    /// The coordinates of a density map.
    #[serde(skip_serializing_if = "Option::is_none")]
    density: Option<[String; 2]>,
    #[serde(flatten)]
    counted: Option<Counted>,
    seconds: f64,
    files: Vec<String>,
    #[serde(skip)]
    sizes: Vec<u64>,
}

/// What a density map counted.
#[derive(Serialize)]
struct Counted {
    positions: u64,
    p_positions: u64,
    greatest_share: f64,
    backend: &'static str,
    adapter: Option<String>,
    #[serde(skip)]
    software: bool,
}

impl Counted {
    fn new(density: &Density) -> Self {
        let [positions, p_positions] = density.sums();
        let (adapter, software) = density.adapter().unzip();
        Self {
            positions,
            p_positions,
            greatest_share: density.greatest(),
            backend: if adapter.is_some() { "gpu" } else { "cpu" },
            adapter: adapter.map(str::to_owned),
            software: software.unwrap_or(false),
        }
    }
}

impl fmt::Display for RenderReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines::default();
        self.about.add(&mut lines);
        if let Some(slices) = self.slices {
            lines.add("shown", format!("{} of the {}", counted(slices as u64, "slice"), self.about.quantity));
        }
        if let (Some([right, up]), Some(map)) = (&self.density, &self.counted) {
            lines.add("shown", format!("share of P-positions by {right} and {up}"));
            let share = share(map.p_positions, map.positions);
            lines.add(
                "P-positions",
                format!("{} of {} ({share})", grouped(map.p_positions), grouped(map.positions)),
            );
            match &map.adapter {
                Some(name) if map.software => {
                    lines.add("counted on", format!("{name}, a software adapter: this CPU posing as a GPU"));
                }
                Some(name) => lines.add("counted on", name),
                None => lines.add("counted on", "the CPU"),
            }
        }
        lines.add("time", time(Duration::from_secs_f64(self.seconds)));
        for (index, (file, &size)) in self.files.iter().zip(&self.sizes).enumerate() {
            lines.add(if index == 0 { "written" } else { "" }, format!("{file}, {}", bytes(size.into())));
        }
        lines.fmt(out)
    }
}
