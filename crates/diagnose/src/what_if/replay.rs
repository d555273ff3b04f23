//! Senders over an inferred path, with and without what happened on it.

use rtolab_record::{Recording, TimeoutKind};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe, Ran, Sim};

use super::{Outcome, Settings, scenario};
use crate::infer::{Inferred, NotInferred};

/// The seed of all runs: nothing on an inferred path is random.
const SEED: u64 = 1;

/// Runs senders over a path, each only once.
pub(super) struct Laboratory {
    /// The path and the transfer, as TOML; and the same without what happened on the path.
    pub(super) scenarios: [String; 2],
    outcomes: [Vec<Outcome>; 2],
}

/// The places of the two.
pub(super) const AS_INFERRED: usize = 0;
const UNDISTURBED: usize = 1;

impl Laboratory {
    pub(super) fn new(inferred: &Inferred) -> Self {
        let mut undisturbed = inferred.clone();
        let link = &mut undisturbed.link;
        (link.stalls, link.outages, link.drops) = Default::default();
        let scenarios = [inferred, &undisturbed].map(scenario::write);
        Self { scenarios, outcomes: Default::default() }
    }

    /// What a sender makes of one of the paths, without `time_lost_s`.
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

    /// The same of the path inferred, beside the path without what happened there.
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
        Scenario::parse(scenario, "the path inferred", &set).map_err(|error| wrong(&error))?;
    let lab = Lab::new(&scenario, Some(sender)).map_err(|error| wrong(&error))?;
    let mut sim = lab.start(SEED, Observe::default());
    match sim.run_while(lab.end(), &mut |_: &Sim| goes_on()) {
        Ran::Part => Err(NotInferred::Interrupted),
        Ran::ToTheEnd => Ok(lab.record(sim, lab.named(0, SEED))),
    }
}
