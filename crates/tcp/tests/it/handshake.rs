//! The three-way handshake and the negotiated options: RFC 9293 sections 3.5 and 3.10.7.

use crate::script::base;
use crate::script::pair::{End, connected};
use rtolab_tcp::{Config, Event, Flags, Segment, Seq, State, SynOptions, Timestamps};

const RST: Flags = Flags::RST;

fn syn_ack() -> Segment {
    let mut segment = Segment::new(Seq::FIRST, 0, Flags::SYN | Flags::ACK);
    (segment.ack, segment.window) = (Seq::FIRST + 1, 60_000);
    segment
}

#[test]
fn t_b_1_both_ends_are_connected() {
    let mut active = End::open(&base());
    let syn = active.sends_one(0);
    assert_eq!((syn.seq, syn.flags), (Seq::FIRST, Flags::SYN));
    assert_eq!(active.connection.state(), State::SynSent);

    let mut passive = End::accept(&base(), &syn);
    let syn_ack = passive.sends_one(10);
    assert_eq!((syn_ack.seq, syn_ack.ack), (Seq::FIRST, Seq::FIRST + 1));
    assert_eq!(syn_ack.flags, Flags::SYN | Flags::ACK);
    assert_eq!(passive.connection.state(), State::SynReceived);

    active.gets(&syn_ack, 20);
    let ack = active.sends_one(20);
    assert_eq!((ack.seq, ack.ack, ack.flags), (Seq::FIRST + 1, Seq::FIRST + 1, Flags::ACK));
    passive.gets(&ack, 30);
    passive.sends_nothing(30);
    for end in [&active, &passive] {
        assert_eq!(end.connection.state(), State::Established);
        assert_eq!((end.una(), end.rcv_nxt()), (Seq::FIRST + 1, Seq::FIRST + 1));
        assert_eq!(end.events, [Event::Connected]);
        assert_eq!(end.connection.next_timer(), None);
    }
}

#[test]
fn t_b_1_data_may_come_with_the_last_acknowledgment() {
    let mut active = End::open(&base());
    active.connection.write(500);
    let mut passive = End::accept(&base(), &active.sends_one(0));
    active.gets(&passive.sends_one(0), 0);
    let data = active.sends_one(0);
    assert_eq!((data.len, data.flags), (500, Flags::ACK));
    assert_eq!(passive.answers(&data, 0)[0].ack, Seq::FIRST + 501);
    assert_eq!(passive.events, [Event::Connected]);
}

#[test]
fn t_b_2_a_syn_ack_for_an_old_syn_is_reset() {
    // The peer answered an old duplicate, nine numbers below. A reset removes its half-open
    // connection.
    let mut active = End::open(&base());
    let mut old = active.sends_one(0);
    let syn = old;
    old.seq = Seq::FIRST - 10;
    let mut passive = End::accept(&base(), &old);
    let reset = active.answers(&passive.sends_one(0), 0);
    assert_eq!(reset.len(), 1);
    assert_eq!((reset[0].seq, reset[0].flags), (Seq::FIRST - 9, RST));
    assert_eq!(active.connection.state(), State::SynSent);
    passive.gets(&reset[0], 0);
    passive.sends_nothing(0);
    assert_eq!(passive.connection.state(), State::Closed);
    // The host still listens, and accepts the real SYN.
    let mut passive = End::accept(&base(), &syn);
    active.gets(&passive.sends_one(0), 0);
    assert_eq!(active.connection.state(), State::Established);
}

#[test]
fn t_b_4_a_wrong_acknowledgment_in_syn_sent_is_reset() {
    for (ack, flags) in [
        (Seq::FIRST, Flags::SYN | Flags::ACK),
        (Seq::FIRST + 2, Flags::SYN | Flags::ACK),
        (Seq::FIRST + 2, Flags::ACK),
    ] {
        let mut active = End::open(&base());
        active.sends_one(0);
        let mut wrong = syn_ack();
        (wrong.ack, wrong.flags) = (ack, flags);
        let reset = active.answers(&wrong, 0);
        assert_eq!(reset.len(), 1, "{wrong:?}");
        assert_eq!((reset[0].seq, reset[0].flags, reset[0].len), (ack, RST, 0));
        assert_eq!(active.connection.state(), State::SynSent);
        active.gets(&syn_ack(), 0);
        assert_eq!(active.connection.state(), State::Established);
    }
}

#[test]
fn t_b_4_a_wrong_acknowledgment_in_syn_received_is_reset() {
    let syn = End::open(&base()).sends_one(0);
    for ack in [Seq::FIRST, Seq::FIRST - 1, Seq::FIRST + 2] {
        let mut passive = End::accept(&base(), &syn);
        passive.sends_one(0);
        let mut wrong = Segment::new(Seq::FIRST + 1, 100, Flags::ACK | Flags::FIN);
        (wrong.ack, wrong.window) = (ack, 60_000);
        let reset = passive.answers(&wrong, 0);
        assert_eq!(reset.len(), 1, "{wrong:?}");
        assert_eq!((reset[0].seq, reset[0].flags), (ack, RST));
        assert_eq!(passive.connection.state(), State::SynReceived);
        assert_eq!(passive.rcv_nxt(), Seq::FIRST + 1);
    }
}

