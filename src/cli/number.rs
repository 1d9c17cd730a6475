//! Numbers as they are typed. What is wrong with one completes clap's sentence
//! "invalid value '-3' for '--heaps <N>': …".

/// The most CPU threads that can be asked for.
const MOST_THREADS: u32 = 1024;

/// A cap as it was typed: caps that no region can have are refused later, where the number of heaps is known.
#[derive(Clone, Debug)]
pub struct Cap {
    /// The digits.
    pub text: String,
    /// The number, or `u64::MAX` for anything above.
    pub value: u64,
}

/// Reads a whole number, or `u64::MAX` for anything above.
fn saturating(text: &str) -> Result<u64, String> {
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text {
        "" => Err("a number is missing".to_owned()),
        _ if all_digits(text) => Ok(text.parse().unwrap_or(u64::MAX)),
        _ if text.strip_prefix('-').is_some_and(all_digits) => Err("it cannot be negative".to_owned()),
        _ => Err("not a whole number".to_owned()),
    }
}

/// A cap of any size.
pub fn cap(text: &str) -> Result<Cap, String> {
    saturating(text).map(|value| Cap { text: text.to_owned(), value })
}

/// A total of any size; those above 64 bits bound nothing.
pub fn total(text: &str) -> Result<u64, String> {
    saturating(text)
}

/// A small number, such as one of heaps.
pub fn count(text: &str) -> Result<u32, String> {
    u32::try_from(saturating(text)?).map_err(|_| format!("it is more than {}", u32::MAX))
}

/// A number of CPU threads.
pub fn threads(text: &str) -> Result<usize, String> {
    match saturating(text)? {
        0 => Err("at least one thread is needed; without --threads all are used".to_owned()),
        threads if threads > u64::from(MOST_THREADS) => {
            Err(format!("at most {MOST_THREADS} threads are started"))
        }
        threads => Ok(threads as usize),
    }
}

/// A number of bytes: `1500000000`, `512M` or `512MiB` (1024²), `512MB` (1000²), `1.5G`.
pub fn bytes(text: &str) -> Result<u64, String> {
    const HELP: &str = "give bytes, such as 1500000000, 512M, 2GiB or 2.5GB";
    let text = text.trim();
    let digits =
        text.find(|character: char| !(character.is_ascii_digit() || character == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit_bytes(unit.trim()).ok_or_else(|| HELP.to_owned())?;
    let bytes = match number.parse::<u64>() {
        Ok(number) => number.saturating_mul(unit),
        // A fraction, or more than 64 bits; the conversion saturates.
        Err(_) => (number.parse::<f64>().map_err(|_| HELP.to_owned())? * unit as f64) as u64,
    };
    if bytes == 0 { Err(format!("nothing can be solved in no memory; {HELP}")) } else { Ok(bytes) }
}

/// What a unit of memory stands for, in upper or lower case; no unit for bytes.
fn unit_bytes(unit: &str) -> Option<u64> {
    let unit = unit.to_ascii_lowercase();
    if unit.is_empty() || unit == "b" {
        return Some(1);
    }
    let power = "kmgt".find(unit.chars().next()?)? as u32 + 1;
    match &unit[1..] {
        "" | "i" | "ib" => Some(1024u64.pow(power)),
        "b" => Some(1000u64.pow(power)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_the_usual_units() {
        for (text, expected) in [
            ("1500000000", 1_500_000_000),
            ("64b", 64),
            ("512M", 512 << 20),
            ("512MiB", 512 << 20),
            ("2gib", 2 << 30),
            ("2 G", 2 << 30),
            ("1.5k", 1536),
            ("3KB", 3000),
            ("4TB", 4_000_000_000_000),
            ("99999999999999999999T", u64::MAX),
            ("99999999T", u64::MAX),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "0", "0G", "0.0001", "-1", "M", "12X", "1.2.3", "5MM", "1e9", "µ", "1µ"] {
            assert!(bytes(text).is_err(), "{text} was accepted");
        }
    }

    #[test]
    fn numbers_name_what_is_wrong() {
        assert_eq!(count("-3").unwrap_err(), "it cannot be negative");
        assert_eq!(count("3.5").unwrap_err(), "not a whole number");
        assert_eq!(count("+3").unwrap_err(), "not a whole number");
        assert_eq!(count("4294967296").unwrap_err(), "it is more than 4294967295");
        assert_eq!(cap(&"9".repeat(50)).unwrap().value, u64::MAX);
        assert!(threads("0").is_err() && threads("1025").is_err());
        assert_eq!(threads("1024"), Ok(1024));
    }
}
