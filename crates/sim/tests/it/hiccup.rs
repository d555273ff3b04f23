//! The hiccup of the DualRTT paper, and the verdicts of detectors on its timeouts.

use std::collections::BTreeMap;

use rtolab_record::{PacketEvent, Place, Recording, TimeoutKind};
use rtolab_sim::{Lab, Observe};
use rtolab_tcp::spurious::{DetectorId, PassiveDetectors, Reason, Verdict};
use rtolab_tcp::{Cause, Seq};
use rtolab_time::Instant;

use crate::sender_events::{FIRST_DATA_S, SenderEvent, SenderEvents, hiccup, run, sender_events};

fn reno() -> Recording {
    run(&hiccup(&[]), "reno:no-bugfix")
}

/// The times of the events that match, on the paper's clock.
fn times(sender_events: &SenderEvents, matches: impl Fn(SenderEvent) -> bool) -> Vec<f64> {
    sender_events
        .iter()
        .filter(|(_, event)| matches(*event))
        .map(|(at, _)| (at * 100.0).round() / 100.0)
        .collect()
}

fn retransmitted(sender_events: &SenderEvents) -> Vec<i64> {
    let segments = sender_events.iter().filter_map(|(_, event)| match event {
        SenderEvent::Retransmit(segment) => Some(*segment),
        _ => None,
    });
    segments.collect()
}

#[test]
fn the_hiccup_matches_the_paper() {
    let sender_events = sender_events(&reno(), FIRST_DATA_S);
    let first = |segment| times(&sender_events, |event| event == SenderEvent::Send(segment));
    assert_eq!((first(131), first(150)), (vec![28.99], vec![30.74]));
    assert_eq!(times(&sender_events, |event| event == SenderEvent::Timeout), [34.54, 42.14]);
    assert_eq!(times(&sender_events, |event| event == SenderEvent::FastRetransmit), [45.8]);
    // The ACK of the original releases the next two.
    assert_eq!(times(&sender_events, |event| event == SenderEvent::Retransmit(132)), [42.9]);
    // 21 are retransmitted after the timeouts, and 151 by the fast retransmit; none was lost.
    let expected: Vec<_> = [131].into_iter().chain(131..=151).collect();
    assert_eq!(retransmitted(&sender_events), expected);
}

/// The verdicts of passive detectors on the run, with episode and time.
fn verdicts(recording: &Recording) -> Vec<(u32, DetectorId, Verdict, f64)> {
    let names = [
        "eifel",
        "eifel:rfc3522",
        "frto",
        "dualrtt",
        "dsack",
        "eifel:safe",
        "eifel:rxt",
        "badrexmit",
        "dsack:linux",
    ];
    let mut detectors = PassiveDetectors::new(names.map(|name| name.parse().unwrap()), Seq::FIRST);
    let mut timeouts = recording.timeouts.iter().peekable();
    let at_sender = recording.segments.iter().filter(|row| row.place == Place::Sender);
    for row in at_sender {
        // An ACK comes before the fast retransmit that it causes.
        if row.event == PacketEvent::Received {
            detectors.on_ack(&row.segment, row.at);
            continue;
        }
        while let Some(timeout) = timeouts.next_if(|timeout| timeout.at <= row.at) {
            let seq = Seq::FIRST + u32::try_from(timeout.seq).unwrap();
            match timeout.kind {
                TimeoutKind::Timeout => detectors.timeout(seq, timeout.at),
                TimeoutKind::FastRetransmit => detectors.fast_retransmit(seq, timeout.at),
                TimeoutKind::Probe => unreachable!("this sender does not probe"),
            };
        }
        detectors.sent(&row.segment, row.at, Cause::Unknown);
    }
    let time = |at: Instant| ((at.secs_f64() - FIRST_DATA_S) * 100.0).round() / 100.0;
    let verdicts = std::iter::from_fn(|| detectors.poll());
    verdicts.map(|found| (found.episode, found.detector, found.verdict, time(found.at))).collect()
}

