//! Packets and interrupts between guests and this process.

use super::super::agent::{self, Report, Request};
use super::super::device::{FROM_GUEST, PACKET_HEADER, TO_GUEST};
use super::super::offload;
use super::super::schedule::NEVER;
use super::messages::is_closed;
use super::{Guest, Guests, Links, NoLinks, Until};
use crate::error::Error;

impl Guests<'_> {
    /// Receives the packets of a guest: reports stay here, and other packets enter the links.
    pub(super) fn receive_packets(&mut self, guest: usize, links: &mut impl Links) {
        self.now = self.now.max(self.schedule.time());
        let host = self.guests[guest].host;
        let Some(card) = &mut self.guests[guest].card else { return };
        let (mut next, mut has_received) = (NEVER, false);
        while card.receive(&mut self.buffer).is_some() {
            has_received = true;
            let Some((header, frame)) = self.buffer.split_at_mut_checked(PACKET_HEADER) else {
                continue;
            };
            if agent::is_report(frame) {
                self.reports.extend(agent::parse(frame).map(|report| (guest, report)));
                // The reaction to a report may be due at once.
                next = self.now;
                continue;
            }
            offload::finish_checksum(header, frame);
            if frame.get(12..14) == Some(&[8, 0]) {
                next = next.min(links.enter(host, &frame[14..], self.now));
            }
        }
        self.guests[guest].completion_due |= has_received && card.has_interrupts(FROM_GUEST);
        if self.guests[guest].completion_due {
            next = self.now;
        }
        self.schedule.set_free_until(self.schedule.free_until().min(next));
    }

    /// Delivers an IPv4 packet to a host now, which may advance the time up to `free`. Returns
    /// false if it has no buffer for it.
    pub(crate) fn arrive(
        &mut self,
        (host, free): (usize, u64),
        packet: &[u8],
        links: &mut impl Links,
    ) -> Result<bool, Error> {
        let Some(guest) = self.guest(host) else { return Ok(false) };
        let mut frame = vec![0; 12];
        frame.extend([8, 0]);
        frame.extend_from_slice(packet);
        self.deliver((guest, free), &frame, links)
    }

    pub(super) fn deliver(
        &mut self,
        to: (usize, u64),
        frame: &[u8],
        links: &mut impl Links,
    ) -> Result<bool, Error> {
        let card = self.guests[to.0].card.as_mut();
        let is_accepted = card.and_then(|card| card.send(frame)).is_some();
        if is_accepted {
            self.interrupt(to, TO_GUEST, links)?;
        }
        Ok(is_accepted)
    }

    /// Raises an interrupt of a queue. A direct guest handles it and runs; any other guest answers,
    /// and requests to run.
    pub(super) fn interrupt(
        &mut self,
        (guest, free): (usize, u64),
        queue: usize,
        links: &mut impl Links,
    ) -> Result<(), Error> {
        self.schedule.set_running(0);
        self.schedule.set_time(self.now);
        let Guest { card: Some(card), direct, .. } = &self.guests[guest] else { return Ok(()) };
        if !card.has_interrupts(queue) {
            return Ok(());
        }
        if *direct {
            return self.run((guest, free), 1 << queue, links);
        }
        match card.interrupt(queue) {
            Ok(true) => {
                self.guests[guest].messages += 1;
                self.handle_messages(guest, Until::Answers, &mut NoLinks)
            }
            Ok(false) => Ok(()),
            Err(error) if is_closed(&error) => Err(self.guests[guest].machine.ended()),
            Err(error) => Err(Error::system("interrupt a guest kernel")(error)),
        }
    }

    /// Sends a request to a host. Returns its sequence number, which the answer repeats.
    pub(crate) fn send_request(&mut self, host: usize, request: &Request) -> u32 {
        self.sequence += 1;
        if let Some(guest) = self.guest(host) {
            self.frames.push_back((guest, request.frame(self.sequence)));
        }
        self.sequence
    }

    /// Sends a request to a host that is a guest, and waits for its answer. Returns an error number
    /// or 0, and the bytes of the answer. Other reports stay in the queue.
    pub(crate) fn call(
        &mut self,
        host: usize,
        request: &Request,
        links: &mut impl Links,
    ) -> Result<(i32, Vec<u8>), Error> {
        let wanted = self.send_request(host, request);
        loop {
            let answer = self.reports.iter().position(
                |(_, report)| matches!(report, Report::Reply { seq, .. } if *seq == wanted),
            );
            if let Some((_, Report::Reply { error, bytes, .. })) =
                answer.and_then(|answer| self.reports.remove(answer))
            {
                return Ok((error, bytes));
            }
            if !self.step((NEVER, NEVER), links)? {
                let guest = self.guest(host).unwrap_or(0);
                return Err(self.guests[guest].machine.ended());
            }
        }
    }
}
