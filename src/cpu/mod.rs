//! CPU twins of the shaders, one file for each, and the threads they run on.

pub mod take_one;
