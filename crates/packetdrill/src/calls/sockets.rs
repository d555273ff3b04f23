//! The calls that create, connect and close sockets.

use core::ffi::c_int;

use crate::host::Shutdown;

use super::address::{read_address, write_address};
use super::convention::{User, fail, new_descriptor, shared, status, would_block_error};

pub(super) unsafe extern "C" fn socket(
    user: User,
    domain: c_int,
    kind: c_int,
    protocol: c_int,
) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    if kind & 0xf != libc::SOCK_STREAM || !matches!(protocol, 0 | libc::IPPROTO_TCP) {
        return fail(libc::EPROTONOSUPPORT);
    }
    let made = new_descriptor().and_then(|descriptor| {
        shared.set_nonblocking(descriptor, kind & libc::SOCK_NONBLOCK != 0);
        shared
            .call(None, |host| host.socket(descriptor, domain == libc::AF_INET6))
            .map(|()| descriptor)
    });
    made.unwrap_or_else(fail)
}

pub(super) unsafe extern "C" fn bind(
    user: User,
    descriptor: c_int,
    address: *const libc::sockaddr,
    length: libc::socklen_t,
) -> c_int {
    // SAFETY: the table's `userdata`, and an address of that length.
    let (shared, address) = unsafe { (shared(user), read_address(address, length)) };
    status(address.and_then(|address| shared.call(None, |host| host.bind(descriptor, address))))
}

pub(super) unsafe extern "C" fn listen(user: User, descriptor: c_int, _backlog: c_int) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    status(shared.call(None, |host| host.listen(descriptor)))
}

pub(super) unsafe extern "C" fn accept(
    user: User,
    descriptor: c_int,
    address: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    let would_block_error = would_block_error(shared, descriptor, 0, libc::EAGAIN);
    let accepted =
        shared.call(would_block_error, |host| host.acceptable(descriptor)).and_then(|()| {
            let new = new_descriptor()?;
            shared
                .call(would_block_error, |host| host.accept(descriptor, new))
                .map(|peer| (new, peer))
        });
    match accepted {
        Ok((new, peer)) => {
            // SAFETY: `address` is null, or has room for `*length` bytes.
            unsafe { write_address(peer, address, length) };
            new
        }
        Err(errno) => fail(errno),
    }
}

pub(super) unsafe extern "C" fn connect(
    user: User,
    descriptor: c_int,
    address: *const libc::sockaddr,
    length: libc::socklen_t,
) -> c_int {
    // SAFETY: the table's `userdata`, and an address of that length.
    let (shared, address) = unsafe { (shared(user), read_address(address, length)) };
    let would_block_error = would_block_error(shared, descriptor, 0, libc::EINPROGRESS);
    status(
        address
            .and_then(|peer| shared.call(would_block_error, |host| host.connect(descriptor, peer))),
    )
}

pub(super) unsafe extern "C" fn close(user: User, descriptor: c_int) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    let closed = shared.call(None, |host| host.close(descriptor));
    if closed.is_ok() {
        shared.set_nonblocking(descriptor, false);
        // SAFETY: the descriptor is from `new_descriptor`, and its socket is closed.
        unsafe { libc::close(descriptor) };
    }
    status(closed)
}

pub(super) unsafe extern "C" fn shutdown(user: User, descriptor: c_int, how: c_int) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    let how = match how {
        libc::SHUT_RD => Shutdown::Read,
        libc::SHUT_WR => Shutdown::Write,
        libc::SHUT_RDWR => Shutdown::Both,
        _ => return fail(libc::EINVAL),
    };
    status(shared.call(None, |host| host.shutdown(descriptor, how)))
}
