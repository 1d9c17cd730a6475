//! Memory for one stratum.
//!
//! Neighbours of a block lie all over a slot, a few kilobytes in each place, and most of what a kernel waits for is the
//! look-up of pages. So large slots ask the system for pages of megabytes, where it has them.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;

/// Slots of fewer bytes would take more memory in huge pages than they use.
const LEAST_BYTES: usize = 8 << 20;

/// The cells of a stratum, zero at first.
pub enum Slot<C> {
    /// From the allocator.
    Small(Vec<C>),
    /// Pages of its own.
    Large(MmapMut),
}

impl<C: Pod> Slot<C> {
    /// So many cells.
    pub fn new(cells: usize) -> Self {
        let bytes = cells * size_of::<C>();
        if bytes < LEAST_BYTES {
            return Self::Small(vec![C::zeroed(); cells]);
        }
        // Where the system has no memory to map, the allocator says so.
        let Ok(pages) = MmapMut::map_anon(bytes) else { return Self::Small(vec![C::zeroed(); cells]) };
        #[cfg(target_os = "linux")]
        // A system without huge pages gives others.
        let _ = pages.advise(memmap2::Advice::HugePage);
        Self::Large(pages)
    }
}

impl<C> Default for Slot<C> {
    fn default() -> Self {
        Self::Small(Vec::new())
    }
}

impl<C: Pod> Deref for Slot<C> {
    type Target = [C];

    fn deref(&self) -> &[C] {
        match self {
            Self::Small(cells) => cells,
            Self::Large(pages) => bytemuck::cast_slice(pages),
        }
    }
}

impl<C: Pod> DerefMut for Slot<C> {
    fn deref_mut(&mut self) -> &mut [C] {
        match self {
            Self::Small(cells) => cells,
            Self::Large(pages) => bytemuck::cast_slice_mut(pages),
        }
    }
}
