//! Numbers in words.

/// A number of things: "1 packet", "2 packets".
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

pub(super) fn counted_losses(count: u64) -> String {
    if count == 1 { "1 loss".into() } else { format!("{count} losses") }
}

pub(super) fn were(count: u64) -> String {
    match count {
        1 => "1 packet was".into(),
        count => format!("{count} packets were"),
    }
}

pub(super) fn times(count: u64) -> String {
    match count {
        1 => "Once".into(),
        2 => "Twice".into(),
        count => format!("{count} times"),
    }
}

/// A share between 0 and 1 in percent.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        ..0.095 => format!("{percent:.2} %"),
        ..9.95 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

/// A time in seconds, or in milliseconds if it is short.
pub fn seconds(value: f64) -> String {
    match value {
        ..0.95 => format!("{:.0} ms", value * 1000.0),
        ..99.5 => format!("{value:.1} s"),
        _ => format!("{value:.0} s"),
    }
}

/// A number of bytes.
pub fn bytes(count: u64) -> String {
    let kilo = count as f64 / 1e3;
    match count {
        1 => "1 byte".into(),
        0..1000 => format!("{count} bytes"),
        1000..9_950 => format!("{kilo:.1} kB"),
        9_950..999_500 => format!("{kilo:.0} kB"),
        _ => format!("{:.1} MB", kilo / 1e3),
    }
}

/// A rate of this number of bytes in a second.
pub(super) fn rate(bytes_per_second: f64) -> String {
    let kilobits = bytes_per_second * 8.0 / 1e3;
    match kilobits {
        ..999.5 => format!("{kilobits:.0} kbit/s"),
        ..99_950.0 => format!("{:.1} Mbit/s", kilobits / 1e3),
        _ => format!("{:.0} Mbit/s", kilobits / 1e3),
    }
}
