//! PNG pictures of functions of two numbers, with axes and a key, and with what they show in the file's text chunks.
//!
//! A picture is one chart, or a sheet of several with the same axes and the same key. The origin is at the lower left, and
//! a unit is equally long on both axes.

use std::io::{self, Write};
use std::ops::Range;

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// What goes into a picture's text chunks besides the pixels.
pub struct Legend<'a> {
    /// What is shown: axes, colours.
    pub description: &'a str,
    /// The command that makes the picture.
    pub command: &'a str,
    /// The rules, as on the command line.
    pub ruleset: &'a str,
}

/// Functions of two numbers from 0 on: the first to the right, the second up, their values as colours.
pub struct Chart<'a> {
    /// What stands above, a line each, broken between words where it is too long.
    pub title: &'a [&'a str],
    /// How many values each number has.
    pub size: [u32; 2],
    /// What stands along the axes.
    pub axes: [&'a str; 2],
    /// What stands above each function; a single one needs nothing.
    pub captions: &'a [String],
    /// How many functions stand next to each other, from the upper left on.
    pub columns: usize,
    /// What the colours mean.
    pub key: Key<'a>,
    /// The functions by their index; `None` where one has no value.
    pub value: &'a dyn Fn(usize, u32, u32) -> Option<u32>,
}

/// What the colours mean.
pub enum Key<'a> {
    /// Values from `least` to `most`, along a perceptual colour map; what is beyond looks like the nearer of them.
    Scale {
        /// What stands above.
        name: &'a str,
        /// The first value.
        least: u32,
        /// The last value.
        most: u32,
        /// The value that is written as 1.
        unit: u32,
        /// What `None` means, if it occurs.
        none: Option<&'a str>,
    },
    /// The values 0, 1, … by name; `None` is white.
    Names(&'a [(&'a str, [u8; 3])]),
}

/// The colours of a picture: so many for values, from the first on, then one for what has no value, then a scale from
/// white to black.
const VALUES: u8 = 224;
const NOTHING: u8 = VALUES;
const WHITE: u8 = NOTHING + 1;
const BLACK: u8 = u8::MAX;

/// A chart alone is at least so many pixels wide or high inside the frame, as far as whole pixels a value allow.
const LEAST_SIDE: u32 = 512;
/// A chart among others.
const LEAST_TILE: u32 = 256;
/// A chart alone has its shorter side at least so long, as far as the longer does not grow beyond the latter.
const SHORTER_SIDE: u32 = 256;
const LONGER_SIDE: u32 = 1500;
/// From this side on letters are twice as large.
const LARGE_SIDE: u32 = 1600;
/// A key has no more lines of text beside it.
const KEY_LINES: u32 = 40;
/// Titles are cut after so many lines.
const MOST_LINES: usize = 6;
/// Where pictures are narrow, titles get so many letters a line nevertheless.
const TITLE_WIDTH: u32 = 48;

/// Writes a chart.
///
/// # Errors
/// What the writer or the encoder reports.
pub fn write_png(out: impl Write, chart: &Chart<'_>, legend: &Legend<'_>) -> io::Result<()> {
    let sheet = Sheet::new(chart);
    let mut encoder = png::Encoder::new(out, sheet.width, sheet.height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette(&chart.key));
    for (keyword, text) in
        [("Description", legend.description), ("Command", legend.command), ("Ruleset", legend.ruleset)]
    {
        encoder.add_itxt_chunk(keyword.to_owned(), text.to_owned())?;
    }
    let software = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
    encoder.add_text_chunk("Software".to_owned(), software.to_owned())?;
    let mut writer = encoder.write_header()?;
    let mut stream = writer.stream_writer()?;
    let mut values = vec![Vec::new(); sheet.tiles.len()];
    for y in 0..sheet.height {
        let row = sheet.row(chart, y, &mut values);
        stream.write_all(&row)?;
    }
    stream.finish()?;
    Ok(())
}

