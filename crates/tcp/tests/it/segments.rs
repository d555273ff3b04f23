//! Which segments count, in part or not at all: RFC 9293 section 3.10.7.4, RFC 7323 section 5,
//! RFC 2018 section 5.

use crate::script::pair::{End, connected};
use crate::script::{Script, base, end_of, start_of};
use rtolab_tcp::config::EchoRule;
use rtolab_tcp::{Config, Event, Flags, Segment, Seq, Timestamps};

/// The receiving end of a connection.
fn receiving(config: &Config) -> End {
    connected(&base(), config, 0).1
}

fn data(seq: Seq, len: u32) -> Segment {
    let mut segment = Segment::new(seq, len, Flags::ACK);
    (segment.ack, segment.window) = (Seq::FIRST + 1, 60_000);
    segment
}

#[test]
fn t_b_14_an_ack_of_data_never_sent_is_answered_and_changes_nothing() {
    let mut s = Script::sender("newreno").cwnd(6).sent(1..=6);
    let mut beyond = s.pure_ack(end_of(7));
    beyond.window = 1000;
    s.connection.on_segment(&beyond, rtolab_time::Instant::START);
    let answer = s.connection.poll_transmit(rtolab_time::Instant::START).unwrap();
    assert_eq!((answer.seq, answer.ack, answer.len), (end_of(6), Seq::FIRST + 1, 0));
    assert_eq!(s.connection.poll_transmit(rtolab_time::Instant::START), None);
    assert_eq!(s.connection.sender().flight().una(), start_of(1));
    // Neither window changed: the next one is new and releases two.
    s.ack(1).expect([7, 8]).cwnd(7.0);
}

#[test]
fn t_b_15_an_old_acknowledgment_changes_nothing_but_its_data_counts() {
    // This is RFC 793's rule. RFC 5961 section 5 drops an ACK that is older than the largest
    // window.
    let mut s = Script::sender("newreno").cwnd(6).sent(1..=6);
    s.ack(3).expect([7, 8, 9, 10]).cwnd(7.0);
    let mut old = data(Seq::FIRST + 1, 500);
    (old.ack, old.window) = (end_of(1), 1000);
    s.arrives(&old).expect_nothing().cwnd(7.0);
    assert_eq!(s.connection.receiver().available(), 500);
    // Old ACKs and ACKs with data are not duplicates.
    let (old, mut with_data) = (s.pure_ack(end_of(1)), data(Seq::FIRST + 501, 500));
    (with_data.ack, with_data.window) = (end_of(3), old.window);
    for _ in 0..4 {
        s.arrives(&old).expect_nothing();
    }
    for _ in 0..4 {
        s.arrives(&with_data).expect_nothing();
        with_data.seq += 500;
    }
    s.fast_retransmits(0).ack(4).expect([11, 12]);
}

/// A send buffer holds what was written and is not acknowledged, sent or not (RFC 9293 section
/// 3.10.2).
#[test]
fn a_send_buffer_keeps_data_until_it_is_acknowledged() {
    let mut s = Script::sender("sack").cwnd(2).segments(5).sent(1..=2);
    assert_eq!(s.connection.unacknowledged(), 5_000);
    s.ack(1).take();
    assert_eq!(s.connection.unacknowledged(), 4_000);
    s.write(3).take();
    assert_eq!(s.connection.unacknowledged(), 7_000);
    // SACKed data may still be discarded by the receiver (RFC 2018 section 8).
    s.sacks(1, [3..=3]).take();
    assert_eq!(s.connection.unacknowledged(), 7_000);
}

/// The caller need not ask for a segment if the connection says that there is none.
#[test]
fn an_idle_connection_says_that_it_has_nothing_to_send() {
    let mut s = Script::sender("sack").cwnd(2).segments(2).sent(1..=2);
    assert!(s.connection.has_nothing_to_transmit());
    s.connection.write(1_000);
    assert!(s.ack(2).take() == [3] && s.connection.has_nothing_to_transmit());
    s.connection.abort();
    assert!(!s.connection.has_nothing_to_transmit());
}

#[test]
fn t_b_22_a_window_that_shrinks() {
    let mut s = Script::sender("newreno").cwnd(6).sent(1..=6);
    // It ends at segment 3 now. Outstanding data beyond it may be retransmitted; no new data
    // leaves.
    s.offering(2).ack(1).expect_nothing();
    s.timeout().expect([2]);
    s.ack(2).expect([3, 4]);
    s.ack(6).expect([7, 8]);
    s.offering(0).ack(7).expect_nothing();
    s.ack(8).expect_nothing().deadline(None);
    s.offering(60).ack(8).expect(9..=11).cwnd(3.24);
}

