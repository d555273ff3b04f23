//! The formats of payload, names and numbers.

use std::marker::PhantomData;

use rtolab_settings::{
    Format, InvalidValue, RawValue, Shape, number, parse_checked, pattern, text,
};
use rtolab_time::Bytes;

use crate::limits;

/// Payload of an application, at least 1 byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload;

impl Format for Payload {
    type Value = u64;

    fn read(found: &RawValue<'_>) -> Result<u64, InvalidValue> {
        let expected = Self::expected();
        text(found, &expected, |text| {
            parse_checked(text, &expected, |size: &Bytes| size.get() > 0).map(Bytes::get)
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

/// The name of a node, link or flow. It must fit a dotted key and a file name.
#[derive(Clone, Debug)]
pub(crate) struct Name;

impl Format for Name {
    type Value = String;

    fn read(found: &RawValue<'_>) -> Result<String, InvalidValue> {
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
    const SHAPE: Shape = Shape::Number { positive: false, max: None, example: None };

    fn hold(number: f64) -> bool {
        number >= 0.0 && number.is_finite()
    }
}

/// A share: above 0, and at most 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share;

impl Bounds for Share {
    const EXPECTED: &'static str = "a number above 0 and at most 1 such as 0.1";
    const SHAPE: Shape = Shape::Number { positive: true, max: Some(1), example: Some(0.1) };

    fn hold(number: f64) -> bool {
        number > 0.0 && number <= 1.0
    }
}

impl<B: Bounds> Format for Reals<B> {
    type Value = f64;

    fn read(found: &RawValue<'_>) -> Result<f64, InvalidValue> {
        number(found).filter(|number| B::hold(*number)).ok_or(InvalidValue::Unexpected)
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
