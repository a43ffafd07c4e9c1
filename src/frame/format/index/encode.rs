//! Encoding an index chunk, with the fixed parameters of `frame.md` 1.4.
//!
//! An index of one block (2048 entries) is compressed anew each time, and has the same bytes as that of the reference.
//! Of a longer index, only the blocks from the first changed entry on are compressed: the cost of an append must not
//! grow with the number of chunks.

#![forbid(unsafe_code)]

use super::{ENTRY_LEN, IndexEntry, Offsets, encode_entry};
use crate::abi::{BLOSC_BLOSCLZ, BLOSC_NEVER_SPLIT};
use crate::chunk::format::{
    EXTENDED_HEADER_LENGTH, MAX_BUFFERSIZE, MAX_FILTERS, MIN_BUFFERSIZE, filter_id, flag, offset,
};
use crate::chunk::{BlockGeometry, ChunkHeader, SpecialValue, read_i32, write_i32};
use crate::error::{ErrorKind, Result, ensure, err};
use crate::fallible;
use crate::pipeline::block_size::DefaultTuner;
use crate::pipeline::compress::{self, ContentSource, plan};
use crate::pipeline::env_overrides;
use crate::pipeline::params::CompressParams;

/// The block size of an index, in bytes.
const BLOCKSIZE: i32 = 16_384;

/// Size of the length before each stream, in bytes. A block has at most one stream per byte of an entry.
const LENGTH_FIELD_LEN: usize = 4;

/// Returns the parameters for an index of `nbytes` bytes: fixed, except for the overrides by environment variables. The
/// typesize is always 8 bytes.
fn index_cparams(nbytes: usize) -> Result<CompressParams> {
    let mut params =
        CompressParams { blocksize: BLOCKSIZE, splitmode: BLOSC_NEVER_SPLIT, ..CompressParams::default() };
    env_overrides::apply_to_new_context(&mut params)?;
    params.typesize = ENTRY_LEN as i32;
    params.keeps_longer = true;
    // An index that is long enough for several threads is mostly encoded already.
    params.nthreads = 1;
    let choice = DefaultTuner::from_params(&params);
    params.blocksize =
        choice.blocksize(i32::try_from(nbytes).unwrap_or(i32::MAX), params.typesize, params.blocksize);
    Ok(params)
}

/// Returns the size of an index of that number of entries, in bytes.
fn nbytes_for_entries(entries: usize) -> Result<usize> {
    match entries.checked_mul(ENTRY_LEN) {
        Some(nbytes) if nbytes <= MAX_BUFFERSIZE => Ok(nbytes),
        _ => Err(err!(
            Data,
            "the index has {entries} entries, expected at most {}",
            MAX_BUFFERSIZE / ENTRY_LEN
        )),
    }
}

/// Returns the entries from `first` on as little-endian bytes.
fn entry_bytes_from(offsets: &Offsets, first: usize) -> Result<Vec<u8>> {
    let len = offsets.len().saturating_sub(first) * ENTRY_LEN;
    let mut bytes = fallible::vec_with_capacity(len)?;
    match offsets {
        Offsets::List(list) => {
            for code in list.get(first..).unwrap_or_default() {
                bytes.extend_from_slice(&code.to_le_bytes());
            }
        }
        Offsets::Uniform { .. } => {
            offsets.iter_from(first).for_each(|c| bytes.extend_from_slice(&c.to_le_bytes()))
        }
    }
    Ok(bytes)
}

/// Compresses all of `bytes` into a chunk of at most `capacity` bytes.
fn compress_whole(params: &CompressParams, bytes: &[u8], capacity: usize) -> Result<Vec<u8>> {
    let mut dest = fallible::filled(0, capacity)?;
    plan::check_params(params, bytes.len(), capacity, Some(ErrorKind::CodecParam))?;
    let header = compress::compress(params, ContentSource::Buffer(bytes), &mut dest)?;
    ensure!(
        header.cbytes > 0,
        WriteBuffer,
        "an index of {} bytes does not fit into a chunk of {capacity} bytes",
        bytes.len(),
    );
    dest.truncate(header.cbytes as usize);
    Ok(dest)
}

/// Returns whether the encoder of the reference could have written this chunk: it fails when the destination has less
/// than 66 bytes, or less than one byte more than it writes. The encoder of this library always has a destination for a
/// whole block. Only a chunk of one compressed block is checked.
fn can_reference_encode(chunk: &[u8], nbytes: usize, capacity: usize) -> bool {
    const MIN_BLOSCLZ_DEST: usize = 66;
    const STREAM_OFFSET: usize = EXTENDED_HEADER_LENGTH + 4 + LENGTH_FIELD_LEN;
    let is_first = read_i32(chunk, EXTENDED_HEADER_LENGTH) == Some((STREAM_OFFSET - LENGTH_FIELD_LEN) as i32);
    let coded =
        read_i32(chunk, STREAM_OFFSET - LENGTH_FIELD_LEN).and_then(|csize| usize::try_from(csize).ok());
    let is_coded = chunk[offset::FLAGS] & flag::MEMCPYED == 0 && is_first;
    match coded
        .filter(|&csize| is_coded && (1..nbytes).contains(&csize) && STREAM_OFFSET + csize == chunk.len())
    {
        Some(csize) => {
            let room = capacity.saturating_sub(STREAM_OFFSET);
            room >= MIN_BLOSCLZ_DEST && csize < room
        }
        None => true,
    }
}

