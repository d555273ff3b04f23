//! ARQ with exact times, all computed by hand.

use crate::common::{
    FrameOutcome, Packet, at, channel, close, drain, drain_coupled, numbers, poll_both, rate, secs,
    send, window,
};
use rtolab_link::{
    Arq, BlockLossDetection, Channel, ChannelConfig, Direction, DirectionConfig, DisturbanceKind,
    DropCause, Limit, Order, Outages, Outcome, Probability, StallHolds, Stalls, Stream,
};
use rtolab_time::{Duration, Instant};

/// A frame is a block, reports take no bandwidth, order is free.
fn simple() -> Arq {
    Arq {
        retries: 3,
        order: Order::Free,
        fragment: None,
        header: 0,
        report: 0,
        notices: BlockLossDetection::Gap,
        timeout: secs(10.0),
    }
}

fn in_order() -> Arq {
    Arq { order: Order::Kept, ..simple() }
}

/// 1,000 bytes take a second to transmit; the propagation delay is half a second.
fn slow() -> DirectionConfig {
    DirectionConfig { rate: rate(8_000), delay: secs(0.5), ..DirectionConfig::default() }
}

/// The same with these transmissions lost.
fn dropping(drops: &[u32]) -> DirectionConfig {
    DirectionConfig { drops: drops.to_vec(), ..slow() }
}

fn with_arq(forward: DirectionConfig, arq: Arq) -> ChannelConfig {
    ChannelConfig { forward, backward: slow(), arq: vec![arq], ..ChannelConfig::default() }
}

/// The outcomes of frames of 1,000 bytes sent at time 0.
fn run(config: &ChannelConfig, frames: u64) -> (Vec<FrameOutcome>, Channel<Packet>) {
    let mut link = channel(config);
    send(&mut link, 0..frames, 1000, at(0.0));
    let outcomes = drain_coupled(&mut link);
    (outcomes, link)
}

fn arrivals(outcomes: &[FrameOutcome]) -> Vec<(u64, f64)> {
    outcomes.iter().filter_map(|out| Some((out.number(), out.arrival()?.secs_f64()))).collect()
}

fn held(out: &FrameOutcome) -> Duration {
    match out {
        FrameOutcome::Arrived { held, .. } => *held,
        FrameOutcome::Lost { .. } => panic!("it was lost: {out:?}"),
    }
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
fn t_lk_2_fourteen_frames_arrive_before_the_damaged_one() {
    let plain = arq2002(0.02);
    let with_arq = ChannelConfig {
        arq: vec![Arq { notices: BlockLossDetection::Damage, ..simple() }],
        ..arq2002(0.02)
    };
    // The same transmissions fail on either link: a seed with one error among the first 45.
    let (seed, damaged) = (0..)
        .find_map(|seed| {
            let mut link = Channel::new(&plain, &Stream::new(seed));
            send(&mut link, 0..45, 1040, at(0.0));
            let outcomes = drain(&mut link);
            let lost: Vec<u64> = outcomes
                .iter()
                .filter(|out| out.cause().is_some())
                .map(FrameOutcome::number)
                .collect();
            (lost.len() == 1 && (5..25).contains(&lost[0])).then(|| (seed, lost[0]))
        })
        .unwrap();
    let mut link = Channel::new(&with_arq, &Stream::new(seed));
    send(&mut link, 0..44, 1040, at(0.0));
    let outcomes = drain_coupled(&mut link);
    let expected: Vec<u64> = (0..damaged)
        .chain(damaged + 1..=damaged + 14)
        .chain([damaged])
        .chain(damaged + 15..44)
        .collect();
    assert_eq!(numbers(&outcomes), expected);
    // The loss of n is noticed 100 ms after its transmission and reported 200 ms later. Its
    // retransmission starts when the current frame is done: the fourteenth after n.
    let frame = 1040.0 * 8.0 / 384_000.0;
    let back = outcomes[damaged as usize + 14].arrival().unwrap();
    assert!(close(back, (damaged as f64 + 16.0) * frame + 0.1), "{back}");
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.delivered, stats.local_retransmissions), (44, 1));
}

