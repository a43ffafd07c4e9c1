//! Reading the chunks of a frame: whole, or in their lazy form (`frame.md` 4.6).

use super::block_source::{ChunkSource, read_checked};
use super::frame::{Frame, FrameContents};
use crate::buffers::{self, Buffer};
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, MAX_BLOCKSIZE, MIN_HEADER_LENGTH, offset};
use crate::chunk::lazy::{ChunkLocation, LazyChunk};
use crate::chunk::{BlockGeometry, ChunkHeader, SpecialValue, read_i32};
use crate::err;
use crate::error::{Error, ErrorKind, Result};
use crate::fallible;
use crate::frame::format::chunk_info::{ChunkInfo, build_special_chunk, stored_len};
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::{IndexEntry, decode_entry};
use crate::frame::format::units::UnitChecks;
use crate::io::IoStream;
use crate::malloc::MallocBytes;
use crate::trace;
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

/// The bytes of a whole chunk.
pub(crate) enum ChunkBytes<'a> {
    /// The frame's own bytes.
    Borrowed(&'a [u8]),
    /// A copy in a buffer of the pool.
    Pooled(&'a [u8]),
    /// A copy.
    Owned(MallocBytes),
    /// A special chunk, built from an entry of the index.
    Special([u8; EXTENDED_HEADER_LENGTH]),
}

impl Deref for ChunkBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            ChunkBytes::Borrowed(bytes) | ChunkBytes::Pooled(bytes) => bytes,
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
    /// The whole chunk.
    Whole(ChunkBytes<'a>),
    /// The lazy form, and the source of its blocks.
    Lazy(LazyChunk, ChunkSource<'a>),
}

impl FetchedChunk<'_> {
    /// Returns whether the chunk or its blocks are read from a file.
    pub(crate) fn is_from_file(&self) -> bool {
        matches!(
            self,
            FetchedChunk::Lazy(..) | FetchedChunk::Whole(ChunkBytes::Pooled(_) | ChunkBytes::Owned(_))
        )
    }

    /// Returns the chunk in memory that it owns; a lazy chunk in its serialised form.
    pub(crate) fn into_owned(self) -> Result<MallocBytes> {
        match self {
            FetchedChunk::Whole(chunk) => chunk.into_owned(),
            FetchedChunk::Lazy(chunk, _) => {
                let mut bytes = MallocBytes::zeroed(chunk.serialized_len())?;
                chunk.serialize(&mut bytes);
                Ok(bytes)
            }
        }
    }
}

/// The place of a chunk.
enum ChunkPlace {
    /// Its index entry.
    Index { special: SpecialValue, is_last: bool },
    /// Memory, until the transaction is committed that has stored the chunk.
    Memory(Arc<Vec<u8>>),
    /// The data section, at this offset, or the chunk file of this number.
    Data(u64),
}

impl Frame {
    /// Returns the place of a chunk.
    fn place_of_chunk(&self, nchunk: usize) -> Result<ChunkPlace> {
        let inner = self.inner.read_recursive();
        let offsets = &inner.index.offsets;
        let code = offsets.get(nchunk);
        let code =
            code.ok_or_else(|| err!(Data, "no chunk {nchunk} in a frame of {} chunks", offsets.len()))?;
        match decode_entry(code)? {
            IndexEntry::Special(special) => {
                Ok(ChunkPlace::Index { special, is_last: nchunk + 1 == offsets.len() })
            }
            IndexEntry::Payload(offset) => {
                let unwritten = inner.staging.as_ref().and_then(|staging| staging.unwritten_chunk(offset));
                Ok(unwritten.map_or(ChunkPlace::Data(offset), ChunkPlace::Memory))
            }
        }
    }

    /// Returns the maximum size in bytes of the chunk at `offset`: up to the next chunk in the order of the index.
    fn max_chunk_cbytes(&self, nchunk: usize, offset: u64, header: &FrameHeader) -> u64 {
        let next = self.inner.read_recursive().index.offsets.get(nchunk + 1);
        let end = next
            .and_then(|code| u64::try_from(code).ok())
            .filter(|&next| next > offset)
            .unwrap_or(u64::try_from(header.cbytes).unwrap_or(0));
        let fixed = u64::try_from(header.chunksize).ok().filter(|&size| size > 0);
        let plain = fixed.map_or(u64::MAX, |size| size + EXTENDED_HEADER_LENGTH as u64);
        end.saturating_sub(offset).min(plain)
    }

    /// Checks an offset in the data section, and returns the offset in the frame, both in bytes.
    fn check_offset(&self, offset: u64, header: &FrameHeader) -> Result<u64> {
        let header_len = header.header_len as u64;
        let last =
            u64::try_from(header.cbytes).ok().and_then(|c| c.checked_sub(EXTENDED_HEADER_LENGTH as u64));
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
    /// the flags of the first readable chunk are returned: all chunks of a super-chunk agree in that property.
    ///
    /// # Errors
    /// Those of reading the first chunk, if no other chunk can be read; `MemoryAlloc`.
    pub(crate) fn first_chunk_flags2(&self, contents: &FrameContents) -> Result<u8> {
        if contents.nchunks == 0 {
            return Ok(0);
        }
        if self.has_checksums() {
            // The header was checked. A damaged chunk must not prevent reading the other chunks.
            return Ok(contents.header.flags2);
        }
        let first = self.chunk_flags2(0, &contents.header);
        match first {
            Err(error) if error.kind() != ErrorKind::MemoryAlloc => {
                trace::warning(|| format!("the first chunk of a frame cannot be read: {error}"));
                let mut others = 1..contents.nchunks.min(1 + MAX_FLAG_PROBES);
                match others.find_map(|nchunk| self.chunk_flags2(nchunk, &contents.header).ok()) {
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

    /// Returns the second flags of chunk `nchunk`.
    fn chunk_flags2(&self, nchunk: usize, header: &FrameHeader) -> Result<u8> {
        let flags = |chunk: FetchedChunk<'_>| match chunk {
            FetchedChunk::Whole(chunk) => Ok(ChunkInfo::parse(&chunk)?.flags2),
            FetchedChunk::Lazy(chunk, _) => Ok(chunk.header().blosc2_flags2),
        };
        self.with_lazy_chunk(nchunk, header, flags)
            // Chunks of Blosc 1 and empty chunks have no lazy form.
            .or_else(|_| {
                self.with_chunk(nchunk, header, FetchMode::Borrow, |chunk| {
                    Ok(ChunkInfo::parse(&chunk)?.flags2)
                })
            })
    }

    /// Reads the whole chunk `nchunk` and passes it to `then`. `header` is the current header of the frame.
    ///
    /// # Errors
    /// `Data`, `InvalidHeader`, `FileOpen`, `FileRead`, `MemoryAlloc`, and what `then` returns.
    pub(crate) fn with_chunk<R>(
        &self,
        nchunk: usize,
        header: &FrameHeader,
        mode: FetchMode,
        then: impl FnOnce(ChunkBytes<'_>) -> Result<R>,
    ) -> Result<R> {
        let offset = match self.place_of_chunk(nchunk)? {
            ChunkPlace::Index { special, is_last } => {
                return then(ChunkBytes::Special(build_special_chunk(special, is_last, header)?));
            }
            ChunkPlace::Memory(chunk) => return then(ChunkBytes::Borrowed(&chunk)),
            ChunkPlace::Data(offset) => offset,
        };
        let Some(disk) = &self.disk else {
            let at = self.check_offset(offset, header)?;
            let inner = self.inner.read_recursive();
            let chunk = chunk_in_frame_memory(inner.memory.bytes(), at, offset, header)?;
            self.check_chunk(nchunk, chunk, offset, header)?;
            return then(ChunkBytes::Borrowed(chunk));
        };
        if let Some(files) = disk.directory() {
            let opened = files.open(offset).and_then(|stream| {
                let len = usize::try_from(stream.size()?).unwrap_or(0);
                if len < MIN_HEADER_LENGTH {
                    return Err(err!(
                        FileRead,
                        "the chunk file has {len} bytes, expected {MIN_HEADER_LENGTH} or more"
                    ));
                }
                Ok((stream, len))
            });
            let (stream, len) = self.explain_error(header, opened)?;
            if let Some(bytes) = stream.borrow_at(0, len)? {
                check_chunk_file_len(&bytes)?;
                self.check_chunk(nchunk, stored_part(&bytes), offset, header)?;
                return then(ChunkBytes::Borrowed(&bytes));
            }
            let mut buffer = ReadBuffer::new(mode, len)?;
            let read = stream.read_exact_at(0, buffer.bytes());
            self.explain_error(header, read.and_then(|()| check_chunk_file_len(buffer.bytes())))?;
            self.check_chunk(nchunk, stored_part(buffer.bytes()), offset, header)?;
            return buffer.pass_chunk(len, then);
        }
        let at = self.check_offset(offset, header)?;
        disk.drop_lost_reader();
        disk.with_reader(|stream| {
            let limit = u64::try_from(header.cbytes).unwrap_or(0) - offset;
            if let Some(head) = stream.borrow_at(disk.base + at, EXTENDED_HEADER_LENGTH)? {
                let cbytes = stored_cbytes(&head, limit)?;
                let bytes = stream.borrow_at(disk.base + at, cbytes)?;
                let missing = || err!(FileRead, "the back-end lends the chunk header, but not the chunk");
                let bytes = bytes.ok_or_else(missing)?;
                self.check_chunk(nchunk, &bytes, offset, header)?;
                return then(ChunkBytes::Borrowed(&bytes));
            }
            // Usually the chunk ends where the next chunk begins: then one read is enough.
            let guess = self.max_chunk_cbytes(nchunk, offset, header).max(EXTENDED_HEADER_LENGTH as u64);
            let read = read_stored_chunk(stream, disk.base + at, limit, guess as usize, mode);
            let (mut buffer, cbytes) = self.explain_error(header, read)?;
            self.check_chunk(nchunk, &buffer.bytes()[..cbytes], offset, header)?;
            buffer.pass_chunk(cbytes, then)
        })
    }

    /// Reads chunk `nchunk` and passes it to `then`: in its lazy form if the frame is on disk, whole if the chunk has
    /// no blocks or the frame is in memory.
    ///
    /// # Errors
    /// As [`with_chunk`](Self::with_chunk); `InvalidHeader` for a chunk that has no lazy form.
    pub(crate) fn with_lazy_chunk<R>(
        &self,
        nchunk: usize,
        header: &FrameHeader,
        then: impl FnOnce(FetchedChunk<'_>) -> Result<R>,
    ) -> Result<R> {
        let offset = match self.place_of_chunk(nchunk)? {
            ChunkPlace::Index { special, is_last } => {
                let chunk = build_special_chunk(special, is_last, header)?;
                return then(FetchedChunk::Whole(ChunkBytes::Special(chunk)));
            }
            ChunkPlace::Memory(chunk) => return then(FetchedChunk::Whole(ChunkBytes::Borrowed(&chunk))),
            ChunkPlace::Data(offset) => offset,
        };
        let Some(disk) = &self.disk else {
            self.check_whole_chunk(nchunk, header)?;
            let at = self.check_offset(offset, header)?;
            let inner = self.inner.read_recursive();
            let chunk = lazy_chunk_in_frame_memory(inner.memory.bytes(), at)?;
            return then(FetchedChunk::Whole(ChunkBytes::Borrowed(chunk)));
        };
        if let Some(files) = disk.directory() {
            let number = i64::try_from(offset).unwrap_or(i64::MAX);
            let location = ChunkLocation { nchunk: number as i32, offset: number };
            let read = files.open(offset).and_then(|stream| {
                let place = StoredPlace { nchunk, at: 0, limit: None, location };
                let (chunk, units) = self.read_lazy_form(&stream, &place, MAX_LAZY_FIRST_READ, header)?;
                Ok((chunk, units, stream))
            });
            let (chunk, units, stream) = self.confirm_check(header, read)?;
            return then(chunk.with_source(ChunkSource {
                frame: self,
                header,
                chunk_file: Some(stream),
                units,
            }));
        }
        let at = self.check_offset(offset, header)?;
        let guess =
            usize::try_from(self.max_chunk_cbytes(nchunk, offset, header)).unwrap_or(MAX_LAZY_FIRST_READ);
        let location = ChunkLocation {
            nchunk: i32::try_from(nchunk).unwrap_or(i32::MAX),
            offset: i64::try_from(at).unwrap_or(i64::MAX),
        };
        disk.drop_lost_reader();
        let read = disk.with_reader(|stream| {
            let limit = u64::try_from(header.cbytes).unwrap_or(0).saturating_sub(offset);
            let place = StoredPlace { nchunk, at: disk.base + at, limit: Some(limit), location };
            self.read_lazy_form(stream, &place, guess.min(MAX_LAZY_FIRST_READ), header)
        });
        let (chunk, units) = self.confirm_check(header, read)?;
        then(chunk.with_source(ChunkSource { frame: self, header, chunk_file: None, units }))
    }

    /// Returns the fields of the header of chunk `nchunk` that super-chunks use.
    pub(crate) fn chunk_info(&self, nchunk: usize, header: &FrameHeader) -> Result<ChunkInfo> {
        let offset = match self.place_of_chunk(nchunk)? {
            ChunkPlace::Index { special, is_last } => {
                return ChunkInfo::parse(&build_special_chunk(special, is_last, header)?);
            }
            ChunkPlace::Memory(chunk) => return ChunkInfo::parse(&chunk),
            ChunkPlace::Data(offset) => offset,
        };
        // The length is compared first: a chunk that does not fit into its place has no bytes to check.
        let info = self.stored_chunk_info(offset, header)?;
        if self.unchecked_chunk(nchunk).is_some() {
            match self.with_lazy_chunk(nchunk, header, |_| Ok(())) {
                // A chunk without a lazy form; its bytes were checked.
                Err(error) if error.kind() == ErrorKind::InvalidHeader => {}
                checked => checked?,
            }
        }
        Ok(info)
    }

    /// Returns the fields of the header of the chunk at `offset` in the data section, or in the file of that number.
    fn stored_chunk_info(&self, offset: u64, header: &FrameHeader) -> Result<ChunkInfo> {
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        if let Some(files) = self.chunk_files() {
            let stream = files.open(offset)?;
            let got = stream.read_at(0, &mut head)?;
            let info = ChunkInfo::parse(&head[..got])?;
            let size = stream.size()?;
            if info.cbytes as u64 > size {
                return Err(err!(InvalidHeader, "the chunk file has {size} bytes, expected {}", info.cbytes));
            }
            return Ok(info);
        }
        self.read(self.check_offset(offset, header)?, &mut head)?;
        let limit = u64::try_from(header.cbytes).unwrap_or(0) - offset;
        stored_cbytes(&head, limit)?;
        ChunkInfo::parse(&head)
    }
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

    /// Passes the first `len` bytes as a chunk to `then`.
    fn pass_chunk<R>(self, len: usize, then: impl FnOnce(ChunkBytes<'_>) -> Result<R>) -> Result<R> {
        match self {
            ReadBuffer::Owned(mut block) => {
                block.shorten(len);
                then(ChunkBytes::Owned(block))
            }
            ReadBuffer::Pooled(buffer, _) => then(ChunkBytes::Pooled(&buffer[..len])),
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

/// A chunk on disk that was read for its lazy form.
enum LazyForm {
    Lazy(LazyChunk),
    /// The chunk has no blocks.
    Whole(MallocBytes),
}

impl LazyForm {
    /// Returns the chunk, with the source of its blocks if it is lazy.
    fn with_source(self, source: ChunkSource<'_>) -> FetchedChunk<'_> {
        match self {
            LazyForm::Whole(chunk) => FetchedChunk::Whole(ChunkBytes::Owned(chunk)),
            LazyForm::Lazy(chunk) => FetchedChunk::Lazy(chunk, source),
        }
    }
}

impl Frame {
    /// Reads the lazy form of a chunk, and checks the bytes that were read. The first read has `guess` bytes. Also returns
    /// the checks of the other units, if the chunk has a record.
    fn read_lazy_form(
        &self,
        stream: &IoStream,
        place: &StoredPlace,
        guess: usize,
        header: &FrameHeader,
    ) -> Result<(LazyForm, Option<Arc<UnitChecks>>)> {
        // A back-end of the program may fail to read beyond the end of the file.
        let guess = if stream.as_file().is_some() { guess } else { 0 };
        let len = guess.max(EXTENDED_HEADER_LENGTH);
        let mut buffer = buffers::take_buffer(len)?;
        let got = stream.read_at_least(place.at, &mut buffer[..len], EXTENDED_HEADER_LENGTH)?;
        if got < EXTENDED_HEADER_LENGTH {
            return Err(err!(
                FileRead,
                "read {got} bytes of a chunk header, expected {EXTENDED_HEADER_LENGTH}"
            ));
        }
        let head = &mut buffer[..got];
        let read = |position: u64, dest: &mut [u8]| {
            let at = place.at.checked_add(position);
            stream.read_exact_at(at.ok_or_else(|| err!(ReadBuffer, "offset {position} overflows"))?, dest)
        };
        let read_again = |position: u64, dest: &mut [u8]| match head.get(position as usize..) {
            Some(there) if there.len() >= dest.len() => {
                dest.copy_from_slice(&there[..dest.len()]);
                Ok(())
            }
            _ => read(position, dest),
        };
        let units = self.units_of(place.nchunk, place.location, stored_len(head), &read_again, header)?;
        if let Some(units) = &units {
            units.check(0, &[head])?;
        }
        let read = |position: u64, dest: &mut [u8]| read_checked(units.as_deref(), position, dest, &read);
        if units.is_some() {
            // Without effect if the units were read whole.
            read(0, head)?;
        }
        let form = lazy_form(stream, head, &read, place, header)?;
        Ok((form, units))
    }
}

/// The place of a stored chunk.
struct StoredPlace {
    nchunk: usize,
    /// Offset in its file, in bytes.
    at: u64,
    /// Maximum length, in bytes; without a limit, that of its file.
    limit: Option<u64>,
    /// The location in the trailer of the lazy chunk.
    location: ChunkLocation,
}

/// Builds the lazy form of a chunk. `head` are its first bytes, `read` reads others, at an offset in the chunk.
fn lazy_form(
    stream: &IoStream,
    head: &[u8],
    read: &dyn Fn(u64, &mut [u8]) -> Result<()>,
    place: &StoredPlace,
    frame: &FrameHeader,
) -> Result<LazyForm> {
    let got = head.len();
    let bad = |error: Error| err!(InvalidHeader, "invalid chunk header: {error}");
    let header = ChunkHeader::parse(head).map_err(bad)?;
    let special = header.special().map_err(bad)?;
    if special == Some(SpecialValue::Value) {
        let len = EXTENDED_HEADER_LENGTH + usize::try_from(frame.typesize).unwrap_or(0);
        let mut chunk = MallocBytes::zeroed(len)?;
        read(0, &mut chunk)?;
        return Ok(LazyForm::Whole(chunk));
    }
    let nblocks = if header.has_varlen_blocks() {
        usize::try_from(header.blocksize).unwrap_or(0)
    } else {
        BlockGeometry::of(&header).count()
    };
    let cbytes = usize::try_from(header.cbytes).unwrap_or(0);
    let tables = EXTENDED_HEADER_LENGTH + 4 * nblocks;
    let fits = header.is_memcpyed() || tables <= cbytes;
    if special.is_some() || nblocks == 0 || !header.is_extended() || !fits || nblocks > MAX_BLOCKSIZE as usize
    {
        return Err(err!(InvalidHeader, "a chunk of {nblocks} blocks in {cbytes} bytes has no lazy form"));
    }
    // The allocations below are proportional to sizes of the header, so first check that the chunk really has these
    // bytes.
    let available = match place.limit {
        Some(limit) => limit,
        None if cbytes > got => stream.size()?,
        None => got as u64,
    };
    if cbytes as u64 > available || (header.is_memcpyed() && header.nbytes() > cbytes) {
        let nbytes = header.nbytes;
        return Err(err!(
            InvalidHeader,
            "`cbytes` is {cbytes} with `nbytes` {nbytes}, expected at most {available}"
        ));
    }
    let mut head_and_starts = fallible::vec_with_capacity(tables)?;
    if header.is_memcpyed() {
        head_and_starts.extend_from_slice(&head[..EXTENDED_HEADER_LENGTH]);
        head_and_starts.resize(tables, 0);
    } else if tables <= got {
        head_and_starts.extend_from_slice(&head[..tables]);
    } else {
        head_and_starts.resize(tables, 0);
        read(0, &mut head_and_starts)?;
    }
    let block_lengths = block_lengths(&header, &head_and_starts[EXTENDED_HEADER_LENGTH..])?;
    Ok(LazyForm::Lazy(LazyChunk::new(&header, head_and_starts, place.location, block_lengths)))
}

/// Returns the length in bytes of each block in the stored chunk: up to the next larger block start.
fn block_lengths(header: &ChunkHeader, starts: &[u8]) -> Result<Vec<i32>> {
    let nblocks = starts.len() / 4;
    let mut lengths = fallible::vec_with_capacity(nblocks)?;
    if header.is_memcpyed() {
        let blocks = BlockGeometry::of(header);
        lengths.extend((0..nblocks).map(|n| blocks.range(n).len() as i32));
        return Ok(lengths);
    }
    let mut order: Vec<(i32, usize)> = fallible::vec_with_capacity(nblocks)?;
    order.extend((0..nblocks).map(|n| (read_i32(starts, 4 * n).unwrap_or(0), n)));
    order.sort_unstable();
    lengths.resize(nblocks, 0);
    for (i, &(start, n)) in order.iter().enumerate() {
        let end = order.get(i + 1).map_or(header.cbytes, |next| next.0);
        lengths[n] = end.wrapping_sub(start);
    }
    Ok(lengths)
}
