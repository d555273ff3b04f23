//! The functions that packetdrill calls, each a thin skin over [`Host`]: pointers become slices here,
//! results a number and `errno`.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int, c_long, c_longlong, c_uint, c_ulong, c_void};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use rtolab_time::Duration;

use crate::flow::Patience;
use crate::host::{Descriptor, Host, How};
use crate::info::TcpInfo;
use crate::interface::Interface;
use crate::settings::Settings;
use crate::shared::Shared;

/// Fills in the table of functions. Flags that say nothing end the process: the tool has no way to be
/// told.
///
/// # Safety
///
/// `flags` is null or a string that ends with zero; `interface` has room for the table. Its functions
/// are called as the table declares them, with its `userdata`, and none after `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(
    flags: *const c_char,
    interface: *mut Interface,
) {
    let flags = match flags.is_null() {
        true => String::new(),
        // SAFETY: not null, so a string by the caller's promise.
        false => unsafe { CStr::from_ptr(flags) }.to_string_lossy().into_owned(),
    };
    let settings = Settings::parse(&flags).unwrap_or_else(|error| {
        eprintln!("rtolab: {error}");
        std::process::exit(2);
    });
    let shared = Shared::new(Host::new(settings));
    let table = Interface {
        userdata: Arc::into_raw(shared).cast_mut().cast(),
        free,
        socket,
        bind,
        listen,
        accept,
        connect,
        read,
        readv,
        recv,
        recvfrom,
        recvmsg,
        write,
        writev,
        send,
        sendto,
        sendmsg,
        fcntl,
        ioctl,
        close,
        shutdown,
        getsockopt,
        setsockopt,
        poll,
        netdev_send,
        netdev_receive,
        usleep,
        gettimeofday,
        epoll_create,
        epoll_ctl,
        epoll_wait,
        pipe,
        splice,
    };
    // SAFETY: the caller gives room for the table.
    unsafe { interface.write(table) };
}

type User = *mut c_void;

/// The stack behind `userdata`.
///
/// # Safety
///
/// `user` is what [`packetdrill_interface_init`] gave, and [`free`] was not called.
unsafe fn shared<'a>(user: User) -> &'a Shared {
    // SAFETY: it came from `Arc::into_raw`, and lives until `free`.
    unsafe { &*user.cast::<Shared>() }
}

/// Sets `errno`; returns what failing calls return.
pub(crate) fn fail(errno: c_int) -> c_int {
    // SAFETY: libc's pointer to the thread's own `errno`.
    unsafe { *libc::__errno_location() = errno };
    -1
}

fn status(result: Result<(), c_int>) -> c_int {
    result.map_or_else(fail, |()| 0)
}

fn count(result: Result<usize, c_int>) -> isize {
    result.map_or_else(|errno| fail(errno) as isize, |count| count as isize)
}

/// A descriptor that is real, for the tool closes what a script leaves open.
fn new_descriptor() -> Result<Descriptor, c_int> {
    // SAFETY: no pointer is involved.
    let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if descriptor < 0 { Err(libc::EMFILE) } else { Ok(descriptor) }
}

/// What a call on `descriptor` fails with where it would wait; nothing where it may.
fn unready(shared: &Shared, descriptor: Descriptor, flags: c_int, errno: c_int) -> Option<c_int> {
    (flags & libc::MSG_DONTWAIT != 0 || shared.is_nonblocking(descriptor)).then_some(errno)
}

unsafe extern "C" fn free(user: User) {
    // SAFETY: from `Arc::into_raw`, and the last call by the tool's promise.
    let shared = unsafe { Arc::from_raw(user.cast::<Shared>()) };
    shared.retire();
}

unsafe extern "C" fn socket(user: User, _domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    if kind & 0xf != libc::SOCK_STREAM || !matches!(protocol, 0 | libc::IPPROTO_TCP) {
        return fail(libc::EPROTONOSUPPORT);
    }
    let made = new_descriptor().and_then(|descriptor| {
        shared.set_nonblocking(descriptor, kind & libc::SOCK_NONBLOCK != 0);
        shared.call(None, |host| host.socket(descriptor)).map(|()| descriptor)
    });
    made.unwrap_or_else(fail)
}

unsafe extern "C" fn bind(
    user: User,
    descriptor: c_int,
    address: *const libc::sockaddr,
    length: libc::socklen_t,
) -> c_int {
    // SAFETY: the table's `userdata`, and an address of that length.
    let (shared, address) = unsafe { (shared(user), read_address(address, length)) };
    status(address.and_then(|address| shared.call(None, |host| host.bind(descriptor, address))))
}

