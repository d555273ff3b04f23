//! The back-off of the retransmission timer: RFC 6298 section 5.5, RFC 6069, and other rules.

use rtolab_tcp::State;
use rtolab_tcp::config::{BackoffEnd, LinearFor, OnPathChange, OnUnreachable};
use rtolab_time::Duration;

use super::script::pair::{End, at};
use super::script::{Script, base};

/// A sender with an RTO of 1 s whose segments 1 to 10 are outstanding from time 0 on.
fn script(spec: &str) -> Script {
    Script::sender(spec).cwnd(10).offered(10).sent(1..=10)
}

/// When the next timeouts expire, in milliseconds.
fn timeouts<const N: usize>(script: &mut Script) -> [u64; N] {
    std::array::from_fn(|_| {
        let due = script.next_timer().expect("the timer runs");
        script.timeout().expect([1]);
        due
    })
}

#[test]
fn each_timeout_doubles_the_next() {
    assert_eq!(timeouts(&mut script("sack")), [1_000, 3_000, 7_000, 15_000, 31_000]);
}

#[test]
fn a_cap_ends_the_doubling() {
    assert_eq!(timeouts(&mut script("sack+backoff:2s")), [1_000, 3_000, 5_000, 7_000, 9_000]);
}

#[test]
fn a_cap_leaves_a_longer_timeout_as_it_is() {
    let setup = Script::sender("sack+backoff:2s").rto_of(3_000).cwnd(10).offered(10);
    assert_eq!(timeouts(&mut setup.sent(1..=10)), [3_000, 6_000, 9_000]);
}

#[test]
fn six_linear_timeouts_precede_the_doubling() {
    let expected = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 9_000, 13_000];
    assert_eq!(timeouts(&mut script("sack+backoff:linear")), expected);
}

#[test]
fn only_thin_streams_have_linear_timeouts() {
    assert_eq!(timeouts(&mut script("sack+backoff:thin")), [1_000, 3_000, 7_000]);
    let thin = Script::sender("sack+backoff:thin").cwnd(3).offered(3);
    assert_eq!(timeouts(&mut thin.sent(1..=3)), [1_000, 2_000, 3_000, 4_000]);
}

#[test]
fn linear_timeouts_are_counted_from_the_last_new_ack() {
    let linear = |c: &mut rtolab_tcp::Config| {
        (c.backoff.linear, c.backoff.linear_for) = (1, LinearFor::All);
    };
    let mut s = Script::sender("newreno").cwnd(10).offered(10).set(linear).sent(1..=10);
    assert_eq!(timeouts(&mut s), [1_000, 2_000, 4_000]);
    s.at(4_100).ack(1).expect([2, 3]);
    // The ACK of a retransmission gives no sample, so the timeout of 4 s stays; the next one is
    // linear, and takes the back-off back.
    assert_eq!(s.next_timer(), Some(8_100));
    s.timeout().expect([2]);
    assert_eq!(s.next_timer(), Some(9_100));
}

/// Karn's rule: two timeouts, then an ACK of the retransmission, which gives no sample.
fn after_an_ack_without_sample(spec: &str) -> Option<u64> {
    let mut s = script(spec);
    let _: [u64; 2] = timeouts(&mut s);
    s.at(3_100).ack(1).expect([2, 3]).next_timer()
}

#[test]
fn an_ack_without_sample_leaves_the_back_off() {
    assert_eq!(after_an_ack_without_sample("newreno"), Some(7_100));
    assert_eq!(after_an_ack_without_sample("newreno+backoff:new-ack"), Some(4_100));
}

#[test]
fn a_message_takes_back_one_back_off() {
    let mut s = script("sack+lcd");
    let _: [u64; 3] = timeouts(&mut s);
    assert_eq!(s.next_timer(), Some(15_000));
    // RFC 6069 section 3: 4 s from the retransmission at 7 s.
    s.at(7_100).unreachable(1).expect_nothing();
    assert_eq!(s.next_timer(), Some(11_000));
    s.unreachable(1).expect_nothing();
    assert_eq!(s.next_timer(), Some(9_000));
}

