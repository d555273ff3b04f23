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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "packet")), ["0 packets", "1 packet", "2 packets"]);
        assert_eq!([0, 1, 2].map(counted_losses), ["0 losses", "1 loss", "2 losses"]);
        assert_eq!([0, 1, 2].map(were), ["0 packets were", "1 packet was", "2 packets were"]);
        assert_eq!([1, 2, 3].map(times), ["Once", "Twice", "3 times"]);
    }

    /// Two significant digits, as far as the number before the decimal point has no more.
    #[test]
    fn numbers_are_rounded_to_what_their_size_needs() {
        let shares = [0.0, 0.000_94, 0.000_96, 0.001, 0.0994, 0.0996, 0.5, 1.0].map(percent);
        assert_eq!(
            shares,
            ["0.00 %", "0.09 %", "0.1 %", "0.1 %", "9.9 %", "10 %", "50 %", "100 %"]
        );
        let times = [0.0, 0.0126, 0.94, 0.96, 1.0, 99.4, 99.6, 3600.0].map(seconds);
        assert_eq!(
            times,
            ["0 ms", "13 ms", "940 ms", "1.0 s", "1.0 s", "99.4 s", "100 s", "3600 s"]
        );
    }

    /// 1 kB is 1000 bytes.
    #[test]
    fn bytes_have_the_unit_that_their_number_needs() {
        let few = [0, 1, 2, 999, 1000, 9_949].map(bytes);
        assert_eq!(few, ["0 bytes", "1 byte", "2 bytes", "999 bytes", "1.0 kB", "9.9 kB"]);
        let many = [9_950, 10_400, 999_499, 999_500, 2_500_000].map(bytes);
        assert_eq!(many, ["10 kB", "10 kB", "999 kB", "1.0 MB", "2.5 MB"]);
    }

    /// 1 Mbit/s is 125,000 bytes in a second.
    #[test]
    fn rates_are_in_bits() {
        let rates = [125.0, 124_900.0, 125_000.0, 12_400_000.0, 12_500_000.0].map(rate);
        assert_eq!(rates, ["1 kbit/s", "999 kbit/s", "1.0 Mbit/s", "99.2 Mbit/s", "100 Mbit/s"]);
    }
}
