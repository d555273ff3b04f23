//! Simulates senders on an inferred path, with and without its disturbances.

use rtolab_record::{Recording, TimeoutKind};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe, RunStatus, Sim};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::scenario;
use crate::infer::{Inferred, NotInferred};

/// The seed of all runs. It has no effect, because an inferred path is not random.
const SEED: u64 = 1;

/// Settings in order: dotted keys, and values as for `--set`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings(pub(super) Vec<(&'static str, &'static str)>);

impl Settings {
    pub(super) fn get(&self, key: &str) -> Option<&'static str> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// The settings with one changed.
    pub(super) fn with(&self, key: &'static str, value: &'static str) -> Self {
        let mut settings = self.clone();
        match settings.0.iter_mut().find(|(name, _)| *name == key) {
            Some(setting) => setting.1 = value,
            None => settings.0.push((key, value)),
        }
        settings
    }
}

impl Serialize for Settings {
    /// Serializes booleans and numbers as such, and all other values as text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let typed = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Json::from(text));
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, typed(value))))
    }
}

/// The results of a sender on the path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Outcome {
    pub(super) sender: &'static str,
    /// Its settings.
    pub(super) set: Settings,
    pub(super) unneeded: u64,
    pub(super) needed: u64,
    pub(super) timeouts: u64,
    /// From its first packet until all data is acknowledged, in seconds; `None` if it never is.
    pub(super) elapsed_s: Option<f64>,
    /// The additional time that the disturbances cause, in seconds.
    pub(super) time_lost_s: Option<f64>,
    /// The time from a timeout to the first verdict that it was spurious, in seconds.
    pub(super) detected_s: Option<f64>,
}

/// A path on which senders are simulated, with the results so far.
pub(super) struct SimulatedPath {
    /// The path and the transfer as TOML, with and without the disturbances.
    pub(super) scenarios: [String; 2],
    outcomes: [Vec<Outcome>; 2],
}

/// Indices of the two scenarios.
pub(super) const AS_INFERRED: usize = 0;
const UNDISTURBED: usize = 1;

impl SimulatedPath {
    pub(super) fn new(inferred: &Inferred) -> Self {
        let mut undisturbed = inferred.clone();
        let link = &mut undisturbed.link;
        (link.stalls, link.outages, link.drops) = Default::default();
        let scenarios = [inferred, &undisturbed].map(scenario::write);
        Self { scenarios, outcomes: Default::default() }
    }

    /// The results of a sender on one of the two scenarios, without `time_lost_s`.
    pub(super) fn simulate(
        &mut self,
        path: usize,
        (sender, set): (&'static str, &Settings),
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Outcome, NotInferred> {
        let mut known = self.outcomes[path].iter();
        if let Some(known) = known.find(|one| one.sender == sender && one.set == *set) {
            return Ok(known.clone());
        }
        let ran = run(&self.scenarios[path], sender, set, goes_on)?;
        let row = ran.connections.first().cloned().unwrap_or_default();
        let timeouts = ran.timeouts.iter().filter(|one| one.kind == TimeoutKind::Timeout);
        let spurious = timeouts.filter(|one| one.verdict == Some("spurious"));
        let detected =
            spurious.filter_map(|one| Some(one.verdict_at?.secs_f64() - one.at.secs_f64()));
        let outcome = Outcome {
            sender,
            set: set.clone(),
            unneeded: row.unneeded,
            needed: row.retransmissions - row.unneeded,
            timeouts: row.timeouts,
            elapsed_s: row.end.map(|end| end.since(row.start).secs_f64()),
            time_lost_s: None,
            detected_s: detected.min_by(f64::total_cmp),
        };
        self.outcomes[path].push(outcome.clone());
        Ok(outcome)
    }

    /// The results of a sender on the inferred path, compared with the undisturbed one.
    pub(super) fn compare(
        &mut self,
        sender: &'static str,
        set: &Settings,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Outcome, NotInferred> {
        let found = self.simulate(AS_INFERRED, (sender, set), goes_on)?;
        let usual = self.simulate(UNDISTURBED, (sender, set), goes_on)?.elapsed_s;
        let time_lost_s = found.elapsed_s.zip(usual).map(|(this, usual)| this - usual);
        Ok(Outcome { time_lost_s, ..found })
    }
}

fn run(
    scenario: &str,
    sender: &str,
    set: &Settings,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Recording, NotInferred> {
    let set: Vec<_> =
        set.0.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let wrong = |error: &dyn std::error::Error| NotInferred::Scenario(error.to_string());
    let scenario =
        Scenario::parse(scenario, "the inferred path", &set).map_err(|error| wrong(&error))?;
    let lab = Lab::new(&scenario, Some(sender)).map_err(|error| wrong(&error))?;
    let mut sim = lab.start(SEED, Observe::default());
    match sim.run_while(lab.end(), &mut |_: &Sim| goes_on()) {
        RunStatus::Stopped => Err(NotInferred::Interrupted),
        RunStatus::Finished => Ok(lab.record(sim, lab.named(0, SEED))),
    }
}

#[cfg(test)]
mod tests {
    use rtolab_link::Interval;
    use rtolab_time::{Duration, Instant};

    use super::super::known_settings;
    use super::*;
    use crate::Options;
    use crate::infer::{DATA, Link, Transfer};

    /// A transfer of 500 kB at 1 Mbit/s with an outage of data from 2 s to 4 s.
    fn inferred(timestamps: bool, sack: bool) -> Inferred {
        let mut link = Link::new(&[(0.0, 1e6)], 40);
        link.delay = Duration::from_millis(50);
        let at = Instant::START + Duration::from_secs(2);
        link.outages[DATA] = vec![Interval { at, length: Duration::from_secs(2) }];
        let mss = [Some(1460); 2];
        let options = Options { mss, window_scale: [None; 2], timestamps, sack, dsack: false };
        let transfer = Transfer {
            start: 0.0,
            end: 8.0,
            size: 500_000,
            mss: 1460,
            window: 60_000,
            ack_every: 2,
            quick_acks: 0,
            options,
        };
        Inferred { link, transfer, timer_slots: None, outage_error: 0.0 }
    }

    /// The sender's timers end the outage of two seconds some time after it.
    #[test]
    fn the_time_lost_is_that_beyond_the_undisturbed_path() {
        let mut path = SimulatedPath::new(&inferred(false, true));
        let found = path.compare("newreno", &Settings::default(), &mut || true).unwrap();
        let lost = found.time_lost_s.expect("both end");
        assert!((2.0..6.0).contains(&lost), "{found:?}");
        let (took, usual) = (found.elapsed_s.unwrap(), 500_000.0 * 8.0 / 1e6);
        assert!((took - lost - usual).abs() < 1.0, "{found:?}");
        assert!(found.timeouts > 0 && found.needed > 0, "{found:?}");
    }

    /// Of Linux's settings the handshake shows timestamps and SACK. D-SACK needs SACK.
    #[test]
    fn the_handshake_shows_settings_of_the_sender() {
        let of = |timestamps, sack| {
            let settings = known_settings(&inferred(timestamps, sack));
            let keys = ["kernel.timestamps", "kernel.sack", "kernel.dsack", "tcp.rto.timer"];
            keys.map(|key| settings.get(key))
        };
        assert_eq!(of(true, true), [Some("true"), None, None, None]);
        assert_eq!(of(false, false), [Some("false"), Some("false"), Some("false"), None]);
    }
}
