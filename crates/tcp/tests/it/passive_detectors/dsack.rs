//! D-SACK as a passive detector.

use rtolab_tcp::spurious::{Reason, Verdict};

use Verdict::{Genuine, Inconclusive, Open, Spurious};

use super::observed::{ObservedSender, gone_back_n};

/// Four segments. The first arrives last, and is retransmitted meanwhile.
fn reordered() -> ObservedSender {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=4).sacks(100, 0, [2..=2]).sacks(101, 0, [2..=3]).sacks(102, 0, [2..=4]);
    observed.fast_retransmit(102, 1);
    observed
}

#[test]
fn t_ds_1_all_that_was_retransmitted_is_reported() {
    let mut observed = reordered();
    observed.ack(110, 4);
    assert_eq!(observed.decision("dsack"), None);
    observed.sacks(200, 4, [1..=1]);
    assert_eq!(observed.decision("dsack"), Some((Spurious, 200)));
}

#[test]
fn t_ds_2_the_sixth_report_decides() {
    let mut observed = gone_back_n();
    for number in 1..=5 {
        observed.sacks(1200 + u64::from(number), 6, [number..=number]);
        assert_eq!(observed.decision("dsack"), None);
    }
    observed.sacks(1206, 6, [6..=6]);
    assert_eq!(observed.decision("dsack"), Some((Spurious, 1206)));
}

#[test]
fn t_ds_3_five_of_six_do_not() {
    let mut observed = gone_back_n();
    for number in 1..=5 {
        observed.sacks(1200 + u64::from(number), 6, [number..=number]);
    }
    observed.ack(1300, 7);
    assert_eq!(observed.decision("dsack"), Some((Open, 1300)));
}

#[test]
fn t_ds_4_one_of_two_was_lost() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.ack(1100, 1).sends(1100, 2..=2).ack(1200, 6).sends(1200, 7..=7);
    observed.sacks(1201, 6, [2..=2]).ack(1300, 7);
    assert_eq!(observed.decision("dsack"), Some((Open, 1300)));
}

#[test]
fn t_ds_5_a_duplicate_that_was_never_retransmitted_ends_its_use() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.ack(1100, 1).ack(1104, 5).sacks(1105, 5, [4..=4]);
    assert_eq!(observed.decision("dsack"), Some((Inconclusive(Reason::NetworkDuplicates), 1105)));
    // This is permanent: in the next episode every retransmission is reported, and it still does
    // not decide.
    observed.timeout(2000, 6);
    observed.ack(2100, 6);
    assert_eq!(observed.decision("dsack"), Some((Inconclusive(Reason::NetworkDuplicates), 2100)));
}

#[test]
fn t_ds_6_a_segment_retransmitted_twice_decides_nothing() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=2).timeout(1000, 1);
    observed.timeout(3000, 1);
    observed.ack(3100, 2).sacks(3101, 2, [1..=1]);
    assert_eq!(observed.decision("dsack"), Some((Inconclusive(Reason::RetransmittedTwice), 3101)));
}

#[test]
fn t_ds_7_a_window_of_acknowledgments_was_lost() {
    let mut observed = ObservedSender::new();
    observed.sends(0, 1..=6).timeout(1000, 1);
    observed.sacks(1100, 6, [1..=1]);
    assert_eq!(observed.decision("dsack"), Some((Genuine, 1100)));
}

#[test]
fn without_d_sack_the_detector_is_inconclusive() {
    let mut observed = gone_back_n();
    for _ in 0..6 {
        observed.ack(1200, 6);
    }
    observed.sends(1250, 8..=8).ack(1300, 7);
    assert_eq!(observed.decision("dsack"), Some((Inconclusive(Reason::NoDsack), 1300)));
}

#[test]
fn a_report_one_episode_late_does_not_count_as_a_network_duplicate() {
    let mut observed = gone_back_n();
    observed.timeout(2000, 7);
    observed.sacks(2100, 6, [1..=1]).ack(2101, 7).sacks(2102, 7, [7..=7]);
    // The first report is of the episode before; the second is the only one of this episode.
    assert_eq!(observed.decision("dsack"), Some((Spurious, 2102)));
}