unsafe extern "C" fn listen(user: User, descriptor: c_int, _backlog: c_int) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    status(shared.call(None, |host| host.listen(descriptor)))
}

unsafe extern "C" fn accept(
    user: User,
    descriptor: c_int,
    address: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    let unready = unready(shared, descriptor, 0, libc::EAGAIN);
    let accepted = shared.call(unready, |host| host.acceptable(descriptor)).and_then(|()| {
        let new = new_descriptor()?;
        shared.call(unready, |host| host.accept(descriptor, new)).map(|peer| (new, peer))
    });
    match accepted {
        Ok((new, peer)) => {
            // SAFETY: null, or room for as many bytes as `length` says.
            unsafe { write_address(peer, address, length) };
            new
        }
        Err(errno) => fail(errno),
    }
}

unsafe extern "C" fn connect(
    user: User,
    descriptor: c_int,
    address: *const libc::sockaddr,
    length: libc::socklen_t,
) -> c_int {
    // SAFETY: the table's `userdata`, and an address of that length.
    let (shared, address) = unsafe { (shared(user), read_address(address, length)) };
    let unready = unready(shared, descriptor, 0, libc::EINPROGRESS);
    status(address.and_then(|peer| shared.call(unready, |host| host.connect(descriptor, peer))))
}

unsafe extern "C" fn read(user: User, descriptor: c_int, into: *mut c_void, size: usize) -> isize {
    // SAFETY: as for `recv`.
    unsafe { recv(user, descriptor, into, size, 0) }
}

unsafe extern "C" fn readv(
    user: User,
    descriptor: c_int,
    parts: *const libc::iovec,
    parts_count: c_int,
) -> isize {
    // SAFETY: the table's `userdata`, and buffers as `readv` of POSIX has them.
    unsafe { receive_into(shared(user), descriptor, parts_of(parts, parts_count as usize), 0) }
}

unsafe extern "C" fn recv(
    user: User,
    descriptor: c_int,
    into: *mut c_void,
    size: usize,
    flags: c_int,
) -> isize {
    let part = libc::iovec { iov_base: into, iov_len: size };
    // SAFETY: the table's `userdata`, and a buffer of that size.
    unsafe { receive_into(shared(user), descriptor, &[part], flags) }
}

unsafe extern "C" fn recvfrom(
    user: User,
    descriptor: c_int,
    into: *mut c_void,
    size: usize,
    flags: c_int,
    _address: *mut libc::sockaddr,
    _length: *mut libc::socklen_t,
) -> isize {
    // SAFETY: as for `recv`.
    unsafe { recv(user, descriptor, into, size, flags) }
}

unsafe extern "C" fn recvmsg(
    user: User,
    descriptor: c_int,
    message: *mut libc::msghdr,
    flags: c_int,
) -> isize {
    if flags & libc::MSG_ERRQUEUE != 0 {
        // SAFETY: the table's `userdata`, and a message as POSIX has it.
        return unsafe { receive_stamp(shared(user), descriptor, &mut *message) };
    }
    // SAFETY: the table's `userdata`, and a message as POSIX has it.
    unsafe {
        let parts = parts_of((*message).msg_iov, (*message).msg_iovlen);
        receive_into(shared(user), descriptor, parts, flags)
    }
}

unsafe extern "C" fn write(
    user: User,
    descriptor: c_int,
    from: *const c_void,
    size: usize,
) -> isize {
    // SAFETY: as for `send`.
    unsafe { send(user, descriptor, from, size, 0) }
}

unsafe extern "C" fn writev(
    user: User,
    descriptor: c_int,
    parts: *const libc::iovec,
    parts_count: c_int,
) -> isize {
    // SAFETY: the table's `userdata`, and buffers as `writev` of POSIX has them.
    unsafe { send_from(shared(user), descriptor, parts_of(parts, parts_count as usize), 0) }
}

unsafe extern "C" fn send(
    user: User,
    descriptor: c_int,
    from: *const c_void,
    size: usize,
    flags: c_int,
) -> isize {
    let part = libc::iovec { iov_base: from.cast_mut(), iov_len: size };
    // SAFETY: the table's `userdata`, and a buffer of that size, which is only read.
    unsafe { send_from(shared(user), descriptor, &[part], flags) }
}

