//! Tests of each kind of evidence. `tests/evidence/<kind>.txt` is a packet script with this
//! evidence, and a snapshot has the verdict on each of its retransmissions.
//!
//! The first line of a script has the round-trip times of the handshake to the client and to the
//! server in milliseconds, and the negotiated options. The other lines are packets, with segments
//! of 1000 bytes: `MS data N`, or `MS ack N`, which may be followed by `sack M`, and by
//! `echo TIMESTAMP`, which is valid until the next one.

use std::fmt::Write;
use std::fs::read_to_string;
use std::path::PathBuf;

use crate::script::Event::{Ack, Data, Duplicate};
use crate::script::Script;
use rtolab_diagnose::{ConnectionReport, EvidenceReport, kinds};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/evidence")
}

fn number(word: Option<&str>) -> u32 {
    word.and_then(|word| word.parse().ok()).expect("a number")
}

fn run(text: &str) -> ConnectionReport {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let head: Vec<&str> = lines.next().expect("a first line").split(' ').collect();
    let [near, far] = [head[1], head[2]].map(|word| u64::from(number(Some(word))));
    let has = |option| head[3..].contains(&option);
    let mut script = Script::opened((near, far), has("timestamps"), has("sack"));
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let value_of = |key| words.iter().skip_while(|word| **word != key).nth(1).copied();
        let [millis, n] = [words[0], words[2]].map(|word| number(Some(word)));
        if let Some(echo) = value_of("echo") {
            script.echo = number(Some(echo));
        }
        let event = match value_of("sack") {
            _ if words[1] == "data" => Data(n),
            None => Ack(n),
            block => Duplicate(n, number(block)),
        };
        script.add_events(&[(u64::from(millis), event)]);
    }
    script.report()
}

fn describe(report: &ConnectionReport) -> String {
    let list = |evidence: &[EvidenceReport]| {
        let one = |piece: &EvidenceReport| format!("{} (frame {})", piece.kind, piece.frame);
        evidence.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let mut text = String::new();
    for one in &report.retransmissions {
        let (trigger, verdict) = (one.trigger.name(), one.verdict);
        write!(text, "frame {}: {trigger}, {verdict:?} {:.2}", one.frame, one.confidence).unwrap();
        writeln!(text, "\n    for it: {}", list(&one.evidence)).unwrap();
        if !one.against.is_empty() {
            writeln!(text, "    against it: {}", list(&one.against)).unwrap();
        }
    }
    text
}

#[test]
fn the_script_of_each_kind_has_this_evidence() {
    for name in kinds().into_keys() {
        let file = folder().join(name).with_extension("txt");
        let text = read_to_string(&file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
        let verdicts = describe(&run(&text));
        assert!(verdicts.contains(&format!("{name} (frame")), "{name}:\n{verdicts}");
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name, verdicts);
        });
    }
}

#[test]
fn each_kind_of_evidence_is_in_the_guide() {
    let guide = read_to_string(folder().join("../../../../docs/diagnose.md")).expect("the guide");
    for name in kinds().into_keys() {
        assert!(guide.contains(&format!("| `{name}` |")), "{name} is missing");
    }
    assert_eq!(std::fs::read_dir(folder()).expect("scripts").count(), kinds().len());
}
