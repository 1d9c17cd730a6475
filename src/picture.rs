//! PNG pictures of functions of two heaps, with axes and a key, and with what they show in the file's text chunks.

use std::io::{self, Write};
use std::ops::Range;

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// What goes into a picture's text chunks besides the pixels.
pub struct Legend<'a> {
    /// What is shown: axes, colours.
    pub description: &'a str,
    /// The command that makes the picture.
    pub command: &'a str,
}

/// A function of two numbers from 0 on: the first to the right, the second up, its values as colours.
pub struct Chart<'a> {
    /// What stands above, a line each, broken between words where it is too long.
    pub title: &'a [&'a str],
    /// How many values each number has.
    pub size: u32,
    /// What stands along the axes.
    pub axes: [&'a str; 2],
    /// What stands above the key.
    pub name: &'a str,
    /// The greatest value.
    pub most: u32,
    /// Whether the key says which colour `None` has.
    pub gaps: bool,
    /// The function; `None` where it has no value.
    pub value: &'a dyn Fn(u32, u32) -> Option<u32>,
}

/// The colours of a picture: so many for values, from the first on, then one for what has no value, then a scale from
/// white to black.
const VALUES: u8 = 224;
const NOTHING: u8 = VALUES;
const WHITE: u8 = NOTHING + 1;
const BLACK: u8 = u8::MAX;

/// Pictures are at least so many pixels wide inside the frame, as far as whole pixels a value allow.
const LEAST_SIDE: u32 = 512;
/// From this side on letters are twice as large.
const LARGE_SIDE: u32 = 1600;
/// Titles are cut after so many lines.
const MOST_LINES: usize = 6;

/// Writes a chart.
///
/// # Errors
/// What the writer or the encoder reports.
pub fn write_png(out: impl Write, chart: &Chart<'_>, legend: &Legend<'_>) -> io::Result<()> {
    let sheet = Sheet::new(chart);
    let mut encoder = png::Encoder::new(out, sheet.width, sheet.height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette());
    encoder.add_itxt_chunk("Description".to_owned(), legend.description.to_owned())?;
    encoder.add_itxt_chunk("Command".to_owned(), legend.command.to_owned())?;
    let software = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
    encoder.add_text_chunk("Software".to_owned(), software.to_owned())?;
    let mut writer = encoder.write_header()?;
    let mut stream = writer.stream_writer()?;
    let mut values = Vec::new();
    for y in 0..sheet.height {
        let row = sheet.row(chart, y, &mut values);
        stream.write_all(&row)?;
    }
    stream.finish()?;
    Ok(())
}

/// Where everything is, in pixels from the upper left corner.
struct Sheet {
    width: u32,
    height: u32,
    /// Pixels a value along each axis.
    scale: u32,
    /// The upper left corner of the values, and their extent.
    left: u32,
    top: u32,
    side: u32,
    /// The columns of the key; its rows are those of the values.
    key: Range<u32>,
    boxes: Vec<Filled>,
    texts: Vec<Text>,
    font: RasterHeight,
}

/// A rectangle of one colour.
struct Filled {
    x: Range<u32>,
    y: Range<u32>,
    colour: u8,
}

/// A line of text from its upper left corner.
struct Text {
    x: u32,
    y: u32,
    text: String,
}

