//! Single values: texts that stand for something, numbers in bounds, probabilities.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use rtolab_link::Probability;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A value that is written as a text, such as `"28.8 kbit/s"`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<T: Text>(pub T::Value);

/// A kind of texts that stand for something.
pub(crate) trait Text {
    /// What they stand for.
    type Value;
    /// What `text` stands for, or what was found and what would be right.
    fn read(text: &str) -> Result<Self::Value, String>;
    /// What would be right.
    fn expected() -> String;
    /// How it looks to an editor.
    fn schema() -> Schema;
}

impl<'de, T: Text> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor<T>(PhantomData<T>);

        impl<T: Text> Visitor<'_> for TextVisitor<T> {
            type Value = T::Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&T::expected())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<T::Value, E> {
                T::read(text).map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<T::Value, E> {
                Err(unquoted::<T, E>(&number.to_string()))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<T::Value, E> {
                Err(unquoted::<T, E>(&number.to_string()))
            }
        }

        deserializer.deserialize_any(TextVisitor::<T>(PhantomData)).map(Self)
    }
}

/// What is wrong with a number where a text belongs: its unit is missing, or all of it.
fn unquoted<T: Text, E: de::Error>(number: &str) -> E {
    E::custom(match T::read(number) {
        Ok(_) => format!("found {number}; expected {}", T::expected()),
        Err(problem) => problem.replacen(&format!("{number:?}"), number, 1),
    })
}

impl<T: Text> JsonSchema for Written<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        std::any::type_name::<T>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        T::schema()
    }
}

/// A whole number from `LOW` to `HIGH`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole<const LOW: u32, const HIGH: u32>(pub u32);

/// A whole number above zero.
pub(crate) type Count = Whole<1, { u32::MAX }>;

impl<'de, const LOW: u32, const HIGH: u32> Deserialize<'de> for Whole<LOW, HIGH> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WholeVisitor<const LOW: u32, const HIGH: u32>;

        impl<const LOW: u32, const HIGH: u32> Visitor<'_> for WholeVisitor<LOW, HIGH> {
            type Value = u32;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {LOW} to {HIGH}")
            }

            fn visit_i64<E: de::Error>(self, found: i64) -> Result<u32, E> {
                let number = u32::try_from(found).ok().filter(|n| (LOW..=HIGH).contains(n));
                number.ok_or_else(|| E::invalid_type(de::Unexpected::Signed(found), &self))
            }
        }

        deserializer.deserialize_any(WholeVisitor::<LOW, HIGH>).map(Self)
    }
}

impl<const LOW: u32, const HIGH: u32> JsonSchema for Whole<LOW, HIGH> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Whole_{LOW}_{HIGH}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": LOW, "maximum": HIGH })
    }
}

/// A probability.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chance(pub Probability);

impl<'de> Deserialize<'de> for Chance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ChanceVisitor;

        impl Visitor<'_> for ChanceVisitor {
            type Value = Probability;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a probability from 0 to 1 such as 0.05")
            }

            fn visit_i64<E: de::Error>(self, found: i64) -> Result<Probability, E> {
                Probability::new(found as f64)
                    .ok_or_else(|| E::invalid_type(de::Unexpected::Signed(found), &self))
            }

            fn visit_f64<E: de::Error>(self, found: f64) -> Result<Probability, E> {
                Probability::new(found)
                    .ok_or_else(|| E::invalid_type(de::Unexpected::Float(found), &self))
            }
        }

        deserializer.deserialize_any(ChanceVisitor).map(Self)
    }
}

impl JsonSchema for Chance {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Chance".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1, "examples": [0.05] })
    }
}

/// A number within the bounds of `B`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Real<B>(pub f64, PhantomData<B>);

/// Bounds of a number.
pub(crate) trait Bounds {
    /// What is within.
    const EXPECTED: &'static str;
    /// Is it?
    fn hold(number: f64) -> bool;
    /// How it looks to an editor.
    fn schema() -> Schema;
}

/// A number from 0 on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotNegative;

impl Bounds for NotNegative {
    const EXPECTED: &'static str = "a number from 0 on such as 5";

    fn hold(number: f64) -> bool {
        number >= 0.0 && number.is_finite()
    }

    fn schema() -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }
}

/// A part of a whole, not none of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share;

impl Bounds for Share {
    const EXPECTED: &'static str = "a number above 0 and at most 1 such as 0.1";

    fn hold(number: f64) -> bool {
        number > 0.0 && number <= 1.0
    }

    fn schema() -> Schema {
        json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1, "examples": [0.1] })
    }
}

impl<'de, B: Bounds> Deserialize<'de> for Real<B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RealVisitor<B>(PhantomData<B>);

        impl<B: Bounds> Visitor<'_> for RealVisitor<B> {
            type Value = f64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(B::EXPECTED)
            }

            fn visit_i64<E: de::Error>(self, found: i64) -> Result<f64, E> {
                let number = Some(found as f64).filter(|number| B::hold(*number));
                number.ok_or_else(|| E::invalid_type(de::Unexpected::Signed(found), &self))
            }

            fn visit_f64<E: de::Error>(self, found: f64) -> Result<f64, E> {
                let number = Some(found).filter(|number| B::hold(*number));
                number.ok_or_else(|| E::invalid_type(de::Unexpected::Float(found), &self))
            }
        }

        let number = deserializer.deserialize_any(RealVisitor::<B>(PhantomData))?;
        Ok(Self(number, PhantomData))
    }
}

impl<B: Bounds> JsonSchema for Real<B> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        std::any::type_name::<B>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        B::schema()
    }
}
