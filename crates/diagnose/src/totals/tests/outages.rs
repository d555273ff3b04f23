//! Tests of outages, of repairs by timeouts and of full links.

use super::*;
use crate::evidence::Necessity::{Needed, Unneeded};
use crate::report::EpisodeReport;
use crate::report::samples::{episode, report, retransmission, timeout};

/// The outage of a connection with this episode, whose timeouts were at these times.
fn outage(
    episode: EpisodeReport,
    timeouts: &[f64],
    change: impl FnOnce(&mut ConnectionReport),
) -> Option<Outage> {
    let mut report = report();
    let class = episode.class;
    report.timeouts = timeouts.iter().map(|t| timeout(*t, class)).collect();
    report.episodes = vec![episode];
    change(&mut report);
    let mut totals = CaptureTotals::default();
    totals.add(&report);
    totals.outage
}

#[test]
fn several_timeouts_without_an_ack_are_an_outage() {
    let genuine = || episode([2.0, 5.0], TimeoutClass::Genuine);
    let found = outage(genuine(), &[3.0, 5.0], |_| {}).expect("an outage");
    assert_eq!((found.at, found.length, found.timeouts), (2.0, 3.0, 2));
    assert!(!found.is_of_acks);
    let acks = outage(episode([2.0, 5.0], TimeoutClass::AckLost), &[3.0, 5.0], |_| {});
    assert!(acks.is_some_and(|outage| outage.is_of_acks && !outage.is_after_capture));
    assert_eq!(outage(genuine(), &[3.0], |_| {}), None, "a queue may have dropped the only copy");
    assert_eq!(outage(genuine(), &[3.0, 5.001], |_| {}), None, "the second came after the stall");
    for class in [TimeoutClass::Spurious, TimeoutClass::Unknown] {
        assert_eq!(outage(episode([2.0, 5.0], class), &[3.0, 5.0], |_| {}), None);
    }
    let handshake = outage(genuine(), &[3.0, 5.0], |report| report.timeouts[0].handshake = true);
    assert_eq!(handshake, None);
    let other_end = outage(genuine(), &[3.0, 5.0], |report| report.timeouts[0].from = "server");
    assert_eq!(other_end, None);
}

/// All data was acknowledged in a capture at the sender before the timer expired.
#[test]
fn acknowledgments_of_all_data_passed_the_capture_if_none_was_outstanding() {
    let of = |class, outstanding, vantage| {
        let found = outage(episode([2.0, 5.0], class), &[3.0, 5.0], |report| {
            report.episodes[0].cost.flight[0] = outstanding;
            report.vantage = vantage;
        });
        found.expect("an outage").is_after_capture
    };
    assert!(of(TimeoutClass::AckLost, 0, Vantage::Sender));
    assert!(!of(TimeoutClass::AckLost, 1, Vantage::Sender));
    assert!(!of(TimeoutClass::AckLost, 0, Vantage::Between));
    assert!(!of(TimeoutClass::Genuine, 0, Vantage::Sender));
}

#[test]
fn an_outage_lasts_a_second_and_the_longest_counts() {
    let of = |to| outage(episode([2.0, to], TimeoutClass::Genuine), &[2.5, 2.75], |_| {});
    assert!(of(3.0).is_some());
    assert_eq!(of(2.9), None);
    for second in [7.5, 9.0] {
        let found = outage(episode([2.0, 4.0], TimeoutClass::Genuine), &[2.5, 3.5], |report| {
            report.episodes.push(episode([6.0, second], TimeoutClass::Genuine));
            report.timeouts.extend([6.5, 7.0].map(|t| timeout(t, TimeoutClass::Genuine)));
        });
        let longest = if second - 6.0 > 2.0 { 6.0 } else { 2.0 };
        assert_eq!(found.expect("an outage").at, longest);
    }
}

/// Two timeouts in a row have a chance of twice the loss rate each time: two timeouts of which one
/// follows another by chance with 2 x 2 x 1.2 % < 5 %, and not with 1.3 %.
#[test]
fn independent_losses_explain_timeouts_on_a_path_that_loses_much() {
    let with_losses = |lost: usize, verdict| {
        outage(episode([2.0, 5.0], TimeoutClass::Genuine), &[3.0, 5.0], |report| {
            report.retransmissions = vec![retransmission(9.0, verdict); lost];
        })
    };
    assert!(with_losses(12, Needed).is_some());
    assert_eq!(with_losses(13, Needed), None);
    assert!(with_losses(13, Unneeded).is_some(), "these were no losses");
    // Those of the episode itself do not count.
    let own = outage(episode([2.0, 5.0], TimeoutClass::Genuine), &[3.0, 5.0], |report| {
        report.retransmissions = vec![retransmission(4.0, Needed); 50];
    });
    assert!(own.is_some());
}

/// A sender that repairs losses of 10,000 bytes by timeouts at these times, after a stall that
/// ended at 3 s. Its episode ended at 10 s.
fn repairs(times: &[f64], change: impl FnOnce(&mut ConnectionReport)) -> (u64, f64) {
    let mut report = report();
    let mut episode = episode([1.0, 3.0], TimeoutClass::Genuine);
    (episode.end, episode.timeout_frames) = (Some(10.0), [1000, 10_000]);
    (episode.retransmissions, episode.cost.timeouts) = (5, 2);
    report.episodes = vec![episode];
    report.timeouts =
        [2.0].iter().chain(times).map(|t| timeout(*t, TimeoutClass::Genuine)).collect();
    change(&mut report);
    let mut totals = CaptureTotals::default();
    totals.add(&report);
    assert_eq!(totals.repairs_by_timeout.count, u64::from(totals.repairing_timeouts > 0));
    (totals.repairing_timeouts, totals.repairs_by_timeout.seconds)
}

