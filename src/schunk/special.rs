//! Filling an empty super-chunk with special chunks (`schunk.md` 14).

use super::SuperChunk;
use super::rules::Counters;
use crate::chunk::SpecialValue;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{Error, ErrorKind, Result, ensure, err, to_kind};
use crate::fallible;
use crate::frame::format::change::Change;
use crate::frame::format::chunk_info::special_blocksize;
use crate::frame::format::header::MAX_CHUNKS;
use crate::out_buffer::OutBuffer;

impl SuperChunk {
    /// Adds special chunks for `nitems` items: chunks of `chunksize` bytes, and a shorter last one if needed. Returns
    /// the number of chunks. `special` is the id of zeros, NaNs or uninitialised bytes.
    ///
    /// # Errors
    /// `InvalidParam` for invalid sizes, `FrameSpecial` for a super-chunk that is not empty; `SchunkSpecial`, or
    /// `FrameSpecial` in a frame, for an invalid id; `Lock`, those of writing the frame.
    pub(crate) fn fill_special(&self, nitems: i64, special: i32, chunksize: i32) -> Result<i64> {
        if nitems == 0 {
            return Ok(0);
        }
        let typesize = self.typesize();
        ensure!(
            nitems >= 0 && chunksize > 0 && typesize > 0,
            InvalidParam,
            "`nitems` is {nitems}, `typesize` {typesize}, `chunksize` {chunksize}: expected 1 or more",
        );
        // Called before the lock is taken, and again with it: another thread or handle may have added chunks.
        let check_empty = || {
            let counters = self.counters();
            if counters.nbytes > 0 || counters.cbytes > 0 {
                return Err(err!(FrameSpecial, "the super-chunk has {} bytes, expected 0", counters.nbytes));
            }
            Ok(counters)
        };
        check_empty()?;
        let per_chunk = i64::from(chunksize / typesize);
        ensure!(per_chunk != 0, InvalidParam, "`chunksize` is {chunksize}, expected at least {typesize}");
        let nfull = nitems / per_chunk;
        let nbytes = nitems.checked_mul(i64::from(typesize));
        let Some(nbytes) = nbytes.filter(|_| nfull <= i64::from(i32::MAX)) else {
            return Err(err!(
                SchunkSpecial,
                "`nitems` is {nitems} ({nfull} full chunks), expected at most {} chunks and 2^63 - 1 bytes",
                i32::MAX
            ));
        };
        let left = (nitems % per_chunk) as i32 * typesize;
        let kind = u8::try_from(special).ok().and_then(|id| SpecialValue::from_id(id).ok().flatten());
        let kind = kind.filter(|&kind| kind != SpecialValue::Value && chunksize % typesize == 0);
        let unsupported = |error: ErrorKind| {
            Error::new(
                error,
                format_args!(
                    "`special_value` is {special}, `chunksize` {chunksize}: \
                     expected zeros, NaNs or uninitialised bytes, and whole items"
                ),
            )
        };
        if self.frame().is_none() {
            let kind = kind.ok_or_else(|| unsupported(ErrorKind::SchunkSpecial))?;
            let chunks = self.special_chunks(kind, nfull, chunksize, left)?;
            let mut guard = self.start_change()?;
            check_empty()?;
            for (count, chunk) in chunks {
                for _ in 0..count {
                    guard.append_without_frame(&chunk)?;
                }
            }
            return Ok(guard.nchunks());
        }
        let mut session = self.lock_for_change(true)?;
        let guard = session.guard();
        let counters = check_empty()?;
        let nchunks = nfull + i64::from(left > 0);
        ensure!(nchunks <= MAX_CHUNKS, FrameSpecial, "{nchunks} chunks, expected at most {MAX_CHUNKS}");
        let kind = kind.ok_or_else(|| unsupported(ErrorKind::FrameSpecial))?;
        let after = Counters { nchunks, nbytes, chunksize, ..counters };
        let before = self.blocksize();
        let blocksize = special_blocksize(&guard.lock_proof().frame_header(&after))?;
        guard.set_blocksize(blocksize);
        let filled = guard.apply_to_frame(&Change::Fill { special: kind, nchunks: nchunks as usize }, &after);
        if let Err(error) = filled {
            guard.set_blocksize(before);
            return Err(error);
        }
        guard.set_counters(&after);
        Ok(nchunks)
    }

    /// Makes the special chunks for a super-chunk without a frame. Returns the number of copies of each chunk, and the
    /// chunk. No lock is held, since the init function of a tuner may run.
    fn special_chunks(
        &self,
        kind: SpecialValue,
        nfull: i64,
        chunksize: i32,
        left: i32,
    ) -> Result<Vec<(i64, Vec<u8>)>> {
        let sizes =
            [(nfull, chunksize), (1, left)].into_iter().filter(|&(count, size)| count > 0 && size > 0);
        let chunks = sizes.map(|(count, size)| {
            let mut chunk = fallible::filled(0, EXTENDED_HEADER_LENGTH)?;
            self.with_new_context(|context| {
                context.compress_special_chunk(kind, size as usize, &[], OutBuffer::from(&mut chunk[..]))
            })?;
            Ok((count, chunk))
        });
        fallible::try_collect(chunks).map_err(to_kind(ErrorKind::SchunkSpecial))
    }
}
