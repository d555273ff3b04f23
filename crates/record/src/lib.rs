//! What can be observed of a run: typed rows, and the tables made of them.

mod column;
mod rows;
pub mod tables;

pub use rows::{
    ConnectionRow, Disturbance, DisturbanceRow, Event, Fate, LinkRow, Place, Recording, Run,
    SegmentRow, TimeoutKind, TimeoutRow, Truth, WindowRow,
};
