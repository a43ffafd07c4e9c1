//! Special chunks (`chunk.md` 1.14): the content is defined by the header, and by one value behind it for
//! [`Special::Value`].

use crate::err;
use crate::error::Result;

/// The kinds of special chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// All bytes are zero.
    Zero,
    /// All items are a quiet NaN; items of 4 or 8 bytes only.
    Nan,
    /// One value, which follows the header, repeated.
    Value,
    /// Uninitialised content: decompression leaves the destination unchanged.
    Uninit,
}

impl Special {
    /// Id of [`Special::Zero`] in a header.
    pub(crate) const ZERO_ID: u8 = 1;
    /// Id of [`Special::Value`] in a header.
    pub(crate) const VALUE_ID: u8 = 3;

    /// Returns the kind with that id in a header; `None` for 0.
    ///
    /// # Errors
    /// `Data` for ids 5 to 7.
    pub(crate) fn from_bits(bits: u8) -> Result<Option<Special>> {
        match bits {
            0 => Ok(None),
            Special::ZERO_ID => Ok(Some(Special::Zero)),
            2 => Ok(Some(Special::Nan)),
            Special::VALUE_ID => Ok(Some(Special::Value)),
            4 => Ok(Some(Special::Uninit)),
            other => Err(err!(Data, "the special kind is {other}, expected 0 to 4")),
        }
    }

    /// Returns the id in a header.
    pub(crate) fn bits(self) -> u8 {
        match self {
            Special::Zero => Special::ZERO_ID,
            Special::Nan => 2,
            Special::Value => Special::VALUE_ID,
            Special::Uninit => 4,
        }
    }

    /// Fills `dest`, which begins `offset` bytes into the chunk's content. `value` is the bytes behind the header.
    ///
    /// # Errors
    /// `Data` for NaNs of items that are neither 4 nor 8 bytes wide, and for an empty value.
    pub(crate) fn fill(self, dest: &mut [u8], offset: usize, typesize: usize, value: &[u8]) -> Result<()> {
        if dest.is_empty() {
            return Ok(());
        }
        match self {
            Special::Zero => dest.fill(0),
            Special::Uninit => {}
            Special::Value if value.is_empty() => {
                return Err(err!(Data, "the repeated value has 0 bytes, expected 1 or more"));
            }
            Special::Value => repeat(dest, offset, value),
            Special::Nan if typesize == 4 => repeat(dest, offset, &0x7fc0_0000u32.to_le_bytes()),
            Special::Nan if typesize == 8 => repeat(dest, offset, &0x7ff8_0000_0000_0000u64.to_le_bytes()),
            Special::Nan => return Err(err!(Data, "`typesize` of NaNs is {typesize}, expected 4 or 8")),
        }
        Ok(())
    }
}

/// Fills `dest` with repetitions of `value` that begin `offset` bytes before `dest`.
fn repeat(dest: &mut [u8], offset: usize, value: &[u8]) {
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
    fn values_keep_their_phase() {
        let value = [1, 2, 3, 4, 5];
        let whole: Vec<u8> = value.iter().copied().cycle().take(100).collect();
        let (starts, ends) = if cfg!(miri) { (3, 7) } else { (1, 1) };
        for start in (0..20).step_by(starts) {
            for end in (start..60).step_by(ends) {
                let mut dest = vec![0; end - start];
                Special::Value.fill(&mut dest, start, 1, &value).unwrap();
                assert_eq!(dest, whole[start..end]);
            }
        }
    }

    #[test]
    fn nans_are_quiet_and_only_for_floats() {
        let mut dest = [0; 8];
        Special::Nan.fill(&mut dest, 0, 4, &[]).unwrap();
        assert_eq!(dest, [0, 0, 0xc0, 0x7f, 0, 0, 0xc0, 0x7f]);
        Special::Nan.fill(&mut dest, 0, 8, &[]).unwrap();
        assert!(f64::from_le_bytes(dest).is_nan());
        assert!(Special::Nan.fill(&mut dest, 0, 2, &[]).is_err());
    }
}
