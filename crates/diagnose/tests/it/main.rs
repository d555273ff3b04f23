//! Tests of the diagnosis, in one binary so that they build fast.

mod capture_points;
mod captured_twice;
mod clock;
mod conformance;
mod endings;
mod evidence;
mod failures;
mod golden;
mod hostile;
mod limits;
mod mutated;
mod outstanding;
mod packets;
mod pair;
mod passive;
mod same_ports;
mod script;
mod stacks;
mod timeouts;
mod timers;
mod trace;
mod translation;
mod triggers;
mod watch;
mod watch_settled;
