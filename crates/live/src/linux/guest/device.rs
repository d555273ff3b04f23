//! A guest's network card: the device of `virtio_uml` (vhost-user with in-band notifications).

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send};

use super::queue::{GuestMemory, Virtqueue};

/// The header of a message: request, flags, size.
const HEADER: usize = 12;
/// The longest payload of a message.
const PAYLOAD: usize = 512;
/// VERSION | REPLY.
const REPLY: u32 = 1 | 4;
const NEED_REPLY: u32 = 8;
/// The header of a virtio 1 packet.
pub(super) const PACKET_HEADER: usize = 12;

/// `VIRTIO_F_VERSION_1`, `VHOST_USER_F_PROTOCOL_FEATURES`, `VIRTIO_NET_F_MAC` and
/// `VIRTIO_NET_F_CSUM`, without which the guest has no segmentation offload.
const FEATURES: u64 = 1 << 32 | 1 << 30 | 1 << 5 | 1;
/// `REPLY_ACK`, `SLAVE_REQ`, `CONFIG`, `INBAND_NOTIFICATIONS`.
const PROTOCOL_FEATURES: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;

mod request {
    pub(super) const GET_FEATURES: u32 = 1;
    pub(super) const SET_MEM_TABLE: u32 = 5;
    pub(super) const SET_VRING_NUM: u32 = 8;
    pub(super) const SET_VRING_ADDR: u32 = 9;
    pub(super) const SET_VRING_BASE: u32 = 10;
    pub(super) const GET_PROTOCOL_FEATURES: u32 = 15;
    pub(super) const SET_SLAVE_REQ_FD: u32 = 21;
    pub(super) const GET_CONFIG: u32 = 24;
    pub(super) const VRING_KICK: u32 = 35;
}

/// The index of the queue into which this process writes.
pub(super) const TO_GUEST: usize = 0;
/// The index of the queue from which it reads.
pub(super) const FROM_GUEST: usize = 1;

/// A network card.
pub(super) struct Device {
    socket: OwnedFd,
    /// The socket for interrupts.
    requests: Option<OwnedFd>,
    memory: GuestMemory,
    queues: [Virtqueue; 2],
    mac: [u8; 6],
}

/// The result of a message from a guest's network card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardMessage {
    /// There may be packets. If `answer` is set, the guest waits for an answer.
    Kick { answer: bool },
    /// No further action is needed.
    Other,
    /// The guest closed the socket.
    End,
}

/// The MAC address of the guest with this number.
pub(super) const fn mac(guest: usize) -> [u8; 6] {
    let [high, low] = (guest as u16 + 1).to_be_bytes();
    [2, 0, 0, 0, high, low]
}

impl Device {
    pub(super) fn new(socket: OwnedFd, guest: usize) -> Self {
        Self {
            socket,
            requests: None,
            memory: GuestMemory::default(),
            queues: [Virtqueue::default(); 2],
            mac: mac(guest),
        }
    }

    pub(super) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub(super) fn requests(&self) -> Option<&OwnedFd> {
        self.requests.as_ref()
    }

