//! The header of numpy's `.npy` files, format 1.0.

use std::io::{self, Write};

/// What stands before the data: magic, version, length of the header, the header padded to 64 bytes. `descr` is
/// numpy's name of the element type, such as `<u4`; the data is in C order.
pub(crate) fn header(descr: &str, shape: &[u64]) -> Vec<u8> {
    let shape = match shape {
        [only] => format!("({only},)"),
        shape => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    };
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{header:<width$}\n", width = length - 1).bytes());
    bytes
}

/// Writes a [`header`].
pub(crate) fn write_header(mut out: impl Write, descr: &str, shape: &[u64]) -> io::Result<()> {
    out.write_all(&header(descr, shape))
}

/// What a file that should start with `header` starts with instead: the text of its own header, or what it is.
pub(crate) fn found(file: &[u8], header: &[u8]) -> Option<String> {
    if file.starts_with(header) {
        return None;
    }
    let length = file.get(8..10).map(|length| usize::from(u16::from_le_bytes([length[0], length[1]])));
    let text = length.and_then(|length| file.get(10..10 + length));
    let text =
        text.and_then(|text| std::str::from_utf8(text).ok()).filter(|_| file.starts_with(b"\x93NUMPY"));
    Some(match text {
        Some(text) => format!("it is another array: {}", text.trim_end()),
        None if file.len() < header.len() => "it ends within its header".to_owned(),
        None => "it is no .npy file".to_owned(),
    })
}
