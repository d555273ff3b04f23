//! Tests of whole simulations, in one binary so that they build fast.

mod common;
mod differences;
mod ecn;
mod everything;
mod grid;
mod header_compression;
mod hiccup;
mod needed;
mod networks;
mod oracle;
mod outages;
mod paired;
mod pipes;
mod presets;
mod rack;
mod sack1;
mod scoring;
mod sender_events;
mod systems;
mod truth;
mod workloads;