#[test]
fn a_reported_gap_is_filled_before_new_frames_are_sent() {
    let (outcomes, link) = run(&with_arq(dropping(&[2]), simple()), 5);
    // Frame 2 arrives at 3.5 and shows the gap; at 4 the report is there and the transmitter is
    // free.
    assert_eq!(arrivals(&outcomes), [(0, 1.5), (2, 3.5), (3, 4.5), (1, 5.5), (4, 6.5)]);
    let held: Vec<_> = outcomes.iter().map(|out| held(out).secs_f64()).collect();
    assert_eq!(held, [0.0, 0.0, 0.0, 3.0, 0.0]);
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.transmissions, stats.transmitted_bytes), (6, 6000));
    assert_eq!((stats.local_retransmissions, stats.reports), (1, 0));
    assert_eq!((stats.offered, stats.delivered, stats.drops.total()), (5, 5, 0));
}

#[test]
fn an_in_order_receiver_holds_frames_behind_a_gap() {
    let (outcomes, _) = run(&with_arq(dropping(&[2]), in_order()), 5);
    assert_eq!(arrivals(&outcomes), [(0, 1.5), (1, 5.5), (2, 5.5), (3, 5.5), (4, 6.5)]);
    let held: Vec<_> = outcomes.iter().map(|out| held(out).secs_f64()).collect();
    assert_eq!(held, [0.0, 3.0, 2.0, 1.0, 0.0]);
}

#[test]
fn the_loss_of_the_last_block_is_detected_by_the_timer() {
    let arq = Arq { timeout: secs(2.0), ..simple() };
    let (outcomes, _) = run(&with_arq(dropping(&[3]), arq), 3);
    // Lost at 3, retransmitted from 5 to 6.
    assert_eq!(arrivals(&outcomes), [(0, 1.5), (1, 2.5), (2, 6.5)]);
}

#[test]
fn a_block_is_given_up_after_its_retries() {
    let arq = Arq { timeout: secs(2.0), ..simple() };
    let (outcomes, _) = run(&with_arq(dropping(&[1, 2, 3]), arq), 1);
    assert_eq!(arrivals(&outcomes), [(0, 10.5)]);
    let (outcomes, mut link) = run(&with_arq(dropping(&[1, 2, 3, 4]), arq), 1);
    // Lost at 1, 4, 7 and 10, each loss reported two seconds later.
    assert_eq!(
        outcomes,
        [FrameOutcome::Lost { number: 0, at: at(12.0), cause: DropCause::Retries }]
    );
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.transmissions, stats.local_retransmissions), (4, 3));
    assert_eq!((stats.drops.retries, link.frames_inside(Direction::Forward)), (1, 0));
    send(&mut link, [1], 1000, at(20.0));
    assert_eq!(arrivals(&drain_coupled(&mut link)), [(1, 21.5)]);
}

#[test]
fn damage_is_detected_at_arrival_and_a_gap_by_a_later_block() {
    let always = DirectionConfig { loss: Probability::new(1.0).unwrap(), ..slow() };
    let damage = Arq { notices: BlockLossDetection::Damage, ..simple() };
    // One second each, half a second there and half a second back: four times.
    let (outcomes, _) = run(&with_arq(always.clone(), damage), 1);
    assert_eq!(
        outcomes,
        [FrameOutcome::Lost { number: 0, at: at(8.0), cause: DropCause::Retries }]
    );
    // One second each, and ten seconds until the timeout.
    let (outcomes, _) = run(&with_arq(always, simple()), 1);
    assert_eq!(
        outcomes,
        [FrameOutcome::Lost { number: 0, at: at(44.0), cause: DropCause::Retries }]
    );
}

#[test]
fn a_block_lost_in_an_outage_is_detected_as_a_gap() {
    for notices in [BlockLossDetection::Damage, BlockLossDetection::Gap] {
        let outages = Outages { scripted: vec![window(0.75, 0.5)], random: None };
        let config = with_arq(slow(), Arq { notices, ..simple() });
        let (outcomes, _) = run(&ChannelConfig { outages, ..config }, 3);
        // Frame 1 shows the gap at 2.5.
        assert_eq!(arrivals(&outcomes), [(1, 2.5), (2, 3.5), (0, 4.5)]);
    }
}

