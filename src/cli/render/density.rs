//! Density maps: which coordinates, what the key shows, and the picture.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use nimstrata::density::Density;
use nimstrata::picture::{Chart, Key};
use nimstrata::space::Coordinate;
use nimstrata::{Error, Result};

use super::super::figures::{counted, grouped, sentence};
use super::super::progress::Bar;
use super::super::{interrupt, number};
use super::{Counted, RenderReport, Show, Target, check_size};

/// Shares are drawn in steps of one over this.
const SHARE_UNIT: u32 = 1_000_000;
/// One in so many cells of a map may be beyond the key at each of its ends.
const BEYOND_KEY: usize = 20;

/// Reads such as `2,total`.
pub fn parse_coordinates(text: &str) -> std::result::Result<[Coordinate; 2], String> {
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

impl Show<'_> {
    /// Counts a density map, and draws it.
    pub fn density(&self, axes: [Coordinate; 2], out: Vec<PathBuf>) -> Result<RenderReport> {
        let region = self.store.region();
        let heaps = region.heaps();
        let unknown = |axis: &&Coordinate| matches!(axis, Coordinate::Heap(heap) if *heap > heaps);
        if let Some(&axis) = axes.iter().find(unknown) {
            return Err(Error::Coordinate { coordinate: name(axis), heaps });
        }
        let targets = Target::create_all(out, true)?;
        let [right, up] = axes.map(|axis| words(axis, heaps));
        let (title, words) =
            (format!("Share of P-positions by {right} and {up}"), sentence(&self.game.words()));
        let mut chart = Chart {
            title: &[&title, &words],
            size: axes.map(|axis| axis.values(region)),
            axes: [&right, &up],
            captions: &[String::new()],
            columns: 1,
            key: Key::Scale { name: "share", least: 0, most: SHARE_UNIT, unit: SHARE_UNIT, none: None },
            value: &|_, _, _| None,
        };
        if targets.iter().any(|target| !target.npy) {
            // Before everything is counted.
            check_size(&chart, "--out to an .npy file works")?;
        }

        let start = Instant::now();
        let density = self.count(axes)?;
        let shares = Shares::new(&density);
        let (clipped, value) = (shares.clipped(), |_, first, second| units(&density, [first, second]));
        let lines = [title.as_str(), &words, &clipped];
        chart.title = if clipped.is_empty() { &lines[..2] } else { &lines };
        chart.key = shares.key();
        chart.value = &value;
        let description = format!(
            "{title}, {}. {} to the right, {up} up, both from 0 in the lower left corner. {clipped}",
            self.about(),
            sentence(&right),
        );
        let options = format!(" --density {}", axes.map(name).join(","));
        let files = self.write(targets, &chart, description.trim(), &options, Some(&density))?;
        let report = self.report(start, files);
        Ok(RenderReport { density: Some(axes.map(name)), counted: Some(Counted::new(&density)), ..report })
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
}

/// The share of P-positions in a cell in units; `None` where there are no positions.
fn units(density: &Density, cell: [u32; 2]) -> Option<u32> {
    density.share(cell).map(|share| (share * f64::from(SHARE_UNIT)).round() as u32)
}

/// What the key shows. Positions with almost empty heaps are P much more often than others, and a key that went up to
/// them would show everything else in one colour; so the key leaves the extremes out, and the picture says how many.
struct Shares {
    /// The ends of the key, in units.
    ends: [u32; 2],
    /// Cells with positions, and those beyond either end.
    cells: usize,
    beyond: usize,
    /// Whether there are cells without positions.
    gaps: bool,
}

impl Shares {
    fn new(density: &Density) -> Self {
        let [width, height] = density.shape();
        let cells = (0..width).flat_map(|first| (0..height).map(move |second| [first, second]));
        let shares = cells.filter_map(|cell| units(density, cell)).collect();
        let gaps = u64::from(width) * u64::from(height);
        Self::of(shares, gaps)
    }

    /// Of these shares in a map of so many cells.
    fn of(mut shares: Vec<u32>, all: u64) -> Self {
        shares.sort_unstable();
        let few = shares.len() / BEYOND_KEY;
        let [low, high] = [shares[few], shares[shares.len() - 1 - few]];
        // Two digits, of what differs.
        let digit = 10u32.pow((high - low).max(10).ilog10() - 1);
        let ends = match high - low {
            0 => [0, SHARE_UNIT],
            _ => [low / digit * digit, high.next_multiple_of(digit)],
        };
        let beyond = shares.iter().filter(|&&share| share < ends[0] || share > ends[1]).count();
        Self { ends, cells: shares.len(), beyond, gaps: (shares.len() as u64) < all }
    }

    fn key(&self) -> Key<'static> {
        let ([least, most], none) = (self.ends, self.gaps.then_some("no position"));
        Key::Scale { name: "share", least, most, unit: SHARE_UNIT, none }
    }

    /// How many cells are beyond the key; empty for none.
    fn clipped(&self) -> String {
        let (beyond, cells) = (grouped(self.beyond as u64), counted(self.cells as u64, "cell"));
        match self.beyond {
            0 => String::new(),
            1 => format!("{beyond} of {cells} is beyond the ends of the key."),
            _ => format!("{beyond} of {cells} are beyond the ends of the key."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_leaves_extremes_out_and_says_so() {
        let shares =
            (0..100).map(|index| if index < 3 { 1_000_000 } else { 123_456 + 700 * index }).collect();
        let shares = Shares::of(shares, 200);
        assert_eq!((shares.ends, shares.beyond, shares.gaps), ([129_000, 192_000], 10, true));
        assert_eq!(shares.clipped(), "10 of 100 cells are beyond the ends of the key.");
        let even = Shares::of(vec![250_000; 5], 5);
        assert_eq!((even.ends, even.clipped().as_str(), even.gaps), ([0, SHARE_UNIT], "", false));
    }
}