/// Returns a chunk that stores the entries uncompressed. `header` is that of the compressed chunk.
fn encode_memcpyed(header: &ChunkHeader, offsets: &Offsets) -> Result<Vec<u8>> {
    let entries = entry_bytes_from(offsets, 0)?;
    let mut chunk = fallible::filled(0, header.len() + entries.len())?;
    let cbytes = chunk.len() as i32;
    let flags = header.flags | flag::MEMCPYED;
    ChunkHeader { nbytes: entries.len() as i32, cbytes, flags, ..*header }.write(&mut chunk);
    chunk[header.len()..].copy_from_slice(&entries);
    Ok(chunk)
}

/// Returns the index of a frame of `nchunks` chunks of that kind. It has 40 bytes for any number of chunks.
///
/// # Errors
/// `FrameSpecial` for a repeated value, which has no index entry, and for `nchunks` of 0; `Data` for more chunks than
/// an index holds; `InvalidParam` for invalid parameters from environment variables.
pub(crate) fn encode_special(special: SpecialValue, nchunks: usize) -> Result<Vec<u8>> {
    ensure!(special != SpecialValue::Value, FrameSpecial, "a chunk of a repeated value has no index entry");
    encode_uniform(encode_entry(IndexEntry::Special(special)), nchunks)
}

fn encode_uniform(code: i64, entries: usize) -> Result<Vec<u8>> {
    ensure!(entries != 0, FrameSpecial, "the number of chunks is 0, expected 1 or more");
    let nbytes = nbytes_for_entries(entries)?;
    let params = index_cparams(nbytes)?;
    let mut dest = fallible::filled(0, EXTENDED_HEADER_LENGTH + ENTRY_LEN)?;
    plan::check_params(&params, nbytes, dest.len(), None)?;
    compress::encode_special_chunk(&params, SpecialValue::Value, nbytes, &code.to_le_bytes(), &mut dest)?;
    Ok(dest)
}

/// The parameters that determine the encoding of blocks. Blocks encoded with other parameters cannot be reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct BlockEncodingParams {
    compcode: i32,
    clevel: i32,
    blocksize: i32,
    splitmode: i32,
    filters: [u8; MAX_FILTERS],
}

impl BlockEncodingParams {
    fn of(params: &CompressParams) -> Self {
        let CompressParams { compcode, clevel, blocksize, splitmode, filters, .. } = *params;
        BlockEncodingParams { compcode, clevel, blocksize, splitmode, filters }
    }
}

/// The encoder of the index of one frame.
///
/// It keeps the encoded blocks of the last index, so that encoding a long index costs as much as encoding its changed
/// end. It does not keep the decoded entries, which the caller passes to each call.
#[derive(Debug, Default)]
pub(crate) struct IndexEncoder {
    /// The parameters of the kept blocks; `None` without blocks.
    block_params: Option<BlockEncodingParams>,
    /// The encoded full blocks, one after another.
    block_streams: Vec<u8>,
    /// The end of each block in `block_streams`, in bytes.
    block_ends: Vec<usize>,
}

impl IndexEncoder {
    /// Returns an encoder without kept blocks.
    #[cfg(test)]
    pub(crate) fn new() -> Self {
        IndexEncoder::default()
    }

    /// Drops the kept blocks: the next call encodes all blocks.
    pub(crate) fn clear(&mut self) {
        *self = IndexEncoder::default();
    }

    /// Encodes an index. The first `changed_from` entries must equal those of the index of the last call, whether or
    /// not the caller used the result of that call; after a failed call `changed_from` is ignored. The chunk has at
    /// most `8 * capacity_entries + 32` bytes, where `capacity_entries` is at least the number of entries (for a
    /// deletion, the number before it).
    ///
    /// # Errors
    /// `Data` for more entries than an index holds, `MemoryAlloc`, and the errors of parameters from environment
    /// variables: `InvalidParam`, `CodecSupport` or `CodecParam`.
    pub(crate) fn encode(
        &mut self,
        offsets: &Offsets,
        changed_from: usize,
        capacity_entries: usize,
    ) -> Result<Vec<u8>> {
        let encoded = self.try_encode(offsets, changed_from, capacity_entries);
        if encoded.is_err() {
            self.clear();
        }
        encoded
    }