#[test]
fn a_lost_report_costs_a_timeout_and_an_unneeded_copy() {
    let arq = Arq { timeout: secs(4.0), ..simple() };
    // The report leaves at 1.5; it has no size, but the outage destroys it.
    let outages = Outages { scripted: vec![window(1.5, 0.1)], random: None };
    let nothing = ChannelConfig { outages, ..with_arq(slow(), arq) };
    // It has a size, and is the first transmission of the reverse direction.
    let sized =
        ChannelConfig { backward: dropping(&[1]), ..with_arq(slow(), Arq { report: 100, ..arq }) };
    for (config, reports) in [(nothing, 0), (sized, 2)] {
        let (outcomes, link) = run(&config, 1);
        assert_eq!(arrivals(&outcomes), [(0, 1.5)]);
        let stats = link.stats(Direction::Forward);
        assert_eq!((stats.transmissions, stats.local_retransmissions), (2, 1));
        assert_eq!(link.stats(Direction::Backward).reports, reports);
        assert_eq!(link.next_event(), None);
    }
}

#[test]
fn the_next_report_repeats_a_lost_one() {
    let arq = Arq { report: 100, ..simple() };
    let config = ChannelConfig { backward: dropping(&[1, 2]), ..with_arq(slow(), arq) };
    let (_, link) = run(&config, 3);
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.transmissions, stats.delivered), (3, 3));
    assert_eq!(link.next_event(), None);
}

#[test]
fn reports_take_time_and_have_priority() {
    let config = with_arq(slow(), Arq { report: 500, ..simple() });
    let mut link = channel(&config);
    send(&mut link, [0], 1000, at(0.0));
    for number in 10..13 {
        link.send(Direction::Backward, Packet::new(number, 1000), at(0.0));
    }
    let [_, backward] = poll_both(&mut link, Instant::NEVER);
    // The report of frame 0 is due at 1.5 and is sent from 2 to 2.5.
    assert_eq!(arrivals(&backward), [(10, 1.5), (11, 2.5), (12, 4.0)]);
    let stats = link.stats(Direction::Backward);
    assert_eq!((stats.transmissions, stats.transmitted_bytes, stats.reports), (4, 3500, 1));
}

#[test]
fn blocks_and_their_headers_take_transmission_time() {
    let arq = Arq { fragment: Some(200), header: 50, ..simple() };
    let (outcomes, link) = run(&with_arq(slow(), arq), 100);
    // rate * payload / (payload + header) = 8,000 bit/s * 200 / 250.
    let last = outcomes.last().unwrap().arrival().unwrap();
    assert_eq!(last, at(100.0 * 8000.0 / 6400.0 + 0.5));
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.transmissions, stats.transmitted_bytes), (500, 125_000));
    assert_eq!((stats.delivered, stats.bytes), (100, 100_000));
    // The last block is shorter.
    let mut link = channel(&with_arq(slow(), arq));
    send(&mut link, [0], 401, at(0.0));
    let [(0, last)] = arrivals(&drain_coupled(&mut link))[..] else { panic!("it is lost") };
    assert!(close(at(last), 0.551 + 0.5), "{last}");
}

#[test]
fn a_frame_is_complete_when_its_last_block_arrives() {
    let arq = Arq { fragment: Some(250), ..simple() };
    let (outcomes, link) = run(&with_arq(dropping(&[2]), arq), 2);
    // Block 3 arrives at 1.25, the report of the gap at 1.75, and block 2 leaves from there to 2.
    assert_eq!(arrivals(&outcomes), [(0, 2.5), (1, 2.75)]);
    assert_eq!(link.stats(Direction::Forward).local_retransmissions, 1);
}

#[test]
fn one_block_given_up_gives_up_the_whole_frame() {
    let arq = Arq { retries: 0, fragment: Some(250), ..simple() };
    let mut link = channel(&with_arq(dropping(&[2]), arq));
    send(&mut link, [0], 2500, at(0.0));
    send(&mut link, [1], 250, at(0.0));
    let outcomes = drain_coupled(&mut link);
    // Known at 1.75: seven blocks of ten have been sent, the others never are. The last of the
    // seven arrives with the other frame, half a block's time before that.
    let lost = FrameOutcome::Lost { number: 0, at: at(1.75), cause: DropCause::Retries };
    assert_eq!(outcomes[0], lost);
    assert_eq!(arrivals(&outcomes), [(1, 2.5)]);
    assert_eq!(link.stats(Direction::Forward).transmissions, 8);
}

