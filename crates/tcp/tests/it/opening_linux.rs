//! How Linux opens: SYNs at equal intervals, and the initial window after SYN timeouts.

use crate::script::base;
use crate::script::pair::End;
use rtolab_tcp::config::{AfterSyn, EchoRule, Handshake, OldAcks, RepeatedSyn, Sampling};
use rtolab_tcp::{Config, Flags, Segment};
use rtolab_time::Duration;

fn linux() -> Config {
    let mut config = Config { timestamps: true, ..base() };
    config.timestamp.echo = EchoRule::Linux;
    config.window.after_syn = AfterSyn::Linux;
    config.receiver.repeated_syn = RepeatedSyn::Linux;
    config
}

/// The SYN leaves, and its timer expires this many times.
fn retransmitted_syns(config: &Config, times: u32) -> (End, Vec<(u64, Segment)>) {
    let mut active = End::open(config);
    let mut sent = vec![(0, active.sends_one(0))];
    for _ in 0..times {
        let at = active.timer();
        sent.push((at, active.sends_one(at)));
    }
    (active, sent)
}

/// `tcp_retransmit_timer`: the first four timeouts are not backed off.
#[test]
fn the_first_syns_are_retransmitted_evenly() {
    for (linear, expected) in [
        (0, [0, 1000, 3000, 7000, 15_000, 31_000, 63_000]),
        (4, [0, 1, 2, 3, 4, 5, 7].map(|s| s * 1000)),
    ] {
        let mut config = linux();
        config.connection.syn_linear_timeouts = linear;
        let (_, sent) = retransmitted_syns(&config, 6);
        assert_eq!(sent.iter().map(|(at, _)| *at).collect::<Vec<_>>(), expected);
    }
}

/// The initial window after this many timeouts of a SYN, if the SYN numbered `answered` arrived.
fn window_after(timeouts: u32, answered: usize) -> u64 {
    let mut config = linux();
    config.connection.syn_linear_timeouts = 4;
    let (mut active, sent) = retransmitted_syns(&config, timeouts);
    let at = 1000 * u64::from(timeouts) + 100;
    let mut passive = End::accept(&config, &sent[answered].1);
    active.gets(&passive.sends_one(at), at);
    active.connection.sender().window().cwnd() / 1000
}

/// `tcp_init_transfer` and `tcp_try_undo_spurious_syn`.
#[test]
fn one_syn_timeout_or_a_spurious_one_keeps_the_initial_window() {
    assert_eq!(window_after(0, 0), 10);
    assert_eq!(window_after(1, 1), 10);
    assert_eq!(window_after(2, 2), 1);
    // The echo shows that the SYN-ACK answers the first SYN.
    assert_eq!(window_after(2, 0), 10);
}

/// `tcp_check_req`: the SYN-ACK echoes the SYN that arrived first.
#[test]
fn a_retransmitted_syn_is_answered_with_the_first_timestamp() {
    let (_, sent) = retransmitted_syns(&linux(), 1);
    let echoes = |config: &Config| {
        let mut passive = End::accept(config, &sent[0].1);
        let first = passive.sends_one(10).timestamps().unwrap().echo;
        let again = passive.answers(&sent[1].1, 1010)[0].timestamps().unwrap().echo;
        (first, again)
    };
    assert_eq!(echoes(&linux()), (0, 0));
    let mut config = linux();
    config.receiver.repeated_syn = RepeatedSyn::EchoedAnew;
    assert_eq!(echoes(&config), (0, 1000));
}

/// `tcp_rcv_synsent_state_process` acknowledges before anything can be written.
#[test]
fn the_handshakes_last_ack_carries_no_data() {
    let mut config = linux();
    config.connection.handshake = Handshake::Alone;
    let mut active = End::open(&config);
    active.connection.write(1500);
    let mut passive = End::accept(&config, &active.sends_one(0));
    active.gets(&passive.sends_one(0), 0);
    let sent = active.sends(0);
    assert_eq!(sent.iter().map(|segment| segment.len).collect::<Vec<_>>(), [0, 1000, 500]);
    assert_eq!(sent[0].flags, Flags::ACK);
}

/// `tcp_check_req` and `tcp_oow_rate_limited`.
#[test]
fn syns_that_arrive_again_are_answered_twice_a_second_at_most() {
    for (old_acks, expected) in [(OldAcks::Linux, [1, 0, 1]), (OldAcks::Answered, [1, 1, 1])] {
        let mut config = linux();
        config.receiver.old_acks = old_acks;
        let (_, sent) = retransmitted_syns(&config, 0);
        let mut passive = End::accept(&config, &sent[0].1);
        passive.sends_one(10);
        let answers = [300, 799, 800].map(|at| passive.answers(&sent[0].1, at).len());
        assert_eq!(answers, expected);
    }
}

/// `tcp_ack_update_rtt`: the echo of a SYN-ACK is that of the first SYN, at time 0.
#[test]
fn the_echo_of_a_syn_ack_gives_a_round_trip() {
    let mut config = linux();
    config.rto.sampling = Sampling::Linux;
    let (mut active, sent) = retransmitted_syns(&config, 1);
    let mut passive = End::accept(&config, &sent[0].1);
    active.gets(&passive.sends_one(1100), 1100);
    let known = active.connection.sender().rtt().estimate().expect("a sample");
    assert_eq!(known.srtt, Duration::from_millis(1100));
}
