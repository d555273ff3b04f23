//! Averages and extremes.

use std::cmp::Reverse;
use std::collections::HashMap;

/// The most frequent value; the first of equally frequent ones.
pub(super) fn most_common(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut counts: HashMap<i64, (u32, Reverse<usize>)> = HashMap::new();
    for (index, value) in values.enumerate() {
        counts.entry(value).or_insert((0, Reverse(index))).0 += 1;
    }
    counts.into_iter().max_by_key(|(_, rank)| *rank).map(|(value, _)| value)
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    if count > 0 { sum / f64::from(count) } else { 0.0 }
}

pub(super) fn median(mut values: Vec<i64>) -> f64 {
    values.sort_unstable();
    let half = values.len() / 2;
    match values.len() % 2 {
        0 => (values[half - 1] + values[half]) as f64 / 2.0,
        _ => values[half] as f64,
    }
}

/// The index of the smallest value; the first of equal ones.
pub(super) fn first_minimum(values: &[f64]) -> usize {
    let places = 0..values.len();
    places.min_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two_in_the_middle() {
        for (values, expected) in
            [(vec![7], 7), (vec![9, 1, 5], 5), (vec![1, 3], 2), (vec![10, 2, 4, 100], 7)]
        {
            assert!((median(values.clone()) - f64::from(expected)).abs() < 1e-9, "{values:?}");
        }
    }

    #[test]
    fn of_equal_values_the_first_counts() {
        assert_eq!(most_common([3, 5, 5, 3, 4].into_iter()), Some(3));
        assert_eq!(most_common([3, 5, 5].into_iter()), Some(5));
        assert_eq!(most_common([].into_iter()), None);
        assert_eq!(first_minimum(&[3.0, 1.0, 1.0]), 1);
        assert_eq!(first_minimum(&[]), 0);
    }

    #[test]
    fn the_mean_of_nothing_is_0() {
        assert!((mean([1.0, 2.0, 6.0].into_iter()) - 3.0).abs() < 1e-9);
        assert!(mean([].into_iter()).abs() < 1e-9);
    }
}
