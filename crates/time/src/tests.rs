//! Tests of the parser and the format of quantities.

use alloc::format;
use alloc::string::{String, ToString};

use proptest::prelude::*;

use crate::{Bytes, Duration, Instant, Rate};

fn nanos(text: &str) -> u64 {
    text.parse::<Duration>().unwrap().nanos()
}

fn bits(text: &str) -> u64 {
    text.parse::<Rate>().unwrap().bits_per_second()
}

fn bytes(text: &str) -> u64 {
    text.parse::<Bytes>().unwrap().get()
}

#[test]
fn times_are_exact() {
    assert_eq!(nanos("200 ms"), 200_000_000);
    assert_eq!(nanos("0.1 s"), 100_000_000);
    assert_eq!(nanos("3.5 s"), 3_500_000_000);
    assert_eq!(nanos("10 us"), 10_000);
    assert_eq!(nanos("10 µs"), 10_000);
    assert_eq!(nanos("2 min"), 120_000_000_000);
    assert_eq!(nanos("1.5 h"), 5_400_000_000_000);
    assert_eq!(nanos("0 s"), 0);
    assert_eq!(nanos("18446744073.709551615 s"), u64::MAX);
    assert_eq!(nanos("0.000000001000000000000000000000000000000000000000 s"), 1);
}

#[test]
fn a_space_before_the_unit_is_not_needed() {
    assert_eq!(nanos("200ms"), nanos(" 200  ms "));
}

#[test]
fn rates_are_decimal() {
    assert_eq!(bits("28.8 kbit/s"), 28_800);
    assert_eq!(bits("10 Mbit/s"), 10_000_000);
    assert_eq!(bits("1.5 Gbit/s"), 1_500_000_000);
    assert_eq!(bits("9600 bit/s"), 9_600);
}

#[test]
fn sizes_are_decimal_or_binary_as_the_unit_says() {
    assert_eq!(bytes("1776 B"), 1_776);
    assert_eq!(bytes("64 kB"), 64_000);
    assert_eq!(bytes("64 KiB"), 65_536);
    assert_eq!(bytes("1.5 KiB"), 1_536);
    assert_eq!(bytes("0 B"), 0);
}

fn time(text: &str) -> String {
    text.parse::<Duration>().unwrap_err().to_string()
}

fn rate(text: &str) -> String {
    text.parse::<Rate>().unwrap_err().to_string()
}

fn size(text: &str) -> String {
    text.parse::<Bytes>().unwrap_err().to_string()
}

