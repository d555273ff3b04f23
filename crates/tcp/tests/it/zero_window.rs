//! The persist timer: RFC 9293 section 3.8.6.1.

use crate::script::pair::{End, connected};
use crate::script::{SEGMENT, base, end_of, start_of};
use rtolab_tcp::{Config, Event};

/// The sender has `segments` to send; the receiver has a buffer of `buffer` bytes that nobody
/// reads. By 100 ms the buffer is full.
fn filled(segments: u32, buffer: u32) -> (End, End) {
    let mut config = base();
    config.receiver.buffer = buffer;
    let (mut sender, mut receiver) = connected(&base(), &config, 0);
    sender.connection.write(u64::from(segments * SEGMENT));
    sender.connection.close();
    for segment in sender.sends(100) {
        for ack in receiver.answers(&segment, 100) {
            assert_eq!(sender.answers(&ack, 100), []);
        }
    }
    (sender, receiver)
}

#[test]
fn t_b_21_a_closed_window_is_probed_at_growing_intervals_until_it_opens() {
    let (mut sender, mut receiver) = filled(6, 4 * SEGMENT);
    assert_eq!(sender.una(), end_of(4));
    let cwnd = sender.connection.sender().window().cwnd();
    for expected in [1_100, 3_100, 7_100] {
        assert_eq!(sender.timer(), expected);
        let probe = sender.sends_one(expected);
        assert_eq!((probe.seq, probe.len), (end_of(4) - 1, 0));
        let answers = receiver.answers(&probe, expected);
        assert_eq!((answers.len(), answers[0].window), (1, 0));
        assert_eq!(sender.answers(&answers[0], expected), []);
    }
    // The window update is lost; the answer to the next probe repeats it.
    receiver.connection.read(u64::from(4 * SEGMENT));
    receiver.sends_one(8_000);
    assert_eq!(sender.timer(), 15_100);
    let probe = sender.sends_one(15_100);
    let answer = receiver.answers(&probe, 15_100)[0];
    let sent = sender.answers(&answer, 15_100);
    let sent: Vec<_> = sent.iter().map(|segment| segment.seq).collect();
    assert_eq!(sent, [start_of(5), start_of(6)]);
    assert_eq!(sender.connection.sender().window().cwnd(), cwnd);
    assert!(!sender.events.iter().any(|event| matches!(event, Event::Timeout(_))));
    // Data is outstanding, so only the retransmission timer runs.
    assert_eq!(sender.connection.next_timer(), sender.connection.sender().deadline());
}

#[test]
fn a_probe_waits_at_most_the_maximum_rto() {
    let (mut sender, _) = filled(6, 4 * SEGMENT);
    let times: Vec<_> = (0..9)
        .map(|_| {
            let at = sender.timer();
            sender.sends_one(at);
            at
        })
        .collect();
    let waits: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits, [2, 4, 8, 16, 32, 60, 60, 60].map(|seconds| 1000 * seconds));
}

#[test]
fn a_window_below_a_segment_is_used_after_a_while() {
    // 500 bytes are left: no whole segment fits, and nothing is outstanding.
    let (mut sender, mut receiver) = filled(6, 4 * SEGMENT + 500);
    assert_eq!(sender.una(), end_of(4));
    assert_eq!(sender.timer(), 1_100);
    let small = sender.sends_one(1_100);
    assert_eq!((small.seq, small.len), (start_of(5), 500));
    let ack = receiver.answers(&small, 1_100)[0];
    assert_eq!((ack.ack, ack.window), (start_of(5) + 500, 0));
}

#[test]
fn a_fin_waits_for_the_window_too() {
    let (mut sender, mut receiver) = filled(4, 4 * SEGMENT);
    assert_eq!(sender.una(), end_of(4));
    assert_eq!(sender.timer(), 1_100);
    assert_eq!(sender.sends_one(1_100).seq, end_of(4) - 1);
    receiver.connection.read(u64::from(4 * SEGMENT));
    let update = receiver.sends_one(1_200);
    let fin = sender.answers(&update, 1_200)[0];
    assert_eq!((fin.seq, fin.len, fin.sequence_length()), (start_of(5), 0, 1));
}

#[test]
fn without_data_to_send_nothing_is_probed() {
    let mut config = base();
    config.receiver.buffer = 2 * SEGMENT;
    let (mut sender, mut receiver) = connected(&Config::default(), &config, 0);
    sender.connection.write(u64::from(2 * SEGMENT));
    for segment in sender.sends(0) {
        for ack in receiver.answers(&segment, 0) {
            sender.answers(&ack, 0);
        }
    }
    assert_eq!(sender.connection.next_timer(), None);
    // Data that the application writes now has to wait.
    sender.connection.write(1);
    sender.sends_nothing(500);
    assert_eq!(sender.timer(), 1_500);
}
