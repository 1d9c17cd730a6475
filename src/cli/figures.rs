//! Numbers as a person reads them.

use std::time::Duration;

/// `1716` as `1,716`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun, in the singular for 1.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// A number of strata.
pub fn strata(number: u64) -> String {
    format!("{} {}", grouped(number), if number == 1 { "stratum" } else { "strata" })
}

/// A share in percent, never rounded to none or to all.
pub fn share(part: u64, whole: u64) -> String {
    let percent = part as f64 / whole.max(1) as f64 * 100.0;
    match () {
        () if part == 0 => "0 %".to_owned(),
        () if part == whole => "100 %".to_owned(),
        () if percent < 0.1 => "under 0.1 %".to_owned(),
        () if percent > 99.9 => "over 99.9 %".to_owned(),
        () => format!("{percent:.1} %"),
    }
}

/// Positions per second, such as `2.51·10⁹ positions/s`.
pub fn rate(per_second: f64) -> String {
    rate_of(per_second, "positions")
}

/// Anything per second, such as `2.51·10⁹ pairs/s`.
pub fn rate_of(per_second: f64, noun: &str) -> String {
    format!("{} {noun}/s", scientific(per_second))
}

/// A large number in three digits, such as `2.51·10⁹`; a small one as it is.
pub fn scientific(number: f64) -> String {
    if number < 10_000.0 {
        return grouped(number as u64);
    }
    // Formatted first, so that 9.999·10⁹ comes out as 1.00·10¹⁰.
    let scientific = format!("{number:.2e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("the format has an exponent");
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    format!("{mantissa}·10{}", translated(exponent, digits))
}

/// The variable of a heap, such as `a₁` for the largest.
pub fn variable(index: usize) -> String {
    format!("a{}", translated(&index.to_string(), ['₀', '₁', '₂', '₃', '₄', '₅', '₆', '₇', '₈', '₉']))
}

/// A text with its first letter as a capital.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn translated(number: &str, digits: [char; 10]) -> String {
    number.bytes().map(|byte| digits[usize::from(byte - b'0')]).collect()
}

/// A time, such as `412 µs`, `1.42 s`, `3 min 05 s` or `2 h 07 min`.
pub fn time(time: Duration) -> String {
    match time.as_secs() {
        0 if time.as_micros() < 1000 => format!("{} µs", time.as_micros()),
        0 => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        1..60 => format!("{:.2} s", time.as_secs_f64()),
        _ => whole_seconds(time),
    }
}

/// A time still to go, such as `5 s` or `3 min 05 s`; never none.
pub fn whole_seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..60 => format!("{} s", seconds.max(1)),
        seconds @ 60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", grouped(seconds / 3600), seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_readable() {
        assert_eq!([0, 999, 1000, 2_872_408_791].map(grouped), ["0", "999", "1,000", "2,872,408,791"]);
        assert_eq!([1, 2].map(|number| counted(number, "word")), ["1 word", "2 words"]);
        assert_eq!(
            [0.0, 9_999.0, 2.514e9, 9.999e9, 1e10].map(rate),
            [
                "0 positions/s",
                "9,999 positions/s",
                "2.51·10⁹ positions/s",
                "1.00·10¹⁰ positions/s",
                "1.00·10¹⁰ positions/s"
            ]
        );
        assert_eq!(variable(12), "a₁₂");
    }

    #[test]
    fn a_share_is_all_or_nothing_only_when_it_is() {
        assert_eq!(
            [(0, 9), (9, 9), (1, 10_000), (9_999, 10_000), (76, 84)].map(|(part, whole)| share(part, whole)),
            ["0 %", "100 %", "under 0.1 %", "over 99.9 %", "90.5 %"]
        );
    }

    #[test]
    fn times_have_a_sensible_unit() {
        assert_eq!(
            [412, 1_500, 1_420_000, 185_000_000, 7_640_000_000]
                .map(|micros| time(Duration::from_micros(micros))),
            ["412 µs", "1.5 ms", "1.42 s", "3 min 05 s", "2 h 07 min"]
        );
        assert_eq!(
            [0, 9_400, 185_000].map(|millis| whole_seconds(Duration::from_millis(millis))),
            ["1 s", "9 s", "3 min 05 s"]
        );
    }
}
