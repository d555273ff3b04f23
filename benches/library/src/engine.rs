//! `rtolab-tcp` alone: segments without their bytes.

use std::sync::Arc;

use rtolab_tcp::{Config, Connection, specification};
use rtolab_time::Instant;

use crate::{BUFFER, MSS, Pair};

/// A sender and a receiver.
pub struct Engine {
    sender: Connection,
    receiver: Connection,
}

/// NewReno without SACK and timestamps, as smoltcp with Reno, with smoltcp's buffers.
pub fn config() -> Arc<Config> {
    let mut config = Config { mss: MSS as u16, ..Config::default() };
    config.receiver.buffer = BUFFER as u32;
    Arc::new(specification::sender("newreno", &config).expect("a known sender"))
}

/// Passes segments both ways until neither end has any. Returns the number of those with data.
fn exchange(ends: [&mut Connection; 2], now: Instant) -> usize {
    let [one, other] = ends;
    let mut data = 0;
    loop {
        let mut idle = true;
        while let Some(segment) = one.poll_transmit(now) {
            idle = false;
            data += usize::from(segment.len > 0);
            other.on_segment(&segment, now);
        }
        while let Some(segment) = other.poll_transmit(now) {
            idle = false;
            one.on_segment(&segment, now);
        }
        if idle {
            return data;
        }
    }
}

impl Pair for Engine {
    const NAME: &str = "rtolab-tcp, without bytes";

    fn connected() -> Self {
        let now = Instant::START;
        let mut sender = Connection::open(config());
        let syn = sender.poll_transmit(now).expect("a SYN");
        let mut receiver = Connection::accept(config(), &syn);
        exchange([&mut sender, &mut receiver], now);
        Self { sender, receiver }
    }

    fn transfer(&mut self, bytes: usize) -> usize {
        let now = Instant::START;
        let (mut written, mut data) = (0, 0);
        while written < bytes {
            self.sender.write(BUFFER as u64);
            written += BUFFER;
            data += exchange([&mut self.sender, &mut self.receiver], now);
            let readable = self.receiver.readable();
            self.receiver.read(readable);
            while self.sender.poll_event().is_some() || self.receiver.poll_event().is_some() {}
        }
        data
    }
}
