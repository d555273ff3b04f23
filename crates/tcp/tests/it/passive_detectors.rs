//! Passive detectors, which receive the segments, the acknowledgments and the timeouts of a
//! capture. Segments are numbered from 1; times are in milliseconds.

#[path = "passive_detectors/dsack.rs"]
mod dsack;
#[path = "passive_detectors/frto.rs"]
mod frto;
#[path = "passive_detectors/observed.rs"]
mod observed;

use observed::{ObservedSender, SEGMENT, goes_back, gone_back_n, hiccup, instant, start_of};
use proptest::prelude::*;
use rtolab_tcp::spurious::{DETECTORS, DetectorId, PassiveDetectors, Reason, Verdict};
use rtolab_tcp::{Cause, Flags, Segment, Seq, Timestamps};

use Verdict::{Genuine, Inconclusive, Open, Spurious};

#[test]
fn t_dr_1_an_acknowledgment_within_a_tenth_of_the_smallest_round_trip() {
    let mut observed = hiccup(DetectorId::all());
    observed.ack(42_899, 2).sends(42_899, 3..=4);
    assert_eq!(observed.decision("dualrtt"), None, "762 ms are no evidence");
    observed.ack(42_991, 3);
    assert_eq!(observed.decision("dualrtt"), Some((Spurious, 42_991)));
}

#[test]
fn t_dr_2_a_smaller_threshold_misses_it() {
    let by = |name: &str| {
        let mut observed = hiccup([name.parse().unwrap()]);
        goes_back(&mut observed);
        observed.verdict(name)
    };
    assert_eq!(by("dualrtt:0.025"), None);
    assert_eq!(by("dualrtt:0.033"), Some(Spurious));
}

#[test]
fn t_dr_3_a_loss_takes_a_round_trip_to_repair() {
    let mut observed = hiccup(DetectorId::all());
    observed.ack(44_937, 2).sends(44_937, 3..=4);
    observed.ack(47_737, 3).ack(47_829, 4).sends(47_829, 5..=22);
    assert_eq!(observed.decision("dualrtt"), None);
    observed.ack(50_700, 22);
    assert_eq!(observed.verdict("dualrtt"), Some(Open), "the episode has ended");
}

#[test]
fn t_dr_4_a_cumulative_ack_of_several_hides_it() {
    let mut observed = hiccup(DetectorId::all());
    observed.ack(42_899, 6).sends(42_899, 7..=8);
    assert_eq!(observed.decision("dualrtt"), None);
}

#[test]
fn t_dr_5_a_cumulative_ack_of_two_hides_it() {
    let mut observed = hiccup(DetectorId::all());
    observed.ack(42_899, 3);
    assert_eq!(observed.decision("dualrtt"), None);
}

#[test]
fn t_dr_6_the_first_acknowledgment_may_decide() {
    let mut observed = hiccup(DetectorId::all());
    observed.ack(42_237, 2);
    assert_eq!(observed.decision("dualrtt"), Some((Spurious, 42_237)));
}

#[test]
fn without_a_round_trip_dualrtt_is_inconclusive() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=1).timeout(1000, 1);
    observed.ack(1001, 1);
    assert_eq!(observed.verdict("dualrtt"), Some(Inconclusive(Reason::NoRoundTrip)));
}

#[test]
fn t_ei_1_to_3_an_older_echo() {
    for (echo, verdict) in [(10, Spurious), (1000, Genuine), (3000, Genuine)] {
        let mut observed = ObservedSender::new().with_timestamps();
        observed.sends(10, 1..=6).timeout(1000, 1);
        // The second timeout does not overwrite the first.
        observed.timeout(3000, 1);
        observed.echo(3100, 1, echo);
        assert_eq!(observed.decision("eifel"), Some((verdict, 3100)), "{echo}");
    }
}

#[test]
fn t_ei_5_all_acknowledgments_and_the_last_segment_lost() {
    let mut observed = ObservedSender::new().with_timestamps();
    observed.sends(10, 1..=6).timeout(1000, 1);
    observed.echo(1100, 5, 10);
    assert_eq!(observed.verdict("eifel"), Some(Spurious), "which is wrong");
    assert_eq!(observed.verdict("eifel:rfc3522"), Some(Spurious), "and the guard does not help");
}

