//! Lists of P-positions, by total and in canonical order inside a total, one a line.

use std::io::{self, Write};
use std::ops::ControlFlow;

use super::WatchPositions;
use crate::game::ForbiddenTotals;
use crate::space::OrderedRow;
use crate::store::{Store, Stored};

/// Positions gone through between two looks at whether the rest is wanted.
const POSITIONS_PER_LOOK: u64 = 1 << 20;

/// How a list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFormat {
    /// `(0,1,1)`, then R and P0 or P1 where they are known.
    Text,
    /// Below a header, the heaps from the smallest on, then R and P0 or P1 where they are known.
    Csv,
    /// A JSON object on each line.
    JsonLines,
}

/// What stands around the parts of a line.
struct Marks {
    open: &'static str,
    close: &'static str,
    remoteness: &'static str,
    kind: [&'static str; 2],
    end: &'static str,
}

impl ListFormat {
    fn marks(self) -> Marks {
        match self {
            Self::Text => Marks { open: "(", close: ")", remoteness: "  R = ", kind: ["  ", ""], end: "\n" },
            Self::Csv => Marks { open: "", close: "", remoteness: ",", kind: [",", ""], end: "\n" },
            Self::JsonLines => Marks {
                open: "{\"position\":[",
                close: "]",
                remoteness: ",\"remoteness\":",
                kind: [",\"kind\":\"", "\""],
                end: "}\n",
            },
        }
    }
}

/// Which P-positions to list.
pub struct List<'a> {
    store: &'a Store,
    /// Only those with every heap up to this.
    pub max: u32,
    /// Only those with these totals; all for `None`.
    pub totals: Option<ForbiddenTotals>,
    /// At most so many.
    pub limit: u64,
}

impl<'a> List<'a> {
    /// All P-positions of a store.
    #[must_use]
    pub fn new(store: &'a Store) -> Self {
        Self { store, max: store.region().max(), totals: None, limit: u64::MAX }
    }

    /// Writes the list and returns how many P-positions are in it. `watch` hears now and then how many positions were
    /// gone through.
    ///
    /// # Errors
    /// What `out` and `watch` return.
    pub fn write(
        &self,
        format: ListFormat,
        out: &mut dyn Write,
        watch: &mut WatchPositions<'_>,
    ) -> io::Result<u64> {
        if format == ListFormat::Csv {
            self.write_header(out)?;
        }
        let (region, most) =
            (self.store.region(), u64::from(self.max) * u64::from(self.store.region().heaps()));
        let mut writer =
            Writer { list: self, format, out, watch, listed: 0, seen: 0, looked: 0, failure: None };
        for total in region.strata().take_while(|&total| u64::from(total) <= most) {
            let wanted = self.totals.as_ref().is_none_or(|totals| totals.contains(total.into()));
            let stratum = self.store.stratum(total).filter(|_| wanted && writer.listed < self.limit);
            if let Some(stratum) = stratum {
                let (mut rank, kind) = (0, self.kind(total));
                let _ = region.ordered_rows(total, &mut |row| writer.row(row, stratum, &mut rank, kind));
            } else {
                writer.seen += region.stratum_size(total);
            }
            if let Some(failure) = writer.failure {
                return Err(failure);
            }
        }
        Ok(writer.listed)
    }

    /// Whether there are totals at which no move arrives, so that P₀ and P₁ are to be told apart.
    fn has_kinds(&self) -> bool {
        !self.store.rules().forbidden.is_empty()
    }

    /// What P-positions at this total are, where that is to be told.
    fn kind(&self, total: u32) -> Option<&'static str> {
        let forbidden = self.store.rules().forbidden.contains(total.into());
        self.has_kinds().then_some(if forbidden { "P0" } else { "P1" })
    }

    fn write_header(&self, out: &mut dyn Write) -> io::Result<()> {
        let heaps = (1..=self.store.region().heaps()).map(|heap| format!("x{heap}"));
        let remoteness =
            self.store.stratum(0).and_then(|stratum| stratum.remoteness(0)).map(|_| "remoteness");
        let kind = self.has_kinds().then_some("kind");
        let more = remoteness.into_iter().chain(kind).map(str::to_owned);
        writeln!(out, "{}", heaps.chain(more).collect::<Vec<_>>().join(","))
    }
}

/// Writes lines.
struct Writer<'a, 'b> {
    list: &'a List<'a>,
    format: ListFormat,
    out: &'a mut dyn Write,
    watch: &'a mut WatchPositions<'b>,
    listed: u64,
    seen: u64,
    /// What had been gone through at the last look.
    looked: u64,
    failure: Option<io::Error>,
}

impl Writer<'_, '_> {
    /// Lists the P-positions of a row that starts at place `rank`, and moves that on.
    fn row(
        &mut self,
        row: &OrderedRow<'_>,
        stratum: Stored<'_>,
        rank: &mut u64,
        kind: Option<&str>,
    ) -> ControlFlow<()> {
        let start = *rank;
        let length = u64::from(row.last - row.first + 1);
        *rank += length;
        self.seen += length;
        let written = self.look().and_then(|()| {
            // Where the list has a cap of its own, x₁ = rest − x₂ is the heap to be below it.
            let least = row.first.max(row.rest.saturating_sub(self.list.max));
            let one_heap = self.list.store.region().heaps() == 1;
            for second in if one_heap { 0..=0 } else { least..=row.last } {
                let place = start + u64::from(second - row.first);
                if stratum.is_p(place) && self.listed < self.list.limit {
                    self.listed += 1;
                    let larger = [second, row.rest - second];
                    let larger = &larger[usize::from(one_heap)..];
                    self.line(row.smaller, larger, stratum.remoteness(place), kind)?;
                }
            }
            Ok(())
        });
        match written {
            Ok(()) if self.listed < self.list.limit => ControlFlow::Continue(()),
            Ok(()) => ControlFlow::Break(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }

    fn look(&mut self) -> io::Result<()> {
        if self.seen - self.looked < POSITIONS_PER_LOOK {
            return Ok(());
        }
        self.looked = self.seen;
        (self.watch)(self.seen)
    }

    fn line(
        &mut self,
        smaller: &[u32],
        larger: &[u32],
        remoteness: Option<u32>,
        kind: Option<&str>,
    ) -> io::Result<()> {
        let (out, marks) = (&mut *self.out, self.format.marks());
        out.write_all(marks.open.as_bytes())?;
        for (index, heap) in smaller.iter().chain(larger).enumerate() {
            write!(out, "{}{heap}", if index == 0 { "" } else { "," })?;
        }
        out.write_all(marks.close.as_bytes())?;
        if let Some(remoteness) = remoteness {
            write!(out, "{}{remoteness}", marks.remoteness)?;
        }
        if let Some(kind) = kind {
            write!(out, "{}{kind}{}", marks.kind[0], marks.kind[1])?;
        }
        out.write_all(marks.end.as_bytes())
    }
}
