//! What copies of a run and judges say, where it can be known otherwise.

use std::path::Path;

use rtolab_record::{DupackCause, Place, Recording, TimeoutKind, TimeoutRow, Truth, VerdictRow};
use rtolab_scenario::Scenario;
use rtolab_sim::{Error, Lab, Observe};

fn scenario(name: &str, set: &[(&str, &str)]) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Scenario::load(&file, &set).unwrap_or_else(|error| panic!("{error}"))
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// A judged run for each of the seeds.
fn judged(
    scenario: &Scenario,
    (sender, judges): (&str, &[&str]),
    seeds: std::ops::Range<u64>,
) -> Vec<Recording> {
    let lab = Lab::new(scenario, Some(sender)).unwrap();
    let lab = lab.judged(scenario, &owned(judges), &[]).unwrap();
    seeds.map(|seed| lab.run(0, seed, Observe::default())).collect()
}

/// What the retransmissions of the host that sends the data were.
fn truths(recordings: &[Recording]) -> Vec<Truth> {
    let rows = recordings.iter().flat_map(|recording| &recording.timeouts);
    let sent = rows.filter(|row| row.end == Place::Sender);
    sent.map(|row| row.truth.expect("every row is judged")).collect()
}

fn count<T: PartialEq>(all: &[T], one: &T) -> usize {
    all.iter().filter(|other| *other == one).count()
}

/// What judges said of the retransmissions of the host that sends the data.
fn verdicts(recordings: &[Recording]) -> impl Iterator<Item = &VerdictRow> {
    let rows = recordings.iter().flat_map(|recording| &recording.verdicts);
    rows.filter(|row| row.end == Place::Sender)
}

const ROOM: (&str, &str) = ("link.wireless.queue", "unlimited");
const TIMESTAMPS: (&str, &str) = ("tcp.timestamps", "true");

#[test]
fn where_nothing_is_lost_every_retransmission_is_spurious() {
    let scenario = scenario("frto2002-delays.toml", &[ROOM]);
    for sender in ["sack", "newreno", "newreno:no-bugfix", "sack+frto"] {
        let truths = truths(&judged(&scenario, (sender, &[]), 0..20));
        assert!(truths.len() > 20, "{sender}: {}", truths.len());
        assert_eq!(count(&truths, &Truth::Spurious), truths.len(), "{sender}");
    }
}

#[test]
fn where_only_acknowledgments_are_lost_no_timeout_is_genuine() {
    let lossy =
        [ROOM, ("link.wireless.spikes.probability", "0"), ("link.wireless.backward.loss", "0.5")];
    let scenario = scenario("frto2002-delays.toml", &lossy);
    for sender in ["sack", "newreno"] {
        let truths = truths(&judged(&scenario, (sender, &[]), 0..20));
        assert!(count(&truths, &Truth::AckLost) > 20, "{sender}");
        assert_eq!(count(&truths, &Truth::Genuine), 0, "{sender}");
    }
}

#[test]
fn judging_leaves_a_run_untouched_to_the_byte() {
    let scenario = scenario("frto2002-outages.toml", &[TIMESTAMPS]);
    let observe = Observe { trace: true, windows: true };
    let text = |mut recording: Recording| {
        for row in &mut recording.timeouts {
            (row.truth, row.cost) = (None, None);
        }
        (recording.verdicts, recording.what_ifs) = (Vec::new(), Vec::new());
        format!("{recording:?}")
    };
    for seed in 0..5 {
        let lab = || Lab::new(&scenario, Some("sack")).unwrap();
        let what_if = owned(&["sack+frto", "newreno"]);
        let asked = lab().judged(&scenario, &owned(&["eifel", "frto", "dsack"]), &what_if).unwrap();
        let judged = asked.run(0, seed, observe);
        assert!(!judged.verdicts.is_empty() && !judged.what_ifs.is_empty());
        assert!(text(judged) == text(lab().run(0, seed, observe)), "seed {seed}");
        let unwatched = lab().run(0, seed, Observe::default());
        let watched = lab().run(0, seed, observe);
        assert_eq!(format!("{:?}", unwatched.links), format!("{:?}", watched.links));
    }
}

#[test]
fn on_delay_spikes_without_loss_eifel_is_the_truth() {
    let scenario = scenario("frto2002-delays.toml", &[ROOM, TIMESTAMPS]);
    for sender in ["sack", "newreno", "sack+frto"] {
        let recordings = judged(&scenario, (sender, &["eifel"]), 0..20);
        // Of a handshake it says nothing.
        let timeouts =
            verdicts(&recordings).filter(|row| row.kind == TimeoutKind::Timeout && row.seq > 0);
        let timeouts: Vec<_> = timeouts.collect();
        let right = |row: &&&VerdictRow| row.truth.is_some_and(|t| t.name() == row.verdict);
        let wrong: Vec<_> = timeouts.iter().filter(|row| !right(row)).take(3).collect();
        assert!(timeouts.len() > 20 && wrong.is_empty(), "{sender}: {wrong:?}");
    }
}

/// How often Eifel calls a timeout spurious that is not, in outages.
fn false_alarms(echo: &str) -> usize {
    let set = [TIMESTAMPS, ("receiver.echo", echo)];
    let scenario = scenario("frto2002-outages.toml", &set);
    let recordings = judged(&scenario, ("sack", &["eifel"]), 0..30);
    let wrong = |row: &&VerdictRow| {
        row.kind == TimeoutKind::Timeout
            && row.truth != Some(Truth::Spurious)
            && row.verdict == "spurious"
    };
    verdicts(&recordings).filter(wrong).count()
}