#[test]
fn the_window_of_an_in_order_receiver_moves_past_blocks_given_up() {
    // Frame 1 shows the gap at 2.5. Half a second later the sender knows and gives up frame 0, or
    // 0.6 s later if a report has 100 bytes. The receiver learns it after the same time.
    for (report, reported) in [(0, 3.5), (100, 3.7)] {
        let arq = Arq { retries: 0, report, ..in_order() };
        let (outcomes, link) = run(&with_arq(dropping(&[1]), arq), 2);
        let given_up = at(reported / 2.0 + 1.25);
        assert_eq!(
            outcomes[0],
            FrameOutcome::Lost { number: 0, at: given_up, cause: DropCause::Retries }
        );
        assert_eq!(arrivals(&outcomes), [(1, reported)]);
        assert!(close(at(held(&outcomes[1]).secs_f64()), reported - 2.5));
        assert_eq!(link.stats(Direction::Forward).reports, u64::from(report > 0));
    }
}

#[test]
fn later_blocks_move_the_window_of_an_in_order_receiver() {
    let arq = Arq { retries: 0, report: 100, ..in_order() };
    let (outcomes, link) = run(&with_arq(dropping(&[1]), arq), 5);
    // Given up at 3.1; frame 4, from 4 to 5, is the first to carry that.
    assert_eq!(arrivals(&outcomes), [(1, 5.5), (2, 5.5), (3, 5.5), (4, 5.5)]);
    assert_eq!(link.stats(Direction::Forward).reports, 0);
}

#[test]
fn an_in_order_receiver_that_still_waits_repeats_its_report() {
    // The third transmission carries the notice; it is lost.
    let arq = Arq { retries: 0, report: 100, ..in_order() };
    let (outcomes, _) = run(&with_arq(dropping(&[1, 3]), arq), 2);
    // The report of 2.5 is repeated ten seconds later, and answered.
    let [(number, back)] = arrivals(&outcomes)[..] else { panic!("{outcomes:?}") };
    assert_eq!(number, 1);
    assert!(close(at(back), 12.5 + 0.6 + 0.6), "{back}");
}

#[test]
fn a_late_last_copy_completes_its_frame() {
    let arq = Arq { retries: 0, timeout: secs(0.25), ..simple() };
    let (outcomes, link) = run(&with_arq(slow(), arq), 1);
    assert_eq!(arrivals(&outcomes), [(0, 1.5)]);
    assert_eq!(link.stats(Direction::Forward).drops.total(), 0);
}

#[test]
fn the_link_buffers_limit_the_open_frames() {
    let stop_and_wait = DirectionConfig { send_buffer: Limit::Packets(1), ..slow() };
    let (outcomes, link) = run(&with_arq(stop_and_wait, simple()), 3);
    assert_eq!(arrivals(&outcomes), [(0, 1.5), (1, 3.5), (2, 5.5)]);
    assert_eq!(link.stats(Direction::Forward).max_queue, 2);
    // A frame larger than the buffer is sent alone.
    let small = DirectionConfig { receive_buffer: Limit::Bytes(500), ..slow() };
    let (outcomes, _) = run(&with_arq(small, simple()), 2);
    assert_eq!(arrivals(&outcomes), [(0, 1.5), (1, 3.5)]);
}

#[test]
fn the_queue_drops_excess_and_expired_frames() {
    let short = DirectionConfig { queue: Limit::Packets(1), ..slow() };
    let (outcomes, link) = run(&with_arq(short, simple()), 3);
    assert_eq!(outcomes[0], FrameOutcome::Lost { number: 2, at: at(0.0), cause: DropCause::Queue });
    assert_eq!(arrivals(&outcomes), [(0, 1.5), (1, 2.5)]);
    assert_eq!(link.stats(Direction::Forward).max_queue, 1);
    let lively = DirectionConfig { lifetime: Some(secs(1.5)), ..slow() };
    let (outcomes, _) = run(&with_arq(lively, simple()), 3);
    assert_eq!(arrivals(&outcomes), [(0, 1.5), (1, 2.5)]);
    assert!(outcomes.contains(&FrameOutcome::Lost {
        number: 2,
        at: at(2.0),
        cause: DropCause::Lifetime
    }));
}

