//! Invalid traces: the message names the file and its line.

use std::path::Path;

use rtolab_scenario::Scenario;

use super::{EVERYTHING, check, errors_with, errors_with_in, message};

/// The error of a scenario whose trace `key` contains `text`.
fn trace_error(key: &str, text: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(key.replace('.', "-"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("trace"), text).unwrap();
    let set = [(format!("link.wireless.{key}"), "trace".to_string())];
    let file = folder.join("x.toml").display().to_string();
    let error = Scenario::parse(super::VALID, &file, &set).unwrap_err().to_string();
    format!("{text:?}\n{}\n", error.replace(&folder.display().to_string(), "FOLDER"))
}

#[test]
fn invalid_opportunities() {
    let texts = ["", "0\n", "5\n3\n", "1\n2.5\n", "one\n", "-1\n", "1 2\n"];
    check("invalid_opportunities", &texts.map(|text| trace_error("rate_trace", text)).join("\n"));
}

#[test]
fn invalid_delays() {
    let ping = "[1.5] 64 bytes from 10.0.0.1: icmp_seq=1 ttl=52 time=1 ms\n\
                64 bytes from 10.0.0.1: icmp_seq=2 ttl=52 time=1 ms\n";
    let texts =
        ["", "# nothing\n", "0 1\n0 2\n", "0 1\nnoise\n", "1 1\n", "0 1 s\n", "0,1\n", ping];
    let messages = texts.map(|text| trace_error("delay_trace.file", text));
    check("invalid_delays", &messages.join("\n"));
}

#[test]
fn invalid_lengths() {
    let texts = ["", "# nothing\n", "0\n0.0\n", "1\n2 ms\n", "1\n-2\n", "1\n\n1 2\n", "1e3\n"];
    let messages = texts.map(|text| trace_error("jitter.empirical.file", text));
    check("invalid_lengths", &messages.join("\n"));
}

#[test]
fn missing_traces() {
    let messages = errors_with_in(
        EVERYTHING,
        &[
            ("traces/cellular.up", "cellular.up"),
            ("traces/cellular.up", "traces"),
            ("traces/ping.txt", "traces/pong.txt"),
            ("of = \"round-trip\"", "of = \"both\""),
            ("file = \"traces/ping.txt\", ", ""),
            ("repeats = true", "repeats = 3"),
            (
                "{ file = \"traces/ping.txt\", of = \"round-trip\", repeats = true }",
                "\"traces/ping.txt\"",
            ),
        ],
    );
    let conflicts = errors_with(&[
        ("loss = 0.05", "rate_trace = \"traces/cellular.up\""),
        ("loss = 0.05", "delay = \"5 ms\"\ndelay_trace = { file = \"traces/ping.txt\" }"),
        ("drops = [1, 2]", "rate_changes = []\nrate_trace = \"traces/cellular.up\""),
    ]);
    check("missing_traces", &[messages, conflicts].join("\n"));
}

#[test]
fn a_trace_of_one_delay_does_not_repeat() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("one");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("trace"), "0 10\n").unwrap();
    let trace = ("link.lan.delay_trace".to_string(), r#"{ file = "trace", repeats = true }"#);
    let file = folder.join("x.toml").display().to_string();
    let set = [(trace.0, trace.1.to_string())];
    let error = Scenario::parse(super::VALID, &file, &set).unwrap_err();
    let expected = "found a trace of one delay; expected two at least, to repeat them";
    assert_eq!(
        (error.key.as_str(), error.problem.as_str()),
        ("link.lan.delay_trace.repeats", expected)
    );
}

/// Priority and RED's default packet time need a rate, which a trace does not have.
#[test]
fn keys_that_need_a_rate_beside_a_trace() {
    let forward = |keys: &str| {
        let bad = "bad = { loss = 0.1 }\nrate_trace = \"traces/cellular.up\"";
        message(&EVERYTHING.replace("[link.forward]", &format!("[link.forward]\n{bad}\n{keys}")))
    };
    let messages = ["", "codel = {}"].map(forward);
    check("keys_that_need_a_rate_beside_a_trace", &messages.join("\n"));
}
