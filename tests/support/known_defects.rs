//! The list of the known defects of the reference, by name and section of the specification, and the conditions under
//! which each occurs. The comparisons consult it before they call the reference or rely on its result; a wrong result
//! that is not in the list fails the test.

use super::calls::{Header, Params};

/// A defect of the reference. This library reproduces none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownDefect {
    /// chunk.md 10.1: the header gets the requested block size, not the effective one.
    HeaderBlocksize,
    /// chunk.md 10.2: three or more active filters write into the source; with delta, a dictionary or
    /// a raw copy afterwards the chunk holds wrong data.
    SourceClobbered,
    /// chunk.md 10.3 (a): a raw copy keeps the dictionary flag and cannot be read.
    DictionaryOnRawCopy,
    /// chunk.md 10.3 (b): less than 32 bytes with a dictionary: wrong flags, writes past the end.
    DictionaryOfSmallBuffer,
    /// chunk.md 10.3 (c), (e): training writes past the end of a destination that is not much larger than the source.
    DictionaryOverrun,
    /// chunk.md 10.4: a read that starts inside a block and is as long as a later block.
    StraddlingGetitem,
    /// chunk.md 10.5, filters.md 6.1: partial reads of delta chunks.
    DeltaGetitem,
    /// chunk.md 10.6: partial reads of dictionary chunks.
    DictionaryGetitem,
    /// chunk.md 10.15, filters.md 6.1: arrangements of delta that the decoder does not undo.
    DeltaArrangement,
    /// filters.md 6.1: delta decoded by several threads, except alone at the bottom of the pipeline.
    DeltaWithThreads,
    /// filters.md 16 D6: delta reads and writes a whole word of a shorter first block.
    DeltaOnShortBlock,
    /// filters.md 16 D2: delta and trunc_prec do not write the bytes after the last complete word.
    LostTail,
    /// chunk.md 10.29: split blocks that are smaller than the typesize.
    EmptyStreams,
    /// chunk.md 1.14, 3.3: a value chunk whose requested block size is no multiple of the value's width is
    /// written, but cannot be decoded.
    ValueBlocksize,
    /// chunk.md 10.10: variable-length chunks with delta, read whole or by several threads.
    VlDelta,
    /// chunk.md 10.3 (d): variable-length chunks get a dictionary that the codec cannot use.
    VlUselessDictionary,
    /// codecs.md 18.18: BloscLZ crashes at level 0, which is reachable only with variable-length chunks.
    VlBloscLzLevel0,
}

/// Whether the reference may be called, and whether its result is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Right,
    /// The reference may be called; its result is not compared.
    Wrong(KnownDefect),
    /// The reference may crash, hang or write outside its buffers: it is not called.
    Unsafe(KnownDefect),
}

impl Verdict {
    pub fn is_right(self) -> bool {
        self == Verdict::Right
    }

    pub fn can_call(self) -> bool {
        !matches!(self, Verdict::Unsafe(_))
    }
}

use KnownDefect::*;
use Verdict::{Right, Unsafe, Wrong};

const DELTA: u8 = 3;
const TRUNC_PREC: u8 = 4;

/// The typesize that the filter pipeline uses (chunk.md 1.8).
pub fn capped_typesize(params: &Params) -> i32 {
    if params.typesize > 255 { 1 } else { params.typesize }
}

/// Word width of delta in bytes (filters.md 6).
pub fn delta_width(typesize: i32) -> i32 {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        _ if typesize % 8 == 0 => 8,
        _ => 1,
    }
}

pub fn active_filters(params: &Params) -> usize {
    params.filters.iter().filter(|&&id| id != 0).count()
}

pub fn has_filter(params: &Params, id: u8) -> bool {
    params.filters.contains(&id)
}

/// Returns the block size, or `None` if it comes from the automatic table (chunk.md 3.3).
pub fn forced_blocksize(params: &Params, nbytes: i32) -> Option<i32> {
    if nbytes < params.typesize {
        return Some(1);
    }
    if params.blocksize == 0 {
        return None;
    }
    let blocksize = params.blocksize.min(nbytes);
    Some(if blocksize > params.typesize { blocksize / params.typesize * params.typesize } else { blocksize })
}

