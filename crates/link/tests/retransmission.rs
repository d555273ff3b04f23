//! Local retransmission by the clock: every number here can be worked out by hand.

mod common;

use common::{
    Out, Packet, at, channel, close, drain, drain_coupled, forward, hear_both, numbers, rate, secs,
    send, window,
};
use rtolab_link::{
    Arq, Cause, Channel, ChannelConfig, Direction, DirectionConfig, Limit, Notices, Order, Outages,
    Probability, Stream,
};
use rtolab_time::Instant;

/// A frame is a block, reports cost nothing, and what is whole goes on.
fn simple() -> Arq {
    Arq {
        retries: 3,
        order: Order::Free,
        fragment: None,
        header: 0,
        report: 0,
        notices: Notices::Gap,
        timeout: secs(10.0),
    }
}

fn orderly() -> Arq {
    Arq { order: Order::Kept, ..simple() }
}

/// 1,000 byte take a second, and half a second to the other end.
fn slow() -> DirectionConfig {
    DirectionConfig { rate: rate(8_000), delay: secs(0.5), ..DirectionConfig::default() }
}

/// The same with these transmissions lost.
fn dropping(drops: &[u32]) -> DirectionConfig {
    DirectionConfig { drops: drops.to_vec(), ..slow() }
}

fn repeating(forward: DirectionConfig, arq: Arq) -> ChannelConfig {
    ChannelConfig { forward, backward: slow(), arq: vec![arq], ..ChannelConfig::default() }
}

/// What becomes of frames of 1,000 bytes that are sent at the start.
fn run(config: &ChannelConfig, frames: u64) -> (Vec<Out>, Channel<Packet>) {
    let mut link = channel(config);
    send(&mut link, 0..frames, 1000, at(0.0));
    let heard = drain_coupled(&mut link);
    (heard, link)
}

fn arrivals(heard: &[Out]) -> Vec<(u64, f64)> {
    heard.iter().filter_map(|out| Some((out.number(), out.arrival()?.secs_f64()))).collect()
}

/// The forward direction of arq2002: 384 kbit/s, 100 ms; the reports take 200 ms.
fn arq2002(loss: f64) -> ChannelConfig {
    let downlink = DirectionConfig {
        rate: rate(384_000),
        delay: secs(0.1),
        loss: Probability::new(loss).unwrap(),
        ..DirectionConfig::default()
    };
    let uplink = DirectionConfig { delay: secs(0.2), ..DirectionConfig::default() };
    ChannelConfig { forward: downlink, backward: uplink, ..ChannelConfig::default() }
}

#[test]
fn t_lk_2_fourteen_frames_overtake_the_damaged_one() {
    let plain = arq2002(0.02);
    let repeating =
        ChannelConfig { arq: vec![Arq { notices: Notices::Damage, ..simple() }], ..arq2002(0.02) };
    // The same transmissions fail on either link: a seed with one error among the first 45.
    let (seed, damaged) = (0..)
        .find_map(|seed| {
            let mut link = Channel::new(&plain, &Stream::new(seed));
            send(&mut link, 0..45, 1040, at(0.0));
            let heard = drain(&mut link);
            let lost: Vec<u64> =
                heard.iter().filter(|out| out.cause().is_some()).map(Out::number).collect();
            (lost.len() == 1 && (5..25).contains(&lost[0])).then(|| (seed, lost[0]))
        })
        .unwrap();
    let mut link = Channel::new(&repeating, &Stream::new(seed));
    send(&mut link, 0..44, 1040, at(0.0));
    let heard = drain_coupled(&mut link);
    let expected: Vec<u64> = (0..damaged)
        .chain(damaged + 1..=damaged + 14)
        .chain([damaged])
        .chain(damaged + 15..44)
        .collect();
    assert_eq!(numbers(&heard), expected);
    // n is noticed 100 ms after its transmission, known at the sending end 200 ms later, and has its
    // turn as the frame on the transmitter is done, the fourteenth after it.
    let frame = 1040.0 * 8.0 / 384_000.0;
    let back = heard[damaged as usize + 14].arrival().unwrap();
    assert!(close(back, (damaged as f64 + 16.0) * frame + 0.1), "{back}");
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.delivered, stats.local_retransmissions), (44, 1));
}
