//! What an export tells of the files it wrote.

use std::fmt;
use std::time::Duration;

use nimstrata::error::bytes;
use nimstrata::export::FullBox;
use nimstrata::store::Store;
use serde::Serialize;

use super::super::figures::{counted, grouped, time};
use super::super::game::Game;
use super::super::output::Lines;
use super::super::report::About;

/// A file that was written.
pub struct Written {
    pub name: String,
    pub bytes: u64,
    /// P-positions in a list.
    pub listed: Option<u64>,
    /// Slices in a file of bitmaps.
    pub bitmaps: Option<usize>,
    /// Their width and height.
    pub side: u32,
    pub of_box: Option<BoxShape>,
}

/// What numpy needs to know about a box.
#[derive(Clone, Serialize)]
pub struct BoxShape {
    shape: Vec<u64>,
    dtype: &'static str,
    /// What stands for tuples beyond the greatest total; null where there are none.
    outside: Option<u16>,
}

impl BoxShape {
    pub fn of(full_box: &FullBox<'_>) -> Self {
        let outside = full_box.is_cut().then(|| full_box.outside());
        Self { shape: full_box.shape(), dtype: full_box.descr(), outside }
    }
}

#[derive(Serialize)]
pub struct ExportReport {
    #[serde(flatten)]
    about: About,
    files: Vec<String>,
    bytes: Vec<u64>,
    /// P-positions in each list.
    #[serde(skip_serializing_if = "Option::is_none")]
    listed: Option<u64>,
    /// Slices in each file of bitmaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    slices: Option<usize>,
    #[serde(flatten)]
    of_box: Option<BoxShape>,
    seconds: f64,
    #[serde(skip)]
    side: u32,
}

impl ExportReport {
    pub fn new(game: &Game, store: &Store, written: Vec<Written>, elapsed: Duration) -> Self {
        Self {
            about: About::new(game, store.region(), store.quantity()),
            bytes: written.iter().map(|file| file.bytes).collect(),
            listed: written.iter().find_map(|file| file.listed),
            slices: written.iter().find_map(|file| file.bitmaps),
            of_box: written.iter().find_map(|file| file.of_box.clone()),
            seconds: elapsed.as_secs_f64(),
            side: written.first().map_or(0, |file| file.side),
            files: written.into_iter().map(|file| file.name).collect(),
        }
    }
}

impl fmt::Display for ExportReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines::default();
        self.about.add(&mut lines);
        if let Some(BoxShape { shape, dtype, outside }) = &self.of_box {
            let shape = shape.iter().map(|&side| grouped(side)).collect::<Vec<_>>().join(" x ");
            let beyond = match outside {
                Some(0) => ", False where the total is larger",
                Some(_) => ", the greatest number where the total is larger",
                None => "",
            };
            lines.add("box", format!("{shape}, dtype {dtype}{beyond}"));
        }
        if let Some(listed) = self.listed {
            lines.add("list", counted(listed, "P-position"));
        }
        if let Some(slices) = self.slices {
            let side = grouped(self.side.into());
            lines.add("bitmap", format!("{}, {side} x {side}", counted(slices as u64, "slice")));
        }
        lines.add("time", time(Duration::from_secs_f64(self.seconds)));
        for (index, (file, &size)) in self.files.iter().zip(&self.bytes).enumerate() {
            lines.add(if index == 0 { "written" } else { "" }, format!("{file}, {}", bytes(size.into())));
        }
        lines.fmt(out)
    }
}