/// Whether the chunk is stored uncompressed by a decision made before any block is encoded.
pub fn is_memcpyed_before_encoding(params: &Params, nbytes: i32) -> bool {
    params.clevel == 0 || nbytes < 32
}

/// Whether the block size field in the header that the reference writes is correct.
pub fn is_header_blocksize_right(params: &Params, nbytes: i32) -> bool {
    let Some(effective) = forced_blocksize(params, nbytes) else { return true };
    let written = if params.blocksize > 0 { params.blocksize } else { effective };
    let written = if nbytes > 0 { written.min(nbytes) } else { written };
    written == effective
}

/// Verdict for the reference compressing `nbytes` bytes.
pub fn compression_verdict(params: &Params, nbytes: i32, destsize: usize) -> Verdict {
    let dictionary_codec = matches!(params.codec, 1 | 2 | 5);
    if params.use_dict && dictionary_codec {
        if nbytes < 32 {
            return Unsafe(DictionaryOfSmallBuffer);
        }
        if destsize < sufficient_destsize(params, nbytes) {
            return Unsafe(DictionaryOverrun);
        }
    }
    if is_memcpyed_before_encoding(params, nbytes) {
        return Right;
    }
    let delta = has_filter(params, DELTA);
    let effective = forced_blocksize(params, nbytes);
    let width = delta_width(capped_typesize(params));
    if delta && effective.is_some_and(|blocksize| blocksize < width) {
        return Unsafe(DeltaOnShortBlock);
    }
    if params.splitmode == 1 && effective.is_some_and(|blocksize| blocksize < capped_typesize(params)) {
        // The buffer of a worker is too small for the stream lengths: with threads the heap is overwritten.
        return if params.nthreads > 1 { Unsafe(EmptyStreams) } else { Wrong(EmptyStreams) };
    }
    if active_filters(params) >= 3 && (delta || params.use_dict) {
        return Wrong(SourceClobbered);
    }
    let word = match (delta, has_filter(params, TRUNC_PREC)) {
        (_, true) => capped_typesize(params),
        (true, false) => width,
        (false, false) => 1,
    };
    let uneven = |size: i32| size % word != 0;
    if uneven(nbytes) || effective.is_some_and(|blocksize| uneven(blocksize) || uneven(nbytes % blocksize)) {
        return Wrong(LostTail);
    }
    Right
}

/// Verdict for a chunk that the reference produced, if [`compression_verdict`] found no defect.
pub fn chunk_verdict(params: &Params, chunk: &[u8]) -> Verdict {
    let header = Header::parse(chunk);
    if header.is_memcpyed() {
        if header.uses_dictionary() {
            return Wrong(DictionaryOnRawCopy);
        }
        if !is_memcpyed_before_encoding(params, header.nbytes) && active_filters(params) >= 3 {
            return Wrong(SourceClobbered);
        }
        return Right;
    }
    if header.special() == 0 && !is_header_blocksize_right(params, header.nbytes) {
        return Wrong(HeaderBlocksize);
    }
    Right
}

/// Verdict for the reference decompressing a whole valid chunk with the pipeline of `params`.
pub fn decompression_verdict(params: &Params, header: &Header, nthreads: i16) -> Verdict {
    if header.is_memcpyed() || header.special() != 0 || !has_filter(params, DELTA) {
        return Right;
    }
    let width = delta_width(capped_typesize(params));
    if header.blocksize < width {
        return Unsafe(DeltaOnShortBlock);
    }
    let undone: Vec<bool> =
        params.filters.iter().filter(|&&id| id != 0 && id != TRUNC_PREC).map(|&id| id == DELTA).collect();
    let deltas = undone.iter().filter(|&&delta| delta).count();
    let lowest = undone.iter().position(|&delta| delta).expect("a delta");
    let undoes = match deltas {
        1 => lowest == undone.len() - 1 || lowest <= 2,
        _ => matches!(
            undone.as_slice(),
            [true, true] | [false, true, true] | [true, true, false] | [true, true, true]
        ),
    };
    if !undoes {
        return Wrong(DeltaArrangement);
    }
    if nthreads > 1 && (deltas > 1 || lowest > 0) {
        return Wrong(DeltaWithThreads);
    }
    Right
}

