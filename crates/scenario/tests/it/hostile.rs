//! Malicious input is rejected quickly, with a short message that names the limit.

use std::time::Duration;

use rtolab_scenario::{Scenario, ScenarioError};

const VALID: &str = r#"title = "x"
duration = "10 s"

[[link]]
name = "w"
between = ["a", "b"]
rate = "1 Mbit/s"
delay = "20 ms"
queue = "50 kB"

[[flow]]
name = "t"
from = "a"
to = "b"
bytes = "10 kB"
"#;

/// The limit of the processor time. Reading takes milliseconds; this allows for a debug build.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The processor time of this thread, which other programs do not change.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// The time since the first call: the standard library has no processor time.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(std::time::Instant::now).elapsed()
}

#[track_caller]
fn error_of(text: &str) -> ScenarioError {
    let began = processor_time();
    let error = Scenario::parse(text, "x.toml", &[]).unwrap_err();
    let took = processor_time().saturating_sub(began);
    assert!(took < TIME_LIMIT, "{took:?}");
    assert!(error.to_string().chars().count() < 3_000, "{} bytes", error.to_string().len());
    error
}

#[track_caller]
fn with_replacement(right: &str, invalid: &str) -> String {
    assert!(VALID.contains(right), "{right}");
    error_of(&VALID.replacen(right, invalid, 1)).to_string()
}

fn links(count: usize) -> String {
    let link = |nth| {
        format!(
            "[[link]]\nname = \"l{nth}\"\nbetween = [\"a\", \"n{nth}\"]\nrate = \"1 Mbit/s\"\n\
             delay = \"1 ms\"\nqueue = \"50 kB\"\n"
        )
    };
    (0..count).map(link).collect()
}

fn flows(count: usize) -> String {
    let flow =
        |nth| format!("[[flow]]\nname = \"f{nth}\"\nfrom = \"a\"\nto = \"b\"\nbytes = \"1 kB\"\n");
    (0..count).map(flow).collect()
}

#[test]
fn deep_nesting() {
    let deep = [
        format!("x = {}1{}", "[".repeat(10_000), "]".repeat(10_000)),
        format!("x = {}1{}", "{a=".repeat(10_000), "}".repeat(10_000)),
        format!("x = {}", "[".repeat(1_000_000)),
        format!("{} = 1", vec!["a"; 10_000].join(".")),
        format!("[{}]\nx = 1", vec!["a"; 10_000].join(".")),
    ];
    for text in deep {
        let message = error_of(&format!("{VALID}{text}\n")).to_string();
        assert!(message.contains("not TOML") && message.contains("recur"), "{message}");
    }
}

#[test]
fn too_many_links_and_flows() {
    let message = error_of(&format!("{VALID}{}", links(1_000))).to_string();
    let links = "link: found a list of 1001 tables; expected at most 1000 tables";
    assert!(message.ends_with(links), "{message}");
    let message = error_of(&format!("{VALID}{}", flows(10_000))).to_string();
    let tables = "flow: found a list of 10001 tables; expected at most 10000 tables";
    assert!(message.ends_with(tables), "{message}");
    let message = with_replacement("bytes =", "count = 1_000_000_000\nbytes =");
    let many = "flow.t.count: found 1000000000; expected 100000 flows at most";
    assert!(message.ends_with(many), "{message}");
}

#[test]
fn the_most_links_and_flows_are_read_quickly() {
    let text = format!("{VALID}{}{}", links(999), flows(9_999));
    let began = processor_time();
    let scenario = Scenario::parse(&text, "x.toml", &[]).unwrap();
    let took = processor_time().saturating_sub(began);
    assert!(took < TIME_LIMIT, "{took:?}");
    assert_eq!((scenario.links.len(), scenario.flows.len()), (1_000, 10_000));
}

#[test]
fn huge_numbers() {
    let invalid = [
        ("\"10 s\"", "\"1000000000000 s\"", "too large"),
        ("\"10 s\"", "\"1e308 s\"", "whose unit is unknown"),
        ("\"10 s\"", "nan", "duration: found NaN"),
        ("\"10 s\"", "inf", "duration: found inf"),
        ("\"10 s\"", "9223372036854775807", "a number without a unit"),
        ("\"10 s\"", "99999999999999999999999999", "expected a time"),
        ("\"20 ms\"", "\"18446744074 s\"", "link.w.delay: found"),
        ("\"1 Mbit/s\"", "\"99999999999999999999 Gbit/s\"", "link.w.rate: found"),
        ("\"10 kB\"", "\"99999999999999999999 GB\"", "flow.t.bytes: found"),
        ("\"50 kB\"", "\"99999999999999 packets\"", "link.w.queue: found"),
        ("rate =", "loss = 1e308\nrate =", "link.w.loss: found"),
        ("rate =", "loss = -inf\nrate =", "link.w.loss: found"),
        ("bytes =", "count = -9223372036854775808\nbytes =", "flow.t.count: found"),
        ("bytes =", "start = \"1000000 s\"\nbytes =", "flow.t.start: found"),
    ];
    for (right, invalid, says) in invalid {
        let message = with_replacement(right, invalid);
        assert!(message.contains(says), "{invalid}: {message}");
    }
}

#[test]
fn huge_texts() {
    let long = "9".repeat(2_000_000);
    let name = with_replacement("\"t\"", &format!("\"{long}\""));
    assert!(name.contains("at most 200 of them"), "{name}");
    let key = with_replacement("bytes =", &format!("k{long} = 1\nbytes ="));
    assert!(key.contains("found an unknown key; expected one of"), "{key}");
    let value = with_replacement("10 kB", &format!("{long} kB"));
    assert!(value.contains("flow.t.bytes: found") && value.contains("expected a size"), "{value}");
    let sender = vec!["sack"; 400_000].join("+");
    let sender = with_replacement("bytes =", &format!("sender = \"{sender}\"\nbytes ="));
    assert!(sender.contains("flow.t.sender: "), "{sender}");
    let node = with_replacement("to = \"b\"", &format!("to = \"{long}\""));
    assert!(node.contains("flow.t.to: "), "{node}");
}

#[test]
fn an_endless_file() {
    let error = Scenario::load("/dev/zero".as_ref(), &[]).unwrap_err();
    assert_eq!(error.to_string(), "/dev/zero: found more than 4 MiB; expected a scenario (TOML)");
}
