//! Tests of which packets end a silence, and of how many are listed.

use rtolab_diagnose::{ConnectionReport, Wait};
use rtolab_tcp::Flags;

use crate::failures::{MSS, RTT, Script, failed};
use crate::script::Event::{Ack, Data};

/// The largest number of silences in a report.
const MOST: usize = 1000;

fn report(script: Script) -> ConnectionReport {
    failed(script).1.connections.remove(0)
}

/// The application had nothing to send for 3 s, whether or not it then closes.
#[test]
fn a_fin_ends_a_silence_only_with_data() {
    let of = |len| {
        let mut script = Script::opened(1);
        let seq = script.transfer(100, 4);
        let at = 100 + 4 * RTT + 3000;
        script.client(at, Flags::FIN | Flags::ACK, (seq, 1, len));
        script.ack(at + RTT, seq + len + 1);
        report(script).silences
    };
    let [silence] = &of(MSS)[..] else { panic!("{:?}", of(MSS)) };
    assert_eq!((silence.wait, silence.end), (Wait::Application, "client"));
    assert!((silence.length - 3.0).abs() < 1e-6, "{silence:?}");
    assert!(of(0).is_empty(), "{:?}", of(0));
}

/// The capture begins within the connection, and its first ACK comes after the silence.
#[test]
fn before_both_ends_have_sent_a_packet_a_silence_is_not_explained() {
    let of = |first_ack| {
        let mut script = Script::new(1);
        script.data(0, 1, MSS);
        if first_ack {
            script.ack(10, 1);
        }
        script.data(5000, 1 + MSS, MSS);
        script.ack(5040, 1 + 2 * MSS);
        report(script).silences
    };
    assert_eq!(of(true).len(), 1);
    assert!(of(false).is_empty(), "{:?}", of(false));
}

#[test]
fn a_report_lists_the_first_thousand_silences() {
    let of = |count: usize| {
        let mut script = Script::opened(1);
        let seq = script.transfer(100, 4);
        for number in 0..count as u32 {
            let at = 300 + 1500 * (u64::from(number) + 1);
            script.data(at, seq + number * MSS, MSS);
            script.ack(at + RTT, seq + (number + 1) * MSS);
        }
        report(script).silences.len()
    };
    assert_eq!(of(MOST - 1), MOST - 1);
    assert_eq!(of(MOST + 2), MOST);
}

/// An interactive client sends single bytes, which are no keep-alive probes.
#[test]
fn the_ack_of_a_single_byte_begins_the_next_silence() {
    let mut script = Script::opened(1);
    let seq = script.transfer(100, 4);
    let at = 100 + 4 * RTT + 3000;
    script.data(at, seq, 1);
    script.ack(at + RTT, seq + 1);
    script.data(at + RTT + 3000, seq + 1, 1);
    script.ack(at + 2 * RTT + 3000, seq + 2);
    let silences = report(script).silences;
    assert_eq!(silences.len(), 2);
    assert!(silences.iter().all(|one| (one.length - 3.0).abs() < 1e-6), "{silences:?}");
}

/// The sender's timer expired, although all data had arrived. At the sender an episode has the
/// time; at the receiver nothing else does.
#[test]
fn at_the_receiver_a_retransmission_ends_a_silence() {
    let of = |round_trips| {
        let mut script = crate::script::Script::opened(round_trips, false, true);
        for number in 1..=4 {
            let at = 1000 * u64::from(number);
            script.add_events(&[(at, Data(number)), (at + round_trips.1, Ack(number))]);
        }
        script.add_events(&[(9000, Data(4)), (9000 + round_trips.1, Ack(4)), (9200, Data(5))]);
        let silences = script.add_events(&[(9200 + round_trips.1, Ack(5))]).report().silences;
        silences.into_iter().filter(|one| one.length > 4.0).collect::<Vec<_>>()
    };
    let [silence] = &of((100, 0))[..] else { panic!("{:?}", of((100, 0))) };
    assert_eq!((silence.wait, silence.end), (Wait::Unknown, "client"));
    assert!((silence.length - 5.0).abs() < 1e-6, "{silence:?}");
    assert!(of((0, 100)).is_empty(), "{:?}", of((0, 100)));
}