impl Sheet {
    fn new(chart: &Chart<'_>) -> Self {
        let scale = (LEAST_SIDE / chart.size).max(1);
        let side = chart.size * scale;
        let font = if side < LARGE_SIDE { RasterHeight::Size16 } else { RasterHeight::Size32 };
        let (line, letter) = (font.val() as u32, get_raster_width(FontWeight::Regular, font) as u32);
        let wide = |text: &str| letter * text.chars().count() as u32;
        let (gap, tick) = (line / 2, line / 2);

        let marks = marks(chart.size - 1, side / (4 * line).max(1));
        let key_marks = self::marks(chart.most, side / (2 * line).max(1));
        let widest = |marks: &[u32]| marks.iter().map(|mark| wide(&mark.to_string())).max().unwrap_or(0);
        let left = gap + wide(chart.axes[1]) + gap + widest(&marks) + letter / 2 + tick;
        let key = left + side + 3 * gap..left + side + 3 * gap + line;
        let key_label = key.end + tick + letter / 2;
        let width = (key_label + widest(&key_marks)).max(key.start + wide(chart.name)) + 2 * gap;
        let title = broken(chart.title, ((width - 2 * gap) / letter) as usize);
        let top = gap + (title.len() as u32) * (line + line / 4) + line + 2 * gap;
        let bottom = top + side;
        let below = bottom + tick + gap / 2;
        let height = below + 2 * line + gap / 2 + gap;

        let mut sheet =
            Self { width, height, scale, left, top, side, key, boxes: Vec::new(), texts: Vec::new(), font };
        for (index, text) in title.into_iter().enumerate() {
            sheet.write(gap, gap + index as u32 * (line + line / 4), text);
        }
        sheet.frame(left..left + side, top..bottom);
        sheet.frame(sheet.key.clone(), top..bottom);
        // A mark stands at the middle of its value.
        for mark in marks {
            let (at, text) = (mark * scale + scale / 2, mark.to_string());
            let (x, y) = (left + at, bottom - 1 - at);
            sheet.fill(x..x + 1, bottom..bottom + tick, BLACK);
            sheet.fill(left - tick..left, y..y + 1, BLACK);
            sheet.write(x.saturating_sub(wide(&text) / 2), below, text.clone());
            sheet.write(left - tick - letter / 2 - wide(&text), y.saturating_sub(line / 2), text);
        }
        sheet.write(
            left + side / 2 - wide(chart.axes[0]) / 2,
            below + line + gap / 2,
            chart.axes[0].to_owned(),
        );
        sheet.write(gap, top + side / 2 - line / 2, chart.axes[1].to_owned());

        let (start, end) = (sheet.key.start, sheet.key.end);
        sheet.write(start, top - line - gap, chart.name.to_owned());
        for mark in key_marks {
            let up = u64::from(mark) * u64::from(side - 1) / u64::from(chart.most.max(1));
            let y = bottom - 1 - up as u32;
            sheet.fill(end..end + tick, y..y + 1, BLACK);
            sheet.write(key_label, y.saturating_sub(line / 2), mark.to_string());
        }
        if chart.gaps {
            let y = below + line + gap / 2;
            sheet.fill(start..end, y..y + line, NOTHING);
            sheet.frame(start..end, y..y + line);
            sheet.write(key_label, y, "none".to_owned());
        }
        sheet
    }

    fn fill(&mut self, x: Range<u32>, y: Range<u32>, colour: u8) {
        self.boxes.push(Filled { x, y, colour });
    }

    /// Four lines just outside of a rectangle.
    fn frame(&mut self, x: Range<u32>, y: Range<u32>) {
        self.fill(x.start - 1..x.end + 1, y.start - 1..y.start, BLACK);
        self.fill(x.start - 1..x.end + 1, y.end..y.end + 1, BLACK);
        self.fill(x.start - 1..x.start, y.clone(), BLACK);
        self.fill(x.end..x.end + 1, y, BLACK);
    }

    fn write(&mut self, x: u32, y: u32, text: String) {
        self.texts.push(Text { x, y, text });
    }

    /// One row of pixels. `values` holds the colours of the last row of values between calls.
    fn row(&self, chart: &Chart<'_>, y: u32, values: &mut Vec<u8>) -> Vec<u8> {
        let mut row = vec![WHITE; self.width as usize];
        let span = |x: &Range<u32>| x.start as usize..x.end as usize;
        if let Some(below_top) = y.checked_sub(self.top).filter(|&below_top| below_top < self.side) {
            let up = self.side - 1 - below_top;
            if up % self.scale == self.scale - 1 {
                let colour = |x| (chart.value)(x, up / self.scale).map_or(NOTHING, |f| shade(f, chart.most));
                values.clear();
                values.extend((0..chart.size).map(colour));
            }
            for (cell, &colour) in row[self.left as usize..].chunks_mut(self.scale as usize).zip(&*values) {
                cell.fill(colour);
            }
            row[span(&self.key)].fill(shade(up, self.side - 1));
        }
        for filled in self.boxes.iter().filter(|filled| filled.y.contains(&y)) {
            row[span(&filled.x)].fill(filled.colour);
        }
        for text in &self.texts {
            if let Some(line) = y.checked_sub(text.y).filter(|&line| line < self.font.val() as u32) {
                self.draw(text, line as usize, &mut row);
            }
        }
        row
    }

    /// One row of pixels of a text.
    fn draw(&self, text: &Text, line: usize, row: &mut [u8]) {
        let letters = text.text.chars().flat_map(|letter| {
            let drawn = |letter| get_raster(letter, FontWeight::Regular, self.font);
            drawn(letter).or_else(|| drawn('?'))
        });
        let pixels = letters
            .flat_map(|letter| letter.pixels()[line * letter.width()..][..letter.width()].iter().copied());
        for (pixel, ink) in row[text.x as usize..].iter_mut().zip(pixels) {
            if ink > 0 {
                *pixel = WHITE + (u32::from(ink) * u32::from(BLACK - WHITE) / 255) as u8;
            }
        }
    }
}

/// Round numbers from 0 to `last`, not many more than `count` of them.
fn marks(last: u32, count: u32) -> Vec<u32> {
    let rough = (last / count.max(1)).max(1);
    let power = 10u32.pow(rough.ilog10());
    let step = [1, 2, 5, 10].into_iter().map(|factor| factor * power).find(|&step| step >= rough);
    (0..=last).step_by(step.unwrap_or(rough) as usize).collect()
}

