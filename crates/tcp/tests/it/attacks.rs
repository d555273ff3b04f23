//! Segments of an attacker who does not see the connection: RFC 5961.

use crate::script;
use crate::script::base;
use crate::script::pair::{End, connected};
use rtolab_tcp::config::{ChallengeConfig, InWindow, MaxWindow};
use rtolab_tcp::{Config, Event, Failure, Flags, Segment, Seq, State, refuse};

fn segment(seq: Seq, flags: Flags) -> Segment {
    let mut segment = Segment::new(seq, 0, flags);
    (segment.ack, segment.window) = (Seq::FIRST + 1, 60_000);
    segment
}

fn reset(seq: Seq) -> Segment {
    Segment::new(seq, 0, Flags::RST)
}

/// Asserts that the only answer is a challenge ACK: a pure acknowledgment of RCV.NXT.
fn is_challenge(answers: &[Segment], end: &End) {
    assert_eq!(answers.len(), 1, "{answers:?}");
    let challenge = answers[0];
    assert_eq!((challenge.flags, challenge.len), (Flags::ACK, 0));
    assert_eq!((challenge.seq, challenge.ack), (end.una(), end.rcv_nxt()));
}

#[test]
fn t_b_12_a_reset_elsewhere_in_the_window_gets_a_challenge_ack() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    for distance in [1, 1000, 65_534] {
        let answers = b.answers(&reset(b.rcv_nxt() + distance), 0);
        is_challenge(&answers, &b);
        // The true peer has its connection and ignores the challenge.
        assert_eq!(a.answers(&answers[0], 0), []);
    }
    for outside in
        [b.rcv_nxt() - 1, b.rcv_nxt() - 70_000, b.rcv_nxt() + 65_535, b.rcv_nxt() + 1_000_000]
    {
        assert_eq!(b.answers(&reset(outside), 0), [], "{outside}");
    }
    assert_eq!(
        (a.connection.state(), b.connection.state()),
        (State::Established, State::Established)
    );
    // A peer without a connection answers with a reset at the expected number.
    let challenge = b.answers(&reset(b.rcv_nxt() + 1), 0)[0];
    let answer = refuse(&challenge).unwrap();
    assert_eq!(answer.seq, b.rcv_nxt());
    assert_eq!(b.answers(&answer, 0), []);
    assert_eq!(b.connection.failure(), Some(Failure::Reset));
    assert_eq!(b.events, [Event::Connected, Event::Reset]);
}

#[test]
fn t_b_12_a_reset_after_lost_data_ends_the_connection() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    a.connection.write(3000);
    assert_eq!(a.sends(0).len(), 3);
    a.connection.abort();
    // Its reset comes after data that never arrived.
    let reset = a.sends_one(0);
    let challenge = b.answers(&reset, 10);
    is_challenge(&challenge, &b);
    let answer = a.answers(&challenge[0], 20);
    assert_eq!((answer[0].seq, answer[0].flags), (b.rcv_nxt(), Flags::RST));
    b.gets(&answer[0], 30);
    assert_eq!(b.connection.failure(), Some(Failure::Reset));
    assert_eq!(a.connection.failure(), Some(Failure::Aborted));
}

#[test]
fn t_b_13_any_syn_gets_a_challenge_ack() {
    let (_, mut b) = connected(&base(), &base(), 0);
    for seq in [
        b.rcv_nxt(),
        b.rcv_nxt() + 100,
        b.rcv_nxt() - 1,
        b.rcv_nxt() - 100_000,
        b.rcv_nxt() + 100_000,
    ] {
        for flags in [Flags::SYN, Flags::SYN | Flags::ACK] {
            let answers = b.answers(&segment(seq, flags), 0);
            is_challenge(&answers, &b);
        }
        assert_eq!(b.connection.state(), State::Established);
        assert_eq!(b.rcv_nxt(), Seq::FIRST + 1);
        b.connection.on_timer(script::pair::at(6_000));
        b = connected(&base(), &base(), 0).1;
    }
}

