//! A sans-IO TCP engine. Its inputs are segments and the time; its outputs are the segments to send
//! and the time of the next timer. It reads no clock, no socket and no random device.
//!
//! # Example
//!
//! Two ends without a network: each receives the segments of the other at once. The first data
//! segment is lost and retransmitted.
//!
//! ```
//! use std::sync::Arc;
//!
//! use rtolab_tcp::{Answer, Config, Connection, Event, Listener, Segment, specification};
//! use rtolab_time::Instant;
//!
//! /// The segments that an end sends now. A program would write them to its device.
//! fn drain(end: &mut Connection, at: Instant) -> Vec<Segment> {
//!     std::iter::from_fn(|| end.poll_transmit(at)).collect()
//! }
//!
//! let config = Arc::new(specification::sender("sack+frto", &Config::default())?);
//! let mut at = Instant::START;
//! let mut client = Connection::open(config.clone());
//! let syn = client.poll_transmit(at).expect("a SYN");
//! let Answer::Accepted(mut server) = Listener::new(config).on_segment(&syn) else {
//!     panic!("a listener takes a SYN");
//! };
//! client.write(100_000);
//! client.close();
//!
//! let (mut lost, mut retransmitted, mut received) = (false, 0, 0);
//! while received < 100_000 {
//!     for segment in drain(&mut server, at) {
//!         client.on_segment(&segment, at);
//!     }
//!     for segment in drain(&mut client, at) {
//!         if segment.len > 0 && !lost {
//!             lost = true;
//!             continue;
//!         }
//!         server.on_segment(&segment, at);
//!     }
//!     while let Some(event) = client.poll_event() {
//!         retransmitted += u32::from(matches!(event, Event::FastRetransmit(_)));
//!     }
//!     let readable = server.readable();
//!     server.read(readable);
//!     received += readable;
//!     // A program would sleep until the first of these, or until something arrives.
//!     let timers = [client.next_timer(), server.next_timer()];
//!     if client.is_silent() && server.is_silent() {
//!         at = timers.into_iter().flatten().min().expect("an end waits for a timer");
//!         client.on_timer(at);
//!         server.on_timer(at);
//!     }
//! }
//! assert_eq!((received, retransmitted), (100_000, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

pub mod config;
pub mod congestion;
pub mod connection;
mod episode;
mod estimate;
pub mod event;
pub mod flight;
pub mod profile;
pub mod receiver;
mod recovery;
mod reduction;
pub mod response;
pub mod rtt;
mod segment;
pub mod sender;
mod seq;
pub mod specification;
pub mod spurious;
mod timer;
pub mod wire;

pub use config::Config;
pub use connection::{Answer, Connection, Failure, Listener, Reply, State, refuse};
pub use event::{Event, Retransmission};
pub use flight::{AckFacts, Cause, Flight, Sent};
pub use segment::{Codepoint, Flags, MAX_SACK_BLOCKS, Segment, SynOptions, Timestamps};
pub use seq::Seq;
