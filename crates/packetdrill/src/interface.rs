//! The table of functions that packetdrill calls in place of system calls: a declaration with the
//! tool's fields in the tool's order.

use core::ffi::{c_int, c_long, c_longlong, c_uint, c_ulong, c_void};

/// The first argument of each function: the pointer that the stack put into `userdata`.
type User = *mut c_void;

/// The table of functions. `fcntl` and `ioctl` are variadic in C. Here their optional argument is
/// always present, because the calling convention is the same for integers and pointers. It is
/// ignored if the caller omits it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct FunctionTable {
    pub userdata: User,
    pub free: unsafe extern "C" fn(User),
    pub socket: unsafe extern "C" fn(User, c_int, c_int, c_int) -> c_int,
    pub bind: unsafe extern "C" fn(User, c_int, *const libc::sockaddr, libc::socklen_t) -> c_int,
    pub listen: unsafe extern "C" fn(User, c_int, c_int) -> c_int,
    pub accept:
        unsafe extern "C" fn(User, c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> c_int,
    pub connect: unsafe extern "C" fn(User, c_int, *const libc::sockaddr, libc::socklen_t) -> c_int,
    pub read: unsafe extern "C" fn(User, c_int, *mut c_void, usize) -> isize,
    pub readv: unsafe extern "C" fn(User, c_int, *const libc::iovec, c_int) -> isize,
    pub recv: unsafe extern "C" fn(User, c_int, *mut c_void, usize, c_int) -> isize,
    pub recvfrom: unsafe extern "C" fn(
        User,
        c_int,
        *mut c_void,
        usize,
        c_int,
        *mut libc::sockaddr,
        *mut libc::socklen_t,
    ) -> isize,
    pub recvmsg: unsafe extern "C" fn(User, c_int, *mut libc::msghdr, c_int) -> isize,
    pub write: unsafe extern "C" fn(User, c_int, *const c_void, usize) -> isize,
    pub writev: unsafe extern "C" fn(User, c_int, *const libc::iovec, c_int) -> isize,
    pub send: unsafe extern "C" fn(User, c_int, *const c_void, usize, c_int) -> isize,
    pub sendto: unsafe extern "C" fn(
        User,
        c_int,
        *const c_void,
        usize,
        c_int,
        *const libc::sockaddr,
        libc::socklen_t,
    ) -> isize,
    pub sendmsg: unsafe extern "C" fn(User, c_int, *const libc::msghdr, c_int) -> isize,
    pub fcntl: unsafe extern "C" fn(User, c_int, c_int, c_long) -> c_int,
    pub ioctl: unsafe extern "C" fn(User, c_int, c_ulong, *mut c_void) -> c_int,
    pub close: unsafe extern "C" fn(User, c_int) -> c_int,
    pub shutdown: unsafe extern "C" fn(User, c_int, c_int) -> c_int,
    pub getsockopt:
        unsafe extern "C" fn(User, c_int, c_int, c_int, *mut c_void, *mut libc::socklen_t) -> c_int,
    pub setsockopt:
        unsafe extern "C" fn(User, c_int, c_int, c_int, *const c_void, libc::socklen_t) -> c_int,
    pub poll: unsafe extern "C" fn(User, *mut libc::pollfd, libc::nfds_t, c_int) -> c_int,
    pub netdev_send: unsafe extern "C" fn(User, *const c_void, usize) -> c_int,
    pub netdev_receive:
        unsafe extern "C" fn(User, *mut c_void, *mut usize, *mut c_longlong) -> c_int,
    pub usleep: unsafe extern "C" fn(User, c_uint) -> c_int,
    pub gettimeofday: unsafe extern "C" fn(User, *mut libc::timeval, *mut c_void) -> c_int,
    pub epoll_create: unsafe extern "C" fn(User, c_int) -> c_int,
    pub epoll_ctl: unsafe extern "C" fn(User, c_int, c_int, c_int, *mut libc::epoll_event) -> c_int,
    pub epoll_wait:
        unsafe extern "C" fn(User, c_int, *mut libc::epoll_event, c_int, c_int) -> c_int,
    pub pipe: unsafe extern "C" fn(User, *mut c_int) -> c_int,
    pub splice: unsafe extern "C" fn(
        User,
        c_int,
        *mut libc::loff_t,
        c_int,
        *mut libc::loff_t,
        usize,
        c_uint,
    ) -> isize,
}
