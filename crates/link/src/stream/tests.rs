//! Draws that are recorded.

use alloc::vec::Vec;

use super::*;
use crate::laws::{Empirical, Factor, Gamma, LogNormal, Pareto};

/// Means of years, so that the last bits of a number show.
fn laws() -> [Distribution; 7] {
    let factor = |number| Factor::new(number).expect("a factor");
    let secs = |secs: u64| Duration::from_secs(secs * 100_000_000);
    let values = [1, 2, 5].map(secs).to_vec();
    [
        Distribution::Constant(secs(1)),
        Distribution::Uniform(secs(1), secs(3)),
        Distribution::Exponential(secs(2)),
        Distribution::LogNormal(LogNormal { median: secs(2), sigma: factor(0.5) }),
        Distribution::Gamma(Gamma { mean: secs(2), deviation: secs(1) }),
        Distribution::Pareto(Pareto { minimum: secs(1), shape: factor(2.5) }),
        Distribution::Empirical(Empirical::new(values, true).expect("values").into()),
    ]
}

#[test]
fn draws_of_every_law_are_as_recorded() {
    let draws: Vec<[u64; 4]> = laws()
        .iter()
        .map(|law| {
            let mut rng = Stream::new(42).rng();
            let [span, rest] = [rng.span(law), rng.rest(law)];
            [span, rest, rng.span(law), rng.rest(law)].map(Duration::nanos)
        })
        .collect();
    let recorded: [[u64; 4]; 7] = [
        [
            100_000_000_000_000_000,
            54_291_233_654_704_935,
            100_000_000_000_000_000,
            74_601_790_799_136_191,
        ],
        [
            104_716_131_548_417_905,
            108_774_967_443_495_904,
            184_752_637_506_772_960,
            157_456_787_742_484_800,
        ],
        [
            749_465_698_039_075_840,
            122_161_482_980_922_080,
            171_716_099_949_571_232,
            58_601_134_743_229_752,
        ],
        [
            74_135_392_738_657_808,
            17_487_102_874_336_364,
            181_667_772_877_081_312,
            19_035_615_508_724_332,
        ],
        [
            53_497_771_302_986_408,
            15_828_313_074_772_140,
            165_929_084_876_946_496,
            16_614_818_521_845_356,
        ],
        [
            100_959_095_357_185_280,
            10_873_729_381_061_744,
            124_669_322_749_641_600,
            13_274_170_324_430_578,
        ],
        [
            104_716_131_548_417_904,
            21_677_435_514_147_964,
            184_752_637_506_772_992,
            22_194_279_356_430_824,
        ],
    ];
    assert_eq!(draws, recorded);
}
