//! BBR version 3: the example tests of draft-ietf-ccwg-bbr-06 appendix A, under its headings. The
//! path carries 1,000,000 bytes a second (1,000 segments) and has a round trip of 100 ms, so that
//! its BDP is 100,000 bytes.

use crate::script::path::{Fate, Path};
use rtolab_tcp::config::{RackRules, RtoFloor};
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Event, specification};
use rtolab_time::Duration;

const RATE: u64 = 1_000_000;
const BDP: u64 = 100_000;

/// A sender that is not application-limited, on a path with this queue in bytes.
fn bulk(spec: &str, queue: u64) -> Path {
    let mut path = Path::new(spec, (RATE, 100, queue));
    path.write(500_000_000);
    path
}

/// A flow in this state of ProbeBW.
fn bulk_in(mode: &str, queue: u64) -> Path {
    let mut path = bulk("rack+bbr3", queue);
    path.until_mode(mode, 30_000);
    path
}

/// Writes 10 segments each 20 ms: half of the bandwidth. Stops when `done`, after at most `millis`.
fn write_slowly(path: &mut Path, millis: u64, mut done: impl FnMut(&Path) -> bool) -> bool {
    for _ in 0..millis / 20 {
        path.write(10_000).run(20);
        if done(path) {
            return true;
        }
    }
    false
}

fn is_close(rate: u64, to: u64, percent: u64) -> bool {
    rate.abs_diff(to) * 100 <= to * percent
}

fn has_timed_out(path: &Path) -> bool {
    path.events.iter().any(|event| matches!(event, Event::Timeout(_)))
}

fn found_spurious(path: &Path) -> bool {
    let spurious = |e: &Event| matches!(e, Event::Verdict { verdict: Verdict::Spurious, .. });
    path.events.iter().any(spurious)
}

/// `OnInit` (section 5.2.1) and `InitPacingRate` (section 5.6.2): the handshake gives the smallest
/// round trip, and the first rate is that of the initial window.
#[test]
fn the_handshake_initializes_the_model() {
    let path = bulk("rack+bbr3", 4 * BDP);
    assert_eq!(path.model().min_rtt, Some(Duration::from_millis(100)));
    let rate = path.cwnd() * 277 / 100 * 1_000 / 100;
    assert_eq!(path.sender.sender().pacing_rate(), Some(rate));
}

#[test]
fn exiting_startup_on_bandwidth_plateau() {
    let mut path = bulk("rack+bbr3", 4 * BDP);
    assert_eq!((path.mode(), path.model().pacing_gain), ("startup", 277));
    path.until_mode("drain", 5_000);
    assert!(is_close(path.model().max_bw, RATE, 2), "{:?}", path.model());
    assert_eq!((path.model().full_bw_count, path.model().full_bw_reached), (3, true));
}

#[test]
fn exiting_startup_on_loss_when_application_limited() {
    let mut path = Path::new("rack+bbr3", (RATE, 100, 4 * BDP));
    assert!(!write_slowly(&mut path, 3_000, |path| path.mode() != "startup"));
    path.fate = Box::new(|number| if number % 5 == 0 { Fate::Lost } else { Fate::Passes });
    assert!(write_slowly(&mut path, 2_000, |path| path.model().full_bw_reached));
    assert_ne!(path.mode(), "startup");
    assert!(path.model().inflight_longterm.is_some());
}

#[test]
fn exiting_drain_based_on_inflight() {
    let mut path = bulk("rack+bbr3", 4 * BDP);
    path.until_mode("drain", 5_000);
    assert_eq!(path.model().pacing_gain, 50);
    let rounds = path.model().round_count;
    path.until(2_000, |path| path.mode() != "drain");
    // DOWN, or at once CRUISE, whose condition is the same while there is no `inflight_longterm`.
    assert!(["probe_down", "probe_cruise"].contains(&path.mode()), "{}", path.mode());
    assert!(path.in_flight() <= BDP * 105 / 100, "{}", path.in_flight());
    assert!(path.model().round_count <= rounds + 3);
}

