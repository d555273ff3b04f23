//! What can be observed of a run: typed rows, and the tables made of them.
#![forbid(unsafe_code)]

mod column;
mod judged;
mod kinds;
mod rows;
pub mod tables;

pub use column::{Cell, Table};
pub use judged::{Comparison, DuplicateCause, DuplicateRow, Rest, Truths, VerdictRow, WhatIfRow};
pub use kinds::{Place, TimeoutKind, Truth};
pub use rows::{
    ConnectionRow, Delays, Disturbance, DisturbanceRow, Event, Fate, HEAD, LinkRow, Losses,
    Measured, Recording, Run, SegmentRow, TaskRow, TimeoutRow, WindowRow,
};
