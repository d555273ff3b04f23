//! Tests of the data that a failed connection leaves unacknowledged, of captures that end too
//! early, and of connections that a watch forgets.

use std::convert::Infallible;

use rtolab_capture::{Interface, RUN_START, Writer};
use rtolab_diagnose::{ConnectionFailure, Watch, WatchLimits, diagnose};
use rtolab_tcp::Flags;
use rtolab_time::{Duration, Instant};

use crate::failures::{MSS, RTT, Script, failed};
use crate::packets::packet;
use crate::script;
use crate::script::Event::{Ack, Data, Duplicate, Sacked};

fn failure(script: Script) -> Option<ConnectionFailure> {
    failed(script).1.connections[0].failure
}

/// The bytes that two segments leave unacknowledged if a reset with this ACK field comes, relative
/// to the first of the two.
fn left_by_reset(flags: Flags, ack: u32) -> u64 {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 3);
    script.data(300, seq, MSS);
    script.data(301, seq + MSS, MSS);
    script.server(320, flags, (1, seq + ack), 0);
    failure(script).expect("a failure").outstanding
}

/// An ACK of what was never sent acknowledges nothing (RFC 5961 section 5).
#[test]
fn a_reset_may_acknowledge_a_part() {
    let with_ack = Flags::RST | Flags::ACK;
    assert_eq!(left_by_reset(Flags::RST, 0), 2000);
    assert_eq!(left_by_reset(with_ack, 0), 2000);
    assert_eq!(left_by_reset(with_ack, MSS), 1000);
    assert_eq!(left_by_reset(with_ack, 2 * MSS - 1), 1);
    assert_eq!(left_by_reset(with_ack, 2 * MSS + 1), 2000);
    assert_eq!(left_by_reset(Flags::RST, MSS), 2000, "the field is no acknowledgment");
}

#[test]
fn a_fin_is_no_payload() {
    let of = |len| {
        let mut script = Script::opened(1);
        let seq = script.transfer(100, 3);
        for at in [300, 1300, 3300, 7300] {
            script.client(at, Flags::FIN | Flags::ACK, (seq, 1, len));
        }
        failure(script).expect("a failure")
    };
    assert_eq!((of(0).outstanding, of(500).outstanding), (0, 500));
    assert_eq!((of(0).repeats, of(500).repeats), (3, 3));
    assert!((of(0).silent - 7.0).abs() < 0.1, "{}", of(0).silent);
}

#[test]
fn a_syn_is_no_payload() {
    let mut unanswered = Script::new(1);
    for at in [0, 1000, 3000] {
        unanswered.syn(at);
    }
    let found = failure(unanswered).expect("a failure");
    assert_eq!((found.outstanding, found.repeats), (0, 2));
    let mut refused = Script::new(1);
    refused.syn(0);
    refused.syn(1000);
    refused.server(1000 + RTT, Flags::RST | Flags::ACK, (0, 1), 0);
    let found = failure(refused).expect("a failure");
    assert_eq!((found.outstanding, found.repeats), (0, 0), "the reset answered");
}

/// A capture of this many packets.
fn capture(packets: u32) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &Interface::default()).expect("a writer");
    for number in 0..packets {
        let flags = if number == 0 { Flags::SYN } else { Flags::ACK };
        writer.packet(&packet(number.into(), 1, flags, (number, 0)).packet).expect("a packet");
    }
    writer.finish().expect("a capture")
}

#[test]
fn what_precedes_the_end_of_a_damaged_capture_is_diagnosed() {
    let whole = capture(10);
    let read = |bytes: &[u8]| {
        let Ok(document) = diagnose::<_, Infallible>(bytes, |_| Ok(()));
        (document.error, document.summary.packets)
    };
    assert_eq!(read(&whole), (None, 10));
    let (error, packets) = read(&whole[..whole.len() - 10]);
    assert!(error.is_some() && packets == 9, "{error:?} {packets}");
    let (error, packets) = read(b"no capture at all");
    assert!(error.is_some() && packets == 0, "{error:?} {packets}");
}

