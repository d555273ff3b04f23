//! Counterfactuals: infers the path of a captured connection and simulates other senders on it.

mod advice;
mod replay;
mod scenario;

use std::cmp::Ordering;
use std::io::Read;

use serde::Serialize;

use crate::infer::{Assumptions, Inferred, MAX_PACKETS, NotInferred, infer};
use crate::trace::reports_and_packets;
use crate::{ConnectionReport, Necessity, Sentence, TracedPacket};
use advice::{Replay, advice};
use replay::{AS_INFERRED, Outcome, Settings, SimulatedPath};

/// The textbook senders that are compared.
const SENDERS: [&str; 9] = [
    "reno",
    "newreno",
    "sack",
    "rack+prr",
    "newreno+frto",
    "sack+frto",
    "sack+eifel",
    "sack+dualrtt",
    "sack+dsack+rfc4015",
];
const LINUX: &str = "linux";
/// The largest insignificant difference in retransmissions.
const UNCLEAR: u64 = 2;
/// The largest insignificant difference in duration, as a part of the duration.
const UNCLEAR_TIME: f64 = 0.03;

/// A setting of Linux, its scenario key, the key of the same setting of the receiver, and its
/// values, the default first.
type Sysctl = (&'static str, &'static str, Option<&'static str>, &'static [&'static str]);

const SYSCTLS: [Sysctl; 8] = [
    ("tcp_timestamps", "kernel.timestamps", Some("receiver.timestamps"), &["true", "false"]),
    ("tcp_frto", "kernel.frto", None, &["2", "0"]),
    ("tcp_sack", "kernel.sack", Some("receiver.sack"), &["true", "false"]),
    ("tcp_dsack", "kernel.dsack", Some("receiver.dsack"), &["true", "false"]),
    ("tcp_early_retrans", "kernel.early_retrans", None, &["3", "0"]),
    ("tcp_congestion_control", "kernel.congestion", None, &["cubic", "reno", "bbr"]),
    ("rto_min", "kernel.rto_min", None, &["200 ms", "1 s", "3 s"]),
    ("tcp_rto_max_ms", "tcp.rto.max", None, &["120 s", "5 s", "1 s"]),
];

/// The captured sender's results.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Captured {
    unneeded: u64,
    needed: u64,
    /// Retransmissions with an unknown verdict.
    unknown: u64,
    timeouts: u64,
    /// From its first packet until all data is acknowledged, in seconds.
    elapsed_s: f64,
}

impl Captured {
    fn of(connection: &ConnectionReport, inferred: &Inferred) -> Self {
        let count = |verdict| {
            let own = connection.retransmissions.iter().filter(|one| one.from == connection.sender);
            own.filter(|one| one.verdict == verdict).count() as u64
        };
        Self {
            unneeded: count(Necessity::Unneeded),
            needed: count(Necessity::Needed),
            unknown: count(Necessity::Unknown),
            timeouts: {
                let own = connection.timeouts.iter().filter(|one| one.from == connection.sender);
                own.filter(|one| !one.handshake).count() as u64
            },
            elapsed_s: inferred.transfer.end - inferred.transfer.start,
        }
    }

    /// The distance to a simulated sender, relative to the captured one. It compares field by
    /// field; of equals, Linux is nearer.
    fn distance(&self, other: &Outcome) -> (f64, bool, u64, f64) {
        // The distance of a count from the range `least..=least + unknown`.
        let beyond = |count: u64, least: u64| {
            least.saturating_sub(count).max(count.saturating_sub(least + self.unknown))
        };
        let count = beyond(other.unneeded, self.unneeded) + beyond(other.needed, self.needed);
        let elapsed = other.elapsed_s.unwrap_or(f64::INFINITY);
        let late = (elapsed - self.elapsed_s).abs() / self.elapsed_s;
        let all = (self.unneeded + self.needed + self.unknown).max(1);
        let clear = count.saturating_sub(UNCLEAR) as f64 / all as f64;
        (clear + (late - UNCLEAR_TIME).max(0.0), other.sender != LINUX, count, late)
    }

    /// Is the difference insignificant?
    fn agrees(&self, other: &Outcome) -> bool {
        self.distance(other).0 == 0.0
    }
}

/// Linux with one setting changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Changed {
    /// The name and the value of the setting. The first row is `as captured` if Linux is nearest to
    /// the captured sender, and otherwise `defaults`.
    setting: String,
    #[serde(flatten)]
    outcome: Outcome,
}

