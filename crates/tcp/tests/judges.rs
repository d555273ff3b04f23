//! Detectors that look on, told of no more than a capture shows: what was sent, what was
//! acknowledged, and when the timer expired. Segments are numbered from 1; times are in
//! milliseconds.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use proptest::prelude::*;
use rtolab_tcp::spurious::{
    DETECTORS, Detector, DetectorKind, DualRtt, Judges, Verdict, Why, detector,
};
use rtolab_tcp::{Cause, Flags, Segment, Seq, Timestamps};
use rtolab_time::{Duration, Instant};

use Verdict::{Blind, Genuine, Open, Spurious};

const SEGMENT: u32 = 1000;

fn start_of(number: u32) -> Seq {
    Seq::FIRST + SEGMENT * number
}

fn instant(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

/// What happens at a sender, before judges.
struct Bench {
    judges: Judges,
    timestamps: bool,
    /// What each detector said last, about which episode, and when.
    said: BTreeMap<&'static str, (u32, Verdict, u64)>,
}

impl Bench {
    fn new() -> Self {
        Self::of(DETECTORS)
    }

    fn of(kinds: &[DetectorKind]) -> Self {
        let judges = Judges::new(kinds, start_of(1));
        Self { judges, timestamps: false, said: BTreeMap::new() }
    }

    /// The sender's segments carry the time as a timestamp.
    fn with_timestamps(mut self) -> Self {
        self.timestamps = true;
        self
    }

    fn sends(&mut self, millis: u64, numbers: RangeInclusive<u32>) -> &mut Self {
        for number in numbers {
            let mut segment = Segment::new(start_of(number), SEGMENT, Flags::ACK);
            if self.timestamps {
                segment.set_timestamps(Timestamps { value: millis as u32, echo: 0 });
            }
            self.judges.sent(&segment, instant(millis), Cause::Unknown);
        }
        self
    }

    /// The timer expires and the segment is sent again; the number of the episode.
    fn timeout(&mut self, millis: u64, number: u32) -> u32 {
        let episode = self.judges.timeout(start_of(number), instant(millis));
        self.sends(millis, number..=number).listen();
        episode
    }

    fn fast_retransmit(&mut self, millis: u64, number: u32) -> u32 {
        let episode = self.judges.fast_retransmit(start_of(number), instant(millis));
        self.sends(millis, number..=number).listen();
        episode
    }

    fn ack(&mut self, millis: u64, number: u32) -> &mut Self {
        self.acks(millis, number, None, [])
    }

    fn echo(&mut self, millis: u64, number: u32, echo: u32) -> &mut Self {
        self.acks(millis, number, Some(echo), [])
    }

    fn sacks<const N: usize>(
        &mut self,
        millis: u64,
        number: u32,
        blocks: [RangeInclusive<u32>; N],
    ) -> &mut Self {
        self.acks(millis, number, None, blocks)
    }

    fn acks<const N: usize>(
        &mut self,
        millis: u64,
        number: u32,
        echo: Option<u32>,
        blocks: [RangeInclusive<u32>; N],
    ) -> &mut Self {
        let mut segment = Segment::new(Seq::FIRST, 0, Flags::ACK);
        (segment.ack, segment.window) = (start_of(number + 1), 60_000);
        if let Some(echo) = echo {
            segment.set_timestamps(Timestamps { value: 1, echo });
        }
        for block in blocks {
            segment.push_sack(start_of(*block.start())..start_of(block.end() + 1));
        }
        self.judges.acked(&segment, instant(millis));
        self.listen();
        self
    }

    fn listen(&mut self) {
        while let Some(said) = self.judges.poll() {
            let millis = said.at.since(Instant::START).nanos() / 1_000_000;
            let before = self.said.insert(said.detector, (said.episode, said.verdict, millis));
            let spoken = before.is_some_and(|(episode, ..)| episode == said.episode);
            assert!(!spoken, "{} speaks twice of episode {}", said.detector, said.episode);
        }
    }

    /// What that detector said last, and when.
    fn said(&self, detector: &str) -> Option<(Verdict, u64)> {
        self.said.get(detector).map(|(_, verdict, millis)| (*verdict, *millis))
    }

    fn verdict(&self, detector: &str) -> Option<Verdict> {
        self.said(detector).map(|(verdict, _)| verdict)
    }
}

/// The example of the DualRTT paper: the smallest round trip is 2.8 s, twenty segments are held up
/// and the first of them, here the second, times out twice.
fn hiccup(kinds: &[DetectorKind]) -> Bench {
    let mut bench = Bench::of(kinds);
    bench.sends(0, 1..=1).ack(2800, 1);
    for number in 2..=21 {
        bench.sends(28_990 + 92 * u64::from(number - 2), number..=number);
    }
    assert_eq!((bench.timeout(34_537, 2), bench.timeout(42_137, 2)), (0, 0), "one episode");
    bench
}

/// Afterwards the sender goes back.
fn goes_back(bench: &mut Bench) {
    bench.ack(42_899, 2).sends(42_899, 3..=4);
    bench.ack(42_991, 3).sends(42_991, 5..=6);
}

#[test]
fn t_dr_1_an_answer_within_a_tenth_of_the_smallest_round_trip() {
    let mut bench = hiccup(DETECTORS);
    bench.ack(42_899, 2).sends(42_899, 3..=4);
    assert_eq!(bench.said("dualrtt"), None, "762 ms are no proof");
    bench.ack(42_991, 3);
    assert_eq!(bench.said("dualrtt"), Some((Spurious, 42_991)));
}

#[test]
fn t_dr_2_a_smaller_threshold_misses_it() {
    fn by(make: fn() -> Box<dyn Detector>) -> Option<Verdict> {
        let mut bench = hiccup(&[DetectorKind { make, ..*detector("dualrtt").unwrap() }]);
        goes_back(&mut bench);
        bench.verdict("dualrtt")
    }
    assert_eq!(by(|| Box::new(DualRtt::with_tau(25))), None);
    assert_eq!(by(|| Box::new(DualRtt::with_tau(33))), Some(Spurious));
}

#[test]
fn t_dr_3_a_loss_takes_a_round_trip_to_repair() {
    let mut bench = hiccup(DETECTORS);
    bench.ack(44_937, 2).sends(44_937, 3..=4);
    bench.ack(47_737, 3).ack(47_829, 4).sends(47_829, 5..=22);
    assert_eq!(bench.said("dualrtt"), None);
    bench.ack(50_700, 22);
    assert_eq!(bench.verdict("dualrtt"), Some(Open), "nothing of it is left");
}

#[test]
fn t_dr_4_one_acknowledgment_for_several_hides_it() {
    let mut bench = hiccup(DETECTORS);
    bench.ack(42_899, 6).sends(42_899, 7..=8);
    assert_eq!(bench.said("dualrtt"), None);
}

#[test]
fn t_dr_5_so_does_one_for_two() {
    let mut bench = hiccup(DETECTORS);
    bench.ack(42_899, 3);
    assert_eq!(bench.said("dualrtt"), None);
}

#[test]
fn t_dr_6_the_first_acknowledgment_may_tell() {
    let mut bench = hiccup(DETECTORS);
    bench.ack(42_237, 2);
    assert_eq!(bench.said("dualrtt"), Some((Spurious, 42_237)));
}

#[test]
fn without_a_round_trip_dualrtt_has_nothing_to_compare() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=1).timeout(1000, 1);
    bench.ack(1001, 1);
    assert_eq!(bench.verdict("dualrtt"), Some(Blind(Why::NoRoundTrip)));
}