#[test]
fn t_b_5_a_reset_in_syn_sent_needs_an_acceptable_acknowledgment() {
    let mut active = End::open(&base());
    active.sends_one(0);
    let mut reset = Segment::new(Seq::FIRST, 0, RST);
    assert_eq!(active.answers(&reset, 0), []);
    reset.flags |= Flags::ACK;
    reset.ack = Seq::FIRST + 2;
    assert_eq!(active.answers(&reset, 0), []);
    assert_eq!(active.connection.state(), State::SynSent);
    reset.ack = Seq::FIRST + 1;
    assert_eq!(active.answers(&reset, 0), []);
    assert_eq!(active.connection.state(), State::Closed);
    assert_eq!(active.events, [Event::Reset]);
}

#[test]
fn t_b_8_windows_are_scaled_only_if_both_ends_offer_it() {
    let with = |scale| Config { window_scale: scale, ..base() };
    for (active, passive) in [(Some(7), None), (None, Some(7))] {
        let (active, passive) = connected(&with(active), &with(passive), 0);
        assert_eq!(active.connection.window_shift(), 0);
        assert_eq!(passive.connection.window_shift(), 0);
    }
    let (active, passive) = connected(&with(Some(7)), &with(Some(3)), 0);
    assert_eq!((active.connection.window_shift(), passive.connection.window_shift()), (7, 3));

    // An end that does not scale its own window still lets the peer scale.
    let mut active = End::open(&with(Some(7)));
    let mut passive = End::accept(&with(Some(0)), &active.sends_one(0));
    let syn_ack = passive.sends_one(0);
    assert_eq!(syn_ack.syn_options().window_scale, Some(0));
    active.gets(&syn_ack, 0);
    assert_eq!((active.connection.window_shift(), passive.connection.window_shift()), (7, 0));
}

#[test]
fn t_b_8_the_window_of_a_syn_is_never_scaled() {
    let mut config = Config { window_scale: Some(7), ..base() };
    config.receiver.buffer = 1_000_000;
    let mut active = End::open(&config);
    let syn = active.sends_one(0);
    let mut passive = End::accept(&config, &syn);
    let syn_ack = passive.sends_one(0);
    assert_eq!((syn.window, syn_ack.window), (65_535, 65_535));
    active.gets(&syn_ack, 0);
    // With a shift of seven, a window is a multiple of 128.
    assert_eq!(active.sends_one(0).window, 1_000_000 / 128 * 128);
}

#[test]
fn t_b_10_without_an_mss_option_segments_have_536_bytes() {
    let mut active = End::open(&Config { mss: 1460, ..base() });
    active.connection.write(10_000);
    active.sends_one(0);
    active.gets(&syn_ack(), 0);
    assert!(active.sends(0).iter().all(|segment| segment.len == 536));

    let mut active = End::open(&Config { mss: 1460, ..base() });
    active.connection.write(10_000);
    active.sends_one(0);
    let mut smaller = syn_ack();
    smaller.set_syn_options(SynOptions { mss: Some(700), ..SynOptions::default() });
    active.gets(&smaller, 0);
    assert!(active.sends(0).iter().all(|segment| segment.len == 700));
}

#[test]
fn a_lost_syn_is_retransmitted_and_reduces_the_initial_window() {
    let mut active = End::open(&base());
    active.connection.write(100_000);
    active.sends_one(0);
    for expected in [1000, 3000] {
        let at = active.timer();
        assert_eq!(at, expected);
        assert_eq!(active.sends_one(at).flags, Flags::SYN);
    }
    // RFC 5681 section 3.1: one segment; RFC 6298 section 5.7: at least 3 s.
    active.gets(&syn_ack(), 3500);
    assert_eq!(active.sends(3500).len(), 1);
    assert_eq!(active.timer(), 6500);
}

/// With timestamps the SYN-ACK gives a sample although the SYN was retransmitted (RFC 6298 section
/// 3): the RTO follows from it, and is not the 3 s of section 5.7.
#[test]
fn a_lost_syn_with_timestamps_leaves_the_rto_to_the_sample() {
    for (answers_after, expected) in [(500, 1500), (100, 1000)] {
        let mut active = End::open(&Config { timestamps: true, ..base() });
        active.connection.write(100_000);
        active.sends_one(0);
        let at = active.timer();
        let syn = active.sends_one(at);
        let mut syn_ack = syn_ack();
        let Timestamps { value, .. } = syn.timestamps().unwrap();
        syn_ack.set_timestamps(Timestamps { value, echo: value });
        let at = at + answers_after;
        active.gets(&syn_ack, at);
        // RFC 5681 section 3.1 has no such exception: one segment.
        assert_eq!(active.sends(at).len(), 1);
        // The first sample R gives SRTT = R and RTTVAR = R/2, so the RTO is 3 R, at least 1 s.
        assert_eq!(active.timer(), at + expected);
    }
}

#[test]
fn a_retransmitted_syn_gets_the_syn_ack_again() {
    let mut active = End::open(&base());
    let syn = active.sends_one(0);
    let mut passive = End::accept(&base(), &syn);
    let lost = passive.sends_one(0);
    let again = passive.answers(&syn, 1000);
    assert_eq!(again.len(), 1);
    assert_eq!((again[0].seq, again[0].ack, again[0].flags), (lost.seq, lost.ack, lost.flags));
}
