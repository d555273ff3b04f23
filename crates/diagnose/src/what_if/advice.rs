//! The conclusion of a what-if in words: the settings that would have helped, the time that they
//! would have saved, the command that sets them, and their cost on other paths.

use serde_json::json;

use super::replay::Outcome;
use crate::answer::{Sentence, seconds};

/// The smallest gain for which a setting is recommended, in seconds.
const MIN_GAIN: f64 = 0.05;
/// The phrase for a setting without a known cost.
const NO_COST: &str = "nothing known";
const RTO_MAX: &str = "tcp_rto_max_ms";
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
            let route = format!(
                "`ip route replace PREFIX via GATEWAY dev DEVICE rto_min {value}` (the PREFIX of \
                 the peer)"
            );
            let all = sysctl("tcp_rto_min_us", micros);
            // The socket option `TCP_RTO_MIN_US` takes no more than 200 ms.
            (
                format!("{route}, or {all} from Linux 6.11 on"),
                "a loss that only the timer finds then takes that much longer",
            )
        }
        RTO_MAX => {
            let how = format!(
                "{} or `TCP_RTO_MAX_MS` on a socket, from Linux 6.15 on",
                sysctl(name, value)
            );
            (how, "during a long outage more unneeded retransmissions")
        }
        "tcp_timestamps" => {
            let how = format!("{} at both ends", sysctl(name, value));
            let cost = match value {
                "1" => "12 bytes in each segment",
                _ => {
                    "go-back-N after stalls unless F-RTO is on, and no protection against old \
                      segments"
                }
            };
            (how, cost)
        }
        "tcp_sack" | "tcp_dsack" => {
            let how = format!("{} at both ends", sysctl(name, value));
            let cost = match (name, value) {
                (_, "1") => NO_COST,
                ("tcp_sack", _) => {
                    "a round trip for each loss, unneeded retransmissions, no probes"
                }
                _ => "unneeded retransmissions stay unnoticed",
            };
            (how, cost)
        }
        "tcp_frto" => {
            let cost = match value {
                "0" => "go-back-N after every stall, unless timestamps are on",
                _ => NO_COST,
            };
            (sysctl(name, value), cost)
        }
        "tcp_early_retrans" => {
            let cost = match value {
                "0" => "a loss at the end of the data waits for the timer",
                _ => NO_COST,
            };
            (sysctl(name, value), cost)
        }
        "tcp_congestion_control" => {
            let cost = match value {
                "reno" => "slower growth on long fast paths",
                "bbr" => {
                    "at a shared bottleneck it takes more than its share from Reno and CUBIC, and \
                     it loses more in short queues"
                }
                _ => NO_COST,
            };
            (sysctl(name, value), cost)
        }
        _ => (setting.to_string(), NO_COST),
    }
}

/// Does it switch off a part of loss recovery? For a gain on one connection that costs all others
/// of the host too much.
fn is_switched_off(setting: &str) -> bool {
    let recovery = ["tcp_timestamps", "tcp_frto", "tcp_sack", "tcp_dsack", "tcp_early_retrans"];
    setting.split_once('=').is_some_and(|(name, value)| recovery.contains(&name) && value == "0")
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
    /// How much earlier or later an outage may have ended than replayed, in seconds.
    pub outage_s: f64,
}

