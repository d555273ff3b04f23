use alloc::vec::Vec;

mod acknowledging;
mod linux;
mod timestamps;

use rtolab_time::Duration;

use super::*;
use crate::config::EchoRule;
use crate::segment::Timestamps;

/// A receiver of whole segments of 1,000 bytes numbered from 1.
struct Script {
    receiver: Receiver,
    sack: SackUse,
    timestamps: bool,
}

fn start_of(segment: u32) -> Seq {
    Seq::FIRST + 1 + 1000 * (segment - 1)
}

fn number_of(end: Seq) -> u64 {
    end.since(Seq::FIRST + 1) / 1000
}

impl Script {
    fn new(echo: EchoRule) -> Self {
        Self::of(Config::default().receiver, echo)
    }

    /// A receiver with a changed configuration.
    fn with(change: impl FnOnce(&mut ReceiverConfig)) -> Self {
        let mut config = Config::default().receiver;
        change(&mut config);
        Self::of(config, EchoRule::Rfc7323)
    }

    fn of(config: ReceiverConfig, echo: EchoRule) -> Self {
        let mut whole = Config { receiver: config, ..Config::default() };
        whole.timestamp.echo = echo;
        Self::configured(whole)
    }

    fn configured(config: Config) -> Self {
        let mut receiver = Receiver::new(Arc::new(config));
        let mut syn = Segment::new(Seq::FIRST, 0, Flags::SYN);
        syn.set_timestamps(Timestamps { value: 0, echo: 0 });
        receiver.synchronise(&syn);
        let mut script = Self { receiver, sack: SackUse::WithDuplicates, timestamps: false };
        script.ack();
        script
    }

    fn arrives(&mut self, segment: u32, millis: u64) -> &mut Self {
        self.arrives_stamped(segment, millis, 0)
    }

    fn arrives_stamped(&mut self, number: u32, millis: u64, value: u32) -> &mut Self {
        let mut segment = Segment::new(start_of(number), 1000, Flags::ACK);
        if self.timestamps {
            segment.set_timestamps(Timestamps { value, echo: 0 });
        }
        self.receiver.note_timestamp(&segment, at(millis));
        self.receiver.take(&segment, at(millis));
        self
    }

    /// The acknowledgment that leaves now: the highest acknowledged segment, and its blocks as
    /// segments.
    fn ack(&mut self) -> (u64, Vec<(u64, u64)>) {
        let mut segment = Segment::new(Seq::FIRST + 1, 0, Flags::ACK);
        segment.ack = self.receiver.rcv_nxt();
        segment.window = self.receiver.window(1000);
        if self.timestamps {
            segment.set_timestamps(Timestamps::default());
        }
        self.receiver.acknowledge(&mut segment, self.sack);
        let blocks = segment.sack_blocks();
        let blocks = blocks.map(|block| (number_of(block.start) + 1, number_of(block.end)));
        (number_of(segment.ack), blocks.collect())
    }

    /// Asserts that the acknowledgment waits until this time, in milliseconds.
    fn expect_wait(&mut self, until: u64) -> &mut Self {
        assert_eq!(self.receiver.ack_due(), AckDue::At(at(until)));
        self
    }

    fn expect_ack(&mut self, ack: u64, blocks: &[(u64, u64)]) -> &mut Self {
        assert_eq!(self.receiver.ack_due(), AckDue::Now);
        assert_eq!(self.ack(), (ack, blocks.to_vec()));
        self
    }
}

fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

#[test]
fn t_dack_1_every_second_segment_is_acknowledged_at_once() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.arrives(1, 0);
    assert_eq!(s.receiver.ack_due(), AckDue::At(at(200)));
    s.arrives(2, 10).expect_ack(2, &[]);
}

#[test]
fn t_dack_2_a_lone_segment_waits_for_the_timer() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.arrives(1, 0);
    s.receiver.on_timer(at(199));
    assert_eq!(s.receiver.ack_due(), AckDue::At(at(200)));
    s.receiver.on_timer(at(200));
    s.expect_ack(1, &[]);
    assert_eq!(s.receiver.ack_due(), AckDue::No);
}

#[test]
fn t_dack_3_a_gap_is_reported_and_filled_at_once() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.arrives(1, 0).arrives(3, 10).expect_ack(1, &[(3, 3)]);
    s.arrives(2, 20).expect_ack(3, &[]);
}

#[test]
fn t_dack_4_filling_part_of_a_gap_is_acknowledged_at_once() {
    let mut s = Script::new(EchoRule::Rfc7323);
    for segment in [1, 3, 5] {
        s.arrives(segment, 0);
    }
    s.ack();
    s.arrives(2, 10).expect_ack(3, &[(5, 5)]);
    s.arrives(4, 20).expect_ack(5, &[]);
}

