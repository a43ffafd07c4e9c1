//! A frame as a store of chunks: contiguous or sparse, in memory or on disk.
//!
//! Data flow: bytes -> parsed header, trailer and index (here) -> a change becomes a [`super::plan`] -> a
//! [`super::writer`] carries it out -> the new layout is remembered. Who may read or write when is the super-chunk's
//! business; the lock in here only keeps the parts of the state together.

use super::FrameKind;
use super::disk::Disk;
use super::header::{self, FIXED_LEN, FrameHeader};
use super::index::{self, Offsets};
use super::metalayers::{self, Metalayer};
use super::plan::{self, Change, FrameState, Images, Index, Layout};
use super::trailer;
use super::writer;
use crate::abi::BLOSC2_IO_FILESYSTEM_MMAP;
use crate::chunk::{ChunkHeader, format::EXTENDED_HEADER_LENGTH};
use crate::err;
use crate::error::{Error, ErrorKind, Result};
use crate::io::{Backend, FrameLock, Locked, OpenMode, Stamp, Stamped, WriteShape};
use crate::malloc::Growing;
use parking_lot::RwLock;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Shorter frames are not opened from files (`frame.md` 4.1).
const MIN_FILE_LEN: u64 = 112;

/// How often a reader looks again when it met a frame that somebody was writing, and the pause in between.
const ATTEMPTS: usize = 50;
/// See [`ATTEMPTS`].
const PAUSE: Duration = Duration::from_millis(1);

/// A frame, and what is known of it.
pub(crate) struct Frame {
    pub(super) kind: FrameKind,
    /// Its files; `None` in memory.
    pub(super) disk: Option<Box<Disk>>,
    lock: Option<FrameLock>,
    /// Whether the frame has to be read anew although its length is the same.
    force_refresh: AtomicBool,
    /// The last [generation](FrameStatus::generation) that was given out.
    generation: AtomicU64,
    pub(super) inner: RwLock<Inner>,
}

/// What is known of a frame.
pub(super) struct Inner {
    /// The frame itself, in memory.
    pub memory: Growing,
    pub layout: Layout,
    pub index: Index,
    /// What the files hold, besides chunks.
    pub images: Images,
    /// The last look at the file, if that is worth something.
    seen: Option<Seen>,
}

/// A look at a file of which every change would show in its stamp.
struct Seen {
    stamp: Stamp,
    header: FrameHeader,
    /// [`FrameStatus::generation`] with that stamp.
    generation: u64,
    /// Whether the file is the frame and no more: then none can change its length without changing that of the file,
    /// by mappings neither, which are stamped late.
    is_whole_file: bool,
}

/// A name and a content.
pub(crate) type OwnedMetalayer = (Vec<u8>, Vec<u8>);

/// What a frame tells of its super-chunk.
pub(crate) struct Contents {
    /// The header.
    pub header: FrameHeader,
    /// Number of chunks.
    pub nchunks: usize,
    /// The metalayers.
    pub metalayers: Vec<OwnedMetalayer>,
    /// The metalayers of variable length, compressed.
    pub vlmetalayers: Vec<OwnedMetalayer>,
}

/// A look at a frame before it is used.
pub(crate) struct FrameStatus {
    /// Its header as it is now.
    pub header: FrameHeader,
    /// Whether the frame is another than the one that is known.
    pub is_stale: bool,
    /// Number of the state of the chunks: what was decoded under another number may be of chunks that another handle has
    /// replaced since, although the frame is as long as before. Two reads get the same number only if the stamp of the file
    /// proves that it was not changed in between.
    pub generation: u64,
}

/// Where a new frame goes.
pub(crate) enum Destination<'a> {
    /// Memory.
    Memory,
    /// A file, or a directory that exists, without a slash at its end.
    Disk(&'a CStr, Backend),
}

