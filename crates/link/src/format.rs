//! How limits, probabilities and factors are written.

use alloc::format;
use alloc::string::{String, ToString};

use rtolab_settings::{
    Format, InvalidValue, RawValue, Shape, count, number, parse_checked, pattern, quantity_pattern,
    text,
};
use rtolab_time::{Bytes, Dimension};

use crate::config::{Limit, Probability};
use crate::laws::Factor;

impl Format for Limit {
    type Value = Self;

    fn read(found: &RawValue<'_>) -> Result<Self, InvalidValue> {
        let expected = Self::expected();
        text(found, &expected, |text| {
            if text == "unlimited" {
                return Ok(Self::Unlimited);
            }
            if let Some(packets) = count(text, "packets") {
                return Ok(Self::Packets(packets));
            }
            if text.contains("packet") {
                return Err(format!("found {text:?}; expected {expected}"));
            }
            let fits = |size: &Bytes| (1..=u64::from(u32::MAX)).contains(&size.get());
            Ok(Self::Bytes(parse_checked(text, &expected, fits)?.get() as u32))
        })
    }

    fn show(value: &Self) -> String {
        match value {
            Self::Unlimited => "unlimited".to_string(),
            Self::Packets(1) => "1 packet".to_string(),
            Self::Packets(packets) => format!("{packets} packets"),
            Self::Bytes(bytes) => format!("{bytes} B"),
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

/// Reads and writes a type as a number in the configuration.
macro_rules! as_number {
    ($type:ty, $expected:literal, $shape:expr) => {
        impl Format for $type {
            type Value = Self;

            fn read(found: &RawValue<'_>) -> Result<Self, InvalidValue> {
                number(found).and_then(Self::new).ok_or(InvalidValue::Unexpected)
            }

            fn show(value: &Self) -> String {
                value.value().to_string()
            }

            fn expected() -> String {
                $expected.to_string()
            }

            fn shape() -> Shape {
                $shape
            }
        }
    };
}

as_number!(
    Probability,
    "a probability from 0 to 1 such as 0.05",
    Shape::Number { positive: false, max: Some(1), example: Some(0.05) }
);
as_number!(
    Factor,
    "a number above 0 and at most 1000 such as 0.5",
    Shape::Number { positive: true, max: Some(1_000), example: Some(0.5) }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_shown_as_it_is_read() {
        for shown in ["unlimited", "1 packet", "7 packets", "64000 B"] {
            let limit = Limit::read(&RawValue::Text(shown)).expect("a limit");
            assert_eq!(Limit::show(&limit), shown);
        }
    }
}
