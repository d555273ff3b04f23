//! The known systems, and the comparison of a SYN with theirs.

use rtolab_capture::SynFingerprint;
use rtolab_tcp::{Flags, Segment};
use rtolab_time::Duration;

use super::syn_match::{Layout, Opening, SynMatch, initial_hop_limit};

/// The maximum number of routers on a path.
const MAX_HOPS: u8 = 40;
/// The largest window in a SYN, in bytes.
const LARGEST: u32 = 65_535;

/// The properties of a system.
pub(super) struct System {
    pub name: &'static str,
    /// The kinds of the options in its SYNs, with all options and without some: 0 end of list, 1
    /// NOP, 2 MSS, 3 window scale, 4 SACK permitted, 8 timestamps. [`MSS_ALONE`] matches every
    /// system.
    layouts: &'static [&'static [u8]],
    /// Its initial hop limit.
    hops: u8,
    window: Window,
    /// Its window scales; `None` if it may have any, which is no evidence.
    shifts: Option<std::ops::RangeInclusive<u8>>,
    /// Its minimum RTO.
    pub least_timeout: Duration,
    /// Does it send tail loss probes?
    pub probes_tails: bool,
}

const MSS_ALONE: &[u8] = &[2];

/// The window in a system's SYN.
enum Window {
    /// One of these.
    One(&'static [u32]),
    /// A multiple of the MSS, or of the MSS less timestamps. The factor is in this range, or the
    /// largest possible.
    Segments(std::ops::RangeInclusive<u32>),
    /// Any window up to this, in bytes.
    Small(u32),
    /// Any window, which is no evidence.
    Any,
}

pub(super) const SYSTEMS: [System; 8] = [
    System {
        name: "linux",
        layouts: &[
            &[2, 4, 8, 1, 3],
            &[2, 1, 1, 4, 1, 3],
            &[2, 1, 1, 8, 1, 3],
            &[2, 4, 8],
            &[2, 1, 3],
            &[2, 1, 1, 4],
            &[2, 1, 1, 8],
        ],
        hops: 64,
        window: Window::Segments(4..=45),
        shifts: Some(5..=14),
        least_timeout: Duration::from_millis(200),
        probes_tails: true,
    },
    System {
        name: "windows",
        layouts: &[&[2, 1, 3, 1, 1, 4], &[2, 1, 3, 4, 8], &[2, 1, 3, 1, 1, 8, 4], &[2, 1, 1, 4]],
        hops: 128,
        window: Window::One(&[8192, 16_384, 64_240, 65_535]),
        shifts: Some(2..=8),
        least_timeout: Duration::from_millis(20),
        probes_tails: true,
    },
    System {
        name: "macos or ios",
        layouts: &[&[2, 1, 3, 1, 1, 8, 4, 0], &[2, 1, 3, 1, 1, 8, 4]],
        hops: 64,
        window: Window::One(&[65_535]),
        shifts: Some(1..=8),
        least_timeout: Duration::from_millis(200),
        probes_tails: true,
    },
    System {
        name: "freebsd",
        layouts: &[
            &[2, 1, 3, 4, 8],
            &[2, 1, 3, 4, 0],
            &[2, 1, 3, 1, 1, 8],
            &[2, 4, 8],
            &[2, 1, 3],
            &[2, 4, 0],
            &[2, 1, 1, 8],
        ],
        hops: 64,
        window: Window::One(&[65_535, 65_228]),
        shifts: Some(3..=9),
        least_timeout: Duration::from_millis(200),
        probes_tails: true,
    },
    System {
        name: "openbsd",
        layouts: &[&[2, 1, 1, 4, 1, 3, 1, 1, 8]],
        hops: 64,
        window: Window::One(&[16_384]),
        shifts: Some(0..=6),
        least_timeout: Duration::from_millis(500),
        probes_tails: false,
    },
    System {
        name: "solaris",
        layouts: &[&[4, 8, 2, 1, 3], &[2, 1, 3, 1, 1, 4, 0]],
        hops: 64,
        window: Window::Segments(20..=45),
        shifts: Some(0..=5),
        least_timeout: Duration::from_millis(200),
        probes_tails: false,
    },
    System {
        name: "lwip",
        layouts: &[&[2, 1, 3], &[2, 1, 1, 4]],
        hops: 255,
        window: Window::Small(16_384),
        shifts: Some(0..=4),
        least_timeout: Duration::from_millis(250),
        probes_tails: false,
    },
    System {
        name: "rtolab",
        layouts: &[
            &[2, 1, 3, 1, 1, 4, 1, 1, 8],
            &[2, 1, 3, 1, 1, 4],
            &[2, 1, 3, 1, 1, 8],
            &[2, 1, 1, 4, 1, 1, 8],
            &[2, 1, 3],
            &[2, 1, 1, 4],
            &[2, 1, 1, 8],
        ],
        hops: 64,
        window: Window::Any,
        shifts: None,
        least_timeout: Duration::ZERO,
        probes_tails: true,
    },
];

impl System {
    /// Compares a SYN with those of the system.
    pub fn compare(&self, Opening { syn, syn_fingerprint, .. }: &Opening) -> SynMatch {
        let options = &syn_fingerprint.options[..];
        let layout = match options == MSS_ALONE || self.layouts.contains(&options) {
            true => Layout::Same,
            false if self.has_order(syn, syn_fingerprint) => Layout::SameOrder,
            false => Layout::Other,
        };
        let near = |hops: u8| initial_hop_limit(hops) == self.hops && self.hops - hops < MAX_HOPS;
        let shift = syn.syn_options().window_scale;
        SynMatch {
            layout,
            // A packet cannot arrive with hop limit 0, so the capture was anonymised.
            hops: (syn_fingerprint.hops > 0).then(|| near(syn_fingerprint.hops)),
            window: self.window.matches(syn),
            shift: self.shifts.as_ref().zip(shift).map(|(shifts, shift)| shifts.contains(&shift)),
        }
    }

    /// Are the options of a SYN-ACK in the order of the system? A SYN-ACK has only those options
    /// that the SYN had.
    fn has_order(&self, syn: &Segment, syn_fingerprint: &SynFingerprint) -> bool {
        let without_padding = |kinds: &[u8]| -> Vec<u8> {
            kinds.iter().copied().filter(|kind| !matches!(kind, 0 | 1)).collect()
        };
        let own = without_padding(&syn_fingerprint.options);
        // A single option has no order.
        syn.flags.has(Flags::ACK)
            && own.len() > 1
            && self.layouts.iter().any(|layout| {
                let mut layout = without_padding(layout).into_iter();
                own.iter().all(|kind| layout.any(|other| other == *kind))
            })
    }
}

impl Window {
    /// Does the window of the SYN match? `None` if it is no evidence.
    fn matches(&self, syn: &Segment) -> Option<bool> {
        let like = match self {
            Self::Any => return None,
            Self::One(windows) => windows.contains(&syn.window),
            Self::Small(most) => syn.window <= *most,
            Self::Segments(count) => {
                // Every system with a window of more than 64 kB advertises the largest.
                if syn.window == LARGEST {
                    return None;
                }
                let mss = u32::from(syn.syn_options().mss.unwrap_or(536)).max(1);
                let sizes = [mss, mss.saturating_sub(12).max(1)];
                let whole = |size: &u32| {
                    let segments = syn.window / size;
                    let fits = count.contains(&segments) || segments == LARGEST / size;
                    syn.window % size == 0 && fits
                };
                sizes.iter().any(whole)
            }
        };
        Some(like)
    }
}
