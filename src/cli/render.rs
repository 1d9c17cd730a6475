//! `nimstrata render`: pictures of a store, as slices or as density maps.

use std::cell::RefCell;
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nimstrata::density::Density;
use nimstrata::error::bytes;
use nimstrata::output_file::OutputFile;
use nimstrata::picture::{self, Chart, Key, Legend};
use nimstrata::slice::{Seen, Slices};
use nimstrata::solver::Quantity;
use nimstrata::space::{Coordinate, Region};
use nimstrata::store::Store;
use nimstrata::{Error, Result};
use serde::Serialize;

use super::figures::{counted, grouped, sentence, share, time};
use super::game::Game;
use super::output::{Lines, OutputArgs};
use super::progress::Bar;
use super::solving::{Solving, SolvingArgs};
use super::{interrupt, number};

/// No picture is larger each way: what draws pictures on a screen seldom takes more.
const MOST_PIXELS: u32 = 16_384;
/// No picture has more slices.
const MOST_SLICES: u64 = 1024;
/// Shares are drawn in steps of one over this.
const SHARE_UNIT: u32 = 1_000_000;
/// One in so many cells of a map may be beyond the key at each of its ends.
const BEYOND_KEY: usize = 20;

/// The colours of N, P₁ and P₀, such that colour-blind people can tell them apart (after Okabe and Ito).
const N: [u8; 3] = [232, 232, 232];
const P1: [u8; 3] = [0, 90, 178];
const P0: [u8; 3] = [230, 90, 0];
/// What is no position.
const OUTSIDE: [u8; 3] = [255; 3];

/// Draw slices or a density map of a store
///
/// A slice shows the full square of two heaps, x to the right and y up, with the others fixed by --fix: P- and
/// N-positions, or the remoteness if the store holds it. Each heap that is fixed has one size or a range of sizes; all
/// slices that come of it, and of further --fix, stand on one sheet.
///
/// A density map shows which share of the positions are P-positions, by two coordinates: 1 for the largest heap, 2 for
/// the second largest and so on, or total. A file that ends in .npy holds the shares as 16-bit floats with an axis for
/// each coordinate in the order given, NaN where there are no positions.
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

/// The fixed heaps of some slices: for each heap the first and the last size.
#[derive(Clone)]
struct Fixed {
    text: String,
    ranges: Vec<[u64; 2]>,
}

impl Fixed {
    /// Reads such as `2,0..8`.
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let range = |part: &str| {
            let (first, last) = part.split_once("..").unwrap_or((part, part));
            let range = [number::total(first.trim())?, number::total(last.trim())?];
            match range {
                [first, last] if first > last => Err(format!("the range {part} is empty")),
                range => Ok(range),
            }
        };
        let ranges = text.split(',').map(|part| range(part.trim())).collect::<std::result::Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), ranges })
    }

    fn slices(&self) -> u64 {
        let sizes = |&[first, last]: &[u64; 2]| (last - first).saturating_add(1);
        self.ranges.iter().map(sizes).fold(1, u64::saturating_mul)
    }

    /// The sizes of each slice, all of which the region has.
    fn given(&self, region: &Region) -> Result<Vec<Vec<u32>>> {
        let refuse = |reason| Err(Error::Slice { given: self.text.clone(), reason });
        let needed = region.heaps() as usize - 2;
        if self.ranges.len() != needed {
            let heaps = region.heaps();
            let example = vec!["0"; needed].join(",");
            return refuse(match needed {
                0 => "its positions have 2 heaps, which both vary; leave it out".to_owned(),
                _ => format!(
                    "its positions have {heaps} heaps, of which two vary, so it takes {}, such as {example}, and not {}",
                    counted(needed as u64, "size"),
                    self.ranges.len()
                ),
            });
        }
        if let Some([_, last]) = self.ranges.iter().find(|[_, last]| *last > u64::from(region.max())) {
            return refuse(format!("its heaps go up to {}, and not to {last}", region.max()));
        }
        let last_total = u64::from(region.strata().end) - 1;
        let greatest = self.ranges.iter().map(|[_, last]| last).sum::<u64>();
        if greatest > last_total {
            return refuse(format!(
                "its totals go up to {last_total}, and these heaps have {greatest} stones"
            ));
        }
        let mut given = vec![Vec::new()];
        for &[first, last] in &self.ranges {
            let longer = |heaps: Vec<u32>| {
                (first as u32..=last as u32).map(move |heap| [heaps.as_slice(), &[heap]].concat())
            };
            given = given.into_iter().flat_map(longer).collect();
        }
        Ok(given)
    }
}