#[test]
fn a_retransmission_that_acknowledges_more_updates_the_window() {
    let mut s = Script::sender("newreno").cwnd(6).offered(6).segments(7).sent(1..=6);
    let mut overtaking = data(Seq::FIRST + 501, 500);
    (overtaking.ack, overtaking.window) = (Seq::FIRST + 1, 6000);
    s.arrives(&overtaking).expect_nothing();
    // The data that it overtook is retransmitted, and carries the only ACK of everything.
    let mut again = data(Seq::FIRST + 1, 500);
    (again.ack, again.window) = (end_of(6), 6000);
    s.arrives(&again).expect([7]);
    // A segment with the same ACK number is as old as its sequence number indicates.
    let mut old = data(Seq::FIRST + 901, 200);
    (old.ack, old.window) = (end_of(6), 0);
    s.write(1).expect([8]);
    let mut newer = data(Seq::FIRST + 1001, 0);
    (newer.ack, newer.window) = (end_of(6), 3000);
    s.arrives(&newer).arrives(&old).expect_nothing();
    s.write(2).expect([9]);
}

#[test]
fn t_b_24_overlapping_data_is_trimmed() {
    let config = Config { dsack: true, ..base() };
    let mut end = receiving(&config);
    end.answers(&data(start_of(1), 1000), 0);
    let ack = end.answers(&data(start_of(1) + 500, 1000), 0);
    assert_eq!(ack[0].ack, start_of(2) + 500);
    assert!(ack[0].sack_blocks().eq([start_of(1) + 500..start_of(2)]));
    assert_eq!(end.connection.receiver().available(), 1500);
    // It overlaps queued data on both sides.
    end.answers(&data(start_of(4), 1000), 0);
    let ack = end.answers(&data(start_of(3), 3000), 0);
    assert_eq!(ack[0].ack, start_of(2) + 500);
    let blocks = [start_of(4)..end_of(4), start_of(3)..end_of(5)];
    assert!(ack[0].sack_blocks().eq(blocks), "{:?}", ack[0]);
    assert_eq!(end.answers(&data(start_of(2), 1000), 0)[0].ack, end_of(5));
    assert_eq!(end.connection.receiver().available(), 5000);
}

#[test]
fn t_b_25_data_and_fin_beyond_the_window_are_cut_off() {
    let mut config = base();
    config.receiver.buffer = 2000;
    let mut end = receiving(&config);
    let mut long = data(start_of(1), 3000);
    long.flags |= Flags::FIN;
    let ack = end.answers(&long, 0);
    assert_eq!((ack[0].ack, ack[0].window), (end_of(2), 0));
    assert_eq!(end.connection.receiver().available(), 2000);
    assert_eq!(end.events, [Event::Connected]);
    // Nothing is acceptable now, not even a FIN alone.
    let mut fin = data(end_of(2), 0);
    fin.flags |= Flags::FIN;
    assert_eq!(end.answers(&fin, 0)[0].ack, end_of(2));
    assert_eq!(end.events, [Event::Connected]);
    // The application reads, and the remaining data arrives with the FIN.
    end.connection.read(2000);
    end.sends(0);
    let mut rest = data(start_of(3), 500);
    rest.flags |= Flags::FIN;
    assert_eq!(end.answers(&rest, 0)[0].ack, rest.end());
    assert_eq!(end.events, [Event::Connected, Event::PeerClosed]);
}

#[test]
fn a_window_that_opens_again_is_announced() {
    // RFC 9293 section 3.8.6.2.2: the sender waits for the window, and must not depend on a probe.
    let mut config = base();
    config.receiver.buffer = 4000;
    let mut end = receiving(&config);
    for number in 1..=4 {
        end.answers(&data(start_of(number), 1000), 0);
    }
    end.connection.read(500);
    end.sends_nothing(0);
    end.connection.read(500);
    assert_eq!(end.sends_one(0).window, 1000);
    end.connection.read(3000);
    end.sends_nothing(0);
}

#[test]
fn t_b_27_a_probe_below_the_window_is_answered_at_once() {
    let mut end = receiving(&base());
    end.answers(&data(start_of(1), 1000), 0);
    for len in [0, 1] {
        let answer = end.answers(&data(end_of(1) - 1, len), 0);
        assert_eq!(answer.len(), 1);
        assert_eq!((answer[0].ack, answer[0].len), (end_of(1), 0));
    }
}

#[test]
fn t_b_30_invalid_sack_blocks_are_ignored() {
    let mut s = Script::sender("sack").cwnd(10).sent(1..=10);
    s.ack(2).expect([11, 12, 13]);
    let blocks = [
        end_of(5)..start_of(5),
        start_of(5)..start_of(5),
        start_of(12)..end_of(14),
        start_of(20)..end_of(21),
        start_of(1)..end_of(4),
        start_of(2)..end_of(2),
    ];
    for block in blocks {
        for _ in 0..4 {
            let mut ack = s.pure_ack(end_of(2));
            ack.push_sack(block.clone());
            s.arrives(&ack).expect_nothing().fast_retransmits(0);
            assert_eq!(s.connection.sender().flight().sacked(), 0, "{block:?}");
        }
    }
    // A block that covers a part of a segment does not SACK it.
    let mut ack = s.pure_ack(end_of(2));
    ack.push_sack(start_of(5) + 1..end_of(6));
    s.arrives(&ack).expect_nothing();
    assert_eq!(s.connection.sender().flight().sacked(), 1000);
}

