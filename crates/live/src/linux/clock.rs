//! The clock of the links, and the time for which the forwarding thread waited for a processor.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Instant as StdInstant;

use rtolab_scenario::Begin;
use rtolab_time::{Duration, Instant};

/// The time of the links: the wall clock since time 0. It stands at time 0 until it starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    begin: Option<StdInstant>,
}

impl Clock {
    /// A clock that runs already, or that waits for [`start`](Self::start).
    pub(crate) fn new(begin: Begin) -> Self {
        let begin = match begin {
            Begin::AtOnce => Some(StdInstant::now()),
            Begin::FirstPacket => None,
        };
        Self { begin }
    }

    /// Starts the clock unless it runs.
    pub(crate) fn start(&mut self) {
        self.begin.get_or_insert_with(StdInstant::now);
    }

    pub(crate) fn now(&self) -> Instant {
        let elapsed = self.begin.map_or(0, |begin| begin.elapsed().as_nanos() as u64);
        Instant::START + Duration::from_nanos(elapsed)
    }
}

/// The time for which a thread was runnable but not running, according to the scheduler.
#[derive(Debug)]
pub(crate) struct RunQueue(Option<File>);

impl RunQueue {
    /// The time of the calling thread; always zero if the kernel does not count it.
    pub(crate) fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// The total so far.
    pub(crate) fn waited(&self) -> Duration {
        let read = self.0.as_ref().and_then(|file| read(file).ok());
        Duration::from_nanos(read.unwrap_or(0))
    }
}

/// The second number of the file, in nanoseconds.
fn read(file: &File) -> io::Result<u64> {
    let mut text = [0; 64];
    let length = file.read_at(&mut text, 0)?;
    let text = std::str::from_utf8(&text[..length]).unwrap_or_default();
    let waited = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    waited.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_stands_at_time_0_until_it_starts() {
        let mut clock = Clock::new(Begin::FirstPacket);
        assert_eq!(clock.now(), Instant::START);
        clock.start();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let now = clock.now();
        assert!(now >= Instant::START + Duration::from_millis(2));
        clock.start();
        assert!(clock.now() >= now);
    }

    #[test]
    fn the_waiting_time_never_decreases() {
        let queue = RunQueue::of_this_thread();
        assert!(queue.0.is_some(), "this kernel does not count");
        let before = queue.waited();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(queue.waited() >= before);
    }
}
