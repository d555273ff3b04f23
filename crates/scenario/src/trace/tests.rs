//! Valid and invalid traces.

use super::*;

fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn fault<T: std::fmt::Debug>(read: Result<T, Fault>) -> String {
    let Fault { line, problem } = read.unwrap_err();
    line.map_or(problem.clone(), |line| format!("{line}: {problem}"))
}

#[test]
fn the_period_of_a_mahimahi_trace_is_its_last_time() {
    let trace = mahimahi("0\n5\n5\n12\n").unwrap();
    let at = [0, 5, 5, 12].map(Duration::from_millis);
    assert_eq!(trace, Opportunities { at: at.to_vec(), period: Duration::from_millis(12) });
    assert_eq!(mahimahi("\r\n7\r\n\r\n").unwrap().at, [Duration::from_millis(7)]);
}

#[test]
fn invalid_mahimahi_traces() {
    for (text, message) in [
        ("", "found no line; expected lines of milliseconds, the last of them the trace's length"),
        (
            "0\n0",
            "found no time above zero; expected lines of milliseconds, the last of them the \
                  trace's length",
        ),
        ("5\n4", "2: found 4 ms after 5 ms; expected times in order"),
        ("5\n\n6.5", "3: found \"6.5\"; expected a time in whole milliseconds such as 120"),
        ("-5", "1: found \"-5\"; expected a time in whole milliseconds such as 120"),
        ("# up\n5", "1: found \"# up\"; expected a time in whole milliseconds such as 120"),
        (
            "99999999999999999999",
            "1: found \"99999999999999999999\"; expected a time in whole \
                                  milliseconds such as 120",
        ),
    ] {
        assert_eq!(fault(mahimahi(text)), message);
    }
}

#[test]
fn light_opportunities_are_milliseconds() {
    let ms = |all: &[u64]| all.iter().copied().map(Duration::from_millis).collect::<Vec<_>>();
    let trains = light("# trains\n0 0 0 2\n400\t0 40 # later\n").unwrap();
    let [first, second] = [ms(&[0, 0, 2]), ms(&[0, 40])];
    assert_eq!(trains, [(Duration::ZERO, first), (Duration::from_millis(400), second)]);
    let lines =
        "expected lines of whole milliseconds, a time and opportunities such as \"500 0 0 2 5\"";
    for (text, found) in [
        ("", "found no line".to_string()),
        ("0 0\n5", "2: found \"5\"".to_string()),
        ("0 2 1", "1: found \"0 2 1\"".to_string()),
        ("0 0.5", "1: found \"0 0.5\"".to_string()),
    ] {
        assert_eq!(fault(light(text)), format!("{found}; {lines}"));
    }
}

#[test]
fn rates_are_seconds_and_a_rate() {
    let text = "# from the train\n0 4.5 Mbit/s # at rest\n\n1.25\t900 kbit/s\n";
    assert!(has_rates(text) && !has_rates("0\n5\n"));
    let steps = [(0.0, 4_500_000), (1.25, 900_000)]
        .map(|(at, rate)| (secs(at), Rate::from_bits_per_second(rate).unwrap()));
    assert_eq!(rates(text).unwrap(), steps);
    let lines = "expected lines of seconds and a rate such as \"0.5 20 Mbit/s\"";
    for (text, message) in [
        ("# bit/s", format!("found no rate; {lines}")),
        ("0 1 Mbit/s\n1", format!("2: found \"1\"; {lines}")),
        ("0 0 bit/s", format!("1: found \"0 0 bit/s\"; {lines}")),
        ("1 1 bit/s", "1: found 1 s as the first time; expected 0, where it begins".to_string()),
        (
            "0 1 bit/s\n0 2 bit/s",
            "2: found 0 s after 0 s; expected each time later than the one before it".to_string(),
        ),
    ] {
        assert_eq!(fault(rates(text)), message);
    }
}

