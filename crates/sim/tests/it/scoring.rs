//! Tests of the ground truth, the costs and the verdicts of detectors in cases with a known result.

use std::path::Path;

use rtolab_record::{DupackCause, Place, Recording, TimeoutKind, TimeoutRow, Truth, VerdictRow};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe, SimError};

fn scenario(name: &str, set: &[(&str, &str)]) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Scenario::load(&file, &set).unwrap_or_else(|error| panic!("{error}"))
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// A scored run for each of the seeds.
fn scored(
    scenario: &Scenario,
    (sender, detectors): (&str, &[&str]),
    seeds: std::ops::Range<u64>,
) -> Vec<Recording> {
    let lab = Lab::new(scenario, Some(sender)).unwrap();
    let lab = lab.scored(scenario, &owned(detectors), &[]).unwrap();
    seeds.map(|seed| lab.run(0, seed, Observe::default())).collect()
}

/// The ground truth about the sender's retransmissions.
fn truths(recordings: &[Recording]) -> Vec<Truth> {
    let rows = recordings.iter().flat_map(|recording| &recording.timeouts);
    let sent = rows.filter(|row| row.end == Place::Sender);
    sent.map(|row| row.truth.expect("every row has a truth")).collect()
}

fn count<T: PartialEq>(all: &[T], one: &T) -> usize {
    all.iter().filter(|other| *other == one).count()
}

/// The verdicts on the sender's retransmissions.
fn verdicts(recordings: &[Recording]) -> impl Iterator<Item = &VerdictRow> {
    let rows = recordings.iter().flat_map(|recording| &recording.verdicts);
    rows.filter(|row| row.end == Place::Sender)
}

const UNLIMITED_QUEUE: (&str, &str) = ("link.wireless.queue", "unlimited");
const TIMESTAMPS: (&str, &str) = ("tcp.timestamps", "true");

#[test]
fn without_losses_every_retransmission_is_spurious() {
    let scenario = scenario("frto2002-delays.toml", &[UNLIMITED_QUEUE]);
    for sender in ["sack", "newreno", "newreno:no-bugfix", "sack+frto"] {
        let truths = truths(&scored(&scenario, (sender, &[]), 0..20));
        assert!(truths.len() > 20, "{sender}: {}", truths.len());
        assert_eq!(count(&truths, &Truth::Spurious), truths.len(), "{sender}");
    }
}

#[test]
fn if_only_acks_are_lost_no_timeout_is_genuine() {
    let lossy = [
        UNLIMITED_QUEUE,
        ("link.wireless.spikes.probability", "0"),
        ("link.wireless.backward.loss", "0.5"),
    ];
    let scenario = scenario("frto2002-delays.toml", &lossy);
    for sender in ["sack", "newreno"] {
        let truths = truths(&scored(&scenario, (sender, &[]), 0..20));
        assert!(count(&truths, &Truth::AckLost) > 20, "{sender}");
        assert_eq!(count(&truths, &Truth::Genuine), 0, "{sender}");
    }
}

#[test]
fn scoring_does_not_change_a_run() {
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
        let with_request =
            lab().scored(&scenario, &owned(&["eifel", "frto", "dsack"]), &what_if).unwrap();
        let scored = with_request.run(0, seed, observe);
        assert!(!scored.verdicts.is_empty() && !scored.what_ifs.is_empty());
        assert!(text(scored) == text(lab().run(0, seed, observe)), "seed {seed}");
        let untraced = lab().run(0, seed, Observe::default());
        let traced = lab().run(0, seed, observe);
        assert_eq!(format!("{:?}", untraced.links), format!("{:?}", traced.links));
    }
}

#[test]
fn on_delay_spikes_without_loss_eifel_agrees_with_the_truth() {
    let scenario = scenario("frto2002-delays.toml", &[UNLIMITED_QUEUE, TIMESTAMPS]);
    for sender in ["sack", "newreno", "sack+frto"] {
        let recordings = scored(&scenario, (sender, &["eifel"]), 0..20);
        // Eifel has no verdict on the handshake.
        let timeouts =
            verdicts(&recordings).filter(|row| row.kind == TimeoutKind::Timeout && row.seq > 0);
        let timeouts: Vec<_> = timeouts.collect();
        let right = |row: &&&VerdictRow| row.truth.is_some_and(|t| t.name() == row.verdict);
        let wrong: Vec<_> = timeouts.iter().filter(|row| !right(row)).take(3).collect();
        assert!(timeouts.len() > 20 && wrong.is_empty(), "{sender}: {wrong:?}");
    }
}

/// The number of genuine timeouts in outages on which Eifel has the verdict spurious.
fn false_alarms(echo: &str) -> usize {
    let set = [TIMESTAMPS, ("receiver.echo", echo)];
    let scenario = scenario("frto2002-outages.toml", &set);
    let recordings = scored(&scenario, ("sack", &["eifel"]), 0..30);
    let wrong = |row: &&VerdictRow| {
        row.kind == TimeoutKind::Timeout
            && row.truth != Some(Truth::Spurious)
            && row.verdict == "spurious"
    };
    verdicts(&recordings).filter(wrong).count()
}

