//! How a connection ends other than by two FINs in turn: limits, keep-alive, TIME-WAIT and unread
//! data (RFC 9293 sections 3.6.1, 3.8.3 and 3.8.4, RFC 1337, RFC 6191).

use crate::script;
use crate::script::base;
use crate::script::pair::{End, connected};
use rtolab_tcp::config::{AfterClose, GiveUp, KeepAlive, RtoFloor, TimeWaitReset};
use rtolab_tcp::{Config, Event, Failure, Flags, Segment, Seq, State, Timestamps};
use rtolab_time::Duration;

/// A connection that `a` closed first is in TIME-WAIT there.
fn waiting(config: &Config) -> End {
    let (mut a, mut b) = connected(config, config, 0);
    a.connection.close();
    let fin = a.sends_one(0);
    a.gets(&b.answers(&fin, 0)[0], 0);
    b.connection.close();
    let fin = b.sends_one(0);
    a.answers(&fin, 0);
    assert_eq!(a.connection.state(), State::TimeWait);
    a
}

fn syn(seq: Seq, stamp: Option<u32>) -> Segment {
    let mut syn = Segment::new(seq, 0, Flags::SYN);
    if let Some(value) = stamp {
        syn.set_timestamps(Timestamps { value, echo: 0 });
    }
    syn
}

#[test]
fn t_b_32_a_later_syn_takes_over_from_time_wait() {
    let a = waiting(&base());
    for (distance, yields) in [(0_i64, true), (1, true), (1_000_000, true), (-1, false)] {
        let seq = Seq::new(a.rcv_nxt().value().saturating_add_signed(distance));
        assert_eq!(a.connection.can_be_reopened_by(&syn(seq, None)), yields, "{distance}");
    }
    // No other SYN does.
    for flags in [Flags::SYN | Flags::ACK, Flags::ACK, Flags::SYN | Flags::RST] {
        assert!(!a.connection.can_be_reopened_by(&Segment::new(a.rcv_nxt() + 5, 0, flags)));
    }
    let (other, _) = connected(&base(), &base(), 0);
    assert!(!other.connection.can_be_reopened_by(&syn(other.rcv_nxt() + 5, None)));
    // A SYN that does not take over gets a challenge ACK.
    let mut a = a;
    let old = syn(a.rcv_nxt() - 10, None);
    assert_eq!(a.answers(&old, 100)[0].flags, Flags::ACK);
    assert_eq!(a.connection.state(), State::TimeWait);
}

#[test]
fn t_b_32_a_later_timestamp_counts_more_than_the_number() {
    // RFC 6191 section 2, in its order; the last timestamp seen is 0.
    let stamped = Config { timestamps: true, ..base() };
    let a = waiting(&stamped);
    let recent = a.connection.receiver().recent().unwrap();
    let (above, below) = (a.rcv_nxt() + 9, a.rcv_nxt() - 9);
    for (seq, stamp, yields) in [
        (below, Some(recent + 1), true),
        (above, Some(recent), true),
        (below, Some(recent), false),
        (above, Some(recent.wrapping_sub(1)), false),
        (above, None, true),
        (below, None, false),
    ] {
        assert_eq!(a.connection.can_be_reopened_by(&syn(seq, stamp)), yields, "{stamp:?}");
    }
}

#[test]
fn a_reset_in_time_wait_ends_it_or_does_not() {
    for (reaction, state) in
        [(TimeWaitReset::Ends, State::Closed), (TimeWaitReset::Ignored, State::TimeWait)]
    {
        let mut config = base();
        config.connection.time_wait_reset = reaction;
        let mut a = waiting(&config);
        assert_eq!(a.answers(&Segment::new(a.rcv_nxt(), 0, Flags::RST), 50), []);
        assert_eq!(a.connection.state(), state);
        assert_eq!(a.connection.failure(), None);
    }
}

