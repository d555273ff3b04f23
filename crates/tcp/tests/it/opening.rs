//! How a connection begins at a listener, at a closed port, and when both ends open at once (RFC
//! 9293 sections 3.5 and 3.10.7).

use std::sync::Arc;

use crate::script::base;
use crate::script::pair::{End, connected};
use rtolab_tcp::config::TimestampConfig;
use rtolab_tcp::{
    Answer, Config, Event, Failure, Flags, Listener, Segment, Seq, State, refuse, specification,
};
use rtolab_time::Duration;

fn established(ends: [&End; 2]) {
    for end in ends {
        assert_eq!(end.connection.state(), State::Established);
        assert_eq!((end.una(), end.rcv_nxt()), (Seq::FIRST + 1, Seq::FIRST + 1));
        let times = end.events.iter().filter(|event| **event == Event::Connected).count();
        assert_eq!((times, end.connection.failure()), (1, None));
    }
}

/// A listener's answer to a segment.
fn listens(config: &Config, segment: &Segment) -> Answer {
    Listener::new(Arc::new(config.clone())).on_segment(segment)
}

#[test]
fn t_b_1_a_listener_answers_a_syn() {
    let mut active = End::open(&base());
    let Answer::Accepted(accepted) = listens(&base(), &active.sends_one(0)) else {
        panic!("not accepted")
    };
    let mut passive = End::new(accepted);
    assert_eq!(passive.connection.state(), State::SynReceived);
    active.gets(&passive.sends_one(0), 0);
    passive.gets(&active.sends_one(0), 0);
    passive.sends_nothing(0);
    established([&active, &passive]);
}

#[test]
fn a_listener_resets_acks_and_ignores_other_segments() {
    for flags in [Flags::RST, Flags::RST | Flags::ACK, Flags::FIN, Flags::NONE] {
        let segment = Segment::new(Seq::FIRST + 7, 0, flags);
        assert!(matches!(listens(&base(), &segment), Answer::Nothing), "{flags}");
    }
    for flags in [Flags::ACK, Flags::SYN | Flags::ACK, Flags::FIN | Flags::ACK] {
        let mut segment = Segment::new(Seq::FIRST + 7, 100, flags);
        segment.ack = Seq::FIRST + 9;
        let Answer::Reset(reset) = listens(&base(), &segment) else { panic!("{flags}") };
        assert_eq!((reset.seq, reset.flags, reset.len), (segment.ack, Flags::RST, 0));
    }
}

#[test]
fn t_b_3_simultaneous_open() {
    let (mut a, mut b) = (End::open(&base()), End::open(&base()));
    let (syn_a, syn_b) = (a.sends_one(0), b.sends_one(0));
    let (answer_a, answer_b) = (a.answers(&syn_b, 10), b.answers(&syn_a, 10));
    for (end, answer) in [(&a, &answer_a), (&b, &answer_b)] {
        assert_eq!(end.connection.state(), State::SynReceived);
        assert_eq!(answer.len(), 1);
        assert_eq!((answer[0].seq, answer[0].flags), (Seq::FIRST, Flags::SYN | Flags::ACK));
        assert_eq!(answer[0].ack, Seq::FIRST + 1);
    }
    assert_eq!(a.answers(&answer_b[0], 20), []);
    assert_eq!(b.answers(&answer_a[0], 20), []);
    established([&a, &b]);
    a.connection.write(500);
    let data = a.sends_one(30);
    assert_eq!(b.answers(&data, 30)[0].ack, Seq::FIRST + 501);
    assert_eq!(a.connection.next_timer(), a.connection.sender().deadline());
}

#[test]
fn t_b_3_simultaneous_open_with_a_lost_syn_ack() {
    let (mut a, mut b) = (End::open(&base()), End::open(&base()));
    let (syn_a, syn_b) = (a.sends_one(0), b.sends_one(0));
    let (answer_a, _) = (a.answers(&syn_b, 10), b.answers(&syn_a, 10));
    b.answers(&answer_a[0], 20);
    assert_eq!(b.connection.state(), State::Established);
    // A's timer retransmits its answer. B already has it, and acknowledges it again.
    let at = a.timer();
    let again = a.sends_one(at);
    assert_eq!(again.flags, Flags::SYN | Flags::ACK);
    let ack = b.answers(&again, at);
    assert_eq!(ack[0].flags, Flags::ACK);
    assert_eq!(a.answers(&ack[0], at), []);
    established([&a, &b]);
}

#[test]
fn t_b_3_a_retransmitted_syn_is_answered_again() {
    let (mut a, mut b) = (End::open(&base()), End::open(&base()));
    let (_, syn_b) = (a.sends_one(0), b.sends_one(0));
    let first = a.answers(&syn_b, 10);
    let second = a.answers(&syn_b, 1010);
    assert_eq!((second.len(), second[0].seq, second[0].flags), (1, first[0].seq, first[0].flags));
}

#[test]
fn t_b_3_options_that_both_offer_are_used() {
    let with = |window_scale, timestamps| Config { window_scale, timestamps, ..base() };
    let (mut a, mut b) = (End::open(&with(Some(7), true)), End::open(&with(Some(3), true)));
    let (syn_a, syn_b) = (a.sends_one(0), b.sends_one(0));
    let (answer_a, answer_b) = (a.answers(&syn_b, 10)[0], b.answers(&syn_a, 10)[0]);
    a.answers(&answer_b, 20);
    b.answers(&answer_a, 20);
    assert_eq!((a.connection.window_shift(), b.connection.window_shift()), (7, 3));
    a.connection.write(5000);
    assert!(a.sends(30)[0].timestamps().is_some());
    // One end offers no options.
    let (mut a, mut b) = (End::open(&with(Some(7), true)), End::open(&with(None, false)));
    let (_, syn_b) = (a.sends_one(0), b.sends_one(0));
    let answer = a.answers(&syn_b, 10)[0];
    assert_eq!(answer.syn_options().window_scale, None);
    assert!(answer.timestamps().is_none());
}