/// Four segments; the first comes last, and is retransmitted meanwhile.
fn reordered() -> Bench {
    let mut bench = Bench::new();
    bench.sends(0, 1..=4).sacks(100, 0, [2..=2]).sacks(101, 0, [2..=3]).sacks(102, 0, [2..=4]);
    bench.fast_retransmit(102, 1);
    bench
}

#[test]
fn t_ds_1_all_that_was_retransmitted_is_reported() {
    let mut bench = reordered();
    bench.ack(110, 4);
    assert_eq!(bench.said("dsack"), None);
    bench.sacks(200, 4, [1..=1]);
    assert_eq!(bench.said("dsack"), Some((Spurious, 200)));
}

/// Six segments, a needless timeout, and all are sent again.
fn gone_back_n() -> Bench {
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.ack(1100, 1).sends(1100, 2..=3).ack(1101, 2).sends(1101, 4..=5);
    bench.ack(1102, 3).sends(1102, 6..=6).ack(1103, 4).sends(1103, 7..=7).ack(1105, 6);
    bench
}

#[test]
fn t_ds_2_the_sixth_report_decides() {
    let mut bench = gone_back_n();
    for number in 1..=5 {
        bench.sacks(1200 + u64::from(number), 6, [number..=number]);
        assert_eq!(bench.said("dsack"), None);
    }
    bench.sacks(1206, 6, [6..=6]);
    assert_eq!(bench.said("dsack"), Some((Spurious, 1206)));
}

