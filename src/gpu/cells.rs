//! How a ring of strata lies in GPU buffers, and which parts of them a dispatch binds.
//!
//! A kernel solves blocks of one slab from cells of the same slab and of the slab below, in all slots of the ring.
//! So the ring lies slab by slab, each slab with all its slots: whatever a run of slabs needs is then one contiguous
//! range, and a region may be larger than the most that one binding shows, or one buffer holds. Where blocks have no
//! coordinates (three heaps or fewer) each row of words is a slab of its own.
//!
//! A **page** is one buffer with a run of slabs. A **span** is a run of slabs whose cells, together with those of
//! the slabs one below each, can be bound at once.

use std::ops::Range;

use super::Context;
use crate::error::{Error, Result};
use crate::space::{LANE_GROUP, Layout};

/// Words that bindings start at multiples of: 256 bytes, the most that any device asks for.
const ALIGNMENT: u64 = 64;

/// Bytes a word of cells.
const WORD: u64 = 4;

/// The ring of strata.
pub struct Cells {
    /// How many strata it holds.
    pub slots: u64,
    /// Where each slab starts in one slot, in words, and where the last one ends.
    pub starts: Vec<u64>,
    pages: Vec<Page>,
    /// The spans, in order; every slab is in one.
    pub spans: Vec<Span>,
}

struct Page {
    slabs: Range<usize>,
    /// The first word of the ring in the buffer.
    origin: u64,
    buffer: wgpu::Buffer,
}

/// A run of slabs that one dispatch can work on.
pub struct Span {
    /// The slabs whose blocks are solved.
    pub slabs: Range<usize>,
    /// The blocks of those slabs; empty where blocks have no coordinates.
    pub blocks: Range<usize>,
    /// The first block in the bound windows of tables; a multiple of [`ALIGNMENT`].
    pub block_origin: usize,
}

/// A part of a page, to be bound.
pub struct Window<'a> {
    /// The page's buffer.
    pub buffer: &'a wgpu::Buffer,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// The word of the ring that the window starts with.
    pub origin: u64,
}

/// Where a slab of one slot is, in bytes of a buffer.
pub struct Place<'a> {
    /// The page's buffer.
    pub buffer: &'a wgpu::Buffer,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    /// Bytes of the slab.
    pub size: u64,
}

impl Cells {
    /// Allocates a ring of `slots` strata. Bindings show at most `most_bound` bytes (the device's own limit, or less).
    ///
    /// # Errors
    /// [`Error::Binding`] when a single slab is too large to bind, [`Error::Device`] when memory runs out.
    pub fn new(context: &Context, layout: &Layout, slots: u64, most_bound: u64) -> Result<Self> {
        let starts = slab_starts(layout);
        let slabs = starts.len() - 1;
        let limit = most_bound.min(context.summary.max_binding_bytes);
        let fits = |slabs: Range<usize>, limit: u64| ring_bytes(&starts, slots, slabs) <= limit;
        if let Some(slab) = (0..slabs).find(|&slab| !fits(slab..slab + 1, limit)) {
            let needed = ring_bytes(&starts, slots, slab..slab + 1);
            return Err(Error::Binding { adapter: context.summary.name.clone(), needed, limit });
        }
        let copied = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let mut pages = Vec::new();
        let mut first = 0;
        while first < slabs {
            let end = run_end(first, slabs, |end| fits(first..end, context.summary.max_buffer_bytes));
            let origin = page_origin(&starts, slots, first);
            let bytes = ring_bytes(&starts, slots, first..end);
            let buffer = context.storage_buffer("ring of strata", bytes, copied)?;
            pages.push(Page { slabs: first..end, origin, buffer });
            first = end;
        }
        let mut spans = Vec::new();
        let mut first = 0;
        while first < slabs {
            let page = page_of(&pages, first);
            // The slab below a page's first is in another page: such a slab is bound alone.
            let alone = first > 0 && page.slabs.start == first;
            let most = if alone { first + 1 } else { page.slabs.end };
            let below = first.saturating_sub(1);
            let tables = |end: usize| table_bytes(layout, below, end) <= limit;
            let end = run_end(first, most, |end| fits(below..end, limit) && tables(end)).max(first + 1);
            spans.push(Span {
                slabs: first..end,
                blocks: block_range(layout, first..end),
                block_origin: block_origin(layout, below),
            });
            first = end;
        }
        Ok(Self { slots, starts, pages, spans })
    }

