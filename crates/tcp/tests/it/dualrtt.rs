//! DualRTT with its other thresholds: the verdicts of a sender that acts on it, and those of the
//! passive detectors.

use std::collections::BTreeMap;

use crate::script;
use crate::script::{Script, base};
use rtolab_tcp::config::FirstAck;
use rtolab_tcp::spurious::{DetectorId, PassiveDetectors, Reason, Verdict};
use rtolab_tcp::{Cause, Config, Flags, Segment, Seq, specification};
use rtolab_time::{Duration, Instant, Rate};

const SPURIOUS: Verdict = Verdict::Spurious;

/// On the path of [`know_the_path`]: the thresholds in milliseconds, each just above τ times 100
/// ms. Packets have 1040 bytes: ln gives τ = 0.2621, log10 0.1147; Table V 0.2; nothing measured
/// 0.1.
const THRESHOLDS: [(&str, u64); 4] =
    [("paper-ln", 27), ("paper-log10", 12), ("table", 20), ("online", 10)];

/// The sender knows that its path has 50 kbit/s and 50 ms.
fn know_the_path(config: &mut Config) {
    config.dualrtt.path.rate = Rate::from_bits_per_second(50_000);
    config.dualrtt.path.delay = Some(Duration::from_millis(50));
}

/// Its smallest round trip is 100 ms: segments 1 to 4 leave at 0.1 s and time out at 1.1 s.
fn held(model: &str, first: FirstAck) -> Script {
    let setup =
        Script::sender(&format!("newreno+dualrtt:{model}")).cwnd(4).ssthresh(4).set(know_the_path);
    let setup = setup.set(|config| {
        config.rto.sample_handshake = false;
        config.dualrtt.first = first;
    });
    let mut s = setup.handshake_takes(100).sent(1..=4);
    s.timeout().expect([1]).cwnd(1.0).ssthresh(2);
    s
}

#[test]
fn t_dr_1_an_acknowledgment_just_below_the_threshold() {
    for (model, millis) in THRESHOLDS {
        let mut s = held(model, FirstAck::Definition);
        s.at(1500).ack(1).expect([2, 3]).undecided();
        s.at(1499 + millis).ack(2).expect([5, 6]).verdict(SPURIOUS).cwnd(4.0).ssthresh(4);
        s.passive_verdict(&format!("dualrtt:{model}"), SPURIOUS);
    }
}

#[test]
fn t_dr_2_an_acknowledgment_above_it_is_missed() {
    for (model, millis) in THRESHOLDS {
        let mut s = held(model, FirstAck::Definition);
        s.at(1500).ack(1).expect([2, 3]).undecided();
        s.at(1500 + millis).ack(2).expect([4]).undecided();
    }
}

#[test]
fn t_dr_3_a_loss_takes_a_round_trip_to_repair() {
    for (model, _) in THRESHOLDS {
        let mut s = held(model, FirstAck::Definition);
        s.at(1200).ack(1).expect([2, 3]).undecided();
        s.at(1310).ack(2).expect([4]).undecided();
    }
}

#[test]
fn t_dr_4_and_5_a_cumulative_ack_hides_it() {
    for (model, _) in THRESHOLDS {
        held(model, FirstAck::Definition).at(1101).ack(4).expect([5, 6]).undecided();
        held(model, FirstAck::Definition).at(1101).ack(2).expect([3, 4]).undecided();
    }
}

#[test]
fn t_dr_6_the_first_acknowledgment_after_a_late_timeout() {
    for (model, _) in THRESHOLDS {
        let mut s = held(model, FirstAck::Definition);
        s.at(1105).ack(1).expect([5]).verdict(SPURIOUS).cwnd(4.0);
        let mut s = held(model, FirstAck::Skip);
        s.at(1105).allow_disagreement().ack(1).expect([2, 3]).undecided();
        s.at(1110).ack(2).expect([5, 6]).verdict(SPURIOUS);
    }
}

#[test]
fn a_model_of_the_path_needs_its_parameters() {
    let message = |name: &str, config: &Config| match specification::sender(name, config) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    let mut config = base();
    for model in ["paper-ln", "paper-log10", "table"] {
        let message = message(&format!("sack+dualrtt:{model}"), &config);
        let lacking = format!("names `dualrtt:{model}`, which needs the path's bandwidth");
        assert!(message.contains(&lacking), "{message}");
    }
    config.dualrtt.path.rate = Rate::from_bits_per_second(50_000);
    assert!(message("sack+dualrtt:paper-ln", &config).contains("the path's one-way delay"));
    for model in ["dualrtt:table", "dualrtt:online", "dualrtt:physical", "dualrtt"] {
        assert_eq!(message(&format!("sack+{model}"), &config), "", "{model}");
    }
    let frto = message("sack+frto+dualrtt:online", &config);
    assert!(frto.contains("names both `frto` and `dualrtt:online`"), "{frto}");
    let two = message("sack+dualrtt+dualrtt:table", &config);
    assert!(two.contains("names both `dualrtt` and `dualrtt:table`"), "{two}");
}