#[test]
fn the_false_alarms_of_table_3_come_from_what_is_echoed() {
    assert!(false_alarms("rfc1323") > 30);
    assert_eq!(false_alarms("echo-all"), 0);
}

#[test]
fn a_judge_without_what_it_needs_is_blind() {
    let scenario = scenario("frto2002-delays.toml", &[]);
    let recordings = judged(&scenario, ("sack", &["eifel", "dsack"]), 1..3);
    let said: Vec<_> = verdicts(&recordings).map(|row| (row.verdict, row.why)).collect();
    assert!(said.contains(&("blind", Some("no timestamps"))), "{said:?}");
    assert!(said.contains(&("blind", Some("no D-SACK"))), "{said:?}");
}

const STALL: (&str, &str) = ("link.wireless.stalls.scripted", r#"[{ at = "20 s", for = "3 s" }]"#);
const QUIET: (&str, &str) = ("link.wireless.spikes.probability", "0");

#[test]
fn a_spurious_timeout_costs_what_its_absence_saves() {
    let scenario = scenario("frto2002-delays.toml", &[QUIET, STALL]);
    let recordings = judged(&scenario, ("sack", &[]), 1..2);
    let row = recordings[0].timeouts.iter().find(|row| row.kind == TimeoutKind::Timeout).unwrap();
    let cost = row.cost.expect("a spurious timeout was judged");
    // A whole window in vain, and nothing else was retransmitted because of it.
    let window = recordings[0].connections[0].unneeded as i64;
    assert!(window >= 8 && cost.more_segments() == window, "{cost:?}, {window} in vain");
    assert!(cost.later_s().unwrap() > 0.5, "{cost:?}");
    assert_eq!(cost.original.bytes, cost.other.bytes);
}

#[test]
fn a_transfer_without_end_has_no_cost() {
    let scenario = scenario("dualrtt2004-hiccup.toml", &[]);
    let recordings = judged(&scenario, ("sack", &[]), 1..2);
    let spurious = |row: &&TimeoutRow| row.truth == Some(Truth::Spurious);
    let rows: Vec<_> = recordings[0].timeouts.iter().filter(spurious).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.cost.is_none()), "{rows:?}");
}

#[test]
fn another_sender_goes_on_from_a_timeout() {
    let scenario = scenario("frto2002-delays.toml", &[QUIET, STALL]);
    let lab = Lab::new(&scenario, Some("sack")).unwrap();
    let lab = lab.judged(&scenario, &[], &owned(&["sack", "sack+frto"])).unwrap();
    let recording = lab.run(0, 1, Observe::default());
    let [same, frto] = &recording.what_ifs[..2] else { panic!("{:?}", recording.what_ifs) };
    assert_eq!(same.comparison.original, same.comparison.other);
    assert_eq!((&*frto.sender, frto.truth), ("sack+frto", Some(Truth::Spurious)));
    assert!(frto.comparison.more_segments() >= 7, "{frto:?}");
    assert!(frto.comparison.later_s().unwrap() > 0.0, "{frto:?}");
}

#[test]
fn a_sender_that_needs_what_was_not_negotiated_cannot_go_on() {
    let scenario = scenario("frto2002-delays.toml", &[]);
    let error = |sender, other| {
        let lab = Lab::new(&scenario, Some(sender)).unwrap();
        lab.judged(&scenario, &[], &owned(&[other])).err().unwrap()
    };
    let wrong = error("newreno", "sack");
    assert!(matches!(wrong, Error::WhatIf { .. }));
    assert!(wrong.to_string().starts_with("`sack` cannot go on from `newreno`"), "{wrong}");
    assert!(error("sack", "sack+eifel").to_string().contains("timestamps"));
}

#[test]
fn duplicate_acknowledgments_have_the_causes_that_the_link_gave_them() {
    let causes = |set: &[(&str, &str)]| {
        let scenario = scenario("frto2002-delays.toml", &[&[QUIET, ROOM], set].concat());
        let recordings = judged(&scenario, ("sack", &[]), 1..4);
        let rows = recordings.iter().flat_map(|recording| &recording.duplicates);
        rows.map(|row| row.cause.unwrap()).collect::<Vec<_>>()
    };
    let only = |causes: &[DupackCause], expected| {
        let right = count(causes, &expected);
        assert!(right > 0 && right == causes.len(), "{right} of {}: {:?}", causes.len(), &causes);
    };
    only(&causes(&[("link.wireless.forward.drops", "[60]")]), DupackCause::Loss);
    let small = ("tcp.window.initial_ssthresh", "8 segments");
    only(&causes(&[small, STALL]), DupackCause::Retransmission);
    // Frames overtake, by less than a retransmission takes; none is lost.
    let jitter = ("link.wireless.forward.jitter", r#"{ uniform = ["0 s", "250 ms"] }"#);
    let patient = ("tcp.recovery.dupthresh", "10");
    let overtaken = causes(&[small, jitter, ("link.wireless.forward.order", "free"), patient]);
    only(&overtaken, DupackCause::Reordering);
    // Second copies of data call for duplicates, and second copies of those are some, too.
    let doubled = causes(&[small, patient, ("link.wireless.duplication", "0.05")]);
    only(&doubled, DupackCause::Network);
}
