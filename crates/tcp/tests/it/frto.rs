//! F-RTO as in report C-2002-07 section 3: six segments outstanding, plenty of new data.
//!
//! T-FR-12 to T-FR-14 belong to other variants of F-RTO. T-FR-16 is in `wrap.rs`, because sequence
//! numbers wrap on the wire only.

use crate::script::pair::connected;
use crate::script::{Script, base, start_of};
use rtolab_tcp::config::RecoverOnUndo;
use rtolab_tcp::specification;
use rtolab_tcp::spurious::{Reason, Verdict};

const INCONCLUSIVE: Verdict = Verdict::Inconclusive(Reason::NothingNewToSend);

fn six_outstanding() -> Script {
    Script::sender("newreno+frto").cwnd(6).sent(1..=6)
}

#[test]
fn t_fr_1_a_spurious_timeout_costs_one_retransmission() {
    let mut s = six_outstanding();
    s.timeout().expect([1]).cwnd(6.0).ssthresh(3);
    s.ack(1).expect([7, 8]).cwnd(3.0).undecided();
    s.ack(2).expect_nothing().verdict(Verdict::Spurious).cwnd(3.33);
    s.ack(3).expect_nothing().cwnd(3.63);
    s.ack(4).expect_nothing().cwnd(3.91);
    s.ack(5).expect([9]).cwnd(4.16);
    s.ack(6).expect([10]);
    s.ack(6).expect_nothing();
    s.ack(7).expect([11]).ssthresh(3).fast_retransmits(0);
}

#[test]
fn t_fr_1_the_second_acknowledgment_ends_the_backoff() {
    let mut s = six_outstanding();
    s.timeout().expect([1]).rto(2000);
    s.ack(1).expect([7, 8]).rto(2000);
    // A sample of 1 s, from segment 2, which was sent once: SRTT is 1/8 s and RTTVAR 1/4 s.
    s.ack(2).expect_nothing().rto(1125);
}

#[test]
fn t_fr_2_a_duplicate_first_falls_back_to_go_back_n() {
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.ack(0).expect_nothing().verdict(Verdict::Genuine).cwnd(1.0);
    s.ack(6).expect([7, 8]).cwnd(2.0);
}

#[test]
fn t_fr_3_a_duplicate_second_starts_go_back_n_with_three_segments() {
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.ack(1).expect([7, 8]).cwnd(3.0);
    s.ack(1).expect([2, 3, 4]).verdict(Verdict::Genuine).cwnd(3.0);
    // The duplicate of segment 8, and any further ones, start no fast retransmit below send_high.
    for _ in 0..4 {
        s.ack(1).expect_nothing().fast_retransmits(0);
    }
    s.ack(2).expect([5]).cwnd(3.33);
    s.ack(3).expect([6]);
    // The two new segments left after the timeout, so go-back-N does not retransmit them.
    s.ack(4).expect_nothing();
    s.ack(5).expect([9]);
    s.ack(8).expect([10, 11, 12]).fast_retransmits(0);
}

#[test]
fn t_fr_4_an_acknowledgment_of_everything_counts_as_the_first() {
    // Segment 1 was lost and the retransmission arrived. RFC 4138 and RFC 5682 would fall back to
    // slow start here (step 2 a); the report has no such test, and continues with half the window.
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.ack(6).expect([7, 8]).cwnd(3.0).undecided();
    s.ack(7).expect([9, 10]).verdict(Verdict::Spurious).cwnd(3.33);
}

#[test]
fn t_fr_4_the_lost_window_needs_no_more_retransmissions() {
    // Step 3 ii retransmits the unacknowledged segments "similarly to the conventional recovery",
    // because one of the last window must be lost. Here none of it is outstanding, only the two new
    // segments are, and a conventional sender would not retransmit those for a duplicate.
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.ack(6).expect([7, 8]).cwnd(3.0);
    s.ack(6).expect([9]).verdict(Verdict::Genuine).cwnd(3.0);
    s.timeout().expect([7]).ssthresh(2);
}

