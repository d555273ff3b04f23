//! The formats of room, payload, names, probabilities and numbers.

use std::marker::PhantomData;

use rtolab_link::{Limit, Probability};
use rtolab_settings::{
    Format, Found, Shape, Wrong, checked, count, pattern, quantity_pattern, text,
};
use rtolab_time::{Bytes, Dimension};

use crate::limits;

/// Payload of an application, at least 1 byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload;

impl Format for Payload {
    type Value = u64;

    fn read(found: &Found<'_>) -> Result<u64, Wrong> {
        let expected = Self::expected();
        text(found, &expected, |text| {
            checked(text, &expected, |size: &Bytes| size.get() > 0).map(Bytes::get)
        })
    }

    fn show(value: &u64) -> String {
        format!("{value} B")
    }

    fn expected() -> String {
        "a size above zero such as \"100 kB\"".to_string()
    }

    fn shape() -> Shape {
        Bytes::shape()
    }
}

/// Room in a queue or buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room;

impl Format for Room {
    type Value = Limit;

    fn read(found: &Found<'_>) -> Result<Limit, Wrong> {
        let expected = Self::expected();
        text(found, &expected, |text| {
            if text == "unlimited" {
                return Ok(Limit::Unlimited);
            }
            if let Some(packets) = count(text, "packets") {
                return Ok(Limit::Packets(packets));
            }
            if text.contains("packet") {
                return Err(format!("found {text:?}; expected {expected}"));
            }
            let fits = |size: &Bytes| (1..=u64::from(u32::MAX)).contains(&size.get());
            Ok(Limit::Bytes(checked(text, &expected, fits)?.get() as u32))
        })
    }

    fn show(value: &Limit) -> String {
        match value {
            Limit::Unlimited => "unlimited".to_string(),
            Limit::Packets(1) => "1 packet".to_string(),
            Limit::Packets(packets) => format!("{packets} packets"),
            Limit::Bytes(bytes) => format!("{bytes} B"),
        }
    }

    fn expected() -> String {
        "room such as \"7 packets\", \"64 kB\" (below 4.29 GB) or \"unlimited\"".to_string()
    }

    fn shape() -> Shape {
        let size = quantity_pattern(Dimension::Size);
        pattern(&format!("[1-9][0-9]* *packets?|{size}|unlimited"), &["7 packets", "64 kB"])
    }
}

/// The name of a node, link or flow. It must fit a dotted key and a file name.
#[derive(Clone, Debug)]
pub(crate) struct Name;

impl Format for Name {
    type Value = String;

    fn read(found: &Found<'_>) -> Result<String, Wrong> {
        text(found, &Self::expected(), |text| {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            match (1..=limits::NAME).contains(&text.len()) && text.chars().all(fits) {
                true => Ok(text.to_string()),
                false => Err(format!("found {text:?}; expected {}", Self::expected())),
            }
        })
    }

    fn show(value: &String) -> String {
        value.clone()
    }

    fn expected() -> String {
        format!("a name of letters, digits, - and _, at most {} of them", limits::NAME)
    }

    fn shape() -> Shape {
        pattern(&format!("[A-Za-z0-9_-]{{1,{}}}", limits::NAME), &[])
    }
}

/// Probabilities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probabilities;

impl Format for Probabilities {
    type Value = Probability;

    fn read(found: &Found<'_>) -> Result<Probability, Wrong> {
        number(found).and_then(Probability::new).ok_or(Wrong::Unexpected)
    }

    fn show(value: &Probability) -> String {
        value.value().to_string()
    }

    fn expected() -> String {
        "a probability from 0 to 1 such as 0.05".to_string()
    }

    fn shape() -> Shape {
        Shape::Number { positive: false, most: Some(1), example: Some(0.05) }
    }
}

fn number(found: &Found<'_>) -> Option<f64> {
    match *found {
        Found::Integer(number) => Some(number as f64),
        Found::Float(number) => Some(number),
        _ => None,
    }
}

/// Numbers within the bounds of `B`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reals<B>(PhantomData<B>);

/// Bounds of a number.
pub(crate) trait Bounds {
    /// The description of valid numbers.
    const EXPECTED: &'static str;
    /// Their JSON Schema.
    const SHAPE: Shape;
    /// Is the number valid?
    fn hold(number: f64) -> bool;
}

/// A number from 0 on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotNegative;

impl Bounds for NotNegative {
    const EXPECTED: &'static str = "a number from 0 on such as 5";
    const SHAPE: Shape = Shape::Number { positive: false, most: None, example: None };

    fn hold(number: f64) -> bool {
        number >= 0.0 && number.is_finite()
    }
}

/// A share: above 0, and at most 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share;

impl Bounds for Share {
    const EXPECTED: &'static str = "a number above 0 and at most 1 such as 0.1";
    const SHAPE: Shape = Shape::Number { positive: true, most: Some(1), example: Some(0.1) };

    fn hold(number: f64) -> bool {
        number > 0.0 && number <= 1.0
    }
}

impl<B: Bounds> Format for Reals<B> {
    type Value = f64;

    fn read(found: &Found<'_>) -> Result<f64, Wrong> {
        number(found).filter(|number| B::hold(*number)).ok_or(Wrong::Unexpected)
    }

    fn show(value: &f64) -> String {
        value.to_string()
    }

    fn expected() -> String {
        B::EXPECTED.to_string()
    }

    fn shape() -> Shape {
        B::SHAPE
    }
}