/// The conclusion.
pub(super) fn advice(replay: Replay<'_>) -> Vec<Sentence> {
    let Replay { captured_s, nearest, agrees, is_linux, others, unclear_s, outage_s } = replay;
    let replayed = nearest.elapsed_s.unwrap_or(f64::INFINITY);
    let error = (replayed - captured_s).abs();
    let figures = [("replayed_s", json!(nearest.elapsed_s)), ("captured_s", json!(captured_s))];
    let basis = format!("replayed {} for {}", seconds(replayed), seconds(captured_s));
    if !agrees {
        let text = "The replay of this connection does not agree with the capture, so no setting \
                    can be recommended.";
        return vec![Sentence::new(text, basis, &figures)];
    }
    let clear = error.max(MIN_GAIN).max(unclear_s);
    let least = clear.max(outage_s);
    let gain = |(name, elapsed): (_, Option<f64>)| Some((name, replayed - elapsed?));
    // Which retransmission is the first to get through depends on the end of the outage. A lower
    // maximum of the RTO helps whenever it ended.
    let least_of = |name: &str| if name.starts_with(RTO_MAX) { clear } else { least };
    let mut better: Vec<(&str, f64)> =
        others.into_iter().filter_map(gain).filter(|(name, gain)| *gain > least_of(name)).collect();
    better.sort_by(|a, b| b.1.total_cmp(&a.1));
    let off = better.iter().copied().find(|(name, _)| is_switched_off(name));
    better.retain(|(name, _)| !is_switched_off(name));
    let Some(&(_, most)) = better.first() else {
        let text = match off {
            Some((name, gain)) => format!(
                "No setting is recommended: `{name}` would have saved {} here, but its cost \
                 elsewhere is too high: {}.",
                seconds(gain),
                how(name).1
            ),
            None if outage_s >= clear => format!(
                "No setting would have helped for certain: none saves more than {}, by which the \
                 outage may have ended earlier or later than replayed.",
                seconds(least)
            ),
            None => format!(
                "No setting would have helped: none saves more than the replay's error of {}.",
                seconds(least)
            ),
        };
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

#[cfg(test)]
mod tests {
    use super::super::replay::Settings;
    use super::*;

    const CAPTURED_S: f64 = 10.0;

    /// The text of the conclusion if these settings would have taken these times.
    fn said(others: &[(&str, f64)], outage_s: f64) -> String {
        let nearest = Outcome {
            sender: "linux",
            set: Settings::default(),
            unneeded: 0,
            needed: 5,
            timeouts: 1,
            elapsed_s: Some(CAPTURED_S),
            time_lost_s: None,
            detected_s: None,
        };
        let sentences = advice(Replay {
            captured_s: CAPTURED_S,
            nearest: &nearest,
            agrees: true,
            is_linux: true,
            others: others.iter().map(|&(name, elapsed)| (name, Some(elapsed))).collect(),
            unclear_s: 0.0,
            outage_s,
        });
        sentences.iter().map(|one| &*one.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn no_advice_switches_off_a_part_of_loss_recovery() {
        for name in ["tcp_sack", "tcp_dsack", "tcp_frto", "tcp_timestamps", "tcp_early_retrans"] {
            let (off, on) = (format!("{name}=0"), format!("{name}=1"));
            let text = said(&[(&off, 8.0)], 0.0);
            assert!(text.starts_with("No setting is recommended: `tcp_"), "{text}");
            assert!(!text.contains("sysctl") && !text.contains(NO_COST), "{text}");
            assert!(said(&[(&off, 8.0), (&on, 9.0)], 0.0).starts_with(&format!("`{on}` would")));
        }
        assert!(said(&[("tcp_frto=0", 8.0)], 0.0).contains("go-back-N after every stall"));
    }

    #[test]
    fn a_gain_within_the_uncertainty_of_an_outage_is_none() {
        assert!(said(&[("rto_min=1 s", 9.5)], 0.4).starts_with("`rto_min=1 s` would have saved"));
        let text = said(&[("rto_min=1 s", 9.5)], 0.6);
        assert!(text.starts_with("No setting would have helped for certain"), "{text}");
        assert!(text.contains("more than 600 ms"), "{text}");
        assert!(said(&[("tcp_rto_max_ms=5000", 9.5)], 0.6).starts_with("`tcp_rto_max_ms=5000`"));
    }

    #[test]
    fn commands_work_on_linux() {
        // The socket option takes no more than 200 ms, and a change needs a route to change.
        let (how, _) = how("rto_min=3 s");
        assert!(how.contains("`ip route replace PREFIX via GATEWAY dev DEVICE rto_min 3s`"));
        assert!(how.contains("`sysctl -w net.ipv4.tcp_rto_min_us=3000000` from Linux 6.11"));
        assert!(!how.contains("TCP_RTO_MIN_US"));
    }

    #[test]
    fn the_cost_of_bbr_is_that_to_flows_of_other_senders() {
        let text = said(&[("tcp_congestion_control=bbr", 5.0)], 0.0);
        assert!(text.contains("more than its share from Reno and CUBIC"), "{text}");
    }
}
