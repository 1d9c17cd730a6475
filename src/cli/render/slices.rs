//! Slices: which heaps are fixed, and their picture.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use nimstrata::picture::{Chart, Key};
use nimstrata::slice::{Seen, Slices};
use nimstrata::solver::Quantity;
use nimstrata::space::Region;
use nimstrata::{Error, Result};

use super::super::figures::{counted, sentence};
use super::super::progress::Bar;
use super::super::{interrupt, number};
use super::{RenderReport, Show, Target, check_size};

/// No picture has more slices.
const MOST_SLICES: u64 = 1024;
/// What would work where a picture of one slice, or of several, is too large.
const ONE_SMALLER: &str = "a smaller --max works";
const ALL_SMALLER: &str = "fewer slices or a smaller --max work";

/// The colours of N, P₁ and P₀, such that colour-blind people can tell them apart (after Okabe and Ito).
const N: [u8; 3] = [232, 232, 232];
const P1: [u8; 3] = [0, 90, 178];
const P0: [u8; 3] = [230, 90, 0];
/// What is no position.
const OUTSIDE: [u8; 3] = [255; 3];

/// The fixed heaps of some slices: for each heap the first and the last size.
#[derive(Clone)]
pub struct Fixed {
    text: String,
    ranges: Vec<[u64; 2]>,
}

impl Fixed {
    /// Reads such as `2,0..8`.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
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

    /// Refuses what the region does not have.
    fn check(&self, region: &Region) -> Result<()> {
        let (heaps, given) = (region.heaps(), self.ranges.len());
        let needed = heaps as usize - 2;
        let last_total = u64::from(region.strata().end) - 1;
        let stones =
            self.ranges.iter().map(|[_, last]| last).fold(0, |sum: u64, &last| sum.saturating_add(last));
        let reason = if given != needed && needed == 0 {
            "its positions have 2 heaps, which both vary; leave it out".to_owned()
        } else if given != needed {
            let (sizes, example) = (counted(needed as u64, "size"), vec!["0"; needed].join(","));
            format!("two of its {heaps} heaps vary, so it takes {sizes}, such as {example}, and not {given}")
        } else if self.ranges.iter().any(|[_, last]| *last > region.max().into()) {
            format!("its heaps go up to {}", region.max())
        } else if stones > last_total {
            format!("its totals go up to {last_total}, and these heaps have up to {stones} stones")
        } else {
            return Ok(());
        };
        Err(Error::Slice { given: self.text.clone(), reason })
    }

    /// How many slices there are.
    fn slices(&self) -> u64 {
        self.ranges.iter().map(|[first, last]| last - first + 1).fold(1, u64::saturating_mul)
    }

    /// The sizes of each slice.
    fn given(&self) -> Vec<Vec<u32>> {
        let mut given = vec![Vec::new()];
        for &[first, last] in &self.ranges {
            let longer = |heaps: Vec<u32>| {
                (first as u32..=last as u32).map(move |heap| [heaps.as_slice(), &[heap]].concat())
            };
            given = given.into_iter().flat_map(longer).collect();
        }
        given
    }
}

/// The sizes of each slice that is asked for.
pub fn given(fix: &[Fixed], region: &Region) -> Result<Vec<Vec<u32>>> {
    if region.heaps() == 1 || (region.heaps() > 2 && fix.is_empty()) {
        return Err(Error::NoSlice { heaps: region.heaps() });
    }
    fix.iter().try_for_each(|fix| fix.check(region))?;
    let slices = fix.iter().map(Fixed::slices).fold(0, u64::saturating_add);
    if slices > MOST_SLICES {
        let given = fix.iter().map(|fix| fix.text.as_str()).collect::<Vec<_>>().join(" --fix ");
        let reason = format!("it is {}, and a sheet has up to {MOST_SLICES}", counted(slices, "slice"));
        return Err(Error::Slice { given, reason });
    }
    Ok(match fix {
        [] => vec![Vec::new()],
        fix => fix.iter().flat_map(Fixed::given).collect(),
    })
}

/// How many slices stand next to each other: where two heaps of one --fix have a range, one heap's; else such that the
/// sheet is about a square.
fn columns(fix: &[Fixed], slices: usize) -> usize {
    if let [fix] = fix
        && let [_, last] = fix.ranges.iter().filter(|[first, last]| first < last).collect::<Vec<_>>()[..]
    {
        return (last[1] - last[0] + 1) as usize;
    }
    (1..=slices).find(|columns| columns * columns >= slices).unwrap_or(1)
}

