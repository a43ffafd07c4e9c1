//! Aligned copies of what lies at odd addresses: ZFP works on whole words and values, streams and blocks begin
//! anywhere.
//!
//! Owns the memory, which is kept between calls. Never looks at what it holds.

use bytemuck::Pod;

use crate::err;
use crate::error::Result;

/// The memory that the ZFP codecs keep between calls, for one thread: at most a block and a stream.
#[derive(Default)]
pub struct Scratch {
    pub(super) values: Words,
    pub(super) stream: Words,
}

/// Memory that is aligned for every type of ZFP.
#[derive(Default)]
pub(super) struct Words(Vec<u64>);

impl Words {
    /// So many words, with any content.
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub fn words(&mut self, len: usize) -> Result<&mut [u64]> {
        if self.0.len() < len {
            if self.0.try_reserve_exact(len - self.0.len()).is_err() {
                return Err(err!(MemoryAlloc, "no memory for {len} words of ZFP"));
            }
            self.0.resize(len, 0);
        }
        Ok(&mut self.0[..len])
    }

    /// `bytes` as values, copied if their address is odd; a last value that is cut short is filled up with zeros.
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub fn aligned<'a, T: Pod>(&'a mut self, bytes: &'a [u8]) -> Result<&'a [T]> {
        if let Ok(values) = bytemuck::try_cast_slice(bytes) {
            return Ok(values);
        }
        let words = self.words(bytes.len().div_ceil(8))?;
        if let Some(last) = words.last_mut() {
            *last = 0;
        }
        bytemuck::cast_slice_mut(words)[..bytes.len()].copy_from_slice(bytes);
        Ok(&bytemuck::cast_slice(words)[..bytes.len().div_ceil(size_of::<T>())])
    }
}
