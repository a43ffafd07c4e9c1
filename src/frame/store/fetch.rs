//! Reading the chunks of a frame: whole, or in their lazy form (`frame.md` 4.6).

use super::block_source::read_checked;
use super::disk_frame::{DiskFrame, to_block_error};
use super::lazy_form::{LazyForm, StoredPlace};
use super::load::{FrameContents, ReadFrame};
use super::memory::MemoryFrame;
use crate::buffers::{self, Buffer};
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, MIN_HEADER_LENGTH, offset};
use crate::chunk::lazy::{BlockSource, ChunkLocation, LazyChunk};
use crate::chunk::{ChunkHeader, ParsedChunk, SpecialValue, read_i32};
use crate::err;
use crate::error::{ErrorKind, Result};
use crate::frame::format::chunk_checksums::Checksums;
use crate::frame::format::chunk_info::{ChunkInfo, build_special_chunk};
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::{IndexEntry, Offsets, decode_entry};
use crate::frame::format::units::UnitChecks;
use crate::io::{BorrowedBytes, IoStream, ReadHandle};
use crate::malloc::MallocBytes;
use crate::trace;
use parking_lot::{MappedRwLockReadGuard, RwLockReadGuard};
use std::mem;
use std::ops::Deref;
use std::sync::Arc;

/// Upper limit, in bytes, for the first read of a lazy chunk: header and block starts of most chunks are shorter.
const MAX_LAZY_FIRST_READ: usize = 4 << 10;

/// The number of chunks that are tried when the first chunk of a frame cannot be read. A process that is killed
/// leaves one damaged chunk file; opening a directory without most of its files must not try them all.
const MAX_FLAG_PROBES: usize = 16;

/// The lifetime of a fetched chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FetchMode {
    /// The chunk is read during the call only; it may lie in a pool buffer.
    Borrow,
    /// The chunk is kept after the call.
    Keep,
}

pub(crate) enum ChunkBytes<'a> {
    /// Bytes of the super-chunk or of the frame in memory.
    Borrowed(&'a [u8]),
    /// Bytes in the memory of the back-end.
    Lent(BorrowedBytes<'a>),
    /// The first bytes of a buffer of the pool.
    Pooled(Buffer, usize),
    Owned(MallocBytes),
    /// A special chunk, built from an entry of the index.
    Special([u8; EXTENDED_HEADER_LENGTH]),
}

impl Deref for ChunkBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            ChunkBytes::Borrowed(bytes) => bytes,
            ChunkBytes::Lent(bytes) => bytes,
            ChunkBytes::Pooled(buffer, len) => &buffer[..*len],
            ChunkBytes::Owned(bytes) => bytes,
            ChunkBytes::Special(bytes) => bytes,
        }
    }
}

impl ChunkBytes<'_> {
    /// Returns the chunk in memory that it owns.
    pub(crate) fn into_owned(self) -> Result<MallocBytes> {
        match self {
            ChunkBytes::Owned(bytes) => Ok(bytes),
            chunk => MallocBytes::copy_of(&chunk),
        }
    }
}

/// A whole chunk, or its lazy form.
pub(crate) enum FetchedChunk<'a> {
    Whole(ChunkBytes<'a>),
    /// The lazy form, and the source of its blocks.
    Lazy(LazyChunk, ChunkSource<'a>),
}

impl FetchedChunk<'_> {
    /// Returns whether the chunk or its blocks are read from a file.
    pub(crate) fn is_from_file(&self) -> bool {
        matches!(
            self,
            FetchedChunk::Lazy(..) | FetchedChunk::Whole(ChunkBytes::Pooled(..) | ChunkBytes::Owned(_))
        )
    }

    /// Parses the header of the chunk into `header`, unless its lazy form has it.
    #[inline(always)]
    pub(crate) fn parse<'c>(&'c self, header: &'c mut ChunkHeader) -> Result<ParsedChunk<'c>> {
        match self {
            FetchedChunk::Whole(chunk) => ParsedChunk::parse(header, chunk),
            FetchedChunk::Lazy(chunk, source) => Ok(ParsedChunk::lazy(chunk, source)),
        }
    }

    /// Returns the chunk in memory that it owns, and is empty then; a lazy chunk in its serialised form.
    pub(crate) fn take_owned(&mut self) -> Result<MallocBytes> {
        match self {
            FetchedChunk::Whole(chunk) => mem::replace(chunk, ChunkBytes::Borrowed(&[])).into_owned(),
            FetchedChunk::Lazy(chunk, _) => {
                let mut bytes = MallocBytes::zeroed(chunk.serialized_len())?;
                chunk.serialize(&mut bytes);
                Ok(bytes)
            }
        }
    }
}

