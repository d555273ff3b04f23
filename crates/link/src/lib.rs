#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

mod admission;
mod arq;
mod arq_node;
mod channel;
mod codel;
mod config;
mod delays;
mod delivery_queue;
mod distribution;
mod fifo;
mod format;
mod frame;
mod header_compression;
mod impairments;
mod jitter;
mod laws;
mod layers;
mod light;
mod medium;
mod occupancy;
mod one_way;
mod opportunities;
mod pauses;
mod pipe;
mod priority;
mod quantiles;
mod rates;
mod red;
mod report;
mod reseed;
mod ring;
mod stage;
mod stream;
mod timeline;
mod transmitter;
mod waiting;

pub use channel::Channel;
pub use config::{
    Arq, BadState, BlockLossDetection, ChannelConfig, CoDel, DelayTrace, DirectionConfig,
    Discipline, Interval, LightOpportunities, Limit, Opportunities, Order, Outages, Priority,
    Probability, RateChange, Red, SpikeHolds, Spikes, StallHolds, Stalls, States,
};
pub use distribution::Distribution;
pub use fifo::Fifo;
pub use frame::{CopyId, Direction, DropCause, Frame, HeaderFields, Outcome};
pub use header_compression::HeaderCompression;
pub use laws::{Empirical, Factor, Gamma, LogNormal, Pareto};
pub use occupancy::QueueLength;
pub use pipe::Pipe;
pub use report::{Disturbance, DisturbanceKind, Drops, Stats};
pub use rtolab_time::{Duration, Instant, Rate};
pub use stage::{CloneStage, FrameAction, NamedStage, SentFrame, Stage};
pub use stream::{RenewalProcess, Rng, Stream};
pub use transmitter::Transmitter;
