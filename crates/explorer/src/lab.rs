//! Runs of the requested scenario.

use rtolab_record::Recording;
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe, RunStatus, Sim, SimError};
use rtolab_tcp::specification::CustomPolicies;
use rtolab_tcp::spurious::DETECTORS;

use crate::path::PathSamples;
use crate::request::Request;
use crate::request_error::RequestError;
use crate::{Explorer, Texts};

/// The name of the scenario's text in errors.
const FILE: &str = "scenario.toml";
/// Everything that a figure shows.
pub(crate) const OBSERVE: Observe = Observe { trace: true, windows: true };

/// What is evaluated in addition to the ground truth.
#[derive(Default)]
pub(crate) struct Evaluation {
    /// The names of passive detectors.
    pub detectors: Vec<String>,
    /// Senders that continue from each timeout.
    pub what_if: Vec<String>,
}

/// A run with the frames in its links.
pub(crate) struct WatchedRun {
    pub scenario: Scenario,
    pub lab: Lab,
    pub recording: Recording,
    pub path: PathSamples,
}

impl Evaluation {
    /// The evaluation by the first `count` detectors.
    pub(crate) fn by_detectors(count: usize) -> Self {
        let detectors = DETECTORS.iter().take(count).map(|detector| detector.name.to_string());
        Self { detectors: detectors.collect(), what_if: Vec::new() }
    }
}

impl Request {
    /// The text of the requested scenario.
    pub(crate) fn text<'a>(&'a self, texts: &'a Texts) -> Result<&'a str, RequestError> {
        let included = || texts.get(&format!("{}.toml", self.scenario)).map(String::as_str);
        self.toml.as_deref().or_else(included).ok_or_else(|| {
            let name = &self.scenario;
            RequestError::request(format!(
                "scenario is {name:?}: no included scenario has that name"
            ))
        })
    }

    /// The requested scenario, with the values that replace its own.
    pub(crate) fn scenario(&self, texts: &Texts) -> Result<Scenario, RequestError> {
        Ok(Scenario::parse_among((self.text(texts)?, FILE), &self.set, texts)?)
    }
}

/// The scenario prepared for a sender, or for its own senders.
pub(crate) fn lab(
    scenario: &Scenario,
    sender: Option<&str>,
    evaluation: &Evaluation,
) -> Result<Lab, RequestError> {
    let Evaluation { detectors, what_if } = evaluation;
    Lab::evaluated((scenario, sender), &CustomPolicies::default(), (detectors, what_if)).map_err(
        |error| match error {
            error @ SimError::NoRoute { .. } => RequestError::scenario(&error),
            error => RequestError::sender(&error),
        },
    )
}

impl Explorer<'_> {
    /// The traced run of a sender, or of the scenario's own senders.
    pub(crate) fn recording(
        &mut self,
        request: &Request,
        sender: Option<&str>,
        evaluation: &Evaluation,
    ) -> Result<Recording, RequestError> {
        let lab = lab(&request.scenario(self.texts)?, sender, evaluation)?;
        let mut sim = lab.start(request.seed, OBSERVE);
        let mut keep_running = |sim: &Sim| (self.keep_running)(sim.recorded_bytes());
        match sim.run_while(lab.end(), &mut keep_running) {
            RunStatus::Stopped => Err(RequestError::stopped()),
            RunStatus::Finished => Ok(lab.record(sim, lab.named(0, request.seed))),
        }
    }

    /// The traced run of a sender, or of the scenario's own senders, with all detectors, and the
    /// frames in its links.
    pub(crate) fn watched(
        &mut self,
        request: &Request,
        sender: Option<&str>,
    ) -> Result<WatchedRun, RequestError> {
        let scenario = request.scenario(self.texts)?;
        let evaluation = Evaluation::by_detectors(DETECTORS.len());
        let lab = lab(&scenario, sender, &evaluation)?.watching_queues();
        let mut sim = lab.start(request.seed, OBSERVE);
        let mut path = PathSamples::of(lab.link_names().count());
        let mut keep_running = |sim: &Sim| (self.keep_running)(sim.recorded_bytes());
        match path.run(&mut sim, lab.end(), &mut keep_running) {
            RunStatus::Stopped => Err(RequestError::stopped()),
            RunStatus::Finished => {
                let recording = lab.record(sim, lab.named(0, request.seed));
                Ok(WatchedRun { scenario, lab, recording, path })
            }
        }
    }

    /// Checks that the request can be run.
    pub(crate) fn check(&self, request: &Request) -> Result<Vec<u8>, RequestError> {
        let scenario = request.scenario(self.texts)?;
        lab(&scenario, None, &Evaluation::default())?;
        for sender in &request.senders {
            lab(&scenario, Some(sender), &Evaluation::default())?;
        }
        Ok(b"{}".to_vec())
    }
}
