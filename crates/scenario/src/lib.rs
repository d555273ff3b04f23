//! Scenarios: nodes, links, flows and senders in a TOML file.
//!
//! The text becomes a `document` whose nodes know their lines. `set` edits it, `read` turns it into
//! the structs of `raw`, which are the schema, and `resolve` checks conditions across keys, fills
//! in defaults and reads trace files. An error is a [`ScenarioError`] with file, line, key, what
//! was found and what would be right.
#![forbid(unsafe_code)]

mod document;
mod error;
mod files;
mod kernel;
mod limits;
mod overridden;
mod prototypes;
mod raw;
mod read;
mod resolve;
mod scenario;
mod schema;
mod set;
mod trace;

pub use document::lines;
pub(crate) use error::Result;
pub use error::ScenarioError;
pub use files::FileAccess;
pub use kernel::{Begin, EmulationConfig, Kernel};
pub use prototypes::Prototypes;
pub use scenario::{Agent, AgentKind, Flow, Link, Route, Scenario, Workload};