#[test]
fn t_dr_1_the_second_ack_decides() {
    let verdicts = verdicts(&reno());
    // The first ACK, at 42.90, comes 0.76 s after the second retransmission; the second, at 42.99,
    // comes 92 ms after 132 was retransmitted.
    let timeout_verdicts = [
        (0, "eifel", Verdict::Inconclusive(Reason::NoTimestamps), 42.9),
        (0, "eifel:rfc3522", Verdict::Inconclusive(Reason::NoTimestamps), 42.9),
        (0, "eifel:safe", Verdict::Inconclusive(Reason::NoTimestamps), 42.9),
        (0, "eifel:rxt", Verdict::Inconclusive(Reason::NotMarked), 42.9),
        (0, "badrexmit", Verdict::Inconclusive(Reason::RetransmittedTwice), 42.9),
        (0, "frto", Verdict::Inconclusive(Reason::SenderDeviated), 42.99),
        (0, "dualrtt", Verdict::Spurious, 42.99),
        (0, "dsack", Verdict::Inconclusive(Reason::NoDsack), 45.8),
        (0, "dsack:linux", Verdict::Inconclusive(Reason::NoDsack), 45.8),
    ];
    let named = timeout_verdicts
        .map(|(episode, name, verdict, at)| (episode, DetectorId::named(name), verdict, at));
    assert_eq!(verdicts[..9], named);
    assert!(verdicts[9..].iter().all(|(episode, ..)| *episode == 1));
    let fast_retransmit_detectors: Vec<_> =
        verdicts[9..].iter().map(|(_, name, ..)| *name).collect();
    let inconclusive_at_once = ["frto", "dualrtt", "badrexmit"];
    let decided_by_an_ack =
        ["eifel", "eifel:rfc3522", "eifel:safe", "eifel:rxt", "dsack", "dsack:linux"];
    assert_eq!(fast_retransmit_detectors, [&inconclusive_at_once[..], &decided_by_an_ack].concat());
}

/// The verdicts on the first timeout, with reason and time, of detectors that know the path as the
/// hosts do.
fn verdicts_by_threshold(
    set: &[(&str, &str)],
) -> BTreeMap<String, (&'static str, String, Option<f64>)> {
    let names = ["physical", "paper-ln", "paper-log10", "table", "online"];
    let names = names.map(|model| format!("dualrtt:{model}"));
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario = hiccup(&set);
    let lab = Lab::new(&scenario, Some("reno:no-bugfix")).unwrap();
    let lab = lab.scored(&scenario, &names, &[]).unwrap();
    let recording = lab.run(0, 1, Observe { trace: true, windows: false });
    let time = |at: Instant| ((at.secs_f64() - FIRST_DATA_S) * 100.0).round() / 100.0;
    let first = recording.verdicts.iter().take(names.len());
    let verdicts = first.map(|row| {
        assert_eq!(row.kind, TimeoutKind::Timeout);
        let at = row.verdict_at.map(time);
        (row.detector.to_string(), (row.verdict, row.why.unwrap_or_default().to_string(), at))
    });
    verdicts.collect()
}

#[test]
fn t_dr_1_the_second_ack_decides_with_most_thresholds() {
    let path = [("tcp.dualrtt.path_rate", "50 kbit/s"), ("tcp.dualrtt.path_delay", "1400 ms")];
    let verdicts = verdicts_by_threshold(&path);
    for model in ["physical", "paper-ln", "table", "online"] {
        let (verdict, _, at) = &verdicts[format!("dualrtt:{model}").as_str()];
        assert_eq!((*verdict, *at), ("spurious", Some(42.99)), "{model}");
    }
    // 0.030 of 2.8 s are less than 92 ms.
    assert_eq!(verdicts["dualrtt:paper-log10"].0, "open");
    for (detector, (verdict, why, _)) in verdicts_by_threshold(&[]) {
        match detector.as_str() {
            "dualrtt:physical" | "dualrtt:online" => assert_eq!(verdict, "spurious"),
            _ => assert_eq!((verdict, why.as_str()), ("blind", "the path is not known")),
        }
    }
}

/// A fast retransmit after a spurious timeout is a separate episode: its verdict does not replace
/// the verdict on the timeout.
#[test]
fn a_verdict_stays_with_its_episode() {
    let set = [("tcp.recover_on_undo".to_string(), "reset".to_string())];
    let recording = run(&hiccup(&set), "reno:careful+dualrtt");
    let of = |kind| {
        let rows = recording.timeouts.iter().filter(move |row| row.kind == kind);
        rows.map(|row| row.verdict).collect::<Vec<_>>()
    };
    assert_eq!(of(TimeoutKind::Timeout).last(), Some(&Some("spurious")));
    assert!(!of(TimeoutKind::FastRetransmit).is_empty());
    assert!(of(TimeoutKind::FastRetransmit).iter().all(|verdict| *verdict != Some("spurious")));
}
