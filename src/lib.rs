//! Solves whole families of heap games in bulk.
#![deny(missing_docs)]

pub mod backend;
pub mod completion;
pub mod cpu;
pub mod error;
pub mod game;
pub mod gpu;
pub mod observe;
pub mod oracle;
pub mod picture;
pub mod solver;
pub mod space;

pub use error::{Error, Result};