/// A chunk of a frame, and the memory or the open file that has its bytes.
pub(crate) struct StoredChunk<'a> {
    header: &'a FrameHeader,
    nchunk: usize,
    place: ChunkPlace<'a>,
}

enum ChunkPlace<'a> {
    /// Its index entry.
    Index {
        special: SpecialValue,
        is_last: bool,
    },
    /// The frame in memory, with its bytes, which have the chunk at `offset` in the data section.
    Memory {
        frame: &'a MemoryFrame,
        bytes: MappedRwLockReadGuard<'a, [u8]>,
        offset: u64,
    },
    Disk(&'a DiskFrame, DiskPlace),
}

/// The place of a chunk of a frame on disk.
enum DiskPlace {
    /// Memory, until the transaction is committed that has stored the chunk.
    Unwritten(Arc<Vec<u8>>),
    /// The file of a contiguous frame, with the chunk at byte `start`, which is `offset` in the data section. The chunk
    /// mostly has at most `max_len` bytes: up to the next chunk in the order of the index.
    File { file: ReadHandle, start: u64, offset: u64, max_len: u64 },
    /// The chunk's own file, and its number.
    ChunkFile(IoStream, u64),
}

/// The source of the blocks of a lazy chunk.
pub(crate) struct ChunkSource<'a> {
    frame: &'a DiskFrame,
    /// The header of the frame when its index was read.
    header: &'a FrameHeader,
    /// The file with the chunk. A chunk's own file keeps its content while it is open, also when another handle replaces
    /// the chunk.
    file: &'a IoStream,
    /// Offset of the chunk in the file, in bytes.
    start: u64,
    /// The checks of the units of the chunk, if they are needed.
    units: Option<Arc<UnitChecks>>,
}

impl BlockSource for ChunkSource<'_> {
    fn read(&self, _location: ChunkLocation, position: u64, dest: &mut [u8]) -> Result<()> {
        let done = match self.units.as_deref() {
            None => self.read_from_file(position, dest),
            units => {
                read_checked(units, position, dest, &|position, dest| self.read_from_file(position, dest))
            }
        };
        self.frame.confirm_check(self.header, done)
    }
}

impl ChunkSource<'_> {
    /// Fills `dest` with the bytes that begin `position` bytes into the chunk.
    #[inline(always)]
    fn read_from_file(&self, position: u64, dest: &mut [u8]) -> Result<()> {
        let at = self.start.checked_add(position);
        let overflow = || err!(ReadBuffer, "byte {position} of the chunk at {} overflows", self.start);
        self.file.read_exact_at(at.ok_or_else(overflow)?, dest).map_err(to_block_error)
    }
}

impl MemoryFrame {
    /// Returns chunk `nchunk`, and locks the memory until the result is dropped. The errors are those of
    /// [`Frame::stored_chunk`](super::Frame::stored_chunk).
    #[inline]
    pub(super) fn stored_chunk<'a>(
        &'a self,
        nchunk: usize,
        header: &'a FrameHeader,
    ) -> Result<StoredChunk<'a>> {
        let inner = self.inner.read_recursive();
        let place = match index_entry(&inner.index.offsets, nchunk)? {
            IndexEntry::Special(special) => {
                ChunkPlace::Index { special, is_last: nchunk + 1 == inner.index.offsets.len() }
            }
            IndexEntry::Payload(offset) => {
                let bytes = RwLockReadGuard::map(inner, |inner| inner.bytes.bytes());
                ChunkPlace::Memory { frame: self, bytes, offset }
            }
        };
        Ok(StoredChunk { header, nchunk, place })
    }
}