/// Verdict for the reference decoding a chunk of one repeated value.
pub fn value_chunk_verdict(params: &Params, header: &Header) -> Verdict {
    if header.blocksize % params.typesize != 0 { Wrong(ValueBlocksize) } else { Right }
}

/// Verdict for the reference reading `len` bytes at offset `start` of a valid chunk.
pub fn getitem_verdict(params: &Params, header: &Header, start: i32, len: i32) -> Verdict {
    if header.is_memcpyed() || header.special() != 0 {
        return Right;
    }
    if has_filter(params, DELTA) {
        return Unsafe(DeltaGetitem);
    }
    if header.uses_dictionary() {
        return Unsafe(DictionaryGetitem);
    }
    if is_straddling(header, start, len) { Wrong(StraddlingGetitem) } else { Right }
}

/// Whether the reference, reading block by block, treats `len` bytes at `start` as a whole block.
pub fn is_straddling(header: &Header, start: i32, len: i32) -> bool {
    let blocksize = header.blocksize.min(header.nbytes).max(1);
    let leftover = header.nbytes % blocksize;
    let last_touched = (start + len.max(1) - 1) / blocksize;
    let later_blocks = start / blocksize < last_touched;
    start % blocksize != 0 && later_blocks && (len == blocksize || len == leftover)
}

/// Verdict for the reference compressing a list of buffers into a variable-length chunk, with a large enough
/// destination.
pub fn vlcompression_verdict(params: &Params, sizes: &[usize]) -> Verdict {
    let dictionary_codec = matches!(params.codec, 1 | 2 | 5);
    if params.codec == 0 && params.clevel == 0 {
        return Unsafe(VlBloscLzLevel0);
    }
    if params.use_dict && !dictionary_codec {
        return Wrong(VlUselessDictionary);
    }
    let smallest = *sizes.iter().min().expect("at least one block") as i32;
    let delta = has_filter(params, DELTA);
    let width = delta_width(capped_typesize(params));
    if delta && smallest < width {
        return Unsafe(DeltaOnShortBlock);
    }
    if active_filters(params) >= 3 && (delta || params.use_dict) {
        return Wrong(SourceClobbered);
    }
    let word = match (delta, has_filter(params, TRUNC_PREC)) {
        (_, true) => capped_typesize(params),
        (true, false) => width,
        (false, false) => 1,
    };
    if sizes.iter().any(|&size| size as i32 % word != 0) {
        return Wrong(LostTail);
    }
    Right
}

/// Verdict for the reference reading a variable-length chunk block by block (`vldecompress*`) with `nthreads`
/// threads.
pub fn vldecompression_verdict(params: &Params, sizes: &[usize], nthreads: i16) -> Verdict {
    if !has_filter(params, DELTA) {
        return Right;
    }
    let smallest = *sizes.iter().min().expect("at least one block") as i32;
    if smallest < delta_width(capped_typesize(params)) {
        return Unsafe(DeltaOnShortBlock);
    }
    if nthreads > 1 {
        return Unsafe(VlDelta);
    }
    let header = Header { blocksize: i32::MAX, ..Header::parse(&[0; 32]) };
    decompression_verdict(params, &header, 1)
}

/// A destination size that is enough for every codec, whatever the data.
pub fn sufficient_destsize(params: &Params, nbytes: i32) -> usize {
    let blocksize = forced_blocksize(params, nbytes).unwrap_or(8192).max(1);
    let nblocks = (nbytes as usize).div_ceil(blocksize as usize);
    let streams = nblocks * if params.splitmode == 2 { 1 } else { capped_typesize(params) as usize };
    2 * nbytes as usize + 8 * (nblocks + streams) + (64 << 10)
}
