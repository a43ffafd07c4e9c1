//! Frames with chunks of different sizes. The index of a frame does not contain the size of a special chunk; readers
//! compute it from the chunk size. Without a common chunk size, readers only find the sizes of chunks that are stored
//! with their bytes (`frame.md` 9).

use super::SuperChunk;
use super::access_lock::WriteGuard;
use super::rules::{self, Counters};
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, flag, version};
use crate::chunk::zero_runs::encode_zero_runs;
use crate::chunk::{ChunkHeader, SpecialValue};
use crate::error::{Result, ensure};
use crate::fallible;
use crate::frame::format::change::{Change, FrameChunk};
use crate::frame::format::chunk_info::ChunkInfo;
use crate::pipeline::compress::encode_special_chunk;
use crate::pipeline::params::CompressParams;

/// Upper limit for the number of special chunks that are rewritten when chunks of a frame become different in size.
const MAX_CONVERTED_SPECIALS: usize = 1 << 16;

impl WriteGuard<'_, SuperChunk> {
    /// Rewrites special chunks, whose size the index does not contain, as repeated values (`frame.md` 9), except chunk
    /// `replaced`. If the new chunk is special, returns its replacement. Adds the bytes to `after.cbytes`.
    pub(super) fn prepare_variable_sizes(
        &mut self,
        before: &Counters,
        after: &mut Counters,
        info: &ChunkInfo,
        replaced: Option<i64>,
    ) -> Result<Option<Vec<u8>>> {
        ensure!(
            info.cbytes >= EXTENDED_HEADER_LENGTH as i32,
            InvalidHeader,
            "the chunk has {} bytes, expected {EXTENDED_HEADER_LENGTH} or more in a frame",
            info.cbytes,
        );
        rules::check_frame_has_bytes(after)?;
        // Readers compute the number of chunks from the chunk size, unless sizes differ.
        let size = i64::from(after.chunksize);
        if size > 0 && nchunks_for_nbytes(after.nbytes, size) != after.nchunks {
            after.chunksize = 0;
        }
        if before.chunksize != 0 && after.chunksize == 0 {
            let added = self.convert_specials(before, replaced)?;
            after.cbytes = rules::checked_sum(after.cbytes, added)?;
        }
        // Readers of the index reject the size of a special chunk that is not a whole number of items (`frame.md` 1.4).
        let is_whole = info.nbytes.checked_rem(self.typesize()) == Some(0);
        let Some(special) = info.special.filter(|_| after.chunksize == 0 || !is_whole) else {
            return Ok(None);
        };
        let chunk = to_repeated_value_chunk(special, info.nbytes, self.typesize())?;
        after.cbytes = rules::checked_sum(after.cbytes, chunk.len() as i64)?;
        Ok(Some(chunk))
    }

    /// Rewrites special chunks as repeated values, one after another, except chunk `replaced`, which is about to be
    /// replaced or deleted. Returns their size in bytes. The frame is valid after each of them.
    pub(super) fn convert_specials(&mut self, before: &Counters, replaced: Option<i64>) -> Result<i64> {
        let Some(frame) = self.object().frame() else { return Ok(0) };
        let offsets = frame.offsets()?;
        let is_special = |&(n, code): &(usize, i64)| code < 0 && Some(n as i64) != replaced;
        let specials = offsets.iter().enumerate().filter(is_special).map(|(n, _)| n);
        let specials: Vec<usize> = fallible::collect(specials)?;
        ensure!(
            specials.len() <= MAX_CONVERTED_SPECIALS,
            InvalidParam,
            "{} special chunks to rewrite, expected at most {MAX_CONVERTED_SPECIALS}",
            specials.len(),
        );
        let mut counters = *before;
        for nchunk in specials {
            let header = frame.header()?;
            let info = frame.chunk_info(nchunk, &header)?;
            let Some(special) = info.special else { continue };
            let chunk = to_repeated_value_chunk(special, info.nbytes, self.typesize())?;
            let mut after = counters;
            after.cbytes = rules::checked_sum(after.cbytes, chunk.len() as i64)?;
            let chunk = FrameChunk::Bytes(&chunk);
            self.apply_to_frame(&Change::Update { at: nchunk, chunk, old_len: 0 }, &after)?;
            self.set_counters(&after);
            counters = after;
        }
        Ok(counters.cbytes - before.cbytes)
    }
}

/// Returns the number of chunks that a reader computes for a frame with chunks of one size.
pub(super) fn nchunks_for_nbytes(nbytes: i64, size: i64) -> i64 {
    if nbytes <= 0 { 0 } else { (nbytes - 1) / size + 1 }
}

/// Returns a special chunk as a chunk of a repeated value, which every reader finds among chunks of different sizes. A
/// chunk that is not a whole number of items becomes zeros, and so do uninitialised bytes.
fn to_repeated_value_chunk(special: SpecialValue, nbytes: i32, typesize: i32) -> Result<Vec<u8>> {
    let width = usize::try_from(typesize).unwrap_or(1);
    let params = CompressParams { typesize, blocksize: nbytes.max(1), ..CompressParams::default() };
    if nbytes == 0 {
        // An empty chunk has no value to repeat.
        let mut chunk = fallible::filled(0, EXTENDED_HEADER_LENGTH)?;
        let header = ChunkHeader {
            version: version::STABLE,
            versionlz: 1,
            flags: flag::EXTENDED | flag::MEMCPYED,
            typesize: typesize.clamp(1, 255) as u8,
            blocksize: 1,
            cbytes: EXTENDED_HEADER_LENGTH as i32,
            ..ChunkHeader::default()
        };
        header.write(&mut chunk);
        return Ok(chunk);
    }
    if nbytes.checked_rem(typesize) != Some(0) {
        ensure!(
            special != SpecialValue::Nan,
            InvalidParam,
            "a chunk of NaNs has {nbytes} bytes, expected a multiple of `typesize` {typesize}",
        );
        return encode_zero_runs(nbytes);
    }
    let mut value = fallible::filled(0, width)?;
    if special == SpecialValue::Nan {
        special.fill(&mut value, 0, width, &[])?;
    }
    let mut chunk = fallible::filled(0, EXTENDED_HEADER_LENGTH + width)?;
    encode_special_chunk(&params, SpecialValue::Value, nbytes as usize, &value, &mut chunk)?;
    Ok(chunk)
}