#[test]
fn t_ds_3_five_of_six_do_not() {
    let mut bench = gone_back_n();
    for number in 1..=5 {
        bench.sacks(1200 + u64::from(number), 6, [number..=number]);
    }
    bench.ack(1300, 7);
    assert_eq!(bench.said("dsack"), Some((Open, 1300)));
}

#[test]
fn t_ds_4_one_of_two_was_lost() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.ack(1100, 1).sends(1100, 2..=2).ack(1200, 6).sends(1200, 7..=7);
    bench.sacks(1201, 6, [2..=2]).ack(1300, 7);
    assert_eq!(bench.said("dsack"), Some((Open, 1300)));
}

#[test]
fn t_ds_5_a_duplicate_that_was_never_sent_again_ends_its_use() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.ack(1100, 1).ack(1104, 5).sacks(1105, 5, [4..=4]);
    assert_eq!(bench.said("dsack"), Some((Blind(Why::NetworkDuplicates), 1105)));
    // For good: in the next episode all would be reported.
    bench.timeout(2000, 6);
    bench.ack(2100, 6);
    assert_eq!(bench.said("dsack"), Some((Blind(Why::NetworkDuplicates), 2100)));
}

#[test]
fn t_ds_6_a_segment_sent_three_times_tells_nothing() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=2).timeout(1000, 1);
    bench.timeout(3000, 1);
    bench.ack(3100, 2).sacks(3101, 2, [1..=1]);
    assert_eq!(bench.said("dsack"), Some((Blind(Why::RetransmittedTwice), 3101)));
}

#[test]
fn t_ds_7_a_window_of_acknowledgments_was_lost() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.sacks(1100, 6, [1..=1]);
    assert_eq!(bench.said("dsack"), Some((Genuine, 1100)));
}

#[test]
fn a_peer_without_d_sack_leaves_the_judge_blind() {
    let mut bench = gone_back_n();
    for _ in 0..6 {
        bench.ack(1200, 6);
    }
    bench.sends(1250, 8..=8).ack(1300, 7);
    assert_eq!(bench.said("dsack"), Some((Blind(Why::NoDsack), 1300)));
}

#[test]
fn a_report_that_comes_an_episode_late_is_no_duplicate_of_the_network() {
    let mut bench = gone_back_n();
    bench.timeout(2000, 7);
    bench.sacks(2100, 6, [1..=1]).ack(2101, 7).sacks(2102, 7, [7..=7]);
    // The first is of the episode before; the second is all of this one.
    assert_eq!(bench.said("dsack"), Some((Spurious, 2102)));
}

#[test]
fn t_ei_1_to_3_an_older_echo() {
    for (echo, verdict) in [(10, Spurious), (1000, Genuine), (3000, Genuine)] {
        let mut bench = Bench::new().with_timestamps();
        bench.sends(10, 1..=6).timeout(1000, 1);
        // The second timeout does not overwrite the first.
        bench.timeout(3000, 1);
        bench.echo(3100, 1, echo);
        assert_eq!(bench.said("eifel"), Some((verdict, 3100)), "{echo}");
    }
}

#[test]
fn t_ei_5_all_acknowledgments_lost_and_the_last_segment_too() {
    let mut bench = Bench::new().with_timestamps();
    bench.sends(10, 1..=6).timeout(1000, 1);
    bench.echo(1100, 5, 10);
    assert_eq!(bench.verdict("eifel"), Some(Spurious), "which is wrong");
    assert_eq!(bench.verdict("eifel:rfc3522"), Some(Spurious), "and the guard does not help");
}

