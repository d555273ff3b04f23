//! smoltcp: two interfaces, each with one socket.

use std::collections::VecDeque;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

use crate::{BUFFER, MSS, Pair};

/// The lengths of IPv4 and TCP headers without options.
const HEADERS: usize = 40;

/// A device in memory.
#[derive(Default)]
struct Queues {
    received: VecDeque<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
}

struct Received(Vec<u8>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

struct Sent<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        let mut packet = vec![0; len];
        let result = write(&mut packet);
        self.0.push_back(packet);
        result
    }
}

impl Device for Queues {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sent<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Sent<'_>)> {
        Some((Received(self.received.pop_front()?), Sent(&mut self.sent)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sent<'_>> {
        Some(Sent(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = HEADERS + MSS;
        capabilities
    }
}

/// An interface with one socket.
struct End {
    interface: Interface,
    device: Queues,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
}

impl End {
    fn new(host: u8) -> Self {
        let mut device = Queues::default();
        let config = Config::new(HardwareAddress::Ip);
        let mut interface = Interface::new(config, &mut device, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(IpAddress::v4(10, 0, 0, host), 24)).expect("room");
        });
        let buffer = || tcp::SocketBuffer::new(vec![0; BUFFER]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_congestion_control(tcp::CongestionControl::Reno);
        let mut sockets = SocketSet::new(vec![]);
        let handle = sockets.add(socket);
        Self { interface, device, sockets, handle }
    }

    fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    fn poll(&mut self, now: Instant) {
        self.interface.poll(now, &mut self.device, &mut self.sockets);
    }
}

/// A sender and a receiver.
pub struct Smoltcp {
    sender: End,
    receiver: End,
    now: Instant,
}

impl Smoltcp {
    /// Passes packets both ways until neither end has any. Returns the number of those with data.
    fn exchange(&mut self) -> usize {
        let mut data = 0;
        loop {
            self.sender.poll(self.now);
            let up = std::mem::take(&mut self.sender.device.sent);
            data += up.iter().filter(|packet| packet.len() > HEADERS + 20).count();
            let is_idle = up.is_empty();
            self.receiver.device.received = up;
            self.receiver.poll(self.now);
            let down = std::mem::take(&mut self.receiver.device.sent);
            if is_idle && down.is_empty() {
                return data;
            }
            self.sender.device.received = down;
        }
    }
}

impl Pair for Smoltcp {
    const NAME: &str = "smoltcp";

    fn connected() -> Self {
        let mut pair = Self { sender: End::new(1), receiver: End::new(2), now: Instant::ZERO };
        pair.receiver.socket().listen(80).expect("a port");
        let End { interface, sockets, handle, .. } = &mut pair.sender;
        sockets
            .get_mut::<tcp::Socket<'_>>(*handle)
            .connect(interface.context(), (IpAddress::v4(10, 0, 0, 2), 80), 49_152)
            .expect("a route");
        pair.exchange();
        assert!(pair.receiver.socket().may_recv(), "no handshake");
        pair
    }

    fn transfer(&mut self, bytes: usize) -> usize {
        let block = vec![7; BUFFER];
        let (mut read, mut data) = (0, 0);
        while read < bytes {
            self.sender.socket().send_slice(&block).expect("a connection");
            data += self.exchange();
            let before = read;
            while self.receiver.socket().can_recv() {
                read += self
                    .receiver
                    .socket()
                    .recv(|bytes| {
                        assert_eq!(bytes[0], 7, "other bytes");
                        (bytes.len(), bytes.len())
                    })
                    .expect("a connection");
            }
            if read == before {
                self.now += Duration::from_millis(10);
            }
        }
        data
    }
}