#[test]
fn t_fr_5_without_new_data_it_falls_back_to_go_back_n() {
    let mut s = Script::sender("newreno+frto").cwnd(6).segments(6).sent(1..=6);
    s.timeout().expect([1]);
    s.ack(1).expect([2, 3]).verdict(INCONCLUSIVE).cwnd(2.0);
}

#[test]
fn t_fr_5_with_a_full_advertised_window_it_falls_back_to_go_back_n() {
    let mut s = Script::sender("newreno+frto").cwnd(6).offered(6).sent(1..=6);
    s.timeout().expect([1]);
    s.offering(5).ack(1).expect([2, 3]).verdict(INCONCLUSIVE).cwnd(2.0);
}

#[test]
fn t_fr_5_one_new_segment_is_enough() {
    let mut s = Script::sender("newreno+frto").cwnd(6).segments(7).sent(1..=6);
    s.timeout().expect([1]);
    s.ack(1).expect([7]).undecided().cwnd(3.0);
    s.ack(2).expect_nothing().verdict(Verdict::Spurious);

    let mut s = Script::sender("newreno+frto").cwnd(6).offered(6).sent(1..=6);
    s.timeout().expect([1]);
    s.offering(6).ack(1).expect([7]).undecided();
    s.ack(1).expect([2, 3, 4]).verdict(Verdict::Genuine);
}

#[test]
fn t_fr_6_the_flight_begins_at_the_rolled_back_snd_nxt() {
    // The engine counts from SND.UNA to the rolled-back SND.NXT: three may leave. A sender that
    // counts all that is outstanding and not SACKed, as Linux does, has segment 8 in the network
    // and sends two.
    let mut s = Script::sender("sack+frto").cwnd(6).sent(1..=6);
    s.timeout().expect([1]);
    s.ack(1).expect([7, 8]).cwnd(3.0);
    s.sacks(1, [7..=7]).expect([2, 3, 4]).verdict(Verdict::Genuine).cwnd(3.0).outstanding(3);
    s.sacks(1, [7..=8]).expect_nothing();
    s.sacks(2, [7..=8]).expect([5]);
    s.sacks(3, [7..=8]).expect([6]);
    // With SACK nothing that arrived is retransmitted: 7 and 8 are skipped.
    s.sacks(4, [7..=8]).expect([9]).outstanding(3);
}

#[test]
fn t_fr_7_a_jump_of_the_second_acknowledgment_sends_what_the_window_allows() {
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.ack(1).expect([7, 8]);
    s.ack(5).expect_nothing().verdict(Verdict::Spurious).cwnd(3.33);
}

#[test]
fn t_fr_7_a_jump_sends_a_burst_of_at_most_three() {
    let setup = Script::sender("newreno+frto").cwnd(20);
    let mut s = setup.set(|config| config.window.max_burst = Some(3)).sent(1..=20);
    s.timeout().expect([1]).ssthresh(10);
    s.ack(1).expect([21, 22]).cwnd(10.0);
    s.ack(18).expect([23, 24, 25]).verdict(Verdict::Spurious).cwnd(7.0);
    // That is below ssthresh, so slow start follows.
    s.ack(19).expect([26, 27]).cwnd(8.0);
}

#[test]
fn t_fr_8_a_window_update_is_no_evidence() {
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.offering(55).ack(0).expect_nothing().undecided().cwnd(6.0);
    s.ack(1).expect([7, 8]).undecided();
    s.offering(50).ack(1).expect_nothing().undecided().cwnd(3.0);
    s.ack(2).expect_nothing().verdict(Verdict::Spurious);
}

#[test]
fn t_fr_9_another_timeout_before_the_first_acknowledgment() {
    let mut s = six_outstanding();
    s.timeout().expect([1]).ssthresh(3).rto(2000);
    s.timeout().expect([1]).ssthresh(3).rto(4000).cwnd(6.0);
    s.ack(1).expect([7, 8]).cwnd(3.0);
    s.ack(2).expect_nothing().verdict(Verdict::Spurious);
}