impl Frame {
    /// Makes a frame without chunks.
    ///
    /// # Errors
    /// `MemoryAlloc`, `FileOpen`, `FileWrite`, `FileTruncate`.
    pub(crate) fn create(
        kind: FrameKind,
        destination: Destination<'_>,
        target: &FrameState<'_>,
    ) -> Result<Frame> {
        let trailer = trailer::build(target.vlmetalayers)?;
        let mut header = target.header.clone();
        header.header_len = FIXED_LEN + metalayers::section_len(target.metalayers)?;
        header.frame_len = (header.header_len + trailer.len()) as u64;
        let images = Images { header: header.build(target.metalayers)?, index: Vec::new(), trailer };
        let layout = Layout {
            kind,
            header_len: header.header_len as u64,
            cbytes: 0,
            frame_len: header.frame_len,
            trailer_len: images.trailer.len() as u64,
        };
        let mut memory = Growing::new();
        let disk = match destination {
            Destination::Memory => {
                memory.write_at(0, &images.header)?;
                memory.write_at(images.header.len(), &images.trailer)?;
                None
            }
            Destination::Disk(path, backend) => {
                let disk = Disk::new(kind, path, 0, backend);
                write_new(&disk, &images)?;
                Some(Box::new(disk))
            }
        };
        let images = if disk.is_some() { images } else { Images::default() };
        let inner = Inner { memory, layout, index: Index::default(), images, seen: None };
        Ok(Frame::assemble(kind, disk, inner))
    }

    fn assemble(kind: FrameKind, disk: Option<Box<Disk>>, inner: Inner) -> Frame {
        let lock = disk
            .as_ref()
            .filter(|disk| disk.backend.wants_locking())
            .map(|disk| FrameLock::new(disk.sidecar()));
        Frame {
            kind,
            disk,
            lock,
            force_refresh: AtomicBool::new(false),
            generation: AtomicU64::new(0),
            inner: RwLock::new(inner),
        }
    }

    /// Opens the frame that is in memory.
    ///
    /// # Errors
    /// `ReadBuffer`, `InvalidHeader` and what else `frame.md` 4.2, 4.4 and 4.5 say.
    pub(crate) fn from_memory(memory: Growing) -> Result<(Frame, Contents)> {
        let bytes = memory.bytes();
        if !header::has_magic(bytes) {
            return Err(err!(InvalidHeader, "{} bytes are no frame", bytes.len()));
        }
        let header = FrameHeader::parse(bytes, FrameKind::Contiguous)?;
        if header.frame_len != bytes.len() as u64 {
            return Err(err!(InvalidHeader, "a frame of {} bytes in {}", header.frame_len, bytes.len()));
        }
        header.check_for_opening(bytes)?;
        let inner = Inner {
            memory,
            layout: layout_of(&header, FrameKind::Contiguous, 0),
            index: Index::default(),
            images: Images::default(),
            seen: None,
        };
        let frame = Frame::assemble(FrameKind::Contiguous, None, inner);
        let trailer_len = frame.read_trailer_len(header.frame_len)?;
        let contents = frame.load(header, trailer_len)?;
        Ok((frame, contents))
    }

    /// Opens the frame at `path`, which is a directory without a slash at its end if `kind` is sparse, and begins at
    /// byte `base` of its file. Returns what [`flags_of_first`](Self::flags_of_first) says as well: others may change the
    /// frame as soon as the lock is given back.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`, `Lock`, and what `frame.md` 4.1, 4.4 and 4.5 say.
    pub(crate) fn open(
        kind: FrameKind,
        path: &CStr,
        base: u64,
        backend: Backend,
    ) -> Result<(Frame, Contents, u8)> {
        let disk = Disk::new(kind, path, base, backend);
        let layout = Layout { kind, header_len: FIXED_LEN as u64, cbytes: 0, frame_len: 0, trailer_len: 0 };
        let (memory, images) = (Growing::new(), Images::default());
        let inner = Inner { memory, layout, index: Index::default(), images, seen: None };
        let frame = Frame::assemble(kind, Some(Box::new(disk)), inner);
        // Where others may be writing just now, a frame that makes no sense is looked at again.
        let attempts = if frame.lock.is_some() { ATTEMPTS } else { 1 };
        let mut bounds = retry(attempts, || frame.read_bounds())?;
        let locked = frame.lock(false)?;
        let opened = (|| {
            if frame.lock.is_some() {
                bounds = frame.read_bounds()?;
            }
            let (header, trailer_len) = bounds;
            let contents = frame.load(header, trailer_len)?;
            let flags2 = frame.flags_of_first(&contents)?;
            Ok((contents, flags2))
        })();
        drop(locked);
        // Whatever moved before this is in what was just read.
        frame.force_refresh.store(false, Ordering::Relaxed);
        opened.map(|(contents, flags2)| (frame, contents, flags2))
    }