#[test]
fn t_ei_4_all_acknowledgments_lost_and_all_delivered() {
    // The form of 2000 takes the answer to the duplicate for one to the original; RFC 3522 does
    // not, where the acknowledgment covers all.
    let mut bench = Bench::new().with_timestamps();
    bench.sends(10, 1..=6).timeout(1000, 1);
    bench.echo(1100, 6, 10);
    assert_eq!(
        (bench.verdict("eifel"), bench.verdict("eifel:rfc3522")),
        (Some(Spurious), Some(Genuine))
    );

    // Nor where it says itself that it is for a duplicate.
    let mut bench = Bench::new().with_timestamps();
    bench.sends(10, 1..=6).timeout(1000, 1);
    bench.acks(1100, 5, Some(10), [1..=1]);
    assert_eq!(bench.verdict("eifel:rfc3522"), Some(Genuine));

    // Of a peer that reports duplicates, no report means that there was none.
    bench.ack(1200, 6).sends(2000, 7..=8).timeout(3000, 7);
    bench.echo(3100, 8, 2000);
    assert_eq!(bench.said("eifel:rfc3522"), Some((Spurious, 3100)));
}

#[test]
fn t_ei_7_a_needless_fast_retransmit() {
    let mut bench = Bench::new().with_timestamps();
    bench.sends(10, 1..=4);
    bench.echo(100, 0, 9).echo(100, 0, 9).echo(100, 0, 9);
    assert_eq!(bench.fast_retransmit(100, 1), 0);
    bench.sends(104, 5..=5).echo(105, 4, 10);
    assert_eq!(bench.said("eifel"), Some((Spurious, 105)));
    assert_eq!(bench.said("eifel:rfc3522"), Some((Spurious, 105)));
    assert_eq!(bench.said("frto"), Some((Blind(Why::NotATimeout), 105)));
    assert_eq!(bench.said("dualrtt"), Some((Blind(Why::NotATimeout), 105)));
}

#[test]
fn eifel_is_blind_without_timestamps() {
    let mut bench = gone_back_n();
    assert_eq!(bench.said("eifel"), Some((Blind(Why::NoTimestamps), 1100)));
    bench.sends(1250, 8..=8);
}

#[test]
fn t_fr_1_where_the_sender_does_what_f_rto_would() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.ack(1100, 1).sends(1100, 7..=8);
    assert_eq!(bench.said("frto"), None);
    bench.ack(1101, 2);
    assert_eq!(bench.said("frto"), Some((Spurious, 1101)));
}

#[test]
fn t_fr_1_a_sender_that_goes_back_leaves_the_judge_blind() {
    assert_eq!(gone_back_n().said("frto"), Some((Blind(Why::DidOtherwise), 1101)));
    // As does one that sends nothing.
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.ack(1100, 1).ack(1101, 2);
    assert_eq!(bench.said("frto"), Some((Blind(Why::DidOtherwise), 1101)));
}

#[test]
fn t_fr_2_and_3_a_duplicate_means_a_loss() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).ack(900, 0).timeout(1000, 1);
    bench.ack(1100, 0);
    assert_eq!(bench.said("frto"), Some((Genuine, 1100)));

    let mut bench = Bench::new();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.ack(1100, 1).sends(1100, 7..=8).ack(1200, 1);
    assert_eq!(bench.said("frto"), Some((Genuine, 1200)));
}

#[test]
fn t_fr_8_what_is_neither_new_nor_a_duplicate_tells_nothing() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.ack(1100, 1).sends(1100, 7..=8);
    let mut update = Segment::new(Seq::FIRST, 0, Flags::ACK);
    (update.ack, update.window) = (start_of(2), 50_000);
    bench.judges.acked(&update, instant(1150));
    bench.ack(1200, 2);
    assert_eq!(bench.said("frto"), Some((Spurious, 1200)));
}

#[test]
fn t_fr_9_and_10_another_timeout_begins_f_rto_again() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=6);
    assert_eq!(bench.timeout(1000, 1), 0);
    assert_eq!(bench.timeout(3000, 1), 0);
    bench.ack(3100, 1).sends(3100, 7..=8);
    // The next segment times out: another episode, and the first ends without a verdict.
    assert_eq!(bench.timeout(7100, 2), 1);
    assert_eq!(bench.said("frto"), Some((Open, 7100)));
    bench.ack(7200, 2).sends(7200, 9..=10).ack(7201, 3);
    assert_eq!(bench.said("frto"), Some((Spurious, 7201)));
}

