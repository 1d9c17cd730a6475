//! Dispatches `shaders/take_one.wgsl`: verdicts of take-one games, stratum by stratum.

use super::stencil::{Shader, StencilKernel};
use super::strata::Strata;
use crate::space::Cell;

/// The shader's source.
pub const SHADER: &str =
    concat!(include_str!("../../shaders/stencil.wgsl"), include_str!("../../shaders/take_one.wgsl"));

/// The GPU backend for verdicts of take-one games.
pub type TakeOne = Strata<StencilKernel<Verdicts>>;

/// The shader for verdicts.
pub struct Verdicts;

impl Shader for Verdicts {
    const NAME: &'static str = "take one";
    const SOURCE: &'static str = SHADER;
    const CELL: Cell = Cell::Verdicts;
    const WORDS: u32 = 2;
}