#[test]
fn an_unanswered_syn_ends_the_connection() {
    let mut config = base();
    config.connection.limits.r2_syn = GiveUp::Retransmissions(3);
    let mut a = End::open(&config);
    a.connection.write(1000);
    assert_eq!(a.sends_one(0).flags, Flags::SYN);
    for expected in [1000, 3000, 7000] {
        assert_eq!(a.timer(), expected);
        assert_eq!(a.sends_one(expected).flags, Flags::SYN);
    }
    assert_eq!(a.timer(), 15_000);
    a.sends_nothing(15_000);
    assert_eq!(a.connection.failure(), Some(Failure::TimedOut));
    assert_eq!((a.connection.state(), a.connection.next_timer()), (State::Closed, None));
    assert_eq!(a.events.last(), Some(&Event::TimedOut));
}

#[test]
fn unacknowledged_data_is_reported_and_then_given_up() {
    let mut config = base();
    config.connection.limits.r1 = Some(3);
    config.connection.limits.r2 = GiveUp::After(Duration::from_secs(100));
    let (mut a, mut b) = connected(&config, &base(), 0);
    a.connection.write(1000);
    let lost = a.sends_one(0);
    let mut times = Vec::new();
    while a.connection.state() != State::Closed {
        times.push(a.timer());
        a.sends(*times.last().unwrap());
    }
    assert_eq!(times, [1, 3, 7, 15, 31, 63, 123].map(|seconds| 1000 * seconds));
    let problem = Event::DeliveryProblem { at: script::pair::at(15_000), seq: lost.seq };
    assert_eq!(a.events.iter().filter(|event| **event == problem).count(), 1);
    let problems = a.events.iter().filter(|event| matches!(event, Event::DeliveryProblem { .. }));
    assert_eq!(problems.count(), 1);
    assert_eq!(a.connection.failure(), Some(Failure::TimedOut));
    // A peer that returns later gets a reset.
    b.connection.write(10);
    let reset = a.answers(&b.sends_one(130_000), 130_000);
    assert_eq!(reset[0].flags, Flags::RST);
    b.gets(&reset[0], 130_000);
    assert_eq!(b.connection.failure(), Some(Failure::Reset));
}

#[test]
fn silence_ends_a_connection_and_a_closed_window_does_not() {
    let mut small = base();
    small.receiver.buffer = 2000;
    let mut config = base();
    config.connection.limits.r2 = GiveUp::After(Duration::from_secs(100));
    let (mut a, mut b) = connected(&config, &small, 0);
    a.connection.write(5000);
    for data in a.sends(0) {
        for ack in b.answers(&data, 0) {
            a.gets(&ack, 0);
        }
    }
    a.sends_nothing(0);
    let mut at = 0;
    while at < 1_000_000 {
        at = a.timer();
        let probe = a.sends_one(at);
        a.gets(&b.answers(&probe, at)[0], at);
        a.sends_nothing(at);
    }
    assert_eq!(a.connection.failure(), None);
    // Now the peer is gone.
    let since = at;
    while a.connection.state() != State::Closed {
        at = a.timer();
        a.sends(at);
    }
    assert_eq!(a.connection.failure(), Some(Failure::TimedOut));
    assert!(at - since >= 100_000 && at - since <= 180_000, "after {} ms", at - since);
}

