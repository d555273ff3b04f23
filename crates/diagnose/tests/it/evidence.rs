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
use rtolab_diagnose::{ConnectionReport, EvidenceReport, Necessity, kinds};

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

/// The first copies of 2 to 5 are not in the capture: the sender's own queue dropped them. The SACK
/// blocks of 3 and 4 report new data, although the flight knows only the whole gap.
#[test]
fn an_ack_that_reports_a_range_first_is_no_duplicate() {
    let report = run("rtt 0 10 sack timestamps
        1000 data 1
        1010 ack 1
        1020 data 6
        1030 ack 1 sack 6
        1040 data 3 echo 1041
        1050 ack 1 sack 3
        1060 data 4 echo 1041
        1070 ack 1 sack 4
        1080 data 7
        1090 ack 1 sack 7
        1100 data 2 echo 1101
        1110 ack 4
        1120 data 5 echo 1121
        1130 ack 7
        1140 data 8 echo 1141
        1150 ack 8"
        .replace("\n        ", "\n")
        .as_str());
    for one in &report.retransmissions {
        assert_ne!(one.verdict, Necessity::Unneeded, "{one:?}");
        assert!(one.against.is_empty(), "{one:?}");
    }
}

/// The path held 2 and 3 with their copies. The ACK of all has room for one D-SACK, that of 2.
#[test]
fn an_ack_that_reports_another_duplicate_does_not_show_that_a_copy_was_lost() {
    let verdicts = |late: &str| {
        let text = format!(
            "rtt 0 100 sack
1000 data 1
1100 ack 1
2000 data 2
2000 data 3
2300 data 3
2600 data 2
{late}
4000 data 4
4100 ack 4
4500 data 5
4600 ack 5"
        );
        run(&text).retransmissions.iter().map(|one| one.verdict).collect::<Vec<_>>()
    };
    assert_eq!(verdicts("3500 ack 3 sack 2"), [Necessity::Unknown, Necessity::Unneeded]);
    assert_eq!(verdicts("3500 ack 3\n3501 ack 3 sack 2"), [Necessity::Needed, Necessity::Unneeded]);
}