#[test]
fn delays_are_seconds_and_milliseconds() {
    let text = "# from the train\n0 120.5 # at rest\n\n1.25\t90\n  2 3000\n";
    let steps = [(0.0, 0.1205), (1.25, 0.09), (2.0, 3.0)].map(|(at, by)| (secs(at), secs(by)));
    assert_eq!(delays(text).unwrap(), steps);
}

#[test]
fn invalid_series_of_delays() {
    let lines = "expected lines of seconds and milliseconds such as \"0.5 120\"";
    for (text, message) in [
        ("# nothing", format!("found no delay; {lines}, or ping -D's output")),
        ("0 10\n1", format!("2: found \"1\"; {lines}")),
        ("0,10", format!("1: found \"0,10\"; {lines}")),
        ("0 10 20", format!("1: found \"0 10 20\"; {lines}")),
        ("0 -10", format!("1: found \"0 -10\"; {lines}")),
        ("0 1e3", format!("1: found \"0 1e3\"; {lines}")),
        ("0 nan", format!("1: found \"0 nan\"; {lines}")),
        ("5 10", "1: found 5 s as the first time; expected 0, where it begins".to_string()),
        (
            "0 1\n2 1\n2 3",
            "3: found 2 s after 2 s; expected each time later than the one before \
                           it"
            .to_string(),
        ),
    ] {
        assert_eq!(fault(delays(text)), message);
    }
}

/// A stall of five seconds releases three replies at once. Their delays hold from when the pings
/// were sent.
#[test]
fn the_output_of_ping_is_read_by_the_time_of_sending() {
    let text = "\
PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.
[1690000000.300000] 64 bytes from 10.0.0.1: icmp_seq=1 ttl=52 time=300 ms
[1690000003.500001] no answer yet for icmp_seq=2
[1690000006.000000] 64 bytes from 10.0.0.1: icmp_seq=4 ttl=52 time=3000 ms
[1690000006.000001] 64 bytes from host (10.0.0.1): icmp_seq=2 ttl=52 time=5000 ms
[1690000006.000002] 64 bytes from 10.0.0.1: icmp_seq=3 ttl=52 time=4000.0 ms
[1690000006.000003] 64 bytes from 10.0.0.1: icmp_seq=3 ttl=52 time=4000.1 ms (DUP!)

--- 10.0.0.1 ping statistics ---
4 packets transmitted, 4 received, 0% packet loss, time 3003ms
rtt min/avg/max/mdev = 300/3075/5000/0 ms
";
    let nanos = Duration::from_nanos;
    let steps = [
        (nanos(0), secs(0.3)),
        (nanos(1_000_001_000), secs(5.0)),
        (nanos(2_000_002_000), secs(4.0)),
        (nanos(3_000_000_000), secs(3.0)),
    ];
    assert_eq!(delays(text).unwrap(), steps);
}

#[test]
fn the_output_of_ping_without_times() {
    let expected = "expected a reply as ping -D prints it, with [seconds] before and time= behind";
    for line in [
        "64 bytes from 10.0.0.1: icmp_seq=1 ttl=52 time=300 ms",
        "[1690000000.3] 64 bytes from 10.0.0.1: icmp_seq=1 ttl=52",
        "[yesterday] 64 bytes from 10.0.0.1: icmp_seq=1 time=300 ms",
    ] {
        let found: String = line.chars().take(60).collect();
        assert_eq!(
            fault(delays(&format!("PING\n{line}"))),
            format!("2: found {found:?}; {expected}")
        );
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_trace_or_a_fault(text in "([0-9. #\\[\\]\n]|time=| bytes from | ms|\\PC){0,60}") {
        let lines = text.lines().count();
        for fault in [mahimahi(&text).err(), delays(&text).err()].into_iter().flatten() {
            proptest::prop_assert!(fault.line.is_none_or(|line| (1..=lines).contains(&line)));
        }
        if let Ok(trace) = mahimahi(&text) {
            proptest::prop_assert!(trace.at.is_sorted() && trace.at.last() == Some(&trace.period));
        }
        if let Ok(steps) = delays(&text) {
            proptest::prop_assert!(steps[0].0.is_zero() && steps.is_sorted_by(|a, b| a.0 < b.0));
        }
    }
}