/// All passive detectors on a path whose bottleneck lets a segment of 1000 bytes pass every 92 ms.
struct PathDetectors {
    passive: PassiveDetectors,
    /// In milliseconds.
    now: u64,
    next: u32,
    verdicts: BTreeMap<(u32, String), (Verdict, u64)>,
}

impl PathDetectors {
    /// The detectors know the path of the paper's example: 50 kbit/s and 1.4 s.
    fn new() -> Self {
        let mut path = Config::default().dualrtt.path;
        path.rate = Rate::from_bits_per_second(50_000);
        path.delay = Some(Duration::from_millis(1400));
        let passive =
            PassiveDetectors::new(DetectorId::all(), Seq::FIRST + 1).with_known_path(path);
        Self { passive, now: 0, next: 1, verdicts: BTreeMap::new() }
    }

    fn instant(&self) -> Instant {
        Instant::START + Duration::from_millis(self.now)
    }

    fn send(&mut self, number: u32) {
        let segment = Segment::new(script::start_of(number), 1000, Flags::ACK);
        self.passive.sent(&segment, self.instant(), Cause::Unknown);
    }

    fn ack(&mut self, number: u32) {
        let mut segment = Segment::new(Seq::FIRST, 0, Flags::ACK);
        (segment.ack, segment.window) = (script::end_of(number), 60_000);
        self.passive.on_ack(&segment, self.instant());
        while let Some(verdicts) = self.passive.poll() {
            let at = verdicts.at.since(Instant::START).nanos() / 1_000_000;
            self.verdicts
                .insert((verdicts.episode, verdicts.detector.to_string()), (verdicts.verdict, at));
        }
    }

    /// `count` segments, each acknowledged after `rtt`, 92 ms apart.
    fn transfer(&mut self, count: u32, rtt: u64) -> &mut Self {
        let (began, first) = (self.now, self.next);
        self.next += count;
        for index in 0..count {
            self.now = began + 92 * u64::from(index);
            self.send(first + index);
        }
        for index in 0..count {
            self.now = began + rtt + 92 * u64::from(index);
            self.ack(first + index);
        }
        self
    }

    /// The paper's example: twenty segments are held, and the first of them times out twice. Its
    /// acknowledgment comes 762 ms after its last retransmission, and the next one within `answer`
    /// ms of the next retransmission. Returns the detectors that then call it spurious.
    fn hiccup(&mut self, answer: u64) -> Vec<String> {
        let (began, first) = (self.now, self.next);
        self.next += 20;
        for index in 0..20 {
            self.now = began + 92 * u64::from(index);
            self.send(first + index);
        }
        let mut episode = 0;
        for expired in [5_547, 13_147] {
            self.now = began + expired;
            episode = self.passive.timeout(script::start_of(first), self.instant());
            self.send(first);
        }
        self.now += 762;
        self.ack(first);
        self.send(first + 1);
        self.send(first + 2);
        let early = |verdicts: &(Verdict, u64)| verdicts.0 == SPURIOUS && verdicts.1 <= self.now;
        let dualrtt = |name: &str| name.starts_with("dualrtt");
        let of = |key: &(u32, String)| key.0 == episode && dualrtt(&key.1);
        assert!(
            !self.verdicts.iter().any(|(key, verdicts)| of(key) && early(verdicts)),
            "a verdict after 762 ms"
        );
        self.now += answer;
        self.ack(first + 1);
        let at = self.now;
        let found =
            self.verdicts.iter().filter(|(key, verdicts)| of(key) && **verdicts == (SPURIOUS, at));
        let found = found.map(|((_, name), _)| name.clone()).collect();
        self.ack(first + 19);
        self.send(self.next);
        self.now += 6000;
        self.ack(self.next);
        self.next += 1;
        found
    }

    /// The current threshold of the online model, in milliseconds.
    fn bound(&self) -> Option<u64> {
        (1..762).rev().find(|answer| {
            let mut copy =
                Self { passive: self.passive.clone(), verdicts: BTreeMap::new(), ..*self };
            copy.hiccup(*answer).contains(&"dualrtt:online".to_string())
        })
    }
}

