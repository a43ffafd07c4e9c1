//! The comparison of the chunks of a frame with the array metalayer: their number, their sizes, and the size of their
//! items (`b2nd.md` 8).

use super::report::{DamagePlace, FramePart, Reporter};
use crate::chunk::ChunkHeader;
use crate::error::{Result, ensure, err};
use crate::frame::format::array_meta::ArrayChunks;

/// The check of the chunks of an array. Without an array metalayer, or with an invalid one, all chunks are accepted.
pub(super) struct ArrayCheck(pub(super) Option<ArrayChunks>);

impl ArrayCheck {
    /// Reports the metalayer if its shape needs more than the `nchunks` chunks of the frame. More chunks are accepted:
    /// rows that were added without a change of the shape, or removed from the shape only.
    pub(super) fn report_count(&self, nchunks: u64, reporter: &mut Reporter<'_>) -> Result<()> {
        let Some(array) = &self.0 else { return Ok(()) };
        if u64::try_from(array.nchunks()).is_ok_and(|needed| needed <= nchunks) {
            return Ok(());
        }
        let expected = array.nchunks();
        let error =
            err!(Data, "the shape of the array has {expected} chunks, but the frame has {nchunks} chunks");
        reporter.report_part(FramePart::Metalayer, DamagePlace::unknown(), &error)
    }

    /// Checks the header of chunk `nchunk`.
    ///
    /// # Errors
    /// `Data` for a chunk that is larger than the chunk shape, lacks an item of the shape, or has items of another
    /// size.
    pub(super) fn check(&self, nchunk: u64, header: &ChunkHeader) -> Result<()> {
        let Some(array) = &self.0 else { return Ok(()) };
        // Chunks of zeros that a repair stores have items of one byte.
        match header.typesize {
            1 => array.check_nbytes(header.nbytes)?,
            typesize => array.check_chunk(header.nbytes, typesize)?,
        }
        check_items(array, nchunk, header.nbytes)
    }

    /// Checks the size of chunk `nchunk`, which has no bytes in the frame.
    pub(super) fn check_special(&self, nchunk: u64, nbytes: i32) -> Result<()> {
        let Some(array) = &self.0 else { return Ok(()) };
        array.check_nbytes(nbytes)?;
        check_items(array, nchunk, nbytes)
    }

    /// Checks the chunks of a frame whose `count` chunks have no bytes: the last one has the size `last`, each other
    /// one the size `full`.
    pub(super) fn check_uniform(&self, count: u64, full: i32, last: i32) -> Result<()> {
        // No chunk of an array needs more bytes than the first one.
        self.check_special(0, if count > 1 { full } else { last })?;
        self.check_special(count - 1, last)
    }
}

/// Checks that a chunk of `nbytes` bytes has all items of the shape that belong to it.
fn check_items(array: &ArrayChunks, nchunk: u64, nbytes: i32) -> Result<()> {
    // A chunk behind those of the shape needs no items.
    let nchunk = i64::try_from(nchunk).ok().filter(|&nchunk| nchunk < array.nchunks());
    let needed = nchunk.map_or(0, |nchunk| array.needed_nbytes(nchunk));
    ensure!(
        i64::from(nbytes) >= needed,
        Data,
        "the chunk has {nbytes} bytes, but its items of the array end at byte {needed}",
    );
    Ok(())
}
