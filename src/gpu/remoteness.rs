//! Dispatches `shaders/remoteness.wgsl`: remoteness of take-one games, stratum by stratum.

use std::marker::PhantomData;

use super::stencil::{Shader, StencilKernel};
use super::strata::Strata;
use crate::space::{Cell, Key};

// A constant in front of the text, not an `override`: naga 30 panics where expressions of overrides meet `select`.
macro_rules! source {
    ($key_bits:literal) => {
        concat!(
            include_str!("../../shaders/stencil.wgsl"),
            "const KEY_BITS: u32 = ",
            $key_bits,
            "u;\n",
            include_str!("../../shaders/remoteness.wgsl")
        )
    };
}

/// The shader's source for keys of 8 bits.
pub const SHADER_8: &str = source!(8);

/// The shader's source for keys of 16 bits.
pub const SHADER_16: &str = source!(16);

/// The GPU backend for remoteness of take-one games, in keys of type `K`: [`u8`] or [`u16`].
pub type Remoteness<K> = Strata<StencilKernel<Keys<K>>>;

/// The shader for keys of one width.
pub struct Keys<K>(PhantomData<K>);

impl<K: Key> Shader for Keys<K> {
    const NAME: &'static str = "remoteness";
    const SOURCE: &'static str = if K::CELL.bytes() == 1 { SHADER_8 } else { SHADER_16 };
    const CELL: Cell = K::CELL;
    const WORDS: u32 = 1;
}