/// The width and height of a chart in pixels; `None` where they are far above `most`.
#[must_use]
pub fn pixels(chart: &Chart<'_>, most: u32) -> Option<[u32; 2]> {
    let rows = chart.captions.len().div_ceil(chart.columns);
    let below = |size: u32, count: usize| u64::from(size) * count as u64 <= u64::from(most);
    (below(chart.size[0], chart.columns) && below(chart.size[1], rows)).then(|| {
        let sheet = Sheet::new(chart);
        [sheet.width, sheet.height]
    })
}

/// Where everything is, in pixels from the upper left corner.
struct Sheet {
    width: u32,
    height: u32,
    /// Pixels a value along each axis.
    scale: u32,
    /// The upper left corners of the charts.
    tiles: Vec<[u32; 2]>,
    /// The extent of each chart.
    side: [u32; 2],
    /// The columns and rows of the key's colour map; no columns where there is none.
    key: [Range<u32>; 2],
    boxes: Vec<Filled>,
    labels: Vec<Label>,
    font: RasterHeight,
}

/// A rectangle of one colour.
struct Filled {
    x: Range<u32>,
    y: Range<u32>,
    colour: u8,
}

/// A line of text from its upper left corner.
struct Label {
    x: u32,
    y: u32,
    words: String,
}

/// Letters and the distances that go with them.
#[derive(Clone, Copy)]
struct Type {
    line: u32,
    letter: u32,
    gap: u32,
    tick: u32,
}

impl Type {
    fn of(font: RasterHeight) -> Self {
        let line = font.val() as u32;
        let letter = get_raster_width(FontWeight::Regular, font) as u32;
        Self { line, letter, gap: line / 2, tick: line / 2 }
    }

    fn wide(self, text: &str) -> u32 {
        self.letter * text.chars().count() as u32
    }

    fn widest<'a>(self, texts: impl IntoIterator<Item = &'a String>) -> u32 {
        texts.into_iter().map(|text| self.wide(text)).max().unwrap_or(0)
    }
}

impl Sheet {
    fn new(chart: &Chart<'_>) -> Self {
        let alone = chart.captions.len() == 1;
        let [longest, shortest] = [chart.size[0].max(chart.size[1]), chart.size[0].min(chart.size[1])];
        let scale = if alone {
            (LEAST_SIDE / longest).max((SHORTER_SIDE / shortest).min(LONGER_SIDE / longest)).max(1)
        } else {
            (LEAST_TILE / longest).max(1)
        };
        let side = chart.size.map(|size| size * scale);
        let font = if longest * scale < LARGE_SIDE { RasterHeight::Size16 } else { RasterHeight::Size32 };
        let type_ = Type::of(font);
        let Type { line, letter, gap, tick } = type_;

        let marks = [0, 1].map(|axis| marks([0, chart.size[axis] - 1], side[axis] / (4 * line).max(1), 1));
        let widest = marks.each_ref().map(|marks| type_.widest(marks.iter().map(|(_, text)| text)));
        // From one chart to the next: labels, the chart, and half a label that stands out to the right.
        let before = widest[1] + letter / 2 + tick;
        let captions = if type_.widest(chart.captions) > 0 { line + gap } else { 0 };
        let across = before + side[0] + (gap + widest[0] / 2).max(2 * gap);
        let down = captions + side[1] + tick + gap / 2 + line + gap;
        let rows = chart.captions.len().div_ceil(chart.columns) as u32;

        let name = chart.axes[1].split(' ').map(str::to_owned).collect::<Vec<_>>();
        let left = gap + type_.widest(&name) + gap + before;
        let key_left = left + chart.columns as u32 * across - before - (across - before - side[0]) + 3 * gap;
        let key = KeyPlan::new(&chart.key, type_, rows * down - (down - captions - side[1]) - captions);
        let width = (key_left + key.width).max(TITLE_WIDTH * letter) + 2 * gap;
        let title = broken(chart.title, ((width - 2 * gap) / letter) as usize);
        let top = gap + (title.len() as u32) * (line + line / 4) + line + 2 * gap + captions;
        let bottom = top + (rows - 1) * down + side[1];
        let below = bottom + tick + gap / 2 + line + gap / 2;
        let height = (below + line).max(top + key.height) + gap;

        let tiles = (0..chart.captions.len())
            .map(|tile| (tile % chart.columns, tile / chart.columns))
            .map(|(column, row)| [left + column as u32 * across, top + row as u32 * down])
            .collect::<Vec<_>>();
        let mut sheet = Self {
            width,
            height,
            scale,
            tiles: tiles.clone(),
            side,
            key: [key_left..key_left, top..top],
            boxes: Vec::new(),
            labels: Vec::new(),
            font,
        };
        for (index, text) in title.into_iter().enumerate() {
            sheet.write(gap, gap + index as u32 * (line + line / 4), text);
        }
        for (corner, caption) in tiles.into_iter().zip(chart.captions) {
            sheet.write(corner[0], corner[1].saturating_sub(line + gap / 2), caption.clone());
            sheet.add_axes(corner, &marks, type_);
        }
        let middle = (left + key_left - 3 * gap) / 2;
        let half = type_.wide(chart.axes[0]) / 2;
        sheet.write(middle.saturating_sub(half), below, chart.axes[0].to_owned());
        let first = u32::midpoint(top, bottom).saturating_sub(name.len() as u32 * line / 2);
        for (y, word) in (first..).step_by(line as usize).zip(name) {
            sheet.write(gap, y, word);
        }
        sheet.add_key(key, key_left, top, type_);
        sheet
    }