/// An upper layer over a lower one that never retransmits.
fn stacked(upper: Arq, lower: Arq) -> ChannelConfig {
    ChannelConfig { arq: vec![upper, lower], ..with_arq(dropping(&[1]), upper) }
}

#[test]
fn the_upper_layer_retransmits_blocks_that_the_lower_one_gives_up() {
    let upper = Arq { timeout: secs(5.0), ..in_order() };
    let lower = Arq { retries: 0, timeout: secs(2.0), ..in_order() };
    let (outcomes, link) = run(&stacked(upper, lower), 1);
    // Lost at 1, given up by the lower layer at 3, reported by the upper at 6.
    assert_eq!(arrivals(&outcomes), [(0, 7.5)]);
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.transmissions, stats.local_retransmissions), (2, 1));
    assert_eq!(stats.drops.total(), 0);
}

#[test]
fn the_upper_layer_does_not_notice_retransmissions_of_the_lower_one() {
    let upper = Arq { timeout: secs(5.0), ..in_order() };
    let lower = Arq { timeout: secs(2.0), ..in_order() };
    let (outcomes, link) = run(&stacked(upper, lower), 1);
    assert_eq!(arrivals(&outcomes), [(0, 4.5)]);
    assert_eq!(held(&outcomes[0]), secs(3.0));
    assert_eq!(link.stats(Direction::Forward).local_retransmissions, 1);
}

#[test]
fn a_block_given_up_by_the_lower_layer_counts_from_its_next_transmission() {
    let upper = Arq { timeout: secs(2.0), ..in_order() };
    let lower = Arq { retries: 0, fragment: Some(125), ..in_order() };
    let config = ChannelConfig {
        forward: DirectionConfig { delay: secs(0.4), ..dropping(&[1]) },
        backward: DirectionConfig::default(),
        ..stacked(upper, lower)
    };
    let (outcomes, _) = run(&config, 1);
    // The second eighth arrives at 0.65 and shows the loss of the first. The sixth is being sent
    // then; it arrives at 1.15, unneeded. The upper layer reports the loss at 3.15.
    assert_eq!(arrivals(&outcomes), [(0, 4.55)]);
    assert_eq!(held(&outcomes[0]), Duration::ZERO);
}

#[test]
fn the_upper_layer_gives_up_too() {
    let upper = Arq { retries: 1, timeout: secs(5.0), ..in_order() };
    let lower = Arq { retries: 0, timeout: secs(2.0), ..in_order() };
    let config = ChannelConfig { forward: dropping(&[1, 2]), ..stacked(upper, lower) };
    let (outcomes, _) = run(&config, 1);
    assert_eq!(
        outcomes,
        [FrameOutcome::Lost { number: 0, at: at(12.0), cause: DropCause::Retries }]
    );
}

#[test]
fn each_layer_adds_its_headers_and_reports() {
    let upper = Arq { header: 20, report: 8, ..in_order() };
    let lower = Arq { fragment: Some(500), header: 10, report: 4, ..in_order() };
    let config = ChannelConfig { forward: slow(), ..stacked(upper, lower) };
    let (outcomes, link) = run(&config, 1);
    // 1,020 bytes in the upper layer; 510, 510 and 30 in the lower.
    assert_eq!(arrivals(&outcomes), [(0, 1.05 + 0.5)]);
    let stats = link.stats(Direction::Forward);
    // And a report for the report in the other direction.
    assert_eq!((stats.transmissions, stats.transmitted_bytes, stats.reports), (4, 1054, 1));
    let stats = link.stats(Direction::Backward);
    // Three from the lower layer, and one from the upper, which is a block of the lower.
    assert_eq!((stats.reports, stats.transmitted_bytes), (4, 3 * 4 + 18));
}