#[test]
fn t_b_16_ten_challenge_acks_in_five_seconds() {
    let (_, mut b) = connected(&base(), &base(), 0);
    let mut beyond = segment(b.rcv_nxt(), Flags::ACK);
    beyond.ack = Seq::FIRST + 5000;
    let doubtful = [
        reset(b.rcv_nxt() + 1),
        segment(b.rcv_nxt(), Flags::SYN),
        segment(b.rcv_nxt() - 5, Flags::SYN),
        beyond,
    ];
    let mut answered = 0;
    for number in 0..11 {
        answered += b.answers(&doubtful[number % 4], 450 * number as u64).len();
    }
    assert_eq!(answered, 10);
    assert_eq!(b.answers(&doubtful[0], 4_999), []);
    // In the next five seconds there are ten more.
    for _ in 0..10 {
        assert_eq!(b.answers(&doubtful[0], 5_000).len(), 1);
    }
    assert_eq!(b.answers(&doubtful[0], 9_999), []);
    // Every connection has its own budget, so that no other connection can measure this one.
    assert_eq!(connected(&base(), &base(), 0).1.answers(&doubtful[0], 5_000).len(), 1);
}

#[test]
fn t_b_16_the_limit_is_a_setting() {
    let mut config = base();
    config.connection.challenge = ChallengeConfig {
        limit: 1,
        period: rtolab_time::Duration::from_millis(500),
        ..<_>::default()
    };
    let (_, mut b) = connected(&base(), &config, 0);
    let answered = [0, 100, 499, 500, 900, 1000, 1499, 1500]
        .map(|millis| b.answers(&reset(b.rcv_nxt() + 1), millis).len());
    assert_eq!(answered, [1, 0, 0, 1, 0, 1, 0, 1]);
}

/// FreeBSD's `insecure_rst` and `insecure_syn`.
#[test]
fn the_reaction_to_resets_and_syns_in_the_window_is_a_setting() {
    let mut config = base();
    config.connection.challenge.reset_in_window = InWindow::Ends;
    config.connection.challenge.syn_in_window = InWindow::Ends;
    for outside in [-1, 65_535] {
        let (_, mut b) = connected(&base(), &config, 0);
        let seq = if outside < 0 { b.rcv_nxt() - 1 } else { b.rcv_nxt() + 65_535 };
        assert_eq!(b.answers(&reset(seq), 0), []);
        is_challenge(&b.answers(&segment(seq, Flags::SYN), 10), &b);
        assert_eq!(b.connection.state(), State::Established);
    }
    for inside in [0, 65_534] {
        let (_, mut b) = connected(&base(), &config, 0);
        assert_eq!(b.answers(&reset(b.rcv_nxt() + inside), 0), []);
        assert_eq!(b.connection.failure(), Some(Failure::Reset));
        let (_, mut b) = connected(&base(), &config, 0);
        let answers = b.answers(&segment(b.rcv_nxt() + inside, Flags::SYN), 0);
        assert_eq!(answers[0].flags, Flags::RST | Flags::ACK);
        assert_eq!((answers.len(), answers[0].seq), (1, b.una()));
        assert_eq!(b.connection.failure(), Some(Failure::Reset));
    }
}

/// Linux's `max_window`: the base advertises a window of 65,535 bytes at most.
#[test]
fn the_window_that_bounds_old_acks_is_a_setting() {
    let mut config = base();
    config.connection.challenge.old_acks_within = MaxWindow::Advertised;
    for (config, answered) in [(base(), 0), (config, 1)] {
        let mut small = base();
        (small.receiver.buffer, small.receiver.ack_every) = (10_000, 1);
        let (mut a, mut b) = connected(&config, &small, 0);
        b.connection.read(0);
        a.connection.write(20_000);
        for round in 0..40 {
            for data in a.sends(round) {
                for ack in b.answers(&data, round) {
                    a.gets(&ack, round);
                }
            }
            b.connection.read(u64::MAX);
            for update in b.sends(round) {
                a.gets(&update, round);
            }
        }
        assert_eq!(a.una(), Seq::FIRST + 20_001);
        let mut old = segment(a.rcv_nxt(), Flags::ACK);
        (old.ack, old.window) = (a.una() - 10_000, 1000);
        a.answers(&old, 200);
        assert_eq!(a.answers(&old, 200), []);
        old.ack = a.una() - 10_001;
        assert_eq!(a.answers(&old, 200).len(), answered);
    }
}