    /// The frame of a chart, and marks along its axes, each at the middle of its value.
    fn add_axes(&mut self, [left, top]: [u32; 2], marks: &[Vec<(u32, String)>; 2], type_: Type) {
        let Type { line, letter, gap, tick } = type_;
        let ([width, height], scale) = (self.side, self.scale);
        let bottom = top + height;
        self.frame(left..left + width, top..bottom);
        for (mark, text) in &marks[0] {
            let x = left + mark * scale + scale / 2;
            self.fill(x..x + 1, bottom..bottom + tick, BLACK);
            self.write(x.saturating_sub(type_.wide(text) / 2), bottom + tick + gap / 2, text.clone());
        }
        for (mark, text) in &marks[1] {
            let y = bottom - 1 - mark * scale - scale / 2;
            self.fill(left - tick..left, y..y + 1, BLACK);
            let x = left - tick - letter / 2 - type_.wide(text);
            self.write(x, y.saturating_sub(line / 2), text.clone());
        }
    }

    /// Draws the key from its upper left corner on.
    fn add_key(&mut self, key: KeyPlan, left: u32, top: u32, type_: Type) {
        let Type { line, letter, gap, tick } = type_;
        let label = left + line + tick + letter / 2;
        self.write(left, top - line - gap, key.name);
        let end = left + line;
        if key.scale > 0 {
            self.key = [left..end, top..top + key.scale];
            self.frame(left..end, top..top + key.scale);
        }
        for (up, text) in key.marks {
            let y = top + key.scale - 1 - up;
            self.fill(end..end + tick, y..y + 1, BLACK);
            self.write(label, y.saturating_sub(line / 2), text);
        }
        for (down, colour, text) in key.names {
            let y = top + down;
            self.fill(left..end, y..y + line, colour);
            self.frame(left..end, y..y + line);
            self.write(label, y, text);
        }
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
        if !text.is_empty() {
            self.labels.push(Label { x, y, words: text });
        }
    }

