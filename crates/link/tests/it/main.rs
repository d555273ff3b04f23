//! Tests of links, in one binary so that they build fast.

mod common;
mod compression;
mod controlled_delay;
mod coupled;
mod delivery;
mod laws;
mod pipes;
mod properties;
mod queue_length;
mod randomness;
mod rates;
mod reseed;
mod retransmission;
mod scripts;
mod states;