/// After every 16,384 packets.
#[test]
fn progress_is_reported_with_the_bytes_read_and_can_end_the_diagnosis() {
    let bytes = capture(40_000);
    let mut offsets = Vec::new();
    let Ok(_) = diagnose::<_, Infallible>(&bytes[..], |offset| {
        offsets.push(offset);
        Ok(())
    });
    let [first, second] = offsets[..] else { panic!("{offsets:?}") };
    assert!(0 < first && first < second && second < bytes.len() as u64);
    let mut calls = 0;
    let ended = diagnose(&bytes[..], |_| {
        calls += 1;
        Err("enough")
    });
    assert_eq!((ended.err(), calls), (Some("enough"), 1));
}

/// The connections that a watch has open this many seconds after their only packet.
fn open_after(seconds: u64) -> u64 {
    let mut watch = Watch::new(WatchLimits::default());
    watch.packet(&packet(0, 1, Flags::SYN, (0, 0)));
    watch.packet(&packet(0, 2, Flags::SYN, (0, 0)));
    watch.advance(RUN_START + Duration::from_secs(seconds));
    watch.totals().open
}

/// After ten minutes without a packet.
#[test]
fn a_watch_forgets_idle_connections() {
    assert_eq!([590, 600, 601].map(open_after), [2, 2, 0]);
}

#[test]
fn a_watch_ends_at_the_time_that_it_was_told() {
    let mut watch = Watch::new(WatchLimits::default());
    let at = |millis: u64| Instant::from_nanos(RUN_START.nanos() + millis * 1_000_000);
    watch.packet(&packet(0, 1, Flags::SYN, (0, 0)));
    watch.advance(at(2500));
    let totals = watch.totals();
    assert!((totals.ended - totals.began - 2.5).abs() < 1e-3, "{totals:?}");
    // A clock that was set back by more than a second lets time go on from where it was.
    watch.advance(at(1000));
    watch.advance(at(1500));
    let totals = watch.totals();
    assert!((totals.ended - totals.began - 3.0).abs() < 1e-3, "{totals:?}");
}

/// The lengths of the silences, in seconds, of a client whose data stays unacknowledged until it
/// sends new data after 4 s. It then retransmits the old data, or not.
fn silences(retransmits: bool) -> Vec<f64> {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 4);
    script.data(300, seq, MSS);
    script.data(4300, seq + MSS, MSS);
    if retransmits {
        script.data(4400, seq, MSS);
    }
    script.ack(4500, seq + 2 * MSS);
    let document = failed(script).1;
    let silences = document.connections[0].silences.iter();
    silences.map(|one| (one.length * 10.0).round() / 10.0).collect()
}

/// Without a retransmission only the ACK was late; a retransmission shows nothing of the kind.
#[test]
fn a_silence_that_new_data_ends_counts_if_the_ack_comes_without_a_retransmission() {
    assert_eq!(silences(false), [4.0]);
    assert!(silences(true).is_empty(), "{:?}", silences(true));
}

/// The receiver has 3 and lacks 2. The path holds 4 for three seconds, and 2 is retransmitted then.
#[test]
fn a_silence_of_a_path_that_lost_data_before_is_seen_at_the_receiver() {
    let mut script = script::Script::opened((100, 0), true, true);
    script.add_events(&[(1000, Data(1)), (1000, Ack(1)), (1010, Data(3)), (1010, Duplicate(1, 3))]);
    script.add_events(&[(4000, Data(4)), (4000, Sacked(1, 3, 4)), (4050, Data(2)), (4050, Ack(4))]);
    let report = script.report();
    let [silence] = &report.silences[..] else { panic!("{:?}", report.silences) };
    assert_eq!((silence.wait.name(), silence.end, silence.frame), ("unknown", "client", 8));
    assert_eq!(report.retransmissions.len(), 1);
}
