//! Errors in requests, in parts, so that the page can show them at their place.

use rtolab_scenario::ScenarioError;
use serde_json::json;

/// The place of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestErrorPlace {
    /// The text of the scenario.
    Scenario,
    /// A value that replaces one of the scenario's.
    Set,
    /// A sender specification.
    Sender,
    /// The request itself.
    Request,
}

impl RequestErrorPlace {
    const fn name(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Set => "set",
            Self::Sender => "sender",
            Self::Request => "request",
        }
    }
}

/// An error and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError {
    /// Its place.
    pub place: RequestErrorPlace,
    /// What was found, and what would be right.
    pub message: String,
    /// The line in the text of the scenario, from 1.
    pub line: Option<usize>,
    /// The key of the value that was set.
    pub key: Option<String>,
    /// Was the run stopped by `keep_running`?
    pub is_stopped: bool,
}

impl RequestError {
    /// An error in the request.
    pub fn request(message: impl Into<String>) -> Self {
        Self::at(RequestErrorPlace::Request, message)
    }

    /// An error in a sender specification.
    pub(crate) fn sender(error: &impl ToString) -> Self {
        Self::at(RequestErrorPlace::Sender, error.to_string())
    }

    /// An error that shows only when the scenario is run.
    pub(crate) fn scenario(error: &impl ToString) -> Self {
        Self::at(RequestErrorPlace::Scenario, error.to_string())
    }

    /// The run was stopped.
    pub(crate) fn stopped() -> Self {
        Self { is_stopped: true, ..Self::request("the run was stopped") }
    }

    fn at(place: RequestErrorPlace, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), line: None, key: None, is_stopped: false }
    }

    /// The JSON of the error: `{"error": {where, message, line, key}}`.
    pub fn encoded(&self) -> Vec<u8> {
        let Self { place, message, line, key, .. } = self;
        let error = json!({"where": place.name(), "message": message, "line": line, "key": key});
        json!({ "error": error }).to_string().into_bytes()
    }
}

impl From<ScenarioError> for RequestError {
    fn from(error: ScenarioError) -> Self {
        let ScenarioError { line, set, key, problem, .. } = error;
        let message = match key.is_empty() || set.as_deref() == Some(&key) {
            true => problem,
            false => format!("{key}: {problem}"),
        };
        match set {
            Some(key) => Self { key: Some(key), ..Self::at(RequestErrorPlace::Set, message) },
            None => Self { line, ..Self::at(RequestErrorPlace::Scenario, message) },
        }
    }
}