impl DiskFrame {
    /// As [`Frame::stored_chunk`](super::Frame::stored_chunk).
    #[inline(always)]
    pub(super) fn stored_chunk<'a>(
        &'a self,
        nchunk: usize,
        header: &'a FrameHeader,
    ) -> Result<StoredChunk<'a>> {
        Ok(StoredChunk { header, nchunk, place: self.place_of_chunk(nchunk, header)? })
    }

    fn place_of_chunk<'a>(&'a self, nchunk: usize, header: &FrameHeader) -> Result<ChunkPlace<'a>> {
        let inner = self.inner.read_recursive();
        let offsets = &inner.index.offsets;
        let offset = match index_entry(offsets, nchunk)? {
            IndexEntry::Special(special) => {
                return Ok(ChunkPlace::Index { special, is_last: nchunk + 1 == offsets.len() });
            }
            IndexEntry::Payload(offset) => offset,
        };
        if let Some(chunk) = inner.staging().and_then(|staging| staging.unwritten_chunk(offset)) {
            return Ok(ChunkPlace::Disk(self, DiskPlace::Unwritten(chunk)));
        }
        let next = offsets.get(nchunk + 1).and_then(|code| u64::try_from(code).ok());
        drop(inner);
        if let Some(files) = self.disk.directory() {
            let file = self.explain_error(header, files.open(offset))?;
            return Ok(ChunkPlace::Disk(self, DiskPlace::ChunkFile(file, offset)));
        }
        let start = self.disk.base + check_offset(offset, header)?;
        let end = next.filter(|&next| next > offset).unwrap_or(u64::try_from(header.cbytes).unwrap_or(0));
        let fixed = u64::try_from(header.chunksize).ok().filter(|&size| size > 0);
        let plain = fixed.map_or(u64::MAX, |size| size + EXTENDED_HEADER_LENGTH as u64);
        let max_len = end.saturating_sub(offset).min(plain);
        self.disk.drop_lost_reader();
        let file = self.disk.reader()?;
        Ok(ChunkPlace::Disk(self, DiskPlace::File { file, start, offset, max_len }))
    }

    /// Returns the checksums, if chunk `nchunk` must be checked by them when it is read.
    pub(super) fn unchecked_chunk(&self, nchunk: usize) -> Option<Arc<Checksums>> {
        self.inner.read_recursive().index.unchecked_chunk(nchunk)
    }

    /// Checks chunk `nchunk` before parts of it are read, by reading all of it, unless it was checked before.
    pub(super) fn check_whole_chunk(&self, nchunk: usize, header: &FrameHeader) -> Result<()> {
        if self.unchecked_chunk(nchunk).is_none() {
            return Ok(());
        }
        self.stored_chunk(nchunk, header)?.fetch(FetchMode::Borrow).map(drop)
    }

    /// As [`first_chunk_flags2`].
    pub(super) fn first_chunk_flags2(&self, contents: &FrameContents) -> Result<u8> {
        first_chunk_flags2(contents, |nchunk| self.stored_chunk(nchunk, &contents.header))
    }
}

/// Returns the index entry of chunk `nchunk`.
///
/// # Errors
/// `InvalidParam` for a chunk that does not exist, `Data` for an invalid entry.
#[inline]
pub(super) fn index_entry(offsets: &Offsets, nchunk: usize) -> Result<IndexEntry> {
    let nchunks = offsets.len();
    let code = offsets.get(nchunk);
    decode_entry(code.ok_or_else(|| err!(InvalidParam, "no chunk {nchunk} in a frame of {nchunks} chunks"))?)
}

/// Checks an offset in the data section, and returns the offset in the frame, both in bytes.
fn check_offset(offset: u64, header: &FrameHeader) -> Result<u64> {
    let header_len = header.header_len as u64;
    let last = u64::try_from(header.cbytes).ok().and_then(|c| c.checked_sub(EXTENDED_HEADER_LENGTH as u64));
    let at = header_len.checked_add(offset);
    match (last, at) {
        (Some(last), Some(at)) if offset <= last && at + 32 <= header.frame_len => Ok(at),
        _ => Err(err!(
            InvalidHeader,
            "the chunk at offset {offset} is outside the data section of {} bytes",
            header.cbytes
        )),
    }
}