#[test]
fn t_ei_4_all_acknowledgments_lost_and_all_delivered() {
    // The variant of 2000 attributes the answer to the duplicate to the original. RFC 3522 does not
    // if the acknowledgment covers everything.
    let mut observed = ObservedSender::new().with_timestamps();
    observed.sends(10, 1..=6).timeout(1000, 1);
    observed.echo(1100, 6, 10);
    assert_eq!(
        (observed.verdict("eifel"), observed.verdict("eifel:rfc3522")),
        (Some(Spurious), Some(Genuine))
    );

    // The same holds if the acknowledgment has a D-SACK.
    let mut observed = ObservedSender::new().with_timestamps();
    observed.sends(10, 1..=6).timeout(1000, 1);
    observed.acks(1100, 5, Some(10), [1..=1]);
    assert_eq!(observed.verdict("eifel:rfc3522"), Some(Genuine));

    // If the peer reports duplicates, no report means no duplicate.
    observed.ack(1200, 6).sends(2000, 7..=8).timeout(3000, 7);
    observed.echo(3100, 8, 2000);
    assert_eq!(observed.decision("eifel:rfc3522"), Some((Spurious, 3100)));
}

#[test]
fn t_ei_7_a_spurious_fast_retransmit() {
    let mut observed = ObservedSender::new().with_timestamps();
    observed.sends(10, 1..=4);
    observed.echo(100, 0, 9).echo(100, 0, 9).echo(100, 0, 9);
    assert_eq!(observed.fast_retransmit(100, 1), 0);
    observed.sends(104, 5..=5).echo(105, 4, 10);
    assert_eq!(observed.decision("eifel"), Some((Spurious, 105)));
    assert_eq!(observed.decision("eifel:rfc3522"), Some((Spurious, 105)));
    assert_eq!(observed.decision("frto"), Some((Inconclusive(Reason::NotATimeout), 105)));
    assert_eq!(observed.decision("dualrtt"), Some((Inconclusive(Reason::NotATimeout), 105)));
}

#[test]
fn eifel_is_inconclusive_without_timestamps() {
    let mut observed = gone_back_n();
    assert_eq!(observed.decision("eifel"), Some((Inconclusive(Reason::NoTimestamps), 1100)));
    observed.sends(1250, 8..=8);
}

#[test]
fn an_original_is_evidence_for_any_sender() {
    // The sender performs go-back-N, but segment 3 is acknowledged before it is retransmitted.
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.ack(1100, 1).sends(1100, 2..=2);
    assert_eq!(observed.decision("originals"), None);
    // Without SACK the acknowledgment of both may be one of the retransmission alone.
    observed.ack(1101, 3);
    assert_eq!(observed.decision("originals"), None);
    observed.ack(1102, 4);
    assert_eq!(observed.decision("originals"), Some((Spurious, 1102)));

    // Everything was retransmitted: there is no evidence.
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=3).timeout(1000, 1);
    observed.ack(1100, 1).sends(1100, 2..=3).ack(1200, 3);
    assert_eq!(observed.decision("originals"), Some((Genuine, 1200)));

    // A report before the timeout is not evidence.
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=4).sacks(100, 0, [3..=3]).timeout(1000, 1);
    observed.ack(1100, 1).sends(1100, 2..=2).ack(1200, 3);
    assert_eq!(observed.decision("originals"), None);
    observed.ack(1201, 4);
    assert_eq!(observed.decision("originals"), Some((Spurious, 1201)));
}

#[test]
fn the_timeout_after_a_verdict_is_a_new_episode() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).ack(900, 1).sends(900, 7..=7);
    assert_eq!(observed.timeout(1000, 2), 0);
    observed.ack(1100, 1);
    assert_eq!(observed.decision("frto"), Some((Genuine, 1100)));
    assert_eq!(observed.timeout(3000, 2), 1);
    assert_eq!(observed.decision("dualrtt"), Some((Open, 3000)));
}

#[test]
fn a_retransmission_of_several_segments_counts_as_each_of_them() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=4);
    observed.detectors.timeout(start_of(1), instant(1000));
    let both = Segment::new(start_of(1), 2 * SEGMENT, Flags::ACK);
    observed.detectors.sent(&both, instant(1000), Cause::Unknown);
    observed.ack(1100, 4).sacks(1101, 4, [1..=1]);
    assert_eq!(observed.decision("dsack"), None);
    observed.sacks(1102, 4, [2..=2]);
    assert_eq!(observed.decision("dsack"), Some((Spurious, 1102)));
}

