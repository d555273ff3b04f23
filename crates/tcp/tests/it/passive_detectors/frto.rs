//! F-RTO as a passive detector, in all its variants.

use rtolab_tcp::spurious::{Reason, Verdict};
use rtolab_tcp::{Flags, Segment, Seq};

use Verdict::{Genuine, Inconclusive, Open, Spurious};

use super::observed::{ObservedSender, gone_back_n, instant, start_of};

#[test]
fn t_fr_1_where_the_sender_does_what_f_rto_would() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.ack(1100, 1).sends(1100, 7..=8);
    assert_eq!(observed.decision("frto"), None);
    observed.ack(1101, 2);
    assert_eq!(observed.decision("frto"), Some((Spurious, 1101)));
}

#[test]
fn t_fr_1_go_back_n_makes_the_detector_inconclusive() {
    assert_eq!(gone_back_n().decision("frto"), Some((Inconclusive(Reason::SenderDeviated), 1101)));
    // So does a sender that sends nothing.
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.ack(1100, 1).ack(1101, 2);
    assert_eq!(observed.decision("frto"), Some((Inconclusive(Reason::SenderDeviated), 1101)));
}

#[test]
fn t_fr_2_and_3_a_duplicate_means_a_loss() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).ack(900, 0).timeout(1000, 1);
    observed.ack(1100, 0);
    assert_eq!(observed.decision("frto"), Some((Genuine, 1100)));

    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.ack(1100, 1).sends(1100, 7..=8).ack(1200, 1);
    assert_eq!(observed.decision("frto"), Some((Genuine, 1200)));
}

#[test]
fn t_fr_8_an_ack_that_is_neither_new_nor_a_duplicate_decides_nothing() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.ack(1100, 1).sends(1100, 7..=8);
    let mut update = Segment::new(Seq::FIRST, 0, Flags::ACK);
    (update.ack, update.window) = (start_of(2), 50_000);
    observed.detectors.on_ack(&update, instant(1150));
    observed.ack(1200, 2);
    assert_eq!(observed.decision("frto"), Some((Spurious, 1200)));
}

#[test]
fn t_fr_9_and_10_another_timeout_begins_f_rto_again() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6);
    assert_eq!(observed.timeout(1000, 1), 0);
    assert_eq!(observed.timeout(3000, 1), 0);
    observed.ack(3100, 1).sends(3100, 7..=8);
    // The next segment times out: another episode, and the first ends without a verdict.
    assert_eq!(observed.timeout(7100, 2), 1);
    assert_eq!(observed.decision("frto"), Some((Open, 7100)));
    observed.ack(7200, 2).sends(7200, 9..=10).ack(7201, 3);
    assert_eq!(observed.decision("frto"), Some((Spurious, 7201)));
}

/// The detectors that distinguish the variants of F-RTO.
const VARIANTS: [&str; 6] =
    ["frto", "frto:rfc4138", "frto:rfc5682", "frto:rfc5682-sack", "frto:linux", "frto:ns2"];

#[test]
fn t_fr_4_variants_of_f_rto_differ_on_a_retransmission_that_fills_the_only_hole() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.ack(1100, 6).sends(1100, 7..=8).ack(1200, 7);
    assert_eq!(observed.decision("frto"), Some((Spurious, 1200)), "the report has no step 2 a");
    for variant in &VARIANTS[1..] {
        assert_eq!(observed.decision(variant), Some((Genuine, 1100)), "{variant}");
    }
}

#[test]
fn t_fr_10_variants_of_f_rto_differ_on_a_timeout_while_one_recovers() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.ack(1100, 1).sends(1100, 7..=8).timeout(3000, 2);
    observed.ack(3100, 2).sends(3100, 9..=10).ack(3101, 3);
    for variant in ["frto", "frto:rfc4138", "frto:ns2"] {
        assert_eq!(observed.decision(variant), Some((Spurious, 3101)), "{variant}");
    }
    for variant in ["frto:rfc5682", "frto:rfc5682-sack", "frto:linux"] {
        assert_eq!(
            observed.decision(variant),
            Some((Inconclusive(Reason::AlreadyRecovering), 3100)),
            "{variant}"
        );
    }
}

#[test]
fn each_variant_of_f_rto_is_inconclusive_on_a_sender_with_go_back_n() {
    let mut observed = gone_back_n();
    for variant in VARIANTS {
        assert_eq!(
            observed.decision(variant),
            Some((Inconclusive(Reason::SenderDeviated), 1101)),
            "{variant}"
        );
    }
    // The recovery that it started is still in progress when the timer expires again.
    observed.sends(1200, 8..=9).timeout(3000, 7);
    observed.ack(3100, 7).sends(3100, 10..=11).ack(3101, 8);
    assert_eq!(
        observed.decision("frto:rfc5682"),
        Some((Spurious, 3101)),
        "all of it was acknowledged"
    );
}
