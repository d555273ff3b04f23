//! The functions that packetdrill calls. Each converts pointers to slices, calls [`Host`], and
//! converts the result to a return value and `errno`.
#![allow(unsafe_code)]

mod address;
mod convention;
mod options;
mod sockets;
mod transfer;
mod waiting;

use core::ffi::{CStr, c_char};
use std::sync::Arc;

use crate::host::Host;
use crate::interface::FunctionTable;
use crate::settings::HostSettings;
use crate::shared::Shared;

use convention::User;
use options::{fcntl, getsockopt, ioctl, setsockopt};
use sockets::{accept, bind, close, connect, listen, shutdown, socket};
use transfer::{read, readv, recv, recvfrom, recvmsg, send, sendmsg, sendto, write, writev};
use waiting::{
    epoll_create, epoll_ctl, epoll_wait, gettimeofday, netdev_receive, netdev_send, pipe, poll,
    splice, usleep,
};

pub(crate) use convention::fail;
pub(crate) use options::answer_option;

/// Fills in the table of functions. Invalid flags end the process, because the function cannot
/// return an error.
///
/// # Safety
///
/// `flags` is null or a NUL-terminated string. `interface` has room for the table. Its
/// functions are called as declared, with its `userdata`, and not after `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(
    flags: *const c_char,
    interface: *mut FunctionTable,
) {
    let flags = match flags.is_null() {
        true => String::new(),
        // SAFETY: it is not null, so it is a string by the caller's promise.
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
    // SAFETY: by the caller's promise there is room for the table.
    unsafe { interface.write(table) };
}

unsafe extern "C" fn free(user: User) {
    // SAFETY: it is from `Arc::into_raw`, and this is the last call by the tool's promise.
    let shared = unsafe { Arc::from_raw(user.cast::<Shared>()) };
    shared.retire();
}
