//! Acknowledgments that passed the capture point, and that the sender had not received when its
//! retransmission timer expired: were they late, or were they lost?
//!
//! A sender echoes the timestamp of the latest acknowledgment that it has received (RFC 7323
//! section 4.3). If it goes on with a timestamp of these acknowledgments, they were late. If it
//! skips them, the path lost them.

use rtolab_tcp::Segment;

use crate::class::TimeoutClass;

/// The maximum number of such times per direction; later ones are not recorded.
const MAX_FATES: usize = 1 << 12;

/// The fates of acknowledgments that the sender awaited at timeouts.
#[derive(Clone, Debug, Default)]
pub(crate) struct AckFates {
    open: Option<Awaited>,
    /// In the order of frames.
    known: Vec<Fate>,
}

/// Acknowledgments that have passed, but have not reached the sender.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    /// The first and the last timeout meanwhile.
    frames: [u64; 2],
    /// The latest TSval that had reached the sender at the first of them.
    received: u32,
    /// The latest TSval that had passed the capture point then.
    passed: u32,
}

#[derive(Clone, Copy, Debug)]
struct Fate {
    frames: [u64; 2],
    class: TimeoutClass,
}

impl AckFates {
    /// Is the fate of acknowledgments open?
    #[inline]
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Processes a segment of the sender.
    pub fn on_sent(&mut self, segment: &Segment) {
        let (Some(awaited), Some(stamps)) = (self.open, segment.timestamps()) else { return };
        let is_newer = |stamp: u32, other: u32| (stamp.wrapping_sub(other) as i32) > 0;
        if !is_newer(stamps.echo, awaited.received) {
            return;
        }
        let class = match is_newer(stamps.echo, awaited.passed) {
            true => TimeoutClass::AckLost,
            false => TimeoutClass::Spurious,
        };
        self.open = None;
        if self.known.len() < MAX_FATES {
            self.known.push(Fate { frames: awaited.frames, class });
        }
    }

    /// Processes a timeout of a segment of which an acknowledgment had passed. `passed` is the
    /// receiver's latest TSval.
    pub fn on_timeout(&mut self, segment: &Segment, frame: u64, passed: Option<u32>) {
        if let Some(awaited) = &mut self.open {
            awaited.frames[1] = frame;
            return;
        }
        let (Some(stamps), Some(passed)) = (segment.timestamps(), passed) else { return };
        if (passed.wrapping_sub(stamps.echo) as i32) > 0 {
            self.open = Some(Awaited { frames: [frame; 2], received: stamps.echo, passed });
        }
    }

    /// The class of an unneeded timeout, if the fate of the acknowledgments of its data is known.
    pub fn class(&self, frame: u64) -> Option<TimeoutClass> {
        let after = self.known.partition_point(|fate| fate.frames[0] <= frame);
        let fate = self.known.get(after.checked_sub(1)?)?;
        (frame <= fate.frames[1]).then_some(fate.class)
    }
}

#[cfg(test)]
mod tests {
    use rtolab_tcp::{Flags, Seq, Timestamps};

    use super::*;

    fn echoing(echo: u32) -> Segment {
        let mut segment = Segment::new(Seq::new(1000), 1000, Flags::ACK);
        segment.set_timestamps(Timestamps { value: 1, echo });
        segment
    }

    /// The class of timeouts in frames 10 and 20, at which the sender had received the
    /// acknowledgment of `received`, if it echoes these timestamps then.
    fn class(received: u32, passed: u32, echoes: &[u32]) -> [Option<TimeoutClass>; 4] {
        let mut fates = AckFates::default();
        fates.on_timeout(&echoing(received), 10, Some(passed));
        fates.on_timeout(&echoing(received), 20, Some(passed.wrapping_add(50)));
        for &echo in echoes {
            fates.on_sent(&echoing(echo));
        }
        [9, 10, 20, 21].map(|frame| fates.class(frame))
    }

    #[test]
    fn acks_that_the_sender_echoes_later_were_late() {
        let late = Some(TimeoutClass::Spurious);
        assert_eq!(class(5, 9, &[5, 6, 60]), [None, late, late, None]);
        assert_eq!(class(5, 9, &[9]), [None, late, late, None]);
        assert_eq!(class(u32::MAX, 3, &[u32::MAX, 0]), [None, late, late, None]);
    }

    #[test]
    fn acks_that_the_sender_never_echoes_were_lost() {
        let lost = Some(TimeoutClass::AckLost);
        assert_eq!(class(5, 9, &[5, 10]), [None, lost, lost, None]);
        assert_eq!(class(u32::MAX, 3, &[4, 0]), [None, lost, lost, None]);
    }

    #[test]
    fn without_a_newer_echo_the_fate_is_open() {
        assert_eq!(class(5, 9, &[5, 4]), [None; 4]);
        // The sender had received all: nothing was awaited.
        let mut fates = AckFates::default();
        fates.on_timeout(&echoing(9), 10, Some(9));
        assert!(!fates.is_open());
    }
}
