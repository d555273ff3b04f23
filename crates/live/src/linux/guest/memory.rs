//! Memory shared with a guest kernel.
#![expect(unsafe_code, reason = "memory shared with another process has no safe form")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A shared mapping of a file. The guest kernel waits while this process reads and writes.
#[derive(Debug)]
pub(super) struct SharedMemory {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread.
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    /// Maps `length` bytes of the file from `offset` on.
    pub(super) fn map(file: BorrowedFd<'_>, offset: u64, length: usize) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let offset = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: a new mapping at an address that the kernel chooses overlaps no other memory.
        let start = unsafe {
            let anywhere = ptr::null_mut();
            libc::mmap(anywhere, length, access, libc::MAP_SHARED, file.as_raw_fd(), offset)
        };
        match NonNull::new(start.cast()) {
            Some(start) if start.as_ptr() != libc::MAP_FAILED.cast() => Ok(Self { start, length }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn at(&self, offset: usize, length: usize) -> Option<*mut u8> {
        let end = offset.checked_add(length)?;
        // SAFETY: the offset is inside the mapping.
        (end <= self.length).then(|| unsafe { self.start.as_ptr().add(offset) })
    }

    fn aligned<T>(&self, offset: usize) -> Option<*mut T> {
        let place = self.at(offset, size_of::<T>())?.cast::<T>();
        place.is_aligned().then_some(place)
    }

    /// Appends these bytes to `into`; `None` if some are outside the mapping.
    pub(super) fn read(&self, offset: usize, length: usize, into: &mut Vec<u8>) -> Option<()> {
        let place = self.at(offset, length)?;
        into.reserve(length);
        // SAFETY: both ranges are valid, and they do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(place, into.as_mut_ptr().add(into.len()), length);
            into.set_len(into.len() + length);
        }
        Some(())
    }

    /// Writes the bytes; `None` if some are outside the mapping.
    pub(super) fn write(&self, offset: usize, bytes: &[u8]) -> Option<()> {
        let place = self.at(offset, bytes.len())?;
        // SAFETY: both ranges are valid, and `bytes` is not part of the mapping.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        Some(())
    }

    pub(super) fn u16(&self, offset: usize) -> Option<&AtomicU16> {
        // SAFETY: aligned, inside the mapping, and alive as long as `self`.
        self.aligned(offset).map(|place| unsafe { AtomicU16::from_ptr(place) })
    }

    pub(super) fn u32(&self, offset: usize) -> Option<&AtomicU32> {
        // SAFETY: as above.
        self.aligned(offset).map(|place| unsafe { AtomicU32::from_ptr(place) })
    }

    pub(super) fn u64(&self, offset: usize) -> Option<&AtomicU64> {
        // SAFETY: as above.
        self.aligned(offset).map(|place| unsafe { AtomicU64::from_ptr(place) })
    }

    pub(super) fn load_u16(&self, offset: usize) -> Option<u16> {
        self.u16(offset).map(|word| word.load(Ordering::Acquire))
    }

    pub(super) fn store_u16(&self, offset: usize, value: u16) -> Option<()> {
        self.u16(offset).map(|word| word.store(value, Ordering::Release))
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: no reference to the mapping outlives `self`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

    use super::*;

    #[test]
    fn two_mappings_of_a_file_share_memory() {
        let file = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, 4096).unwrap();
        let [one, two] = [(); 2].map(|()| SharedMemory::map(file.as_fd(), 0, 4096).unwrap());
        one.write(10, b"bytes").unwrap();
        let mut found = Vec::new();
        two.read(10, 5, &mut found).unwrap();
        assert_eq!(found, b"bytes");
        one.store_u16(20, 7).unwrap();
        assert_eq!(two.load_u16(20), Some(7));
    }

    #[test]
    fn accesses_outside_the_mapping_fail() {
        let file = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, 4096).unwrap();
        let memory = SharedMemory::map(file.as_fd(), 0, 4096).unwrap();
        assert!(memory.write(4095, &[0; 2]).is_none());
        assert!(memory.read(usize::MAX, 2, &mut Vec::new()).is_none());
        assert!(memory.u64(4092).is_none(), "outside");
        assert!(memory.u16(1).is_none(), "not aligned");
    }
}