    /// Reads the header and the end of the trailer, and sees that they can be those of a frame: the header, and the
    /// length of the trailer.
    fn read_bounds(&self) -> Result<(FrameHeader, u64)> {
        let mut bytes = [0; FIXED_LEN];
        self.read(0, &mut bytes)?;
        let header = FrameHeader::parse(&bytes, self.kind)?;
        header.check_for_opening(&bytes)?;
        if header.frame_len < MIN_FILE_LEN {
            return Err(err!(FileRead, "a frame of {} bytes", header.frame_len));
        }
        let trailer_len = self.read_trailer_len(header.frame_len)?;
        Ok((header, trailer_len))
    }

    fn read_trailer_len(&self, frame_len: u64) -> Result<u64> {
        let mut tail = [0; trailer::MIN_LEN];
        let at = frame_len
            .checked_sub(tail.len() as u64)
            .ok_or_else(|| err!(ReadBuffer, "a frame of {frame_len} bytes"))?;
        self.read(at, &mut tail)?;
        Ok(trailer::parse_tail(&tail, frame_len)? as u64)
    }

    /// Reads the fixed part of the header.
    fn read_header(&self) -> Result<FrameHeader> {
        let mut bytes = [0; FIXED_LEN];
        self.read(0, &mut bytes)?;
        FrameHeader::parse(&bytes, self.kind)
    }

    /// Fills `dest` from byte `at` of the frame, or of its index file.
    pub(super) fn read(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        let Some(disk) = &self.disk else {
            let inner = self.inner.read_recursive();
            let range = usize::try_from(at).ok().and_then(|at| Some(at..at.checked_add(dest.len())?));
            let Some(bytes) = range.and_then(|range| inner.memory.bytes().get(range)) else {
                return Err(err!(ReadBuffer, "{} bytes at {at} of a frame", dest.len()));
            };
            dest.copy_from_slice(bytes);
            return Ok(());
        };
        disk.read(at, dest)
    }

