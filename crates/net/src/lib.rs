//! Sans-IO parts that every clock needs: packets, routes, what stands on the way, and the
//! fates of copies.

pub mod agent;
mod copies;
mod packet;
mod route;

pub use agent::{Agent, Onward};
pub use copies::Copies;
pub use packet::Packet;
pub use route::{Hop, route};
