//! Solves whole families of heap games in bulk, stratum by stratum, on the GPU and the CPU.
//!
//! [`game`] says what a game is, [`space`] how its positions are counted, ordered and laid out. [`solver::Solver`]
//! solves a region on a backend ([`cpu`] or [`gpu`]) and shows every stratum to the observers in [`observe`];
//! [`oracle`] solves small regions straight from the definition.
//!
//! ```
//! use std::ops::ControlFlow;
//! use nimstrata::game::Ruleset;
//! use nimstrata::observe::Census;
//! use nimstrata::solver::{Options, Solver};
//! use nimstrata::space::Region;
//!
//! let rules = Ruleset::bounded_moore(5, 2)?;
//! let region = Region::new(rules.heaps, 20)?;
//! let mut census = Census::new(&region, 2)?;
//! let mut solver = Solver::new(&rules, &region, &Options::default())?;
//! let summary = solver.run(&mut [&mut census], &mut |_| ControlFlow::Continue(()))?;
//! assert_eq!(summary.positions, 53_130);
//! assert!(census.words().iter().all(|word| word.is_uniform()));
//! # Ok::<(), nimstrata::Error>(())
//! ```
#![deny(missing_docs)]

#[cfg(target_endian = "big")]
compile_error!("cells, shader memory and files are little-endian: nimstrata runs on little-endian machines");

pub mod backend;
pub mod baseline;
pub mod checkpoint;
pub mod completion;
pub mod cpu;
pub mod density;
pub mod error;
pub mod export;
pub mod game;
pub mod gpu;
mod npy;
pub mod observe;
pub mod oracle;
pub mod output_file;
pub mod picture;
pub mod slice;
pub mod solver;
pub mod space;
pub mod store;

pub use error::{Error, Result};
