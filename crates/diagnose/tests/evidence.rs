//! Every kind of evidence on a packet script that shows it, `tests/evidence/<kind>.txt`, and what
//! is then said of each retransmission.
//!
//! The first line of a script says how many milliseconds the handshake takes to the client and to
//! the server, and which options it agrees on. The others are packets of segments of 1000 bytes:
//! `MS data N`, or `MS ack N`, also with `sack M` or `echo TIMESTAMP`, which holds until the next.

mod script;

use std::fmt::Write;
use std::fs::read_to_string;
use std::path::PathBuf;

use rtolab_diagnose::{ConnectionReport, EvidenceReport, kinds};
use script::Event::{Ack, Data, Duplicate};
use script::Script;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/evidence")
}

fn number(word: Option<&str>) -> u32 {
    word.and_then(|word| word.parse().ok()).expect("a number")
}

fn play(text: &str) -> ConnectionReport {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let head: Vec<&str> = lines.next().expect("a head").split(' ').collect();
    let [near, far] = [head[1], head[2]].map(|word| u64::from(number(Some(word))));
    let has = |option| head[3..].contains(&option);
    let mut script = Script::opened((near, far), has("timestamps"), has("sack"));
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let after = |key| words.iter().skip_while(|word| **word != key).nth(1).copied();
        let [millis, n] = [words[0], words[2]].map(|word| number(Some(word)));
        if let Some(echo) = after("echo") {
            script.echo = number(Some(echo));
        }
        let event = match after("sack") {
            _ if words[1] == "data" => Data(n),
            None => Ack(n),
            block => Duplicate(n, number(block)),
        };
        script.play(&[(u64::from(millis), event)]);
    }
    script.report()
}

fn told(report: &ConnectionReport) -> String {
    let list = |evidence: &[EvidenceReport]| {
        let one = |piece: &EvidenceReport| format!("{} (frame {})", piece.kind, piece.frame);
        evidence.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let mut told = String::new();
    for one in &report.retransmissions {
        let (trigger, verdict) = (one.trigger.name(), one.verdict);
        write!(told, "frame {}: {trigger}, {verdict:?} {:.2}", one.frame, one.confidence).unwrap();
        writeln!(told, "\n    for it: {}", list(&one.evidence)).unwrap();
        if !one.against.is_empty() {
            writeln!(told, "    against it: {}", list(&one.against)).unwrap();
        }
    }
    told
}

#[test]
fn every_kind_of_evidence_shows_in_its_script() {
    for name in kinds().into_keys() {
        let file = folder().join(name).with_extension("txt");
        let text = read_to_string(&file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
        let told = told(&play(&text));
        assert!(told.contains(&format!("{name} (frame")), "{name}:\n{told}");
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name, told);
        });
    }
}

#[test]
fn every_kind_of_evidence_is_in_the_guide() {
    let guide = read_to_string(folder().join("../../../../docs/diagnose.md")).expect("the guide");
    for name in kinds().into_keys() {
        assert!(guide.contains(&format!("| `{name}` |")), "{name} is missing");
    }
    assert_eq!(std::fs::read_dir(folder()).expect("scripts").count(), kinds().len());
}
