//! The conclusion of a what-if in words: the settings that would have helped, the time that they
//! would have saved, the command that sets them, and their cost on other paths.

use serde_json::json;

use super::replay::Outcome;
use crate::answer::{Sentence, seconds};

/// The smallest gain for which a setting is recommended, in seconds.
const MIN_GAIN: f64 = 0.05;
/// The phrase for a setting without a known cost.
const NO_COST: &str = "nothing known";
/// The maximum number of settings recommended.
const MAX_NAMED: usize = 2;

/// The command that changes a setting, and its cost on other paths.
fn how(setting: &str) -> (String, &'static str) {
    let sysctl = |name: &str, value: &str| format!("`sysctl -w net.ipv4.{name}={value}`");
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    match name {
        "rto_min" => {
            let value = value.replace(' ', "");
            let micros = if value == "200ms" { "200000" } else { &value.replace('s', "000000") };
            let route = format!("`ip route change ROUTE rto_min {value}`");
            let all = sysctl("tcp_rto_min_us", micros);
            let how = format!(
                "{route}, {all} from Linux 6.11 on, or `TCP_RTO_MIN_US` on a socket from 6.15 on"
            );
            (how, "a loss that only the timer finds then takes that much longer")
        }
        "tcp_rto_max_ms" => {
            let how = format!(
                "{} or `TCP_RTO_MAX_MS` on a socket, from Linux 6.15 on",
                sysctl(name, value)
            );
            (how, "during a long outage more unneeded retransmissions")
        }
        "tcp_timestamps" => {
            let how = format!("{} at both ends", sysctl(name, value));
            let cost = if value == "1" { "12 bytes in each segment" } else { "no Eifel, no PAWS" };
            (how, cost)
        }
        "tcp_sack" | "tcp_dsack" => {
            let how = format!("{} at both ends", sysctl(name, value));
            (how, if value == "1" { NO_COST } else { "slower recovery of losses" })
        }
        "tcp_frto" | "tcp_early_retrans" => {
            let cost = if value == "0" { "late recovery elsewhere" } else { NO_COST };
            (sysctl(name, value), cost)
        }
        "tcp_congestion_control" => {
            let cost = match value {
                "reno" => "slower growth on long fast paths",
                _ => NO_COST,
            };
            (sysctl(name, value), cost)
        }
        _ => (setting.to_string(), NO_COST),
    }
}

/// The results of a replay on which the conclusion is based.
pub(super) struct Replay<'a> {
    /// The duration until all data was acknowledged in the capture, in seconds.
    pub captured_s: f64,
    /// The simulated sender nearest to the captured one.
    pub nearest: &'a Outcome,
    pub agrees: bool,
    /// Is the nearest sender Linux? If so, `others` are its settings.
    pub is_linux: bool,
    /// The durations of the others by name, in seconds.
    pub others: Vec<(&'a str, Option<f64>)>,
    /// The smallest significant gain, in seconds.
    pub unclear_s: f64,
}

/// The conclusion.
pub(super) fn advice(replay: Replay<'_>) -> Vec<Sentence> {
    let Replay { captured_s, nearest, agrees, is_linux, others, unclear_s } = replay;
    let replayed = nearest.elapsed_s.unwrap_or(f64::INFINITY);
    let error = (replayed - captured_s).abs();
    let figures = [("replayed_s", json!(nearest.elapsed_s)), ("captured_s", json!(captured_s))];
    let basis = format!("replayed {} for {}", seconds(replayed), seconds(captured_s));
    if !agrees {
        let text = "The replay of this connection does not agree with the capture, so no setting \
                    can be recommended.";
        return vec![Sentence::new(text, basis, &figures)];
    }
    let least = error.max(MIN_GAIN).max(unclear_s);
    let gain = |(name, elapsed): (_, Option<f64>)| Some((name, replayed - elapsed?));
    let mut better: Vec<(&str, f64)> =
        others.into_iter().filter_map(gain).filter(|(_, gain)| *gain > least).collect();
    better.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(&(_, most)) = better.first() else {
        let text = format!(
            "No setting would have helped: none saves more than the replay's error of {}.",
            seconds(least)
        );
        return vec![Sentence::new(text, basis, &figures)];
    };
    // Of settings with about the same gain, those without a cost come first.
    let mut alike: Vec<_> = better.iter().filter(|(_, gain)| most - gain <= least).collect();
    alike.sort_by_key(|(name, _)| how(name).1 != NO_COST);
    let named = alike.into_iter().take(MAX_NAMED).map(|&(name, gain)| {
        let basis = format!("{}; replayed to within {}", basis, seconds(error));
        let figures =
            [("setting", json!(name)), ("saves_s", json!(gain)), ("error_s", json!(error))];
        let text = match is_linux {
            true => {
                let (how, cost) = how(name);
                format!(
                    "`{name}` would have saved {}: {how}. Its cost elsewhere: {cost}.",
                    seconds(gain)
                )
            }
            false => format!("A sender such as `{name}` would have saved {}.", seconds(gain)),
        };
        Sentence::new(text, basis, &figures)
    });
    named.collect()
}
