//! Eifel that retransmits as F-RTO does (report C-2002-07 section 6): the echo of an older
//! timestamp leads to two new segments, and the second acknowledgment decides. `eifel.rs` has the
//! same cases for Eifel alone.

use crate::script::pair::{End, connected};
use crate::script::{Script, Setup, base, number_of};
use rtolab_tcp::config::{InitialWindow, Outstanding};
use rtolab_tcp::spurious::{Reason, Verdict};
use rtolab_tcp::{Segment, specification};

/// Six segments sent at 10 ms; the timeout is 40 ms.
fn setup() -> Setup {
    Script::sender("newreno+eifel:forward").cwnd(6).ssthresh(8).rto_of(40).at_millis(10)
}

/// The first of them is retransmitted at 50 ms.
fn timed_out() -> Script {
    let mut s = setup().sent(1..=6);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(3);
    assert_eq!(s.clock(), 50);
    s
}

#[test]
fn t_ei_1_an_older_echo_is_a_hint_and_the_second_acknowledgment_decides() {
    let mut s = timed_out();
    s.echoing(10).ack(1).expect([7, 8]).undecided().cwnd(2.0).ssthresh(3);
    s.echoing(10).ack(2).expect_nothing().verdict(Verdict::Spurious).cwnd(6.0).ssthresh(8);
    s.echoing(10).ack(3).expect([9, 10]).undecided().cwnd(7.0);
}

#[test]
fn t_ei_2_the_echo_of_the_retransmission_starts_go_back_n_at_once() {
    let mut s = timed_out();
    s.echoing(50).ack(1).expect([2, 3]).verdict(Verdict::Genuine).cwnd(2.0).ssthresh(3);
    s.echoing(10).ack(2).expect([4, 5]).undecided();
}

#[test]
fn t_ei_3_a_second_timeout_does_not_overwrite_the_first_one_s_timestamp() {
    let mut s = timed_out();
    s.timeout().expect([1]).ssthresh(3);
    assert_eq!(s.clock(), 130);
    s.echoing(50).ack(1).expect([2, 3]).verdict(Verdict::Genuine);

    let mut s = timed_out();
    s.timeout().expect([1]);
    s.echoing(10).ack(1).expect([7, 8]).undecided();
    s.echoing(10).ack(2).expect_nothing().verdict(Verdict::Spurious).cwnd(6.0).ssthresh(8);
}

#[test]
fn t_ei_3_the_timeout_of_another_segment_has_a_timestamp_of_its_own() {
    let mut s = timed_out();
    s.echoing(10).ack(1).expect([7, 8]);
    s.timeout().expect([2]);
    assert!(s.clock() > 51);
    // Older than this retransmission, though not than the first.
    s.echoing(51).ack(2).expect([9, 10]).undecided();
    s.echoing(51).ack(3).expect_nothing().verdict(Verdict::Spurious);
}

#[test]
fn t_ei_4_all_acknowledgments_lost_and_all_delivered() {
    // Nothing is restored before the receiver has answered again.
    let mut s = timed_out();
    s.echoing(10).ack(6).expect([7, 8]).undecided().cwnd(2.0);
    s.echoing(60).ack(7).expect(9..=13).verdict(Verdict::Spurious).cwnd(6.0);
}

#[test]
fn t_ei_5_all_acknowledgments_and_the_last_segment_lost() {
    // No false positive here, and no fast retransmit: 6 is retransmitted at once.
    let mut s = timed_out();
    s.echoing(10).ack(5).expect([7, 8]).undecided();
    s.echoing(10).ack(5).expect([6]).verdict(Verdict::Genuine).cwnd(3.0).ssthresh(3);
    s.echoing(10).ack(5).expect_nothing().fast_retransmits(0);
}

#[test]
fn a_duplicate_before_the_first_decides_nothing() {
    let mut s = timed_out();
    s.echoing(10).ack(0).expect_nothing().undecided().cwnd(1.0);
    s.echoing(10).ack(1).expect([7, 8]).undecided();
    s.echoing(10).ack(2).expect_nothing().verdict(Verdict::Spurious);
}

#[test]
fn without_new_data_it_falls_back_to_go_back_n() {
    let mut s = setup().segments(6).sent(1..=6);
    s.timeout().expect([1]);
    let inconclusive = Verdict::Inconclusive(Reason::NothingNewToSend);
    s.echoing(10).ack(1).expect([2, 3]).verdict(inconclusive).cwnd(2.0);
}

#[test]
fn a_response_that_restores_nothing_falls_back_to_go_back_n() {
    let mut s = Script::sender("newreno+eifel:forward:none").cwnd(6).sent(1..=6);
    s.timeout().expect([1]);
    s.echoing(0).ack(1).expect([7, 8]);
    s.echoing(0).ack(2).expect([3, 4, 5]).verdict(Verdict::Spurious).cwnd(3.0);
}

/// Of eight segments 1 to 3 arrive and 4 to 8 are lost, as are all acknowledgments and the first
/// retransmission of 1; the second one arrives, and the receiver answers it.
fn after_the_chain(spec: &str) -> (End, End, Vec<Segment>) {
    let mut config = base();
    config.timestamps = true;
    config.window.initial = InitialWindow::Segments(8);
    config.recovery.sack.outstanding = Outstanding::Classic;
    let (mut sender, mut receiver) =
        connected(&specification::sender(spec, &config).unwrap(), &config, 10);
    sender.connection.write(1_000_000);
    for segment in &sender.sends(10)[..3] {
        receiver.answers(segment, 20);
    }
    let first = sender.timer();
    sender.sends_one(first);
    let second = sender.timer();
    let again = sender.sends_one(second);
    let answer = receiver.answers(&again, second + 50)[0];
    let left = sender.answers(&answer, second + 100);
    (sender, receiver, left)
}

#[test]
fn t_ei_chain_the_second_acknowledgment_reveals_the_duplicate() {
    let numbers = |left: &[Segment]| left.iter().map(|s| number_of(s.seq)).collect::<Vec<_>>();
    let (.., left) = after_the_chain("sack:rfc3517+eifel");
    assert_eq!(numbers(&left), [9, 10, 11]);
    // Two new segments leave instead. The answer to the first is a duplicate, so the lost segment
    // is retransmitted at once, and no third timeout is needed.
    let (mut sender, mut receiver, left) = after_the_chain("sack:rfc3517+eifel:forward");
    assert_eq!(numbers(&left), [9, 10]);
    let duplicate = receiver.answers(&left[0], 4000)[0];
    let left = sender.answers(&duplicate, 4050);
    assert_eq!(numbers(&left), [4, 5, 6]);
    let window = sender.connection.sender().window();
    assert_eq!((window.cwnd(), window.ssthresh()), (3000, 4000));
}
