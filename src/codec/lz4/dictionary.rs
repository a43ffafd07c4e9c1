//! Dictionaries of LZ4 streams: bytes that matches may reach into, as if they came before the content.
//!
//! Owns the bytes, and what a thread keeps of the dictionary that it used last: the encoders search in one piece of memory, so content is
//! copied behind the dictionary.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::encode::{fast, mid};
use crate::err;
use crate::error::Result;

/// A dictionary for compressing, of either encoder. All threads share it.
pub(in crate::codec) struct Dictionary {
    bytes: Box<[u8]>,
    /// Differs from that of every other dictionary of the process.
    id: u64,
}

impl Dictionary {
    /// Takes the bytes of a dictionary.
    pub(in crate::codec) fn new(bytes: Box<[u8]>) -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        Dictionary { bytes, id: NEXT_ID.fetch_add(1, Relaxed) }
    }
}

/// A dictionary in the memory of one thread, with content behind it.
pub(super) struct Joined {
    pub id: u64,
    /// Length of the dictionary, in bytes: where the content begins in `input`.
    pub start: usize,
    pub input: Vec<u8>,
    /// Tables with the positions of the dictionary, which the encoders fill at their first call.
    pub fast: fast::Tables,
    pub mid: mid::Tables,
}

impl Joined {
    /// Puts `src` behind `dictionary`; what `kept` has of another dictionary is dropped.
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub(super) fn join<'a>(
        kept: &'a mut Option<Joined>,
        dictionary: &Dictionary,
        src: &[u8],
    ) -> Result<&'a mut Joined> {
        let Dictionary { bytes, id } = dictionary;
        let start = bytes.len();
        let mut input = match kept.take() {
            Some(mut joined) if joined.id == *id => {
                joined.input.truncate(start);
                append(&mut joined.input, src)?;
                return Ok(kept.insert(joined));
            }
            Some(joined) => joined.input,
            None => Vec::new(),
        };
        input.clear();
        append(&mut input, bytes)?;
        append(&mut input, src)?;
        Ok(kept.insert(Joined {
            id: *id,
            start,
            input,
            fast: fast::Tables::default(),
            mid: mid::Tables::default(),
        }))
    }
}

/// Appends `more` to `bytes`.
fn append(bytes: &mut Vec<u8>, more: &[u8]) -> Result<()> {
    bytes.try_reserve(more.len()).map_err(|_| err!(MemoryAlloc, "{} bytes for a stream", more.len()))?;
    bytes.extend_from_slice(more);
    Ok(())
}
