use alloc::vec::Vec;

use rtolab_time::{Duration, Instant};

use super::{Early, RandomEarly};
use crate::config::Red;
use crate::stream::Stream;

/// The parameters of ns-2's examples.
const CLASSIC: Red = Red {
    min: 5.0,
    max: 15.0,
    max_p: 0.1,
    weight: 0.002,
    gentle: false,
    adaptive: false,
    ecn: false,
    packet_time: Duration::from_millis(1),
};

/// The average is the queue itself.
const PROMPT: Red = Red { weight: 1.0, ..CLASSIC };

fn red(config: Red) -> RandomEarly {
    RandomEarly::new(config, Stream::new(5))
}

/// A frame arrives while the transmitter is busy.
fn arrival(red: &mut RandomEarly, length: f64) -> Early {
    red.arrival(length, Duration::ZERO, Instant::START)
}

/// The distances between drops among frames that find a queue of this length.
fn gaps(config: Red, length: f64, frames: usize) -> Vec<usize> {
    let mut red = red(config);
    let drops: Vec<usize> =
        (0..frames).filter(|_| arrival(&mut red, length) != Early::Keep).collect();
    drops.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn the_average_is_exponentially_weighted() {
    let mut red = red(CLASSIC);
    for n in 1..=1000 {
        arrival(&mut red, 12.0);
        let expected = 12.0 * (1.0 - libm::pow(1.0 - 0.002, f64::from(n)));
        assert!((red.average - expected).abs() < 1e-9, "{} after {n}", red.average);
    }
}

#[test]
fn the_average_decays_while_the_transmitter_is_idle() {
    let mut red = red(CLASSIC);
    red.average = 10.0;
    // 100.9 ms: a hundred packets, and the one that arrives now.
    red.arrival(0.0, Duration::from_micros(100_900), Instant::START);
    let expected = 10.0 * libm::pow(1.0 - 0.002, 101.0);
    assert!((red.average - expected).abs() < 1e-9, "{}", red.average);
}

#[test]
fn the_distances_between_drops_are_uniform_from_1_to_2_divided_by_p() {
    // At 10, half-way: p_b = 0.05, so that a drop comes 20 to 39 frames after the one before.
    let gaps = gaps(PROMPT, 10.0, 300_000);
    assert!(gaps.iter().all(|gap| (20..=39).contains(gap)), "{:?}", gaps.iter().max());
    let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
    // p_a = p / (2 - n p) makes all distances from 20 to 39 equally likely: mean 29.5, standard
    // deviation sqrt((20^2 - 1) / 12) = 5.77.
    let deviation = 5.77 / (gaps.len() as f64).sqrt();
    assert!((mean - 29.5).abs() < 4.0 * deviation, "{mean} of {}", gaps.len());
}

#[test]
fn the_probability_rises_from_min_to_max_and_if_gentle_on_to_twice_max() {
    let chance = |config: Red, length| {
        let mut red = red(config);
        red.average = length;
        red.chance()
    };
    assert!(chance(PROMPT, 5.0).abs() < 1e-12);
    assert!((chance(PROMPT, 10.0) - 0.05).abs() < 1e-12);
    let gentle = Red { gentle: true, ..PROMPT };
    assert!((chance(gentle, 15.0) - 0.1).abs() < 1e-12);
    assert!((chance(gentle, 22.5) - 0.55).abs() < 1e-12);
}

#[test]
fn above_max_every_frame_is_dropped_unless_gentle() {
    let dropped = |config, length| gaps(config, length, 1001).len();
    assert_eq!(dropped(PROMPT, 15.0), 1000);
    let gentle = Red { gentle: true, ..PROMPT };
    let some = dropped(gentle, 16.0);
    assert!((50..200).contains(&some), "{some}");
    assert_eq!(dropped(gentle, 30.0), 1000);
}

#[test]
fn below_min_or_with_at_most_one_frame_ahead_nothing_is_dropped() {
    assert_eq!(gaps(PROMPT, 4.9, 10_000), []);
    let mut red = red(CLASSIC);
    red.average = 100.0;
    assert_eq!(arrival(&mut red, 1.0), Early::Keep);
    assert_eq!(arrival(&mut red, 2.0), Early::Drop);
}

/// `max_p` after this number of half seconds at this length.
fn adapted(length: f64, steps: u64) -> f64 {
    let mut red = red(Red { adaptive: true, ..PROMPT });
    for n in 1..=steps {
        let at = Instant::START + Duration::from_millis(501) * n;
        red.arrival(length, Duration::ZERO, at);
        red.arrival(length, Duration::ZERO, at + Duration::from_millis(400));
    }
    red.max_p
}

#[test]
fn adaptive_red_keeps_the_average_half_way() {
    // The target is 9 to 11.
    assert!((adapted(8.9, 1) - 0.09).abs() < 1e-12);
    assert!((adapted(8.9, 3) - 0.1 * libm::pow(0.9, 3.0)).abs() < 1e-12);
    assert!((adapted(10.0, 10) - 0.1).abs() < 1e-12);
    assert!((adapted(11.1, 3) - 0.13).abs() < 1e-12);
    assert!((adapted(8.9, 100) - 0.01).abs() < 1e-12);
    assert!((adapted(11.1, 100) - 0.5).abs() < 1e-12);
}

#[test]
fn a_small_max_p_grows_by_a_quarter_of_itself() {
    let mut red = red(Red { adaptive: true, max_p: 0.02, ..PROMPT });
    red.arrival(14.0, Duration::ZERO, Instant::from_secs_f64(1.0));
    assert!((red.max_p - 0.025).abs() < 1e-12, "{}", red.max_p);
}
