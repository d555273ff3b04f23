use rtolab_time::Duration;

use super::*;
use crate::config::{Config, CubicGrowth, WindowConfig};
use crate::seq::Seq;

const SMSS: u64 = 1000;

fn window(cwnd: u64) -> Window {
    let config = WindowConfig { initial_ssthresh: Some(2), ..Config::default().window };
    let mut window = Window::new(&config, SMSS as u32, false);
    window.set_cwnd(cwnd * SMSS);
    window
}

fn without_reno() -> CubicConfig {
    CubicConfig { reno_friendly: false, ..CubicConfig::default() }
}

/// The acknowledgment of one segment, `millis` after the start.
fn after(millis: u64, srtt: u64) -> Acked {
    let at = Instant::START + Duration::from_millis(millis);
    let (una, max, srtt) = (Seq::FIRST, Seq::FIRST, Duration::from_millis(srtt));
    Acked { at, bytes: SMSS, srtt, una, max, oldest_sent: None }
}

/// A window that was reduced from 100 segments to 70. The next acknowledgment begins congestion
/// avoidance.
fn reduced(config: CubicConfig) -> (Cubic, Window) {
    let mut cubic = Cubic::new(config);
    cubic.save();
    assert_eq!(cubic.on_loss(100 * SMSS, 100 * SMSS, &window(100)), 70 * SMSS);
    (cubic, window(70))
}

#[test]
fn the_target_is_the_window_of_a_round_trip_later() {
    // K is the cube root of 30 / 0.4, 4.21716 s. W_cubic(1 s) = 0.4 * (1 - K)^3 + 100 = 86.6807,
    // and (86.6807 - 70) / 70 of a segment are 238 bytes.
    let (mut cubic, mut window) = reduced(without_reno());
    cubic.congestion_avoidance(&mut window, &after(0, 1000));
    assert_eq!(window.cwnd(), 70_238);
}

#[test]
fn the_curve_is_flat_at_the_last_maximum_and_steep_beyond() {
    let (mut cubic, mut window) = reduced(without_reno());
    cubic.congestion_avoidance(&mut window, &after(0, 0));
    assert_eq!(window.cwnd(), 70_000);
    window.set_cwnd(100_000);
    // At K the target is the maximum, a second later 0.4 of a segment more, four later 25.6 more.
    cubic.congestion_avoidance(&mut window, &after(4_217, 0));
    assert_eq!(window.cwnd(), 100_000);
    cubic.congestion_avoidance(&mut window, &after(5_217, 0));
    assert_eq!(window.cwnd(), 100_003);
    // (100 + 0.4 * 3.99984^3 - 100.004) / 100.004 of a segment, and 0.996 of a byte left over.
    cubic.congestion_avoidance(&mut window, &after(8_217, 0));
    assert_eq!(window.cwnd(), 100_259);
}

#[test]
fn the_target_is_at_most_one_and_a_half_windows() {
    let (mut cubic, mut window) = reduced(without_reno());
    cubic.congestion_avoidance(&mut window, &after(0, 0));
    cubic.congestion_avoidance(&mut window, &after(60_000, 0));
    assert_eq!(window.cwnd(), 70_500);
}

#[test]
fn fast_convergence_lowers_the_next_maximum() {
    // 80 is below 100: the next maximum is 80 * 1.7 / 2 = 68, K the cube root of 12 / 0.4, 3.10723
    // s.
    let reduced = |config| {
        let mut cubic = reduced(config).0;
        cubic.on_loss(0, 80 * SMSS, &window(80));
        (cubic, window(56))
    };
    let (mut cubic, mut window) = reduced(without_reno());
    cubic.congestion_avoidance(&mut window, &after(0, 3_107));
    // (68 - 56) / 56 of a segment.
    assert_eq!(window.cwnd(), 56_214);
    // Without fast convergence, the maximum is 80.
    let (mut cubic, mut window) =
        reduced(CubicConfig { fast_convergence: false, ..without_reno() });
    cubic.congestion_avoidance(&mut window, &after(0, 60_000));
    cubic.congestion_avoidance(&mut window, &after(3_915, 0));
    assert_eq!(window.cwnd(), 56_500 + 415);
}

#[test]
fn reno_is_a_lower_bound() {
    // alpha_cubic = 3 * (1 - 0.7) / (1 + 0.7) = 0.52941 segments a window: 7.563 bytes for the
    // first acknowledgment, 7.562 for the second.
    let (mut cubic, mut window) = reduced(CubicConfig::default());
    cubic.congestion_avoidance(&mut window, &after(0, 0));
    assert_eq!(window.cwnd(), 70_007);
    cubic.congestion_avoidance(&mut window, &after(0, 0));
    assert_eq!(window.cwnd(), 70_015);
}

