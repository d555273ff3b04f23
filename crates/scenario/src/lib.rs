//! What a user writes: nodes, links, flows and senders in a TOML file, checked once.
//!
//! The way of a scenario: the text becomes a `document` whose every node knows its line, what is
//! `set` edits that, `read` turns it into the structs of `written`, which are the one schema, and
//! `resolve` checks what spans several keys, fills in the defaults and reads the traces that the
//! scenario names.
//! What is wrong is an [`Error`]: file, line, key, what was found and what would be right.
#![forbid(unsafe_code)]

mod document;
mod error;
mod files;
mod kernel;
mod limits;
mod overridden;
mod prototypes;
mod read;
mod resolve;
mod scenario;
mod schema;
mod set;
mod trace;
mod written;

pub use document::lines;
pub use error::Error;
pub use files::Reach;
pub use kernel::{Begin, Emulation, Kernel};
pub use prototypes::Prototypes;
pub use scenario::{Agent, AgentKind, Flow, Link, Route, Scenario, Workload};