#[test]
fn the_false_alarms_of_table_3_depend_on_the_echoed_timestamp() {
    assert!(false_alarms("rfc1323") > 30);
    assert_eq!(false_alarms("echo-all"), 0);
}

#[test]
fn a_detector_without_its_option_has_no_verdict() {
    let scenario = scenario("frto2002-delays.toml", &[]);
    let recordings = scored(&scenario, ("sack", &["eifel", "dsack"]), 1..3);
    let found: Vec<_> = verdicts(&recordings).map(|row| (row.verdict, row.why)).collect();
    assert!(found.contains(&("blind", Some("no timestamps"))), "{found:?}");
    assert!(found.contains(&("blind", Some("no D-SACK"))), "{found:?}");
}

const STALL: (&str, &str) = ("link.wireless.stalls.scripted", r#"[{ at = "20 s", for = "3 s" }]"#);
const NO_SPIKES: (&str, &str) = ("link.wireless.spikes.probability", "0");

#[test]
fn the_cost_of_a_spurious_timeout_is_the_difference_to_the_run_without_it() {
    let scenario = scenario("frto2002-delays.toml", &[NO_SPIKES, STALL]);
    let recordings = scored(&scenario, ("sack", &[]), 1..2);
    let row = recordings[0].timeouts.iter().find(|row| row.kind == TimeoutKind::Timeout).unwrap();
    let cost = row.cost.expect("a spurious timeout was scored");
    // The timeout causes an unneeded retransmission of the whole window, and no other.
    let window = recordings[0].connections[0].unneeded as i64;
    assert!(window >= 8 && cost.more_segments() == window, "{cost:?}, {window} unneeded");
    assert!(cost.later_s().unwrap() > 0.5, "{cost:?}");
    assert_eq!(cost.original.bytes, cost.other.bytes);
}

#[test]
fn an_endless_transfer_has_no_cost() {
    let scenario = scenario("dualrtt2004-hiccup.toml", &[]);
    let recordings = scored(&scenario, ("sack", &[]), 1..2);
    let spurious = |row: &&TimeoutRow| row.truth == Some(Truth::Spurious);
    let rows: Vec<_> = recordings[0].timeouts.iter().filter(spurious).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.cost.is_none()), "{rows:?}");
}

#[test]
fn another_sender_continues_from_a_timeout() {
    let scenario = scenario("frto2002-delays.toml", &[NO_SPIKES, STALL]);
    let lab = Lab::new(&scenario, Some("sack")).unwrap();
    let lab = lab.scored(&scenario, &[], &owned(&["sack", "sack+frto"])).unwrap();
    let recording = lab.run(0, 1, Observe::default());
    let [same, frto] = &recording.what_ifs[..2] else { panic!("{:?}", recording.what_ifs) };
    assert_eq!(same.comparison.original, same.comparison.other);
    assert_eq!((&*frto.sender, frto.truth), ("sack+frto", Some(Truth::Spurious)));
    assert!(frto.comparison.more_segments() >= 7, "{frto:?}");
    assert!(frto.comparison.later_s().unwrap() > 0.0, "{frto:?}");
}

#[test]
fn a_sender_cannot_continue_without_its_negotiated_option() {
    let scenario = scenario("frto2002-delays.toml", &[]);
    let error = |sender, other| {
        let lab = Lab::new(&scenario, Some(sender)).unwrap();
        lab.scored(&scenario, &[], &owned(&[other])).err().unwrap()
    };
    let wrong = error("newreno", "sack");
    assert!(matches!(wrong, SimError::WhatIf { .. }));
    assert!(
        wrong.to_string().starts_with("`sack` cannot continue a connection of `newreno`"),
        "{wrong}"
    );
    assert!(error("sack", "sack+eifel").to_string().contains("timestamps"));
}

#[test]
fn each_duplicate_ack_has_its_cause() {
    let causes = |set: &[(&str, &str)]| {
        let scenario =
            scenario("frto2002-delays.toml", &[&[NO_SPIKES, UNLIMITED_QUEUE], set].concat());
        let recordings = scored(&scenario, ("sack", &[]), 1..4);
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
    // Frames are reordered by less time than a retransmission takes. None is lost.
    let jitter = ("link.wireless.forward.jitter", r#"{ uniform = ["0 s", "250 ms"] }"#);
    let high_dupthresh = ("tcp.recovery.dupthresh", "10");
    let reordered =
        causes(&[small, jitter, ("link.wireless.forward.order", "free"), high_dupthresh]);
    only(&reordered, DupackCause::Reordering);
    // Duplicated data cause duplicate ACKs. Duplicated ACKs are duplicate ACKs themselves.
    let duplicated = causes(&[small, high_dupthresh, ("link.wireless.duplication", "0.05")]);
    only(&duplicated, DupackCause::Network);
}
