//! Single values: serde and JSON Schema for the formats of settings.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use rtolab_settings::{self as settings, Format, Found, Wrong};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, Deserialize, Deserializer, Visitor};

use crate::formats::{Probabilities, Reals};
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
