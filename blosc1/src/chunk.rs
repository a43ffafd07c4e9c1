//! Compressing, decompressing and reading items, with the codes of Blosc 1 (2.1 to 2.3).
//!
//! Data flow: arguments -> checked in the order of the reference -> layout -> `blosc2_core::blosc1`, which codes the blocks.

use crate::environment;
use crate::header::{BAD_ARGUMENT, CodeResult, FAILURE, HEADER_LEN, Header, MAX_BUFFERSIZE, NO_CODEC};
use crate::settings::MAX_THREADS;
use crate::streams::{blocks_with, check_streams, first_error};
use blosc2_core::blosc1::layout::LayoutParams;
use blosc2_core::blosc1::{self, ChunkSettings, Codec, Filter};
use std::mem::MaybeUninit;

/// The largest item size that a chunk stores, in bytes.
const MAX_TYPESIZE: usize = 255;

/// Sources shorter than this, in bytes, are stored plain.
const MIN_CODED_LEN: usize = 128;

/// The arguments and settings of a compression.
pub(crate) struct Compression {
    pub clevel: i32,
    pub doshuffle: i32,
    pub typesize: usize,
    /// `None` for an unknown codec.
    pub codec: Option<Codec>,
    /// The block size that the program has set, in bytes; 0 for an automatic one.
    pub blocksize: i32,
    pub splitmode: i32,
    pub nthreads: i32,
}

/// Returns the number of threads for a chunk of `nbytes` bytes.
///
/// # Errors
/// -1 for a number out of range, if there is more than one whole block; otherwise it is not used.
fn checked_nthreads(nthreads: i32, nbytes: i32, blocksize: i32) -> CodeResult<usize> {
    if nbytes / blocksize <= 1 {
        return Ok(1);
    }
    if !(1..=MAX_THREADS).contains(&nthreads) {
        return Err(FAILURE);
    }
    Ok(nthreads as usize)
}

impl Compression {
    /// Checks the sizes of a compression, the first checks of all. Returns the size of the destination that is used, or
    /// `None` if the result is 0.
    pub(crate) fn usable_destsize(nbytes: usize, destsize: usize) -> Option<usize> {
        let is_too_long = nbytes > MAX_BUFFERSIZE;
        if is_too_long || destsize < HEADER_LEN {
            if environment::wants_warnings() {
                eprintln!(
                    "blosc: nbytes is {nbytes}, expected at most {MAX_BUFFERSIZE}; destsize is {destsize}, expected at \
                     least {HEADER_LEN}"
                );
            }
            return None;
        }
        Some(destsize.min(nbytes + HEADER_LEN))
    }

    /// Compresses `src` into `dest`, whose sizes are [checked](Self::usable_destsize). Returns the length of the chunk in
    /// bytes; 0 if it does not fit.
    ///
    /// # Errors
    /// The code that `blosc_compress_ctx` returns.
    pub(crate) fn run(&self, src: &[u8], dest: &mut [MaybeUninit<u8>]) -> CodeResult<usize> {
        let clevel = u8::try_from(self.clevel).ok().filter(|&clevel| clevel <= 9).ok_or(BAD_ARGUMENT)?;
        let filter = match self.doshuffle {
            0 => Filter::None,
            1 => Filter::Shuffle,
            2 => Filter::Bitshuffle,
            _ => return Err(BAD_ARGUMENT),
        };
        let typesize = match self.typesize {
            0 => return Err(BAD_ARGUMENT),
            1..=MAX_TYPESIZE => self.typesize as u8,
            _ => 1,
        };
        let codec = self.codec.ok_or(NO_CODEC)?;
        let nbytes = i32::try_from(src.len()).map_err(|_| FAILURE)?;
        let is_plain = clevel == 0 || src.len() < MIN_CODED_LEN;
        if is_plain && src.len() + HEADER_LEN > dest.len() {
            return Ok(0);
        }
        let layout = LayoutParams {
            codec,
            clevel,
            typesize,
            splitmode: self.splitmode,
            forced_blocksize: self.blocksize,
        };
        let (blocksize, is_split) = layout.layout(nbytes);
        let nthreads = checked_nthreads(self.nthreads, nbytes, blocksize)?;
        let settings = ChunkSettings { codec, clevel, filter, typesize, blocksize, is_split, nthreads };
        blosc1::compress(&settings, src, dest).map_err(|_| FAILURE)
    }
}

/// Returns a chunk that readers of Blosc2 take as those of Blosc 1 do, if `chunk` is none.
fn normalized(chunk: &[u8], header: &Header) -> Option<Vec<u8>> {
    header.normalized_flags().map(|flags| {
        let mut copy = chunk.to_vec();
        copy[2] = flags;
        copy
    })
}

/// Decompresses a chunk, whose header is checked, into `dest`, which has the length of the content. Returns the length of
/// the content in bytes.
///
/// # Errors
/// -1.
pub(crate) fn decompress(
    chunk: &[u8],
    header: &Header,
    nthreads: i32,
    dest: &mut [MaybeUninit<u8>],
) -> CodeResult<usize> {
    let nthreads = checked_nthreads(nthreads, header.nbytes, header.blocksize)?;
    check_streams(chunk, header, blocks_with(header, 0..dest.len())).map_err(|_| FAILURE)?;
    let copy = normalized(chunk, header);
    blosc1::decompress(copy.as_deref().unwrap_or(chunk), nthreads, dest).map_err(|_| FAILURE)
}

/// Returns the length of items in bytes, if they are inside a chunk with that header.
///
/// # Errors
/// -1.
pub(crate) fn items_len(header: &Header, start: i32, nitems: i32) -> CodeResult<usize> {
    let (typesize, nbytes) = (i64::from(header.typesize), i64::from(header.nbytes));
    let (start, nitems) = (i64::from(start), i64::from(nitems));
    let is_inside = start >= 0
        && start * typesize <= nbytes
        && nitems >= 0
        && (start + nitems) * typesize <= nbytes
        && start + nitems <= i64::from(i32::MAX);
    if is_inside { Ok((nitems * typesize) as usize) } else { Err(FAILURE) }
}

/// Reads items, which are [inside](items_len) the chunk, whose header is checked, into `dest`, which has their length.
/// Returns their length in bytes. Of a damaged block, the items before the damage may be read.
///
/// # Errors
/// -2 for a damaged stream, -1 for other damage.
pub(crate) fn read_items(
    chunk: &[u8],
    header: &Header,
    start: i32,
    nitems: i32,
    dest: &mut [MaybeUninit<u8>],
) -> CodeResult<usize> {
    let first = usize::try_from(start).map_err(|_| FAILURE)? * usize::from(header.typesize);
    let blocks = blocks_with(header, first..first + dest.len());
    let copy = normalized(chunk, header);
    let read = check_streams(chunk, header, blocks.clone()).and_then(|()| {
        blosc1::read_items(copy.as_deref().unwrap_or(chunk), start, nitems, dest).map_err(|_| FAILURE)
    });
    read.map_err(|_| first_error(chunk, header, blocks).err().unwrap_or(FAILURE))
}
