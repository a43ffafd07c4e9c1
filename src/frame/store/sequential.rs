//! Contiguous frames that are written from the start to the end, and frames that are read from any stream of bytes:
//! without files, locks and changes (`frame.md` 2).
//!
//! Data flow of a writer: header without chunks -> chunks, as they come ([`FrameBuilder::push`]) -> index and trailer,
//! and the final header ([`FrameBuilder::finish`]). Of a reader: header -> trailer and index ([`FrameDirectory::read`]) ->
//! the place of a chunk ([`FrameDirectory::chunk_place`]).

#![forbid(unsafe_code)]

use super::load::{self, ReadFrame};
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::chunk_info::{ChunkInfo, build_special_chunk};
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader};
use crate::frame::format::index::{IndexEncoder, IndexEntry, Offsets, decode_entry, encode_entry};
use crate::frame::format::metalayers::{self, OwnedMetalayer, borrow};
use crate::frame::format::trailer;

/// The parts of a frame around chunks that are written one after the other. All chunks have the size of the first one,
/// except that the last one may be shorter.
pub(crate) struct FrameBuilder {
    /// The header of the chunks so far.
    header: FrameHeader,
    metalayers: Vec<OwnedMetalayer>,
    offsets: Offsets,
    /// Whether the last chunk is shorter than the others, so that it must be the last.
    is_last_short: bool,
}

impl FrameBuilder {
    /// Returns a builder for a frame with the parameters of `header`, whose lengths and counters are ignored.
    ///
    /// # Errors
    /// `InvalidParam` for metalayers that do not fit into a header.
    pub(crate) fn new(header: FrameHeader, metalayers: Vec<OwnedMetalayer>) -> Result<FrameBuilder> {
        let header_len = FIXED_HEADER_LEN + metalayers::section_len(&borrow(&metalayers)?)?;
        let header = FrameHeader {
            header_len,
            kind: FrameKind::Contiguous,
            nbytes: 0,
            cbytes: 0,
            chunksize: -1,
            gap: None,
            has_checksums: false,
            has_vlmetalayers: false,
            ..header
        };
        Ok(FrameBuilder { header, metalayers, offsets: Offsets::default(), is_last_short: false })
    }

    /// Returns the header of the chunks so far. Its length does not change; [`finish`](Self::finish) returns the final
    /// one.
    pub(crate) fn header(&self) -> Result<Vec<u8>> {
        self.header.build(&borrow(&self.metalayers)?)
    }

    /// Adds a chunk. Returns the bytes to write behind those of the chunks before, or nothing for a special chunk, of
    /// which the index has all.
    pub(crate) fn push<'c>(&mut self, chunk: &'c [u8]) -> Result<&'c [u8]> {
        let info = ChunkInfo::parse(chunk)?;
        let len = usize::try_from(info.cbytes).unwrap_or(0);
        let Some(bytes) = chunk.get(..len).filter(|bytes| bytes.len() >= EXTENDED_HEADER_LENGTH) else {
            let expected = len.max(EXTENDED_HEADER_LENGTH);
            return Err(err!(InvalidHeader, "the chunk has {} bytes, expected {expected}", chunk.len()));
        };
        self.check_size(&info)?;
        let is_whole = info.nbytes.checked_rem(self.header.typesize) == Some(0);
        let entry = match info.special {
            Some(_) if !is_whole => {
                let typesize = self.header.typesize;
                return Err(err!(
                    ChunkAppend,
                    "a special chunk has {} bytes, expected items of {typesize} bytes",
                    info.nbytes
                ));
            }
            Some(special) => IndexEntry::Special(special),
            None => IndexEntry::Payload(self.header.cbytes.unsigned_abs()),
        };
        self.offsets.insert(self.offsets.len(), encode_entry(entry))?;
        let first = self.offsets.len() == 1;
        if first {
            self.header.chunksize = info.nbytes;
            self.header.blocksize = info.blocksize;
            self.header.flags2 = info.flags2;
        }
        self.is_last_short = info.nbytes < self.header.chunksize;
        self.header.nbytes += i64::from(info.nbytes);
        if matches!(entry, IndexEntry::Special(_)) {
            return Ok(&[]);
        }
        self.header.cbytes += i64::from(info.cbytes);
        Ok(bytes)
    }

    fn check_size(&self, info: &ChunkInfo) -> Result<()> {
        let nbytes = info.nbytes;
        let size = self.header.chunksize;
        let fits = match self.offsets.len() {
            0 => nbytes > 0,
            _ => nbytes > 0 && nbytes <= size && !self.is_last_short,
        };
        if !fits {
            let last = if self.is_last_short { ", of which the last is shorter" } else { "" };
            return Err(err!(ChunkAppend, "a chunk of {nbytes} bytes behind chunks of {size} bytes{last}"));
        }
        if self.offsets.len() > 0 && info.flags2 != self.header.flags2 {
            return Err(err!(ChunkAppend, "a chunk with blocks of another kind than those before"));
        }
        ensure!(!info.is_lazy, ChunkAppend, "the chunk is lazy: its blocks are in another frame");
        Ok(())
    }

    pub(crate) fn nchunks(&self) -> usize {
        self.offsets.len()
    }

    /// Returns the header, and the bytes behind the chunks: the index and the trailer. `vlmetalayers` are compressed.
    ///
    /// # Errors
    /// `Failure`, `InvalidParam` for metalayers that do not fit into a trailer; `MemoryAlloc`.
    pub(crate) fn finish(mut self, vlmetalayers: &[OwnedMetalayer]) -> Result<(Vec<u8>, Vec<u8>)> {
        let count = self.offsets.len();
        let mut tail = match count {
            0 => Vec::new(),
            _ => IndexEncoder::default().encode(&self.offsets, 0, count)?,
        };
        fallible::extend(&mut tail, &trailer::build(&borrow(vlmetalayers)?)?)?;
        self.header.has_vlmetalayers = !vlmetalayers.is_empty();
        let data_end = self.header.header_len as u64 + self.header.cbytes.unsigned_abs();
        self.header.frame_len = data_end + tail.len() as u64;
        Ok((self.header()?, tail))
    }
}