    fn try_encode(&mut self, offsets: &Offsets, changed_from: usize, capacity: usize) -> Result<Vec<u8>> {
        let nbytes = nbytes_for_entries(offsets.len())?;
        let params = index_cparams(nbytes)?;
        let capacity = nbytes_for_entries(capacity.max(offsets.len())).unwrap_or(MAX_BUFFERSIZE)
            + EXTENDED_HEADER_LENGTH;
        let blocks = BlockGeometry::new(nbytes, params.blocksize.max(1) as usize);
        // The blocks must be encoded together if the delta filter is used, which codes each block against the first, or
        // if the block size is no multiple of the entry size.
        let needs_full_encode = blocks.count() <= 1
            || !blocks.blocksize().is_multiple_of(ENTRY_LEN)
            || params.clevel == 0
            || params.filters.contains(&filter_id::DELTA);
        if let (Offsets::Uniform { code, len }, false) = (offsets, needs_full_encode) {
            self.clear();
            return encode_uniform(*code, *len);
        }
        if !needs_full_encode {
            let block_params = BlockEncodingParams::of(&params);
            if self.block_params != Some(block_params) {
                self.clear();
                self.block_params = Some(block_params);
            }
            if let Some(chunk) = self.encode_blocks(&params, offsets, &blocks, changed_from, capacity)? {
                return Ok(chunk);
            }
        }
        self.clear();
        let chunk = compress_whole(&params, &entry_bytes_from(offsets, 0)?, capacity)?;
        if params.compcode == BLOSC_BLOSCLZ && !can_reference_encode(&chunk, nbytes, capacity) {
            return encode_memcpyed(&ChunkHeader::parse(&chunk)?, offsets);
        }
        Ok(chunk)
    }

    /// Encodes the blocks from the first changed entry on, and assembles the chunk. Returns `None` when the changed
    /// blocks give a plain or special chunk, from which no blocks can be taken.
    fn encode_blocks(
        &mut self,
        params: &CompressParams,
        offsets: &Offsets,
        blocks: &BlockGeometry,
        changed_from: usize,
        capacity: usize,
    ) -> Result<Option<Vec<u8>>> {
        let mut first = (changed_from / (blocks.blocksize() / ENTRY_LEN)).min(self.block_ends.len());
        // The encoded part must not be empty, and must be long enough not to be stored plain.
        while first > 0 && blocks.nbytes() < first * blocks.blocksize() + MIN_BUFFERSIZE {
            first -= 1;
        }
        let start = first * blocks.blocksize();
        let changed = entry_bytes_from(offsets, start / ENTRY_LEN)?;
        let count = blocks.count() - first;
        let room = EXTENDED_HEADER_LENGTH + count * (4 + LENGTH_FIELD_LEN * ENTRY_LEN) + changed.len();
        let part = compress_whole(params, &changed, room)?;
        let header = ChunkHeader::parse(&part)?;
        if header.is_memcpyed() || header.special_id() != 0 {
            return Ok(None);
        }
        self.block_ends.truncate(first);
        self.block_streams.truncate(self.block_ends.last().copied().unwrap_or(0));
        self.append_blocks(&part, &header, count)?;
        let whole = self.assemble(&header, offsets, blocks, capacity)?;
        // A short last block changes with the next append, so it is not kept.
        if blocks.leftover() > 0 {
            self.block_ends.pop();
            self.block_streams.truncate(self.block_ends.last().copied().unwrap_or(0));
        }
        Ok(Some(whole))
    }

    /// Appends the `count` blocks of a chunk to the kept blocks. [`compress_whole`] has written the chunk, with its
    /// blocks in order.
    fn append_blocks(&mut self, part: &[u8], header: &ChunkHeader, count: usize) -> Result<()> {
        let first = header.len() + 4 * count;
        let base = self.block_streams.len();
        let Some(streams) = part.get(first..) else {
            return Err(err!(Failure, "the index part has {} bytes, expected {first} or more", part.len()));
        };
        fallible::reserve(&mut self.block_streams, streams.len())?;
        fallible::reserve(&mut self.block_ends, count)?;
        self.block_streams.extend_from_slice(streams);
        for n in 1..=count {
            let end = match read_i32(part, header.len() + 4 * n).filter(|_| n < count) {
                Some(start) => usize::try_from(start).unwrap_or(0),
                None => part.len(),
            };
            self.block_ends.push(base + end.saturating_sub(first));
        }
        Ok(())
    }

    /// Returns the chunk of all kept blocks, or a plain chunk of the entries where it exceeds `capacity`. `header` is
    /// that of the encoded part.
    fn assemble(
        &self,
        header: &ChunkHeader,
        offsets: &Offsets,
        blocks: &BlockGeometry,
        capacity: usize,
    ) -> Result<Vec<u8>> {
        // The part may have been shorter than a block.
        let blocksize = blocks.blocksize() as i32;
        let mut header = ChunkHeader { nbytes: blocks.nbytes() as i32, blocksize, ..*header };
        let tables = header.len() + 4 * self.block_ends.len();
        let cbytes = tables + self.block_streams.len();
        if cbytes > capacity {
            return encode_memcpyed(&header, offsets);
        }
        header.cbytes = cbytes as i32;
        let mut chunk = fallible::vec_with_capacity(cbytes)?;
        chunk.resize(tables, 0);
        header.write(&mut chunk);
        let mut start = tables;
        for (n, &end) in self.block_ends.iter().enumerate() {
            write_i32(&mut chunk, header.len() + 4 * n, start as i32);
            start = tables + end;
        }
        chunk.extend_from_slice(&self.block_streams);
        Ok(chunk)
    }
}
