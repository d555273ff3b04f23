//! The formats of values.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;

use rtolab_time::{Bytes, Dimension, Duration, Instant, ParseError, Rate};

use crate::{InvalidValue, RawValue, Shape};

/// A format of values.
pub trait Format {
    /// The type of the values.
    type Value;
    /// The text for no value, if the key may have none.
    const NONE: Option<&'static str> = None;
    /// Parses a value.
    fn read(found: &RawValue<'_>) -> Result<Self::Value, InvalidValue>;
    /// Writes a value, without quotes.
    fn show(value: &Self::Value) -> String;
    /// A short description of the valid values, for messages.
    fn expected() -> String;
    /// The valid values, for a schema.
    fn shape() -> Shape;
}

/// Parses a text by `parse`, whose error has the text that was found and what would be right. A
/// bare number is parsed as a text without quotes, which often lacks its unit.
pub fn text<V>(
    found: &RawValue<'_>,
    expected: &str,
    parse: impl Fn(&str) -> Result<V, String>,
) -> Result<V, InvalidValue> {
    let bare = match found {
        RawValue::Text(text) => return parse(text).map_err(InvalidValue::Problem),
        RawValue::Integer(number) => number.to_string(),
        RawValue::Float(number) => number.to_string(),
        RawValue::Boolean(_) | RawValue::Other => return Err(InvalidValue::Unexpected),
    };
    Err(InvalidValue::Problem(match parse(&bare) {
        Ok(_) => format!("found {bare}; expected {expected}"),
        Err(problem) => problem.replacen(&format!("{bare:?}"), &bare, 1),
    }))
}

/// Parses `text` as a quantity for which `fits` is true.
pub fn parse_checked<Q: FromStr<Err = ParseError>>(
    text: &str,
    expected: &str,
    fits: impl Fn(&Q) -> bool,
) -> Result<Q, String> {
    let quantity = text.parse::<Q>();
    let quantity = quantity.map_err(|e| format!("found {}; expected {expected}", e.found()))?;
    match fits(&quantity) {
        true => Ok(quantity),
        false => Err(format!("found {text:?}; expected {expected}")),
    }
}

/// The number that was found; `None` if it is not a number.
pub fn number(found: &RawValue<'_>) -> Option<f64> {
    match *found {
        RawValue::Integer(number) => Some(number as f64),
        RawValue::Float(number) => Some(number),
        _ => None,
    }
}

/// Parses `text` as a number of items, such as `"7 packets"` or `"1 packet"`.
pub fn count(text: &str, noun: &str) -> Option<u32> {
    let number = text.trim().strip_suffix(noun).or_else(|| {
        let singular = noun.strip_suffix('s')?;
        text.trim().strip_suffix(singular)
    })?;
    let number = number.trim_end();
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|count| digits && *count > 0)
}

/// The shape of a text that matches one of the alternatives of `pattern` as a whole.
pub fn pattern(pattern: &str, examples: &[&str]) -> Shape {
    let examples = examples.iter().map(ToString::to_string).collect();
    Shape::Text(Some(format!("^({pattern})$")), examples)
}

/// The regular expression for a number with a unit of this dimension.
pub fn quantity_pattern(dimension: Dimension) -> String {
    let units: Vec<_> = dimension.units().collect();
    format!("[0-9]+(\\.[0-9]+)? *({})", units.join("|"))
}

macro_rules! quantity {
    ($($type:ty: $dimension:expr;)*) => {$(
        impl Format for $type {
            type Value = Self;

            fn read(found: &RawValue<'_>) -> Result<Self, InvalidValue> {
                text(found, &Self::expected(), |text| {
                    text.parse().map_err(|error: ParseError| error.to_string())
                })
            }

            fn show(value: &Self) -> String {
                value.to_string()
            }

            fn expected() -> String {
                format!("{} such as {:?}", $dimension.name(), $dimension.example())
            }

            fn shape() -> Shape {
                pattern(&quantity_pattern($dimension), &[$dimension.example()])
            }
        }
    )*};
}

quantity! {
    Duration: Dimension::Time;
    Rate: Dimension::Rate;
    Bytes: Dimension::Size;
}

impl Format for Instant {
    type Value = Self;

    fn read(found: &RawValue<'_>) -> Result<Self, InvalidValue> {
        Duration::read(found).map(|time| Self::START + time)
    }

    fn show(value: &Self) -> String {
        value.since(Self::START).to_string()
    }

    fn expected() -> String {
        Duration::expected()
    }

    fn shape() -> Shape {
        Duration::shape()
    }
}

impl Format for bool {
    type Value = Self;

    fn read(found: &RawValue<'_>) -> Result<Self, InvalidValue> {
        match found {
            RawValue::Boolean(yes) => Ok(*yes),
            _ => Err(InvalidValue::Unexpected),
        }
    }

    fn show(value: &Self) -> String {
        value.to_string()
    }

    fn expected() -> String {
        "true or false".to_string()
    }

    fn shape() -> Shape {
        Shape::Boolean
    }
}

impl Format for String {
    type Value = Self;

    fn read(found: &RawValue<'_>) -> Result<Self, InvalidValue> {
        match found {
            RawValue::Text(text) => Ok((*text).to_string()),
            _ => Err(InvalidValue::Unexpected),
        }
    }

    fn show(value: &Self) -> String {
        value.clone()
    }

    fn expected() -> String {
        "a text in quotes".to_string()
    }

    fn shape() -> Shape {
        Shape::Text(None, Vec::new())
    }
}

/// A time above zero.
#[derive(Clone, Copy, Debug)]
pub struct Positive;

impl Format for Positive {
    type Value = Duration;

