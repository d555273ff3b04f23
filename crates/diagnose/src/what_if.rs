//! Counterfactuals: infers the path of a capture and simulates other senders on it.

mod advice;
mod replay;
mod scenario;

use std::cmp::Ordering;
use std::io::Read;

use serde::Serialize;

use crate::infer::{Inferred, MOST_PACKETS, NotInferred, Reading, infer};
use crate::trace::reported;
use crate::{ConnectionReport, Necessity, Passed, Sentence};
use advice::{Replay, advice};
use replay::{AS_INFERRED, Laboratory, Outcome, Settings};

/// Textbook senders to compare.
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
/// The largest insignificant difference in duration, as a part of it.
const UNCLEAR_TIME: f64 = 0.03;

/// A sysctl of Linux, its key, the key of the receiver's counterpart, and its values, the default
/// first.
type Knob = (&'static str, &'static str, Option<&'static str>, &'static [&'static str]);

const KNOBS: [Knob; 8] = [
    ("tcp_timestamps", "kernel.timestamps", Some("receiver.timestamps"), &["true", "false"]),
    ("tcp_frto", "kernel.frto", None, &["2", "0"]),
    ("tcp_sack", "kernel.sack", Some("receiver.sack"), &["true", "false"]),
    ("tcp_dsack", "kernel.dsack", Some("receiver.dsack"), &["true", "false"]),
    ("tcp_early_retrans", "kernel.early_retrans", None, &["3", "0"]),
    ("tcp_congestion_control", "kernel.congestion", None, &["cubic", "reno"]),
    ("rto_min", "kernel.rto_min", None, &["200 ms", "1 s", "3 s"]),
    ("tcp_rto_max_ms", "tcp.rto.max", None, &["120 s", "5 s", "1 s"]),
];

/// The captured sender's results.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Captured {
    unneeded: u64,
    needed: u64,
    /// Retransmissions without a verdict.
    unknown: u64,
    timeouts: u64,
    /// From its first packet until everything is acknowledged, in seconds.
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

    /// The distance to a simulated sender, relative to the captured one; Linux wins ties.
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
    /// The setting's name and value. The first row is `as captured` if a Linux comes nearest to the
    /// captured sender, and otherwise `defaults`.
    setting: String,
    #[serde(flatten)]
    outcome: Outcome,
}

/// A connection's path with other senders.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct WhatIf {
    /// The path and the transfer, as TOML.
    scenario: String,
    captured: Captured,
    /// The simulated sender that is nearest to the captured one.
    nearest: Outcome,
    /// Is it so near that it may be the same?
    agrees: bool,
    /// The conclusion.
    advice: Vec<Sentence>,
    /// Other senders on the same path.
    senders: Vec<Outcome>,
    /// Linux with one setting changed.
    linux: Vec<Changed>,
}

/// The results of other senders on the path of the connection with this number, as
/// [`crate::diagnose`] counts them. It stops once `goes_on` returns false.
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

/// The path and the transfer of the connection with this number, as a scenario in TOML.
///
/// # Errors
/// The capture does not show enough of the path.
pub fn infer_scenario<R: Read>(
    input: R,
    number: u64,
    reading: Reading,
) -> Result<String, NotInferred> {
    let (report, rows) = read(input, number)?;
    Ok(scenario::write(&infer(&rows, &report, reading)?))
}

fn read(input: impl Read, number: u64) -> Result<(ConnectionReport, Vec<Passed>), NotInferred> {
    let found = reported(input, &[number], MOST_PACKETS as usize).remove(&number);
    let (report, rows) = found.ok_or(NotInferred::NoConnection(number))?;
    Ok((report.ok_or(NotInferred::NoConnection(number))?, rows))
}