/// The detectors that tell forms of F-RTO apart.
const FORMS: [&str; 6] =
    ["frto", "frto:rfc4138", "frto:rfc5682", "frto:rfc5682-sack", "frto:linux", "frto:ns2"];

#[test]
fn t_fr_4_forms_of_f_rto_differ_on_a_retransmission_that_fills_the_only_hole() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.ack(1100, 6).sends(1100, 7..=8).ack(1200, 7);
    assert_eq!(bench.said("frto"), Some((Spurious, 1200)), "the report has no step 2 a");
    for form in &FORMS[1..] {
        assert_eq!(bench.said(form), Some((Genuine, 1100)), "{form}");
    }
}

#[test]
fn t_fr_10_forms_of_f_rto_differ_on_a_timeout_while_one_recovers() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.ack(1100, 1).sends(1100, 7..=8).timeout(3000, 2);
    bench.ack(3100, 2).sends(3100, 9..=10).ack(3101, 3);
    for form in ["frto", "frto:rfc4138", "frto:ns2"] {
        assert_eq!(bench.said(form), Some((Spurious, 3101)), "{form}");
    }
    for form in ["frto:rfc5682", "frto:rfc5682-sack", "frto:linux"] {
        assert_eq!(bench.said(form), Some((Blind(Why::AlreadyRecovering), 3100)), "{form}");
    }
}

#[test]
fn a_sender_that_goes_back_leaves_each_form_of_f_rto_blind() {
    let mut bench = gone_back_n();
    for form in FORMS {
        assert_eq!(bench.said(form), Some((Blind(Why::DidOtherwise), 1101)), "{form}");
    }
    // The recovery that it began is one under way when the timer expires again.
    bench.sends(1200, 8..=9).timeout(3000, 7);
    bench.ack(3100, 7).sends(3100, 10..=11).ack(3101, 8);
    assert_eq!(bench.said("frto:rfc5682"), Some((Spurious, 3101)), "all of it was acknowledged");
}

#[test]
fn an_original_tells_of_any_sender() {
    // It goes back, and yet: segment 3 is acknowledged before it is sent again.
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.ack(1100, 1).sends(1100, 2..=2);
    assert_eq!(bench.said("originals"), None);
    // Without SACK the acknowledgment of both may be one of the retransmission alone.
    bench.ack(1101, 3);
    assert_eq!(bench.said("originals"), None);
    bench.ack(1102, 4);
    assert_eq!(bench.said("originals"), Some((Spurious, 1102)));

    // All was sent again: nothing tells.
    let mut bench = Bench::new();
    bench.sends(0, 1..=3).timeout(1000, 1);
    bench.ack(1100, 1).sends(1100, 2..=3).ack(1200, 3);
    assert_eq!(bench.said("originals"), Some((Genuine, 1200)));

    // What was reported before the timeout is no news.
    let mut bench = Bench::new();
    bench.sends(0, 1..=4).sacks(100, 0, [3..=3]).timeout(1000, 1);
    bench.ack(1100, 1).sends(1100, 2..=2).ack(1200, 3);
    assert_eq!(bench.said("originals"), None);
    bench.ack(1201, 4);
    assert_eq!(bench.said("originals"), Some((Spurious, 1201)));
}

#[test]
fn a_timeout_that_somebody_has_judged_is_not_the_same_as_the_next() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=6).ack(900, 1).sends(900, 7..=7);
    assert_eq!(bench.timeout(1000, 2), 0);
    bench.ack(1100, 1);
    assert_eq!(bench.said("frto"), Some((Genuine, 1100)));
    assert_eq!(bench.timeout(3000, 2), 1);
    assert_eq!(bench.said("dualrtt"), Some((Open, 3000)));
}

#[test]
fn a_retransmission_of_several_segments_is_each_of_them() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=4);
    bench.judges.timeout(start_of(1), instant(1000));
    let both = Segment::new(start_of(1), 2 * SEGMENT, Flags::ACK);
    bench.judges.sent(&both, instant(1000), Cause::Unknown);
    bench.ack(1100, 4).sacks(1101, 4, [1..=1]);
    assert_eq!(bench.said("dsack"), None);
    bench.sacks(1102, 4, [2..=2]);
    assert_eq!(bench.said("dsack"), Some((Spurious, 1102)));
}