    fn read(found: &RawValue<'_>) -> Result<Duration, InvalidValue> {
        let expected = Self::expected();
        text(found, &expected, |text| {
            parse_checked(text, &expected, |time: &Duration| !time.is_zero())
        })
    }

    fn show(value: &Duration) -> String {
        value.to_string()
    }

    fn expected() -> String {
        "a time above zero such as \"200 ms\"".to_string()
    }

    fn shape() -> Shape {
        Duration::shape()
    }
}

/// A size in bytes from `LOW` to `HIGH`, such as `EXAMPLE`.
#[derive(Clone, Copy, Debug)]
pub struct Size<const LOW: u32, const HIGH: u32, const EXAMPLE: u32 = 40>;

/// The largest segment in bytes. It has room for the timestamps option and a byte, and fits into an
/// IPv4 packet with its headers.
pub type Mss = Size<13, 65_495, 1_460>;

/// A receive buffer in bytes, up to the largest window with the largest window scale.
pub type Buffer = Size<1, { 65_535 << 14 }, 65_535>;

impl<const LOW: u32, const HIGH: u32, const EXAMPLE: u32> Format for Size<LOW, HIGH, EXAMPLE> {
    type Value = u32;

    fn read(found: &RawValue<'_>) -> Result<u32, InvalidValue> {
        let expected = Self::expected();
        let fits = |size: &Bytes| (LOW.into()..=HIGH.into()).contains(&size.get());
        text(found, &expected, |text| {
            parse_checked(text, &expected, fits).map(|size| size.get() as u32)
        })
    }

    fn show(value: &u32) -> String {
        format!("{value} B")
    }

    fn expected() -> String {
        format!("a size from {LOW} B to {HIGH} B such as \"{EXAMPLE} B\"")
    }

    fn shape() -> Shape {
        Bytes::shape()
    }
}

/// A whole number from `LOW` to `HIGH`.
#[derive(Clone, Copy, Debug)]
pub struct IntegerRange<const LOW: u32, const HIGH: u32>;

/// A whole number above zero.
pub type PositiveCount = IntegerRange<1, { u32::MAX }>;

impl<const LOW: u32, const HIGH: u32> Format for IntegerRange<LOW, HIGH> {
    type Value = u32;

    fn read(found: &RawValue<'_>) -> Result<u32, InvalidValue> {
        let RawValue::Integer(number) = found else { return Err(InvalidValue::Unexpected) };
        let number = u32::try_from(*number).ok().filter(|number| (LOW..=HIGH).contains(number));
        number.ok_or(InvalidValue::Unexpected)
    }

    fn show(value: &u32) -> String {
        value.to_string()
    }

    fn expected() -> String {
        format!("a whole number from {LOW} to {HIGH}")
    }

    fn shape() -> Shape {
        Shape::Integer(LOW, HIGH)
    }
}

/// A fraction from 0 to 1, held in thousandths.
#[derive(Clone, Copy, Debug)]
pub struct Thousandths;

impl Format for Thousandths {
    type Value = u32;

    fn read(found: &RawValue<'_>) -> Result<u32, InvalidValue> {
        let fraction = number(found).filter(|fraction| (0.0..=1.0).contains(fraction));
        fraction.map(|fraction| (fraction * 1000.0 + 0.5) as u32).ok_or(InvalidValue::Unexpected)
    }

    fn show(value: &u32) -> String {
        (f64::from(*value) / 1000.0).to_string()
    }

    fn expected() -> String {
        "a number from 0 to 1 such as 0.05".to_string()
    }

    fn shape() -> Shape {
        Shape::Number { positive: false, max: Some(1), example: Some(0.05) }
    }
}

/// A number of segments, or no limit.
#[derive(Clone, Copy, Debug)]
pub struct Segments;

impl Format for Segments {
    type Value = u32;
    const NONE: Option<&'static str> = Some("unlimited");

    fn read(found: &RawValue<'_>) -> Result<u32, InvalidValue> {
        text(found, &Self::expected(), |text| {
            let found = || format!("found {text:?}; expected {}", Self::expected());
            count(text, "segments").ok_or_else(found)
        })
    }

    fn show(value: &u32) -> String {
        format!("{value} segment{}", if *value == 1 { "" } else { "s" })
    }

    fn expected() -> String {
        "a number of segments such as \"3 segments\", or \"unlimited\"".to_string()
    }

    fn shape() -> Shape {
        pattern("[1-9][0-9]* *segments?|unlimited", &["3 segments"])
    }
}

/// A choice that is written as one word: the name of the variant in lower case with `-` between its
/// parts, or the word of `#[choice("word")]`. The first paragraph of the variant's doc comment is
/// its description. A variant with `#[choice(skip)]` has no word; one with fields has a word for
/// each `#[choice("word", Self::Variant(1), "its description")]`.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every word with its value and description.
    const CHOICES: &'static [(&'static str, Self, &'static str)];
}

impl<C: Choice> Format for C {
    type Value = Self;

    fn read(found: &RawValue<'_>) -> Result<Self, InvalidValue> {
        let RawValue::Text(text) = found else { return Err(InvalidValue::Unexpected) };
        let known = C::CHOICES.iter().find(|(word, ..)| word == text);
        known.map(|(_, choice, _)| *choice).ok_or(InvalidValue::Unexpected)
    }

    fn show(value: &Self) -> String {
        let known = C::CHOICES.iter().find(|(_, choice, _)| choice == value);
        known.map_or_else(String::new, |(word, ..)| (*word).to_string())
    }

    fn expected() -> String {
        let words: Vec<_> = C::CHOICES.iter().map(|(word, ..)| format!("{word:?}")).collect();
        match words.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    fn shape() -> Shape {
        Shape::Choice(C::CHOICES.iter().map(|(word, _, about)| (*word, *about)).collect())
    }
}
