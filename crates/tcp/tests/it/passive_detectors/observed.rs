//! A sender as passive detectors see it: only what a capture shows.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use rtolab_tcp::spurious::{DetectorId, PassiveDetectors, Verdict};
use rtolab_tcp::{Cause, Flags, Segment, Seq, Timestamps};
use rtolab_time::{Duration, Instant};

pub const SEGMENT: u32 = 1000;

pub fn start_of(number: u32) -> Seq {
    Seq::FIRST + SEGMENT * number
}

pub fn instant(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

/// A sender, as passive detectors see it.
pub struct ObservedSender {
    pub detectors: PassiveDetectors,
    pub timestamps: bool,
    /// The last verdict of each detector: its episode, the verdict and its time.
    pub decisions: BTreeMap<String, (u32, Verdict, u64)>,
}

impl ObservedSender {
    pub fn new() -> Self {
        Self::of(DetectorId::all())
    }

    pub fn of(detectors: impl IntoIterator<Item = DetectorId>) -> Self {
        let detectors = PassiveDetectors::new(detectors, start_of(1));
        Self { detectors, timestamps: false, decisions: BTreeMap::new() }
    }

    /// TSval of the sender's segments is the time.
    pub fn with_timestamps(mut self) -> Self {
        self.timestamps = true;
        self
    }

    pub fn sends(&mut self, millis: u64, numbers: RangeInclusive<u32>) -> &mut Self {
        for number in numbers {
            let mut segment = Segment::new(start_of(number), SEGMENT, Flags::ACK);
            if self.timestamps {
                segment.set_timestamps(Timestamps { value: millis as u32, echo: 0 });
            }
            self.detectors.sent(&segment, instant(millis), Cause::Unknown);
        }
        self
    }

    /// The timer expires and the segment is retransmitted. Returns the number of the episode.
    pub fn timeout(&mut self, millis: u64, number: u32) -> u32 {
        let episode = self.detectors.timeout(start_of(number), instant(millis));
        self.sends(millis, number..=number).collect_verdicts();
        episode
    }

    pub fn fast_retransmit(&mut self, millis: u64, number: u32) -> u32 {
        let episode = self.detectors.fast_retransmit(start_of(number), instant(millis));
        self.sends(millis, number..=number).collect_verdicts();
        episode
    }

    pub fn ack(&mut self, millis: u64, number: u32) -> &mut Self {
        self.acks(millis, number, None, [])
    }

    pub fn echo(&mut self, millis: u64, number: u32, echo: u32) -> &mut Self {
        self.acks(millis, number, Some(echo), [])
    }

    pub fn sacks<const N: usize>(
        &mut self,
        millis: u64,
        number: u32,
        blocks: [RangeInclusive<u32>; N],
    ) -> &mut Self {
        self.acks(millis, number, None, blocks)
    }

    pub fn acks<const N: usize>(
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
        self.detectors.on_ack(&segment, instant(millis));
        self.collect_verdicts();
        self
    }

    pub fn collect_verdicts(&mut self) {
        while let Some(decisions) = self.detectors.poll() {
            let millis = decisions.at.since(Instant::START).nanos() / 1_000_000;
            let before = self.decisions.insert(
                decisions.detector.to_string(),
                (decisions.episode, decisions.verdict, millis),
            );
            let spoken = before.is_some_and(|(episode, ..)| episode == decisions.episode);
            assert!(
                !spoken,
                "{} has two verdicts on episode {}",
                decisions.detector, decisions.episode
            );
        }
    }

    /// The last verdict of this detector, and its time.
    pub fn decision(&self, detector: &str) -> Option<(Verdict, u64)> {
        self.decisions.get(detector).map(|(_, verdict, millis)| (*verdict, *millis))
    }

    pub fn verdict(&self, detector: &str) -> Option<Verdict> {
        self.decision(detector).map(|(verdict, _)| verdict)
    }
}

/// The example of the DualRTT paper: the smallest round trip is 2.8 s, twenty segments are held,
/// and the first of them, here segment 2, times out twice.
pub fn hiccup(detectors: impl IntoIterator<Item = DetectorId>) -> ObservedSender {
    let mut observed = ObservedSender::of(detectors);
    observed.sends(0, 1..=1).ack(2800, 1);
    for number in 2..=21 {
        observed.sends(28_990 + 92 * u64::from(number - 2), number..=number);
    }
    assert_eq!((observed.timeout(34_537, 2), observed.timeout(42_137, 2)), (0, 0), "one episode");
    observed
}

/// Afterwards the sender performs go-back-N.
pub fn goes_back(observed: &mut ObservedSender) {
    observed.ack(42_899, 2).sends(42_899, 3..=4);
    observed.ack(42_991, 3).sends(42_991, 5..=6);
}

/// Six segments, a spurious timeout, and go-back-N retransmits all of them.
pub fn gone_back_n() -> ObservedSender {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.ack(1100, 1).sends(1100, 2..=3).ack(1101, 2).sends(1101, 4..=5);
    observed.ack(1102, 3).sends(1102, 6..=6).ack(1103, 4).sends(1103, 7..=7).ack(1105, 6);
    observed
}
