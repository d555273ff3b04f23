//! A replacement of libc's `getsockopt`, which packetdrill calls directly for `%{ }%` assertions.
//! It answers for the sockets of the stack under test, and calls libc for all others.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use crate::calls;
use crate::shared::Shared;

type GetSockOpt =
    unsafe extern "C" fn(c_int, c_int, c_int, *mut c_void, *mut libc::socklen_t) -> c_int;

const NAME: &CStr = c"getsockopt";

/// The function of libc.
fn next() -> Option<GetSockOpt> {
    static NEXT: OnceLock<Option<GetSockOpt>> = OnceLock::new();
    *NEXT.get_or_init(|| {
        // SAFETY: `NAME` is a string that ends with zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, NAME.as_ptr()) };
        // SAFETY: a function's address, or null, which is `None`; POSIX declares `getsockopt` so.
        unsafe { core::mem::transmute::<*mut c_void, Option<GetSockOpt>>(found) }
    })
}

/// `getsockopt` of POSIX.
///
/// # Safety
///
/// As in POSIX: `value` has room for `*length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockopt(
    descriptor: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut libc::socklen_t,
) -> c_int {
    if let Some(shared) = Shared::current() {
        if shared.with(|host| host.has_socket(descriptor)) {
            // SAFETY: by the caller's promise about `value` and `length`.
            return unsafe {
                calls::answer_option(&shared, descriptor, (level, name), value, length)
            };
        }
    }
    match next() {
        // SAFETY: libc has the same requirements.
        Some(next) => unsafe { next(descriptor, level, name, value, length) },
        None => calls::fail(libc::ENOSYS),
    }
}