    /// As [`read`](Self::read), into new memory. The length was checked against that of the frame.
    fn read_vec(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let len = usize::try_from(len).map_err(|_| err!(MemoryAlloc, "{len} bytes of a frame"))?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| err!(MemoryAlloc, "{len} bytes of a frame"))?;
        bytes.resize(len, 0);
        self.read(at, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads everything but the chunks, and remembers it.
    fn load(&self, header: FrameHeader, trailer_len: u64) -> Result<Contents> {
        let layout = layout_of(&header, self.kind, trailer_len);
        let header_image = self.read_vec(0, header.header_len as u64)?;
        let metalayers = owned(metalayers::parse_header_section(&header_image)?);
        let trailer_at =
            if header.nbytes > 0 { header.frame_len - trailer_len } else { header.header_len as u64 };
        if trailer_at < 32 || trailer_at.checked_add(trailer_len).is_none_or(|end| end > header.frame_len) {
            return Err(err!(ReadBuffer, "a trailer of {trailer_len} bytes at {trailer_at}"));
        }
        let trailer_image = self.read_vec(trailer_at, trailer_len)?;
        let vlmetalayers = owned(metalayers::parse_trailer_section(&trailer_image)?);
        let (index_image, offsets) = self.load_index(&header, &layout)?;
        let nchunks = offsets.len();
        let mut inner = self.inner.write();
        inner.layout = layout;
        inner.index.replace(offsets);
        inner.seen = None;
        if self.disk.is_some() {
            inner.images = Images { header: header_image, index: index_image, trailer: trailer_image };
        }
        Ok(Contents { header, nchunks, metalayers, vlmetalayers })
    }

    /// Reads and decodes the index.
    fn load_index(&self, header: &FrameHeader, layout: &Layout) -> Result<(Vec<u8>, Offsets)> {
        if header.nbytes <= 0 {
            return Ok((Vec::new(), Offsets::default()));
        }
        let at = layout.index_at();
        let end = layout.frame_len - layout.trailer_len;
        let head_end = at.checked_add(EXTENDED_HEADER_LENGTH as u64);
        if head_end.is_none_or(|head_end| head_end > layout.frame_len) {
            return Err(err!(InvalidHeader, "an index at {at} of a frame of {} bytes", layout.frame_len));
        }
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        self.read(at, &mut head)?;
        let chunk = ChunkHeader::parse(&head)?;
        let cbytes = u64::try_from(chunk.cbytes).unwrap_or(0);
        let limit = if self.disk.is_some() { end } else { layout.frame_len };
        if at + cbytes > limit {
            return Err(err!(InvalidHeader, "an index of {cbytes} bytes at {at}, {limit} is the end"));
        }
        let nchunks = header.nchunks(|| index::stored_nbytes(&chunk))?;
        let nchunks = usize::try_from(nchunks).unwrap_or(0);
        let image = self.read_vec(at, cbytes)?;
        let offsets = index::decode(&image, nchunks)?;
        if self.kind == FrameKind::Contiguous {
            let last = header.cbytes - EXTENDED_HEADER_LENGTH as i64;
            let offset = offsets.max_number();
            if offset >= 0 && offset > last {
                return Err(err!(InvalidHeader, "a chunk at {offset} of {} bytes", header.cbytes));
            }
        }
        Ok((image, offsets))
    }

    /// Takes the lock between processes, if the frame has one. It is given back when the result is dropped.
    ///
    /// # Errors
    /// `Lock`.
    pub(crate) fn lock(&self, exclusive: bool) -> Result<FrameSection<'_>> {
        let Some(lock) = &self.lock else { return Ok(FrameSection { lock: None }) };
        let Locked { moved } = lock.lock(exclusive)?;
        if moved {
            self.force_refresh.store(true, Ordering::Relaxed);
        }
        Ok(FrameSection { lock: Some(lock) })
    }

    /// Whether the frame has a lock between processes.
    pub(crate) fn has_lock(&self) -> bool {
        self.lock.is_some()
    }

    /// Leaves a section that was entered by [`lock`](Self::lock) and [`FrameSection::hold`].
    ///
    /// # Errors
    /// `Lock`.
    pub(crate) fn unlock(&self) -> Result<()> {
        self.lock.as_ref().map_or(Ok(()), FrameLock::unlock)
    }

    /// Whether the frame is on disk.
    pub(crate) fn is_on_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// Whether the frame is a mapped file, where chunks lie as in memory.
    pub(crate) fn is_mapped(&self) -> bool {
        let is_mapped = |disk: &Disk| i32::from(disk.backend.id()) == BLOSC2_IO_FILESYSTEM_MMAP;
        self.kind == FrameKind::Contiguous && self.disk.as_deref().is_some_and(is_mapped)
    }