/// Returns the second flags of the first chunk, which tell whether the chunks have blocks of variable length; 0 for
/// a frame without chunks. If the first chunk is damaged, as its file is when a process is killed while it writes it,
/// the flags of the first readable chunk are returned: all chunks of a super-chunk agree in that property. `stored`
/// returns a chunk of the frame.
///
/// # Errors
/// Those of reading the first chunk, if no other chunk can be read; `MemoryAlloc`.
pub(super) fn first_chunk_flags2<'a>(
    contents: &FrameContents,
    stored: impl Fn(usize) -> Result<StoredChunk<'a>>,
) -> Result<u8> {
    if contents.nchunks == 0 {
        return Ok(0);
    }
    if contents.is_checked {
        // A damaged chunk must not prevent reading the other chunks.
        return Ok(contents.header.flags2);
    }
    let flags2 = |nchunk| stored(nchunk).and_then(|chunk| chunk.flags2());
    match flags2(0) {
        Err(error) if error.kind() != ErrorKind::MemoryAlloc => {
            trace::warning(|| format!("the first chunk of a frame cannot be read: {error}"));
            let mut others = 1..contents.nchunks.min(1 + MAX_FLAG_PROBES);
            match others.find_map(|nchunk| flags2(nchunk).ok()) {
                Some(flags) => Ok(flags),
                // The only chunk is damaged, so that no later chunk can disagree with it.
                None if contents.nchunks == 1 && error.kind() != ErrorKind::FileOpen => Ok(0),
                // More than one file is unreadable: perhaps the process may not open more files.
                None => Err(error),
            }
        }
        flags => flags,
    }
}

