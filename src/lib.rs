//! Solves whole families of heap games in bulk.
#![deny(missing_docs)]

pub mod error;
pub mod game;
pub mod oracle;
pub mod space;

pub use error::{Error, Result};
pub mod backend;
pub mod cpu;
