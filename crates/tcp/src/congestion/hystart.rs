//! Slow start ends before it overshoots: `HyStart++` (RFC 9406), and the `HyStart` before it that
//! Linux has (Ha and Rhee, "Taming the elephants: New TCP slow start", 2011).

use rtolab_time::{Duration, Instant};

use super::Window;
use crate::config::SlowStartExit;
use crate::seq::Seq;

/// A rise of round trips is no less than this (`MIN_RTT_THRESH`), nor more than
/// [`MAX_RTT_THRESH`], and else an eighth of them.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
/// So many round trips make a round's smallest count.
const N_RTT_SAMPLE: u32 = 8;
/// An acknowledgment counts for so many segments at most (`L`), for nothing is paced here.
const L: u64 = 8;
/// The slower slow start grows by one in so many.
const CSS_GROWTH_DIVISOR: u64 = 4;
/// And lasts so many rounds.
const CSS_ROUNDS: u32 = 5;

/// Linux looks from this window on, in segments (`hystart_low_window`).
const LOW_WINDOW: u64 = 16;
/// Acknowledgments of one train are no further apart (`hystart_ack_delta_us`).
const TRAIN_SPACING: Duration = Duration::from_millis(2);

/// What watches over slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HyStart {
    form: Form,
    /// Behind what was outstanding when the round began; `None` before the first.
    round_end: Option<Seq>,
    /// The smallest round trip of this round, and of how many.
    least: Option<Duration>,
    samples: u32,
    /// The smallest of the round before.
    before: Option<Duration>,
    /// The round trip that the acknowledgment at hand has shown.
    newest: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    PlusPlus(Phase),
    Linux(Train),
    /// Slow start is over.
    Done,
}

/// Where RFC 9406 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Standard slow start.
    Standard,
    /// Conservative slow start: the smallest round trip that led to it, and the rounds of it that
    /// are complete.
    Conservative { baseline: Duration, rounds: u32 },
}

/// What Linux watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Train {
    /// When the round began.
    began: Option<Instant>,
    /// When the last acknowledgment of its train came.
    last: Option<Instant>,
    /// The connection's smallest round trip (`delay_min`).
    delay_min: Option<Duration>,
    /// Has slow start ended here?
    found: bool,
}

/// What an acknowledgment in slow start tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub at: Instant,
    /// SND.UNA and SND.MAX behind it.
    pub una: Seq,
    pub max: Seq,
    /// It acknowledges so many bytes.
    pub bytes: u64,
}

impl HyStart {
    /// Slow start begins.
    pub(crate) fn new(exit: SlowStartExit) -> Option<Self> {
        let form = match exit {
            SlowStartExit::Loss => return None,
            SlowStartExit::HyStartPlusPlus => Form::PlusPlus(Phase::Standard),
            SlowStartExit::HyStart => Form::Linux(Train::default()),
        };
        let (round_end, least, before, newest) = (None, None, None, None);
        Some(Self { form, round_end, least, samples: 0, before, newest })
    }

    /// A round trip was measured.
    pub(crate) fn sample(&mut self, rtt: Duration) {
        self.newest = Some(rtt);
    }

    /// The window is cut: RFC 9406 is for the first slow start only.
    pub(crate) fn on_cut(&mut self) {
        if let Form::PlusPlus(_) = self.form {
            self.form = Form::Done;
        }
    }

    /// The retransmission timer expired: Linux watches over the slow start that follows, too, and has
    /// forgotten all round trips (`bictcp_reset`).
    pub(crate) fn on_timeout(&mut self) {
        if let Form::Linux(_) = self.form {
            self.form = Form::Linux(Train::default());
            self.round_end = None;
        }
    }

