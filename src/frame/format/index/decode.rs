//! Decoding an index chunk. The bytes are untrusted.

#![forbid(unsafe_code)]

use super::{ENTRY_LEN, Offsets};
use crate::chunk::{ChunkHeader, ParsedChunk, SpecialValue};
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::out_buffer::OutBuffer;
use crate::pipeline::decompress;
use crate::pipeline::params::DecompressParams;

/// A list of entries of up to this size, in bytes, is decoded from any chunk.
const MAX_UNCHECKED_NBYTES: usize = 64 << 20;
/// Maximum compression ratio of a larger list. Chunks that hold a list of different entries compress less; a single
/// repeated entry is a special chunk, which is not decoded to a list.
const MAX_CRATIO: usize = 4096;

/// A list of entries of up to this size, in bytes, is allocated without decoding the chunk before: little beside the
/// other memory of an open frame.
const MAX_UNPROVEN_NBYTES: usize = 1 << 20;
/// Maximum compression ratio of a larger list that is allocated without decoding the chunk before. Most lists compress less,
/// so that few frames decode the chunk twice.
const MAX_UNPROVEN_CRATIO: usize = 64;

/// Returns the uncompressed size of an index, in bytes, from the header of its chunk.
pub(crate) fn stored_nbytes(header_of_index_chunk: &ChunkHeader) -> Result<i64> {
    let header = header_of_index_chunk;
    ensure!(
        usize::from(header.typesize) == ENTRY_LEN,
        InvalidHeader,
        "the index has `typesize` {}, expected {ENTRY_LEN}",
        header.typesize,
    );
    ensure!(
        header.nbytes >= 0 && header.nbytes().is_multiple_of(ENTRY_LEN),
        InvalidHeader,
        "the index has {} bytes, expected a multiple of {ENTRY_LEN}",
        header.nbytes,
    );
    Ok(i64::from(header.nbytes))
}

/// Decodes an index chunk that must hold `nchunks` entries; `chunk` may have more bytes than the index chunk. A list of
/// entries has at most 64 MiB plus 4096 times the length of `chunk`.
///
/// # Errors
/// `Data` when the chunk has other contents or a larger list, the errors of decompression, `MemoryAlloc`.
pub(crate) fn decode(chunk: &[u8], nchunks: usize) -> Result<Offsets> {
    let header = ChunkHeader::parse(chunk)?;
    let nbytes = nchunks.checked_mul(ENTRY_LEN);
    if usize::from(header.typesize) != ENTRY_LEN || Some(header.nbytes()) != nbytes {
        let (nbytes, typesize) = (header.nbytes, header.typesize);
        return Err(err!(
            Data,
            "the index has {nbytes} bytes with `typesize` {typesize}, \
             expected {nchunks} entries of {ENTRY_LEN} bytes"
        ));
    }
    if header.is_lazy() || header.is_instrumented() {
        return Err(err!(Data, "the index is lazy or instrumented: flags {:#04x}", header.blosc2_flags));
    }
    if header.special()?.is_some() {
        return decode_special(&header, chunk, nchunks);
    }
    decompress_entries(&header, chunk, nchunks).map(Offsets::List)
}

fn decompress_entries(header: &ChunkHeader, chunk: &[u8], nchunks: usize) -> Result<Vec<i64>> {
    let nbytes = header.nbytes();
    let limit = MAX_UNCHECKED_NBYTES.saturating_add(chunk.len().saturating_mul(MAX_CRATIO));
    ensure!(
        nbytes <= limit,
        Data,
        "the index has {nbytes} bytes, expected at most {limit} in a chunk of {} bytes",
        chunk.len(),
    );
    let chunk_len = chunk.len();
    let mut parsed = ChunkHeader::default();
    let chunk = ParsedChunk::parse(&mut parsed, chunk)?;
    if nbytes > MAX_UNPROVEN_NBYTES.max(chunk_len.saturating_mul(MAX_UNPROVEN_CRATIO)) {
        // Damaged bytes can claim a long list, which is allocated only if the chunk has it.
        decompress::check_content(&DecompressParams::default(), &chunk)?;
    }
    let mut entries = fallible::filled(0, nchunks)?;
    decompress::decompress(&DecompressParams::default(), &chunk, OutBuffer::of_numbers(&mut entries))?;
    entries.iter_mut().for_each(|entry| *entry = i64::from_le(*entry));
    Ok(entries)
}

/// Decodes an index of one repeated entry, which is written for a frame filled with special chunks.
fn decode_special(header: &ChunkHeader, chunk: &[u8], nchunks: usize) -> Result<Offsets> {
    let cbytes = usize::try_from(header.cbytes).unwrap_or(0);
    let Some(value) = chunk.get(header.len()..cbytes) else {
        return Err(err!(Data, "`cbytes` of the index is {cbytes}, expected at most {}", chunk.len()));
    };
    let mut entry = [0; ENTRY_LEN];
    match header.special()? {
        Some(kind @ (SpecialValue::Zero | SpecialValue::Nan)) => kind.fill(&mut entry, 0, ENTRY_LEN, &[])?,
        Some(SpecialValue::Value) if value.len() == ENTRY_LEN => entry.copy_from_slice(value),
        Some(SpecialValue::Value | SpecialValue::Uninit) | None => {
            return Err(err!(
                Data,
                "the index repeats a value of {} bytes, expected {ENTRY_LEN}",
                value.len()
            ));
        }
    }
    Ok(Offsets::Uniform { code: i64::from_le_bytes(entry), len: nchunks })
}
