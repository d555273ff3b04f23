#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod document;
mod error;
mod files;
mod formats;
mod kernel;
mod limits;
mod load;
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
pub use rtolab_time::{Bytes, Duration, Instant, Rate};
pub use scenario::{Flow, Link, MiddleboxConfig, MiddleboxKind, Route, Scenario, Workload};
