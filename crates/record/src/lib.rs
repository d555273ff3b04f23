#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod column;
mod kinds;
mod rows;
mod scores;
pub mod tables;

pub use column::{Cell, Table};
pub use kinds::{Place, TimeoutKind, Truth};
pub use rows::{
    ConnectionRow, Delays, DisturbanceRow, Fate, HEAD, LinkRow, Losses, Measured, PacketEvent,
    Recording, Run, SegmentRow, TaskRow, TimeoutRow, WindowRow,
};
pub use scores::{
    Comparison, DupackCause, DuplicateRow, TransferOutcome, Truths, VerdictRow, WhatIfRow,
};
