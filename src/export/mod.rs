//! What a store holds, in the files that other programs read: dense boxes for numpy, lists of P-positions, bitmaps.
//!
//! Everything is written as it is read, so that memory does not grow with the region.

mod bitmap;
mod full_box;
mod list;

pub use bitmap::Bitmap;
pub use full_box::{Entries, FullBox};
pub use list::{List, ListFormat};

/// Called with the number of positions that are done; an error stops the writing.
pub type WatchPositions<'a> = dyn FnMut(u64) -> std::io::Result<()> + 'a;