unsafe extern "C" fn sendto(
    user: User,
    descriptor: c_int,
    from: *const c_void,
    size: usize,
    flags: c_int,
    _address: *const libc::sockaddr,
    _length: libc::socklen_t,
) -> isize {
    // SAFETY: as for `send`.
    unsafe { send(user, descriptor, from, size, flags) }
}

unsafe extern "C" fn sendmsg(
    user: User,
    descriptor: c_int,
    message: *const libc::msghdr,
    flags: c_int,
) -> isize {
    // SAFETY: the table's `userdata`, and a message as POSIX has it.
    unsafe {
        let parts = parts_of((*message).msg_iov, (*message).msg_iovlen);
        send_from(shared(user), descriptor, parts, flags)
    }
}

unsafe extern "C" fn fcntl(user: User, descriptor: c_int, command: c_int, value: c_long) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    match command {
        libc::F_GETFL if shared.is_nonblocking(descriptor) => libc::O_RDWR | libc::O_NONBLOCK,
        libc::F_GETFL => libc::O_RDWR,
        libc::F_SETFL => {
            shared.set_nonblocking(descriptor, value as c_int & libc::O_NONBLOCK != 0);
            0
        }
        _ => fail(libc::EINVAL),
    }
}

unsafe extern "C" fn ioctl(
    user: User,
    descriptor: c_int,
    request: c_ulong,
    value: *mut c_void,
) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    let answer = shared.with(|host| match request {
        libc::FIONREAD => Some(host.readable(descriptor)),
        libc::TIOCOUTQ => host.flow(descriptor).map(crate::flow::Flow::unacknowledged),
        _ => None,
    });
    match answer {
        Some(bytes) => {
            // SAFETY: both requests are for an `int`.
            unsafe { value.cast::<c_int>().write_unaligned(bytes as c_int) };
            0
        }
        None => fail(libc::EINVAL),
    }
}

unsafe extern "C" fn close(user: User, descriptor: c_int) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    let closed = shared.call(None, |host| host.close(descriptor));
    if closed.is_ok() {
        shared.set_nonblocking(descriptor, false);
        // SAFETY: a descriptor of `new_descriptor`, which nobody uses any more.
        unsafe { libc::close(descriptor) };
    }
    status(closed)
}

unsafe extern "C" fn shutdown(user: User, descriptor: c_int, how: c_int) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    let how = match how {
        libc::SHUT_RD => How::Read,
        libc::SHUT_WR => How::Write,
        libc::SHUT_RDWR => How::Both,
        _ => return fail(libc::EINVAL),
    };
    status(shared.call(None, |host| host.shutdown(descriptor, how)))
}

unsafe extern "C" fn getsockopt(
    user: User,
    descriptor: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut libc::socklen_t,
) -> c_int {
    // SAFETY: the table's `userdata`, and room for as many bytes as `length` says.
    unsafe { answer_option(shared(user), descriptor, (level, name), value, length) }
}

/// Answers `getsockopt`: `TCP_INFO`, `SO_ERROR`, `TCP_MAXSEG`; zeros where nothing is known.
///
/// # Safety
///
/// `value` has room for `*length` bytes.
pub(crate) unsafe fn answer_option(
    shared: &Shared,
    descriptor: Descriptor,
    option: (c_int, c_int),
    value: *mut c_void,
    length: *mut libc::socklen_t,
) -> c_int {
    let number = |number: c_int| number.to_ne_bytes().to_vec();
    // SAFETY: by the caller's promise.
    let room = unsafe { *length } as usize;
    let bytes = shared.with(|host| match option {
        (libc::SOL_SOCKET, libc::SO_ERROR) => number(host.error(descriptor)),
        (libc::SOL_TCP, libc::TCP_INFO) => {
            let mut bytes = host.flow(descriptor).map(TcpInfo::of).unwrap_or_default().bytes();
            // What newer kernels know besides is zero.
            bytes.resize(room, 0);
            bytes
        }
        (libc::SOL_TCP, libc::TCP_MAXSEG) => number(host.segment_size(descriptor)),
        _ => Vec::new(),
    });
    let count = bytes.len().min(room);
    // SAFETY: `count` bytes fit into `value`, which is none of ours.
    unsafe {
        value.cast::<u8>().write_bytes(0, room);
        value.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), count);
        if !bytes.is_empty() {
            *length = count as libc::socklen_t;
        }
    }
    0
}

unsafe extern "C" fn setsockopt(
    user: User,
    descriptor: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: libc::socklen_t,
) -> c_int {
    // SAFETY: the table's `userdata`, and a value of that length.
    let (shared, bytes) =
        unsafe { (shared(user), core::slice::from_raw_parts(value.cast::<u8>(), length as usize)) };
    status(shared.call(None, |host| host.set_option(descriptor, (level, name), bytes)))
}