/// The results of other senders on the path of a connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct WhatIf {
    /// The path and the transfer, as TOML.
    scenario: String,
    captured: Captured,
    /// The simulated sender that is nearest to the captured one.
    nearest: Outcome,
    /// Are its results equal to those of the captured sender, within the significance?
    agrees: bool,
    /// The conclusion.
    advice: Vec<Sentence>,
    /// Other senders on the same path.
    senders: Vec<Outcome>,
    /// Linux with one setting changed.
    linux: Vec<Changed>,
}

/// The results of other senders on the path of the connection with this number, counted as by
/// [`crate::diagnose`]. It stops if `goes_on` returns false.
///
/// # Errors
/// The capture does not show enough of the path, or `goes_on` returned false.
pub fn what_if<R: Read>(
    input: R,
    number: u64,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<impl Serialize + use<R>, NotInferred> {
    let (report, rows) = read(input, number)?;
    replayed(&report, &rows, goes_on)
}

/// The path and the transfer of the connection with this number as a scenario in TOML, inferred
/// under these assumptions.
///
/// # Errors
/// The capture does not show enough of the path.
pub fn infer_scenario<R: Read>(
    input: R,
    number: u64,
    assumptions: Assumptions,
) -> Result<String, NotInferred> {
    let (report, rows) = read(input, number)?;
    Ok(scenario::write(&infer(&rows, &report, assumptions)?))
}

fn read(
    input: impl Read,
    number: u64,
) -> Result<(ConnectionReport, Vec<TracedPacket>), NotInferred> {
    let found = reports_and_packets(input, &[number], MAX_PACKETS as usize).remove(&number);
    let (report, rows) = found.ok_or(NotInferred::NoConnection(number))?;
    Ok((report.ok_or(NotInferred::NoConnection(number))?, rows))
}

fn replayed(
    connection: &ConnectionReport,
    rows: &[TracedPacket],
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<WhatIf, NotInferred> {
    let mut assumptions = possible_assumptions(connection).into_iter();
    let most_likely = assumptions.next().unwrap_or_default();
    let usual = infer(rows, connection, most_likely)?;
    let captured = Captured::of(connection, &usual);
    let mut tried = vec![usual.clone()];
    let (mut inferred, mut path, mut nearest) = replay(usual, &captured, goes_on)?;
    for other in assumptions {
        if captured.agrees(&nearest) {
            break;
        }
        let other = infer(rows, connection, other)?;
        if !tried.contains(&other) {
            tried.push(other.clone());
            let other = replay(other, &captured, goes_on)?;
            if captured.distance(&other.2) < captured.distance(&nearest) {
                (inferred, path, nearest) = other;
            }
        }
    }
    let known = known_settings(&inferred);
    let mut compare = |sender: &'static str, set: &Settings| path.compare(sender, set, goes_on);
    let nearest = compare(nearest.sender, &nearest.set)?;
    let senders = SENDERS.iter().map(|sender| compare(sender, &set_for(sender, &known)));
    let senders: Vec<Outcome> = senders.collect::<Result<_, _>>()?;
    let base = if nearest.sender == LINUX { nearest.set.clone() } else { known };
    let own = if nearest.sender == LINUX { "as captured" } else { "defaults" };
    let linux = changes(own, &base)
        .into_iter()
        .map(|(setting, set)| Ok(Changed { setting, outcome: compare(LINUX, &set)? }));
    let linux: Vec<Changed> = linux.collect::<Result<_, NotInferred>>()?;
    let agrees = captured.agrees(&nearest);
    let [scenario, _] = path.scenarios;
    let is_linux = nearest.sender == LINUX;
    let others = match is_linux {
        true => linux.iter().map(|row| (&*row.setting, row.outcome.elapsed_s)).collect(),
        false => senders.iter().map(|row| (row.sender, row.elapsed_s)).collect(),
    };
    let (captured_s, unclear_s) = (captured.elapsed_s, captured.elapsed_s * UNCLEAR_TIME / 2.0);
    let advice = advice(Replay {
        captured_s,
        nearest: &nearest,
        agrees,
        is_linux,
        others,
        unclear_s,
        outage_s: inferred.outage_error,
    });
    Ok(WhatIf { scenario, captured, nearest, agrees, advice, senders, linux })
}

/// Finds the sender nearest to the captured one on this path.
fn replay(
    inferred: Inferred,
    captured: &Captured,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<(Inferred, SimulatedPath, Outcome), NotInferred> {
    let mut path = SimulatedPath::new(&inferred);
    let candidates = candidates(&known_settings(&inferred)).into_iter();
    let outcomes =
        candidates.map(|(sender, set)| path.simulate(AS_INFERRED, (sender, &set), goes_on));
    let outcomes = outcomes.collect::<Result<Vec<_>, _>>()?;
    let distance = |one: &Outcome| captured.distance(one);
    let nearer = |a: &Outcome, b: &Outcome| distance(a).partial_cmp(&distance(b));
    let nearest = outcomes.into_iter().min_by(|a, b| nearer(a, b).unwrap_or(Ordering::Equal));
    Ok((inferred, path, nearest.ok_or(NotInferred::Interrupted)?))
}

/// The possible assumptions about a connection, the most likely first. Retransmissions with an
/// unknown verdict may have been unneeded, the rate may have changed, and losses at a long queue
/// may have been random.
fn possible_assumptions(connection: &ConnectionReport) -> Vec<Assumptions> {
    let own = connection.retransmissions.iter().filter(|one| one.from == connection.sender);
    let some_unknown = own.clone().any(|one| one.verdict == Necessity::Unknown);
    let verdicts = if some_unknown {
        &[Necessity::Needed, Necessity::Unneeded][..]
    } else {
        &[Necessity::Needed]
    };
    let of_path = [(true, true), (true, false), (false, true), (false, false)];
    let read = |(constant_rate, queue_overflows)| {
        verdicts.iter().map(move |&unknown| Assumptions { unknown, constant_rate, queue_overflows })
    };
    of_path.into_iter().flat_map(read).collect()
}

/// The settings of Linux that the handshake and the timeouts show.
fn known_settings(inferred: &Inferred) -> Settings {
    let transfer = &inferred.transfer;
    let mut known = Settings::default()
        .with("kernel.timestamps", if transfer.options.timestamps { "true" } else { "false" });
    if !transfer.options.sack {
        known = known.with("kernel.sack", "false").with("kernel.dsack", "false");
    }
    match inferred.timer_slots {
        Some(slots) => known.with("tcp.rto.timer", slots.timer),
        None => known,
    }
}

/// The settings of a textbook sender: timestamps, unless its detector sets them.
fn set_for(sender: &str, known: &Settings) -> Settings {
    let timestamps = known.get("kernel.timestamps").filter(|_| !sender.contains("eifel"));
    Settings(timestamps.map(|value| ("tcp.timestamps", value)).into_iter().collect())
}

/// The candidates for the captured sender: Linux with each combination of the unknown settings, and
/// the textbook senders.
fn candidates(known: &Settings) -> Vec<(&'static str, Settings)> {
    let mut candidates = Vec::new();
    for frto in ["2", "0"] {
        for congestion in ["cubic", "reno", "bbr"] {
            for probes in ["3", "0"] {
                let set = known.with("kernel.frto", frto).with("kernel.congestion", congestion);
                candidates.push((LINUX, set.with("kernel.early_retrans", probes)));
            }
        }
    }
    candidates.extend(SENDERS.map(|sender| (sender, set_for(sender, known))));
    candidates
}

/// Linux with the settings `base`, called `name`, and with each setting changed alone.
fn changes(name: &str, base: &Settings) -> Vec<(String, Settings)> {
    let mut changes = vec![(name.to_string(), base.clone())];
    for (name, key, of_receiver, values) in SYSCTLS {
        let own = base.get(key).unwrap_or(values[0]);
        for value in values.iter().filter(|value| **value != own) {
            let set = base.with(key, value);
            let set = of_receiver.map_or_else(|| set.clone(), |both| set.with(both, value));
            let shown = match *value {
                "true" => "1",
                "false" => "0",
                "5 s" => "5000",
                "1 s" if name == "tcp_rto_max_ms" => "1000",
                value => value,
            };
            changes.push((format!("{name}={shown}"), set));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 retransmissions were unneeded, 20 needed and 5 either, and the transfer took 10 s.
    const CAPTURED: Captured =
        Captured { unneeded: 10, needed: 20, unknown: 5, timeouts: 0, elapsed_s: 10.0 };

    fn outcome(sender: &'static str, unneeded: u64, needed: u64, elapsed_s: f64) -> Outcome {
        Outcome {
            sender,
            set: Settings::default(),
            unneeded,
            needed,
            timeouts: 0,
            elapsed_s: Some(elapsed_s),
            time_lost_s: None,
            detected_s: None,
        }
    }

    /// A count may be any of those that the undecided retransmissions allow. Two more or less, or 3
    /// % of the time, are no difference.
    #[test]
    fn a_simulated_sender_agrees_within_what_the_capture_leaves_open() {
        for (unneeded, needed, elapsed_s, agrees) in [
            (10, 20, 10.0, true),
            (15, 25, 10.0, true),
            (17, 20, 10.0, true),
            (18, 20, 10.0, false),
            (8, 20, 10.0, true),
            (7, 20, 10.0, false),
            (10, 18, 10.0, true),
            (9, 18, 10.0, false),
            (10, 20, 10.29, true),
            (10, 20, 9.71, true),
            (10, 20, 10.31, false),
            (10, 20, 9.69, false),
        ] {
            let found = CAPTURED.agrees(&outcome(LINUX, unneeded, needed, elapsed_s));
            assert_eq!(found, agrees, "{unneeded} {needed} {elapsed_s}");
        }
        let endless = Outcome { elapsed_s: None, ..outcome(LINUX, 10, 20, 0.0) };
        assert!(!CAPTURED.agrees(&endless));
    }

    /// The significant differences come first, relative to all retransmissions and to the time;
    /// then Linux is nearer than others, and then the smaller differences.
    #[test]
    fn the_nearest_sender_is_the_one_with_the_fewest_significant_differences() {
        let order = [
            outcome(LINUX, 10, 20, 10.0),
            outcome(LINUX, 10, 20, 10.2),
            outcome(LINUX, 9, 20, 10.0),
            outcome("freebsd", 10, 20, 10.0),
            outcome("freebsd", 10, 19, 10.0),
            // 2 of 35 retransmissions, 8 % of the time, and 4 of 35.
            outcome(LINUX, 19, 20, 10.0),
            outcome("freebsd", 10, 20, 11.1),
            outcome(LINUX, 10, 14, 10.0),
        ];
        for pair in order.windows(2) {
            let [near, far] = [&pair[0], &pair[1]].map(|one| CAPTURED.distance(one));
            assert!(near < far, "{near:?} {far:?}");
        }
        let (significant, ..) = CAPTURED.distance(&outcome(LINUX, 19, 20, 11.1));
        assert!((significant - (2.0 / 35.0 + 0.11 - 0.03)).abs() < 1e-9, "{significant}");
    }

    #[test]
    fn the_candidates_are_linux_with_each_combination_and_the_textbook_senders() {
        let known = Settings::default().with("kernel.timestamps", "false");
        let found = candidates(&known);
        let linux: Vec<_> = found.iter().filter(|(sender, _)| *sender == LINUX).collect();
        assert_eq!((found.len(), linux.len()), (12 + SENDERS.len(), 12));
        let distinct: std::collections::HashSet<_> =
            linux.iter().map(|(_, set)| format!("{set:?}")).collect();
        assert_eq!(distinct.len(), 12);
        assert!(linux.iter().all(|(_, set)| set.get("kernel.timestamps") == Some("false")));
        // Eifel needs timestamps.
        for (sender, set) in found.iter().filter(|(sender, _)| *sender != LINUX) {
            let expected = (!sender.contains("eifel")).then_some("false");
            assert_eq!(set.get("tcp.timestamps"), expected, "{sender}");
        }
    }

    #[test]
    fn each_setting_of_linux_is_changed_alone() {
        let base = Settings::default().with("kernel.frto", "0");
        let found = changes("as captured", &base);
        let names: Vec<&str> = found.iter().map(|(name, _)| &**name).collect();
        assert_eq!(
            names,
            [
                "as captured",
                "tcp_timestamps=0",
                "tcp_frto=2",
                "tcp_sack=0",
                "tcp_dsack=0",
                "tcp_early_retrans=0",
                "tcp_congestion_control=reno",
                "tcp_congestion_control=bbr",
                "rto_min=1 s",
                "rto_min=3 s",
                "tcp_rto_max_ms=5000",
                "tcp_rto_max_ms=1000",
            ]
        );
        let of = |name: &str| {
            let (_, set) = found.iter().find(|(other, _)| other == name).expect("a setting");
            ["kernel.frto", "kernel.sack", "receiver.sack", "tcp.rto.max"].map(|key| set.get(key))
        };
        assert_eq!(of("tcp_sack=0"), [Some("0"), Some("false"), Some("false"), None]);
        assert_eq!(of("tcp_rto_max_ms=1000"), [Some("0"), None, None, Some("1 s")]);
        assert_eq!(of("tcp_frto=2"), [Some("2"), None, None, None]);
    }

    #[test]
    fn what_the_capture_leaves_open_is_assumed_either_way() {
        use crate::report::RetransmissionReport;
        use crate::report::samples::{report, retransmission};
        let of = |verdict, from| {
            let retransmissions =
                vec![RetransmissionReport { from, ..retransmission(1.0, verdict) }];
            possible_assumptions(&ConnectionReport { retransmissions, ..report() }).len()
        };
        assert_eq!(of(Necessity::Needed, "client"), 4);
        assert_eq!(of(Necessity::Unknown, "client"), 8);
        assert_eq!(of(Necessity::Unknown, "server"), 4, "the receiver's");
    }
}
