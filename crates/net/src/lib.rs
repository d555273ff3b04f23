#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod copies;
pub mod middlebox;
mod outage_meter;
mod packet;
mod route;
mod routing_table;
mod scored_detectors;
pub mod workload;

pub use copies::Copies;
pub use middlebox::{Middlebox, OutgoingPacket};
pub use outage_meter::{Departure, NewData, OutageMeter};
pub use packet::{Condition, Notification, Packet, UDP_HEADER};
pub use route::{Hop, Network};
pub use routing_table::{Attachment, RouteStep, RoutingTable};
pub use scored_detectors::ScoredDetectors;
pub use workload::Application;
