//! Reading and checking the stored chunks of a frame.

use super::files::FrameFiles;
use super::report::DamagePlace;
use super::table::ChunkChecksums;
use crate::chunk::container::B2ND_METALAYER;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::chunk::{BlockShape, ChunkHeader, Container, ParsedChunk, read_i32};
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::Offsets;
use crate::frame::format::metalayers::Metalayer;
use crate::frame::format::units::{UnitChecks, record_len};
use crate::frame::store::fetch::{check_chunk_file_len, stored_cbytes, stored_part};
use crate::pipeline::decompress;
use crate::pipeline::params::DecompressParams;

/// Offset, in a chunk header, of the compressed size.
const CBYTES_OFFSET: usize = crate::chunk::format::offset::CBYTES;

/// The numbers of the chunks that have their bytes at one place.
#[derive(Clone, Copy)]
pub(crate) enum ChunkNumbers<'a> {
    /// These chunks, in ascending order.
    List(&'a [u32]),
    /// All chunks of a frame with that many chunks.
    All(u32),
}

impl ChunkNumbers<'_> {
    /// Returns the numbers in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let (list, all) = match *self {
            ChunkNumbers::List(list) => (list, 0),
            ChunkNumbers::All(count) => (&[][..], count),
        };
        list.iter().copied().chain(0..all).map(u64::from)
    }

    /// Returns the lowest number; there is at least one.
    fn first(&self) -> u32 {
        match self {
            ChunkNumbers::List(list) => list.first().copied().unwrap_or(0),
            ChunkNumbers::All(_) => 0,
        }
    }

    /// Returns how many chunks there are.
    pub(crate) fn len(&self) -> u64 {
        match self {
            ChunkNumbers::List(list) => list.len() as u64,
            ChunkNumbers::All(count) => u64::from(*count),
        }
    }
}

/// A stored chunk, read and checked.
pub(crate) struct CheckedChunk<'a> {
    /// Offset in the data section in bytes, or number of the chunk file.
    pub location: u64,
    /// DamagePlace of its bytes; the length is known if the chunk could be read.
    pub place: DamagePlace,
    pub numbers: ChunkNumbers<'a>,
    /// Its parsed header and its bytes, or why it is damaged.
    pub content: Result<(ChunkHeader, &'a [u8])>,
    /// The uncompressed size, in bytes, that the header of a damaged chunk gives, if it can be parsed.
    pub claimed_nbytes: Option<i32>,
    /// The bytes of a damaged chunk with a record, and the checks of its units.
    pub(in crate::frame) units: Option<(&'a [u8], UnitChecks)>,
}

/// Reads stored chunks, compares their checksums, and decodes them.
pub(crate) struct ChunkChecker<'a> {
    files: &'a FrameFiles,
    header: &'a FrameHeader,
    checksums: &'a ChunkChecksums,
    container: Container,
    nthreads: usize,
    /// Receives the length, in bytes, of each stored chunk that was checked.
    progress: &'a dyn Fn(u64),
}