#[test]
fn exiting_drain_based_on_time() {
    let mut path = bulk("rack+bbr3", 8 * BDP);
    path.until_mode("drain", 5_000);
    let rounds = path.model().round_count;
    // A decrease by 10 %, as the draft has it, still drains at half of the bandwidth. By six
    // tenths, it does not.
    path.set_rate(RATE * 4 / 10);
    path.until(20_000, |path| path.mode() != "drain");
    assert!(path.in_flight() > BDP * 12 / 10, "{}", path.in_flight());
    assert_eq!(path.model().round_count, rounds + 4);
}

#[test]
fn exiting_probe_up_on_bandwidth_plateau() {
    let mut path = bulk_in("probe_up", 4 * BDP);
    assert_eq!((path.model().pacing_gain, path.model().cwnd_gain), (125, 225));
    path.until(2_000, |path| path.mode() != "probe_up");
    assert_eq!((path.mode(), path.model().full_bw_count, path.dropped), ("probe_down", 3, 0));
}

#[test]
fn exiting_probe_up_on_loss_when_application_limited() {
    let mut path = Path::new("rack+bbr3", (RATE, 100, 4 * BDP));
    path.write(2_000_000);
    path.until(10_000, |path| path.mode().starts_with("probe_") && path.in_flight() == 0);
    assert!(write_slowly(&mut path, 10_000, |path| path.mode() == "probe_up"));
    path.fate = Box::new(|number| if number % 5 == 0 { Fate::Lost } else { Fate::Passes });
    assert!(write_slowly(&mut path, 2_000, |path| path.mode() != "probe_up"));
    // DOWN lasts for one ACK, because an application-limited sender has no queue to drain.
    assert!(["probe_down", "probe_cruise"].contains(&path.mode()), "{}", path.mode());
    // The pseudocode of section 5.5.10.2 sets `inflight_longterm` only if the lost segment was not
    // application-limited, so that it stays unset here.
    assert_eq!(path.model().inflight_longterm, None);
}

#[test]
fn never_exiting_probe_up_or_startup_when_application_limited_with_no_loss() {
    let mut path = Path::new("rack+bbr3", (RATE, 100, 4 * BDP));
    assert!(!write_slowly(&mut path, 4_000, |path| path.mode() != "startup"));
    let mut path = Path::new("rack+bbr3", (RATE, 100, 4 * BDP));
    path.write(2_000_000);
    path.until(10_000, |path| path.mode().starts_with("probe_") && path.in_flight() == 0);
    assert!(write_slowly(&mut path, 10_000, |path| path.mode() == "probe_up"));
    // Until ProbeRTT is due, which the state machine enters from any state.
    let rounds = path.model().round_count;
    assert!(write_slowly(&mut path, 5_500, |path| path.mode() != "probe_up"));
    assert_eq!(path.mode(), "probe_rtt");
    assert!(path.model().round_count > rounds + 5, "{rounds}, {:?}", path.model());
}

#[test]
fn exiting_probe_down_on_inflight() {
    let mut path = probing_up("rack+bbr3");
    path.until_mode("probe_down", 2_000);
    assert_eq!(path.model().pacing_gain, 90);
    assert!(path.in_flight() > BDP, "{}", path.in_flight());
    path.until(2_000, |path| path.mode() != "probe_down");
    assert_eq!(path.mode(), "probe_cruise");
    assert!(path.in_flight() <= BDP * 102 / 100, "{}", path.in_flight());
}

#[test]
fn exiting_probe_down_after_max_time() {
    // 200 segments each 20 ms, so that 63 round trips with the queue take longer than the wait.
    let mut path = Path::new("rack+bbr3", (10 * RATE, 20, 16 * BDP));
    path.write(500_000_000);
    path.until_mode("drain", 3_000);
    // By 10 %, as the draft has it, the queue would neither grow nor drain.
    path.set_rate(4 * RATE);
    path.until_mode("probe_down", 3_000);
    let mut cruised = false;
    let took = path.until(4_000, |path| {
        cruised |= path.mode() == "probe_cruise";
        path.mode() == "probe_refill"
    });
    assert!((2_000..=3_100).contains(&took) && !cruised, "{took} ms, {cruised}");
}

