//! The header of numpy's `.npy` files, format 1.0.

use std::io::{self, Write};

/// Writes what stands before the data: magic, version, length of the header, the header padded to 64 bytes. `descr` is
/// numpy's name of the element type, such as `<u4`; the data is in C order.
pub(crate) fn write_header(mut out: impl Write, descr: &str, shape: &[u64]) -> io::Result<()> {
    let shape = match shape {
        [only] => format!("({only},)"),
        shape => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    };
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(length as u16).to_le_bytes())?;
    writeln!(out, "{header:<width$}", width = length - 1)
}
