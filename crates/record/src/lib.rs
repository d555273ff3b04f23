#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod column;
mod judged;
mod kinds;
mod rows;
pub mod tables;

pub use column::{Cell, Table};
pub use judged::{Comparison, DupackCause, DuplicateRow, Rest, Truths, VerdictRow, WhatIfRow};
pub use kinds::{Place, TimeoutKind, Truth};
pub use rows::{
    ConnectionRow, Delays, DisturbanceRow, Fate, HEAD, LinkRow, Losses, Measured, PacketEvent,
    Recording, Run, SegmentRow, TaskRow, TimeoutRow, WindowRow,
};
