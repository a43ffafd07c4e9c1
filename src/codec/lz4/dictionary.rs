//! Dictionaries of LZ4 streams: bytes that matches may reach into, as if they came before the content.
//!
//! Owns the bytes, and the per-thread state of the dictionary used last: the encoders search in one contiguous
//! buffer, so the content is copied behind the dictionary.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::encode::{fast, mid};
use crate::error::Result;
use crate::fallible;

/// A dictionary for compression with either encoder. All threads share it.
pub(in crate::codec) struct Dictionary {
    bytes: Box<[u8]>,
    /// Unique among the dictionaries of the process.
    id: u64,
}

impl Dictionary {
    pub(in crate::codec) fn new(bytes: Box<[u8]>) -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        Dictionary { bytes, id: NEXT_ID.fetch_add(1, Relaxed) }
    }
}

/// A dictionary in the memory of one thread, with content behind it.
pub(super) struct DictionaryBuffer {
    pub id: u64,
    /// Length of the dictionary, in bytes: where the content begins in `input`.
    pub dictionary_len: usize,
    pub input: Vec<u8>,
    /// Tables with the positions of the dictionary, which the encoders fill at their first call.
    pub fast: fast::FastTables,
    pub mid: mid::MidTables,
}

impl DictionaryBuffer {
    /// Puts `src` behind `dictionary`. The state in `kept` is reused if it belongs to this dictionary, and dropped if
    /// it belongs to another one.
    pub(super) fn load<'a>(
        kept: &'a mut Option<DictionaryBuffer>,
        dictionary: &Dictionary,
        src: &[u8],
    ) -> Result<&'a mut DictionaryBuffer> {
        let Dictionary { bytes, id } = dictionary;
        let start = bytes.len();
        let mut input = match kept.take() {
            Some(mut buffer) if buffer.id == *id => {
                buffer.input.truncate(start);
                fallible::extend(&mut buffer.input, src)?;
                return Ok(kept.insert(buffer));
            }
            Some(buffer) => buffer.input,
            None => Vec::new(),
        };
        input.clear();
        fallible::extend(&mut input, bytes)?;
        fallible::extend(&mut input, src)?;
        Ok(kept.insert(DictionaryBuffer {
            id: *id,
            dictionary_len: start,
            input,
            fast: fast::FastTables::default(),
            mid: mid::MidTables::default(),
        }))
    }
}