#[test]
fn t_fr_10_another_timeout_before_the_second_acknowledgment() {
    let mut s = six_outstanding();
    s.timeout().expect([1]).ssthresh(3);
    s.ack(1).expect([7, 8]);
    // Seven are outstanding now, 2 to 8: half of them, rounded down. RFC 5682 would not restart
    // F-RTO here; the report enters it at every timeout.
    s.timeout().expect([2]).ssthresh(3).cwnd(3.0);
    s.ack(2).expect([9, 10]).undecided().cwnd(3.0);
    s.ack(3).expect_nothing().verdict(Verdict::Spurious);
}

#[test]
fn t_fr_11_an_ack_of_part_of_the_segment_counts() {
    // RFC 4138 and RFC 5682 require an ACK of the whole retransmission; the report does not.
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    let half = s.pure_ack(start_of(1) + 500);
    s.arrives(&half).expect([7, 8]).undecided().cwnd(3.0);
    s.ack(1).expect_nothing().verdict(Verdict::Spurious);
}

#[test]
fn t_fr_15_a_receiver_that_delays_acknowledgments() {
    let mut s = six_outstanding();
    s.timeout().expect([1]);
    s.ack(2).expect([7, 8]).undecided().cwnd(3.0);
    s.ack(4).expect_nothing().verdict(Verdict::Spurious).cwnd(3.33);
}

/// Three timeouts of segment 1 within one spike, found spurious; then all originals arrive, and
/// three duplicates for the three retransmissions.
fn three_timeouts_in_one_spike(recover: RecoverOnUndo) -> Script {
    let setup = Script::sender("newreno+frto").cwnd(6);
    let mut s = setup.set(|config| config.recover_on_undo = recover).sent(1..=6);
    for _ in 0..3 {
        s.timeout().expect([1]);
    }
    s.ack(1).expect([7, 8]).cwnd(3.0);
    s.ack(2).expect_nothing().verdict(Verdict::Spurious);
    s.ack(3).expect_nothing();
    s.ack(4).expect_nothing();
    s.ack(5).expect([9]);
    s.ack(6).expect([10]).cwnd(4.40);
    s.ack(6).expect_nothing();
    s.ack(6).expect_nothing();
    s.ack(6);
    s
}

#[test]
fn t_fr_17_three_retransmissions_start_a_spurious_fast_retransmit() {
    // "Only one segment was retransmitted" (the report, section 3) does not hold here, and without
    // send_high three duplicates are enough: four more retransmissions, all unneeded.
    let mut s = three_timeouts_in_one_spike(RecoverOnUndo::Reset);
    s.expect([7, 11]).fast_retransmits(1).ssthresh(2).cwnd(5.0);
    s.ack(7).expect([8, 12]);
    s.ack(8).expect([9, 13]);
    s.ack(9).expect([10, 14]);
    s.ack(10).expect_nothing().cwnd(2.0);
}

#[test]
fn t_fr_17_with_send_high_kept_they_do_not() {
    let mut s = three_timeouts_in_one_spike(RecoverOnUndo::Keep);
    s.expect_nothing().fast_retransmits(0);
    s.ack(7).expect([11]);
}

/// The peer's acknowledgment and its data arrive at once, before the new segments are sent. The
/// data repeats the acknowledgment number, and reports nothing.
#[test]
fn data_of_the_peer_leaves_the_two_new_segments_permitted() {
    for spec in ["reno+frto", "sack+frto"] {
        let config = specification::sender(spec, &base()).expect("valid");
        let (mut a, mut b) = connected(&config, &config, 0);
        a.connection.write(1000);
        let first = a.sends_one(0);
        let expiry = a.timer();
        a.sends_one(expiry);
        a.connection.write(100_000);
        let answers = b.answers(&first, expiry + 1);
        b.connection.write(10);
        let [data] = &b.sends(expiry + 1)[..] else { panic!("{spec}: no data") };
        for segment in answers.iter().chain([data]) {
            a.gets(segment, expiry + 1);
        }
        let sent = a.sends(expiry + 1);
        assert_eq!(sent.iter().filter(|segment| segment.len > 0).count(), 2, "{spec}");
    }
}
