//! How limits and probabilities are written.

use alloc::format;
use alloc::string::{String, ToString};

use rtolab_settings::{
    Format, Found, Shape, Wrong, checked, count, number, pattern, quantity_pattern, text,
};
use rtolab_time::{Bytes, Dimension};

use crate::config::{Limit, Probability};

impl Format for Limit {
    type Value = Self;

    fn read(found: &Found<'_>) -> Result<Self, Wrong> {
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
            Ok(Self::Bytes(checked(text, &expected, fits)?.get() as u32))
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

impl Format for Probability {
    type Value = Self;

    fn read(found: &Found<'_>) -> Result<Self, Wrong> {
        number(found).and_then(Self::new).ok_or(Wrong::Unexpected)
    }

    fn show(value: &Self) -> String {
        value.value().to_string()
    }

    fn expected() -> String {
        "a probability from 0 to 1 such as 0.05".to_string()
    }

    fn shape() -> Shape {
        Shape::Number { positive: false, most: Some(1), example: Some(0.05) }
    }
}
