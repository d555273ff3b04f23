//! Sans-IO parts that every clock needs: packets, routes, and the fates of copies.

mod copies;
mod packet;
mod route;

pub use copies::Copies;
pub use packet::Packet;
pub use route::{Hop, route};