impl<'a> ChunkChecker<'a> {
    /// Creates a checker of the frame with that header, these metalayers, and these checksums of chunks. `nthreads`
    /// threads, at least 1, decode a chunk.
    pub(crate) fn new(
        files: &'a FrameFiles,
        header: &'a FrameHeader,
        metalayers: &[Metalayer<'_>],
        checksums: &'a ChunkChecksums,
        nthreads: usize,
        progress: &'a dyn Fn(u64),
    ) -> Self {
        let is_array = |metalayer: &&Metalayer<'_>| metalayer.name == B2ND_METALAYER.to_bytes();
        let blockshape = metalayers.iter().find(is_array).and_then(|array| BlockShape::parse(array.content));
        let container = Container { typesize: header.typesize, blockshape };
        ChunkChecker { files, header, checksums, container, nthreads, progress }
    }

    pub(crate) fn file_offset(&self, location: u64) -> u64 {
        match self.header.kind {
            FrameKind::Sparse => 0,
            FrameKind::Contiguous => {
                self.files.file_offset((self.header.header_len as u64).saturating_add(location))
            }
        }
    }

    /// Replaces the content of `buffer` by the bytes of the chunk at `location`.
    ///
    /// # Errors
    /// `InvalidHeader` for a chunk outside the data section, `FileOpen`, `FileRead`, `MemoryAlloc`.
    pub(crate) fn read(&self, location: u64, buffer: &mut Vec<u8>) -> Result<()> {
        if self.header.kind == FrameKind::Sparse {
            self.files.read_chunk_file(location, buffer)?;
            return check_chunk_file_len(buffer);
        }
        let data_len = u64::try_from(self.header.cbytes).unwrap_or(0);
        let at = (self.header.header_len as u64).checked_add(location);
        let last = data_len.checked_sub(EXTENDED_HEADER_LENGTH as u64);
        let (Some(at), Some(_)) = (at, last.filter(|&last| location <= last)) else {
            return Err(err!(
                InvalidHeader,
                "the chunk at offset {location} is outside the data section of {data_len} bytes"
            ));
        };
        ensure!(
            at.saturating_add(EXTENDED_HEADER_LENGTH as u64) <= self.header.frame_len,
            InvalidHeader,
            "the chunk at offset {location} is outside the frame of {} bytes",
            self.header.frame_len,
        );
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        self.files.read_exact(at, &mut head)?;
        let cbytes = stored_cbytes(&head, data_len - location)?;
        self.files.read_into(at, cbytes as u64, buffer)
    }

    /// Checks the bytes of a chunk, and decodes all of it. Returns its header.
    pub(crate) fn check(&self, chunk: &[u8]) -> Result<ChunkHeader> {
        let mut header = ChunkHeader::default();
        let parsed = ParsedChunk::parse(&mut header, chunk)?;
        let params = DecompressParams {
            nthreads: self.nthreads,
            container: Some(&self.container),
            ..DecompressParams::default()
        };
        decompress::check_content(&params, &parsed)?;
        Ok(header)
    }

    /// Checks the bytes of a chunk whose number is not known, as [`check`](Self::check).
    ///
    /// # Errors
    /// As [`check`](Self::check); `Data` for a checksum that no chunk of the frame has.
    pub(crate) fn check_found(&self, chunk: &[u8]) -> Result<ChunkHeader> {
        self.checksums.check_any(chunk)?;
        self.check(chunk)
    }

    /// Reads and checks each stored chunk once, in the order of the places, and passes it to `visit`. A chunk that has
    /// several numbers with different checksums is passed once for each checksum.
    ///
    /// # Errors
    /// Those of `visit`; `MemoryAlloc` for the order of the chunks.
    pub(crate) fn for_each_stored(
        &self,
        offsets: &Offsets,
        visit: &mut dyn FnMut(&CheckedChunk<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut buffer = Vec::new();
        if let Offsets::Uniform { code, len } = offsets
            && self.checksums.is_uniform()
        {
            let count = u32::try_from(*len).unwrap_or(u32::MAX);
            return match u64::try_from(*code) {
                Ok(location) if count > 0 => {
                    self.visit_stored(location, ChunkNumbers::All(count), &mut buffer, visit)
                }
                _ => Ok(()),
            };
        }
        let place = |n: u32| (offsets.get(n as usize).unwrap_or(-1), self.checksums.expected(n));
        let order = stored_in_order(offsets.len(), place)?;
        for same in order.chunk_by(|&a, &b| place(a) == place(b)) {
            let location = place(same[0]).0 as u64;
            self.visit_stored(location, ChunkNumbers::List(same), &mut buffer, visit)?;
        }
        Ok(())
    }

    fn visit_stored(
        &self,
        location: u64,
        numbers: ChunkNumbers<'_>,
        buffer: &mut Vec<u8>,
        visit: &mut dyn FnMut(&CheckedChunk<'_>) -> Result<()>,
    ) -> Result<()> {
        let offset = self.file_offset(location);
        let read = self.read(location, buffer);
        let len = read.is_ok().then_some(buffer.len() as u64);
        let content = read.and_then(|()| {
            self.checksums.check(numbers.first(), stored_part(buffer))?;
            Ok((self.check(buffer)?, &buffer[..]))
        });
        let claimed_nbytes = match (len, &content) {
            (Some(_), Err(_)) => ChunkHeader::parse(buffer).ok().map(|header| header.nbytes),
            _ => None,
        };
        let units = match &content {
            Err(_) if len.is_some() => self.units_of(location, numbers.first(), buffer)?,
            _ => None,
        };
        (self.progress)(len.unwrap_or(0));
        visit(&CheckedChunk {
            location,
            place: DamagePlace::new(offset, len),
            numbers,
            content,
            claimed_nbytes,
            units: units.map(|units| (stored_part(buffer), units)),
        })
    }

    /// Returns the checks of the units of chunk `nchunk`, if it has a record. `stored` are its bytes, and in a directory
    /// those behind it in its file.
    fn units_of(&self, location: u64, nchunk: u32, stored: &[u8]) -> Result<Option<UnitChecks>> {
        let Some(expected) = self.checksums.expected(nchunk) else { return Ok(None) };
        let chunk_len = stored_part(stored).len();
        let mut record = fallible::filled(0, record_len(chunk_len as u64) as usize)?;
        let is_read = match self.header.kind {
            FrameKind::Sparse => {
                let behind = stored.get(chunk_len..chunk_len + record.len());
                behind.map(|behind| record.copy_from_slice(behind)).is_some()
            }
            FrameKind::Contiguous => {
                let at = self.header.header_len as u64 + location + chunk_len as u64;
                self.files.read_exact(at, &mut record).is_ok()
            }
        };
        if is_read { UnitChecks::parse(&record, chunk_len, expected) } else { Ok(None) }
    }
}

/// Returns the numbers below `len` for which `place` gives a location that is not negative, ordered by their places. A
/// place is a location and the checksum of the chunk.
fn stored_in_order(len: usize, place: impl Fn(u32) -> (i64, Option<u32>)) -> Result<Vec<u32>> {
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    let stored = || (0..len).filter(|&n| place(n).0 >= 0);
    let count = stored().count();
    let mut order = fallible::vec_with_capacity(count)?;
    order.extend(stored());
    order.sort_unstable_by_key(|&n| (place(n), n));
    Ok(order)
}

/// Returns the compressed size that a chunk header of 16 bytes or more gives.
pub(crate) fn cbytes_of(chunk: &[u8]) -> u64 {
    read_i32(chunk, CBYTES_OFFSET).and_then(|cbytes| u64::try_from(cbytes).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_chunks_are_visited_by_location() {
        let order = |list: &[i64], checksums: &[u32]| {
            let checksum = |n: u32| checksums.get(n as usize).copied();
            stored_in_order(list.len(), |n| (list[n as usize], checksum(n))).unwrap()
        };
        assert_eq!(order(&[500, -1, 0, 500, 64], &[]), [2, 4, 0, 3]);
        assert_eq!(order(&[500, -1, 0, 500, 64], &[7, 0, 7, 3, 7]), [2, 4, 3, 0]);
        assert!(order(&[-1, -2], &[]).is_empty());
        let numbers = ChunkNumbers::All(3);
        assert_eq!((numbers.iter().collect::<Vec<_>>(), numbers.len()), (vec![0, 1, 2], 3));
        let numbers = ChunkNumbers::List(&[4, 7]);
        assert_eq!((numbers.iter().collect::<Vec<_>>(), numbers.len()), (vec![4, 7], 2));
    }
}
