//! What ns-2.35 did, segment by segment, against what the engine does.
//!
//! The traces lie beside the checkout and are not part of it; without them there is nothing to
//! compare, and the test says so.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rtolab_record::{Event, Place, Recording, SegmentRow, TimeoutKind};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};
use rtolab_tcp::spurious::{Judges, Verdict, Why, detector};
use rtolab_tcp::{Cause, Seq};
use rtolab_time::Instant;

/// When the first segment leaves in the scenario; in ns-2 at zero, for it has no handshake.
const BEGINS: f64 = 2.9;

/// The clocks of ns-2's hosts start at random, so that a timeout may be off by ticks.
const TOLERANCE: f64 = 0.3;

/// What a sender did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Send(i64),
    Retransmit(i64),
    Timeout,
    FastRetransmit,
}

type History = Vec<(f64, Act)>;

fn near(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The trace of that name, if there is one.
fn oracle(name: &str) -> Option<History> {
    let file = near("../../../shared/oracle").join(name);
    let Ok(text) = fs::read_to_string(&file) else {
        eprintln!("skipped: no {}", file.display());
        return None;
    };
    let acts = text.lines().skip(1).filter_map(|line| {
        let fields: Vec<_> = line.split(',').collect();
        let segment = || fields[2].parse().unwrap();
        let act = match fields[1] {
            "send" => Act::Send(segment()),
            "retransmit" => Act::Retransmit(segment()),
            "timeout" => Act::Timeout,
            "fast_retransmit" => Act::FastRetransmit,
            _ => return None,
        };
        Some((fields[0].parse().unwrap(), act))
    });
    Some(acts.collect())
}

/// What set A of the traces has otherwise: the paper's printed rate, acknowledgments that take no
/// time to send, and a finer clock. The flow begins so that its data leave at 2.9 s, too.
const SET_A: [(&str, &str); 5] = [
    ("link.path.forward.rate", "46.8 kbit/s"),
    ("link.path.backward.rate", "100 Gbit/s"),
    ("tcp.rto.granularity", "10 ms"),
    ("tcp.rto.min", "200 ms"),
    ("flow.transfer.start", "0.09248 s"),
];

/// What set C has otherwise: as A, but a window of 64 segments, so that F-RTO has room. The window of
/// ns-2 is a fraction of segments and the engine's is whole bytes, which in a minute of growth is
/// one acknowledgment late: segments and rates are a hundred times as large, so that it is not.
const SET_C: [(&str, &str); 9] = {
    let [_, back, tick, min, _] = SET_A;
    [
        ("link.path.forward.rate", "4.68 Mbit/s"),
        back,
        tick,
        min,
        ("flow.transfer.start", "0.0999 s"),
        ("tcp.mss", "57560 B"),
        ("tcp.window_scale", "7"),
        ("receiver.window_scale", "7"),
        ("receiver.buffer", "3683840 B"),
    ]
};

fn scenario(set: &[(&str, &str)]) -> Scenario {
    let file = near("../../scenarios/dualrtt2004-hiccup.toml");
    let text = fs::read_to_string(file).unwrap();
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Scenario::parse(&text, "dualrtt2004-hiccup.toml", &set).unwrap()
}

fn run(sender: &str, set: &[(&str, &str)]) -> Recording {
    let scenario = scenario(set);
    Lab::new(&scenario, Some(sender)).unwrap().run(0, 1, Observe { trace: true, windows: false })
}

fn hiccup() -> Recording {
    run("reno:no-bugfix", &[])
}

/// The same of a run: what expired or was found lost comes before what is sent for it.
fn history(recording: &Recording) -> History {
    let timeouts = recording.timeouts.iter().map(|row| {
        let act = match row.kind {
            TimeoutKind::Timeout => Act::Timeout,
            TimeoutKind::FastRetransmit => Act::FastRetransmit,
        };
        (row.at.secs_f64() - BEGINS, act)
    });
    let mut highest = -1;
    let payload = recording.segments.iter().map(|row| row.segment.len).max().unwrap();
    let left = |row: &&SegmentRow| (row.place, row.event) == (Place::Sender, Event::Sent);
    let data = recording.segments.iter().filter(left).filter(|row| row.segment.len > 0);
    let sent = data.map(|row| {
        let segment = (row.segment.seq.relative() - 1) / i64::from(payload);
        let again = segment <= highest;
        highest = highest.max(segment);
        let act = if again { Act::Retransmit(segment) } else { Act::Send(segment) };
        (row.at.secs_f64() - BEGINS, act)
    });
    let mut acts: History = timeouts.chain(sent).collect();
    acts.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    acts
}

/// The same acts in the same order, at about the same times.
fn assert_same(engine: &History, ns2: &History) {
    for (index, ((at, act), (ns2_at, ns2_act))) in engine.iter().zip(ns2).enumerate() {
        assert_eq!(act, ns2_act, "act {index}, at {at:.3} s and {ns2_at:.3} s");
        assert!((at - ns2_at).abs() < TOLERANCE, "{act:?} at {at:.3} s, not {ns2_at:.3} s");
    }
    // What happens at the very end may fall on either side of it.
    assert!(engine.len().abs_diff(ns2.len()) <= 1, "{} acts, not {}", engine.len(), ns2.len());
}

/// When that was done, in the paper's time.
fn times(history: &History, which: impl Fn(Act) -> bool) -> Vec<f64> {
    history
        .iter()
        .filter(|(_, act)| which(*act))
        .map(|(at, _)| (at * 100.0).round() / 100.0)
        .collect()
}

fn retransmitted(history: &History) -> Vec<i64> {
    let again = history.iter().filter_map(|(_, act)| match act {
        Act::Retransmit(segment) => Some(*segment),
        _ => None,
    });
    again.collect()
}

#[test]
fn the_hiccup_is_as_the_paper_has_it() {
    let history = history(&hiccup());
    let first = |segment| times(&history, |act| act == Act::Send(segment));
    assert_eq!((first(131), first(150)), (vec![28.99], vec![30.74]));
    assert_eq!(times(&history, |act| act == Act::Timeout), [34.54, 42.14]);
    assert_eq!(times(&history, |act| act == Act::FastRetransmit), [45.8]);
    // The acknowledgment of the original releases the next two.
    assert_eq!(times(&history, |act| act == Act::Retransmit(132)), [42.9]);
    // 21 are sent again after the timeouts, and 151 by the fast retransmit: none was lost.
    let expected: Vec<_> = [131].into_iter().chain(131..=151).collect();
    assert_eq!(retransmitted(&history), expected);
}

/// What detectors that look on say of the run: of which episode, and when.
fn judged(recording: &Recording) -> Vec<(u32, &'static str, Verdict, f64)> {
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
    let mut judges = Judges::new(names.map(|name| detector(name).unwrap()), Seq::FIRST);
    let mut timeouts = recording.timeouts.iter().peekable();
    let at_sender = recording.segments.iter().filter(|row| row.place == Place::Sender);
    for row in at_sender {
        // An acknowledgment comes before the fast retransmit that it leads to.
        if row.event == Event::Received {
            judges.acked(&row.segment, row.at);
            continue;
        }
        while let Some(timeout) = timeouts.next_if(|timeout| timeout.at <= row.at) {
            let seq = Seq::FIRST + u32::try_from(timeout.seq).unwrap();
            match timeout.kind {
                TimeoutKind::Timeout => judges.timeout(seq, timeout.at),
                TimeoutKind::FastRetransmit => judges.fast_retransmit(seq, timeout.at),
            };
        }
        judges.sent(&row.segment, row.at, Cause::Unknown);
    }
    let time = |at: Instant| ((at.secs_f64() - BEGINS) * 100.0).round() / 100.0;
    let said = std::iter::from_fn(|| judges.poll());
    said.map(|said| (said.episode, said.detector, said.verdict, time(said.at))).collect()
}

#[test]
fn t_dr_1_the_second_acknowledgment_tells() {
    let said = judged(&hiccup());
    // The first, at 42.90, answers 0.76 s after the second retransmission; the second, at 42.99,
    // 92 ms after 132 was sent again.
    let of_the_timeouts = [
        (0, "eifel", Verdict::Blind(Why::NoTimestamps), 42.9),
        (0, "eifel:rfc3522", Verdict::Blind(Why::NoTimestamps), 42.9),
        (0, "eifel:safe", Verdict::Blind(Why::NoTimestamps), 42.9),
        (0, "eifel:rxt", Verdict::Blind(Why::NotMarked), 42.9),
        (0, "badrexmit", Verdict::Blind(Why::RetransmittedTwice), 42.9),
        (0, "frto", Verdict::Blind(Why::DidOtherwise), 42.99),
        (0, "dualrtt", Verdict::Spurious, 42.99),
        (0, "dsack", Verdict::Blind(Why::NoDsack), 45.8),
        (0, "dsack:linux", Verdict::Blind(Why::NoDsack), 45.8),
    ];
    assert_eq!(said[..9], of_the_timeouts);
    assert!(said[9..].iter().all(|(episode, ..)| *episode == 1));
    let of_the_fast_retransmit: Vec<_> = said[9..].iter().map(|(_, name, ..)| *name).collect();
    let by_blindness = ["frto", "dualrtt", "badrexmit"];
    let by_acknowledgment =
        ["eifel", "eifel:rfc3522", "eifel:safe", "eifel:rxt", "dsack", "dsack:linux"];
    assert_eq!(of_the_fast_retransmit, [&by_blindness[..], &by_acknowledgment].concat());
}

/// What judges that know of the path what the hosts know say of the first timeout: the verdict,
/// why they are blind, and when.
fn by_threshold(
    set: &[(&str, &str)],
) -> BTreeMap<&'static str, (&'static str, String, Option<f64>)> {
    let names = ["physical", "paper-ln", "paper-log10", "table", "online"];
    let names = names.map(|form| format!("dualrtt:{form}"));
    let lab = Lab::new(&scenario(set), Some("reno:no-bugfix")).unwrap();
    let lab = lab.judged(&scenario(set), &names, &[]).unwrap();
    let recording = lab.run(0, 1, Observe { trace: true, windows: false });
    let time = |at: Instant| ((at.secs_f64() - BEGINS) * 100.0).round() / 100.0;
    let first = recording.verdicts.iter().take(names.len());
    let said = first.map(|row| {
        assert_eq!(row.kind, TimeoutKind::Timeout);
        let at = row.verdict_at.map(time);
        (row.detector, (row.verdict, row.why.unwrap_or_default().to_string(), at))
    });
    said.collect()
}