#[test]
fn a_syn_is_inconclusive_for_every_detector() {
    let mut observed = ObservedSender::new().with_timestamps();
    observed.detectors = PassiveDetectors::new(DetectorId::all(), Seq::FIRST);
    let syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
    observed.detectors.sent(&syn, instant(0), Cause::New);
    observed.detectors.timeout(Seq::FIRST, instant(1000));
    observed.detectors.sent(&syn, instant(1000), Cause::Timeout);
    observed.collect_verdicts();
    for kind in DETECTORS {
        assert_eq!(
            observed.decision(kind.name),
            Some((Inconclusive(Reason::Handshake), 1000)),
            "{}",
            kind.name
        );
    }
}

#[test]
fn an_open_verdict_stays_open_at_the_end() {
    let mut observed = ObservedSender::new().with_timestamps();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.detectors.finish(instant(2000));
    observed.detectors.finish(instant(3000));
    observed.collect_verdicts();
    for name in ["eifel", "frto", "dualrtt"] {
        assert_eq!(observed.decision(name), Some((Open, 2000)), "{name}");
    }
}

#[test]
fn acknowledgments_of_unknown_data_are_ignored() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=2).ack(100, 1).timeout(1000, 2);
    observed.ack(1001, 0).ack(1002, 9);
    assert!(observed.decisions.is_empty());
}

#[test]
fn an_unknown_detector_is_an_error_with_the_known_ones() {
    let message = "eifle".parse::<DetectorId>().unwrap_err().to_string();
    assert!(message.starts_with("unknown detector `eifle`; expected one of "), "{message}");
    assert!(message.contains("such as eifel, "), "{message}");
    assert!(message.ends_with(": did you mean \"eifel\"?"), "{message}");
}

/// Any event at a sender.
#[derive(Clone, Debug)]
enum Op {
    /// New segments, or one retransmission.
    Send(u32),
    Retransmit(u32),
    Timeout(u32),
    FastRetransmit(u32),
    /// An acknowledgment number, an echo, and a block.
    Ack(u32, Option<u32>, Option<(u32, u32)>),
}

fn op() -> impl Strategy<Value = Op> {
    let block = prop::option::of((1..30_u32, 0..4_u32));
    prop_oneof![
        4 => (1..4_u32).prop_map(Op::Send),
        2 => (1..30_u32).prop_map(Op::Retransmit),
        1 => (1..30_u32).prop_map(Op::Timeout),
        1 => (1..30_u32).prop_map(Op::FastRetransmit),
        6 => (0..30_u32, prop::option::of(0..100_u32), block)
            .prop_map(|(number, echo, block)| Op::Ack(number, echo, block)),
    ]
}

proptest! {
    #[test]
    fn each_detector_has_one_verdict_per_episode(ops in prop::collection::vec(op(), 0..60)) {
        let (mut observed, mut next, mut episodes) = (ObservedSender::new().with_timestamps(), 1, 0);
        let mut decisions = Vec::new();
        for (op, millis) in ops.iter().zip(1..) {
            match *op {
                Op::Send(count) => {
                    observed.sends(millis, next..=next + count - 1);
                    next += count;
                }
                Op::Retransmit(number) if number < next => {
                    observed.sends(millis, number..=number);
                }
                Op::Timeout(number) if number < next => {
                    let episode = observed.detectors.timeout(start_of(number), instant(millis));
                    prop_assert!(episode == episodes || episode + 1 == episodes);
                    episodes = episode + 1;
                }
                Op::FastRetransmit(number) if number < next => {
                    let episode = observed.detectors.fast_retransmit(start_of(number), instant(millis));
                    prop_assert_eq!(episode, episodes);
                    episodes += 1;
                }
                Op::Ack(number, echo, block) => {
                    let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
                    (ack.ack, ack.window) = (start_of(number + 1), 60_000);
                    if let Some(echo) = echo {
                        ack.set_timestamps(Timestamps { value: 1, echo });
                    }
                    if let Some((start, count)) = block {
                        ack.push_sack(start_of(start)..start_of(start + count));
                    }
                    observed.detectors.on_ack(&ack, instant(millis));
                }
                _ => {}
            }
            decisions.extend(std::iter::from_fn(|| observed.detectors.poll()));
        }
        observed.detectors.finish(instant(100));
        decisions.extend(std::iter::from_fn(|| observed.detectors.poll()));
        for episode in 0..episodes {
            for id in DetectorId::all() {
                let of = decisions.iter().filter(|s| (s.episode, s.detector) == (episode, id));
                prop_assert_eq!(of.count(), 1, "{} of episode {}", id, episode);
            }
        }
        prop_assert_eq!(decisions.len(), episodes as usize * DETECTORS.len());
    }
}
