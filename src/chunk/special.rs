//! Special chunks (`chunk.md` 1.14): the content is defined by the header, and by one value behind it for
//! [`SpecialValue::Value`].

use crate::err;
use crate::error::Result;

/// The kinds of special chunk, with their ids in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SpecialValue {
    Zero = 1,
    /// All items are a quiet NaN; items of 4 or 8 bytes only.
    Nan = 2,
    /// One value, which follows the header, repeated.
    Value = 3,
    /// Uninitialised content: decompression leaves the destination unchanged.
    Uninit = 4,
}

impl SpecialValue {
    /// Returns the kind with that id in a header; `None` for 0.
    #[inline]
    pub(crate) fn from_id(id: u8) -> Result<Option<SpecialValue>> {
        match SpecialValue::with_id(id) {
            None if id != 0 => Err(err!(Data, "the special kind is {id}, expected 0 to 4")),
            kind => Ok(kind),
        }
    }

    /// Returns the kind with that id in a header; `None` for other numbers.
    #[inline]
    pub(crate) fn with_id(id: u8) -> Option<SpecialValue> {
        match id {
            1 => Some(SpecialValue::Zero),
            2 => Some(SpecialValue::Nan),
            3 => Some(SpecialValue::Value),
            4 => Some(SpecialValue::Uninit),
            _ => None,
        }
    }

    pub(crate) fn id(self) -> u8 {
        self as u8
    }

    /// Fills `dest`, which begins `offset` bytes into the chunk's content. `value` is the bytes behind the header.
    ///
    /// # Errors
    /// `Data` for NaNs of items that are neither 4 nor 8 bytes wide, and for an empty value.
    #[inline]
    pub(crate) fn fill(self, dest: &mut [u8], offset: usize, typesize: usize, value: &[u8]) -> Result<()> {
        if self == SpecialValue::Zero {
            dest.fill(0);
            return Ok(());
        }
        self.fill_items(dest, offset, typesize, value)
    }

    /// Does the same as [`fill`](Self::fill), for other kinds than zeros.
    fn fill_items(self, dest: &mut [u8], offset: usize, typesize: usize, value: &[u8]) -> Result<()> {
        if dest.is_empty() {
            return Ok(());
        }
        match self {
            SpecialValue::Zero | SpecialValue::Uninit => {}
            SpecialValue::Value if value.is_empty() => {
                return Err(err!(Data, "the repeated value has 0 bytes, expected 1 or more"));
            }
            SpecialValue::Value => fill_repeated(dest, offset, value),
            SpecialValue::Nan if typesize == 4 => fill_repeated(dest, offset, &0x7fc0_0000u32.to_ne_bytes()),
            SpecialValue::Nan if typesize == 8 => {
                fill_repeated(dest, offset, &0x7ff8_0000_0000_0000u64.to_ne_bytes())
            }
            SpecialValue::Nan => return Err(err!(Data, "`typesize` of NaNs is {typesize}, expected 4 or 8")),
        }
        Ok(())
    }
}

/// Fills `dest` with repetitions of `value` that begin `offset` bytes before `dest`.
fn fill_repeated(dest: &mut [u8], offset: usize, value: &[u8]) {
    let phase = offset % value.len();
    // Copies one repetition byte by byte, then doubles the filled part.
    let mut done = value.len().min(dest.len());
    for (i, byte) in dest[..done].iter_mut().enumerate() {
        *byte = value[(phase + i) % value.len()];
    }
    while done < dest.len() {
        let more = done.min(dest.len() - done);
        dest.copy_within(..more, done);
        done += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_value_begins_at_the_offset_of_the_range() {
        let value = [1, 2, 3, 4, 5];
        let whole: Vec<u8> = value.iter().copied().cycle().take(100).collect();
        let (starts, ends) = if cfg!(miri) { (3, 7) } else { (1, 1) };
        for start in (0..20).step_by(starts) {
            for end in (start..60).step_by(ends) {
                let mut dest = vec![0; end - start];
                SpecialValue::Value.fill(&mut dest, start, 1, &value).unwrap();
                assert_eq!(dest, whole[start..end]);
            }
        }
    }

    #[test]
    fn nans_are_quiet_and_need_typesize_4_or_8() {
        let mut dest = [0; 8];
        SpecialValue::Nan.fill(&mut dest, 0, 4, &[]).unwrap();
        assert_eq!(dest, [0x7fc0_0000u32.to_ne_bytes(); 2].concat()[..]);
        SpecialValue::Nan.fill(&mut dest, 0, 8, &[]).unwrap();
        assert!(f64::from_ne_bytes(dest).is_nan());
        assert!(SpecialValue::Nan.fill(&mut dest, 0, 2, &[]).is_err());
    }
}