unsafe extern "C" fn poll(
    user: User,
    polled: *mut libc::pollfd,
    polled_count: libc::nfds_t,
    timeout: c_int,
) -> c_int {
    // SAFETY: the table's `userdata`, and as many entries as are said.
    let (shared, polled) =
        unsafe { (shared(user), core::slice::from_raw_parts_mut(polled, polled_count as usize)) };
    let until = (timeout >= 0).then(|| shared.read_clock() + Duration::from_millis(timeout as u64));
    let ready = shared.call(None, |host| host.poll(polled, until));
    ready.map_or_else(fail, |ready| ready as c_int)
}

unsafe extern "C" fn netdev_send(user: User, packet: *const c_void, size: usize) -> c_int {
    // SAFETY: the table's `userdata`, and a packet of that size.
    let (shared, packet) =
        unsafe { (shared(user), core::slice::from_raw_parts(packet.cast::<u8>(), size)) };
    shared.with(|host| host.arrive(packet));
    0
}

unsafe extern "C" fn netdev_receive(
    user: User,
    into: *mut c_void,
    size: *mut usize,
    time: *mut c_longlong,
) -> c_int {
    // SAFETY: the table's `userdata`.
    let departed = unsafe { shared(user) }.receive();
    let (packet, micros) = departed
        .map_or((Vec::new(), 0), |(packet, at)| (packet, (at.nanos() / 1000) as c_longlong));
    // SAFETY: `into` has room for `*size` bytes, and all three are the caller's.
    unsafe {
        let count = packet.len().min(*size);
        into.cast::<u8>().copy_from_nonoverlapping(packet.as_ptr(), count);
        *size = count;
        *time = micros;
    }
    0
}

unsafe extern "C" fn usleep(user: User, micros: c_uint) -> c_int {
    // SAFETY: the table's `userdata`.
    unsafe { shared(user) }.sleep(Duration::from_micros(u64::from(micros)));
    0
}

unsafe extern "C" fn gettimeofday(
    user: User,
    into: *mut libc::timeval,
    _zone: *mut c_void,
) -> c_int {
    // SAFETY: the table's `userdata`.
    let micros = unsafe { shared(user) }.read_clock().nanos() / 1000;
    let time = libc::timeval {
        tv_sec: (micros / 1_000_000) as libc::time_t,
        tv_usec: (micros % 1_000_000) as libc::suseconds_t,
    };
    // SAFETY: the caller gives room for the time.
    unsafe { into.write(time) };
    0
}

unsafe extern "C" fn epoll_create(_user: User, _size: c_int) -> c_int {
    fail(libc::ENOSYS)
}

unsafe extern "C" fn epoll_ctl(
    _user: User,
    _epoll: c_int,
    _operation: c_int,
    _descriptor: c_int,
    _event: *mut libc::epoll_event,
) -> c_int {
    fail(libc::ENOSYS)
}

unsafe extern "C" fn epoll_wait(
    _user: User,
    _epoll: c_int,
    _events: *mut libc::epoll_event,
    _most: c_int,
    _timeout: c_int,
) -> c_int {
    fail(libc::ENOSYS)
}

unsafe extern "C" fn pipe(_user: User, _ends: *mut c_int) -> c_int {
    fail(libc::ENOSYS)
}

unsafe extern "C" fn splice(
    _user: User,
    _from: c_int,
    _from_offset: *mut libc::loff_t,
    _to: c_int,
    _to_offset: *mut libc::loff_t,
    _size: usize,
    _flags: c_uint,
) -> isize {
    fail(libc::ENOSYS) as isize
}

/// The buffers of a scattered read or write.
///
/// # Safety
///
/// `parts` is null, or points to so many.
unsafe fn parts_of<'a>(parts: *const libc::iovec, count: usize) -> &'a [libc::iovec] {
    match parts.is_null() {
        true => &[],
        // SAFETY: the caller's promise.
        false => unsafe { core::slice::from_raw_parts(parts, count) },
    }
}