#[test]
fn t_dr_1_the_papers_example_by_every_threshold() {
    let mut path = PathDetectors::new();
    path.transfer(9, 2800);
    // log10 gives 0.0307 of 2.8 s, 86 ms: it misses the paper's own example.
    let found = ["dualrtt", "dualrtt:online", "dualrtt:paper-ln", "dualrtt:physical"];
    let found = [&found[..], &["dualrtt:table"]].concat();
    assert_eq!(path.hiccup(92), found);
}

#[test]
fn t_dr_2_the_thresholds_of_the_papers_example() {
    for (answer, found) in [
        (86, "dualrtt:paper-log10"),
        (137, "dualrtt:physical"),
        (192, "dualrtt:paper-ln"),
        (205, "dualrtt:online"),
        (279, "dualrtt"),
        (559, "dualrtt:table"),
    ] {
        for (answer, expected) in [(answer, true), (answer + 1, false)] {
            let mut path = PathDetectors::new();
            path.transfer(9, 2800);
            let all = path.hiccup(answer);
            assert_eq!(all.contains(&found.to_string()), expected, "{found} {answer} ms: {all:?}");
        }
    }
}

#[test]
fn a_threshold_can_be_part_of_the_name() {
    for tau in [10, 25, 40, 80, 100, 200_u32] {
        let name = format!("dualrtt:{}", f64::from(tau) / 1000.0);
        let id: DetectorId = name.parse().unwrap();
        assert_eq!(id.to_string(), name);
        let bound = (f64::from(tau) * 2.8).ceil() as u64;
        for (answer, expected) in [(bound - 1, true), (bound, false)] {
            let mut path = PathDetectors::new();
            path.passive = PassiveDetectors::new([id], Seq::FIRST + 1);
            path.transfer(9, 2800);
            assert_eq!(path.hiccup(answer).contains(&name), expected, "{name} {answer}");
        }
    }
}

#[test]
fn without_path_parameters_a_model_of_the_path_is_inconclusive() {
    let mut path = PathDetectors::new();
    path.passive = path.passive.with_known_path(Config::default().dualrtt.path);
    path.transfer(9, 2800).hiccup(92);
    for name in ["dualrtt:paper-ln", "dualrtt:paper-log10", "dualrtt:table"] {
        let (verdict, _) = path.verdicts[&(0, name.to_string())];
        assert_eq!(verdict, Verdict::Inconclusive(Reason::PathUnknown), "{name}");
    }
    assert_eq!(path.verdicts[&(0, "dualrtt:online".to_string())].0, SPURIOUS);
}

#[test]
fn online_begins_with_a_tenth() {
    let mut path = PathDetectors::new();
    path.transfer(7, 2800);
    assert_eq!(path.bound(), Some(279), "seven round trips are too few");
    path.transfer(1, 2800);
    // 0.0732 for 87 kbit/s, 1.4 s and 1040 bytes.
    assert_eq!(path.bound(), Some(205));
}

#[test]
fn online_keeps_its_estimate_over_a_spike() {
    let mut path = PathDetectors::new();
    path.transfer(9, 2800).hiccup(92);
    path.transfer(2, 2800);
    assert_eq!(path.bound(), Some(205));
}

#[test]
fn online_is_cautious_on_a_longer_path_until_it_is_measured() {
    let mut path = PathDetectors::new();
    path.transfer(9, 2800).hiccup(92);
    // The round trip that ended the episode was one of 6 s.
    assert_eq!(path.bound(), Some(279));
    path.transfer(5, 6000);
    assert_eq!(path.bound(), Some(279));
    path.transfer(9, 6000);
    // 0.0290 for 87 kbit/s and 3 s, of the connection's smallest round trip, still 2.8 s.
    assert_eq!(path.bound(), Some(81));
}

#[test]
fn online_is_cautious_on_a_path_less_than_half_as_long() {
    let mut path = PathDetectors::new();
    path.transfer(9, 2800).transfer(7, 1000);
    assert_eq!(path.bound(), Some(99));
    path.transfer(9, 1000);
    // 0.13298 for 87 kbit/s and 0.5 s.
    assert_eq!(path.bound(), Some(132));
}

#[test]
fn online_ignores_a_change_without_a_timeout() {
    let mut path = PathDetectors::new();
    path.transfer(9, 2800).transfer(20, 6000);
    assert_eq!(path.bound(), Some(205));
}