#[test]
fn t_b_27_a_silent_peer_gets_keep_alives() {
    let mut config = base();
    let keep_alive =
        KeepAlive { idle: Duration::from_secs(7200), interval: Duration::from_secs(75), probes: 3 };
    config.connection.keep_alive = Some(keep_alive);
    let (mut a, mut b) = connected(&config, &base(), 0);
    a.connection.write(100);
    let data = a.sends_one(1000);
    b.gets(&data, 1000);
    b.connection.on_timer(script::pair::at(1200));
    a.gets(&b.sends_one(1200), 1200);
    // The timer was set when the connection began; at its expiry it is set for the rest of the idle
    // time.
    assert_eq!(a.timer(), 7_200_000);
    a.sends_nothing(7_200_000);
    assert_eq!(a.timer(), 7_201_200);
    let probe = a.sends_one(7_201_200);
    assert_eq!((probe.seq, probe.len, probe.flags), (data.end() - 1, 0, Flags::ACK));
    let answer = b.answers(&probe, 7_201_200);
    assert_eq!(answer.len(), 1);
    assert_eq!(a.answers(&answer[0], 7_201_300), []);
    // The peer answers one probe. Then it is silent: the connection ends after three probes, not
    // after one.
    assert_eq!(a.timer(), 7_276_200);
    a.sends_nothing(7_276_200);
    for expected in [14_401_300, 14_476_300, 14_551_300] {
        assert_eq!(a.timer(), expected);
        assert_eq!(a.sends_one(expected).seq, probe.seq);
    }
    assert_eq!(a.timer(), 14_626_300);
    a.sends_nothing(14_626_300);
    assert_eq!(a.connection.failure(), Some(Failure::TimedOut));
}

#[test]
fn outstanding_data_suppresses_keep_alives() {
    let mut config = base();
    config.connection.keep_alive = Some(KeepAlive {
        idle: Duration::from_secs(1),
        interval: Duration::from_secs(1),
        probes: 1,
    });
    let (mut a, _) = connected(&config, &base(), 0);
    a.connection.write(100);
    a.sends_one(500);
    for _ in 0..12 {
        let at = a.timer();
        assert!(a.sends(at).iter().all(|segment| segment.len == 100));
    }
    assert_eq!(a.connection.state(), State::Established);
}

#[test]
fn shutting_down_writes_leaves_reads_open() {
    let mut resetting = base();
    resetting.connection.after_close = AfterClose::Resets;
    for config in [base(), resetting] {
        let (mut a, mut b) = connected(&config, &base(), 0);
        a.connection.shutdown();
        let fin = a.sends_one(0);
        a.gets(&b.answers(&fin, 0)[0], 0);
        b.connection.write(300);
        a.gets(&b.sends_one(0), 0);
        assert_eq!((a.connection.readable(), a.connection.state()), (300, State::FinWait2));
        assert!(!a.connection.is_writable() && b.connection.is_writable());
        assert!(b.connection.is_exhausted() && !a.connection.is_exhausted());
    }
}

#[test]
fn data_after_shutting_down_reads_is_reset() {
    let mut resetting = base();
    resetting.connection.after_close = AfterClose::Resets;
    for (config, hangs_up) in [(resetting, false), (base(), true)] {
        let (mut a, mut b) = connected(&config, &base(), 0);
        match hangs_up {
            true => a.connection.close_both(),
            false => a.connection.close(),
        }
        let fin = a.sends_one(0);
        a.gets(&b.answers(&fin, 0)[0], 0);
        assert_eq!(a.connection.state(), State::FinWait2);
        b.connection.write(300);
        let data = b.sends_one(0);
        let reset = a.answers(&data, 0);
        assert_eq!(reset.len(), 1);
        assert_eq!((reset[0].seq, reset[0].flags), (data.ack, Flags::RST));
        assert_eq!(a.connection.state(), State::Closed);
        b.gets(&reset[0], 0);
        assert_eq!(b.connection.failure(), Some(Failure::Reset));
    }
}

#[test]
fn shutting_down_reads_does_not_change_closing() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    a.connection.close_both();
    let fin = a.sends_one(0);
    a.gets(&b.answers(&fin, 0)[0], 0);
    b.connection.close();
    let fin = b.sends_one(0);
    b.gets(&a.answers(&fin, 0)[0], 0);
    assert_eq!(a.connection.state(), State::TimeWait);
    assert_eq!((b.connection.state(), b.connection.failure()), (State::Closed, None));
}

