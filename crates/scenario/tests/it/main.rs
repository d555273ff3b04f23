//! Tests of scenarios, in one binary so that they build fast.

mod any;
mod errors;
mod everything;
mod hostile;
mod kernel_settings;
mod meaning;
mod noop_prototypes;
mod prototypes;
mod shipped;