#[test]
fn linux_reacts_to_messages() {
    let mut s = Script::sender("linux").rto_of(1_000).cwnd(10).offered(10).sent(1..=10);
    // The tail loss probe precedes the timeouts.
    s.early_timer().expect([10]).timeout().expect([1]).timeout().expect([1]);
    let next = s.next_timer();
    s.unreachable(1).expect_nothing();
    assert!(s.next_timer() < next);
}

#[test]
fn a_late_message_lets_the_timer_expire_at_once() {
    let mut s = script("sack+lcd");
    let _: [u64; 3] = timeouts(&mut s);
    s.at(12_000).unreachable(1).expect_nothing();
    assert_eq!(s.next_timer(), Some(12_000));
}

#[test]
fn a_message_counts_only_after_a_timeout_and_for_the_oldest_segment() {
    let mut s = script("sack+lcd");
    s.at(500).unreachable(1).expect_nothing();
    assert_eq!(s.next_timer(), Some(1_000));
    let _: [u64; 2] = timeouts(&mut s);
    s.at(3_100).unreachable(2).expect_nothing();
    assert_eq!(s.next_timer(), Some(7_000));
    let mut ignores = script("sack");
    let _: [u64; 2] = timeouts(&mut ignores);
    ignores.at(3_100).unreachable(1).expect_nothing();
    assert_eq!(ignores.next_timer(), Some(7_000));
}

#[test]
fn a_hint_ends_the_wait_and_the_back_off() {
    let mut s = script("sack+path-hint");
    let _: [u64; 4] = timeouts(&mut s);
    s.at(20_000).path_changed().expect_nothing();
    assert_eq!(timeouts(&mut s), [20_000, 22_000]);
}

#[test]
fn a_hint_ends_the_wait_of_a_syn() {
    let mut config = base();
    config.backoff.path_change = OnPathChange::Resets;
    let mut end = End::open(&config);
    let syn = end.sends_one(0);
    assert_eq!([end.timer(), end.timer()], [1_000, 3_000]);
    end.sends(3_000);
    end.connection.on_path_change(at(4_000));
    assert_eq!(end.timer(), 4_000);
    assert_eq!(end.sends_one(4_000).seq, syn.seq);
}

#[test]
fn a_hint_before_any_timeout_retransmits_nothing() {
    let mut s = script("sack+path-hint");
    s.at(500).path_changed().expect_nothing();
    assert_eq!(s.next_timer(), Some(1_000));
    // Timeouts of the SYN are over when it is answered.
    let setup = Script::sender("sack+path-hint").syn_timeouts(1).segments(1);
    let mut s = setup.sent(1..=1);
    let due = s.next_timer();
    let at = s.millis() + 10;
    s.at(at).path_changed().expect_nothing();
    assert_eq!(s.next_timer(), due);
}

#[test]
fn the_user_timeout_ends_the_connection_in_time() {
    let limited = |c: &mut rtolab_tcp::Config| {
        c.connection.limits.user_timeout = Some(Duration::from_secs(5));
    };
    let mut s = Script::sender("sack").cwnd(10).offered(10).set(limited).sent(1..=10);
    assert_eq!(timeouts(&mut s), [1_000, 3_000]);
    assert_eq!(s.next_timer(), Some(5_000));
    s.early_timer().expect_nothing();
    assert_eq!(s.connection.state(), State::Closed);
}

#[test]
fn by_default_the_back_off_follows_the_rfcs() {
    let config = rtolab_tcp::Config::default();
    assert_eq!((config.backoff.linear, config.backoff.cap), (0, None));
    assert_eq!(config.backoff.ends, BackoffEnd::Sample);
    assert_eq!(config.backoff.unreachable, OnUnreachable::Ignored);
    assert_eq!(config.backoff.path_change, OnPathChange::Ignored);
}
