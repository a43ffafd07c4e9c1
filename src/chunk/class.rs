//! Classification of a chunk by its header.

use super::format::{MAX_FILTERS, filter_id, version};
use super::{ChunkHeader, SpecialValue};
use crate::abi::BLOSC_FILTER_INT_TRUNC;
use crate::error::Result;

/// How a chunk stores its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkClass {
    /// One repeated value, implied by the header or stored after it.
    Special(SpecialValue),
    /// The content, uncompressed.
    Memcpyed,
    /// Blocks of one size, each of one or more streams.
    Blocks(BlockCoding),
    /// Blocks of variable length, each of one stream.
    VarBlocks(BlockCoding),
}

/// How the streams of a block become its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockCoding {
    /// The decoded streams are the content.
    Direct,
    /// The decoded streams are unshuffled.
    Shuffled {
        /// Item size in bytes, at least 2.
        unit: usize,
    },
    /// The decoded streams are bitunshuffled.
    Bitshuffled,
    /// Any other filter pipeline.
    General,
}

impl ChunkClass {
    #[inline]
    pub(crate) fn of(header: &ChunkHeader) -> Result<ChunkClass> {
        Ok(match header.special()? {
            Some(kind) => ChunkClass::Special(kind),
            None if header.is_memcpyed() => ChunkClass::Memcpyed,
            None if header.has_varlen_blocks() => ChunkClass::VarBlocks(BlockCoding::of(header)),
            None => ChunkClass::Blocks(BlockCoding::of(header)),
        })
    }

    /// Returns the coding of the blocks; `None` for special and plain chunks.
    pub(crate) fn coding(self) -> Option<BlockCoding> {
        match self {
            ChunkClass::Special(_) | ChunkClass::Memcpyed => None,
            ChunkClass::Blocks(coding) | ChunkClass::VarBlocks(coding) => Some(coding),
        }
    }
}

impl BlockCoding {
    #[inline(always)]
    pub(crate) fn of(header: &ChunkHeader) -> BlockCoding {
        if header.is_instrumented() {
            // Records are not filtered.
            return BlockCoding::Direct;
        }
        // Reads the six ids with two loads that are no wider than the stores that wrote them: store-to-load forwarding
        // fails for wider loads, which then stall.
        let [a, b, c, d, e, last] = header.filters;
        if u32::from_ne_bytes([a, b, c, d]) == 0 && e == 0 {
            return BlockCoding::of_filter(header, MAX_FILTERS - 1, last);
        }
        let mut active = (0..MAX_FILTERS).filter(|&slot| is_undone_by_decompression(header.filters[slot]));
        match (active.next(), active.next()) {
            (None, _) => BlockCoding::Direct,
            (Some(slot), None) => BlockCoding::of_filter(header, slot, header.filters[slot]),
            (Some(_), Some(_)) => BlockCoding::General,
        }
    }

    /// As [`of`](Self::of), for a pipeline whose only filter is `id` in slot `slot`.
    #[inline(always)]
    fn of_filter(header: &ChunkHeader, slot: usize, id: u8) -> BlockCoding {
        match id {
            id if !is_undone_by_decompression(id) => BlockCoding::Direct,
            filter_id::SHUFFLE => {
                let meta = header.filters_meta[slot];
                match usize::from(if meta == 0 { header.typesize } else { meta }) {
                    0 | 1 => BlockCoding::Direct,
                    unit => BlockCoding::Shuffled { unit },
                }
            }
            // Version 2 uses another variant of bitshuffle, see `version::BLOSC1`.
            filter_id::BITSHUFFLE if header.version != version::BLOSC1 => BlockCoding::Bitshuffled,
            _ => BlockCoding::General,
        }
    }
}

/// Returns whether decompression undoes the filter: truncated bits are lost.
#[inline(always)]
fn is_undone_by_decompression(id: u8) -> bool {
    let is_int_trunc = cfg!(feature = "plugin-filters") && i32::from(id) == BLOSC_FILTER_INT_TRUNC;
    !is_int_trunc && !matches!(id, filter_id::NONE | filter_id::TRUNC_PREC)
}