/// Reads such as `2,total`.
fn parse_coordinates(text: &str) -> std::result::Result<[Coordinate; 2], String> {
    let coordinate = |part: &str| match part.trim() {
        "total" => Ok(Coordinate::Total),
        "0" => Err("heaps are numbered from 1, the largest".to_owned()),
        heap => number::count(heap).map(Coordinate::Heap),
    };
    let parts = text.split(',').map(coordinate).collect::<std::result::Result<Vec<_>, _>>()?;
    parts.try_into().map_err(|_| "give two coordinates, such as 1,2 or 2,total".to_owned())
}

/// How a coordinate is written.
fn name(axis: Coordinate) -> String {
    match axis {
        Coordinate::Heap(heap) => heap.to_string(),
        Coordinate::Total => "total".to_owned(),
    }
}

/// What a coordinate is, in words.
fn words(axis: Coordinate, heaps: u32) -> String {
    match axis {
        Coordinate::Total => "total".to_owned(),
        Coordinate::Heap(_) if heaps == 1 => "heap".to_owned(),
        Coordinate::Heap(1) => "largest heap".to_owned(),
        Coordinate::Heap(heap) if heap == heaps => "smallest heap".to_owned(),
        Coordinate::Heap(2) => "2nd largest heap".to_owned(),
        Coordinate::Heap(3) => "3rd largest heap".to_owned(),
        Coordinate::Heap(heap) => format!("{heap}th largest heap"),
    }
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
}

