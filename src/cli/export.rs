//! `nimstrata export`: what a store holds, in files for other programs.

mod report;
mod targets;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use nimstrata::export::{Bitmap, Entries, FullBox, List, ListFormat};
use nimstrata::game::ForbiddenTotals;
use nimstrata::slice::Slices;
use nimstrata::solver::{Options, Quantity};
use nimstrata::store::Store;
use nimstrata::{Error, Result, cpu};

use super::game::Game;
use super::output::{OutputArgs, delivered};
use super::progress::Bar;
use super::render::slices::{Fixed, given};
use super::{interrupt, number};
use report::{ExportReport, Written};
use targets::{Kind, Target, Targets};

/// No box and no bitmaps are larger: what reads them keeps them in memory.
const MOST_BYTES: u64 = 8 << 30;

const BOXES: &str = "is about .npy files, and none is written; leave it out";
const LISTS: &str = "is about lists, and none is written; leave it out";
const BITMAPS: &str = "is about .pbm files, and none is written; leave it out";

/// How a list on standard output is written.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Positions as (0,1,1), with R = 4 and P0 or P1 behind them where the store knows
    Text,
    /// A header and a line each
    Csv,
    /// A JSON object on each line
    Jsonl,
}

impl From<Format> for ListFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Csv => Self::Csv,
            Format::Jsonl => Self::JsonLines,
        }
    }
}

/// Write what a store holds as arrays, lists or bitmaps
///
/// The name of a file says what it holds; it appears under that name when it is whole:
///
/// .npy: the full box for numpy, an axis of CAP + 1 for each heap, in every order of the heaps. True for P-positions
/// (|b1), with --packed eight along the last axis to a byte as np.packbits(..., axis=-1, bitorder="little") has them. Of a
/// store of remoteness: R (|u1 or <u2), unless --verdicts or --packed is given. Where --up-to-total left positions out of
/// the store, verdicts are False and remoteness is 255 (|u1) or 65535 (<u2).
///
/// .csv, .jsonl, .txt: the P-positions, by total and in lexicographic order inside a total, heaps smallest first; with
/// their remoteness where the store holds it, and where totals are forbidden, with P0 for those at forbidden totals and P1
/// for the others.
///
/// .pbm: a bitmap (P4) of a slice, black for P-positions, x to the right and y up, as render draws it. Several slices
/// stand one after the other in the file, as the format allows.
#[derive(clap::Args)]
#[command(after_help = "Example: all P-positions of three heaps up to 20, and the whole box for numpy\n  \
    nimstrata solve fts --heaps 3 --forbid 5k --max 20 --out nim5\n  \
    nimstrata export nim5 --out losing.csv --out box.npy")]
pub struct Args {
    /// A folder that `nimstrata solve --out` has written
    #[arg(value_name = "DIR")]
    store: PathBuf,
    /// The file to write: .npy, .csv, .jsonl, .txt or .pbm, or - for a list on standard output; may be repeated
    #[arg(long, value_name = "FILE", required_unless_present = "format")]
    out: Vec<PathBuf>,
    /// How to write a list on standard output [default: text on a terminal, csv to a file or a pipe]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Only positions with every heap up to this [default: the store's]
    #[arg(long, value_name = "CAP", value_parser = number::total, allow_hyphen_values = true)]
    max: Option<u64>,
    /// .npy: verdicts, also of a store of remoteness
    #[arg(long)]
    verdicts: bool,
    /// .npy: verdicts, eight to a byte
    #[arg(long)]
    packed: bool,
    /// Lists: only these totals, a union of 7, 3..9, 5k and 5k+2 [default: all]
    #[arg(long, value_name = "SET", value_parser = totals, allow_hyphen_values = true)]
    total: Option<ForbiddenTotals>,
    /// Lists: at most so many positions
    #[arg(long, value_name = "L", value_parser = number::total, allow_hyphen_values = true)]
    limit: Option<u64>,
    /// .pbm: the sizes of all heaps but two, such as 3 or 0..8 for three heaps, 2,5 or 2,0..8 for four; may be repeated
    #[arg(long, value_name = "SIZES", value_parser = Fixed::parse, allow_hyphen_values = true)]
    fix: Vec<Fixed>,
    #[command(flatten)]
    output: OutputArgs,
    /// How many CPU threads [default: all]
    #[arg(long, value_name = "T", value_parser = number::threads, allow_hyphen_values = true)]
    threads: Option<usize>,
    /// Show no progress bar
    #[arg(long)]
    quiet: bool,
}

