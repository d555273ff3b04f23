//! The systems that Gurtov measured ("Effect of Delays on TCP Performance", 2001, section 5).

use crate::script::{Script, base, pair};
use rtolab_tcp::{Config, specification};

/// The window grows from two segments to four. The first of the four is lost: 3 to 6 are
/// outstanding.
fn one_of_four_lost(profile: &str) -> Script {
    let mut s = Script::sender(profile).sent(1..=2);
    s.ack(1).expect([3, 4]);
    s.ack(2).expect([5, 6]).cwnd(4.0);
    s
}

#[test]
fn t_os_1_windows_98_retransmits_at_the_second_duplicate_ack() {
    let mut s = one_of_four_lost("windows-98");
    s.ack(2).expect_nothing().fast_retransmits(0);
    s.ack(2).expect([3]).fast_retransmits(1).ssthresh(2).cwnd(4.0);
}

#[test]
fn t_os_2_windows_nt_retransmits_at_the_first() {
    let mut s = one_of_four_lost("windows-nt");
    s.ack(2).expect([3]).fast_retransmits(1).ssthresh(2).cwnd(3.0);
}

#[test]
fn t_os_3_freebsd_sends_a_whole_window_at_once() {
    let config = Config { mss: 256, ..base() };
    let sender = specification::sender("freebsd-4.1", &config).unwrap();
    let (mut active, _) = pair::connected(&sender, &config, 0);
    active.connection.write(100_000);
    let sent = active.sends(0);
    assert_eq!(sent.len(), 64);
    assert!(sent.iter().all(|segment| segment.len == 256));
}

/// A spurious timeout with eighteen segments outstanding, after which ten new ones are outstanding.
/// Returns how many segments sent after the timeout are retransmitted.
fn unneeded_after_a_spurious_timeout(profile: &str) -> usize {
    let mut s = Script::sender(profile).sent(1..=2);
    for number in 1..=16 {
        s.ack(number).expect([2 * number + 1, 2 * number + 2]);
    }
    s.timeout().expect([17]).cwnd(1.0);
    let mut sent = 34;
    let mut unneeded = 0;
    let mut count = |left: Vec<u32>| {
        for number in left {
            unneeded += usize::from((35..=sent).contains(&number));
            sent = sent.max(number);
        }
        sent
    };
    for number in 17..=34 {
        count(s.ack(number).take());
    }
    for _ in 0..18 {
        count(s.ack(34).take());
    }
    for number in 35..=60 {
        count(s.ack(number).take());
    }
    unneeded
}

#[test]
fn t_os_4_linux_2_2_retransmits_ten_more_and_linux_2_4_none() {
    // The spurious fast retransmit, and nine for its partial acknowledgments.
    assert_eq!(unneeded_after_a_spurious_timeout("linux-2.2"), 10);
    assert_eq!(unneeded_after_a_spurious_timeout("linux-2.4"), 0);
}

#[test]
fn t_os_5_windows_sends_beyond_the_advertised_window() {
    let overruns = |profile, beyond: u32| {
        let mut s = Script::sender(profile).offered(4).sent(1..=2);
        s.ack(1).expect([3, 4]);
        s.ack(2).expect([5, 6]);
        for number in 3..=8 {
            s.ack(number).take();
        }
        s.outstanding(4 + beyond);
    };
    overruns("windows-98", 2);
    overruns("windows-nt", 2);
    overruns("linux-2.4", 0);
}
