//! The calls that transfer bytes: `read`, `write` and their variants.

use core::ffi::{c_int, c_void};

use crate::flow::Call;
use crate::host::Descriptor;
use crate::shared::Shared;

use super::convention::{User, count, fail, shared, unready};

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
    // SAFETY: the table's `userdata`, and buffers as `readv` of POSIX has them.
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
        // SAFETY: the table's `userdata`, and a message as POSIX has it.
        return unsafe { receive_stamp(shared(user), descriptor, &mut *message) };
    }
    // SAFETY: the table's `userdata`, and a message as POSIX has it.
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
    // SAFETY: the table's `userdata`, and buffers as `writev` of POSIX has them.
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
    // SAFETY: the table's `userdata`, and a message as POSIX has it.
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
/// Each of `parts` holds as many bytes as its length says.
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
    let call = unready.map_or(Call::Blocking, |_| Call::NonBlocking);
    count(shared.call(unready, |host| host.write(descriptor, &bytes, call)))
}