    /// One row of pixels. `values` holds the colours of each chart's last row of values between calls.
    fn row(&self, chart: &Chart<'_>, y: u32, values: &mut [Vec<u8>]) -> Vec<u8> {
        let mut row = vec![WHITE; self.width as usize];
        let span = |x: &Range<u32>| x.start as usize..x.end as usize;
        for (tile, (&[left, top], values)) in self.tiles.iter().zip(values).enumerate() {
            let Some(below_top) = y.checked_sub(top).filter(|&below_top| below_top < self.side[1]) else {
                continue;
            };
            let up = self.side[1] - 1 - below_top;
            if up % self.scale == self.scale - 1 {
                let colour = |x| chart.key.colour((chart.value)(tile, x, up / self.scale));
                values.clear();
                values.extend((0..chart.size[0]).map(colour));
            }
            for (cell, &colour) in row[left as usize..].chunks_mut(self.scale as usize).zip(&*values) {
                cell.fill(colour);
            }
        }
        if self.key[1].contains(&y) {
            let up = self.key[1].end - 1 - y;
            row[span(&self.key[0])].fill(shade(up, [0, self.key[1].len() as u32 - 1]));
        }
        for filled in self.boxes.iter().filter(|filled| filled.y.contains(&y)) {
            row[span(&filled.x)].fill(filled.colour);
        }
        for label in &self.labels {
            if let Some(line) = y.checked_sub(label.y).filter(|&line| line < self.font.val() as u32) {
                self.draw(label, line as usize, &mut row);
            }
        }
        row
    }

    /// One row of pixels of a text.
    fn draw(&self, label: &Label, line: usize, row: &mut [u8]) {
        let letters = label.words.chars().filter_map(|letter| {
            let drawn = |letter| get_raster(letter, FontWeight::Regular, self.font);
            drawn(letter).or_else(|| drawn('?'))
        });
        let pixels = letters
            .flat_map(|letter| letter.pixels()[line * letter.width()..][..letter.width()].iter().copied());
        for (pixel, ink) in row[label.x as usize..].iter_mut().zip(pixels) {
            if ink > 0 {
                *pixel = WHITE + (u32::from(ink) * u32::from(BLACK - WHITE) / 255) as u8;
            }
        }
    }
}

/// What a key has, and how much room that takes.
struct KeyPlan {
    name: String,
    /// How long the colour map is; 0 for none.
    scale: u32,
    /// Labels of the colour map, with how far up they stand.
    marks: Vec<(u32, String)>,
    /// Colours with their names, and how far down they stand.
    names: Vec<(u32, u8, String)>,
    width: u32,
    height: u32,
}

impl KeyPlan {
    /// A key beside charts that are so high together.
    fn new(key: &Key<'_>, type_: Type, high: u32) -> Self {
        let Type { line, letter, gap, tick } = type_;
        let (name, scale, marks, names) = match *key {
            Key::Scale { name, least, most, unit, none } => {
                let high = high.min(KEY_LINES * line);
                let marks = marks([least, most], high / (3 * line).max(1), unit);
                let range = u64::from(most - least).max(1);
                let up = |mark: u32| u64::from(mark - least) * u64::from(high - 1) / range;
                let marks = marks.into_iter().map(|(mark, text)| (up(mark) as u32, text)).collect();
                let none = none.map(|none| (high + 2 * gap, NOTHING, none.to_owned()));
                (name.to_owned(), high, marks, none.into_iter().collect::<Vec<_>>())
            }
            Key::Names(names) => {
                let entry = |(index, name): (u32, &(&str, [u8; 3]))| {
                    (index * (line + gap), index as u8, name.0.to_owned())
                };
                (String::new(), 0, Vec::new(), (0..).zip(names).map(entry).collect())
            }
        };
        let texts = marks.iter().map(|(_, text)| text).chain(names.iter().map(|(.., text)| text));
        let width = (line + tick + letter / 2 + type_.widest(texts)).max(type_.wide(&name));
        let height = names.last().map_or(scale, |(down, ..)| down + line);
        Self { name, scale, marks, names, width, height }
    }
}

impl Key<'_> {
    /// The colour of a value.
    fn colour(&self, value: Option<u32>) -> u8 {
        match (self, value) {
            (_, None) => NOTHING,
            (Self::Scale { least, most, .. }, Some(value)) => shade(value, [*least, *most]),
            (Self::Names(_), Some(value)) => value.min(VALUES.into()) as u8,
        }
    }
}

