//! A chart of lines as SVG: a linear axis to the right, a logarithmic one up, and each line with its name at its end.

use std::fmt::Write;

/// The picture's size.
const SIZE: [f64; 2] = [860.0, 500.0];
/// What is left free around the lines: left, top, right, bottom.
const MARGINS: [f64; 4] = [78.0, 72.0, 190.0, 84.0];
/// Colours that can be told apart by people who see fewer of them, too.
const COLOURS: [&str; 6] = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#555555"];
/// The least distance of two names.
const NAME_STEP: f64 = 17.0;

/// What is drawn.
pub struct Chart<'a> {
    /// What stands above.
    pub title: &'a str,
    /// What stands below that.
    pub subtitle: &'a str,
    /// What stands along the axes.
    pub axes: [&'a str; 2],
    /// What stands below.
    pub note: &'a str,
    /// Numbers along the first axis.
    pub ticks: Vec<u32>,
    /// The lines.
    pub series: Vec<Series>,
}

/// A line.
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Where numbers are in the picture.
struct Frame {
    x: [f64; 2],
    /// Powers of ten.
    y: [i32; 2],
}

impl Frame {
    fn of(chart: &Chart<'_>) -> Self {
        let all = || chart.series.iter().flat_map(|series| &series.points);
        let least = all().map(|&(_, y)| y).fold(f64::INFINITY, f64::min);
        let most = all().map(|&(_, y)| y).fold(0.0, f64::max);
        let (first, last) =
            (chart.ticks.first().copied().unwrap_or(0), chart.ticks.last().copied().unwrap_or(1));
        let power = |value: f64| if value.is_finite() && value > 0.0 { value.log10() } else { 0.0 };
        let (low, high) = (power(least).floor() as i32, power(most).ceil() as i32);
        Self { x: [f64::from(first), f64::from(last.max(first + 1))], y: [low, high.max(low + 1)] }
    }

    fn x(&self, value: f64) -> f64 {
        let [left, _, right, _] = MARGINS;
        left + (value - self.x[0]) / (self.x[1] - self.x[0]) * (SIZE[0] - left - right)
    }

    fn y(&self, value: f64) -> f64 {
        let [_, top, _, bottom] = MARGINS;
        let share = (value.log10() - f64::from(self.y[0])) / f64::from(self.y[1] - self.y[0]);
        SIZE[1] - bottom - share * (SIZE[1] - top - bottom)
    }
}

impl Chart<'_> {
    /// The picture.
    pub fn svg(&self) -> String {
        let frame = Frame::of(self);
        let mut out = String::new();
        let [width, height] = SIZE;
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">"
        );
        let _ = writeln!(out, "<title>{}</title>", escaped(self.title));
        let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>");
        text(&mut out, [MARGINS[0], 30.0], "start", "font-size=\"15\" font-weight=\"bold\"", self.title);
        text(&mut out, [MARGINS[0], 50.0], "start", "fill=\"#555\"", self.subtitle);
        self.axes(&mut out, &frame);
        let names = self.name_heights(&frame);
        for (index, (series, height)) in self.series.iter().zip(names).enumerate() {
            draw(&mut out, &frame, series, COLOURS[index % COLOURS.len()], height);
        }
        text(&mut out, [MARGINS[0], height - 14.0], "start", "font-size=\"11\" fill=\"#555\"", self.note);
        out + "</svg>\n"
    }

    fn axes(&self, out: &mut String, frame: &Frame) {
        let [left, top, right, bottom] = MARGINS;
        let (end, base) = (SIZE[0] - right, SIZE[1] - bottom);
        for power in frame.y[0]..=frame.y[1] {
            let height = frame.y(10f64.powi(power));
            line(out, [left, height], [end, height], "#ccc");
            let label = if power >= 0 {
                format!("{}", 10u64.pow(power as u32))
            } else {
                format!("{}", 10f64.powi(power))
            };
            text(out, [left - 8.0, height + 4.0], "end", "", &label);
            for digit in (2..10).filter(|_| power < frame.y[1]) {
                let height = frame.y(f64::from(digit) * 10f64.powi(power));
                line(out, [left, height], [end, height], "#f0f0f0");
            }
        }
        for &tick in &self.ticks {
            let x = frame.x(f64::from(tick));
            line(out, [x, base], [x, base + 5.0], "#333");
            text(out, [x, base + 20.0], "middle", "", &tick.to_string());
        }
        line(out, [left, base], [end, base], "#333");
        line(out, [left, top], [left, base], "#333");
        text(out, [f64::midpoint(left, end), base + 42.0], "middle", "", self.axes[0]);
        let turned = format!("transform=\"rotate(-90 20 {0})\"", f64::midpoint(top, base));
        text(out, [20.0, f64::midpoint(top, base)], "middle", &turned, self.axes[1]);
    }

    /// How high each name stands: where its line ends, but clear of the others.
    fn name_heights(&self, frame: &Frame) -> Vec<f64> {
        let end = |series: &Series| series.points.last().map_or(0.0, |&(_, y)| frame.y(y));
        let mut order = (0..self.series.len()).collect::<Vec<_>>();
        order.sort_by(|&one, &other| end(&self.series[one]).total_cmp(&end(&self.series[other])));
        let mut heights = vec![0.0; self.series.len()];
        let mut last = f64::NEG_INFINITY;
        for index in order {
            last = f64::max(end(&self.series[index]), last + NAME_STEP);
            heights[index] = last;
        }
        heights
    }
}

fn draw(out: &mut String, frame: &Frame, series: &Series, colour: &str, name_height: f64) {
    let places = series.points.iter().map(|&(x, y)| [frame.x(x), frame.y(y)]).collect::<Vec<_>>();
    let list = places.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ");
    let _ =
        writeln!(out, "<polyline points=\"{list}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
    for [x, y] in &places {
        let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>");
    }
    let end = places.last().map_or(0.0, |place| place[0]);
    text(out, [end + 10.0, name_height + 4.0], "start", &format!("fill=\"{colour}\""), &series.name);
}

fn line(out: &mut String, from: [f64; 2], to: [f64; 2], colour: &str) {
    let ([x1, y1], [x2, y2]) = (from, to);
    let _ = writeln!(
        out,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
    );
}

fn text(out: &mut String, at: [f64; 2], anchor: &str, more: &str, text: &str) {
    let ([x, y], text) = (at, escaped(text));
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {more}>{text}</text>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
