#![doc = include_str!("../README.md")]

mod array;
pub mod arrow;
mod bits;
mod builder;
mod text;

pub use array::{Array, Column, ListValues, Table, Values};
pub use bits::Bits;
pub use builder::{Cell, TableBuilder};
pub use text::TextValues;
