//! Sans-IO parts that every clock needs: packets, routes, what stands on the way, workloads, and the
//! fates of copies.
#![forbid(unsafe_code)]

pub mod agent;
mod copies;
mod packet;
mod route;
mod way;
pub mod workload;

pub use agent::{Agent, Onward};
pub use copies::Copies;
pub use packet::{Condition, Packet, UDP_HEADER};
pub use route::{Hop, Network};
pub use way::{Post, Step, Ways};
pub use workload::Application;