#[test]
fn entering_and_exiting_probe_rtt() {
    let mut path = bulk_in("probe_cruise", 4 * BDP);
    let took = path.until_mode("probe_rtt", 12_000);
    assert!(took >= 3_000, "{took} ms");
    assert_eq!(path.model().cwnd_gain, 50);
    let took = path.until(2_000, |path| path.mode() != "probe_rtt");
    assert!((200..=600).contains(&took), "{took} ms");
    assert_eq!(path.mode(), "probe_cruise");
    let goodput = path.goodput(|path| {
        path.run(1_000);
    });
    assert!(goodput > 900_000.0, "{goodput}");
}

#[test]
fn skipping_probe_rtt_due_to_application_limited_sending() {
    let mut path = Path::new("rack+bbr3", (RATE, 100, 4 * BDP));
    path.write(3_000_000);
    path.until(10_000, |path| path.mode().starts_with("probe_"));
    path.until(10_000, |path| path.in_flight() == 0);
    path.run(6_000).write(50_000);
    assert!(path.model().idle_restart);
    for _ in 0..150 {
        path.run(1);
        assert_ne!(path.mode(), "probe_rtt");
    }
    assert!(!path.model().idle_restart);
}

#[test]
fn achieving_expected_startup_bandwidth_on_a_link_with_aggregation() {
    let mut path = bulk("rack+bbr3", 4 * BDP);
    path.ack_slot = Duration::from_millis(60);
    path.until_mode("drain", 8_000);
    assert!(path.model().extra_acked >= 30_000, "{:?}", path.model());
    assert!(path.cwnd() > 2 * BDP, "{}", path.cwnd());
    // The send rate bounds the samples, of whose intervals some are a slot too short.
    assert!(path.model().max_bw >= RATE * 95 / 100, "{:?}", path.model());
}

#[test]
fn achieving_expected_cruise_bandwidth_on_a_link_with_aggregation() {
    let mut path = bulk_in("probe_cruise", 4 * BDP);
    let before = path.model().extra_acked;
    path.ack_slot = Duration::from_millis(60);
    path.run(600);
    assert!(path.model().extra_acked >= before.max(30_000), "{:?}", path.model());
    let goodput = path.goodput(|path| {
        path.run(1_200);
    });
    assert!(goodput > 930_000.0, "{goodput}");
}

#[test]
fn correctly_managing_sub_packet_bdps() {
    // A segment takes 100 ms, the round trip 20 ms.
    let mut path = Path::new("rack+bbr3", (10_000, 20, 100_000));
    path.write(5_000_000);
    path.until(30_000, |path| path.mode().starts_with("probe_") && path.mode() != "probe_rtt");
    assert!(path.cwnd() >= 4_000, "{}", path.cwnd());
    let goodput = path.goodput(|path| {
        path.run(20_000);
    });
    assert!(goodput > 9_500.0, "{goodput}");
    let rate = path.sender.sender().pacing_rate().unwrap();
    assert!(is_close(rate, 10_000, 30), "{rate}");
}

#[test]
fn increasing_bandwidth_10x_and_ensuring_full_bandwidth_is_reached() {
    let mut path = bulk_in("probe_cruise", 8 * BDP);
    path.set_rate(10 * RATE);
    path.queue = 40 * BDP;
    let took = path.until(20_000, |path| path.model().max_bw > RATE * 94 / 10);
    // A probe follows within 3.1 s, and each round trip of it multiplies the rate by 1.25 at most:
    // eleven of them are 10 times. Several probes share them.
    assert!(took < 15_000, "{took} ms");
}