fn replayed(
    connection: &ConnectionReport,
    rows: &[Passed],
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<WhatIf, NotInferred> {
    let mut readings = readings(connection);
    let usual = infer(rows, connection, readings.remove(0))?;
    let captured = Captured::of(connection, &usual);
    let mut tried = vec![usual.clone()];
    let (mut inferred, mut laboratory, mut nearest) = replay(usual, &captured, goes_on)?;
    for reading in readings {
        if captured.agrees(&nearest) {
            break;
        }
        let other = infer(rows, connection, reading)?;
        if !tried.contains(&other) {
            tried.push(other.clone());
            let other = replay(other, &captured, goes_on)?;
            if captured.distance(&other.2) < captured.distance(&nearest) {
                (inferred, laboratory, nearest) = other;
            }
        }
    }
    let seen = seen(&inferred);
    let mut compare =
        |sender: &'static str, set: &Settings| laboratory.compare(sender, set, goes_on);
    let nearest = compare(nearest.sender, &nearest.set)?;
    let senders = SENDERS.iter().map(|sender| compare(sender, &set_for(sender, &seen)));
    let senders: Vec<Outcome> = senders.collect::<Result<_, _>>()?;
    let base = if nearest.sender == LINUX { nearest.set.clone() } else { seen };
    let own = if nearest.sender == LINUX { "as captured" } else { "defaults" };
    let linux = changes(own, &base)
        .into_iter()
        .map(|(setting, set)| Ok(Changed { setting, outcome: compare(LINUX, &set)? }));
    let linux: Vec<Changed> = linux.collect::<Result<_, NotInferred>>()?;
    let agrees = captured.agrees(&nearest);
    let [scenario, _] = laboratory.scenarios;
    let is_linux = nearest.sender == LINUX;
    let others = match is_linux {
        true => linux.iter().map(|row| (&*row.setting, row.outcome.elapsed_s)).collect(),
        false => senders.iter().map(|row| (row.sender, row.elapsed_s)).collect(),
    };
    let (captured_s, unclear_s) = (captured.elapsed_s, captured.elapsed_s * UNCLEAR_TIME / 2.0);
    let replay = Replay { captured_s, nearest: &nearest, agrees, is_linux, others, unclear_s };
    let advice = advice(replay);
    Ok(WhatIf { scenario, captured, nearest, agrees, advice, senders, linux })
}

/// Finds the sender nearest to the captured one on this path.
fn replay(
    inferred: Inferred,
    captured: &Captured,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<(Inferred, Laboratory, Outcome), NotInferred> {
    let mut laboratory = Laboratory::new(&inferred);
    let guesses = guesses(&seen(&inferred)).into_iter();
    let outcomes =
        guesses.map(|(sender, set)| laboratory.simulate(AS_INFERRED, (sender, &set), goes_on));
    let outcomes = outcomes.collect::<Result<Vec<_>, _>>()?;
    let distance = |one: &Outcome| captured.distance(one);
    let nearer = |a: &Outcome, b: &Outcome| distance(a).partial_cmp(&distance(b));
    let nearest = outcomes.into_iter().min_by(|a, b| nearer(a, b).unwrap_or(Ordering::Equal));
    Ok((inferred, laboratory, nearest.ok_or(NotInferred::Interrupted)?))
}

/// The ways to read a capture, the most likely first. Retransmissions without a verdict may have
/// been unneeded, the rate may have changed, and losses at a long queue may have been random.
fn readings(connection: &ConnectionReport) -> Vec<Reading> {
    let own = connection.retransmissions.iter().filter(|one| one.from == connection.sender);
    let some_unknown = own.clone().any(|one| one.verdict == Necessity::Unknown);
    let verdicts = if some_unknown {
        &[Necessity::Needed, Necessity::Unneeded][..]
    } else {
        &[Necessity::Needed]
    };
    let ways = [(true, true), (true, false), (false, true), (false, false)];
    let read = |(steady, overflows)| {
        verdicts.iter().map(move |&unknown| Reading { unknown, steady, overflows })
    };
    ways.into_iter().flat_map(read).collect()
}

/// The settings of Linux that follow from the handshake and from timeouts.
fn seen(inferred: &Inferred) -> Settings {
    let transfer = &inferred.transfer;
    let mut seen = Settings::default()
        .with("kernel.timestamps", if transfer.options.timestamps { "true" } else { "false" });
    if !transfer.options.sack {
        seen = seen.with("kernel.sack", "false").with("kernel.dsack", "false");
    }
    match inferred.timer_slots {
        Some(slots) => seen.with("tcp.rto.timer", slots.timer),
        None => seen,
    }
}

/// The settings that apply to a textbook sender: timestamps, unless its detector sets them.
fn set_for(sender: &str, seen: &Settings) -> Settings {
    let timestamps = seen.get("kernel.timestamps").filter(|_| !sender.contains("eifel"));
    Settings(timestamps.map(|value| ("tcp.timestamps", value)).into_iter().collect())
}

/// The candidates for the captured sender: Linux with the settings that do not show, and textbook
/// senders.
fn guesses(seen: &Settings) -> Vec<(&'static str, Settings)> {
    let mut guesses = Vec::new();
    for frto in ["2", "0"] {
        for congestion in ["cubic", "reno"] {
            for probes in ["3", "0"] {
                let set = seen.with("kernel.frto", frto).with("kernel.congestion", congestion);
                guesses.push((LINUX, set.with("kernel.early_retrans", probes)));
            }
        }
    }
    guesses.extend(SENDERS.map(|sender| (sender, set_for(sender, seen))));
    guesses
}

/// Linux with the settings `base`, which have this name, and with each setting changed alone.
fn changes(name: &str, base: &Settings) -> Vec<(String, Settings)> {
    let mut changes = vec![(name.to_string(), base.clone())];
    for (name, key, of_receiver, values) in KNOBS {
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