#[test]
fn above_cwnd_prior_the_reno_estimate_grows_as_reno() {
    let (mut cubic, _) = reduced(CubicConfig::default());
    let mut window = window(100);
    cubic.congestion_avoidance(&mut window, &after(0, 0));
    assert_eq!(window.cwnd(), 100_010);
}

#[test]
fn a_timeout_clears_the_maximum() {
    let (mut cubic, mut window) = reduced(without_reno());
    cubic.on_timeout();
    // K is 0, and the maximum is the window at the start: a second later the target is 0.4 segments
    // more.
    cubic.congestion_avoidance(&mut window, &after(0, 0));
    cubic.congestion_avoidance(&mut window, &after(1_000, 0));
    assert_eq!(window.cwnd(), 70_000 + 5);
}

/// In the second case the last acknowledgment of a recovery leaves nothing outstanding: the stage
/// begins with it, and what was idle before does not move its start beyond the next data.
#[test]
fn idle_time_does_not_count() {
    for (begins, idle_until) in [(0, 10_000), (100, 100)] {
        let (mut cubic, mut window) = reduced(without_reno());
        cubic.congestion_avoidance(&mut window, &after(begins, 0));
        cubic.after_idle(after(0, 0).at, after(idle_until, 0).at);
        // W_cubic(1 s) is 86.6807, as above.
        cubic.congestion_avoidance(&mut window, &after(idle_until + 1_000, 0));
        assert_eq!(window.cwnd(), 70_000 + 238, "{begins}");
    }
}

#[test]
fn t_cu_1_an_undone_reduction_leaves_the_curve_unchanged() {
    let (mut cubic, mut window) = reduced(without_reno());
    cubic.congestion_avoidance(&mut window, &after(0, 1000));
    let before = cubic.curve;
    for (undo, restored) in [(CubicUndo::Rfc9438, true), (CubicUndo::Linux, false)] {
        let mut cubic = Cubic { config: CubicConfig { undo, ..without_reno() }, ..cubic };
        cubic.save();
        cubic.on_loss(0, window.cwnd(), &window);
        assert_ne!(cubic.curve, before);
        cubic.undo();
        assert_eq!(cubic.curve == before, restored, "{undo:?}");
    }
}

#[test]
fn t_cu_2_a_window_that_has_outgrown_the_reduction_stays() {
    let (mut cubic, _) = reduced(without_reno());
    assert!(cubic.keeps_window(100_000, 105_000) && cubic.keeps_window(100_000, 100_000));
    assert!(!cubic.keeps_window(100_000, 99_000));
    cubic.config.undo = CubicUndo::Linux;
    assert!(!cubic.keeps_window(100_000, 105_000));
}

/// The number of acknowledgments after which Linux's window grows. Before, the window was reduced
/// from each of `reductions` to seven tenths, in whole segments.
fn linux_grows_after(reductions: &[u64]) -> u64 {
    let config = CubicConfig { growth: CubicGrowth::Linux, ..CubicConfig::default() };
    let mut cubic = LinuxCubic::new(config);
    let mut current = window(10);
    for &reduced in reductions {
        cubic.on_loss(0, reduced * SMSS, &current);
        current = window(reduced * 7 / 10);
    }
    cubic.on_rtt(Duration::from_millis(400));
    let before = current.cwnd();
    (1..10_000)
        .find(|_| {
            cubic.congestion_avoidance(&mut current, &after(0, 400));
            current.cwnd() > before
        })
        .unwrap()
}

#[test]
fn linux_rounds_the_distance_to_the_maximum() {
    // From 25 to 17: K is the cube root of 8 / 0.4, 2.714 s, and 0.4 * (K - 0.4 s)^3 are 4.96
    // segments, of which 4 count: the target is 21, and 17 / 4 acknowledgments are 4.
    assert_eq!(linux_grows_after(&[25, 25]), 4);
    // 23 after 34: the maximum is 23 * 0.85, in whole segments 19. K is 1.957 s, the distance 1.51,
    // of which 1 counts: 16 / 2 are 8.
    assert_eq!(linux_grows_after(&[34, 23]), 8);
    // 19 after 27: the maximum is 16.15, in whole segments 16, and 16 is not below it. From there
    // to 11: K is 2.321 s, the distance 2.83, of which 2 count: 11 / 3 are 3.
    assert_eq!(linux_grows_after(&[27, 19, 16]), 3);
}