    /// All its buffers.
    pub fn buffers(&self) -> impl Iterator<Item = &wgpu::Buffer> {
        self.pages.iter().map(|page| &page.buffer)
    }

    /// The cells of these slabs, which lie in one page.
    pub fn window(&self, slabs: Range<usize>) -> Window<'_> {
        let page = page_of(&self.pages, slabs.start);
        let origin = page_origin(&self.starts, self.slots, slabs.start);
        let offset = (origin - page.origin) * WORD;
        Window { buffer: &page.buffer, offset, size: ring_bytes(&self.starts, self.slots, slabs), origin }
    }

    /// The cells one slab below those of a span; for a span that starts with slab 0, the span's own.
    pub fn lower_window(&self, span: &Span) -> Window<'_> {
        match span.slabs.start {
            0 => self.window(span.slabs.clone()),
            start => self.window(start - 1..span.slabs.end - 1),
        }
    }

    /// Where one slab of one slot is.
    pub fn place(&self, slab: usize, slot: u64) -> Place<'_> {
        let page = page_of(&self.pages, slab);
        let length = self.starts[slab + 1] - self.starts[slab];
        let word = self.slots * self.starts[slab] + slot * length;
        Place { buffer: &page.buffer, offset: (word - page.origin) * WORD, size: length * WORD }
    }
}

/// Where each slab starts in one slot, in words, and where the last one ends.
pub fn slab_starts(layout: &Layout) -> Vec<u64> {
    let group = u64::from(LANE_GROUP);
    if layout.lane_is_floor() {
        let pitch = u64::from(layout.pitches()[0]) * group;
        let rows = u64::from(layout.second_max() / layout.cell().row_values()) + 1;
        return (0..=rows).map(|row| group + row * pitch).collect();
    }
    let end = layout.words() - group;
    let start =
        |slab| layout.bases().get(layout.slab_first_block(slab)).map_or(end, |&base| u64::from(base) * group);
    (0..=layout.slabs()).map(start).collect()
}

/// The last end up to `most` for which a run from `first` fits.
fn run_end(first: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (first, most + 1);
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

fn page_of(pages: &[Page], slab: usize) -> &Page {
    &pages[pages.partition_point(|page| page.slabs.end <= slab)]
}

/// The word of the ring that a window from this slab on starts with: before the slab's first lane there is a zero.
fn page_origin(starts: &[u64], slots: u64, slab: usize) -> u64 {
    (slots * starts[slab] - u64::from(LANE_GROUP)) / ALIGNMENT * ALIGNMENT
}

/// Bytes of all slots of a run of slabs, with the zero before the first.
fn ring_bytes(starts: &[u64], slots: u64, slabs: Range<usize>) -> u64 {
    (slots * starts[slabs.end] - page_origin(starts, slots, slabs.start)) * WORD
}

fn block_range(layout: &Layout, slabs: Range<usize>) -> Range<usize> {
    if layout.lane_is_floor() {
        return 0..0;
    }
    layout.slab_first_block(slabs.start)..layout.slab_first_block(slabs.end)
}

fn block_origin(layout: &Layout, slab: usize) -> usize {
    block_range(layout, slab..slab).start / ALIGNMENT as usize * ALIGNMENT as usize
}

/// Bytes of the larger of the tables of blocks for the slabs `first .. end`.
fn table_bytes(layout: &Layout, first: usize, end: usize) -> u64 {
    let blocks = block_range(layout, end..end).start - block_origin(layout, first);
    blocks as u64 * words_a_block(layout) * WORD
}

/// Words that the coordinates of a block take, two to a word; at least 1.
pub fn words_a_block(layout: &Layout) -> u64 {
    layout.axes().div_ceil(2).max(1) as u64
}
