//! A sans-IO link: told of frames and of the time, it says which frames come out, when, and what
//! became of the others.
#![no_std]

extern crate alloc;

mod config;
mod frame;

pub use config::{
    ChannelConfig, DirectionConfig, Distribution, Limit, Outages, Probability, Renewal, SpikeHolds,
    Spikes, StallHolds, Stalls, Window,
};
pub use frame::{Cause, CopyId, Direction, Frame, Outcome};
