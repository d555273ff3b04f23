//! What can be observed of a run: typed rows, and the tables made of them.

mod rows;

pub use rows::{
    ConnectionRow, Disturbance, DisturbanceRow, Event, Fate, LinkRow, Place, Run, SegmentRow,
    TimeoutKind, TimeoutRow, WindowRow,
};