/// A segment stamped `value`.
fn stamped(number: u32, value: u32) -> Segment {
    let mut segment = data(start_of(number), 1000);
    segment.set_timestamps(Timestamps { value, echo: 0 });
    segment
}

fn receiving_timestamps() -> End {
    let config = Config { timestamps: true, ..base() };
    connected(&config, &config, 0).1
}

#[test]
fn t_ts_3_which_timestamp_answers_a_wholly_duplicate_segment() {
    // The echo when segment 1 is retransmitted after segments 1 and 2 have arrived, and after 1
    // alone.
    for (rule, echoes) in [
        (EchoRule::Rfc1323, [2, 1]),
        (EchoRule::Rfc7323, [2, 1]),
        (EchoRule::Linux, [2, 9]),
        (EchoRule::Bsd, [2, 9]),
        (EchoRule::Ns2bis, [9, 9]),
        (EchoRule::EchoAll, [9, 9]),
    ] {
        for (last, echo) in [2, 1].into_iter().zip(echoes) {
            let mut config = Config { timestamps: true, ..base() };
            config.timestamp.echo = rule;
            let mut end = connected(&config, &config, 0).1;
            for number in 1..=last {
                end.answers(&stamped(number, number), 0);
            }
            let answer = end.answers(&stamped(1, 9), 0)[0];
            assert_eq!(answer.ack, end_of(last));
            assert_eq!(answer.timestamps().unwrap().echo, echo, "{rule:?} {last}");
        }
    }
}

#[test]
fn t_ts_4_an_older_timestamp_is_answered_and_dropped() {
    let mut end = receiving_timestamps();
    assert_eq!(end.answers(&stamped(1, 20), 0)[0].ack, end_of(1));
    let answer = end.answers(&stamped(2, 19), 0);
    assert_eq!((answer[0].ack, answer[0].timestamps().unwrap().echo), (end_of(1), 20));
    assert_eq!(end.rcv_nxt(), end_of(1));
    assert_eq!(end.answers(&stamped(2, 20), 0)[0].ack, end_of(2));
}

#[test]
fn a_reordered_segment_passes_paws_if_every_timestamp_is_echoed() {
    let mut config = Config { timestamps: true, ..base() };
    config.timestamp.echo = EchoRule::EchoAll;
    let mut end = connected(&config, &config, 0).1;
    for (number, value, upto) in [(1, 1, 1), (3, 3, 1), (2, 2, 3), (5, 5, 3), (4, 4, 5)] {
        let answer = end.answers(&stamped(number, value), 0)[0];
        assert_eq!(answer.ack, end_of(upto));
        assert_eq!(answer.timestamps().unwrap().echo, value);
    }
    assert_eq!(end.answers(&stamped(6, 3), 0)[0].ack, end_of(5));
}

#[test]
fn t_ts_5_a_reset_is_never_too_old() {
    let mut end = receiving_timestamps();
    end.answers(&stamped(1, 20), 0);
    let mut reset = stamped(2, 5);
    (reset.len, reset.flags) = (0, Flags::RST | Flags::ACK);
    assert_eq!(end.answers(&reset, 0), []);
    assert_eq!(end.events, [Event::Connected, Event::Reset]);
}

#[test]
fn t_b_26_a_duplicate_that_paws_drops_gets_a_dsack() {
    for dsack_old in [true, false] {
        let mut config = Config { timestamps: true, dsack: true, ..base() };
        config.receiver.dsack_old = dsack_old;
        let mut end = connected(&config, &config, 0).1;
        end.answers(&stamped(1, 20), 0);
        let answer = end.answers(&stamped(1, 19), 0)[0];
        assert_eq!(answer.ack, end_of(1));
        assert!(answer.sack_blocks().eq(dsack_old.then_some(start_of(1)..end_of(1))));
        // New data is not a duplicate, and is dropped as well.
        let answer = end.answers(&stamped(2, 19), 0)[0];
        assert_eq!((answer.ack, answer.sack_count()), (end_of(1), 0));
        // A copy of data above a gap is not reported.
        end.answers(&stamped(3, 20), 0);
        let answer = end.answers(&stamped(3, 19), 0)[0];
        assert!(answer.sack_blocks().eq([start_of(3)..end_of(3)]));
    }
}

#[test]
fn t_ts_6_originals_after_their_retransmission_are_dropped() {
    let mut end = receiving_timestamps();
    assert_eq!(end.answers(&stamped(1, 20), 0)[0].ack, end_of(1));
    for (number, value) in [(2, 5), (3, 6)] {
        assert_eq!(end.answers(&stamped(number, value), 0)[0].ack, end_of(1));
    }
    assert_eq!(end.connection.receiver().available(), 1000);
}