    /// Something arrived: Linux looks at its round trip before anything comes of it
    /// (`cubictcp_acked`), whether the window grows for it or not.
    pub(crate) fn look(&mut self, window: &mut Window, progress: &Progress) {
        if let Form::Linux(mut train) = self.form {
            if let Some(rtt) = self.newest.take() {
                let delay_min = train.delay_min.map_or(rtt, |least| least.min(rtt));
                train.delay_min = Some(delay_min);
                if window.cwnd < window.ssthresh && !train.found {
                    self.watch_train(&mut train, (rtt, delay_min), (window, progress));
                }
            }
            self.form = Form::Linux(train);
        }
    }

    /// The window grows in slow start, which goes on; returns the bytes that are left for congestion
    /// avoidance.
    pub(crate) fn grow(&mut self, window: &mut Window, progress: &Progress) -> u64 {
        let newest = self.newest.take();
        match self.form {
            Form::PlusPlus(phase) => {
                self.form = self.watch(phase, newest, (window, progress));
                0
            }
            Form::Linux(_) | Form::Done => window.grow_in_slow_start(progress.bytes),
        }
    }

    /// RFC 9406 section 4.2.
    fn watch(
        &mut self,
        mut phase: Phase,
        newest: Option<Duration>,
        (window, progress): (&mut Window, &Progress),
    ) -> Form {
        let counted = progress.bytes.min(L * window.smss);
        window.cwnd += match phase {
            Phase::Standard => counted,
            Phase::Conservative { .. } => counted / CSS_GROWTH_DIVISOR,
        };
        self.note(newest);
        phase = match (phase, self.counted(), self.before) {
            (Phase::Standard, Some(least), Some(before)) if least >= before + threshold(before) => {
                Phase::Conservative { baseline: least, rounds: 0 }
            }
            // It was a passing rise.
            (Phase::Conservative { baseline, .. }, Some(least), _) if least < baseline => {
                Phase::Standard
            }
            (phase, ..) => phase,
        };
        if progress.una < *self.round_end.get_or_insert(progress.max) {
            return Form::PlusPlus(phase);
        }
        self.begin_round(progress.max);
        match phase {
            Phase::Standard => Form::PlusPlus(phase),
            Phase::Conservative { rounds, .. } if rounds + 1 == CSS_ROUNDS => {
                window.ssthresh = window.cwnd;
                Form::Done
            }
            Phase::Conservative { baseline, rounds } => {
                Form::PlusPlus(Phase::Conservative { baseline, rounds: rounds + 1 })
            }
        }
    }

    /// `hystart_update` of Linux.
    fn watch_train(
        &mut self,
        train: &mut Train,
        (rtt, delay_min): (Duration, Duration),
        (window, progress): (&mut Window, &Progress),
    ) {
        let at = progress.at;
        if self.round_end.is_none_or(|end| progress.una > end) {
            self.begin_round(progress.max);
            (train.began, train.last) = (Some(at), Some(at));
        }
        // Rounds are told from the first on, but for a small window not looked at.
        if window.cwnd < LOW_WINDOW * window.smss {
            return;
        }
        let (began, last) = (train.began.unwrap_or(at), train.last.unwrap_or(at));
        if at - last <= TRAIN_SPACING {
            train.last = Some(at);
            train.found = at - began > delay_min / 2;
        }
        // The ninth sample is the first to be looked at.
        let most = delay_min + threshold(delay_min);
        train.found |= self.counted().is_some_and(|least| least.min(rtt) > most);
        self.note(Some(rtt));
        if train.found {
            window.ssthresh = window.cwnd;
        }
    }

    fn note(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
            self.samples = self.samples.saturating_add(1);
        }
    }

    /// The smallest round trip of this round, once there were enough.
    fn counted(&self) -> Option<Duration> {
        self.least.filter(|_| self.samples >= N_RTT_SAMPLE)
    }

    /// The round ends; the next one does with what is outstanding now, up to `max`.
    fn begin_round(&mut self, max: Seq) {
        self.round_end = Some(max);
        self.before = self.least.take();
        self.samples = 0;
    }
}

/// How much a round trip must rise above `least`.
fn threshold(least: Duration) -> Duration {
    (least / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

#[cfg(test)]
mod tests;
