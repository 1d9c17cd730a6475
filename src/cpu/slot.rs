//! Memory for one stratum.
//!
//! What a kernel reads lies all over a slot, a few kilobytes in each place, and much of what it waits for is the look-up of
//! pages. So large slots ask the system for pages of megabytes, where it has them.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};

use bytemuck::{Pod, Zeroable};
use memmap2::MmapMut;

/// Slots of fewer bytes would take more memory in huge pages than they use.
const LEAST_BYTES: usize = 2 << 20;

/// A line of a cache, at whose multiples slots start.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Lines in a page, all of which share a set of the first cache with those of other pages at the same place.
const LINES_PER_PAGE: usize = 64;

/// The cells of a stratum, zero at first.
pub struct Slot<C> {
    memory: Memory,
    /// The first line that is used. Slots start at different ones, as kernels read the same place of several.
    skipped: usize,
    cells: usize,
    kind: PhantomData<C>,
}

enum Memory {
    /// From the allocator.
    Small(Vec<Line>),
    /// Pages of its own.
    Large(MmapMut),
}

impl<C: Pod> Slot<C> {
    /// So many cells.
    pub fn new(cells: usize) -> Self {
        static SLOTS: AtomicUsize = AtomicUsize::new(0);
        let skipped = SLOTS.fetch_add(1, Ordering::Relaxed) * 5 % LINES_PER_PAGE;
        let lines = skipped + (cells * size_of::<C>()).div_ceil(size_of::<Line>());
        Self { memory: Memory::new(lines), skipped, cells, kind: PhantomData }
    }
}

impl Memory {
    fn new(lines: usize) -> Self {
        let bytes = lines * size_of::<Line>();
        let small = || Self::Small(vec![Line::zeroed(); lines]);
        if bytes < LEAST_BYTES {
            return small();
        }
        // Where the system has no memory to map, the allocator says so.
        let Ok(pages) = MmapMut::map_anon(bytes) else { return small() };
        #[cfg(target_os = "linux")]
        // A system without huge pages gives others.
        let _ = pages.advise(memmap2::Advice::HugePage);
        Self::Large(pages)
    }
}

impl<C> Default for Slot<C> {
    fn default() -> Self {
        Self { memory: Memory::Small(Vec::new()), skipped: 0, cells: 0, kind: PhantomData }
    }
}

impl<C: Pod> Deref for Slot<C> {
    type Target = [C];

    fn deref(&self) -> &[C] {
        let bytes: &[u8] = match &self.memory {
            Memory::Small(lines) => bytemuck::cast_slice(lines),
            Memory::Large(pages) => pages,
        };
        &bytemuck::cast_slice(&bytes[self.skipped * size_of::<Line>()..])[..self.cells]
    }
}

impl<C: Pod> DerefMut for Slot<C> {
    fn deref_mut(&mut self) -> &mut [C] {
        let bytes: &mut [u8] = match &mut self.memory {
            Memory::Small(lines) => bytemuck::cast_slice_mut(lines),
            Memory::Large(pages) => pages,
        };
        &mut bytemuck::cast_slice_mut(&mut bytes[self.skipped * size_of::<Line>()..])[..self.cells]
    }
}