#[test]
fn decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down() {
    let mut path = bulk_in("probe_cruise", BDP);
    path.set_rate(RATE / 10);
    path.until(5_000, |path| path.model().bw_shortterm.is_some());
    path.until(10_000, |path| path.model().bw_shortterm.is_some_and(|bw| bw < RATE * 8 / 10));
    path.until(40_000, |path| path.model().max_bw < RATE / 10 * 11 / 10);
}

#[test]
fn handling_token_bucket_policers() {
    let mut path = bulk_in("probe_cruise", 100 * BDP);
    path.set_rate(100 * RATE);
    path.policer = Some((RATE / 2, 100_000, 100_000, path.now));
    path.until(10_000, |path| path.model().bw_shortterm.is_some());
    assert!(path.model().inflight_shortterm.is_some());
    path.run(10_000);
    let (sent, dropped) = (path.sent, path.dropped);
    let goodput = path.goodput(|path| {
        path.run(20_000);
    });
    let lost = (path.dropped - dropped) as f64 / (path.sent - sent) as f64;
    assert!(goodput > 0.8 * 500_000.0 && lost < 0.1, "{goodput}, {lost}");
}

/// A flow in ProbeBW_UP that has lost nothing. ProbeRTT does not follow for a second and a half,
/// because it was just before.
fn probing_up(spec: &str) -> Path {
    let mut config = Path::config();
    config.rto.floor = RtoFloor::Total(Duration::from_millis(200));
    let config = specification::sender(spec, &config).unwrap();
    let mut path = Path::with(&config, (RATE, 100, 8 * BDP));
    path.write(500_000_000);
    path.until_mode("probe_rtt", 12_000);
    path.until_mode("probe_up", 12_000);
    assert_eq!(path.dropped, 0);
    path
}

#[test]
fn handling_spurious_fast_recovery() {
    let mut path = probing_up("sack+dsack+bbr3");
    let before = path.model();
    // Every tenth segment of the next 100 arrives 40 ms late, after 40 others.
    let first = path.sent + 1;
    path.fate = Box::new(move |number| {
        let late = (first..first + 100).contains(&number) && number % 10 == 0;
        if late { Fate::Late(40) } else { Fate::Passes }
    });
    path.until(1_000, |path| path.mode() != "probe_up");
    // More than 2 % seem lost: the probe ends, and `inflight_longterm` is set.
    assert_eq!((path.mode(), path.model().inflight_longterm.is_some()), ("probe_down", true));
    path.until(2_000, found_spurious);
    let after = path.model();
    assert_eq!((after.mode, after.inflight_longterm), ("probe_refill", None));
    assert_eq!(after.bw_shortterm, before.bw_shortterm);
    path.until_mode("probe_up", 1_000);
}

#[test]
fn handling_spurious_rto_recovery() {
    let mut path = probing_up("rack+frto:linux+eifel+bbr3");
    let cwnd = path.cwnd();
    path.busy_for(900);
    path.until(900, has_timed_out);
    path.step();
    assert!(path.cwnd() < 10_000, "{}", path.cwnd());
    path.until(3_000, found_spurious);
    let after = path.model();
    assert_eq!(after.inflight_longterm, None);
    assert!(["probe_up", "probe_refill"].contains(&after.mode), "{after:?}");
    // In ProbeBW_UP `QuantizationBudget` adds two segments.
    assert!(path.cwnd() + 2_000 >= cwnd, "{} of {cwnd}", path.cwnd());
}

#[test]
fn entering_and_exiting_probe_rtt_during_startup() {
    let mut path = Path::new("rack+bbr3", (RATE, 100, 4 * BDP));
    // A longer round trip after the first second, so that the smallest is not seen again.
    write_slowly(&mut path, 1_000, |_| false);
    path.delay = Duration::from_millis(60);
    assert!(write_slowly(&mut path, 7_000, |path| path.mode() == "probe_rtt"));
    assert!(!path.model().full_bw_reached);
    assert!(write_slowly(&mut path, 2_000, |path| path.mode() != "probe_rtt"));
    assert_eq!(path.mode(), "startup");
}