impl StoredChunk<'_> {
    /// Returns whether the chunk must be checked by the frame's checksums when it is read.
    fn needs_check(&self) -> bool {
        match &self.place {
            ChunkPlace::Index { .. } => false,
            ChunkPlace::Memory { frame, .. } => frame.unchecked_chunk(self.nchunk).is_some(),
            ChunkPlace::Disk(frame, _) => frame.unchecked_chunk(self.nchunk).is_some(),
        }
    }

    /// Returns whether the chunk is in memory already, because its file is mapped, and needs no check.
    pub(crate) fn is_lent(&self) -> bool {
        matches!(&self.place, ChunkPlace::Disk(frame, _) if frame.is_mapped()) && !self.needs_check()
    }

    /// Fills `dest` with the bytes that begin `position` bytes into a chunk on disk, without a check.
    ///
    /// # Errors
    /// Those of the back-end; `ReadBuffer` for a chunk without bytes there.
    pub(super) fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<()> {
        match &self.place {
            ChunkPlace::Disk(_, DiskPlace::File { file, start, .. }) => {
                file.read_exact_at(start.saturating_add(position), dest)
            }
            ChunkPlace::Disk(_, DiskPlace::ChunkFile(file, _)) => file.read_exact_at(position, dest),
            _ => Err(err!(ReadBuffer, "chunk {} has no bytes on disk", self.nchunk)),
        }
    }

    fn flags2(&self) -> Result<u8> {
        match self.fetch_lazily() {
            Ok(FetchedChunk::Lazy(chunk, _)) => Ok(chunk.header().blosc2_flags2),
            Ok(FetchedChunk::Whole(chunk)) => Ok(ChunkInfo::parse(&chunk)?.flags2),
            // Chunks of Blosc 1 and empty chunks have no lazy form.
            Err(_) => Ok(ChunkInfo::parse(&self.fetch(FetchMode::Borrow)?)?.flags2),
        }
    }

    /// Returns the fields of the header of the chunk that super-chunks use.
    pub(super) fn info(&self) -> Result<ChunkInfo> {
        let header = self.header;
        let checked_head = |frame: &dyn ReadFrame, offset: u64| {
            let mut head = [0; EXTENDED_HEADER_LENGTH];
            frame.read_at(check_offset(offset, header)?, &mut head)?;
            stored_cbytes(&head, u64::try_from(header.cbytes).unwrap_or(0) - offset)?;
            ChunkInfo::parse(&head)
        };
        // The length is compared first: a chunk that does not fit into its place has no bytes to check.
        let info = match &self.place {
            ChunkPlace::Index { special, is_last } => {
                return ChunkInfo::parse(&build_special_chunk(*special, *is_last, header)?);
            }
            ChunkPlace::Disk(_, DiskPlace::Unwritten(chunk)) => return ChunkInfo::parse(chunk),
            ChunkPlace::Disk(_, DiskPlace::ChunkFile(file, _)) => chunk_file_info(file)?,
            ChunkPlace::Memory { bytes, offset, .. } => checked_head(&&**bytes, *offset)?,
            ChunkPlace::Disk(frame, DiskPlace::File { offset, .. }) => checked_head(*frame, *offset)?,
        };
        if self.needs_check() {
            match self.fetch_lazily() {
                // A chunk without a lazy form; its bytes were checked.
                Err(error) if error.kind() == ErrorKind::InvalidHeader => {}
                checked => drop(checked?),
            }
        }
        Ok(info)
    }

    pub(crate) fn fetch(&self, mode: FetchMode) -> Result<ChunkBytes<'_>> {
        let StoredChunk { header, nchunk, ref place } = *self;
        let (frame, place) = match *place {
            ChunkPlace::Index { special, is_last } => {
                return Ok(ChunkBytes::Special(build_special_chunk(special, is_last, header)?));
            }
            ChunkPlace::Memory { frame, ref bytes, offset } => {
                let chunk = chunk_in_frame_memory(bytes, check_offset(offset, header)?, offset, header)?;
                frame.check_chunk(nchunk, chunk, offset)?;
                return Ok(ChunkBytes::Borrowed(chunk));
            }
            ChunkPlace::Disk(frame, ref place) => (frame, place),
        };
        let check = |bytes: &[u8], offset: u64| frame.check_chunk(nchunk, bytes, offset, header);
        match *place {
            DiskPlace::Unwritten(ref chunk) => Ok(ChunkBytes::Borrowed(chunk)),
            DiskPlace::ChunkFile(ref file, number) => {
                let len = frame.explain_error(header, chunk_file_len(file))?;
                if let Some(bytes) = file.borrow_at(0, len)? {
                    check_chunk_file_len(&bytes)?;
                    check(stored_part(&bytes), number)?;
                    return Ok(ChunkBytes::Lent(bytes));
                }
                let mut buffer = ReadBuffer::new(mode, len)?;
                let read = file.read_exact_at(0, buffer.bytes());
                frame.explain_error(header, read.and_then(|()| check_chunk_file_len(buffer.bytes())))?;
                check(stored_part(buffer.bytes()), number)?;
                Ok(buffer.into_chunk(len))
            }
            DiskPlace::File { ref file, start, offset, max_len } => {
                let limit = u64::try_from(header.cbytes).unwrap_or(0) - offset;
                if let Some(head) = file.borrow_at(start, EXTENDED_HEADER_LENGTH)? {
                    let bytes = file.borrow_at(start, stored_cbytes(&head, limit)?)?;
                    let missing = || err!(FileRead, "the back-end lends the chunk header, but not the chunk");
                    let bytes = bytes.ok_or_else(missing)?;
                    check(&bytes, offset)?;
                    return Ok(ChunkBytes::Lent(bytes));
                }
                // Usually the chunk ends where the next chunk begins: then one read is enough.
                let guess = max_len.max(EXTENDED_HEADER_LENGTH as u64) as usize;
                let read = read_stored_chunk(file, start, limit, guess, mode);
                let (mut buffer, cbytes) = frame.explain_error(header, read)?;
                check(&buffer.bytes()[..cbytes], offset)?;
                Ok(buffer.into_chunk(cbytes))
            }
        }
    }

    /// Returns the chunk in its lazy form if the frame is on disk; whole if the chunk has no blocks or the frame is in
    /// memory.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch); `InvalidHeader` for a chunk that has no lazy form.
    pub(crate) fn fetch_lazily(&self) -> Result<FetchedChunk<'_>> {
        let StoredChunk { header, nchunk, ref place } = *self;
        let (frame, file, place, guess) = match *place {
            ChunkPlace::Index { .. } | ChunkPlace::Disk(_, DiskPlace::Unwritten(_)) => {
                return self.fetch(FetchMode::Borrow).map(FetchedChunk::Whole);
            }
            ChunkPlace::Memory { frame, ref bytes, offset } => {
                if frame.unchecked_chunk(nchunk).is_some() {
                    self.fetch(FetchMode::Borrow)?;
                }
                let chunk = lazy_chunk_in_frame_memory(bytes, check_offset(offset, header)?)?;
                return Ok(FetchedChunk::Whole(ChunkBytes::Borrowed(chunk)));
            }
            ChunkPlace::Disk(frame, DiskPlace::ChunkFile(ref file, number)) => {
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                let location = ChunkLocation { nchunk: number as i32, offset: number };
                (frame, file, StoredPlace { nchunk, at: 0, limit: None, location }, MAX_LAZY_FIRST_READ)
            }
            ChunkPlace::Disk(frame, DiskPlace::File { ref file, start, offset, max_len }) => {
                let location = ChunkLocation {
                    nchunk: i32::try_from(nchunk).unwrap_or(i32::MAX),
                    offset: i64::try_from(header.header_len as u64 + offset).unwrap_or(i64::MAX),
                };
                let limit = u64::try_from(header.cbytes).unwrap_or(0).saturating_sub(offset);
                let place = StoredPlace { nchunk, at: start, limit: Some(limit), location };
                (frame, &**file, place, max_len.min(MAX_LAZY_FIRST_READ as u64) as usize)
            }
        };
        let read = frame.read_lazy_form(file, &place, guess, header);
        let (chunk, units) = frame.confirm_check(header, read)?;
        Ok(match chunk {
            LazyForm::Whole(chunk) => FetchedChunk::Whole(ChunkBytes::Owned(chunk)),
            LazyForm::Lazy(chunk) => {
                FetchedChunk::Lazy(chunk, ChunkSource { frame, header, file, start: place.at, units })
            }
        })
    }
}