    /// Whether reads and writes run a program's functions.
    pub(crate) fn calls_back(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.backend.id() > 1)
    }

    /// Contiguous or sparse.
    pub(crate) fn kind(&self) -> FrameKind {
        self.kind
    }

    /// Its length in bytes, as far as is known; of a sparse frame that of the index file.
    pub(crate) fn len(&self) -> u64 {
        self.inner.read_recursive().layout.frame_len
    }

    /// Number of chunks, as far as is known.
    pub(crate) fn nchunks(&self) -> usize {
        self.inner.read_recursive().index.offsets.len()
    }

    /// A copy of the index: one code for each chunk (`frame.md` 1.4).
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub(crate) fn offsets(&self) -> Result<Offsets> {
        plan::copy_of(&self.inner.read_recursive().index.offsets)
    }

    /// Looks at the frame before it is read. A file whose stamp is that of the last look is not opened.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`, and those of a header that is none.
    pub(crate) fn status(&self) -> Result<FrameStatus> {
        let there = self.disk.as_ref().and_then(|disk| disk.stamp());
        if let Some(there) = &there
            && !self.force_refresh.load(Ordering::Relaxed)
            && let Some(seen) = &self.inner.read_recursive().seen
            && seen.stamp == there.stamp
            && seen.is_whole_file
        {
            return Ok(FrameStatus {
                header: seen.header.clone(),
                is_stale: false,
                generation: seen.generation,
            });
        }
        self.status_with(there)
    }

    /// Looks at the frame before it is changed: reads its header in any case.
    ///
    /// # Errors
    /// As [`status`](Self::status).
    pub(crate) fn status_from_disk(&self) -> Result<FrameStatus> {
        self.status_with(self.disk.as_ref().and_then(|disk| disk.stamp()))
    }

    fn status_with(&self, there: Option<Stamped>) -> Result<FrameStatus> {
        let Some(disk) = &self.disk else {
            return Ok(FrameStatus { header: self.read_header()?, is_stale: false, generation: 0 });
        };
        if disk.was_replaced(there.as_ref()) {
            self.force_refresh.store(true, Ordering::Relaxed);
        }
        let header = self.read_header()?;
        let forced = self.force_refresh.load(Ordering::Relaxed);
        let is_stale = forced || header.frame_len != self.len();
        let Some(Stamped { stamp, is_settled }) = there else {
            // Only the library's own back-ends have files that other handles change.
            let generation = if disk.backend.is_native() { self.next_generation() } else { 0 };
            return Ok(FrameStatus { header, is_stale, generation });
        };
        let known = self
            .inner
            .read_recursive()
            .seen
            .as_ref()
            .filter(|seen| seen.stamp == stamp)
            .map(|seen| seen.generation);
        if let Some(generation) = known {
            return Ok(FrameStatus { header, is_stale, generation });
        }
        let generation = self.next_generation();
        if is_settled && !is_stale {
            let is_whole_file = disk.base.checked_add(header.frame_len) == Some(stamp.size);
            self.inner.write().seen = Some(Seen { stamp, header: header.clone(), generation, is_whole_file });
        }
        Ok(FrameStatus { header, is_stale, generation })
    }

    /// Returns a [generation](FrameStatus::generation) that no read has had.
    fn next_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Reads the frame anew, since it is another than the one that is known. `None` when it makes no sense yet: the
    /// old view stays, and the next look tells again.
    ///
    /// # Errors
    /// `FileRead` for a length that no frame has; with the lock held, whatever is wrong.
    pub(crate) fn refresh(&self, header: FrameHeader) -> Result<Option<Contents>> {
        if header.frame_len < MIN_FILE_LEN {
            return Err(err!(FileRead, "a frame of {} bytes", header.frame_len));
        }
        if self.read_trailer_len(header.frame_len).is_err() {
            return Ok(None);
        }
        self.force_refresh.store(false, Ordering::Relaxed);
        let mut header = Some(header);
        let attempts = if self.lock.is_some() { 1 } else { ATTEMPTS };
        let loaded = retry(attempts, || {
            let header = match header.take() {
                Some(header) => header,
                None => self.read_header()?,
            };
            header.check_for_reading()?;
            let trailer_len = self.read_trailer_len(header.frame_len)?;
            self.load(header, trailer_len)
        });
        match loaded {
            Ok(contents) => Ok(Some(contents)),
            Err(error) => {
                self.force_refresh.store(true, Ordering::Relaxed);
                if self.lock.is_some() { Err(error) } else { Ok(None) }
            }
        }
    }

    /// Changes the frame into what `target` says. Nothing has changed after an error, as far as it can be put back.
    ///
    /// # Errors
    /// Those of [`plan::plan`] and the writers.
    pub(crate) fn apply(&self, change: &Change<'_>, target: &FrameState<'_>) -> Result<()> {
        // A program's functions may read the frame while they write it, and find it as it was.
        let (mut index, layout, images) = {
            let mut inner = self.inner.write();
            let meanwhile =
                if self.calls_back() { plan::copy_of(&inner.index.offsets)? } else { Offsets::default() };
            let index = std::mem::take(&mut inner.index);
            inner.seen = None;
            inner.index.offsets = meanwhile;
            (index, inner.layout, std::mem::take(&mut inner.images))
        };
        let planned = plan::plan(&layout, &mut index, change, target);
        let (plan, undo) = match planned {
            Ok(planned) => planned,
            Err(error) => {
                let mut inner = self.inner.write();
                inner.index = index;
                inner.images = images;
                return Err(error);
            }
        };
        let written = match &self.disk {
            None => writer::in_memory(&plan, &mut self.inner.write().memory),
            Some(disk) => writer::on_disk(&plan, disk, &layout, &images),
        };
        let mut inner = self.inner.write();
        match written {
            Ok(()) => {
                inner.layout = plan.layout;
                if self.disk.is_some() {
                    inner.images = Images {
                        header: plan.header,
                        index: plan.index.map_or(images.index, |(_, bytes)| bytes),
                        trailer: plan.trailer.map_or(images.trailer, |(_, bytes)| bytes),
                    };
                }
                inner.index = index;
                Ok(())
            }
            Err(error) => {
                let undone = index.undo(undo);
                inner.index = index;
                inner.images = images;
                undone.and(Err(error))
            }
        }
    }

    /// Where the frame in memory is, until it changes, and its length; `None` on disk.
    pub(crate) fn memory(&self) -> Option<(*mut u8, usize)> {
        if self.disk.is_some() {
            return None;
        }
        let inner = self.inner.read_recursive();
        Some((inner.memory.as_ptr(), inner.memory.bytes().len()))
    }

    /// Lends the frame in memory to `then`; `None` on disk.
    pub(crate) fn with_memory<R>(&self, then: impl FnOnce(&mut Growing) -> R) -> Option<R> {
        if self.disk.is_some() {
            return None;
        }
        Some(then(&mut self.inner.write().memory))
    }
}