#[test]
fn handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    // A queue of half the BDP overflows in the probes.
    let mut path = bulk("rack+bbr3", BDP / 2);
    path.until(40_000, |path| {
        path.mode() == "probe_up" && path.model().inflight_longterm.is_some()
    });
    let cwnd = path.cwnd();
    path.fate = Box::new(|number| if number % 5 == 0 { Fate::Lost } else { Fate::Passes });
    path.until(2_000, |path| path.mode() != "probe_up");
    let longterm = path.model().inflight_longterm.unwrap();
    assert_eq!(path.mode(), "probe_down");
    // Not below 0.7 times the target.
    assert!(longterm >= BDP.min(cwnd) * 65 / 100, "{longterm}");
}

#[test]
fn handling_application_limited_sending_during_probe_refill() {
    let mut path = Path::new("rack+bbr3", (RATE, 100, 4 * BDP));
    path.write(4_000_000);
    path.until_mode("probe_cruise", 10_000);
    path.until(10_000, |path| path.in_flight() == 0);
    assert!(write_slowly(&mut path, 10_000, |path| path.mode() == "probe_refill"));
    let before = path.model().max_bw;
    path.write(1_000).run(30);
    assert!(write_slowly(&mut path, 1_000, |path| path.mode() == "probe_up"));
    assert_eq!(path.model().max_bw, before);
    path.write(20_000_000).run(3_000);
    assert!(is_close(path.model().max_bw, RATE, 5), "{:?}", path.model());
}

/// Section 5.3.1.3: Startup ends for losses only if a round trip has six of them and loses more
/// than 2 %.
#[test]
fn not_exiting_startup_for_a_few_losses() {
    // A loss; four of some 130 segments; thirty, a third of all; many, but 1 %.
    for (every, losses, ends) in [(3, 1, false), (3, 4, false), (3, 30, true), (100, 500, false)] {
        let mut path = Path::new("rack+bbr3", (20 * RATE, 100, 80 * BDP));
        path.write(500_000_000);
        path.fate = Box::new(move |number| match number.checked_sub(100) {
            Some(since) if since % every == 0 && since / every < losses => Fate::Lost,
            _ => Fate::Passes,
        });
        path.until(5_000, |path| path.mode() != "startup");
        let (bw, lost) = (path.model().max_bw, path.dropped);
        assert_eq!(bw < 18 * RATE, ends, "one in {every}, {lost} in all: {:?}", path.model());
    }
}

/// `IsInflightTooHigh` (section 5.5.10.2) tolerates losses of 2 %. Without SACK the sender does not
/// know how many segments a round trip has lost: any loss is too much. Linux marks the head lost
/// (`tcp_newreno_mark_lost`).
#[test]
fn without_sack_each_loss_bounds_the_data_in_flight() {
    for (spec, is_bounded) in [("rack+bbr3", false), ("newreno+bbr3", true)] {
        let mut config = specification::sender(spec, &Path::config()).unwrap();
        config.recovery.rack.rules = RackRules::Linux;
        let mut path = Path::with(&config, (RATE, 100, 4 * BDP));
        path.write(500_000_000);
        path.until_mode("probe_up", 30_000);
        let next = path.sent + 20;
        path.fate = Box::new(move |sent| if sent == next { Fate::Lost } else { Fate::Passes });
        path.run(1_000);
        assert_eq!(path.dropped, 1);
        assert_eq!(path.model().inflight_longterm.is_some(), is_bounded, "{spec}");
    }
}

/// `UpdateMinRTT` (section 5.3.4.3): only a smaller round trip postpones ProbeRTT, not an equal
/// one.
#[test]
fn equal_round_trips_do_not_postpone_probe_rtt() {
    // Segments take no time to send, so that all round trips are equal.
    let mut path = Path::new("rack+bbr3", (10_000_000 * RATE, 100, 4 * BDP));
    assert!(write_slowly(&mut path, 6_000, |path| path.mode() == "probe_rtt"));
    assert!(path.millis() >= 5_000, "{} ms", path.millis());
}
