//! The calling convention: the pointer to the stack, results and `errno`.

use core::ffi::{c_int, c_void};

use crate::host::Descriptor;
use crate::shared::Shared;

/// The pointer that the tool passes to each function.
pub(super) type User = *mut c_void;

/// The stack behind `userdata`.
///
/// # Safety
///
/// `user` is from `packetdrill_interface_init`, and `free` was not called.
pub(super) unsafe fn shared<'a>(user: User) -> &'a Shared {
    // SAFETY: it is from `Arc::into_raw`, and valid until `free`.
    unsafe { &*user.cast::<Shared>() }
}

/// Sets `errno`. Returns -1, the result of a failed call.
pub(crate) fn fail(errno: c_int) -> c_int {
    // SAFETY: libc returns a valid pointer to the thread's `errno`.
    unsafe { *libc::__errno_location() = errno };
    -1
}

pub(super) fn status(result: Result<(), c_int>) -> c_int {
    result.map_or_else(fail, |()| 0)
}

pub(super) fn count(result: Result<usize, c_int>) -> isize {
    result.map_or_else(|errno| fail(errno) as isize, |count| count as isize)
}

/// A new descriptor of the kernel. It must be a real one, because the tool closes the descriptors
/// that a script leaves open.
pub(super) fn new_descriptor() -> Result<Descriptor, c_int> {
    // SAFETY: no pointer is involved.
    let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if descriptor < 0 { Err(libc::EMFILE) } else { Ok(descriptor) }
}

/// The `errno` of a call on `descriptor` that would block; `None` if it may block.
pub(super) fn would_block_error(
    shared: &Shared,
    descriptor: Descriptor,
    flags: c_int,
    errno: c_int,
) -> Option<c_int> {
    (flags & libc::MSG_DONTWAIT != 0 || shared.is_nonblocking(descriptor)).then_some(errno)
}
