//! The gateway itself, for which it takes Linux.

mod configs;
mod counting;
mod device;
mod leg;
mod memory;
mod packet;
mod relay;
mod socket;
mod splice;
mod table;
#[cfg(test)]
mod tests;
mod timers;
mod trace;
mod wired;

pub(super) use relay::run;