#[test]
fn three_timeouts_after_the_stall_show_a_sender_that_repairs_by_timeouts() {
    let times = [4.0, 5.0, 6.0];
    assert_eq!(repairs(&times, |_| {}), (3, 7.0));
    assert_eq!(repairs(&times[1..], |_| {}), (0, 0.0));
    assert_eq!(repairs(&[3.0, 5.0, 6.0], |_| {}), (0, 0.0), "the first ended the stall");
    let no_end = repairs(&times, |report| report.episodes[0].end = None);
    assert_eq!(no_end, (3, 3.0), "until the last of them");
    for change in [
        (|report| report.timeouts[2].backoff = 1) as fn(&mut ConnectionReport),
        |report| report.timeouts[2].class = TimeoutClass::AckLost,
        |report| report.timeouts[2].seq = 10_001,
        |report| report.timeouts[2].from = "server",
        // More than 2.5 retransmissions for each timeout.
        |report| report.episodes[0].retransmissions = 6,
    ] {
        assert_eq!(repairs(&times, change), (0, 0.0));
    }
    // The last byte that was outstanding.
    assert_eq!(repairs(&times, |report| report.timeouts[2].seq = 10_000).0, 3);
}

/// The state of the link of a connection with 10 lost segments, this queue at the losses, and fast
/// retransmits a second apart, after long and after other round trips.
fn link(queue: Option<u64>, is_long: bool, [long, short]: [usize; 2]) -> FullLink {
    let mut report = report();
    report.queue = queue;
    report.retransmissions = (0..10).map(|n| retransmission(f64::from(n), Needed)).collect();
    report.queue_at_losses.is_long = is_long;
    let after = [(long, true), (short, false)];
    let all = after.into_iter().flat_map(|(count, is_long)| std::iter::repeat_n(is_long, count));
    report.queue_at_losses.fast_retransmits =
        all.enumerate().map(|(at, is_long)| (at as f64, is_long)).collect();
    let mut totals = CaptureTotals::default();
    totals.add(&report);
    totals.full_link()
}

/// A quarter of all round trips are long: 3 of 3 happen by chance with 1.6 %, 2 of 2 with 6 %, and
/// 1 of 1 with 25 %.
#[test]
fn a_link_is_full_if_losses_follow_long_round_trips() {
    assert_eq!(link(Some(5000), true, [3, 0]), FullLink::Yes(5000));
    assert_eq!(link(Some(5000), true, [2, 0]), FullLink::Probably(5000));
    assert_eq!(link(Some(5000), true, [1, 0]), FullLink::Undecided);
    assert_eq!(link(None, true, [3, 0]), FullLink::Unknown);
    assert_eq!(link(Some(0), false, [0, 5]), FullLink::NoQueue);
    assert_eq!(link(Some(0), true, [2, 3]), FullLink::NotCause);
    assert_eq!(link(Some(0), true, [3, 2]), FullLink::Undecided);
    assert_eq!(link(Some(0), true, [1, 3]), FullLink::Undecided, "too few to tell");
}

#[test]
fn most_losses_decide_about_the_link_and_its_queue() {
    let of = |queue, lost: u32| {
        let mut report = report();
        report.queue = queue;
        report.retransmissions = (0..lost).map(|n| retransmission(f64::from(n), Needed)).collect();
        report.queue_at_losses.fast_retransmits = vec![(1.0, true), (2.0, true), (3.0, true)];
        report
    };
    let over = |reports: &[ConnectionReport]| {
        let mut totals = CaptureTotals::default();
        for one in reports {
            totals.add(one);
        }
        totals.full_link()
    };
    // (3 x 1000 + 1 x 5000) / 4
    let both = [of(Some(1000), 3), of(Some(5000), 1)];
    assert_eq!(over(&both), FullLink::Yes(2000));
    assert_eq!(over(&[of(Some(1000), 3), of(None, 3)]), FullLink::Yes(1000));
    assert_eq!(over(&[of(Some(1000), 3), of(None, 4)]), FullLink::Unknown);
    assert_eq!(over(&[of(Some(1000), 3), of(Some(0), 3)]), FullLink::Yes(1000));
    assert_eq!(over(&[of(Some(1000), 3), of(Some(0), 4)]), FullLink::NoQueue);
    assert_eq!(FullLink::Yes(7).queue(), Some(7));
    assert_eq!(FullLink::Probably(7).queue(), Some(7));
    assert_eq!(FullLink::Undecided.queue(), None);
}

/// Fast retransmits within 100 ms may have one cause.
#[test]
fn fast_retransmits_at_about_the_same_time_count_once() {
    let mut report = report();
    report.queue = Some(1);
    report.queue_at_losses.fast_retransmits =
        vec![(1.01, true), (1.02, true), (1.03, false), (1.31, true), (1.32, false), (1.51, false)];
    let mut totals = CaptureTotals::default();
    totals.add(&report);
    assert_eq!(totals.spans_of_fast_retransmits(), [1, 3]);
}