/// The positions of a slice, such as `(x,y,3)`.
fn caption(heaps: &[u32]) -> String {
    let heaps = heaps.iter().map(u32::to_string);
    format!("({})", ["x".to_owned(), "y".to_owned()].into_iter().chain(heaps).collect::<Vec<_>>().join(","))
}

/// What slices with these captions show.
fn title(quantity: Quantity, captions: &[String]) -> String {
    match (quantity, captions) {
        (Quantity::Verdict, [only]) => format!("P-positions of the form {only}"),
        (Quantity::Verdict, _) => "P-positions".to_owned(),
        (Quantity::Remoteness, [only]) => format!("Remoteness R of {only}"),
        (Quantity::Remoteness, _) => "Remoteness R".to_owned(),
    }
}

/// The number that a picture has for what is seen.
fn value(seen: Seen) -> u32 {
    match seen {
        Seen::N => 0,
        Seen::P1 => 1,
        Seen::P0 => 2,
        Seen::Remoteness(remoteness) => remoteness,
    }
}

impl Show<'_> {
    /// Draws slices.
    pub fn slices(&self, fix: &[Fixed], max: Option<u64>, out: Vec<PathBuf>) -> Result<RenderReport> {
        let region = self.store.region();
        let cap = max.map_or(region.max(), |max| max.min(region.max().into()) as u32);
        let given = given(fix, region)?;
        let captions = given.iter().map(|heaps| caption(heaps)).collect::<Vec<_>>();
        let targets = Target::create_all(out, false)?;
        let title = title(self.store.quantity(), &captions);
        let (words, names) = (sentence(&self.game.words()), self.names());
        let (start, slices) = (Instant::now(), Slices::new(self.store, given));
        let progress = Progress::new(&slices, cap, self);
        let at = |slice, x, y| {
            if x == 0 {
                progress.step();
            }
            // What is cut short here is given up at the next write.
            if interrupt::asked() { None } else { slices.at(slice, x, y).map(value) }
        };
        let mut chart = Chart {
            title: &[&title, &words],
            size: [cap + 1; 2],
            axes: ["x", "y"],
            captions: if captions.len() == 1 { &[String::new()] } else { &captions },
            columns: columns(fix, captions.len()),
            key: Key::Names(&names),
            value: &at,
        };
        check_size(&chart, if captions.len() == 1 { ONE_SMALLER } else { ALL_SMALLER })?;
        let greatest = slices.greatest(cap, &mut || {
            progress.step();
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if let Some(most) = greatest {
            chart.key = Key::Scale { name: "R", least: 0, most, unit: 1, none: self.outside() };
        }
        let description = format!(
            "{title}: {}, {}. x to the right and y up, both from 0 in the lower left corner to {cap}.",
            captions.join(", "),
            self.about()
        );
        let mut options = fix.iter().flat_map(|fix| [" --fix ", &fix.text]).collect::<String>();
        options.extend(max.map(|max| format!(" --max {max}")));
        let files = self.write(targets, &chart, &description, &options, None)?;
        Ok(RenderReport { slices: Some(captions.len()), ..self.report(start, files) })
    }

    /// The names of what a slice of verdicts shows.
    fn names(&self) -> Vec<(&'static str, [u8; 3])> {
        let p: &[_] = if self.game.rules.forbidden.is_empty() {
            &[("P", P1)]
        } else {
            &[("P1, at allowed totals", P1), ("P0, at forbidden totals", P0)]
        };
        let outside = self.outside().map(|outside| (outside, OUTSIDE));
        [("N", N)].iter().chain(p).copied().chain(outside).collect()
    }

    /// The name of what is outside the region, where the total is bounded and slices have such a corner.
    fn outside(&self) -> Option<&'static str> {
        let region = self.store.region();
        (region.strata().end - 1 < region.heaps() * region.max()).then_some("total too large")
    }
}

/// A bar that runs up to all positions that are looked at, row by row.
struct Progress {
    bar: RefCell<Bar>,
    done: std::cell::Cell<u64>,
    row: u64,
}

impl Progress {
    fn new(slices: &Slices<'_>, cap: u32, show: &Show<'_>) -> Self {
        let row = u64::from(cap) + 1;
        // Remoteness is looked through for the greatest first.
        let passes = if show.store.quantity() == Quantity::Remoteness { 2 } else { 1 };
        let all = passes * row * row * slices.count() as u64;
        let bar = Bar::counting(all, "positions", show.solving.quiet());
        Self { bar: RefCell::new(bar), done: 0.into(), row }
    }

    fn step(&self) {
        self.done.set(self.done.get() + self.row);
        self.bar.borrow_mut().update(self.done.get(), || "drawing".to_owned());
    }
}
