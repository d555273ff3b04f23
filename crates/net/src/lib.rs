//! Sans-IO parts that every clock needs: packets, routes, middleboxes, workloads, and the fates of
//! copies.
#![forbid(unsafe_code)]

pub mod agent;
mod copies;
mod packet;
mod route;
mod routing_table;
pub mod workload;

pub use agent::{Agent, Onward};
pub use copies::Copies;
pub use packet::{Condition, Packet, UDP_HEADER};
pub use route::{Hop, Network};
pub use routing_table::{Attachment, RoutingTable, Step};
pub use workload::Application;