#[test]
fn t_dack_5_a_duplicate_is_acknowledged_at_once() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.arrives(1, 0).arrives(2, 0).arrives(3, 0);
    s.ack();
    s.arrives(1, 10).expect_ack(3, &[(1, 1)]);
    s.sack = SackUse::Blocks;
    s.arrives(1, 20).expect_ack(3, &[]);
}

#[test]
fn t_sack_1_the_block_grows() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.arrives(2, 0).expect_ack(0, &[(2, 2)]);
    s.arrives(3, 0).expect_ack(0, &[(2, 3)]);
    s.arrives(4, 0).expect_ack(0, &[(2, 4)]);
}

#[test]
fn t_sack_2_the_latest_block_comes_first() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.arrives(2, 0).expect_ack(0, &[(2, 2)]);
    s.arrives(4, 0).expect_ack(0, &[(4, 4), (2, 2)]);
    s.arrives(6, 0).expect_ack(0, &[(6, 6), (4, 4), (2, 2)]);
}

#[test]
fn t_sack_3_beside_timestamps_there_is_room_for_three() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.timestamps = true;
    for segment in [2, 4, 6, 8, 10] {
        s.arrives_stamped(segment, 0, 1);
    }
    s.expect_ack(0, &[(10, 10), (8, 8), (6, 6)]);
}

#[test]
fn t_sack_4_a_filled_block_makes_room_for_the_latest_of_the_others() {
    let mut s = Script::new(EchoRule::Rfc7323);
    for segment in [2, 4, 6] {
        s.arrives(segment, 0);
    }
    s.arrives(1, 0).expect_ack(2, &[(6, 6), (4, 4)]);
}

#[test]
fn four_remembered_blocks_forget_the_oldest() {
    let mut s = Script::with(|config| config.remembered_sack_blocks = Some(4));
    for segment in [2, 4, 6, 8, 10] {
        s.arrives(segment, 0);
    }
    s.expect_ack(0, &[(10, 10), (8, 8), (6, 6), (4, 4)]);
    // Segment 2 is there, but its block is forgotten.
    s.arrives(3, 0).expect_ack(0, &[(3, 4), (10, 10), (8, 8), (6, 6)]);
    s.arrives(7, 0).expect_ack(0, &[(6, 8), (3, 4), (10, 10)]);
    s.arrives(1, 0).expect_ack(4, &[(6, 8), (10, 10)]);
    s.arrives(8, 0).expect_ack(4, &[(8, 8), (6, 8), (10, 10)]);
    s.arrives(5, 0).arrives(9, 0).expect_ack(10, &[]);
    s.arrives(12, 0).expect_ack(10, &[(12, 12)]);
}

#[test]
fn t_dsack_1_below_the_acknowledgment() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.arrives(1, 0).arrives(2, 0).arrives(3, 0).arrives(1, 0).expect_ack(3, &[(1, 1)]);
}

#[test]
fn t_dsack_2_above_it_the_enclosing_block_follows() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.arrives(1, 0).arrives(3, 0).arrives(4, 0).arrives(3, 0).expect_ack(1, &[(3, 3), (3, 4)]);
}

#[test]
fn t_dsack_3_only_the_duplicate_part() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.arrives(1, 0);
    s.ack();
    let overlapping = Segment::new(start_of(1) + 500, 1000, Flags::ACK);
    s.receiver.take(&overlapping, at(1));
    assert_eq!(s.receiver.rcv_nxt(), start_of(2) + 500);
    let mut ack = Segment::new(Seq::FIRST, 0, Flags::ACK);
    ack.ack = s.receiver.rcv_nxt();
    s.receiver.acknowledge(&mut ack, SackUse::WithDuplicates);
    assert!(ack.sack_blocks().eq([start_of(1) + 500..start_of(2)]));
}

#[test]
fn t_dsack_4_a_duplicate_is_reported_once() {
    let mut s = Script::new(EchoRule::Rfc7323);
    s.arrives(1, 0).arrives(1, 0).expect_ack(1, &[(1, 1)]);
    assert_eq!(s.ack(), (1, Vec::new()));
}

#[test]
fn the_smallest_advertised_increase_of_the_window_is_a_setting() {
    for (increase, window) in [(WindowIncrease::Segment, 63_535), (WindowIncrease::Byte, 63_536)] {
        let mut s = Script::with(|config| config.window_increase = increase);
        s.arrives(1, 0).arrives(2, 0).expect_ack(2, &[]);
        s.receiver.read(1);
        assert_eq!(s.receiver.window(1000), window);
    }
}

#[test]
fn the_window_is_never_shrunk() {
    let mut s = Script::new(EchoRule::Rfc7323);
    let edge = s.receiver.rcv_nxt() + s.receiver.window(1000);
    s.arrives(1, 0).arrives(2, 0);
    assert_eq!(s.receiver.rcv_nxt() + s.receiver.window(1000), edge);
    s.receiver.read(2000);
    assert_eq!(s.receiver.available(), 0);
    assert_eq!(s.receiver.window(1000), 65_535);
}
