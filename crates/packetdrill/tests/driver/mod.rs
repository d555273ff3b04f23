//! A driver that uses the shared object as packetdrill does: only through the table of functions.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_longlong, c_void};
use std::ffi::CString;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rtolab_packetdrill::frame::TcpPacket;
use rtolab_packetdrill::settings::System;
use rtolab_packetdrill::{FunctionTable, TcpInfo, packetdrill_interface_init};
use rtolab_tcp::wire::{Addresses, Ports, WireSegment};
use rtolab_tcp::{Codepoint, Flags, SynOptions, Timestamps};

/// The host under test.
pub const HERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(192, 168, 0, 1), 8080);
/// Its peer, which the driver simulates.
pub const PEER: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 50_000);

/// Locked during a test, because `getsockopt` of a process answers for one stack.
static ONE_STACK: Mutex<()> = Mutex::new(());

/// A stack under test.
pub struct Tool {
    table: FunctionTable,
    started: c_longlong,
    _lock: MutexGuard<'static, ()>,
}

/// A segment that the host sent.
pub struct SentSegment {
    /// The time, in microseconds since the beginning.
    pub at: c_longlong,
    pub packet: Vec<u8>,
    pub frame: TcpPacket,
}

impl SentSegment {
    pub fn seq(&self, isn: u32) -> u32 {
        self.frame.segment.seq.wrapping_sub(isn)
    }
}

/// The header fields of a segment from the peer.
#[derive(Clone, Copy, Default)]
pub struct PeerSegment {
    pub seq: u32,
    pub ack: u32,
    pub flags: Flags,
    pub syn: SynOptions,
    pub timestamps: Option<Timestamps>,
}

impl Tool {
    pub fn new(flags: &str) -> Self {
        let lock = ONE_STACK.lock().unwrap_or_else(PoisonError::into_inner);
        let flags = CString::new(flags).unwrap();
        let mut table = core::mem::MaybeUninit::<FunctionTable>::uninit();
        // SAFETY: a string, and room for the table, which the call fills in.
        let table = unsafe {
            packetdrill_interface_init(flags.as_ptr(), table.as_mut_ptr());
            table.assume_init()
        };
        let mut tool = Self { table, started: 0, _lock: lock };
        tool.started = tool.clock();
        tool
    }

    /// The clock, in microseconds since the beginning.
    pub fn clock(&self) -> c_longlong {
        let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: the table's own pointer, and room for a time.
        unsafe {
            (self.table.gettimeofday)(self.table.userdata, &raw mut time, core::ptr::null_mut())
        };
        time.tv_sec * 1_000_000 + time.tv_usec - self.started
    }

    pub fn sleep(&self, micros: u32) {
        // SAFETY: the table's own pointer.
        unsafe { (self.table.usleep)(self.table.userdata, micros) };
    }

    pub fn socket(&self) -> c_int {
        // SAFETY: the table's own pointer.
        unsafe { (self.table.socket)(self.table.userdata, libc::AF_INET, libc::SOCK_STREAM, 0) }
    }

    /// A socket that listens at [`HERE`].
    pub fn listener(&self) -> c_int {
        let socket = self.socket();
        let address = address_of(HERE);
        let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        // SAFETY: the table's own pointer, and an address of that length.
        unsafe {
            let bound =
                (self.table.bind)(self.table.userdata, socket, (&raw const address).cast(), length);
            assert_eq!(bound, 0);
            assert_eq!((self.table.listen)(self.table.userdata, socket, 1), 0);
        }
        socket
    }

    pub fn accept(&self, listener: c_int) -> c_int {
        // SAFETY: the table's own pointer. The address of the peer is not requested.
        unsafe {
            let address = core::ptr::null_mut();
            (self.table.accept)(self.table.userdata, listener, address, core::ptr::null_mut())
        }
    }

    pub fn connect(&self, socket: c_int) -> c_int {
        let address = address_of(PEER);
        let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        // SAFETY: the table's own pointer, and an address of that length.
        unsafe {
            (self.table.connect)(self.table.userdata, socket, (&raw const address).cast(), length)
        }
    }

