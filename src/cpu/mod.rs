//! CPU twins of the shaders, one file for each, and the threads they run on.

use crate::error::{Error, Result};

pub mod density;
mod lanes;
pub mod remoteness;
mod ring;
pub mod sieve;
mod slot;
pub mod stencil;
pub mod take_one;
mod tasks;

pub use tasks::Part;

/// A pool of this many threads.
///
/// # Errors
/// [`Error::Io`] when the system starts no more threads.
pub fn threads(count: usize) -> Result<rayon::ThreadPool> {
    let failed =
        |error| Error::Io { what: format!("starting {count} threads"), source: std::io::Error::other(error) };
    rayon::ThreadPoolBuilder::new().num_threads(count).build().map_err(failed)
}