/// A Linux end that has closed and whose FIN is acknowledged, and the other end.
fn half_closed(config: &Config) -> (End, End) {
    let (mut a, mut b) = connected(config, &base(), 0);
    a.connection.close();
    let fin = a.sends_one(0);
    a.gets(&b.answers(&fin, 0)[0], 0);
    assert_eq!(a.connection.state(), State::FinWait2);
    (a, b)
}

fn limited(after_close: AfterClose) -> Config {
    let mut config = base();
    config.connection.after_close = after_close;
    config.connection.fin_timeout = Some(Duration::from_secs(60));
    config
}

#[test]
fn fin_wait_2_ends_after_a_minute() {
    let (mut a, mut b) = half_closed(&limited(AfterClose::Resets));
    assert_eq!(a.timer(), 60_000);
    a.sends_nothing(60_000);
    assert_eq!((a.connection.state(), a.connection.failure()), (State::Closed, None));
    assert_eq!(a.events.last(), Some(&Event::Closed));
    // A segment that arrives later gets a reset.
    b.connection.close();
    let fin = b.sends_one(60_001);
    let reset = a.answers(&fin, 60_001);
    assert!(reset.is_empty() || reset[0].flags.has(Flags::RST), "{reset:?}");
    // An end that still reads waits without limit, and so does an end without this setting.
    let (a, _) = half_closed(&limited(AfterClose::Reads));
    assert_eq!(a.connection.next_timer(), None);
    let mut endless = base();
    endless.connection.after_close = AfterClose::Resets;
    let (a, _) = half_closed(&endless);
    assert_eq!(a.connection.next_timer(), None);
}

#[test]
fn a_fin_within_a_minute_leads_to_time_wait() {
    let config = limited(AfterClose::Resets);
    let (mut a, mut b) = half_closed(&config);
    b.connection.close();
    let fin = b.sends_one(59_000);
    assert_eq!(a.answers(&fin, 59_000).len(), 1);
    assert_eq!(a.connection.state(), State::TimeWait);
    let end = 59_000 + 2 * config.msl.nanos() / 1_000_000;
    assert_eq!(a.timer(), end);
}

#[test]
fn a_long_rto_extends_fin_wait_2() {
    let mut config = limited(AfterClose::Resets);
    config.rto.floor = RtoFloor::Total(Duration::from_secs(20));
    let (mut a, _) = half_closed(&config);
    // Three and a half timeouts of 20 s.
    assert_eq!(a.timer(), 70_000);
}

#[test]
fn closing_with_unread_data_sends_a_reset() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    b.connection.write(300);
    a.gets(&b.sends_one(0), 0);
    a.connection.close_both();
    let reset = a.sends_one(0);
    assert!(reset.flags.has(Flags::RST));
    b.gets(&reset, 0);
    assert_eq!(b.connection.failure(), Some(Failure::Reset));
}

#[test]
fn giving_up_sends_nothing_if_the_peer_has_closed() {
    let mut a = waiting(&base());
    a.connection.abort();
    a.sends_nothing(0);
    assert_eq!(a.connection.state(), State::Closed);
}

#[test]
fn data_after_a_fin_is_ignored() {
    let (mut a, mut b) = connected(&base(), &base(), 0);
    a.connection.write(100);
    a.connection.close();
    let fin = a.sends_one(0);
    b.answers(&fin, 0);
    assert_eq!(b.connection.state(), State::CloseWait);
    for flags in [Flags::ACK, Flags::ACK | Flags::FIN] {
        let mut more = Segment::new(b.rcv_nxt(), 500, flags);
        (more.ack, more.window) = (Seq::FIRST + 1, 60_000);
        assert_eq!(b.answers(&more, 0)[0].ack, fin.end());
        assert_eq!((b.connection.readable(), b.connection.state()), (100, State::CloseWait));
    }
    assert_eq!(b.events, [Event::Connected, Event::PeerClosed]);
}
