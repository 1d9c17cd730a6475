//! The space of positions: regions, exact counting, canonical order, and the layout the kernels work in.
//!
//! Positions with the same total form a **stratum**. A stratum has two orders here: the canonical order of files
//! and lists ([`Region::rank`]), and the dense layout of the kernels ([`Layout`]), between which
//! [`Stratum::canonical`] and [`fill`] convert.

mod active;
mod canonical;
mod cell;
mod count;
mod folded;
mod layout;
mod length;
mod lines;
mod order;
mod prefetch;
mod region;
mod segment;
mod stencil;
mod stratum;

pub use canonical::{Canonical, CanonicalBuf, Reader, fill};
pub use cell::{Cell, Cells, CellsMut, Key};
pub use count::count_tuples;
pub use folded::{
    FOLDED_ALIGNMENT, FOLDED_HEAPS, FOLDED_PLACES, FoldedCells, FoldedLayout, FoldedRun, folded_bytes,
};
pub use layout::{Block, LANE_GROUP, Layout, Window, largest_cap_within, layout_bytes};
pub use length::{remoteness_bound, remoteness_cell};
pub use lines::{LineLayout, Strip, TABLES};
pub use order::{OrderedRow, Ranks};
pub use prefetch::prefetch;
pub use region::Region;
pub use segment::{Coordinate, Grid, LONGEST_SEGMENT, Segment};
pub use stencil::{Shift, Stencil, Term, TouchMask};
pub use stratum::{Row, Run, Stratum};
