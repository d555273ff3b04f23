//! Options: `fcntl`, `ioctl`, `getsockopt`, `setsockopt`.

use core::ffi::{c_int, c_long, c_ulong, c_void};

use crate::host::Descriptor;
use crate::shared::Shared;

use super::convention::{User, fail, shared, status};

pub(super) unsafe extern "C" fn fcntl(
    user: User,
    descriptor: c_int,
    command: c_int,
    value: c_long,
) -> c_int {
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

pub(super) unsafe extern "C" fn ioctl(
    user: User,
    descriptor: c_int,
    request: c_ulong,
    value: *mut c_void,
) -> c_int {
    // SAFETY: the table's `userdata`.
    let shared = unsafe { shared(user) };
    let answer = shared.with(|host| match request {
        libc::FIONREAD => Some(host.readable(descriptor)),
        libc::TIOCOUTQ => host.flow(descriptor).map(crate::flow::LinuxConnection::unacknowledged),
        _ => None,
    });
    match answer {
        Some(bytes) => {
            // SAFETY: the result of both requests is an `int`.
            unsafe { value.cast::<c_int>().write_unaligned(bytes as c_int) };
            0
        }
        None => fail(libc::EINVAL),
    }
}

pub(super) unsafe extern "C" fn getsockopt(
    user: User,
    descriptor: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut libc::socklen_t,
) -> c_int {
    // SAFETY: the table's `userdata`, and room for `*length` bytes.
    unsafe { answer_option(shared(user), descriptor, (level, name), value, length) }
}

/// Answers `getsockopt` with `TCP_INFO`, `SO_ERROR`, `SO_SNDBUF`, `SO_RCVBUF` and `TCP_MAXSEG`.
/// Other options and unknown fields are zero.
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
            let mut bytes = host.info(descriptor).bytes();
            // The fields of newer kernels are zero.
            bytes.resize(room, 0);
            bytes
        }
        (libc::SOL_SOCKET, libc::SO_SNDBUF) => number(host.send_buffer_size(descriptor)),
        (libc::SOL_SOCKET, libc::SO_RCVBUF) => number(host.receive_buffer_size(descriptor)),
        (libc::SOL_TCP, libc::TCP_MAXSEG) => number(host.segment_size(descriptor)),
        _ => Vec::new(),
    });
    let count = bytes.len().min(room);
    // SAFETY: `count` bytes fit into `value`, which does not overlap `bytes`.
    unsafe {
        value.cast::<u8>().write_bytes(0, room);
        value.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), count);
        if !bytes.is_empty() {
            *length = count as libc::socklen_t;
        }
    }
    0
}

pub(super) unsafe extern "C" fn setsockopt(
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