#[test]
fn t_dr_1_the_second_acknowledgment_tells_by_most_thresholds() {
    let path = [("tcp.dualrtt.path_rate", "50 kbit/s"), ("tcp.dualrtt.path_delay", "1400 ms")];
    let told = by_threshold(&path);
    for form in ["physical", "paper-ln", "table", "online"] {
        let (verdict, _, at) = &told[format!("dualrtt:{form}").as_str()];
        assert_eq!((*verdict, *at), ("spurious", Some(42.99)), "{form}");
    }
    // 0.030 of 2.8 s are less than 92 ms.
    assert_eq!(told["dualrtt:paper-log10"].0, "open");
    for (detector, (verdict, why, _)) in by_threshold(&[]) {
        match detector {
            "dualrtt:physical" | "dualrtt:online" => assert_eq!(verdict, "spurious"),
            _ => assert_eq!((verdict, why.as_str()), ("blind", "the path is not known")),
        }
    }
}

/// The sender does what ns-2 does in the trace of that name.
fn compare(name: &str, sender: &str, set: &[(&str, &str)]) {
    let Some(ns2) = oracle(name) else { return };
    assert!(ns2.len() > 200, "{name}");
    assert_same(&history(&run(sender, set)), &ns2);
}

#[test]
fn reno_is_as_ns_2_has_it() {
    compare("B_reno_nobugfix.csv", "reno:no-bugfix", &[]);
    compare("A_reno_nobugfix.csv", "reno:no-bugfix", &SET_A);
    compare("A_reno_bugfix.csv", "reno:careful", &SET_A);
}

#[test]
fn tahoe_is_as_ns_2_has_it() {
    compare("A_tahoe_nobugfix.csv", "tahoe:no-bugfix", &SET_A);
}

#[test]
fn newreno_is_as_ns_2_has_it() {
    compare("B_newreno_nobugfix.csv", "newreno:no-bugfix", &[]);
    compare("A_newreno.csv", "newreno:careful", &SET_A);
    compare("A_newreno_lesscareful.csv", "newreno:less-careful", &SET_A);
}

#[test]
fn f_rto_is_as_ns_2_has_it() {
    compare("C_sack1_sfrto_resp2.csv", "sack+frto:ns2", &SET_C);
    compare("C_newreno_frto_resp1.csv", "newreno:careful+frto:ns2+ns2:full", &SET_C);
}
