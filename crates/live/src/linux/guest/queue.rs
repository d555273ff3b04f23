//! A split virtqueue in a guest's memory (VIRTIO 1.2, section 2.7).

use std::io;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;

use super::memory::SharedMemory;

/// VRING_DESC_F_NEXT.
const NEXT: u16 = 1;
/// VRING_AVAIL_F_NO_INTERRUPT.
const NO_INTERRUPT: u16 = 1;
/// VRING_USED_F_NO_NOTIFY.
const NO_NOTIFY: u16 = 1;
/// The maximum number of descriptors in a chain, the size of the largest queue.
const LONGEST: u16 = 1024;

/// The guest's physical memory.
#[derive(Default)]
pub(super) struct GuestMemory(Vec<Region>);

/// A region of the guest's physical memory.
struct Region {
    address: u64,
    length: u64,
    memory: SharedMemory,
    /// The offset of the region in the mapping.
    offset: u64,
}

impl GuestMemory {
    /// Maps the regions of SET_MEM_TABLE. An entry has address, length, user address and offset.
    pub(super) fn map(table: &[u8], files: &[OwnedFd]) -> io::Result<Self> {
        let mut regions = Vec::new();
        for (entry, file) in table.chunks_exact(32).zip(files) {
            let long = |at: usize| {
                u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| entry[at + byte]))
            };
            let (address, length, offset) = (long(0), long(8), long(24));
            let all = usize::try_from(offset.saturating_add(length));
            let all = all.map_err(|_| io::ErrorKind::InvalidData)?;
            let memory = SharedMemory::map(file.as_fd(), 0, all)?;
            regions.push(Region { address, length, memory, offset });
        }
        Ok(Self(regions))
    }

    fn find(&self, address: u64) -> Option<(&SharedMemory, usize)> {
        self.0.iter().find_map(|region| {
            let inside = address.checked_sub(region.address).filter(|at| *at < region.length)?;
            Some((&region.memory, (region.offset + inside) as usize))
        })
    }

    fn u16(&self, address: u64) -> Option<u16> {
        let (memory, at) = self.find(address)?;
        memory.load_u16(at)
    }

    fn store_u16(&self, address: u64, value: u16) -> Option<()> {
        let (memory, at) = self.find(address)?;
        memory.store_u16(at, value)
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Option<()> {
        let (memory, at) = self.find(address)?;
        memory.write(at, bytes)
    }

    fn read(&self, address: u64, length: usize, into: &mut Vec<u8>) -> Option<()> {
        let (memory, at) = self.find(address)?;
        memory.read(at, length, into)
    }
}

/// A virtqueue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Virtqueue {
    /// Its size; 0 before the guest has set it up.
    pub size: u16,
    pub descriptors: u64,
    pub available: u64,
    pub used: u64,
    /// The next entry of the available ring.
    pub next: u16,
}

struct Descriptor {
    address: u64,
    length: u32,
    next: Option<u16>,
}

impl Virtqueue {
    /// Disables the guest's notifications.
    pub(super) fn disable_notifications(&self, memory: &GuestMemory) -> Option<()> {
        memory.store_u16(self.used, NO_NOTIFY)
    }

    /// Has the guest enabled interrupts?
    pub(super) fn has_interrupts(&self, memory: &GuestMemory) -> bool {
        memory.u16(self.available).is_some_and(|flags| flags & NO_INTERRUPT == 0)
    }

    /// The first descriptor of the next buffer; `None` if there is none.
    fn take(&mut self, memory: &GuestMemory) -> Option<u16> {
        if self.size == 0 || memory.u16(self.available + 2)? == self.next {
            return None;
        }
        let entry = self.available + 4 + 2 * u64::from(self.next % self.size);
        self.next = self.next.wrapping_add(1);
        memory.u16(entry)
    }

    fn descriptor(&self, memory: &GuestMemory, number: u16) -> Option<Descriptor> {
        let mut bytes = Vec::with_capacity(16);
        memory.read(self.descriptors + 16 * u64::from(number % self.size), 16, &mut bytes)?;
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Some(Descriptor {
            address: u64::from_ne_bytes(*bytes.first_chunk()?),
            length: u32::from_ne_bytes([8, 9, 10, 11].map(|at: usize| bytes[at])),
            next: (word(12) & NEXT != 0).then(|| word(14)),
        })
    }

    /// Returns a buffer to the guest.
    fn release(&self, memory: &GuestMemory, number: u16, length: u32) -> Option<()> {
        let index = memory.u16(self.used + 2)?;
        let entry = self.used + 4 + 8 * u64::from(index % self.size);
        memory.write(entry, &u32::from(number).to_ne_bytes())?;
        memory.write(entry + 4, &length.to_ne_bytes())?;
        memory.store_u16(self.used + 2, index.wrapping_add(1))
    }

    /// Reads the next buffer that the guest sends; `None` if there is none.
    pub(super) fn receive(&mut self, memory: &GuestMemory, into: &mut Vec<u8>) -> Option<()> {
        into.clear();
        let first = self.take(memory)?;
        let mut number = Some(first);
        for _ in 0..LONGEST {
            let Some(this) = number else { break };
            let part = self.descriptor(memory, this)?;
            memory.read(part.address, part.length as usize, into)?;
            number = part.next;
        }
        self.release(memory, first, 0)
    }

    /// Writes into the next buffer that the guest offers; `None` if it offers none.
    pub(super) fn send(&mut self, memory: &GuestMemory, mut bytes: &[u8]) -> Option<()> {
        let all = bytes.len() as u32;
        let first = self.take(memory)?;
        let mut number = Some(first);
        while let Some(this) = number.filter(|_| !bytes.is_empty()) {
            let part = self.descriptor(memory, this)?;
            let (now, rest) = bytes.split_at(bytes.len().min(part.length as usize));
            memory.write(part.address, now)?;
            (bytes, number) = (rest, part.next);
        }
        self.release(memory, first, all - bytes.len() as u32)
    }
}
