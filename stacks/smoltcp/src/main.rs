//! A client and a server on smoltcp, on the TUN device `stack0`, to be scored by `rtolab conform`:
//!
//!     transfer serve OWN-ADDRESS none|reno|cubic
//!     transfer fetch OWN-ADDRESS SERVER BYTES
//!
//! The client says how many bytes it wants and ends with 0 once it has them.

use std::env;
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Medium, TunTapInterface, wait};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpCidr, Ipv4Address};

const PORT: u16 = 9000;
/// What a receiver announces at most, in bytes.
const WINDOW: usize = 65_535;
/// What is written and not yet acknowledged, in bytes.
const UNSENT: usize = 1 << 18;

struct Host {
    device: TunTapInterface,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
}

impl Host {
    fn new(address: Ipv4Address, congestion: CongestionControl) -> std::io::Result<Self> {
        let mut device = TunTapInterface::new("stack0", Medium::Ip)?;
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = u64::from(std::process::id());
        let mut interface = Interface::new(config, &mut device, Instant::now());
        // The whole network of the hosts is behind the device.
        interface.update_ip_addrs(|all| all.push(IpCidr::new(address.into(), 16)).unwrap());
        let buffer = |length| SocketBuffer::new(vec![0; length]);
        let mut socket = Socket::new(buffer(WINDOW), buffer(UNSENT));
        socket.set_congestion_control(congestion);
        let mut sockets = SocketSet::new(vec![]);
        let socket = sockets.add(socket);
        Ok(Self { device, interface, sockets, socket })
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.socket)
    }

    /// Waits for a packet or a timer, then takes in and sends what there is.
    fn wait_and_poll(&mut self) -> std::io::Result<()> {
        let delay = self.interface.poll_delay(Instant::now(), &self.sockets);
        wait(self.device.as_raw_fd(), delay)?;
        self.interface.poll(Instant::now(), &mut self.device, &mut self.sockets);
        Ok(())
    }
}

/// Answers one request: a line that says how many bytes are wanted.
fn serve(mut host: Host) -> std::io::Result<ExitCode> {
    let (mut request, mut left) = (Vec::new(), None);
    host.socket().listen(PORT).expect("the port is free");
    loop {
        let socket = host.socket();
        if left.is_none() && socket.can_recv() {
            let _ = socket.recv(|data| (data.len(), request.extend_from_slice(data)));
            left = request
                .strip_suffix(b"\n")
                .and_then(|line| str::from_utf8(line).ok()?.parse().ok());
        }
        while let Some(bytes @ 1..) = left.filter(|_| socket.can_send()) {
            let sent = socket.send(|room| (room.len().min(bytes), room.len().min(bytes)));
            left = Some(bytes - sent.unwrap_or(0));
        }
        if left == Some(0) {
            socket.close();
        }
        host.wait_and_poll()?;
    }
}

fn fetch(mut host: Host, server: Ipv4Address, bytes: usize) -> std::io::Result<ExitCode> {
    let Host { interface, sockets, socket, .. } = &mut host;
    let socket = sockets.get_mut::<Socket>(*socket);
    let own_port = 49_152 + (std::process::id() % 16_384) as u16;
    socket.connect(interface.context(), (server, PORT), own_port).expect("the address is one");
    let (mut asked, mut got) = (false, 0);
    while got < bytes {
        let socket = host.socket();
        if !socket.is_active() {
            return Ok(ExitCode::FAILURE);
        }
        if !asked && socket.can_send() {
            asked = socket.send_slice(format!("{bytes}\n").as_bytes()).is_ok();
        }
        while socket.can_recv() {
            got += socket.recv(|data| (data.len(), data.len())).unwrap_or(0);
        }
        if got < bytes {
            host.wait_and_poll()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn main() -> std::io::Result<ExitCode> {
    let words: Vec<_> = env::args().skip(1).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let address = |word: &str| word.parse::<Ipv4Address>().expect("an IPv4 address");
    match words[..] {
        ["serve", own, congestion] => {
            let congestion = match congestion {
                "reno" => CongestionControl::Reno,
                "cubic" => CongestionControl::Cubic,
                _ => CongestionControl::None,
            };
            serve(Host::new(address(own), congestion)?)
        }
        ["fetch", own, server, bytes] => {
            let host = Host::new(address(own), CongestionControl::None)?;
            fetch(host, address(server), bytes.parse().expect("a number of bytes"))
        }
        _ => {
            eprintln!("usage: transfer serve OWN none|reno|cubic | fetch OWN SERVER BYTES");
            Ok(ExitCode::from(2))
        }
    }
}
