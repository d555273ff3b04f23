//! The calls that transfer bytes: `read`, `write` and their variants.

use core::ffi::{c_int, c_void};

use crate::flow::{BlockingMode, WriteCall};
use crate::host::{CallError, Descriptor};
use crate::shared::Shared;

use super::convention::{User, count, fail, shared, would_block_error};

pub(super) unsafe extern "C" fn read(
    user: User,
    descriptor: c_int,
    into: *mut c_void,
    size: usize,
) -> isize {
    // SAFETY: as for `recv`.
    unsafe { recv(user, descriptor, into, size, 0) }
}

pub(super) unsafe extern "C" fn readv(
    user: User,
    descriptor: c_int,
    parts: *const libc::iovec,
    parts_count: c_int,
) -> isize {
    // SAFETY: the table's `userdata`, and valid buffers by POSIX.
    unsafe { receive_into(shared(user), descriptor, parts_of(parts, parts_count as usize), 0) }
}

pub(super) unsafe extern "C" fn recv(
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

pub(super) unsafe extern "C" fn recvfrom(
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

pub(super) unsafe extern "C" fn recvmsg(
    user: User,
    descriptor: c_int,
    message: *mut libc::msghdr,
    flags: c_int,
) -> isize {
    if flags & libc::MSG_ERRQUEUE != 0 {
        // SAFETY: the table's `userdata`, and a valid message by POSIX.
        return unsafe { receive_timestamp(shared(user), descriptor, &mut *message) };
    }
    // SAFETY: the table's `userdata`, and a valid message by POSIX.
    unsafe {
        let parts = parts_of((*message).msg_iov, (*message).msg_iovlen);
        receive_into(shared(user), descriptor, parts, flags)
    }
}

pub(super) unsafe extern "C" fn write(
    user: User,
    descriptor: c_int,
    from: *const c_void,
    size: usize,
) -> isize {
    // SAFETY: as for `send`.
    unsafe { send(user, descriptor, from, size, 0) }
}

pub(super) unsafe extern "C" fn writev(
    user: User,
    descriptor: c_int,
    parts: *const libc::iovec,
    parts_count: c_int,
) -> isize {
    // SAFETY: the table's `userdata`, and valid buffers by POSIX.
    unsafe { send_from(shared(user), descriptor, parts_of(parts, parts_count as usize), 0) }
}

pub(super) unsafe extern "C" fn send(
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

pub(super) unsafe extern "C" fn sendto(
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

pub(super) unsafe extern "C" fn sendmsg(
    user: User,
    descriptor: c_int,
    message: *const libc::msghdr,
    flags: c_int,
) -> isize {
    // SAFETY: the table's `userdata`, and a valid message by POSIX.
    unsafe {
        let parts = parts_of((*message).msg_iov, (*message).msg_iovlen);
        send_from(shared(user), descriptor, parts, flags)
    }
}

/// The buffers of a scattered read or write.
///
/// # Safety
///
/// `parts` is null, or points to `count` buffers.
unsafe fn parts_of<'a>(parts: *const libc::iovec, count: usize) -> &'a [libc::iovec] {
    match parts.is_null() {
        true => &[],
        // SAFETY: by the caller's promise.
        false => unsafe { core::slice::from_raw_parts(parts, count) },
    }
}

/// Reads an entry of the error queue. Returns 0, because entries have no data.
///
/// # Safety
///
/// `message` is valid by POSIX: its control buffer has room for `msg_controllen` bytes.
unsafe fn receive_timestamp(
    shared: &Shared,
    descriptor: Descriptor,
    message: &mut libc::msghdr,
) -> isize {
    match shared.call(None, |host| host.next_timestamp(descriptor)) {
        Ok(entry) => {
            let control = entry.control();
            let size = control.len().min(message.msg_controllen);
            // SAFETY: `size` is at most the room.
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

/// The buffers before the first that has a length but no address, and whether there is such a
/// buffer. A copy from or to it fails with `EFAULT` on Linux.
fn before_null(parts: &[libc::iovec]) -> (&[libc::iovec], bool) {
    let is_null = |part: &libc::iovec| part.iov_base.is_null() && part.iov_len > 0;
    let null = parts.iter().position(is_null);
    (&parts[..null.unwrap_or(parts.len())], null.is_some())
}

/// Reads into several buffers. If there are data to read, but none fits before a null buffer, the
/// call fails with `EFAULT`, and the data stay (Linux, `tcp_recvmsg_locked`).
///
/// # Safety
///
/// Each of `parts` is null, or has room for `iov_len` bytes.
unsafe fn receive_into(
    shared: &Shared,
    descriptor: Descriptor,
    parts: &[libc::iovec],
    flags: c_int,
) -> isize {
    let (parts, ends_with_null) = before_null(parts);
    let room = parts.iter().map(|part| part.iov_len).sum();
    let would_block_error = would_block_error(shared, descriptor, flags, libc::EAGAIN);
    let read = shared.call(would_block_error, |host| {
        let bytes = match flags & libc::MSG_PEEK {
            0 => host.read(descriptor, room)?,
            _ => host.peek(descriptor, room)?,
        };
        match ends_with_null && bytes.is_empty() && host.readable(descriptor) > 0 {
            true => Err(CallError::Error(libc::EFAULT)),
            false => Ok(bytes),
        }
    });
    if let Ok(bytes) = &read {
        let mut rest = &bytes[..];
        for part in parts {
            let (now, later) = rest.split_at(rest.len().min(part.iov_len));
            // SAFETY: `now` is at most as long as the part.
            unsafe { part.iov_base.cast::<u8>().copy_from_nonoverlapping(now.as_ptr(), now.len()) };
            rest = later;
        }
    }
    count(read.map(|bytes| bytes.len()))
}

/// Writes from several buffers. If nothing precedes a null buffer, the call fails with `EFAULT`
/// (Linux, `tcp_sendmsg_locked`).
///
/// # Safety
///
/// Each of `parts` is null, or points to `iov_len` bytes.
unsafe fn send_from(
    shared: &Shared,
    descriptor: Descriptor,
    parts: &[libc::iovec],
    flags: c_int,
) -> isize {
    let (parts, ends_with_null) = before_null(parts);
    let mut bytes = Vec::new();
    for part in parts.iter().filter(|part| part.iov_len > 0) {
        // SAFETY: by the caller's promise.
        bytes.extend(unsafe {
            core::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len)
        });
    }
    let would_block_error = would_block_error(shared, descriptor, flags, libc::EAGAIN);
    let mode = would_block_error.map_or(BlockingMode::Blocking, |_| BlockingMode::NonBlocking);
    let mut call = WriteCall::new(mode, flags & libc::MSG_MORE != 0);
    count(shared.call(would_block_error, |host| {
        let written = host.write(descriptor, &bytes, &mut call)?;
        match ends_with_null && written == 0 {
            true => Err(CallError::Error(libc::EFAULT)),
            false => Ok(written),
        }
    }))
}