#[test]
fn an_error_names_the_dimension_that_was_found() {
    assert_eq!(rate("200 ms"), r#"found "200 ms", a time; expected a rate such as "28.8 kbit/s""#);
    assert_eq!(time("1776 B"), r#"found "1776 B", a size; expected a time such as "200 ms""#);
    assert_eq!(size("1 Mbit/s"), r#"found "1 Mbit/s", a rate; expected a size such as "1776 B""#);
    assert_eq!(time("-5 kbit/s"), r#"found "-5 kbit/s", a rate; expected a time such as "200 ms""#);
}

#[test]
fn an_invalid_quantity_gives_the_reason() {
    let expected = r#"expected a rate such as "28.8 kbit/s""#;
    let negative = format!(r#"found "-5 kbit/s", which is negative; {expected}"#);
    assert_eq!(rate("-5 kbit/s"), negative);
    assert_eq!(rate("5"), format!(r#"found "5", a number without a unit; {expected}"#));
    assert_eq!(
        rate("fast"),
        format!(r#"found "fast", which is not a number with a unit; {expected}"#)
    );
    assert_eq!(rate(""), format!(r#"found "", which is not a number with a unit; {expected}"#));
    for number in [".5 s", "5. s", "1.2.3 s", "+5 s", "--5 s", "e5 s", "."] {
        assert!(time(number).contains("which is not a number with a unit"), "{number}");
    }
    assert_eq!(
        rate("5 kbps"),
        r#"found "5 kbps", whose unit is unknown; expected a rate such as "28.8 kbit/s" "#
            .to_string()
            + "(units: bit/s, kbit/s, Mbit/s, Gbit/s)"
    );
    assert!(time("1e3 s").contains("whose unit is unknown"));
    assert!(size("64 KB").ends_with("(units: B, kB, MB, GB, KiB, MiB, GiB)"));
    assert!(time("5 S").ends_with("(units: ns, us, µs, ms, s, min, h)"));
}

#[test]
fn nothing_is_rounded_or_truncated() {
    let fine = r#"found "0.5 ns", which is too fine; expected a time in whole ns"#;
    assert_eq!(time("0.5 ns"), fine);
    assert!(time("0.0000000001 s").contains("too fine"));
    assert!(size("0.3 KiB").contains("too fine"));
    assert!(time(&format!("0.{} s", "3".repeat(100))).contains("too fine"));
    let large = r#"found "18446744073.709551616 s", which is too large"#;
    let limit = "expected a time of at most 18446744073709551615 ns";
    assert_eq!(time("18446744073.709551616 s"), format!("{large}; {limit}"));
    assert!(time("99999999999999999999999999999999999999999 h").contains("too large"));
    assert!(size("18446744073709551616 B").contains("too large"));
}

#[test]
fn zero_is_no_rate() {
    let zero = r#"found "0 bit/s"; expected a rate above zero such as "28.8 kbit/s""#;
    assert_eq!(rate("0 bit/s"), zero);
    assert!(rate("0.000 Gbit/s").contains("above zero"));
}

#[test]
fn display_is_as_short_as_possible() {
    assert_eq!(Duration::from_millis(200).to_string(), "200 ms");
    assert_eq!(Duration::from_millis(3_500).to_string(), "3.5 s");
    assert_eq!(Duration::from_nanos(1_050).to_string(), "1.05 us");
    assert_eq!(Duration::ZERO.to_string(), "0 s");
    assert_eq!(Rate::from_bits_per_second(28_800).unwrap().to_string(), "28.8 kbit/s");
    assert_eq!(Bytes::new(1_776).to_string(), "1776 B");
    assert_eq!(Bytes::new(64_000).to_string(), "64 kB");
    assert_eq!(Bytes::new(0).to_string(), "0 B");
}

#[test]
fn times_print_with_their_unit() {
    let at = Instant::from_nanos(8_750_000_001);
    assert_eq!(format!("{at:?} or {at}"), "8.750000001 s or 8.750000 s");
    assert_eq!(format!("{:?} or {0}", Instant::NEVER), "never or never");
    assert_eq!(format!("{:?}", Duration::from_millis(200)), "200 ms");
}

#[test]
fn durations_convert_to_those_of_core_and_back_if_they_fit() {
    use core::time::Duration as Core;
    let longest = Core::from(Duration::MAX);
    assert_eq!(Core::from(Duration::from_millis(200)), Core::from_millis(200));
    assert_eq!(Duration::try_from(longest), Ok(Duration::MAX));
    assert!(Duration::try_from(longest + Core::from_nanos(1)).is_err());
}

#[test]
fn spans_that_do_not_fit_saturate() {
    for made in [Duration::from_micros, Duration::from_millis, Duration::from_secs] {
        assert_eq!(made(u64::MAX), Duration::MAX);
    }
    let nanos = u64::MAX / 1_000_000_000 * 1_000_000_000;
    assert_eq!(Duration::from_secs(nanos / 1_000_000_000).nanos(), nanos);
    assert_eq!(Duration::from_secs(nanos / 1_000_000_000 + 1), Duration::MAX);
    assert_eq!(Duration::from_secs(2) * u64::MAX, Duration::MAX);
}

/// From 2.3 GB on, the bits times the nanoseconds of a second exceed 64 bits.
#[test]
fn a_transmission_time_is_exact_or_saturates() {
    let time = |bits, bytes| Rate::from_bits_per_second(bits).unwrap().time_for(bytes);
    let longest = u32::MAX;
    assert_eq!(time(8, longest), Duration::from_secs(longest.into()));
    assert_eq!(time(8_000_000_000, longest).nanos(), longest.into());
    assert_eq!(time(3, longest).nanos(), 11_453_246_120_000_000_000);
    assert_eq!(time(1, longest), Duration::MAX);
    assert_eq!(time(1, 2_305_843_009).nanos(), 18_446_744_072_000_000_000);
    assert_eq!(time(1, 2_305_843_010), Duration::MAX);
    assert_eq!(time(3, 1).nanos(), 2_666_666_667);
}

proptest! {
    #[test]
    fn a_displayed_duration_parses_to_itself(nanos: u64) {
        let span = Duration::from_nanos(nanos);
        prop_assert_eq!(span.to_string().parse(), Ok(span));
    }

    #[test]
    fn a_displayed_rate_parses_to_itself(bits in 1..=u64::MAX) {
        let rate = Rate::from_bits_per_second(bits).unwrap();
        prop_assert_eq!(rate.to_string().parse(), Ok(rate));
    }

    #[test]
    fn a_displayed_size_parses_to_itself(count: u64, zeros in 0_u32..12) {
        let size = Bytes::new(count / 10_u64.pow(zeros) * 10_u64.pow(zeros));
        prop_assert_eq!(size.to_string().parse(), Ok(size));
    }

    #[test]
    fn a_decimal_has_the_value_of_its_digits(whole in 0_u64..1_000_000, part in 0_u64..1_000_000_000) {
        prop_assert_eq!(nanos(&format!("{whole}.{part:09} s")), whole * 1_000_000_000 + part);
    }

    #[test]
    fn no_text_causes_a_panic(text in "\\PC*|[-−]?[0-9.]{0,50} ?(s|ms|kbit/s|KiB|h)") {
        let _ = text.parse::<Duration>();
        let _ = text.parse::<Rate>();
        let _ = text.parse::<Bytes>();
    }
}
