//! `poll`, the network device and the clock. `epoll`, `pipe` and `splice` are not supported,
//! because no script of the suite uses them.

use core::ffi::{c_int, c_longlong, c_uint, c_void};

use rtolab_time::Duration;

use super::convention::{User, fail, shared};

pub(super) unsafe extern "C" fn poll(
    user: User,
    polled: *mut libc::pollfd,
    polled_count: libc::nfds_t,
    timeout: c_int,
) -> c_int {
    // SAFETY: the table's `userdata`, and `polled_count` entries.
    let (shared, polled) =
        unsafe { (shared(user), core::slice::from_raw_parts_mut(polled, polled_count as usize)) };
    let until = (timeout >= 0).then(|| shared.read_clock() + Duration::from_millis(timeout as u64));
    let ready = shared.call(None, |host| host.poll(polled, until));
    ready.map_or_else(fail, |ready| ready as c_int)
}

pub(super) unsafe extern "C" fn netdev_send(
    user: User,
    packet: *const c_void,
    size: usize,
) -> c_int {
    // SAFETY: the table's `userdata`, and a packet of that size.
    let (shared, packet) =
        unsafe { (shared(user), core::slice::from_raw_parts(packet.cast::<u8>(), size)) };
    shared.with(|host| host.on_packet(packet));
    0
}

pub(super) unsafe extern "C" fn netdev_receive(
    user: User,
    into: *mut c_void,
    size: *mut usize,
    time: *mut c_longlong,
) -> c_int {
    // SAFETY: the table's `userdata`.
    let sent = unsafe { shared(user) }.receive();
    let (packet, micros) =
        sent.map_or((Vec::new(), 0), |(packet, at)| (packet, (at.nanos() / 1000) as c_longlong));
    // SAFETY: `into` has room for `*size` bytes, and all three pointers are valid.
    unsafe {
        let count = packet.len().min(*size);
        into.cast::<u8>().copy_from_nonoverlapping(packet.as_ptr(), count);
        *size = count;
        *time = micros;
    }
    0
}

pub(super) unsafe extern "C" fn usleep(user: User, micros: c_uint) -> c_int {
    // SAFETY: the table's `userdata`.
    unsafe { shared(user) }.sleep(Duration::from_micros(u64::from(micros)));
    0
}

pub(super) unsafe extern "C" fn gettimeofday(
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
    // SAFETY: `into` has room for the time.
    unsafe { into.write(time) };
    0
}

pub(super) unsafe extern "C" fn epoll_create(_user: User, _size: c_int) -> c_int {
    fail(libc::ENOSYS)
}

pub(super) unsafe extern "C" fn epoll_ctl(
    _user: User,
    _epoll: c_int,
    _operation: c_int,
    _descriptor: c_int,
    _event: *mut libc::epoll_event,
) -> c_int {
    fail(libc::ENOSYS)
}

pub(super) unsafe extern "C" fn epoll_wait(
    _user: User,
    _epoll: c_int,
    _events: *mut libc::epoll_event,
    _most: c_int,
    _timeout: c_int,
) -> c_int {
    fail(libc::ENOSYS)
}

pub(super) unsafe extern "C" fn pipe(_user: User, _ends: *mut c_int) -> c_int {
    fail(libc::ENOSYS)
}

pub(super) unsafe extern "C" fn splice(
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
