//! Linux without SACK (`tcp_process_loss`, `tcp_try_undo_recovery`, `tcp_newreno_mark_lost`).

use crate::script::{Script, Setup};
use rtolab_tcp::config::{AfterSyn, PrrBound, RackRules, Reduction, Sampling};
use rtolab_tcp::spurious::Verdict;

/// Linux with timestamps, whose peer does not offer SACK. A round trip of 100 ms is known.
fn without_sack() -> Setup {
    let setup = Script::sender("newreno+frto:linux+undo:linux").cwnd(10).handshake_takes(100);
    setup.set(|config| {
        (config.timestamps, config.rto.sampling) = (true, Sampling::Linux);
        config.window.after_syn = AfterSyn::Linux;
        config.recovery.rack.rules = RackRules::Linux;
        config.recovery.reduction = Reduction::Prr(PrrBound::Linux);
    })
}

/// The first segment times out, and its original is acknowledged, which undoes the reduction.
/// Returns the TSval of the originals.
fn undone(s: &mut Script) -> u32 {
    let first = s.clock();
    s.timeout().expect([1]);
    let late = s.millis() + 100;
    s.at(late).echoing(first).ack(1).verdict(Verdict::Spurious).take();
    first
}

/// `tcp_try_undo_loss`: an undo by timestamps leaves `TCP_CA_Loss` in place until more than
/// `high_seq` is acknowledged. Until then duplicates start no fast retransmit.
#[test]
fn after_an_undone_timeout_duplicates_start_no_recovery() {
    let mut s = without_sack().segments(30).sent(1..=10);
    let first = undone(&mut s);
    for _ in 0..5 {
        s.echoing(first).ack(1);
        assert!(s.take().iter().all(|segment| *segment > 10));
    }
    s.fast_retransmits(0);
}

/// `tcp_process_loss`, step 3.b of F-RTO: an acknowledgment of original data after an undo by
/// timestamps ends `TCP_CA_Loss`, unless a duplicate came before (step 3.a). From then on
/// duplicates start a fast retransmit.
#[test]
fn original_data_after_an_undo_by_timestamps_ends_the_recovery() {
    for (duplicates_before, recoveries) in [(0, 1), (1, 0)] {
        let mut s = without_sack().segments(40).sent(1..=10);
        let first = undone(&mut s);
        for _ in 0..duplicates_before {
            s.echoing(first).ack(1).take();
        }
        s.echoing(first).ack(2).take();
        for _ in 0..3 {
            s.echoing(first).ack(2).take();
        }
        s.fast_retransmits(recoveries);
    }
}

/// `tcp_add_reno_sack`: each duplicate stands for a delivered segment, so that limited transmit and
/// PRR may send. `tcp_is_non_sack_preventing_reopen`: fast recovery lasts until more than its end
/// is acknowledged, so that duplicates of its retransmissions start no further one.
#[test]
fn recovery_lasts_until_more_than_its_end_is_acknowledged() {
    for (above, recoveries) in [(0, 1), (1, 2)] {
        let mut s = without_sack().segments(60).sent(1..=10);
        // The first one updates the window.
        s.at(200).ack(0).expect_nothing();
        s.ack(0).expect([11]).ack(0).expect([12]).ack(0).expect([1]);
        s.ack(0).expect_nothing().ack(0).expect([13]).fast_retransmits(1);
        let retransmitted = s.clock();
        for _ in 0..4 {
            s.at(300).echoing(retransmitted).ack(12 + above).take();
        }
        s.fast_retransmits(recoveries);
    }
}

/// `tcp_try_undo_partial`: an original that arrives after three duplicates of segments behind it
/// raises the number of duplicates that shows a loss to the segments that its acknowledgment
/// covers. The duplicates that are not covered still count.
#[test]
fn a_partial_acknowledgment_that_undoes_raises_the_reordering() {
    for (covered, needed) in [(2, 1), (3, 2), (6, 6)] {
        let mut s = without_sack().segments(60).sent(1..=10);
        let first = s.clock();
        s.at(200).ack(0).take();
        for _ in 0..3 {
            s.echoing(first).ack(0).take();
        }
        s.fast_retransmits(1).echoing(first).ack(covered).verdict(Verdict::Spurious).take();
        for _ in 1..needed {
            s.echoing(first).ack(covered).take();
        }
        s.fast_retransmits(1).echoing(first).ack(covered).take();
        s.fast_retransmits(2);
    }
}

/// `tcp_may_update_window`: the sequence number of the first acknowledgment is above that of the
/// SYN-ACK, so that it updates the window and is no duplicate. One of new data does so as well.
#[test]
fn the_first_acknowledgment_is_no_duplicate() {
    for acked in [0, 1] {
        let mut s = without_sack().segments(60).sent(1..=10);
        s.at(200).ack(acked).take();
        for _ in 0..2 {
            s.ack(acked).take();
        }
        s.fast_retransmits(0).ack(acked).take();
        s.fast_retransmits(1);
    }
}

/// `tcp_timeout_mark_lost`: a timeout marks all outstanding segments lost, so that slow start
/// retransmits them in order.
#[test]
fn slow_start_after_a_timeout_retransmits_all_outstanding_segments() {
    let setup = without_sack().set(|config| config.frto = None);
    let mut s = setup.segments(10).sent(1..=10);
    s.timeout().expect([1]).outstanding(1);
    let at = s.millis();
    s.at(at + 100).ack(1).expect([2, 3]);
    s.at(at + 200).ack(3).expect(4..=6);
    s.at(at + 300).ack(6).expect(7..=10);
}

/// `tcp_enter_loss` for a SYN, and `tcp_try_undo_recovery`: after a timeout of the SYN a connection
/// begins in `TCP_CA_Loss`. Until more than the SYN is acknowledged, duplicates release nothing and
/// start no fast retransmit, and a timeout does not begin F-RTO.
#[test]
fn a_connection_begins_in_loss_after_a_timeout_of_the_syn() {
    for (timeouts, recoveries, after_timeout) in [(0, 1, vec![11, 12]), (1, 0, vec![2, 3])] {
        let mut s = without_sack().syn_timeouts(timeouts).segments(40).sent(1..=10);
        s.timeout().expect([1]);
        s.ack(1).expect(after_timeout);
        let mut s = without_sack().syn_timeouts(timeouts).segments(40).sent(1..=10);
        for _ in 0..4 {
            s.ack(0).take();
        }
        s.fast_retransmits(recoveries);
    }
}

/// `tcp_enter_loss` reduces the window as it is (`tcp_snd_cwnd`), although the state of fast
/// recovery outlasts its end: an undo has restored ten segments.
#[test]
fn a_timeout_after_an_undone_recovery_starts_from_the_restored_window() {
    let mut s = without_sack().segments(60).sent(1..=10);
    let first = s.clock();
    s.at(200).ack(0).take();
    for _ in 0..3 {
        s.echoing(first).ack(0).take();
    }
    s.fast_retransmits(1).echoing(first).ack(12).verdict(Verdict::Spurious).take();
    let cwnd = s.connection.sender().window().cwnd() / 1000;
    s.timeout().ssthresh(cwnd as u32 / 2);
}
