//! What is wrong with a scenario, and where.

use thiserror::Error;

/// A fault in a scenario or in what was set on top of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{problem}", place(file, *line, set.as_deref(), key))]
pub struct Error {
    /// The file as it was named.
    pub file: String,
    /// The line, counted from 1, unless the file as a whole is meant.
    pub line: Option<usize>,
    /// The key of the `--set` that brought the fault in, if one did.
    pub set: Option<String>,
    /// The dotted key at fault, such as `link.wireless.rate`; empty for the file as a whole.
    pub key: String,
    /// What was found and what would be right.
    pub problem: String,
}

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