#[test]
fn t_b_15_an_ack_older_than_one_window_is_dropped() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    b.connection.read(0);
    // The peer transfers more than one window of data.
    a.connection.write(70_000);
    for round in 0..100 {
        for data in a.sends(round) {
            for ack in b.answers(&data, round) {
                a.gets(&ack, round);
            }
        }
        b.connection.read(u64::MAX);
    }
    assert_eq!(a.una(), Seq::FIRST + 70_001);
    let injected = |ack: Seq| {
        let mut data = Segment::new(Seq::FIRST + 1, 100, Flags::ACK);
        (data.ack, data.window) = (ack, 60_000);
        data
    };
    let answers = a.answers(&injected(a.una() - 65_536), 200);
    is_challenge(&answers, &a);
    assert_eq!(a.connection.readable(), 0);
    a.answers(&injected(a.una() - 65_535), 200);
    assert_eq!(a.connection.readable(), 100);
}

#[test]
fn a_forged_segment_does_not_move_the_timestamp() {
    let config = Config { timestamps: true, ..base() };
    let (_, mut b) = connected(&config, &config, 0);
    let stamped = |mut segment: Segment, value| {
        segment.set_timestamps(rtolab_tcp::Timestamps { value, echo: 0 });
        segment
    };
    let mut beyond = segment(b.rcv_nxt(), Flags::ACK);
    beyond.ack = Seq::FIRST + 9_000;
    b.answers(&stamped(beyond, 1_000_000), 0);
    b.answers(&stamped(reset(b.rcv_nxt() + 1), 1_000_000), 0);
    // The true peer's segment is not too old.
    let mut data = Segment::new(b.rcv_nxt(), 100, Flags::ACK);
    (data.ack, data.window) = (Seq::FIRST + 1, 60_000);
    b.answers(&stamped(data, 5), 0);
    assert_eq!(b.connection.readable(), 100);
}

/// The number of segments of each kind, spread evenly over all 2^32 numbers.
const BLIND: u32 = 50_000;

/// The sequence number of the n-th segment. None equals `right`.
fn spread_seq(right: Seq, nth: u32) -> Seq {
    let distance = (u64::from(nth) << 32) / u64::from(BLIND);
    right + (distance as u32 >> 1) + 1 - if nth % 2 == 0 { 0 } else { 1 << 31 }
}

#[test]
fn fifty_thousand_blind_resets_and_syns_do_not_end_a_connection() {
    for flags in [Flags::RST, Flags::RST | Flags::ACK, Flags::SYN, Flags::SYN | Flags::ACK] {
        let (_, mut b) = connected(&base(), &base(), 0);
        let mut answered = 0;
        for nth in 0..BLIND {
            let forged = segment(spread_seq(b.rcv_nxt(), nth), flags);
            answered += b.answers(&forged, u64::from(nth / 50)).len();
        }
        assert_eq!(b.connection.state(), State::Established, "{flags:?}");
        assert_eq!(b.rcv_nxt(), Seq::FIRST + 1);
        // All of them arrive within one second, which has one budget of challenge ACKs.
        assert!(answered <= 10, "{answered}");
    }
}

#[test]
fn resets_at_other_numbers_of_the_window_do_not_end_a_connection() {
    let (_, mut b) = connected(&base(), &base(), 0);
    for distance in 1..65_535 {
        b.answers(&reset(b.rcv_nxt() + distance), 0);
    }
    assert_eq!(b.connection.state(), State::Established);
}

#[test]
fn at_most_one_of_fifty_thousand_blind_data_segments_is_accepted() {
    // An attacker who knows RCV.NXT must also guess SND.UNA (RFC 5961 section 5): one window of
    // 65,536 in 2^32 numbers is accepted.
    let mut taken = 0;
    for nth in 0..BLIND {
        let (_, mut b) = connected(&base(), &base(), 0);
        let mut data = Segment::new(b.rcv_nxt(), 100, Flags::ACK);
        (data.ack, data.window) = (spread_seq(b.una(), nth), 60_000);
        b.answers(&data, 0);
        taken += u32::from(b.connection.readable() > 0);
    }
    assert!(taken <= 1, "{taken}");
}
