//! Single values: serde and JSON Schema for the formats of settings.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use rtolab_link::Probability;
use rtolab_settings::{self as settings, Format, Found, Shape, Wrong};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, Deserialize, Deserializer, Visitor};

use crate::{read, schema};

/// A value that was parsed from a format, such as `"28.8 kbit/s"`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parsed<F: Format>(pub F::Value);

/// A whole number from `LOW` to `HIGH`.
pub(crate) type Whole<const LOW: u32, const HIGH: u32> = Parsed<settings::Whole<LOW, HIGH>>;

/// A whole number above zero.
pub(crate) type Count = Parsed<settings::PositiveCount>;

/// A probability.
pub(crate) type Chance = Parsed<Probabilities>;

/// A number within the bounds of `B`.
pub(crate) type Real<B> = Parsed<Reals<B>>;

impl<'de, F: Format> Deserialize<'de> for Parsed<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values<F>(PhantomData<F>);

        impl<F: Format> Values<F> {
            fn read<E: de::Error>(found: Found<'_>) -> Result<F::Value, E> {
                F::read(&found).map_err(|wrong| match wrong {
                    Wrong::Problem(problem) => E::custom(problem),
                    Wrong::Unexpected => {
                        E::custom(read::unexpected(&found, &F::shape(), &F::expected()))
                    }
                })
            }
        }

        impl<F: Format> Visitor<'_> for Values<F> {
            type Value = F::Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&F::expected())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<F::Value, E> {
                Self::read(Found::Text(text))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<F::Value, E> {
                Self::read(Found::Integer(number))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<F::Value, E> {
                Self::read(Found::Float(number))
            }

            fn visit_bool<E: de::Error>(self, yes: bool) -> Result<F::Value, E> {
                Self::read(Found::Boolean(yes))
            }
        }

        deserializer.deserialize_any(Values::<F>(PhantomData)).map(Self)
    }
}

impl<F: Format> JsonSchema for Parsed<F> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        std::any::type_name::<F>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema::value(&F::shape())
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
