//! Bits of a column of truth values, or of which cells have a value.

/// A row of bits, the first in the lowest bit of the first byte, as in Arrow's format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Are there no bits?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bit at `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not less than [`len`](Self::len).
    pub fn get(&self, index: usize) -> bool {
        assert!(index < self.len, "bit {index} of {}", self.len);
        self.bytes[index / 8] >> (index % 8) & 1 == 1
    }

    /// Appends a bit.
    pub fn push(&mut self, bit: bool) {
        let within = self.len % 8;
        if within == 0 {
            self.bytes.push(0);
        }
        *self.bytes.last_mut().expect("a byte for the bit") |= u8::from(bit) << within;
        self.len += 1;
    }

    /// Appends `count` equal bits.
    pub fn push_same(&mut self, bit: bool, count: usize) {
        let end = self.len + count;
        while self.len < end && self.len % 8 > 0 {
            self.push(bit);
        }
        let whole = (end - self.len) / 8;
        self.bytes.resize(self.bytes.len() + whole, if bit { u8::MAX } else { 0 });
        self.len += 8 * whole;
        while self.len < end {
            self.push(bit);
        }
    }

    /// The bytes; bits after the last are 0.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Which cells have a value. While all have one, it is only a count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Validity {
    bits: Option<Bits>,
    len: usize,
    nulls: usize,
}

impl Validity {
    pub(crate) fn push(&mut self, valid: bool) {
        self.push_same(valid, 1);
    }

    pub(crate) fn push_same(&mut self, valid: bool, count: usize) {
        if !valid && count > 0 && self.bits.is_none() {
            let mut bits = Bits::default();
            bits.push_same(true, self.len);
            self.bits = Some(bits);
        }
        if let Some(bits) = &mut self.bits {
            bits.push_same(valid, count);
        }
        self.len += count;
        self.nulls += if valid { 0 } else { count };
    }

    /// Appends one per cell of a block.
    pub(crate) fn extend(&mut self, block: impl Iterator<Item = bool> + Clone) {
        let (valid, len) =
            block.clone().fold((0, 0), |(valid, len), cell| (valid + usize::from(cell), len + 1));
        if valid == len || valid == 0 {
            self.push_same(valid > 0, len);
        } else {
            block.for_each(|cell| self.push(cell));
        }
    }

    pub(crate) fn null_count(&self) -> usize {
        self.nulls
    }

    pub(crate) fn get(&self, index: usize) -> bool {
        self.bits.as_ref().is_none_or(|bits| bits.get(index))
    }

    /// The bits, if a cell is null.
    pub(crate) fn bits(&self) -> Option<&Bits> {
        self.bits.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bits_are_the_same_one_by_one_and_at_once() {
        for before in 0..20 {
            for count in 0..40 {
                let (mut one_by_one, mut at_once) = (Bits::default(), Bits::default());
                for index in 0..before {
                    one_by_one.push(index % 3 == 0);
                    at_once.push(index % 3 == 0);
                }
                for _ in 0..count {
                    one_by_one.push(true);
                }
                at_once.push_same(true, count);
                for bits in [&mut one_by_one, &mut at_once] {
                    bits.push(false);
                    bits.push(true);
                }
                assert_eq!(one_by_one, at_once, "{before} {count}");
                assert_eq!(at_once.len(), before + count + 2);
                assert!(at_once.get(before + count + 1) && !at_once.get(before + count));
            }
        }
    }

    #[test]
    fn cells_before_the_first_null_have_a_value() {
        let mut validity = Validity::default();
        validity.extend([true; 11].into_iter());
        assert!(validity.bits().is_none());
        validity.extend([true, false, true].into_iter());
        validity.extend([false; 9].into_iter());
        let valid: Vec<_> = (0..23).filter(|&index| validity.get(index)).collect();
        assert_eq!(valid, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13]);
        assert_eq!(validity.null_count(), 10);
    }
}
