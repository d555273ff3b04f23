//! What can be observed of a run: typed rows, and the tables made of them.
#![forbid(unsafe_code)]

mod column;
mod judged;
mod rows;
pub mod tables;

pub use column::{Cell, Table};
pub use judged::{Comparison, DuplicateCause, DuplicateRow, Rest, Truths, VerdictRow, WhatIfRow};
pub use rows::{
    ConnectionRow, Delays, Disturbance, DisturbanceRow, Event, Fate, HEAD, LinkRow, Losses,
    Measured, Place, Recording, Run, SegmentRow, TaskRow, TimeoutKind, TimeoutRow, Truth,
    WindowRow,
};
