//! Quantities and names: what their texts stand for, and how they look to an editor.

use std::str::FromStr;

use rtolab_link::Limit;
use rtolab_tcp::config::InitialWindow;
use rtolab_time::{Bytes, Dimension, Duration, ParseError, Rate};
use schemars::{Schema, json_schema};

use super::value::Text;
use crate::limits;

macro_rules! quantity {
    ($($type:ty: $dimension:expr;)*) => {$(
        impl Text for $type {
            type Value = Self;

            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error: ParseError| error.to_string())
            }

            fn expected() -> String {
                format!("{} such as {:?}", $dimension.name(), $dimension.example())
            }

            fn schema() -> Schema {
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

/// A text that as a whole matches one of the alternatives of `pattern`.
fn pattern(pattern: &str, examples: &[&str]) -> Schema {
    json_schema!({ "type": "string", "pattern": format!("^({pattern})$"), "examples": examples })
}

fn quantity_pattern(dimension: Dimension) -> String {
    let units: Vec<_> = dimension.units().collect();
    format!("[0-9]+(\\.[0-9]+)? *({})", units.join("|"))
}

/// Reads `text` as a `Q` if it is one that `fits`.
fn checked<Q: FromStr<Err = ParseError>>(
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

/// A time above zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Positive;

impl Text for Positive {
    type Value = Duration;

    fn read(text: &str) -> Result<Duration, String> {
        checked(text, &Self::expected(), |time: &Duration| !time.is_zero())
    }

    fn expected() -> String {
        "a time above zero such as \"200 ms\"".to_string()
    }

    fn schema() -> Schema {
        Duration::schema()
    }
}

/// The largest segment in bytes: room for the timestamps option and a byte at least, and for the
/// headers in an IPv4 packet at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mss;

impl Text for Mss {
    type Value = u16;

    fn read(text: &str) -> Result<u16, String> {
        let fits = |size: &Bytes| (13..=65_495).contains(&size.get());
        checked(text, &Self::expected(), fits).map(|size| size.get() as u16)
    }

    fn expected() -> String {
        "a size from 13 B to 65495 B such as \"1460 B\"".to_string()
    }

    fn schema() -> Schema {
        Bytes::schema()
    }
}

/// A receive buffer in bytes: at least one, at most what the largest window scale announces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer;

impl Text for Buffer {
    type Value = u32;

    fn read(text: &str) -> Result<u32, String> {
        let fits = |size: &Bytes| (1..=65_535 << 14).contains(&size.get());
        checked(text, &Self::expected(), fits).map(|size| size.get() as u32)
    }

    fn expected() -> String {
        "a size from 1 B to 1073725440 B such as \"64 KiB\"".to_string()
    }

    fn schema() -> Schema {
        Bytes::schema()
    }
}

/// A size in bytes from `LOW` to `HIGH`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size<const LOW: u32, const HIGH: u32>;

impl<const LOW: u32, const HIGH: u32> Text for Size<LOW, HIGH> {
    type Value = u32;

    fn read(text: &str) -> Result<u32, String> {
        let fits = |size: &Bytes| (LOW.into()..=HIGH.into()).contains(&size.get());
        checked(text, &Self::expected(), fits).map(|size| size.get() as u32)
    }

    fn expected() -> String {
        format!("a size from {LOW} B to {HIGH} B such as \"40 B\"")
    }

    fn schema() -> Schema {
        Bytes::schema()
    }
}

/// What an application sends, in bytes: one at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload;

impl Text for Payload {
    type Value = u64;

    fn read(text: &str) -> Result<u64, String> {
        checked(text, &Self::expected(), |size: &Bytes| size.get() > 0).map(Bytes::get)
    }

    fn expected() -> String {
        "a size above zero such as \"100 kB\"".to_string()
    }

    fn schema() -> Schema {
        Bytes::schema()
    }
}

/// `text` as so many of something: `"7 packets"`, `"1 packet"`.
fn count(text: &str, noun: &str) -> Option<u32> {
    let number = text.trim().strip_suffix(noun).or_else(|| {
        let singular = noun.strip_suffix('s')?;
        text.trim().strip_suffix(singular)
    })?;
    let number = number.trim_end();
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|count| digits && *count > 0)
}

impl Text for Limit {
    type Value = Self;

    fn read(text: &str) -> Result<Self, String> {
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if let Some(packets) = count(text, "packets") {
            return Ok(Self::Packets(packets));
        }
        if text.contains("packet") {
            return Err(format!("found {text:?}; expected {}", Self::expected()));
        }
        let fits = |size: &Bytes| (1..=u64::from(u32::MAX)).contains(&size.get());
        let size = checked(text, &Self::expected(), fits)?;
        Ok(Self::Bytes(size.get() as u32))
    }

    fn expected() -> String {
        "room such as \"7 packets\", \"64 kB\" (below 4.29 GB) or \"unlimited\"".to_string()
    }

    fn schema() -> Schema {
        let size = quantity_pattern(Dimension::Size);
        pattern(&format!("[1-9][0-9]* *packets?|{size}|unlimited"), &["7 packets", "64 kB"])
    }
}

/// A number of segments, or no limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segments;

impl Text for Segments {
    type Value = Option<u32>;

    fn read(text: &str) -> Result<Option<u32>, String> {
        match (text, count(text, "segments")) {
            ("unlimited", _) => Ok(None),
            (_, Some(segments)) => Ok(Some(segments)),
            _ => Err(format!("found {text:?}; expected {}", Self::expected())),
        }
    }

    fn expected() -> String {
        "a number of segments such as \"3 segments\", or \"unlimited\"".to_string()
    }

    fn schema() -> Schema {
        pattern("[1-9][0-9]* *segments?|unlimited", &["3 segments"])
    }
}

impl Text for InitialWindow {
    type Value = Self;

    fn read(text: &str) -> Result<Self, String> {
        match (text, count(text, "segments")) {
            ("rfc3390", _) => Ok(Self::Rfc3390),
            ("rfc5681", _) => Ok(Self::Rfc5681),
            ("rfc6928", _) => Ok(Self::Rfc6928),
            (_, Some(segments)) => Ok(Self::Segments(segments)),
            _ => {
                let fits = |size: &Bytes| (1..=65_535 << 14).contains(&size.get());
                let size = checked(text, &Self::expected(), fits)?;
                Ok(Self::Bytes(size.get() as u32))
            }
        }
    }

    fn expected() -> String {
        "a window such as \"2 segments\", \"16 KiB\", \"rfc3390\", \"rfc5681\" or \"rfc6928\""
            .to_string()
    }

    fn schema() -> Schema {
        let size = quantity_pattern(Dimension::Size);
        let words = "[1-9][0-9]* *segments?|rfc3390|rfc5681|rfc6928";
        pattern(&format!("{words}|{size}"), &["2 segments", "16 KiB", "rfc6928"])
    }
}

/// What a node, a link or a flow is called: it must fit into a dotted key and a file's name.
#[derive(Clone, Debug)]
pub(crate) struct Name;

impl Text for Name {
    type Value = String;

    fn read(text: &str) -> Result<String, String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match (1..=limits::NAME).contains(&text.len()) && text.chars().all(fits) {
            true => Ok(text.to_string()),
            false => Err(format!("found {text:?}; expected {}", Self::expected())),
        }
    }

    fn expected() -> String {
        format!("a name of letters, digits, - and _, at most {} of them", limits::NAME)
    }

    fn schema() -> Schema {
        pattern(&format!("[A-Za-z0-9_-]{{1,{}}}", limits::NAME), &[])
    }
}
