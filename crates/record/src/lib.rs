#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod disturbances;
mod kinds;
mod outages;
mod rows;
mod runs;
mod scores;
pub mod tables;

pub use disturbances::{DisturbanceRow, OutageRow};
pub use kinds::{Place, TimeoutKind, Truth};
pub use outages::count_timeouts;
pub use rows::{
    ConnectionRow, Delays, Fate, HEAD, LinkRow, Losses, Measured, PacketEvent, Recording, Run,
    SegmentRow, TaskRow, TimeoutRow, WindowRow,
};
pub use scores::{
    Comparison, DupackCause, DuplicateRow, TransferOutcome, Truths, VerdictRow, WhatIfRow,
};