/// Returns whether the chunk may come from a Blosc 1 release without DONT_SPLIT: a block that fails as several streams
/// is then decoded as one. The reference cannot read these chunks (`chunk.md` 1.15).
pub(crate) fn may_predate_dont_split(header: &ChunkHeader) -> bool {
    header.is_blosc1() && header.is_split()
}

#[cfg(test)]
mod tests {
    use super::super::format::flag;
    use super::*;

    const LZ4: u8 = 1 << flag::FORMAT_SHIFT;

    fn header(filters: [u8; MAX_FILTERS], filters_meta: [u8; MAX_FILTERS]) -> ChunkHeader {
        ChunkHeader {
            version: version::STABLE,
            flags: flag::EXTENDED | flag::DONT_SPLIT | LZ4,
            typesize: 4,
            nbytes: 4000,
            blocksize: 400,
            cbytes: 300,
            filters,
            filters_meta,
            ..ChunkHeader::default()
        }
    }

    #[test]
    fn one_filter_in_any_slot_is_recognised() {
        let none = [0; MAX_FILTERS];
        assert_eq!(BlockCoding::of(&header(none, none)), BlockCoding::Direct);
        for slot in 0..MAX_FILTERS {
            let with = |id: u8, meta: u8| {
                let (mut filters, mut metas) = (none, none);
                (filters[slot], metas[slot]) = (id, meta);
                BlockCoding::of(&header(filters, metas))
            };
            assert_eq!(with(filter_id::SHUFFLE, 0), BlockCoding::Shuffled { unit: 4 });
            assert_eq!(with(filter_id::SHUFFLE, 7), BlockCoding::Shuffled { unit: 7 });
            assert_eq!(with(filter_id::SHUFFLE, 1), BlockCoding::Direct);
            assert_eq!(with(filter_id::BITSHUFFLE, 0), BlockCoding::Bitshuffled);
            assert_eq!(with(filter_id::TRUNC_PREC, 10), BlockCoding::Direct);
            assert_eq!(with(BLOSC_FILTER_INT_TRUNC as u8, 10), BlockCoding::Direct);
            assert_eq!(with(filter_id::DELTA, 0), BlockCoding::General);
            assert_eq!(with(200, 0), BlockCoding::General);
        }
        for filters in [[1, 0, 0, 0, 0, 1], [0, 0, 0, 0, 3, 1], [2, 1, 0, 0, 0, 0]] {
            assert_eq!(BlockCoding::of(&header(filters, none)), BlockCoding::General);
        }
    }

    #[test]
    fn truncation_needs_no_decoding() {
        let coding = |filters| BlockCoding::of(&header(filters, [0; MAX_FILTERS]));
        let (trunc, int_trunc) = (filter_id::TRUNC_PREC, BLOSC_FILTER_INT_TRUNC as u8);
        assert_eq!(coding([trunc, 0, trunc, 0, 0, 0]), BlockCoding::Direct);
        assert_eq!(coding([0, 0, 0, 0, int_trunc, trunc]), BlockCoding::Direct);
        assert_eq!(coding([trunc, 0, 0, 0, 0, filter_id::SHUFFLE]), BlockCoding::Shuffled { unit: 4 });
        assert_eq!(coding([0, filter_id::BITSHUFFLE, 0, 0, 0, int_trunc]), BlockCoding::Bitshuffled);
        assert_eq!(coding([trunc, 0, 0, 0, filter_id::DELTA, 0]), BlockCoding::General);
    }

    #[test]
    fn version_2_has_another_bitshuffle() {
        let filters = [0, 0, 0, 0, 0, filter_id::BITSHUFFLE];
        let version2 = ChunkHeader { version: version::BLOSC1, ..header(filters, [0; MAX_FILTERS]) };
        assert_eq!(BlockCoding::of(&version2), BlockCoding::General);
        let shuffled = header([0, 0, 0, 0, 0, filter_id::SHUFFLE], [0; MAX_FILTERS]);
        let unmarked = ChunkHeader { version: version::BLOSC1, flags: LZ4, ..shuffled };
        assert!(may_predate_dont_split(&unmarked));
        assert_eq!(BlockCoding::of(&unmarked), BlockCoding::Shuffled { unit: 4 });
    }
}
