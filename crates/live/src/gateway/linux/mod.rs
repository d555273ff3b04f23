//! The gateway on Linux.

mod configs;
mod counting;
mod device;
mod memory;
mod proxied;
mod relay;
mod socket;
mod socket_side;
mod table;
mod tcp_side;
#[cfg(test)]
mod tests;
mod timers;
mod trace;

pub(super) use relay::run;