/// The frame lock while it is held.
#[must_use]
pub(crate) struct FrameSection<'a> {
    lock: Option<&'a FrameLock>,
}

impl FrameSection<'_> {
    /// Leaves the lock taken, until [`Frame::unlock`].
    pub(crate) fn hold(mut self) {
        self.lock = None;
    }

    /// Gives the lock back, as dropping does.
    ///
    /// # Errors
    /// `Lock`.
    pub(crate) fn end(mut self) -> Result<()> {
        self.lock.take().map_or(Ok(()), FrameLock::unlock)
    }
}

impl Drop for FrameSection<'_> {
    fn drop(&mut self) {
        if let Some(lock) = self.lock
            && let Err(error) = lock.unlock()
        {
            crate::trace::error(&error);
        }
    }
}

fn layout_of(header: &FrameHeader, kind: FrameKind, trailer_len: u64) -> Layout {
    Layout {
        kind,
        header_len: header.header_len as u64,
        cbytes: u64::try_from(header.cbytes).unwrap_or(0),
        frame_len: header.frame_len,
        trailer_len,
    }
}

/// Writes the files of a new frame.
fn write_new(disk: &Disk, images: &Images) -> Result<()> {
    let stream = disk.backend.open(&disk.path, OpenMode::Create)?;
    let header_len = images.header.len() as u64;
    if disk.backend.is_native() {
        return stream.write_vectored_at(0, &[&images.header, &images.trailer]);
    }
    stream.write_at(0, &images.header, WriteShape::Item)?;
    stream.write_at(header_len, &[], WriteShape::Bytes)?;
    drop(stream);
    let stream = disk.backend.open(&disk.path, OpenMode::Update)?;
    stream.write_at(header_len, &images.trailer, WriteShape::Bytes)?;
    stream.truncate(header_len + images.trailer.len() as u64)
}

fn owned(metalayers: Vec<Metalayer<'_>>) -> Vec<OwnedMetalayer> {
    metalayers.into_iter().map(|m| (m.name.to_vec(), m.content.to_vec())).collect()
}

/// Tries until it works, `attempts` times at most.
fn retry<R>(attempts: usize, mut attempt: impl FnMut() -> Result<R>) -> Result<R> {
    let mut last = attempt();
    for _ in 1..attempts {
        if last.is_ok() {
            break;
        }
        std::thread::sleep(PAUSE);
        last = attempt();
    }
    last
}

/// What a failed read of a lazy chunk's block is called (`frame.md` 4.6).
pub(super) fn block_error(error: Error) -> Error {
    match error.kind() {
        ErrorKind::FileRead => err!(ReadBuffer, "{error}"),
        _ => error,
    }
}