#[test]
fn a_reset_in_syn_received_ends_the_connection() {
    let (mut a, mut b) = (End::open(&base()), End::open(&base()));
    let (_, syn_b) = (a.sends_one(0), b.sends_one(0));
    a.answers(&syn_b, 10);
    assert_eq!(a.answers(&Segment::new(Seq::FIRST + 1, 0, Flags::RST), 20), []);
    assert_eq!(a.connection.failure(), Some(Failure::Refused));
    assert_eq!((a.connection.state(), a.events), (State::Closed, vec![Event::Reset]));
}

#[test]
fn a_closed_port_sends_a_reset() {
    let mut active = End::open(&base());
    let reset = refuse(&active.sends_one(0)).unwrap();
    assert_eq!((reset.seq, reset.ack), (Seq::FIRST, Seq::FIRST + 1));
    assert_eq!(reset.flags, Flags::RST | Flags::ACK);
    assert_eq!(active.answers(&reset, 10), []);
    assert_eq!(active.connection.failure(), Some(Failure::Refused));
    assert_eq!(active.connection.failure().unwrap().to_string(), "connection refused");
    assert_eq!(refuse(&reset), None);
}

#[test]
fn t_b_6_a_peer_without_the_connection_resets_it() {
    let (mut a, _) = connected(&base(), &base(), 0);
    a.connection.write(1000);
    let reset = refuse(&a.sends_one(0)).unwrap();
    assert_eq!((reset.seq, reset.flags), (a.rcv_nxt(), Flags::RST));
    assert_eq!(a.answers(&reset, 10), []);
    assert_eq!(a.connection.failure(), Some(Failure::Reset));
    assert_eq!(a.connection.next_timer(), None);
    assert_eq!(a.events, [Event::Connected, Event::Reset]);
}

#[test]
fn t_b_6_a_half_open_connection_is_found_by_a_new_syn() {
    // RFC 9293 section 3.5.1, figure 9: the half-open end challenges the SYN. The reset in answer
    // shows it that the peer has crashed, and the retransmitted SYN reaches the listener.
    let (_, mut b) = connected(&base(), &base(), 0);
    let mut a = End::open(&base());
    let mut syn = a.sends_one(100);
    // It uses other sequence numbers than before.
    syn.seq += 5000;
    let challenge = b.answers(&syn, 100);
    assert_eq!(challenge.len(), 1);
    assert_eq!((challenge[0].flags, challenge[0].ack), (Flags::ACK, Seq::FIRST + 1));
    // For the new connection that acknowledges data that was never sent.
    let mut seen = challenge[0];
    seen.ack = Seq::FIRST - 4999;
    let mut reset = a.answers(&seen, 110)[0];
    assert_eq!((reset.seq, reset.flags), (seen.ack, Flags::RST));
    assert_eq!(a.connection.state(), State::SynSent);
    reset.seq = challenge[0].ack;
    b.gets(&reset, 120);
    assert_eq!(b.connection.failure(), Some(Failure::Reset));
    let at = a.timer();
    assert!(matches!(listens(&base(), &a.sends_one(at)), Answer::Accepted(_)));
}

#[test]
fn a_peer_with_a_tiny_mss_makes_no_tiny_segments() {
    let largest = |sender: &str, (own, peer): (u16, u16), timestamps| {
        let timestamp = TimestampConfig { in_mss: true, ..base().timestamp };
        let own = Config { mss: own, timestamps, timestamp, ..base() };
        let own = specification::sender(sender, &own).expect("a sender");
        let own = Config { timestamps, ..own };
        let (mut a, _) = connected(&own, &Config { mss: peer, timestamps, ..base() }, 0);
        a.connection.write(100_000);
        a.sends(0).iter().map(|segment| segment.len).max()
    };
    for (sender, smallest) in [("sack", 1), ("linux", 48), ("freebsd-14", 216)] {
        assert_eq!(largest(sender, (1460, 1), false), Some(smallest), "{sender}");
        // As without the option (RFC 9293 section 3.7.1).
        assert_eq!(largest(sender, (1460, 0), false), Some(536), "{sender}");
        assert_eq!(largest(sender, (0, 1460), false), Some(1), "{sender}");
    }
    assert_eq!(largest("linux", (1460, 1), true), Some(36));
}

#[test]
fn t_b_11_timestamps_reduce_the_payload_or_do_not() {
    for (in_mss, payload) in [(true, 244), (false, 256)] {
        let config = Config {
            mss: 256,
            timestamps: true,
            timestamp: TimestampConfig { in_mss, ..base().timestamp },
            ..base()
        };
        let (mut a, _) = connected(&config, &config, 0);
        a.connection.write(100_000);
        let sent = a.sends(0);
        assert!(sent.iter().all(|segment| segment.len == payload), "{in_mss}");
    }
    // 100 kB are 391 packets of 256 bytes, or 410: 4.9 % more.
    assert_eq!((100_000_u32.div_ceil(256), 100_000_u32.div_ceil(244)), (391, 410));
}

#[test]
fn a_timestamp_clock_without_a_tick_counts_nanoseconds() {
    let timestamp = TimestampConfig { tick: Duration::ZERO, ..base().timestamp };
    let config = Config { timestamps: true, timestamp, ..base() };
    let (mut a, _) = connected(&config, &config, 1);
    a.connection.write(1000);
    let stamps = a.sends_one(3).timestamps().expect("timestamps");
    assert_eq!(stamps.value, 3_000_000);
}