/// Returns the length of a chunk file in bytes.
fn chunk_file_len(file: &IoStream) -> Result<usize> {
    let len = usize::try_from(file.size()?).unwrap_or(0);
    if len < MIN_HEADER_LENGTH {
        return Err(err!(FileRead, "the chunk file has {len} bytes, expected {MIN_HEADER_LENGTH} or more"));
    }
    Ok(len)
}

fn chunk_file_info(file: &IoStream) -> Result<ChunkInfo> {
    let mut head = [0; EXTENDED_HEADER_LENGTH];
    let got = file.read_at(0, &mut head)?;
    let info = ChunkInfo::parse(&head[..got])?;
    let size = file.size()?;
    if info.cbytes as u64 > size {
        return Err(err!(InvalidHeader, "the chunk file has {size} bytes, expected {}", info.cbytes));
    }
    Ok(info)
}

/// The memory that a chunk is read into.
enum ReadBuffer {
    /// A buffer of the pool, and the number of its bytes that are used.
    Pooled(Buffer, usize),
    /// Memory that the chunk owns.
    Owned(MallocBytes),
}

impl ReadBuffer {
    /// Allocates memory for `len` bytes.
    fn new(mode: FetchMode, len: usize) -> Result<ReadBuffer> {
        // Zeroed pages are mapped at the first touch, so a size claimed by a damaged frame costs no memory.
        Ok(match mode {
            FetchMode::Keep => ReadBuffer::Owned(MallocBytes::zeroed(len)?),
            FetchMode::Borrow => ReadBuffer::Pooled(buffers::take_buffer(len)?, len),
        })
    }

    fn bytes(&mut self) -> &mut [u8] {
        match self {
            ReadBuffer::Pooled(buffer, len) => &mut buffer[..*len],
            ReadBuffer::Owned(block) => block,
        }
    }

    /// Returns the first `len` bytes as a chunk.
    fn into_chunk(self, len: usize) -> ChunkBytes<'static> {
        match self {
            ReadBuffer::Owned(mut block) => {
                block.shorten(len);
                ChunkBytes::Owned(block)
            }
            ReadBuffer::Pooled(buffer, _) => ChunkBytes::Pooled(buffer, len),
        }
    }
}

