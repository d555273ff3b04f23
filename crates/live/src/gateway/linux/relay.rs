//! The event loop of a gateway: one thread, which sleeps until a packet arrives, a socket is ready
//! or a timer expires.

mod admission;
mod path_mtu;
mod processing;

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::time::Instant as StdInstant;

use rtolab_tcp::config::Secret;
use rtolab_time::{Duration, Instant};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use tun_rs::SyncDevice;

use super::configs::Configs;
use super::device;
use super::memory::Memory;
use super::proxied::Proxied;
use super::table::{Id, Table};
use super::timers::Timers;
use super::trace::Trace;
use crate::gateway::counts::Counts;
use crate::gateway::error::GatewayError;
use crate::gateway::settings::{AddressFamilies, Gateway};
use crate::linux::forwarder::timespec;
use crate::linux::segment::{DropReason, ReceivedSegment};

/// The interval at which `interrupted` is called.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of packets read before sockets are served.
const BATCH: usize = 64;
/// The maximum number of socket events read at once.
const EVENTS: usize = 256;
/// The longest IP packet.
const LONGEST: usize = 65_535;
/// The maximum number of bytes per read from a socket.
const CHUNK: usize = 1 << 16;
/// The id of the device among sockets; no connection has it.
const DEVICE: u64 = u64::MAX;

/// Runs a gateway until `interrupted` returns true.
pub(crate) fn run(
    gateway: &Gateway,
    ready: &mut dyn FnMut(AddressFamilies),
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Counts, GatewayError> {
    let (mut relay, families) = Relay::new(gateway)?;
    ready(families);
    let ended = relay.run(interrupted);
    let cut = relay.cut();
    let Relay { trace, counts, .. } = relay;
    ended?;
    cut?;
    trace.map_or(Ok(()), Trace::finish)?;
    Ok(counts)
}

/// The state of a gateway.
struct Relay<'a> {
    gateway: &'a Gateway,
    begin: StdInstant,
    device: SyncDevice,
    epoll: std::os::fd::OwnedFd,
    configs: Configs,
    table: Table<Box<Proxied>>,
    timers: Timers,
    memory: Memory,
    /// Half-open connections in the order of their SYNs; some may be open or removed by now.
    opening: VecDeque<Id>,
    half_open: usize,
    /// Connections in TIME-WAIT in the order of their entry; some may be removed by now.
    time_wait_queue: VecDeque<Id>,
    time_wait_count: usize,
    /// The connections to process.
    pending: Vec<Id>,
    /// Buffers for packets to send, and for reads.
    packet: Vec<u8>,
    buffer: Vec<u8>,
    trace: Option<Trace>,
    counts: Counts,
}

impl<'a> Relay<'a> {
    fn new(gateway: &'a Gateway) -> Result<(Self, AddressFamilies), GatewayError> {
        crate::linux::needs::raise_file_limit();
        let configs = Configs::new(gateway, secret()?)?;
        let (device, families) = device::make(&gateway.device)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(GatewayError::system("make an epoll"))?;
        epoll::add(&epoll, &device, EventData::new_u64(DEVICE), EventFlags::IN)
            .map_err(GatewayError::system("wait for packets"))?;
        let pcap = gateway.pcap.as_deref();
        let trace = pcap.map(|path| Trace::create(path, &gateway.device.name)).transpose()?;
        let relay = Self {
            gateway,
            begin: StdInstant::now(),
            device,
            epoll,
            configs,
            table: Table::new(),
            timers: Timers::default(),
            memory: Memory::new(gateway.limits.memory),
            opening: VecDeque::new(),
            half_open: 0,
            time_wait_queue: VecDeque::new(),
            time_wait_count: 0,
            pending: Vec::new(),
            packet: Vec::with_capacity(LONGEST),
            buffer: vec![0; CHUNK],
            trace,
            counts: Counts::default(),
        };
        Ok((relay, families))
    }

    fn now(&self) -> Instant {
        Instant::START + Duration::from_nanos(self.begin.elapsed().as_nanos() as u64)
    }

    fn run(&mut self, interrupted: &mut dyn FnMut() -> bool) -> Result<(), GatewayError> {
        let over = self.gateway.duration.map_or(Instant::NEVER, |span| Instant::START + span);
        let mut ask = Instant::START;
        let mut events = Vec::with_capacity(EVENTS);
        let mut packet = vec![0; LONGEST];
        loop {
            let now = self.now();
            if now >= ask {
                if interrupted() || now >= over {
                    return Ok(());
                }
                ask = now + POLL_INTERVAL;
            }
            let next = self.timers.next().unwrap_or(Instant::NEVER).min(ask).min(over);
            events.clear();
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                Some(&timespec(next.since(now))),
            ) {
                Ok(_) => {}
                // After a signal the caller may want to stop.
                Err(Errno::INTR) => ask = Instant::START,
                Err(refused) => return Err(GatewayError::system("wait for packets")(refused)),
            }
            for event in &events {
                match event.data.u64() {
                    DEVICE => self.receive(&mut packet)?,
                    bits => self.on_socket(Id::from_bits(bits), event.flags),
                }
            }
            self.expire();
            self.process_pending()?;
            let table = &self.table;
            let is_current =
                |due, id| table.get(id).is_some_and(|proxied| proxied.wake_at == Some(due));
            self.timers.prune(table.len(), is_current);
        }
    }

    /// Reads the device's packets.
    fn receive(&mut self, packet: &mut [u8]) -> Result<(), GatewayError> {
        for _ in 0..BATCH {
            let length = match self.device.recv(packet) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(GatewayError::system("read from the TUN device")(error)),
            };
            let (packet, now) = (&packet[..length], self.now());
            if let Some(trace) = &mut self.trace {
                trace.record(packet, now)?;
            }
            match ReceivedSegment::read(packet) {
                Ok(arrived) => self.on_segment(&arrived, now)?,
                Err(DropReason::NotTcp) => self.on_other_packet(packet, now)?,
                Err(drop_reason) => self.counts.drop_reason(drop_reason),
            }
        }
        Ok(())
    }

    /// Processes the connections whose wake-up times have come.
    fn expire(&mut self) {
        let now = self.now();
        while let Some((due, id)) = self.timers.pop(now) {
            let Some(proxied) = self.table.get_mut(id) else { continue };
            if proxied.wake_at == Some(due) {
                proxied.wake_at = None;
                let timer =
                    proxied.tcp_side().and_then(|tcp_side| tcp_side.socket.connection.next_timer());
                if timer.is_some_and(|timer| timer <= now) {
                    if let Some(tcp_side) = proxied.tcp_side() {
                        tcp_side.socket.connection.on_timer(now);
                    }
                }
                self.mark_pending(id);
            }
        }
    }

    /// Schedules the processing of a connection.
    fn mark_pending(&mut self, id: Id) {
        if let Some(proxied) = self.table.get_mut(id) {
            if !std::mem::replace(&mut proxied.is_pending, true) {
                self.pending.push(id);
            }
        }
    }
}

/// A secret key (RFC 6528 section 3).
fn secret() -> Result<Secret, GatewayError> {
    let mut bytes = [0_u8; 16];
    // A read of up to 256 bytes is never partial.
    getrandom(&mut bytes, GetRandomFlags::empty())
        .map_err(GatewayError::system("get random numbers"))?;
    let number = u128::from_ne_bytes(bytes);
    Ok(Secret([number as u64, (number >> 64) as u64]))
}
