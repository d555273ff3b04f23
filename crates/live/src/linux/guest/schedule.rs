//! The clock of guest kernels: `time-travel=ext` with shared memory
//! (include/uapi/linux/um_timetravel.h).

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use super::memory::SharedMemory;

/// A time that never comes.
pub(super) const NEVER: u64 = i64::MAX as u64;
/// The version of `struct um_timetravel_schedshm`.
const VERSION: u32 = 2;
const HEADER: usize = 4096;
const CLIENT: usize = 128;
/// `UM_TIMETRAVEL_SCHEDSHM_CAP_TIME_SHARE`.
const TIME_SHARE: u32 = 1;
/// `UM_TIMETRAVEL_SCHEDSHM_FLAGS_REQ_RUN`.
const REQ_RUN: u32 = 1;

/// A place in the memory after the kernels' own, for python/rtolab/kernel/direct.c.
const DIRECT: usize = 64;
/// The version of `struct direct`, at the place of client 0.
const DIRECT_VERSION: u32 = 1;
const PAGE: usize = 4096;
/// The offsets of the members of `struct direct`.
mod direct {
    pub(super) const ABLE: usize = 0;
    pub(super) const ON: usize = 4;
    pub(super) const CALLS: usize = 8;
    pub(super) const ANNOUNCED: usize = 12;
    pub(super) const FREE_UNTIL: usize = 16;
}

/// A `struct um_timetravel_msg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub op: u32,
    pub seq: u32,
    pub time: u64,
}

impl Message {
    pub(super) const BYTES: usize = 16;
    pub(super) const ACK: u32 = 0;
    pub(super) const START: u32 = 1;
    pub(super) const REQUEST: u32 = 2;
    pub(super) const WAIT: u32 = 3;
    pub(super) const GET: u32 = 4;
    pub(super) const UPDATE: u32 = 5;
    pub(super) const RUN: u32 = 6;
    pub(super) const GET_TOD: u32 = 8;

    pub(super) fn parse(bytes: [u8; Self::BYTES]) -> Self {
        let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
        let time = u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| bytes[8 + byte]));
        Self { op: word(0), seq: word(4), time }
    }

    pub(super) fn bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.op.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.seq.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time.to_ne_bytes());
        bytes
    }
}

/// The memory with the time and the requests of all kernels. Client 0 is this process.
pub(super) struct Schedule {
    file: OwnedFd,
    memory: SharedMemory,
    /// The offset of the places for direct guests.
    direct: usize,
}

impl Schedule {
    pub(super) fn new(guests: usize) -> io::Result<Self> {
        let length = HEADER + (guests + 1) * CLIENT;
        let direct = length.next_multiple_of(PAGE);
        let all = direct + (guests + 1) * DIRECT;
        let file = memfd_create("rtolab-time", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, all as u64)?;
        let schedule = Self { memory: SharedMemory::map(file.as_fd(), 0, all)?, file, direct };
        schedule.put32(direct, DIRECT_VERSION);
        schedule.put32(0, VERSION);
        schedule.put32(4, length as u32);
        schedule.memory.store_u16(26, guests as u16 + 1);
        schedule.put32(HEADER, TIME_SHARE);
        Ok(schedule)
    }

    pub(super) fn file(&self) -> &OwnedFd {
        &self.file
    }

    fn put32(&self, at: usize, value: u32) {
        self.memory.u32(at).expect("inside").store(value, Ordering::Release);
    }

    fn put64(&self, at: usize, value: u64) {
        self.memory.u64(at).expect("inside").store(value, Ordering::Release);
    }

    fn get64(&self, at: usize) -> u64 {
        self.memory.u64(at).expect("inside").load(Ordering::Acquire)
    }

    /// The time up to which the running kernel may advance without a message.
    pub(super) fn free_until(&self) -> u64 {
        self.get64(8)
    }

    pub(super) fn set_free_until(&self, at: u64) {
        self.put64(8, at);
    }

    pub(super) fn time(&self) -> u64 {
        self.get64(16)
    }

    pub(super) fn set_time(&self, now: u64) {
        self.put64(16, now);
    }

    /// Sets the client that runs.
    pub(super) fn set_running(&self, client: usize) {
        self.memory.store_u16(24, client as u16);
    }

    /// The time at which this client requests to run.
    pub(super) fn request(&self, client: usize) -> Option<u64> {
        let at = HEADER + client * CLIENT;
        let flags = self.memory.u32(at + 4)?.load(Ordering::Acquire);
        (flags & REQ_RUN != 0).then(|| self.get64(at + 8))
    }

    /// Sets the request of a client, for clients that send messages instead.
    pub(super) fn set_request(&self, client: usize, at: Option<u64>) {
        let entry = HEADER + client * CLIENT;
        self.put64(entry + 8, at.unwrap_or(NEVER));
        self.put32(entry + 4, if at.is_some() { REQ_RUN } else { 0 });
    }

    /// Does this client use the shared memory?
    pub(super) fn shares(&self, client: usize) -> bool {
        let at = HEADER + client * CLIENT;
        self.memory.u32(at).is_some_and(|word| word.load(Ordering::Acquire) & TIME_SHARE != 0)
    }

    /// Lets a client handle interrupts and announce packets by shared memory. Returns false if it
    /// cannot.
    pub(super) fn go_direct(&self, client: usize) -> bool {
        let place = self.direct + client * DIRECT;
        let able = self.memory.u32(place + direct::ABLE);
        let able = able.is_some_and(|word| word.load(Ordering::Acquire) != 0);
        self.put32(place + direct::ON, u32::from(able));
        able
    }

    /// Sets the queues whose interrupts a direct client handles when it runs next, as bits, and the
    /// time up to which it may then advance.
    pub(super) fn set_direct_run(&self, client: usize, (calls, free): (u32, u64)) {
        let place = self.direct + client * DIRECT;
        self.put32(place + direct::CALLS, calls);
        self.put64(place + direct::FREE_UNTIL, free);
    }

    /// Has a direct client announced packets? Each announcement is returned once.
    pub(super) fn take_announcement(&self, client: usize) -> bool {
        let place = self.direct + client * DIRECT + direct::ANNOUNCED;
        self.memory.u32(place).is_some_and(|word| word.swap(0, Ordering::AcqRel) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_is_able_goes_direct() {
        let schedule = Schedule::new(2).unwrap();
        assert_eq!(schedule.memory.load_u16(schedule.direct), Some(DIRECT_VERSION as u16));
        schedule.put32(schedule.direct + 2 * DIRECT + direct::ABLE, 1);
        assert!(!schedule.go_direct(1));
        assert!(schedule.go_direct(2));
    }

    #[test]
    fn each_announcement_is_taken_once() {
        let schedule = Schedule::new(1).unwrap();
        assert!(!schedule.take_announcement(1));
        schedule.put32(schedule.direct + DIRECT + direct::ANNOUNCED, 1);
        assert!(schedule.take_announcement(1));
        assert!(!schedule.take_announcement(1));
    }
}