    pub fn set_nonblocking(&self, socket: c_int) {
        // SAFETY: the table's own pointer.
        let set = unsafe {
            let flags = (self.table.fcntl)(self.table.userdata, socket, libc::F_GETFL, 0);
            let flags = libc::c_long::from(flags | libc::O_NONBLOCK);
            (self.table.fcntl)(self.table.userdata, socket, libc::F_SETFL, flags)
        };
        assert_eq!(set, 0);
    }

    /// Sets an option of a level to a number.
    pub fn set_option(&self, socket: c_int, (level, name): (c_int, c_int), number: c_int) {
        let value = (&raw const number).cast::<c_void>();
        let length = size_of::<c_int>() as libc::socklen_t;
        // SAFETY: the table's own pointer, and a number.
        let set = unsafe {
            (self.table.setsockopt)(self.table.userdata, socket, level, name, value, length)
        };
        assert_eq!(set, 0);
    }

    /// An option of a level, which is a number.
    pub fn option(&self, socket: c_int, (level, name): (c_int, c_int)) -> c_int {
        let (mut number, mut length) = (0, size_of::<c_int>() as libc::socklen_t);
        let value = (&raw mut number).cast::<c_void>();
        // SAFETY: the table's own pointer, and room for a number.
        let read = unsafe {
            let user = self.table.userdata;
            (self.table.getsockopt)(user, socket, level, name, value, &raw mut length)
        };
        assert_eq!((read, length as usize), (0, size_of::<c_int>()));
        number
    }

    pub fn write(&self, socket: c_int, bytes: &[u8]) -> isize {
        let from = bytes.as_ptr().cast::<c_void>();
        // SAFETY: the table's own pointer, and a buffer of this length.
        unsafe { (self.table.write)(self.table.userdata, socket, from, bytes.len()) }
    }

    pub fn read(&self, socket: c_int, max_bytes: usize) -> Result<Vec<u8>, c_int> {
        self.receive(socket, max_bytes, 0)
    }

    /// Reads bytes that stay readable.
    pub fn peek(&self, socket: c_int, max_bytes: usize) -> Result<Vec<u8>, c_int> {
        self.receive(socket, max_bytes, libc::MSG_PEEK)
    }

    fn receive(&self, socket: c_int, max_bytes: usize, flags: c_int) -> Result<Vec<u8>, c_int> {
        let mut bytes = vec![0_u8; max_bytes];
        let into = bytes.as_mut_ptr().cast::<c_void>();
        // SAFETY: the table's own pointer, and a buffer of this length.
        let count =
            unsafe { (self.table.recv)(self.table.userdata, socket, into, max_bytes, flags) };
        match usize::try_from(count) {
            Ok(count) => {
                bytes.truncate(count);
                Ok(bytes)
            }
            Err(_) => Err(std::io::Error::last_os_error().raw_os_error().unwrap()),
        }
    }

    /// Sends `bytes` with flags such as `MSG_MORE`.
    pub fn send(&self, socket: c_int, bytes: &[u8], flags: c_int) -> isize {
        let from = bytes.as_ptr().cast::<c_void>();
        // SAFETY: the table's own pointer, and a buffer of this length.
        unsafe { (self.table.send)(self.table.userdata, socket, from, bytes.len(), flags) }
    }

    /// Writes `size` bytes from a null pointer.
    pub fn write_null(&self, socket: c_int, size: usize) -> isize {
        // SAFETY: the table's own pointer. The function checks for null.
        unsafe { (self.table.write)(self.table.userdata, socket, core::ptr::null(), size) }
    }

    /// Reads `size` bytes to a null pointer.
    pub fn read_null(&self, socket: c_int, size: usize) -> isize {
        // SAFETY: the table's own pointer. The function checks for null.
        unsafe { (self.table.read)(self.table.userdata, socket, core::ptr::null_mut(), size) }
    }

