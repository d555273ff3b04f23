//! Errors in scenarios.

use thiserror::Error;

/// An error in a scenario or in a key set on top of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{problem}", place(file, *line, set.as_deref(), key))]
pub struct ScenarioError {
    /// The file, as the user named it.
    pub file: String,
    /// The line, counted from 1; `None` for the file as a whole.
    pub line: Option<usize>,
    /// The key of the `--set` with the error, if it is in one.
    pub set: Option<String>,
    /// The dotted key, such as `link.wireless.rate`; empty for the file as a whole.
    pub key: String,
    /// What was found and what would be right.
    pub problem: String,
}

/// A result whose error is in the scenario.
pub(crate) type Result<T, E = ScenarioError> = std::result::Result<T, E>;

fn place(file: &str, line: Option<usize>, set: Option<&str>, key: &str) -> String {
    let place = match (set, line) {
        (Some(set), _) => format!("--set {set}"),
        (None, Some(line)) => format!("{file}:{line}"),
        (None, None) => file.to_string(),
    };
    match key {
        "" => format!("{place}: "),
        key if set == Some(key) => format!("{place}: "),
        key => format!("{place}: {key}: "),
    }
}