#[test]
fn a_link_records_its_disturbances() {
    let outages = Outages { scripted: vec![window(5.0, 1.0)], random: None };
    let stalls = Stalls { scripted: vec![window(1.0, 2.0)], ..Stalls::default() };
    for holds in [StallHolds::Entry, StallHolds::Transmitter] {
        let stalls = Stalls { holds, ..stalls.clone() };
        let forward = DirectionConfig { stalls, ..slow() };
        let config = ChannelConfig { outages: outages.clone(), ..with_arq(forward, simple()) };
        let mut link = channel(&config);
        link.record_disturbances();
        send(&mut link, [0, 1], 1000, at(0.5));
        poll_both(&mut link, Instant::NEVER);
        let reported: Vec<_> = link
            .disturbances(at(10.0))
            .iter()
            .map(|it| (it.kind, it.direction, it.from, it.to))
            .collect();
        let forward = Some(Direction::Forward);
        assert_eq!(
            reported,
            [
                (DisturbanceKind::Stall, forward, at(1.0), at(3.0)),
                (DisturbanceKind::Outage, None, at(5.0), at(6.0)),
            ]
        );
    }
}

/// The loss that remains after `retries`, and the remaining capacity.
#[test]
fn residual_loss_and_capacity_match_their_formulas() {
    let lossy = |loss| DirectionConfig {
        rate: rate(8_000_000),
        delay: secs(0.01),
        loss: Probability::new(loss).unwrap(),
        ..DirectionConfig::default()
    };
    let frames = 40_000;
    let link = |loss, retries| ChannelConfig {
        backward: lossy(0.0),
        ..with_arq(lossy(loss), Arq { retries, timeout: secs(0.5), ..simple() })
    };
    let (_, link_of_one) = run(&link(0.3, 1), frames);
    let lost = link_of_one.stats(Direction::Forward).drops.retries as f64;
    let (expected, n) = (0.3 * 0.3, frames as f64);
    let deviation = (n * expected * (1.0 - expected)).sqrt();
    assert!((lost - n * expected).abs() < 4.0 * deviation, "{lost}");
    // Transmissions per frame if none is given up: mean 1 / (1 - p), variance p / (1 - p)^2.
    let p = 0.2;
    let (outcomes, persistent) = run(&link(p, 1000), frames);
    let sent = persistent.stats(Direction::Forward).transmissions as f64;
    let deviation = (n * p).sqrt() / (1.0 - p);
    assert!((sent - n / (1.0 - p)).abs() < 4.0 * deviation, "{sent}");
    // The transmitter is never idle before the last blocks, which wait for reports.
    let last = outcomes.last().unwrap().arrival().unwrap().secs_f64();
    assert!(last - sent * 0.001 < 10.0 * 0.5, "{last} {sent}");
}

#[test]
fn undetected_damage_stays_in_the_frame() {
    let certain = Probability::new(1.0).unwrap();
    let forward = DirectionConfig { corruption: certain, duplication: certain, ..slow() };
    let arq = Arq { fragment: Some(250), ..in_order() };
    let mut link = channel(&with_arq(forward, arq));
    send(&mut link, 0..3, 1000, at(0.0));
    let mut delivered = Vec::new();
    while let Some(now) = link.next_event() {
        while let Some(outcome) = link.poll(now) {
            let Outcome::Delivered { frame, duplicate, .. } = outcome else {
                panic!("{outcome:?}")
            };
            delivered.push((frame.number, frame.corrupt, duplicate));
        }
    }
    // Second copies of blocks are recognised by their numbers.
    assert_eq!(delivered, [(0, true, false), (1, true, false), (2, true, false)]);
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.corrupted, stats.duplicates), (3, 0));
}

#[test]
fn damaged_reports_are_ignored() {
    let certain = Probability::new(1.0).unwrap();
    let arq = Arq { report: 100, timeout: secs(4.0), ..simple() };
    let config = ChannelConfig {
        backward: DirectionConfig { corruption: certain, ..slow() },
        ..with_arq(slow(), arq)
    };
    let (outcomes, link) = run(&config, 1);
    // The sender's retransmissions are unneeded, and it gives up; the frame had arrived.
    assert_eq!(arrivals(&outcomes), [(0, 1.5)]);
    let stats = link.stats(Direction::Forward);
    assert_eq!((stats.local_retransmissions, stats.delivered, stats.drops.total()), (3, 1, 0));
    assert_eq!(link.stats(Direction::Backward).reports, 4);
}