#[test]
fn of_a_syn_nobody_can_tell() {
    let mut bench = Bench::new().with_timestamps();
    bench.judges = Judges::new(DETECTORS, Seq::FIRST);
    let syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
    bench.judges.sent(&syn, instant(0), Cause::New);
    bench.judges.timeout(Seq::FIRST, instant(1000));
    bench.judges.sent(&syn, instant(1000), Cause::Timeout);
    bench.listen();
    for kind in DETECTORS {
        assert_eq!(bench.said(kind.name), Some((Blind(Why::Handshake), 1000)), "{}", kind.name);
    }
}

#[test]
fn what_is_open_at_the_end_stays_so() {
    let mut bench = Bench::new().with_timestamps();
    bench.sends(0, 1..=6).timeout(1000, 1);
    bench.judges.finish(instant(2000));
    bench.judges.finish(instant(3000));
    bench.listen();
    for name in ["eifel", "frto", "dualrtt"] {
        assert_eq!(bench.said(name), Some((Open, 2000)), "{name}");
    }
}

#[test]
fn acknowledgments_of_nothing_known_are_passed_over() {
    let mut bench = Bench::new();
    bench.sends(0, 1..=2).ack(100, 1).timeout(1000, 2);
    bench.ack(1001, 0).ack(1002, 9);
    assert!(bench.said.is_empty());
}

#[test]
fn an_unknown_detector_is_told_from_known_ones() {
    let message = detector("eifle").unwrap_err().to_string();
    let known = "unknown detector `eifle`; known are eifel, eifel:rfc3522, frto, frto:rfc4138, ";
    assert!(message.starts_with(known), "{message}");
    assert!(
        message.ends_with(
            ", dsack, eifel:safe, eifel:rxt, eifel:two-bits, eifel:forward, badrexmit, dsack:linux"
        ),
        "{message}"
    );
}

/// What may happen at a sender, in any order.
#[derive(Clone, Debug)]
enum Op {
    /// So many segments more leave, or one again.
    Send(u32),
    Again(u32),
    Timeout(u32),
    FastRetransmit(u32),
    /// An acknowledgment number, an echo, and a block.
    Ack(u32, Option<u32>, Option<(u32, u32)>),
}

fn op() -> impl Strategy<Value = Op> {
    let block = prop::option::of((1..30_u32, 0..4_u32));
    prop_oneof![
        4 => (1..4_u32).prop_map(Op::Send),
        2 => (1..30_u32).prop_map(Op::Again),
        1 => (1..30_u32).prop_map(Op::Timeout),
        1 => (1..30_u32).prop_map(Op::FastRetransmit),
        6 => (0..30_u32, prop::option::of(0..100_u32), block)
            .prop_map(|(number, echo, block)| Op::Ack(number, echo, block)),
    ]
}

proptest! {
    #[test]
    fn each_detector_says_one_thing_of_each_episode(ops in prop::collection::vec(op(), 0..60)) {
        let (mut bench, mut next, mut episodes) = (Bench::new().with_timestamps(), 1, 0);
        let mut said = Vec::new();
        for (op, millis) in ops.iter().zip(1..) {
            match *op {
                Op::Send(count) => {
                    bench.sends(millis, next..=next + count - 1);
                    next += count;
                }
                Op::Again(number) if number < next => {
                    bench.sends(millis, number..=number);
                }
                Op::Timeout(number) if number < next => {
                    let episode = bench.judges.timeout(start_of(number), instant(millis));
                    prop_assert!(episode == episodes || episode + 1 == episodes);
                    episodes = episode + 1;
                }
                Op::FastRetransmit(number) if number < next => {
                    let episode = bench.judges.fast_retransmit(start_of(number), instant(millis));
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
                    bench.judges.acked(&ack, instant(millis));
                }
                _ => {}
            }
            said.extend(std::iter::from_fn(|| bench.judges.poll()));
        }
        bench.judges.finish(instant(100));
        said.extend(std::iter::from_fn(|| bench.judges.poll()));
        for episode in 0..episodes {
            for kind in DETECTORS {
                let of = said.iter().filter(|s| (s.episode, s.detector) == (episode, kind.name));
                prop_assert_eq!(of.count(), 1, "{} of episode {}", kind.name, episode);
            }
        }
        prop_assert_eq!(said.len(), episodes as usize * DETECTORS.len());
    }
}
