//! The systems that a sender may be, and how a SYN is like theirs.

use rtolab_capture::Offer;
use rtolab_tcp::{Flags, Segment};
use rtolab_time::Duration;

use super::looks::{Layout, Looks, Opening, begun_with};

/// Packets seldom pass more routers than this.
const MOST_HOPS: u8 = 40;
/// The largest window that a SYN can say, in bytes.
const LARGEST: u32 = 65_535;

/// What is known of a system.
pub(super) struct System {
    pub name: &'static str,
    /// The kinds of the options of its SYNs, with all of them and with some left out: 1 pads, 2
    /// MSS, 3 window scale, 4 SACK permitted, 8 timestamps, 0 the end. [`MSS_ALONE`] is any
    /// system's.
    layouts: &'static [&'static [u8]],
    /// The hop limit that it begins with.
    hops: u8,
    window: Window,
    /// The shifts that it offers; `None`: any, which says nothing.
    shifts: Option<std::ops::RangeInclusive<u8>>,
    /// The shortest time after which its timer expires.
    pub least_timeout: Duration,
    /// Does it send tail loss probes?
    pub probes_tails: bool,
}

const MSS_ALONE: &[u8] = &[2];

/// The window in a system's SYN.
enum Window {
    /// One of these.
    One(&'static [u32]),
    /// A whole number of segments, or of segments with timestamps, between these, or the largest.
    Segments(std::ops::RangeInclusive<u32>),
    /// Anything up to this.
    Small(u32),
    /// Any, which says nothing.
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
    pub fn like(&self, Opening { syn, offer, .. }: &Opening) -> Looks {
        let options = &offer.options[..];
        let layout = match options == MSS_ALONE || self.layouts.contains(&options) {
            true => Layout::Same,
            false if self.orders(syn, offer) => Layout::Ordered,
            false => Layout::Other,
        };
        let near = |hops: u8| begun_with(hops) == self.hops && self.hops - hops < MOST_HOPS;
        let shift = syn.syn_options().window_scale;
        Looks {
            layout,
            // No packet arrives with none left: somebody has put it out.
            hops: (offer.hops > 0).then(|| near(offer.hops)),
            window: self.window.is_like(syn),
            shift: self.shifts.as_ref().zip(shift).map(|(shifts, shift)| shifts.contains(&shift)),
        }
    }

    /// A SYN-ACK has only those options that the SYN had: do these come in the same order?
    fn orders(&self, syn: &Segment, offer: &Offer) -> bool {
        let told = |kinds: &[u8]| -> Vec<u8> {
            kinds.iter().copied().filter(|kind| !matches!(kind, 0 | 1)).collect()
        };
        let own = told(&offer.options);
        // One option is in no order.
        syn.flags.has(Flags::ACK)
            && own.len() > 1
            && self.layouts.iter().any(|layout| {
                let mut layout = told(layout).into_iter();
                own.iter().all(|kind| layout.any(|other| other == *kind))
            })
    }
}

impl Window {
    /// Is the window of the SYN such a one? `None` where that says nothing.
    fn is_like(&self, syn: &Segment) -> Option<bool> {
        let like = match self {
            Self::Any => return None,
            Self::One(windows) => windows.contains(&syn.window),
            Self::Small(most) => syn.window <= *most,
            Self::Segments(count) => {
                // More than 64 kB cannot be said, and is said so by everybody.
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