pub(crate) enum PlaceInFrame {
    /// Its offset in the frame in bytes.
    At(u64),
    /// The bytes of a special chunk.
    Special([u8; EXTENDED_HEADER_LENGTH]),
}

/// What a contiguous frame holds besides its chunks.
pub(crate) struct FrameDirectory {
    pub header: FrameHeader,
    pub metalayers: Vec<OwnedMetalayer>,
    /// The metalayers of variable length, compressed.
    pub vlmetalayers: Vec<OwnedMetalayer>,
    offsets: Offsets,
}

impl FrameDirectory {
    /// Reads header, trailer and index of a contiguous frame.
    ///
    /// # Errors
    /// Those of opening a frame from a file (`frame.md` 4.1, 4.4 and 4.5), and of reading.
    pub(crate) fn read(frame: &impl ReadFrame) -> Result<FrameDirectory> {
        let mut fixed = [0; FIXED_HEADER_LEN];
        frame.read_at(0, &mut fixed)?;
        let header = FrameHeader::parse(&fixed, FrameKind::Contiguous)?;
        header.check_for_opening(&fixed)?;
        load::check_file_len(&header)?;
        let trailer_len = load::read_trailer_len(frame, header.frame_len)?;
        let trailer_at = load::trailer_offset(&header, trailer_len)?;
        let image = frame.read_vec_at(0, header.header_len as u64)?;
        let metalayers = metalayers::to_owned(metalayers::parse_header_section(&image)?)?;
        let image = frame.read_vec_at(trailer_at, trailer_len)?;
        let vlmetalayers = metalayers::to_owned(metalayers::parse_trailer_section(&image)?)?;
        let offsets = if header.nbytes > 0 {
            let (_, offsets) = load::read_index(frame, &header, header.frame_len - trailer_len)?;
            load::check_offsets(&header, &offsets)?;
            offsets
        } else {
            Offsets::default()
        };
        Ok(FrameDirectory { header, metalayers, vlmetalayers, offsets })
    }

    pub(crate) fn nchunks(&self) -> usize {
        self.offsets.len()
    }

    /// Returns the place of chunk `nchunk`.
    ///
    /// # Errors
    /// `InvalidParam` for a number out of range; `Data`, `InvalidHeader` for a damaged index.
    pub(crate) fn chunk_place(&self, nchunk: usize) -> Result<PlaceInFrame> {
        let count = self.nchunks();
        let code = self.offsets.get(nchunk).ok_or_else(|| err!(InvalidParam, "chunk {nchunk} of {count}"))?;
        match decode_entry(code)? {
            IndexEntry::Payload(offset) => Ok(PlaceInFrame::At(self.header.header_len as u64 + offset)),
            IndexEntry::Special(special) => {
                build_special_chunk(special, nchunk + 1 == count, &self.header).map(PlaceInFrame::Special)
            }
        }
    }
}
