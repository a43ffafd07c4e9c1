//! The check that no chunk of a contiguous frame extends into the next one.

use super::chunks::{CheckedChunk, ChunkNumbers};
use super::report::{DamagePlace, Reporter};
use crate::error::{Result, err};
use crate::fallible;

/// Finds whole chunks that end behind the beginning of the next whole chunk. The length of the first of the two is
/// wrong: no bytes inside a chunk are a whole chunk by chance.
#[derive(Default)]
pub(crate) struct OverlapCheck {
    previous: Option<WholeChunk>,
}

/// The last chunk that was added.
struct WholeChunk {
    /// Its end in the data section, in bytes.
    end: u64,
    place: DamagePlace,
    numbers: Vec<u32>,
}

impl OverlapCheck {
    /// Adds a whole chunk of `len` bytes; chunks are added in the order of their places. If the chunk before it overlaps
    /// it, reports that one and returns true.
    pub(crate) fn add(
        &mut self,
        chunk: &CheckedChunk<'_>,
        len: usize,
        reporter: &mut Reporter<'_>,
    ) -> Result<bool> {
        let location = chunk.location;
        let previous = self.previous.take();
        if let ChunkNumbers::List(list) = chunk.numbers {
            let numbers = fallible::copy_of(list)?;
            let end = location.saturating_add(len as u64);
            self.previous = Some(WholeChunk { end, place: chunk.place, numbers });
        }
        let Some(WholeChunk { end, place, numbers }) = previous.filter(|chunk| chunk.end > location) else {
            return Ok(false);
        };
        let error = err!(
            Data,
            "the chunk ends at offset {end} of the data section, behind {location}, where the next chunk begins"
        );
        numbers.iter().try_for_each(|&n| reporter.report_chunk(u64::from(n), place, &error))?;
        Ok(true)
    }
}
