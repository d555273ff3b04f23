//! The frames that wait in a link.

use crate::common::{at, channel, forward, rate, secs, send, window};
use rtolab_link::{
    Arq, BlockLossDetection, ChannelConfig, Direction, DirectionConfig, Order, QueueLength,
    StallHolds, Stalls,
};

/// A frame of 1000 B takes a second.
fn slow() -> DirectionConfig {
    DirectionConfig { rate: rate(8_000), delay: secs(0.5), ..DirectionConfig::default() }
}

/// The numbers of frames that wait at 0.5, 1.5 and so on, of four that are sent at 0.
fn waiting(config: &ChannelConfig, samples: u32) -> Vec<u32> {
    let mut link = channel(config);
    link.watch_queues();
    send(&mut link, 1..=4, 1000, at(0.0));
    (0..samples)
        .map(|sample| {
            let now = at(f64::from(sample) + 0.5);
            while link.poll(now).is_some() {}
            let QueueLength { packets, bytes } = link.queue_length(Direction::Forward, now);
            assert_eq!(bytes, 1000 * u64::from(packets));
            assert_eq!(link.queue_length(Direction::Backward, now), QueueLength::default());
            packets
        })
        .collect()
}

#[test]
fn a_frame_waits_until_its_transmission_begins() {
    assert_eq!(waiting(&forward(slow()), 5), [3, 2, 1, 0, 0]);
}

#[test]
fn a_stall_holds_frames_in_the_queue() {
    for holds in [StallHolds::Transmitter, StallHolds::Entry] {
        let scripted = vec![window(0.0, 2.0)];
        let stalls = Stalls { scripted, holds, ..Stalls::default() };
        let config = forward(DirectionConfig { stalls, ..slow() });
        assert_eq!(waiting(&config, 7), [4, 4, 3, 2, 1, 0, 0], "{holds:?}");
    }
}

#[test]
fn frames_wait_before_a_link_that_retransmits() {
    let mut config = forward(slow());
    config.arq = vec![Arq {
        retries: 3,
        timeout: secs(10.0),
        order: Order::Free,
        fragment: None,
        header: 0,
        report: 0,
        notices: BlockLossDetection::Gap,
    }];
    assert_eq!(waiting(&config, 5), [3, 2, 1, 0, 0]);
}

#[test]
fn nobody_counts_unless_asked() {
    let mut link = channel(&forward(slow()));
    send(&mut link, 1..=4, 1000, at(0.0));
    assert_eq!(link.queue_length(Direction::Forward, at(0.5)), QueueLength::default());
}
