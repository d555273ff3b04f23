//! The functions that packetdrill calls, each a thin wrapper of [`Host`] that converts pointers to
//! slices, and results to a number and `errno`.
#![allow(unsafe_code)]

mod address;
mod options;
mod sockets;
mod transfer;
mod waiting;

use core::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

use crate::host::{Descriptor, Host};
use crate::interface::FunctionTable;
use crate::settings::HostSettings;
use crate::shared::Shared;

use options::{fcntl, getsockopt, ioctl, setsockopt};
use sockets::{accept, bind, close, connect, listen, shutdown, socket};
use transfer::{read, readv, recv, recvfrom, recvmsg, send, sendmsg, sendto, write, writev};
use waiting::{
    epoll_create, epoll_ctl, epoll_wait, gettimeofday, netdev_receive, netdev_send, pipe, poll,
    splice, usleep,
};

pub(crate) use options::answer_option;

/// Fills in the table of functions. Invalid flags end the process: the tool takes no errors.
///
/// # Safety
///
/// `flags` is null or a string that ends with zero; `interface` has room for the table. Its
/// functions are called as declared, with its `userdata`, and none after `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(
    flags: *const c_char,
    interface: *mut FunctionTable,
) {
    let flags = match flags.is_null() {
        true => String::new(),
        // SAFETY: not null, so a string by the caller's promise.
        false => unsafe { CStr::from_ptr(flags) }.to_string_lossy().into_owned(),
    };
    let settings = HostSettings::parse(&flags).unwrap_or_else(|error| {
        eprintln!("rtolab: {error}");
        std::process::exit(2);
    });
    let shared = Shared::new(Host::new(settings));
    let table = FunctionTable {
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

/// A real descriptor, because the tool closes those that a script leaves open.
fn new_descriptor() -> Result<Descriptor, c_int> {
    // SAFETY: no pointer is involved.
    let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if descriptor < 0 { Err(libc::EMFILE) } else { Ok(descriptor) }
}

/// The `errno` of a call on `descriptor` that would block; `None` if it may block.
fn unready(shared: &Shared, descriptor: Descriptor, flags: c_int, errno: c_int) -> Option<c_int> {
    (flags & libc::MSG_DONTWAIT != 0 || shared.is_nonblocking(descriptor)).then_some(errno)
}

unsafe extern "C" fn free(user: User) {
    // SAFETY: from `Arc::into_raw`, and the last call by the tool's promise.
    let shared = unsafe { Arc::from_raw(user.cast::<Shared>()) };
    shared.retire();
}
