//! JSON values that drafts and stacks write in several forms.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text, empty if the value is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Text<'a>(pub Cow<'a, str>);

/// A number, also if it is written as a string; `None` if the value is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Real(pub Option<f64>);

/// An integer, also if it is written as a string; `None` if the value is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Int(pub Option<u64>);

impl Text<'_> {
    /// The text, if there is one.
    pub fn known(&self) -> Option<&str> {
        Some(&*self.0).filter(|text| !text.is_empty())
    }
}

/// Values of types that are not wanted become the default.
macro_rules! skip_others {
    ($lifetime:lifetime) => {
        fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            to.write_str("a value")
        }

        fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_seq<A: SeqAccess<$lifetime>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }

        fn visit_map<A: MapAccess<$lifetime>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Text<'de>;
            skip_others!('de);

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.into())))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Text<'de>, E> {
                Ok(Text::default())
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Text<'de>, E> {
                Ok(Text::default())
            }
        }
        from.deserialize_any(Read)
    }
}

/// Implements `Deserialize` for a type of numbers, from each type of JSON numbers and from strings.
macro_rules! number {
    ($type:ident, $from_u64:expr, $from_f64:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Read;
                impl<'de> Visitor<'de> for Read {
                    type Value = $type;
                    skip_others!('de);

                    fn visit_u64<E: Error>(self, number: u64) -> Result<$type, E> {
                        Ok($type(Some($from_u64(number))))
                    }

                    fn visit_i64<E: Error>(self, number: i64) -> Result<$type, E> {
                        Ok($type($from_f64(number as f64)))
                    }

                    fn visit_f64<E: Error>(self, number: f64) -> Result<$type, E> {
                        Ok($type($from_f64(number)))
                    }

                    fn visit_str<E: Error>(self, text: &str) -> Result<$type, E> {
                        Ok($type(text.parse().ok()))
                    }
                }
                from.deserialize_any(Read)
            }
        }
    };
}

number!(Real, |number: u64| number as f64, |number: f64| Some(number)
    .filter(|number| number.is_finite()));
number!(Int, |number: u64| number, |number: f64| (number >= 0.0).then_some(number as u64));

/// A range of packet numbers, both ends included.
pub(crate) type PacketRange = (u64, u64);

/// The ranges of an ACK frame: `[[1, 3], [5]]`, also with strings, or objects with `start` and
/// `end`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ranges(pub Vec<PacketRange>);

impl<'de> Deserialize<'de> for Ranges {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(
            Vec::<OneRange>::deserialize(from)?.into_iter().filter_map(|range| range.0).collect(),
        ))
    }
}

/// `None` if the range is empty.
struct OneRange(Option<PacketRange>);

/// The range, if it has numbers and does not end before it begins.
fn in_order<E: Error>(range: Option<PacketRange>) -> Result<OneRange, E> {
    match range {
        Some((first, last)) if first > last => Err(E::custom(format_args!(
            "found the packet range [{first}, {last}]; expected the smaller number first"
        ))),
        Some(_) => Ok(OneRange(range)),
        None => Err(E::custom("found a packet range without numbers; expected one such as [1, 3]")),
    }
}

impl<'de> Deserialize<'de> for OneRange {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = OneRange;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a range of packet numbers, such as [1, 3]")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<OneRange, E> {
                Ok(OneRange(Some((number, number))))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OneRange, A::Error> {
                let Some(Int(first)) = items.next_element()? else { return Ok(OneRange(None)) };
                let mut last = first;
                while let Some(number) = items.next_element::<Int>()? {
                    last = number.0;
                }
                in_order(first.zip(last))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OneRange, A::Error> {
                let (mut first, mut last) = (None, None);
                while let Some(name) = map.next_key::<Text<'_>>()? {
                    match &*name.0 {
                        "start" | "smallest" | "first" => first = map.next_value::<Int>()?.0,
                        "end" | "largest" | "last" => last = map.next_value::<Int>()?.0,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                in_order(first.or(last).zip(last.or(first)))
            }
        }
        from.deserialize_any(Read)
    }
}