/// Reads an entry of the error queue, which has no data.
///
/// # Safety
///
/// `message` is one as POSIX has it: its control buffer has room for as many bytes as it says.
unsafe fn receive_stamp(
    shared: &Shared,
    descriptor: Descriptor,
    message: &mut libc::msghdr,
) -> isize {
    match shared.call(None, |host| host.stamp(descriptor)) {
        Ok(stamp) => {
            let control = stamp.control();
            let size = control.len().min(message.msg_controllen);
            // SAFETY: not more than there is room for.
            unsafe {
                let into = message.msg_control.cast::<u8>();
                into.copy_from_nonoverlapping(control.as_ptr(), size);
            }
            message.msg_controllen = size;
            message.msg_flags = libc::MSG_ERRQUEUE | libc::MSG_TRUNC;
            0
        }
        Err(errno) => fail(errno) as isize,
    }
}

/// Reads into several buffers.
///
/// # Safety
///
/// Each of `parts` has room for as many bytes as it says.
unsafe fn receive_into(
    shared: &Shared,
    descriptor: Descriptor,
    parts: &[libc::iovec],
    flags: c_int,
) -> isize {
    let most = parts.iter().map(|part| part.iov_len).sum();
    let unready = unready(shared, descriptor, flags, libc::EAGAIN);
    let read = shared.call(unready, |host| host.read(descriptor, most));
    if let Ok(bytes) = &read {
        let mut rest = &bytes[..];
        for part in parts {
            let (now, later) = rest.split_at(rest.len().min(part.iov_len));
            // SAFETY: not more than the part has room for.
            unsafe { part.iov_base.cast::<u8>().copy_from_nonoverlapping(now.as_ptr(), now.len()) };
            rest = later;
        }
    }
    count(read.map(|bytes| bytes.len()))
}

/// Writes from several buffers.
///
/// # Safety
///
/// Each of `parts` holds as many bytes as it says.
unsafe fn send_from(
    shared: &Shared,
    descriptor: Descriptor,
    parts: &[libc::iovec],
    flags: c_int,
) -> isize {
    let mut bytes = Vec::new();
    for part in parts.iter().filter(|part| part.iov_len > 0) {
        // SAFETY: the caller's promise.
        bytes.extend(unsafe {
            core::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len)
        });
    }
    let unready = unready(shared, descriptor, flags, libc::EAGAIN);
    let patience = unready.map_or(Patience::Waits, |_| Patience::Fails);
    count(shared.call(unready, |host| host.write(descriptor, &bytes, patience)))
}

/// An address that the tool hands over.
///
/// # Safety
///
/// `address` points to `length` bytes.
unsafe fn read_address(
    address: *const libc::sockaddr,
    length: libc::socklen_t,
) -> Result<SocketAddr, c_int> {
    if address.is_null() || (length as usize) < size_of::<libc::sa_family_t>() {
        return Err(libc::EINVAL);
    }
    // SAFETY: at least the family is there; each cast is to what the family says, where it is long
    // enough.
    unsafe {
        match c_int::from(address.cast::<libc::sa_family_t>().read_unaligned()) {
            libc::AF_INET if length as usize >= size_of::<libc::sockaddr_in>() => {
                let v4 = address.cast::<libc::sockaddr_in>().read_unaligned();
                let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
                Ok(SocketAddr::new(IpAddr::V4(ip), u16::from_be(v4.sin_port)))
            }
            libc::AF_INET6 if length as usize >= size_of::<libc::sockaddr_in6>() => {
                let v6 = address.cast::<libc::sockaddr_in6>().read_unaligned();
                let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
                Ok(SocketAddr::new(IpAddr::V6(ip), u16::from_be(v6.sin6_port)))
            }
            _ => Err(libc::EAFNOSUPPORT),
        }
    }
}

/// Tells the tool an address, as far as it has room for it.
///
/// # Safety
///
/// Either pointer is null, or `address` has room for `*length` bytes.
unsafe fn write_address(
    from: SocketAddr,
    address: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
) {
    if address.is_null() || length.is_null() {
        return;
    }
    let mut bytes = Vec::new();
    match from {
        SocketAddr::V4(v4) => {
            bytes.extend((libc::AF_INET as libc::sa_family_t).to_ne_bytes());
            bytes.extend(v4.port().to_be_bytes());
            bytes.extend(v4.ip().octets());
            bytes.extend([0; 8]);
        }
        SocketAddr::V6(v6) => {
            bytes.extend((libc::AF_INET6 as libc::sa_family_t).to_ne_bytes());
            bytes.extend(v6.port().to_be_bytes());
            bytes.extend([0; 4]);
            bytes.extend(v6.ip().octets());
            bytes.extend([0; 4]);
        }
    }
    // SAFETY: not more than there is room for.
    unsafe {
        let count = bytes.len().min(*length as usize);
        address.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), count);
        *length = bytes.len() as libc::socklen_t;
    }
}