/// Reads totals in the notation of `--forbid`.
fn totals(text: &str) -> std::result::Result<ForbiddenTotals, String> {
    text.parse().map_err(|_| "give totals such as 7, 3..9, 5k or 5k+2, with commas between them".to_owned())
}

impl Args {
    /// Reads the store and writes.
    pub fn run(mut self) -> Result<()> {
        let targets = Targets::of(std::mem::take(&mut self.out), self.format.map(Into::into))?;
        self.check_options(&targets)?;
        let store = Store::open(&self.store)?;
        store.check()?;
        let export = Export {
            max: self.max.map_or(store.region().max(), |max| max.min(store.region().max().into()) as u32),
            entries: match store.quantity() {
                _ if self.packed => Entries::Packed,
                Quantity::Remoteness if !self.verdicts => Entries::Remoteness,
                _ => Entries::Verdicts,
            },
            slices: self.slices(&store, &targets)?,
            args: &self,
            store: &store,
        };
        export.check_sizes(&targets)?;
        let files = targets.create()?;

        let _requests = interrupt::Guard::new();
        let start = Instant::now();
        let pool =
            cpu::threads(Options { threads: self.threads.unwrap_or(0), ..Options::default() }.threads())?;
        let written = files.into_iter().map(|target| pool.install(|| export.write(target)));
        let written = written.collect::<Result<Vec<_>>>()?;
        if let Some(format) = targets.printed {
            return export.print(format);
        }
        let game = Game::stored(&store);
        self.output.print(&ExportReport::new(&game, &store, written, start.elapsed()))
    }

    /// Refuses options that change nothing.
    fn check_options(&self, targets: &Targets) -> Result<()> {
        let refuse = |option, reason| Err(Error::ExportOption { option, reason });
        if targets.printed.is_some() && self.output.json {
            return refuse(
                "--json",
                "prints one object on standard output, where the list goes; --out with a name ending in .jsonl writes a file",
            );
        }
        if targets.printed.is_none() && self.format.is_some() {
            return refuse(
                "--format",
                "is about a list on standard output, and none goes there; the names of files say what they hold",
            );
        }
        let (boxes, lists, bitmaps) = (
            targets.any(|kind| kind == Kind::Box),
            targets.any(|kind| matches!(kind, Kind::List(_))) || targets.printed.is_some(),
            targets.any(|kind| kind == Kind::Bitmap),
        );
        for (given, used, option, reason) in [
            (self.verdicts, boxes, "--verdicts", BOXES),
            (self.packed, boxes, "--packed", BOXES),
            (self.total.is_some(), lists, "--total", LISTS),
            (self.limit.is_some(), lists, "--limit", LISTS),
            (!self.fix.is_empty(), bitmaps, "--fix", BITMAPS),
        ] {
            if given && !used {
                return refuse(option, reason);
            }
        }
        Ok(())
    }

    /// The slices that bitmaps show; none where there are no bitmaps.
    fn slices<'a>(&self, store: &'a Store, targets: &Targets) -> Result<Slices<'a>> {
        if !targets.any(|kind| kind == Kind::Bitmap) {
            return Ok(Slices::new(store, Vec::new()));
        }
        match store.region().heaps() {
            1 => Err(Error::ExportOption {
                option: ".pbm",
                reason: "shows two heaps, and the positions of the store have one; .npy, .csv, .jsonl and .txt work",
            }),
            3.. if self.fix.is_empty() => Err(Error::ExportOption {
                option: ".pbm",
                reason: "shows two heaps and needs sizes for all others: give --fix, such as --fix 0 for three heaps",
            }),
            _ => Ok(Slices::new(store, given(&self.fix, store.region())?)),
        }
    }
}

/// What is written of a store.
struct Export<'a> {
    args: &'a Args,
    store: &'a Store,
    max: u32,
    entries: Entries,
    slices: Slices<'a>,
}