/// Round numbers from `first` to `last`, at least two if there are, not many more than `count` of them, and how they are
/// written when `unit` stands for 1.
fn marks([first, last]: [u32; 2], count: u32, unit: u32) -> Vec<(u32, String)> {
    let rough = ((last - first) / count.max(2)).max(1);
    let power = 10u32.pow(rough.ilog10());
    let mut steps = [1, 2, 5, 10].map(|factor| factor * power).into_iter();
    let two = |step: u32| first.next_multiple_of(step) + step <= last;
    let wide = steps.clone().find(|&step| step >= rough && two(step));
    let step = wide.or_else(|| steps.rfind(|&step| step <= rough)).unwrap_or(rough);
    let marks = (first.next_multiple_of(step)..=last).step_by(step as usize);
    // As many digits for all.
    let digits = |mark: u32| {
        (f64::from(mark) / f64::from(unit)).to_string().split_once('.').map_or(0, |it| it.1.len())
    };
    let most = marks.clone().map(digits).max().unwrap_or(0);
    marks.map(|mark| (mark, format!("{:.most$}", f64::from(mark) / f64::from(unit)))).collect()
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

/// The colour of a value among those from `least` to `most`.
fn shade(value: u32, [least, most]: [u32; 2]) -> u8 {
    let (last, range) = (u64::from(VALUES - 1), u64::from(most - least).max(1));
    (u64::from(value.saturating_sub(least)) * last / range).min(last) as u8
}

/// Red, green and blue of all colours.
fn palette(key: &Key<'_>) -> Vec<u8> {
    let mut values =
        (0..VALUES).map(|shade| colour(f64::from(shade) / f64::from(VALUES - 1))).collect::<Vec<_>>();
    let mut nothing = [150; 3];
    if let Key::Names(names) = key {
        nothing = [255; 3];
        for (value, &(_, colour)) in values.iter_mut().zip(*names) {
            *value = colour;
        }
    }
    let white = (WHITE..=BLACK).map(|ink| [255 - ((u32::from(ink - WHITE)) * 255 / 30) as u8; 3]);
    values.into_iter().chain([nothing]).chain(white).flatten().collect()
}

/// The colour of a share from 0 (dark violet) over blue and green to 1 (yellow): the map viridis of matplotlib.
#[must_use]
pub fn colour(share: f64) -> [u8; 3] {
    colorous::VIRIDIS.eval_continuous(share.clamp(0.0, 1.0)).into_array()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: Key<'_> = Key::Scale { name: "f", least: 0, most: 9, unit: 1, none: None };

    #[test]
    fn the_colour_map_goes_through_its_stops() {
        assert_eq!(colour(0.0), [68, 1, 84]);
        assert_eq!(colour(0.5), [32, 144, 140]);
        assert_eq!(colour(1.0), [253, 231, 37]);
        assert_eq!(colour(7.0), colour(1.0));
        assert_eq!(palette(&SCALE).len(), 3 * 256);
        let named = palette(&Key::Names(&[("N", [1, 2, 3])]));
        assert_eq!((&named[..3], named.len()), (&[1, 2, 3][..], 3 * 256));
        assert_eq!([3, 5, 6, 7, 9].map(|value| shade(value, [5, 7])), [0, 0, 111, 223, 223]);
        assert_eq!([shade(0, [0, 9]), shade(9, [0, 9]), shade(0, [0, 0])], [0, VALUES - 1, 0]);
    }

    #[test]
    fn marks_are_round_and_not_many() {
        let written =
            |last, unit| marks([0, last], 8, unit).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(written(512, 1), ["0", "100", "200", "300", "400", "500"]);
        assert_eq!(written(1, 1), ["0", "1"]);
        assert_eq!(written(0, 1), ["0"]);
        assert_eq!(
            written(160_000, 1_000_000),
            ["0.00", "0.02", "0.04", "0.06", "0.08", "0.10", "0.12", "0.14", "0.16"]
        );
        let some = marks([110_000, 190_000], 4, 1_000_000).into_iter().map(|(_, text)| text);
        assert_eq!(some.collect::<Vec<_>>(), ["0.12", "0.14", "0.16", "0.18"]);
        assert!((2..3000).all(|last| marks([0, last], 0, 1).len() >= 2));
        assert!((0..3000).all(|last| marks([0, last], 8, 1).len() <= 17));
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
        let value = |tile: usize, x: u32, y: u32| (x != 1 || y != 2).then_some(x + 10 * y + tile as u32);
        let chart = Chart {
            title: &["a title"],
            size: [3, 5],
            axes: ["x", "y"],
            captions: &["one".to_owned(), "two".to_owned(), "three".to_owned()],
            columns: 2,
            key: Key::Scale { name: "f", least: 0, most: 44, unit: 1, none: Some("none") },
            value: &value,
        };
        let legend = Legend { description: "x right, y up", command: "nimstrata render d", ruleset: "fts" };
        let mut file = Vec::new();
        write_png(&mut file, &chart, &legend).unwrap();
        let sheet = Sheet::new(&chart);
        let (width, pixels) = read(&file);
        assert!(sheet.tiles[0][0] < sheet.tiles[1][0] && sheet.tiles[0][1] < sheet.tiles[2][1]);
        for (tile, corner) in sheet.tiles.iter().enumerate() {
            for (x, y) in [(0, 0), (2, 0), (0, 4), (1, 2), (2, 4)] {
                let across = corner[0] + x * sheet.scale + sheet.scale / 2;
                let down = corner[1] + sheet.side[1] - 1 - (y * sheet.scale + sheet.scale / 2);
                let expected = value(tile, x, y).map_or(NOTHING, |f| shade(f, [0, 44]));
                assert_eq!(pixels[down as usize * width + across as usize], expected, "({x},{y})");
            }
        }
        let reader = png::Decoder::new(io::Cursor::new(&file)).read_info().unwrap();
        let texts = &reader.info().utf8_text;
        for (keyword, text) in [("Command", legend.command), ("Ruleset", legend.ruleset)] {
            assert!(texts.iter().any(|it| it.keyword == keyword && it.get_text().unwrap() == text));
        }
    }

    #[test]
    fn charts_of_any_size_have_room_for_everything() {
        let keys = || {
            [
                Key::Scale { name: "f(x,y)", least: 700, most: 5000, unit: 1, none: Some("none") },
                Key::Names(&[("long name", [0; 3]); 9]),
            ]
        };
        for (size, tiles, columns) in [
            ([1, 1], 1, 1),
            ([2, 2], 5, 3),
            ([7, 7], 1, 1),
            ([300, 300], 9, 3),
            ([513, 513], 1, 1),
            ([2000, 2000], 2, 1),
            ([12, 131], 1, 1),
            ([4, 43], 1, 1),
            ([41, 241], 1, 1),
            ([401, 31], 1, 1),
        ] {
            for key in keys() {
                let title = "word ".repeat(99);
                let chart = Chart {
                    title: &[&title],
                    size,
                    axes: ["2nd largest heap", "total"],
                    captions: &vec!["(x,y,3)".to_owned(); tiles],
                    columns,
                    key,
                    value: &|_, x, _| Some(x),
                };
                let sheet = Sheet::new(&chart);
                assert_eq!(pixels(&chart, 9000), Some([sheet.width, sheet.height]));
                assert_eq!(pixels(&chart, 0), None);
                let letter = get_raster_width(FontWeight::Regular, sheet.font) as u32;
                let line = sheet.font.val() as u32;
                let places = sheet.labels.iter().map(|label| {
                    let right = label.x + letter * label.words.chars().count() as u32;
                    (label.x..right, label.y..label.y + line, &label.words)
                });
                let places = places.collect::<Vec<_>>();
                for (index, (x, y, words)) in places.iter().enumerate() {
                    assert!(x.end <= sheet.width && y.end <= sheet.height, "{words} of {size:?}");
                    let over = places[..index].iter().find(|other| {
                        let apart = |one: &Range<u32>, other: &Range<u32>| {
                            one.end <= other.start || other.end <= one.start
                        };
                        !apart(x, &other.0) && !apart(y, &other.1)
                    });
                    assert!(over.is_none(), "{words} stands over {over:?} of {size:?}");
                }
                let inside = |filled: &Filled| filled.x.end <= sheet.width && filled.y.end <= sheet.height;
                assert!(sheet.boxes.iter().all(inside));
            }
        }
    }
}
