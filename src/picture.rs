//! PNG pictures of numbers, with what they show in the file's text chunks.

use std::io::{self, Write};

/// What goes into a picture's text chunks besides the pixels.
pub struct Legend<'a> {
    /// What is shown: axes, colours.
    pub description: &'a str,
    /// The command that makes the picture.
    pub command: &'a str,
}

/// The colour of what has no value.
pub const NOTHING: [u8; 3] = [128, 128, 128];

/// Writes an RGB picture, rows from the top.
///
/// # Errors
/// What the writer or the encoder reports; so too when there are not `width` · `height` pixels.
pub fn write_png(
    out: impl Write,
    [width, height]: [u32; 2],
    pixels: &[[u8; 3]],
    legend: &Legend<'_>,
) -> io::Result<()> {
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.add_itxt_chunk("Description".to_owned(), legend.description.to_owned())?;
    encoder.add_itxt_chunk("Command".to_owned(), legend.command.to_owned())?;
    let software = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
    encoder.add_text_chunk("Software".to_owned(), software.to_owned())?;
    let mut writer = encoder.write_header()?;
    writer.write_image_data(bytemuck::cast_slice(pixels))?;
    writer.finish()?;
    Ok(())
}

/// The colour of a share from 0 (dark violet) over blue and green to 1 (yellow): the map viridis of matplotlib, between
/// nine of its colours.
#[must_use]
pub fn colour(share: f64) -> [u8; 3] {
    const STOPS: [[u8; 3]; 9] = [
        [68, 1, 84],
        [71, 44, 122],
        [59, 81, 139],
        [44, 113, 142],
        [33, 144, 141],
        [39, 173, 129],
        [92, 200, 99],
        [170, 220, 50],
        [253, 231, 37],
    ];
    let at = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let below = (at as usize).min(STOPS.len() - 2);
    let part = at - below as f64;
    let mix = |low: u8, high: u8| (f64::from(low) + part * (f64::from(high) - f64::from(low))).round() as u8;
    std::array::from_fn(|i| mix(STOPS[below][i], STOPS[below + 1][i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_map_goes_through_its_stops() {
        assert_eq!(colour(0.0), [68, 1, 84]);
        assert_eq!(colour(0.5), [33, 144, 141]);
        assert_eq!(colour(1.0), [253, 231, 37]);
        assert_eq!(colour(7.0), colour(1.0));
    }

    #[test]
    fn a_picture_holds_its_pixels_and_its_legend() {
        let pixels = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12], [13, 14, 15], [16, 17, 18]];
        let mut file = Vec::new();
        let legend = Legend { description: "x right, y down", command: "nimstrata render d" };
        write_png(&mut file, [3, 2], &pixels, &legend).unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(&file)).read_info().unwrap();
        let mut read = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut read).unwrap();
        assert_eq!(read, bytemuck::cast_slice::<_, u8>(&pixels));
        let texts = &reader.info().utf8_text;
        assert!(
            texts.iter().any(|text| text.keyword == "Command" && text.get_text().unwrap() == legend.command)
        );
    }
}