impl Args {
    /// Reads the store and draws.
    pub fn run(mut self) -> Result<()> {
        let solving = self.solving.validated()?;
        let store = Store::open(&self.store)?;
        let game = Game::of(store.rules().clone());
        let show = Show { store: &store, game: &game, solving: &solving, folder: &self.store };
        self.out.dedup();
        let _requests = interrupt::Guard::new();
        let report = match self.density {
            Some(axes) => show.density(axes, self.out)?,
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
    /// Draws slices.
    fn slices(&self, fix: &[Fixed], max: Option<u64>, out: Vec<PathBuf>) -> Result<RenderReport> {
        let region = self.store.region();
        let cap = u32::try_from(max.unwrap_or(u64::MAX)).map_or(region.max(), |max| max.min(region.max()));
        let given = self.given(fix)?;
        let (given, columns) = (&given, columns(fix, given.len()));
        let caption = |heaps: &Vec<u32>| {
            let heaps = heaps.iter().map(|heap| format!(",{heap}")).collect::<String>();
            format!("(x,y{heaps})")
        };
        let captions = given.iter().map(caption).collect::<Vec<_>>();
        let targets = out.into_iter().map(|path| Target::create(path, false)).collect::<Result<Vec<_>>>()?;

        let start = Instant::now();
        let slices = Slices::new(self.store, given.clone());
        let values = u64::from(cap + 1) * u64::from(cap + 1) * slices.count() as u64;
        let bar = RefCell::new(Bar::counting(values, "positions", self.solving.quiet()));
        let step = |done: u64| bar.borrow_mut().update(done, || format!("{} positions", grouped(done)));
        let greatest = slices.greatest(cap, &mut |slice| {
            step(u64::from(cap + 1) * u64::from(cap + 1) * slice as u64);
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let value = |slice: usize, x: u32, y: u32| {
            // What is cut short here is given up at the next write.
            let seen = if interrupt::asked() { None } else { slices.at(slice, x, y)?.into() };
            seen.map(|seen| match seen {
                Seen::N => 0,
                Seen::P1 => 1,
                Seen::P0 => 2,
                Seen::Remoteness(remoteness) => remoteness,
            })
        };
        let what = what_is_seen(self.store.quantity(), captions.len());
        let title = match captions.as_slice() {
            [only] => format!("{what} {only}"),
            _ => what.to_owned(),
        };
        let (words, about, names) = (sentence(&self.game.words()), self.about(), self.names());
        let chart = Chart {
            title: &[&title, &words],
            size: [cap + 1; 2],
            axes: ["x", "y"],
            captions: if captions.len() == 1 { &[String::new()] } else { &captions },
            columns,
            key: match greatest {
                Some(most) => Key::Scale { name: "R", least: 0, most, unit: 1, none: self.outside() },
                None => Key::Names(&names),
            },
            value: &value,
        };
        self.check_size(&chart, captions.len())?;
        let description = format!(
            "{title} for {}, {about}. x to the right and y up, both from 0 in the lower left corner to {cap}.",
            captions.join(", ")
        );
        let fix = fix.iter().map(|fix| format!(" --fix {}", fix.text)).collect::<String>();
        let options = format!("{fix}{}", max.map(|max| format!(" --max {max}")).unwrap_or_default());
        let files = self.write(targets, &chart, &description, &options, None)?;
        Ok(RenderReport { slices: Some(captions.len()), ..self.report(start, files) })
    }

    /// The fixed heaps of all slices.
    fn given(&self, fix: &[Fixed]) -> Result<Vec<Vec<u32>>> {
        let region = self.store.region();
        if region.heaps() == 1 || (region.heaps() > 2 && fix.is_empty()) {
            return Err(Error::NoSlice { heaps: region.heaps() });
        }
        if fix.is_empty() {
            return Ok(vec![Vec::new()]);
        }
        let slices = fix.iter().map(Fixed::slices).fold(0, u64::saturating_add);
        if slices > MOST_SLICES && fix.iter().all(|fix| fix.ranges.len() as u32 + 2 == region.heaps()) {
            let given = fix.iter().map(|fix| fix.text.as_str()).collect::<Vec<_>>().join(" --fix ");
            let reason = format!("it is {}, and a sheet has up to {MOST_SLICES}", counted(slices, "slice"));
            return Err(Error::Slice { given, reason });
        }
        fix.iter().map(|fix| fix.given(region)).collect::<Result<Vec<_>>>().map(|all| all.concat())
    }

    /// The names of what a slice of verdicts shows.
    fn names(&self) -> Vec<(&'static str, [u8; 3])> {
        let names = if self.game.rules.forbidden.is_empty() {
            [("N", N), ("P", P1), ("", OUTSIDE)]
        } else {
            [("N", N), ("P1, at allowed totals", P1), ("P0, at forbidden totals", P0)]
        };
        let bounded = self.outside().map(|outside| (outside, OUTSIDE));
        names.into_iter().filter(|(name, _)| !name.is_empty()).chain(bounded).collect()
    }

    /// The name of what is outside the region, where the total is bounded and slices have such a corner.
    fn outside(&self) -> Option<&'static str> {
        let region = self.store.region();
        (region.strata().end - 1 < region.heaps() * region.max()).then_some("total too large")
    }

    /// Counts a density map, and draws it.
    fn density(&self, axes: [Coordinate; 2], out: Vec<PathBuf>) -> Result<RenderReport> {
        let region = self.store.region();
        let outside = |axis: &Coordinate| match *axis {
            Coordinate::Heap(heap) => heap == 0 || heap > region.heaps(),
            Coordinate::Total => false,
        };
        if let Some(&axis) = axes.iter().find(|axis| outside(axis)) {
            return Err(Error::Coordinate { coordinate: name(axis), heaps: region.heaps() });
        }
        let targets = out.into_iter().map(|path| Target::create(path, true)).collect::<Result<Vec<_>>>()?;
        let [right, up] = axes.map(|axis| words(axis, region.heaps()));
        let size = axes.map(|axis| axis.values(region));
        let captions = [String::new()];
        let chart = |title, none, [least, most]: [u32; 2], value| Chart {
            title,
            size,
            axes: [&right, &up],
            captions: &captions,
            columns: 1,
            key: Key::Scale { name: "share", least, most, unit: SHARE_UNIT, none },
            value,
        };
        if targets.iter().any(|target| !target.npy) {
            // Before everything is counted.
            self.check_size(&chart(&["", ""], None, [0, SHARE_UNIT], &|_, _, _| None), 1)?;
        }

        let start = Instant::now();
        let density = self.count(axes)?;
        let units = |share: f64| (share * f64::from(SHARE_UNIT)).round() as u32;
        let value = |_: usize, first, second| density.share([first, second]).map(units);
        let cells = (0..size[0]).flat_map(|first| (0..size[1]).map(move |second| (first, second)));
        let mut shown = cells.filter_map(|(first, second)| value(0, first, second)).collect::<Vec<_>>();
        let all = shown.len() as u64;
        let none = (all < u64::from(size[0]) * u64::from(size[1])).then_some("no position");
        let (ends, beyond) = ends_of_key(&mut shown);
        let title = format!("Share of P-positions by {right} and {up}");
        let of = format!("of {} {}", counted(all, "cell"), if beyond == 1 { "is" } else { "are" });
        let clipped = match beyond {
            0 => String::new(),
            _ => format!("{} {of} beyond the ends of the key", grouped(beyond as u64)),
        };
        let (words, about) = (sentence(&self.game.words()), self.about());
        let mut lines = vec![title.as_str(), &words];
        lines.extend((beyond > 0).then_some(clipped.as_str()));
        let chart = chart(&lines, none, ends, &value);
        let description = format!(
            "{title}, {about}. {} to the right, {up} up, both from 0 in the lower left corner{}{clipped}.",
            sentence(&right),
            if beyond > 0 { "; " } else { "" }
        );
        let options = format!(" --density {}", axes.map(name).join(","));
        let files = self.write(targets, &chart, &description, &options, Some(&density))?;
        let [positions, p_positions] = density.sums();
        let report = self.report(start, files);
        let (adapter, software) = density.adapter().unzip();
        Ok(RenderReport {
            density: Some(axes.map(name)),
            counted: Some(Counted {
                positions,
                p_positions,
                greatest_share: density.greatest(),
                backend: if adapter.is_some() { "gpu" } else { "cpu" },
                adapter: adapter.map(str::to_owned),
                software: software.unwrap_or(false),
            }),
            ..report
        })
    }

    /// Counts with a progress bar.
    fn count(&self, axes: [Coordinate; 2]) -> Result<Density> {
        let region = self.store.region();
        let all = region.positions();
        let mut bar = Bar::counting(all, "positions", self.solving.quiet());
        Density::count(self.store, region, axes, self.solving.options(), &mut |done| {
            bar.update(done, || format!("{} of {}", grouped(done), counted(all, "position")));
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    /// Refuses a picture that is too large.
    fn check_size(&self, chart: &Chart<'_>, slices: usize) -> Result<()> {
        let size = match picture::pixels(chart, MOST_PIXELS) {
            Some([width, height]) if width.max(height) <= MOST_PIXELS => return Ok(()),
            Some([width, height]) => format!("{width} x {height}"),
            None => {
                let rows = slices.div_ceil(chart.columns);
                let least = |size: u32, count: usize| u64::from(size) * count as u64;
                let [width, height] = [least(chart.size[0], chart.columns), least(chart.size[1], rows)];
                format!("more than {width} x {height}")
            }
        };
        let remedy = match slices {
            _ if chart.captions[0].is_empty() && chart.axes != ["x", "y"] => "--out to an .npy file works",
            1 => "a smaller --max works",
            _ => "fewer slices or a smaller --max work",
        };
        Err(Error::PictureSize { size, most: MOST_PIXELS, remedy: remedy.to_owned() })
    }

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
        let region = self.store.region();
        let last = region.strata().end - 1;
        RenderReport {
            game: self.game.name.name(),
            heaps: region.heaps(),
            width: self.game.width,
            max: region.max(),
            up_to_total: (last < region.heaps() * region.max()).then_some(last),
            forbid: self.game.forbid(),
            misere: self.game.rules.misere,
            quantity: match self.store.quantity() {
                Quantity::Verdict => "verdict",
                Quantity::Remoteness => "remoteness",
            },
            slices: None,
            density: None,
            counted: None,
            seconds: start.elapsed().as_secs_f64(),
            files: files.iter().map(|(name, _)| name.clone()).collect(),
            sizes: files.into_iter().map(|(_, size)| size).collect(),
            words: self.game.words(),
        }
    }
}

fn what_is_seen(quantity: Quantity, slices: usize) -> &'static str {
    match (quantity, slices) {
        (Quantity::Verdict, 1) => "P-positions of the form",
        (Quantity::Verdict, _) => "P-positions",
        (Quantity::Remoteness, 1) => "Remoteness R of",
        (Quantity::Remoteness, _) => "Remoteness R",
    }
}

/// How many slices stand next to each other: where two heaps of one --fix have a range, one heap's; else such that the
/// sheet is about a square.
fn columns(fix: &[Fixed], slices: usize) -> usize {
    if let [fix] = fix
        && let [_, last] = fix.ranges.iter().filter(|[first, last]| first < last).collect::<Vec<_>>()[..]
    {
        return (last[1] - last[0] + 1) as usize;
    }
    (1..).find(|columns| columns * columns >= slices).unwrap_or(1)
}

/// The ends of the key in units of a share, and how many cells are beyond either. Positions with almost empty heaps are P
/// much more often than others; a key that went up to them would show everything else in one colour.
fn ends_of_key(units: &mut [u32]) -> ([u32; 2], usize) {
    units.sort_unstable();
    let beyond = units.len() / BEYOND_KEY;
    let [low, high] = [units[beyond], units[units.len() - 1 - beyond]];
    // Two digits, of what differs.
    let digit = 10u32.pow((high - low).max(10).ilog10() - 1);
    let ends = [low / digit * digit, high.next_multiple_of(digit)];
    (ends, units.iter().filter(|&&units| units < ends[0] || units > ends[1]).count())
}

#[derive(Serialize)]
struct RenderReport {
    game: &'static str,
    heaps: u32,
    width: Option<u32>,
    max: u32,
    up_to_total: Option<u32>,
    forbid: Option<String>,
    misere: bool,
    quantity: &'static str,
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
    #[serde(skip)]
    words: String,
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

impl fmt::Display for RenderReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines::default();
        lines.add("game", &*self.words);
        let bound =
            self.up_to_total.map_or(String::new(), |total| format!(", total ≤ {}", grouped(total.into())));
        lines.add("region", format!("every heap ≤ {}{bound}", grouped(self.max.into())));
        if let Some(slices) = self.slices {
            lines.add("shown", format!("{} of the {}", counted(slices as u64, "slice"), self.quantity));
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