impl Export<'_> {
    /// Refuses what no program could keep in memory.
    fn check_sizes(&self, targets: &Targets) -> Result<()> {
        let region = self.store.region();
        let refuse = |what: String, needed: u128, remedy: String| {
            Err(Error::ExportSize { what, needed, most: MOST_BYTES, remedy })
        };
        let box_bytes = |entries| move |max| FullBox::bytes(self.store, max, entries);
        let needed = box_bytes(self.entries)(self.max);
        if targets.any(|kind| kind == Kind::Box) && needed > MOST_BYTES.into() {
            let mut remedy = largest(self.max, box_bytes(self.entries));
            if self.entries != Entries::Packed {
                remedy =
                    format!("{remedy}, with --packed {}", largest_cap(self.max, box_bytes(Entries::Packed)));
            }
            return refuse(format!("the box of {} heaps up to {}", region.heaps(), self.max), needed, remedy);
        }
        let slices = self.slices.count();
        let needed = Bitmap::bytes(slices, self.max);
        if targets.any(|kind| kind == Kind::Bitmap) && needed > MOST_BYTES.into() {
            let remedy = largest(self.max, |max| Bitmap::bytes(slices, max));
            return refuse(format!("the bitmap up to {}", self.max), needed, remedy);
        }
        Ok(())
    }

    /// Writes a file.
    fn write(&self, target: Target) -> Result<Written> {
        let Target { path, file, kind } = target;
        let name = path.display().to_string();
        let (entries, noun) = match kind {
            Kind::Box => (FullBox::bytes(self.store, self.max, self.entries) as u64, "bytes"),
            Kind::List(_) => (self.store.counts().positions, "positions"),
            Kind::Bitmap => (self.slices.count() as u64 * (u64::from(self.max) + 1).pow(2), "positions"),
        };
        let mut bar = Bar::counting(entries, noun, self.args.quiet);
        let mut watch = |done| look(&mut bar, done, || name.clone());
        let full_box = (kind == Kind::Box).then(|| FullBox::new(self.store, self.max, self.entries));
        let mut listed = None;
        let result = file.write(&mut |_| ControlFlow::Continue(()), |out| match kind {
            Kind::Box => full_box.as_ref().map_or(Ok(()), |full_box| full_box.write(out, &mut watch)),
            Kind::List(format) => {
                listed = Some(self.list().write(format, out, &mut watch)?);
                Ok(())
            }
            Kind::Bitmap => Bitmap::new(&self.slices, self.max).write(out, &mut watch),
        });
        drop(bar);
        let bytes = match result {
            Err(_) if interrupt::asked() => Err(Error::Stopped { when: format!("writing {name}") }),
            written => written,
        }?;
        let bitmaps = (kind == Kind::Bitmap).then(|| self.slices.count());
        let of_box = full_box.as_ref().map(report::BoxShape::of);
        Ok(Written { name, bytes, listed, bitmaps, side: self.max + 1, of_box })
    }

    fn list(&self) -> List<'_> {
        let mut list = List::new(self.store);
        list.max = self.max;
        list.totals.clone_from(&self.args.total);
        list.limit = self.args.limit.unwrap_or(u64::MAX);
        list
    }

    /// Prints a list. A reader that has seen enough and closed the pipe is no error.
    fn print(&self, format: ListFormat) -> Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        // A list that scrolls by shows its own progress, and a bar would be in its way.
        let quiet = self.args.quiet || io::stdout().is_terminal();
        let mut bar = Bar::counting(self.store.counts().positions, "positions", quiet);
        let mut watch = |done| look(&mut bar, done, || "standard output".to_owned());
        let written = self.list().write(format, &mut out, &mut watch).and_then(|_| out.flush());
        drop(bar);
        if written.is_err() && interrupt::asked() {
            return Err(Error::Stopped { when: "while listing".to_owned() });
        }
        if !delivered(written)? {
            // What is left in the buffer has no reader; dropping it would only try again.
            let _ = out.into_parts();
        }
        Ok(())
    }
}

/// Moves the bar, and stops the writing when that was asked for.
fn look(bar: &mut Bar, done: u64, name: impl FnOnce() -> String) -> io::Result<()> {
    bar.update(done, name);
    if interrupt::asked() { Err(io::Error::other("no longer wanted")) } else { Ok(()) }
}

/// The greatest cap below `max` with which the bytes fit.
fn largest_cap(max: u32, bytes: impl Fn(u32) -> u128) -> u32 {
    let (mut fits, mut not) = (0, u64::from(max) + 1);
    while u64::from(fits) + 1 < not {
        let middle = u64::midpoint(fits.into(), not);
        if bytes(middle as u32) <= MOST_BYTES.into() { fits = middle as u32 } else { not = middle }
    }
    fits
}

fn largest(max: u32, bytes: impl Fn(u32) -> u128) -> String {
    format!("the largest --max that fits is {}", largest_cap(max, bytes))
}