    pub fn close(&self, socket: c_int) -> c_int {
        // SAFETY: the table's own pointer.
        unsafe { (self.table.close)(self.table.userdata, socket) }
    }

    pub fn shutdown(&self, socket: c_int, how: c_int) -> c_int {
        // SAFETY: the table's own pointer.
        unsafe { (self.table.shutdown)(self.table.userdata, socket, how) }
    }

    /// Delivers a segment from the peer, with `payload`.
    pub fn deliver(&self, segment: PeerSegment, payload: &[u8]) {
        let (from, to) = (*PEER.ip(), *HERE.ip());
        let segment = WireSegment {
            ports: Ports { from: PEER.port(), to: HERE.port() },
            seq: segment.seq,
            ack: segment.ack,
            len: payload.len() as u32,
            window: 65_535,
            flags: segment.flags,
            syn: segment.syn,
            timestamps: segment.timestamps,
            sack: <_>::default(),
        };
        let addresses = Addresses::V4 { from, to };
        self.inject(&TcpPacket {
            addresses,
            codepoint: Codepoint::NotEct,
            segment,
            payload: payload.to_vec(),
        });
    }

    pub fn inject(&self, frame: &TcpPacket) {
        let packet = frame.emit(System::Linux);
        let bytes = packet.as_ptr().cast::<c_void>();
        // SAFETY: the table's own pointer, and a packet of that size.
        let sent = unsafe { (self.table.netdev_send)(self.table.userdata, bytes, packet.len()) };
        assert_eq!(sent, 0);
    }

    /// The next segment that the host sends; `None` if it sends no more.
    pub fn next_segment(&self) -> Option<SentSegment> {
        let mut packet = vec![0_u8; 65_536];
        let (mut size, mut at) = (packet.len(), 0);
        let into = packet.as_mut_ptr().cast::<c_void>();
        // SAFETY: the table's own pointer, and a buffer of this size.
        let received = unsafe {
            (self.table.netdev_receive)(self.table.userdata, into, &raw mut size, &raw mut at)
        };
        assert_eq!(received, 0);
        packet.truncate(size);
        let frame = (size > 0).then(|| TcpPacket::parse(&packet).unwrap())?;
        Some(SentSegment { at: at - self.started, packet, frame })
    }

    /// Lets the peer open a connection with the options `syn` only. Returns its descriptor and the
    /// host's ISN.
    pub fn opened_by_peer(&self, syn: SynOptions) -> (c_int, u32) {
        let listener = self.listener();
        self.deliver(PeerSegment { flags: Flags::SYN, syn, ..PeerSegment::default() }, b"");
        let isn = self.next_segment().unwrap().frame.segment.seq;
        let ack = isn.wrapping_add(1);
        self.sleep(100_000);
        self.deliver(PeerSegment { seq: 1, ack, flags: Flags::ACK, ..PeerSegment::default() }, b"");
        let socket = self.accept(listener);
        assert!(socket >= 0);
        (socket, isn)
    }
}

/// `TCP_INFO` of `socket` from libc's `getsockopt`, as in assertions of scripts.
pub fn info(socket: c_int) -> TcpInfo {
    let mut info = TcpInfo::default();
    let mut length = size_of::<TcpInfo>() as libc::socklen_t;
    // SAFETY: `info` has `length` bytes, and any bytes are a valid value of its integers.
    let status = unsafe {
        let into = (&raw mut info).cast::<c_void>();
        libc::getsockopt(socket, libc::SOL_TCP, libc::TCP_INFO, into, &raw mut length)
    };
    assert_eq!((status, length as usize), (0, size_of::<TcpInfo>()));
    info
}

impl Drop for Tool {
    fn drop(&mut self) {
        // SAFETY: the table's own pointer, which is not used afterwards.
        unsafe { (self.table.free)(self.table.userdata) };
    }
}

// SAFETY: the functions of the table may be called from two threads.
unsafe impl Sync for Tool {}

fn address_of(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
        sin_zero: [0; 8],
    }
}