/// Breaks lines between words where they are longer than `width` letters.
fn broken(lines: &[&str], width: usize) -> Vec<String> {
    let mut broken: Vec<String> = Vec::new();
    for line in lines {
        broken.push(String::new());
        for word in line.split(' ') {
            let last = broken.last_mut().expect("one has been pushed");
            let joined = last.chars().count() + 1 + word.chars().count();
            if last.is_empty() {
                last.push_str(word);
            } else if joined <= width {
                last.push(' ');
                last.push_str(word);
            } else {
                broken.push(word.to_owned());
            }
        }
    }
    if broken.len() > MOST_LINES {
        broken.truncate(MOST_LINES - 1);
        broken.push("...".to_owned());
    }
    broken
}

/// The colour of a value among those from 0 to `most`.
fn shade(value: u32, most: u32) -> u8 {
    let last = u64::from(VALUES - 1);
    (u64::from(value) * last / u64::from(most.max(1))).min(last) as u8
}

/// Red, green and blue of all colours.
fn palette() -> Vec<u8> {
    let values = (0..VALUES).map(|shade| colour(f64::from(shade) / f64::from(VALUES - 1)));
    let white = (WHITE..=BLACK).map(|ink| [255 - ((u32::from(ink - WHITE)) * 255 / 30) as u8; 3]);
    values.chain([[150; 3]]).chain(white).flatten().collect()
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
        assert_eq!(palette().len(), 3 * 256);
        assert_eq!([shade(0, 9), shade(9, 9), shade(0, 0)], [0, VALUES - 1, 0]);
    }

    #[test]
    fn marks_are_round_and_not_many() {
        assert_eq!(marks(512, 8), [0, 100, 200, 300, 400, 500]);
        assert_eq!(marks(1, 8), [0, 1]);
        assert_eq!(marks(0, 8), [0]);
        assert!((0..3000).all(|last| marks(last, 8).len() <= 17));
    }

    #[test]
    fn long_titles_are_broken_between_words() {
        assert_eq!(broken(&["one two three", "four"], 8), ["one two", "three", "four"]);
        assert_eq!(broken(&["unbreakable"], 8), ["unbreakable"]);
        assert_eq!(broken(&[&"a ".repeat(99)], 3).len(), MOST_LINES);
    }

    /// Reads the colours of a picture.
    fn read(file: &[u8]) -> (usize, Vec<u8>) {
        let mut decoder = png::Decoder::new(io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::IDENTITY);
        let mut reader = decoder.read_info().unwrap();
        let mut read = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut read).unwrap();
        (reader.info().width as usize, read)
    }

    #[test]
    fn the_origin_is_at_the_lower_left_and_the_legend_in_the_file() {
        let value = |x: u32, y: u32| (x != 1 || y != 2).then_some(x + 10 * y);
        let chart = Chart {
            title: &["a title"],
            size: 3,
            axes: ["x", "y"],
            name: "f",
            most: 22,
            gaps: true,
            value: &value,
        };
        let legend = Legend { description: "x right, y up", command: "nimstrata render d" };
        let mut file = Vec::new();
        write_png(&mut file, &chart, &legend).unwrap();
        let sheet = Sheet::new(&chart);
        let (width, pixels) = read(&file);
        for (x, y) in [(0, 0), (2, 0), (0, 2), (1, 2)] {
            let across = sheet.left + x * sheet.scale + sheet.scale / 2;
            let down = sheet.top + sheet.side - 1 - (y * sheet.scale + sheet.scale / 2);
            let expected = value(x, y).map_or(NOTHING, |f| shade(f, 22));
            assert_eq!(pixels[down as usize * width + across as usize], expected, "({x},{y})");
        }
        let reader = png::Decoder::new(io::Cursor::new(&file)).read_info().unwrap();
        let texts = &reader.info().utf8_text;
        assert!(
            texts.iter().any(|text| text.keyword == "Command" && text.get_text().unwrap() == legend.command)
        );
    }

    #[test]
    fn charts_of_any_size_have_room_for_everything() {
        for size in [1, 2, 7, 300, 513, 2000] {
            let title = "word ".repeat(99);
            let chart = Chart {
                title: &[&title],
                size,
                axes: ["x", "y"],
                name: "f(x,y)",
                most: 2 * size,
                gaps: true,
                value: &|x, _| Some(x),
            };
            let sheet = Sheet::new(&chart);
            for text in &sheet.texts {
                let right = text.x
                    + get_raster_width(FontWeight::Regular, sheet.font) as u32 * text.text.len() as u32;
                assert!(
                    right <= sheet.width && text.y + sheet.font.val() as u32 <= sheet.height,
                    "{}",
                    text.text
                );
            }
            assert!(
                sheet.boxes.iter().all(|filled| filled.x.end <= sheet.width && filled.y.end <= sheet.height)
            );
        }
    }
}
