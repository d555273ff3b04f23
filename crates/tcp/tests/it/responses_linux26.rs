//! The responses of Linux 2.6 to a spurious timeout, and one that counts timeouts.

use crate::responses::{SPURIOUS, found_at_the_first, ten_outstanding};
use crate::script::{Script, end_of};
use rtolab_tcp::Flags;

#[test]
fn rate_halving_sends_a_segment_for_every_second_acknowledgment() {
    let mut s = found_at_the_first("linux2.6:halving");
    s.expect([11]).cwnd(10.0).ssthresh(5);
    for (number, sent, cwnd) in [
        (2, None, 9.0),
        (3, Some(12), 9.0),
        (4, None, 8.0),
        (5, Some(13), 8.0),
        (6, None, 7.0),
        (7, Some(14), 7.0),
        (8, None, 6.0),
        (9, Some(15), 6.0),
        (10, None, 5.0),
    ] {
        s.echoing(10).ack(number).expect(sent).cwnd(cwnd).ssthresh(5);
    }
    // SND.UNA passes the data that was outstanding: rate halving ends, and the window grows again.
    s.ack(11).expect([16]).cwnd(5.0);
    s.ack(12).expect([17]).cwnd(5.2);
}

#[test]
fn rate_halving_begins_at_the_flight_of_f_rto() {
    let mut s = ten_outstanding("newreno+frto+linux2.6:halving");
    s.timeout().expect([1]);
    s.ack(1).expect([11, 12]);
    s.ack(2).expect([13]).verdict(SPURIOUS).cwnd(11.0).ssthresh(5);
    s.ack(3).expect_nothing().cwnd(10.0);
}

#[test]
fn rate_halving_stops_at_half_of_ssthresh() {
    let mut s = found_at_the_first("linux2.6:halving");
    s.expect([11]);
    // Little is outstanding: the window is the outstanding data and one segment.
    s.echoing(10).ack(9).expect([12]).cwnd(3.0);
    s.echoing(10).ack(10).expect([13]).cwnd(3.0);
    s.ack(11).expect([14]).cwnd(3.0);
}

#[test]
fn a_loss_during_rate_halving_does_not_halve_twice() {
    let mut s = found_at_the_first("linux2.6:halving");
    s.expect([11]);
    s.echoing(10).ack(1).echoing(10).ack(1).expect_nothing();
    s.echoing(10).ack(1).fast_retransmits(1).ssthresh(5).expect([2]);
}

#[test]
fn a_timeout_ends_rate_halving() {
    let mut s = found_at_the_first("linux2.6:halving");
    s.expect([11]);
    s.timeout().expect([2]).cwnd(1.0);
    s.ack(11).expect([12, 13]).cwnd(2.0);
}

#[test]
fn the_conservative_response_halves_at_once() {
    let mut s = found_at_the_first("linux2.6:conservative");
    s.expect_nothing().cwnd(5.2).ssthresh(5);
    s.echoing(10).ack(5).expect_nothing();
    s.echoing(10).ack(6).expect([11]);
}

#[test]
fn the_conservative_response_moderates_the_burst() {
    let mut s = ten_outstanding("newreno+eifel+linux2.6:conservative");
    s.timeout().expect([1]);
    // One is outstanding and three more may be, plus one for the acknowledged data.
    s.echoing(10).ack(9).verdict(SPURIOUS).expect(11..=14).cwnd(5.0).ssthresh(5);
}

#[test]
fn undo_doubles_the_halved_window() {
    found_at_the_first("linux2.6:undo").expect([11, 12]).cwnd(11.0).ssthresh(20);
}

#[test]
fn undo_keeps_three_quarters_of_the_window_in_ssthresh() {
    let setup = Script::sender("newreno+eifel+linux2.6:undo").cwnd(12).ssthresh(4);
    let mut s = setup.rto_of(40).at_millis(10).sent(1..=12);
    s.timeout().expect([1]).ssthresh(6);
    s.echoing(10).ack(1).verdict(SPURIOUS).cwnd(12.08).ssthresh(9).expect([13]);
}

#[test]
fn undo_uses_rate_halving_if_ece_arrives() {
    let mut s = ten_outstanding("newreno+eifel+linux2.6:undo");
    s.timeout().expect([1]);
    let mut ack = s.echoing(10).pure_ack(end_of(1));
    ack.flags |= Flags::ECE;
    s.arrives(&ack).expect([11]).verdict(SPURIOUS).cwnd(10.0).ssthresh(5);
    s.echoing(10).ack(2).expect_nothing().cwnd(9.0);
}

#[test]
fn full_scaled_restores_less_after_more_timeouts() {
    // Timeouts; window and ssthresh after the first acknowledgment; the segments that it releases.
    for (timeouts, cwnd, ssthresh, released) in
        [(1, 10.0, 20, Some(11)), (2, 5.0, 5, None), (3, 2.0, 5, None), (4, 2.0, 5, None)]
    {
        let mut s = ten_outstanding("newreno+eifel+full:scaled");
        for _ in 0..timeouts {
            s.timeout().expect([1]);
        }
        s.echoing(10).ack(1).expect(released).verdict(SPURIOUS).cwnd(cwnd).ssthresh(ssthresh);
        // In no case is anything retransmitted.
        s.echoing(10).ack(9);
        assert!(s.take().iter().all(|number| *number > 10), "{timeouts}");
    }
}