/// Reads the chunk at byte `at` of a stream, which has at most `limit` bytes. The first read has `guess` bytes. Returns
/// the chunk and its length.
fn read_stored_chunk(
    stream: &IoStream,
    at: u64,
    limit: u64,
    guess: usize,
    mode: FetchMode,
) -> Result<(ReadBuffer, usize)> {
    let mut buffer = ReadBuffer::new(mode, guess)?;
    let got = stream.read_at_least(at, buffer.bytes(), EXTENDED_HEADER_LENGTH)?;
    if got < EXTENDED_HEADER_LENGTH {
        return Err(err!(FileRead, "read {got} bytes of a chunk header, expected {EXTENDED_HEADER_LENGTH}"));
    }
    let cbytes = stored_cbytes(buffer.bytes(), limit)?;
    if cbytes > got {
        buffer = ReadBuffer::new(mode, cbytes)?;
        stream.read_exact_at(at, buffer.bytes())?;
    }
    Ok((buffer, cbytes))
}

/// Returns the chunk at the start of a chunk file, without bytes behind it.
pub(in crate::frame) fn stored_part(file: &[u8]) -> &[u8] {
    let cbytes = read_i32(file, offset::CBYTES).and_then(|cbytes| usize::try_from(cbytes).ok());
    cbytes.and_then(|cbytes| file.get(..cbytes)).unwrap_or(file)
}

/// Checks that a chunk file contains the whole chunk.
pub(in crate::frame) fn check_chunk_file_len(file: &[u8]) -> Result<()> {
    let cbytes = read_i32(file, offset::CBYTES).unwrap_or(0);
    if usize::try_from(cbytes).is_ok_and(|cbytes| cbytes > file.len()) {
        return Err(err!(FileRead, "the chunk file has {} bytes, expected {cbytes}", file.len()));
    }
    Ok(())
}

/// Returns the chunk that begins at byte `at` of a frame in memory, which is byte `offset` of its data section.
fn chunk_in_frame_memory<'f>(
    frame: &'f [u8],
    at: u64,
    offset: u64,
    header: &FrameHeader,
) -> Result<&'f [u8]> {
    let rest = usize::try_from(at).ok().and_then(|at| frame.get(at..));
    let rest = rest.ok_or_else(|| {
        err!(InvalidHeader, "the chunk at offset {at} is outside the frame of {} bytes", frame.len())
    })?;
    let limit = u64::try_from(header.cbytes).unwrap_or(0) - offset;
    let cbytes = stored_cbytes(rest, limit)?;
    rest.get(..cbytes).ok_or_else(|| {
        err!(InvalidHeader, "the chunk at offset {at} has {cbytes} bytes, expected at most {}", rest.len())
    })
}

/// As [`chunk_in_frame_memory`], with the checks and error codes of lazy chunks.
fn lazy_chunk_in_frame_memory(frame: &[u8], at: u64) -> Result<&[u8]> {
    let rest = usize::try_from(at).ok().and_then(|at| frame.get(at..)).unwrap_or_default();
    let header = ChunkHeader::parse_basic(rest)
        .map_err(|error| err!(ReadBuffer, "invalid chunk header at offset {at}: {error}"))?;
    let cbytes = usize::try_from(header.cbytes).unwrap_or(0);
    match rest.get(..cbytes) {
        Some(chunk) if cbytes >= EXTENDED_HEADER_LENGTH => Ok(chunk),
        _ => Err(err!(
            ReadBuffer,
            "the chunk at offset {at} has {cbytes} bytes, expected {EXTENDED_HEADER_LENGTH} to {}",
            rest.len()
        )),
    }
}

/// Returns the length in bytes that the header of a chunk gives, checked: at least the length of the header, at most
/// `limit`, the rest of the data section.
pub(in crate::frame) fn stored_cbytes(chunk: &[u8], limit: u64) -> Result<usize> {
    let cbytes = read_i32(chunk, offset::CBYTES).unwrap_or(0);
    match usize::try_from(cbytes) {
        Ok(len) if len >= EXTENDED_HEADER_LENGTH && len as u64 <= limit => Ok(len),
        _ => Err(err!(
            InvalidHeader,
            "the chunk has {cbytes} bytes, expected {EXTENDED_HEADER_LENGTH} to {limit}"
        )),
    }
}