    /// Handles the guest's next message.
    pub(super) fn on_message(&mut self) -> io::Result<CardMessage> {
        let mut buffer = [0; HEADER + PAYLOAD];
        let (received, files) = self.read(&mut buffer)?;
        if received == 0 {
            return Ok(CardMessage::End);
        }
        let word = |bytes: &[u8], at: usize| {
            u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let [kind, flags, size] = [0, 4, 8].map(|at| word(&buffer, at));
        let payload = buffer[HEADER..].get(..size as usize).ok_or(io::ErrorKind::InvalidData)?;
        let mut payload = payload.to_vec();
        payload.resize(payload.len().max(40), 0);
        let (index, value) = (word(&payload, 0) as usize, word(&payload, 4));
        let answer = match kind {
            request::GET_FEATURES => Some(FEATURES),
            request::GET_PROTOCOL_FEATURES => Some(PROTOCOL_FEATURES),
            request::VRING_KICK => {
                return Ok(CardMessage::Kick { answer: flags & NEED_REPLY != 0 });
            }
            request::GET_CONFIG => {
                self.configure(&mut payload);
                payload.truncate(size as usize);
                self.write(kind, &payload)?;
                return Ok(CardMessage::Other);
            }
            request::SET_MEM_TABLE => {
                let regions = payload.get(8..8 + 32 * index).ok_or(io::ErrorKind::InvalidData)?;
                self.memory = GuestMemory::map(regions, &files)?;
                None
            }
            request::SET_SLAVE_REQ_FD => {
                let file = files.into_iter().next().ok_or(io::ErrorKind::InvalidData)?;
                let flags = rustix::fs::fcntl_getfl(&file)?;
                rustix::fs::fcntl_setfl(&file, flags - rustix::fs::OFlags::NONBLOCK)?;
                self.requests = Some(file);
                None
            }
            request::SET_VRING_NUM | request::SET_VRING_BASE | request::SET_VRING_ADDR => {
                if let Some(queue) = self.queues.get_mut(index) {
                    let long = |at: usize| {
                        u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| payload[at + byte]))
                    };
                    match kind {
                        request::SET_VRING_NUM => queue.size = value as u16,
                        request::SET_VRING_BASE => queue.next = value as u16,
                        _ => {
                            (queue.descriptors, queue.used, queue.available) =
                                (long(8), long(16), long(24));
                            if index == TO_GUEST {
                                queue
                                    .disable_notifications(&self.memory)
                                    .ok_or(io::ErrorKind::InvalidData)?;
                            }
                        }
                    }
                }
                None
            }
            _ => None,
        };
        if answer.is_some() || flags & NEED_REPLY != 0 {
            self.write(kind, &answer.unwrap_or(0).to_ne_bytes())?;
        }
        Ok(CardMessage::Other)
    }

    /// Answers a kick.
    pub(super) fn answer_kick(&self) -> io::Result<()> {
        self.write(request::VRING_KICK, &0_u64.to_ne_bytes())
    }

    /// A `struct vhost_user_config` with the card's MAC, status and MTU.
    fn configure(&self, payload: &mut [u8]) {
        let mut config = self.mac.to_vec();
        // VIRTIO_NET_S_LINK_UP, one pair of queues, and an MTU, whose feature is not offered.
        config.extend([1, 0, 1, 0, 0xdc, 5]);
        let room = payload.get_mut(12..).unwrap_or_default();
        for (to, from) in room.iter_mut().zip(config) {
            *to = from;
        }
    }

    /// Reads one message. After interrupts are set up, the guest waits for every answer, so one
    /// call can read header and payload.
    fn read(&self, buffer: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut files = Vec::new();
        let most = if self.requests.is_some() { buffer.len() } else { HEADER };
        let mut parts = [IoSliceMut::new(&mut buffer[..most])];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let message = recvmsg(self.socket.as_fd(), &mut parts, &mut control, flags)?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                files.extend(rights);
            }
        }
        if message.bytes < HEADER {
            return Ok((0, files));
        }
        let size = u32::from_ne_bytes([buffer[8], buffer[9], buffer[10], buffer[11]]) as usize;
        // A signal may have interrupted the call in the message.
        let rest = buffer.get_mut(message.bytes..HEADER + size);
        let rest = rest.ok_or(io::ErrorKind::InvalidData)?;
        if !rest.is_empty() {
            rustix::net::recv(&self.socket, rest, RecvFlags::WAITALL)?;
        }
        Ok((HEADER + size, files))
    }

    fn write(&self, kind: u32, payload: &[u8]) -> io::Result<()> {
        send(&self.socket, &message(kind, REPLY, payload), SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Reads the next packet of the guest into `into`; `None` if there is none.
    pub(super) fn receive(&mut self, into: &mut Vec<u8>) -> Option<()> {
        self.queues[FROM_GUEST].receive(&self.memory, into)
    }

    /// Delivers a frame with a virtio header to the guest; `None` if it has no buffer for it.
    pub(super) fn send(&mut self, frame: &[u8]) -> Option<()> {
        let mut packet = vec![0; PACKET_HEADER];
        // `num_buffers` is one.
        packet[10] = 1;
        packet.extend_from_slice(frame);
        packet[PACKET_HEADER..][..6].copy_from_slice(&self.mac);
        self.queues[TO_GUEST].send(&self.memory, &packet)
    }

    /// Has the guest enabled the interrupts of a queue?
    pub(super) fn has_interrupts(&self, queue: usize) -> bool {
        self.queues[queue].has_interrupts(&self.memory)
    }

    /// Raises the interrupt of a queue. Returns false if interrupts are not set up.
    pub(super) fn interrupt(&self, queue: usize) -> io::Result<bool> {
        const VRING_CALL: u32 = 4;
        let Some(requests) = self.requests() else { return Ok(false) };
        let mut payload = (queue as u32).to_ne_bytes().to_vec();
        payload.extend([0; 4]);
        send(requests, &message(VRING_CALL, 1 | NEED_REPLY, &payload), SendFlags::NOSIGNAL)?;
        Ok(true)
    }

    /// Reads the guest's answer to an interrupt. Returns false if the guest has exited.
    pub(super) fn on_answer(&self) -> io::Result<bool> {
        let Some(requests) = self.requests() else { return Ok(false) };
        let mut answer = [0; HEADER + 8];
        let (_, read) = rustix::net::recv(requests, &mut answer[..], RecvFlags::WAITALL)?;
        Ok(read == answer.len())
    }
}

fn message(kind: u32, flags: u32, payload: &[u8]) -> Vec<u8> {
    let head = [kind, flags, payload.len() as u32].map(u32::to_ne_bytes);
    [head.as_flattened(), payload].concat()
}
