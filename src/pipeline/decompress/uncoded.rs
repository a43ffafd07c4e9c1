//! The content of special and plain chunks, which is read without a plan.

use super::outcome::DecompressOutcome;
use crate::chunk::class::ChunkClass;
use crate::chunk::{ChunkHeader, ParsedChunk, SpecialValue};
use crate::err;
use crate::error::{Result, ensure};
use crate::filter::copy::copy;
use crate::out_buffer::OutBuffer;
use std::ops::Range;

#[derive(Clone, Copy)]
pub(super) enum UncodedContent<'a> {
    /// The content, possibly followed by other bytes.
    Memcpyed(&'a [u8]),
    /// One value, repeated.
    Special {
        kind: SpecialValue,
        /// Item size, in bytes.
        typesize: usize,
        /// The repeated value of [`SpecialValue::Value`].
        value: &'a [u8],
    },
}

/// Reads the bytes `range` of the content of `chunk` into `dest` (same length), if nothing must be decoded. There is no
/// postfilter. Returns `None`, and does nothing, for other chunks.
#[inline(always)]
pub(crate) fn read_uncoded(
    chunk: &ParsedChunk<'_>,
    range: &Range<usize>,
    dest: &mut OutBuffer<'_>,
) -> Result<Option<DecompressOutcome>> {
    let header = chunk.header();
    // A plan reports the errors of damaged chunks.
    if header.is_coded() || header.is_lazy() || has_wrong_memcpyed_len(header) {
        return Ok(None);
    }
    let Some(bytes) = chunk.bytes().get(..header.cbytes()) else { return Ok(None) };
    if header.special_id() == 0 {
        UncodedContent::memcpyed(header, bytes).read(range.start, dest.reborrow())?;
    } else if let Some(kind) = SpecialValue::with_id(header.special_id()) {
        UncodedContent::special(kind, header, bytes).read(range.start, dest.reborrow())?;
    } else {
        return Ok(None);
    }
    Ok(Some(DecompressOutcome { nbytes: range.len(), used_dictionary: false }))
}

impl<'a> UncodedContent<'a> {
    /// Returns the content of a chunk of that class; `None` if it is coded. `chunk` is the whole chunk.
    #[inline]
    pub(super) fn of_class(class: ChunkClass, header: &ChunkHeader, chunk: &'a [u8]) -> Option<Self> {
        match class {
            ChunkClass::Special(kind) => Some(UncodedContent::special(kind, header, chunk)),
            ChunkClass::Memcpyed => Some(UncodedContent::memcpyed(header, chunk)),
            ChunkClass::Blocks(_) | ChunkClass::VarBlocks(_) => None,
        }
    }

    pub(super) fn special(kind: SpecialValue, header: &ChunkHeader, chunk: &'a [u8]) -> Self {
        let typesize = usize::from(header.typesize);
        UncodedContent::Special { kind, typesize, value: repeated_value(header, chunk) }
    }

    /// Returns the content of a plain chunk.
    pub(super) fn memcpyed(header: &ChunkHeader, chunk: &'a [u8]) -> Self {
        UncodedContent::Memcpyed(chunk.get(header.len()..).unwrap_or_default())
    }

    /// Writes the bytes of the content that begin at `start` into `dest`. Does not change `dest` if the content is
    /// uninitialised.
    ///
    /// # Errors
    /// `ReadBuffer` beyond the content; `Data` for a value that does not exist for this item size.
    #[inline(always)]
    pub(super) fn read(&self, start: usize, dest: OutBuffer<'_>) -> Result<()> {
        // SAFETY: content is copied, or written and then repeated.
        let dest = unsafe { dest.into_bytes() };
        match self {
            UncodedContent::Memcpyed(bytes) => {
                match bytes.get(start..).and_then(|bytes| bytes.get(..dest.len())) {
                    Some(bytes) => copy(bytes, dest),
                    None => {
                        let (len, there) = (dest.len(), bytes.len());
                        return Err(err!(
                            ReadBuffer,
                            "the content has {there} bytes, expected {len} bytes at {start}"
                        ));
                    }
                }
            }
            UncodedContent::Special { kind, typesize, value } => kind.fill(dest, start, *typesize, value)?,
        }
        Ok(())
    }
}

/// Returns the value of a repeated-value chunk; empty in others.
pub(super) fn repeated_value<'a>(header: &ChunkHeader, chunk: &'a [u8]) -> &'a [u8] {
    chunk.get(header.len()..header.cbytes()).unwrap_or_default()
}

/// Checks the length of a plain chunk. Does nothing for other chunks.
#[inline(always)]
pub(super) fn check_memcpyed_len(header: &ChunkHeader) -> Result<()> {
    ensure!(
        !has_wrong_memcpyed_len(header),
        Data,
        "`cbytes` is {}, expected {} more than the header length",
        header.cbytes,
        header.nbytes,
    );
    Ok(())
}

/// Returns whether a plain chunk has another length than header and content have.
#[inline(always)]
fn has_wrong_memcpyed_len(header: &ChunkHeader) -> bool {
    header.is_memcpyed() && header.len() + header.nbytes() != header.cbytes()
}
