//! A frame as a store of chunks: contiguous or sparse, in memory or on disk.
//!
//! Data flow: bytes -> parsed header, trailer and index (this module) -> [`crate::frame::format::plan`] turns a change into a plan ->
//! [`super::writer`] executes the plan -> the new layout is stored in [`Frame`]. The super-chunk controls which thread
//! may read or write at a time; the lock in [`super::inner`] only keeps the fields of [`Inner`] consistent with each other.

use super::chunk_files::ChunkFiles;
use super::disk::Disk;
use super::durability::Durability;
use super::inner::{Inner, InnerLock};
use super::journal;
use super::kept_units::KeptUnits;
use super::load::{self, ReadFrame};
use super::staged::Staging;
use crate::abi::BLOSC2_IO_FILESYSTEM_MMAP;
use crate::err;
use crate::error::{Error, ErrorKind, Result};
use crate::fallible;
use crate::fork_count;
use crate::frame::FrameKind;
use crate::frame::format::checksums::{self, ChecksumMode};
use crate::frame::format::chunk_checksums::Checksums;
use crate::frame::format::header::{self, FIXED_HEADER_LEN, FrameHeader};
use crate::frame::format::index::Offsets;
use crate::frame::format::metalayers::{self, OwnedMetalayer};
use crate::frame::format::plan::{self, FrameLayout, Images, TargetState};
use crate::frame::format::trailer;
use crate::io::new_files::NewFiles;
use crate::io::{Backend, FrameLock, FrameLockGuard, OpenMode, WriteUnit, paths};
use crate::malloc::MallocVec;
use crate::trace;
use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Number of attempts to read a frame that another process may be writing, and the pause between two attempts.
const FRAME_READ_ATTEMPTS: usize = 50;
/// See [`FRAME_READ_ATTEMPTS`].
const RETRY_PAUSE: Duration = Duration::from_millis(1);

/// A frame, and the parsed state of its header, index and trailer.
pub(crate) struct Frame {
    /// The files of the frame; `None` for a contiguous frame in memory.
    pub(in crate::frame) disk: Option<Box<Disk>>,
    pub(in crate::frame) lock: Option<FrameLock>,
    /// Whether the frame must be read again although its length is unchanged.
    pub(in crate::frame) force_refresh: Arc<AtomicBool>,
    /// The last [generation](crate::frame::store::status::FrameStatus::generation) that was returned.
    pub(in crate::frame) generation: AtomicU64,
    /// The [`Durability`] of changes.
    pub(in crate::frame) level: AtomicU8,
    /// The [`ChecksumMode`].
    pub(in crate::frame) checksum_mode: AtomicU8,
    /// The checks of chunks that were read in parts.
    pub(super) kept_units: KeptUnits,
    /// Number of reads that failed because another handle had changed the frame meanwhile.
    pub(in crate::frame) changed_reads: AtomicU64,
    pub(in crate::frame) inner: InnerLock,
    /// The process that used the frame last, identified by its [`fork_count`].
    pub(in crate::frame) process: AtomicU32,
}

/// The parts of a frame that are read when it is opened, except the chunks.
pub(in crate::frame) type LoadedParts = (FrameLayout, Offsets, Images, FrameContents, Option<Checksums>);

/// The properties of a super-chunk that its frame stores.
pub(crate) struct FrameContents {
    pub header: FrameHeader,
    pub nchunks: usize,
    pub metalayers: Vec<OwnedMetalayer>,
    /// The metalayers of variable length, compressed.
    pub vlmetalayers: Vec<OwnedMetalayer>,
}

pub(crate) enum Destination<'a> {
    Memory,
    File(&'a CStr, Backend),
    /// A directory; the path has no slash at its end.
    Directory(&'a CStr, Backend),
}

impl Frame {
    /// Creates a frame without chunks. With atomic changes, a transaction is open until
    /// [`finish_creation`](Self::finish_creation), and the files have a temporary name before.
    ///
    /// # Errors
    /// `MemoryAlloc`, `FileOpen` for a path that is taken, `FileWrite`, `FileTruncate`.
    pub(crate) fn create(destination: Destination<'_>, target: &TargetState<'_>) -> Result<Frame> {
        let (kind, place) = match destination {
            Destination::Memory => (FrameKind::Contiguous, None),
            Destination::File(path, backend) => (FrameKind::Contiguous, Some((path, backend))),
            Destination::Directory(path, backend) => (FrameKind::Sparse, Some((path, backend))),
        };
        let trailer = trailer::build(target.vlmetalayers)?;
        let mut header = FrameHeader { kind, ..target.header.clone() };
        header.header_len = FIXED_HEADER_LEN + metalayers::section_len(target.metalayers)?;
        header.frame_len = (header.header_len + trailer.len()) as u64;
        let images = Images { header: header.build(target.metalayers)?, trailer, ..Images::default() };
        let layout = FrameLayout {
            kind,
            header_len: header.header_len as u64,
            cbytes: 0,
            frame_len: header.frame_len,
            trailer_len: images.trailer.len() as u64,
            table_len: 0,
        };
        let mut memory = MallocVec::new();
        let Some((path, backend)) = place else {
            memory.write_at(0, &images.header)?;
            memory.write_at(images.header.len(), &images.trailer)?;
            let inner = Inner::new(memory, layout, Images::default());
            return Frame::assemble(Durability::Off, None, inner);
        };
        let level = new_handle_level(&backend);
        let mut disk = fallible::try_box(Disk::new(kind, path, 0, backend)?)?;
        let mut inner = Inner::new(memory, layout, images);
        let is_staged = level > Durability::Off;
        if is_staged {
            inner.staging = Some(Staging::of_new_frame(&layout, header, &inner.images)?);
        }
        let destination = fallible::path(&[path.to_bytes()])?;
        let new_files =
            if is_staged { NewFiles::create(destination, kind == FrameKind::Sparse)? } else { None };
        if let Some(new_files) = new_files {
            disk.begin_creation(new_files)?;
            return Frame::assemble(level, Some(disk), inner);
        }
        // Without memory, no file is created.
        let frame = Frame::assemble(level, Some(disk), inner)?;
        if let Some(disk) = &frame.disk {
            create_in_place(path, disk, &frame.inner.read_recursive().images, is_staged)?;
        }
        Ok(frame)
    }

    fn assemble(level: Durability, disk: Option<Box<Disk>>, inner: Inner) -> Result<Frame> {
        let checksum_mode = match &disk {
            // A copy of the frame in memory has the bytes of C-Blosc2.
            None => ChecksumMode::from_environment(ChecksumMode::Verify).min(ChecksumMode::Verify),
            Some(_) => new_handle_checksums(level),
        };
        let force_refresh = Arc::<AtomicBool>::default();
        let lock = disk
            .as_ref()
            .filter(|disk| disk.backend.needs_locking())
            .map(|disk| Ok(FrameLock::new(disk.lock_file_path()?, force_refresh.clone())))
            .transpose()?;
        Ok(Frame {
            disk,
            lock,
            force_refresh,
            generation: AtomicU64::new(0),
            level: AtomicU8::new(level as u8),
            checksum_mode: AtomicU8::new(checksum_mode as u8),
            kept_units: KeptUnits::default(),
            changed_reads: AtomicU64::new(0),
            inner: InnerLock::new(inner),
            process: AtomicU32::new(fork_count::current()),
        })
    }

    /// Opens a frame in memory.
    ///
    /// # Errors
    /// `ReadBuffer`, `InvalidHeader`, and the errors of `frame.md` 4.2, 4.4 and 4.5.
    pub(crate) fn from_memory(memory: MallocVec) -> Result<(Frame, FrameContents)> {
        let bytes = memory.bytes();
        if !header::has_magic(bytes) {
            return Err(err!(InvalidHeader, "{} bytes without the magic string of a frame", bytes.len()));
        }
        let header = FrameHeader::parse(bytes, FrameKind::Contiguous)?;
        if header.frame_len != bytes.len() as u64 {
            let (frame_len, len) = (header.frame_len, bytes.len());
            return Err(err!(InvalidHeader, "the frame length is {frame_len}, expected {len}"));
        }
        header.check_for_opening(bytes)?;
        let layout = layout_from_header(&header, FrameKind::Contiguous, 0);
        let inner = Inner::new(memory, layout, Images::default());
        let frame = Frame::assemble(Durability::Off, None, inner)?;
        let trailer_len = load::read_trailer_len(&frame, header.frame_len)?;
        let contents = frame.load(header, trailer_len)?;
        Ok((frame, contents))
    }

    /// Opens the frame at `path`, which begins at byte `base` of its file. For a sparse frame, `path` is a directory
    /// without a slash at its end. Also returns the result of [`first_chunk_flags2`](Self::first_chunk_flags2): other
    /// processes may change the frame as soon as the lock is released.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`, `Lock`, and the errors of `frame.md` 4.1, 4.4 and 4.5.
    pub(crate) fn open(
        kind: FrameKind,
        path: &CStr,
        base: u64,
        backend: Backend,
    ) -> Result<(Frame, FrameContents, u8)> {
        let level = new_handle_level(&backend);
        let disk = Disk::new(kind, path, base, backend)?;
        journal::recover(&disk)?;
        let layout = FrameLayout {
            kind,
            header_len: FIXED_HEADER_LEN as u64,
            cbytes: 0,
            frame_len: 0,
            trailer_len: 0,
            table_len: 0,
        };
        let inner = Inner::new(MallocVec::new(), layout, Images::default());
        let frame = Frame::assemble(level, Some(fallible::try_box(disk)?), inner)?;
        // With a lock, another process may be writing the frame at this moment, so an invalid frame is read again.
        if frame.lock.is_some() {
            retry(FRAME_READ_ATTEMPTS, || frame.read_header_and_trailer_len())?;
        }
        let locked = frame.lock(false)?;
        let opened = Frame::retry_changed_reads(Some(&frame), || {
            // All changes before this point are included in the contents that are read now.
            frame.force_refresh.store(false, Ordering::Relaxed);
            let (header, trailer_len) = frame.read_header_and_trailer_len()?;
            let contents = frame.load(header, trailer_len)?;
            let flags2 = frame.first_chunk_flags2(&contents)?;
            Ok((contents, flags2))
        });
        drop(locked);
        opened.map(|(contents, flags2)| (frame, contents, flags2))
    }

    /// Reads and checks the header and the end of the trailer. Returns the header and the length of the trailer in
    /// bytes.
    fn read_header_and_trailer_len(&self) -> Result<(FrameHeader, u64)> {
        self.drop_replaced_reader();
        let mut bytes = [0; FIXED_HEADER_LEN];
        self.read(0, &mut bytes)?;
        let header = FrameHeader::parse(&bytes, self.kind())?;
        header.check_for_opening(&bytes)?;
        load::check_file_len(&header)?;
        let trailer_len = self.explain_error(&header, load::read_trailer_len(self, header.frame_len))?;
        Ok((header, trailer_len))
    }

    /// Drops the kept read handle if the path names another file now, before the frame is opened.
    fn drop_replaced_reader(&self) {
        if let Some(disk) = &self.disk {
            let stamp = disk.stamp();
            disk.was_replaced(stamp.as_ref());
            if disk.directory().is_some() && self.level() > Durability::Off {
                disk.detect_replacements(stamp.as_ref());
            }
        }
    }

    /// Reads the fixed part of the header.
    pub(in crate::frame) fn read_header(&self) -> Result<FrameHeader> {
        match &self.disk {
            Some(disk) => disk.read_header(),
            None => FrameHeader::parse(self.inner.read_recursive().memory.bytes(), FrameKind::Contiguous),
        }
    }

    /// Fills `dest` with the bytes that begin at byte `at` of the frame; of a sparse frame, of its index file.
    pub(in crate::frame) fn read(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        let Some(disk) = &self.disk else {
            let inner = self.inner.read_recursive();
            let range = usize::try_from(at).ok().and_then(|at| Some(at..at.checked_add(dest.len())?));
            let Some(bytes) = range.and_then(|range| inner.memory.bytes().get(range)) else {
                return Err(err!(ReadBuffer, "{} bytes at offset {at} are outside the frame", dest.len()));
            };
            dest.copy_from_slice(bytes);
            return Ok(());
        };
        disk.read(at, dest)
    }

    /// Reads `len` bytes at byte `at` of the frame into new memory. The caller has checked `len` against the length of
    /// the frame.
    pub(in crate::frame) fn read_vec(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let len = usize::try_from(len).map_err(|_| err!(MemoryAlloc, "{len} bytes of a frame"))?;
        let mut bytes = fallible::filled(0, len)?;
        self.read(at, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads everything except the chunks, and stores the layout, the index and the images in [`Inner`].
    fn load(&self, header: FrameHeader, trailer_len: u64) -> Result<FrameContents> {
        let mut loaded = self.load_parts(&header, trailer_len);
        if self.lock.is_none() {
            // Another handle may have written other parts between two reads.
            loaded = self.confirm_unchanged(&header, Instant::now(), loaded);
        }
        let (layout, index, images, mut contents, checksums) = self.explain_error(&header, loaded)?;
        let has_pages =
            checksums.as_ref().is_some_and(|checksums| checksums.stored_places().next().is_some());
        let is_open = header.gap.is_some() || has_pages;
        let disk = self.disk.as_ref().filter(|disk| is_open && disk.backend.is_native());
        let end_of_chunks = disk.map(|disk| disk.end_of_chunks(&layout, &index));
        if let (Some(end), FrameKind::Contiguous) = (end_of_chunks, layout.kind) {
            // The size of the chunks, without the gap behind them.
            contents.header.cbytes = (end - layout.header_len) as i64;
        }
        let mut inner = self.inner.write();
        inner.layout = layout;
        if let (Some(new), Some(old)) = (&checksums, &inner.index.checksums) {
            new.keep_verified(old, |nchunk| inner.index.offsets.get(nchunk) == index.get(nchunk));
        }
        inner.index.replace(index);
        inner.index.checksums = checksums.map(Arc::new);
        inner.last_check = None;
        inner.end_of_chunks = end_of_chunks;
        inner.staging = None;
        if self.disk.is_some() {
            inner.images = images;
        }
        Ok(contents)
    }

    pub(in crate::frame) fn load_parts(&self, header: &FrameHeader, trailer_len: u64) -> Result<LoadedParts> {
        let mut layout = layout_from_header(header, self.kind(), trailer_len);
        let header_image = self.read_vec(0, header.header_len as u64)?;
        let metalayers = metalayers::to_owned(metalayers::parse_header_section(&header_image)?)?;
        let trailer_at = load::trailer_offset(header, trailer_len)?;
        let trailer_image = self.read_vec(trailer_at, trailer_len)?;
        let vlmetalayers = metalayers::to_owned(metalayers::parse_trailer_section(&trailer_image)?)?;
        let (index_image, offsets) = self.load_index(header, &layout)?;
        let contents =
            FrameContents { header: header.clone(), nchunks: offsets.len(), metalayers, vlmetalayers };
        let mut images =
            Images { header: header_image, index: index_image, table: Vec::new(), trailer: trailer_image };
        let mut checksums = None;
        if checksums::has_table(header, &images.trailer, self.checksum_mode()) {
            checksums = Some(self.load_checksums(&layout, &mut images, offsets.len())?);
            layout.table_len = images.table.len() as u64;
        }
        Ok((layout, offsets, images, contents, checksums))
    }

    fn load_index(&self, header: &FrameHeader, layout: &FrameLayout) -> Result<(Vec<u8>, Offsets)> {
        if header.nbytes <= 0 {
            return Ok((Vec::new(), Offsets::default()));
        }
        let end = layout.frame_len - layout.trailer_len;
        let limit = if self.disk.is_some() { end } else { layout.frame_len };
        let (image, offsets) = load::read_index(self, header, limit)?;
        load::check_offsets(header, &offsets)?;
        Ok((image, offsets))
    }

    /// Acquires the lock between processes, if the frame has one. Dropping the result releases it.
    #[inline]
    pub(crate) fn lock(&self, exclusive: bool) -> Result<Option<FrameLockGuard<'_>>> {
        self.discard_inherited_state();
        // No other handle has a frame that is being created under a temporary name.
        let lock = self.lock.as_ref().filter(|_| !self.is_unpublished());
        lock.map(|lock| lock.guard(exclusive)).transpose()
    }

    pub(crate) fn has_lock(&self) -> bool {
        self.lock.is_some()
    }

    /// Releases a lock that was acquired by [`lock`](Self::lock) and kept by [`FrameLockGuard::keep_locked`].
    pub(crate) fn unlock(&self) -> Result<()> {
        self.lock.as_ref().map_or(Ok(()), FrameLock::unlock)
    }

    /// Returns whether the frame is being created under a temporary name, so that nothing is at its path yet.
    pub(crate) fn is_unpublished(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.is_unpublished())
    }

    pub(crate) fn is_on_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// Returns whether the frame is a mapped file, so that its chunks can be read in place as in memory.
    pub(crate) fn is_mapped(&self) -> bool {
        let is_mapped = |disk: &Disk| {
            disk.directory().is_none() && i32::from(disk.backend.id()) == BLOSC2_IO_FILESYSTEM_MMAP
        };
        self.disk.as_deref().is_some_and(is_mapped)
    }

    /// Returns whether reads and writes of the frame call I/O callbacks of the program.
    pub(crate) fn has_user_callbacks(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.backend.id() > 1)
    }

    pub(crate) fn kind(&self) -> FrameKind {
        self.disk.as_ref().map_or(FrameKind::Contiguous, |disk| disk.kind())
    }

    /// Returns the chunk files of a sparse frame; `None` for a contiguous one.
    pub(in crate::frame) fn chunk_files(&self) -> Option<&ChunkFiles> {
        self.disk.as_ref()?.directory()
    }

    /// Returns the length of the frame in bytes, as last read; of a sparse frame, that of the index file.
    pub(crate) fn len(&self) -> u64 {
        self.inner.read_recursive().layout.frame_len
    }

    /// Returns the length that the frame has once it is closed, in bytes.
    pub(crate) fn closed_len(&self) -> u64 {
        let inner = self.inner.read_recursive();
        match &inner.staging {
            Some(staging) => staging.closed_len(&inner.layout, &inner.images),
            None => {
                let closed = |end| end + inner.images.len_behind_chunks();
                inner.end_of_chunks.map_or(inner.layout.frame_len, closed)
            }
        }
    }

    /// Returns the size of the data section in bytes, as last read; in a directory, that of all chunks.
    pub(crate) fn cbytes(&self) -> i64 {
        self.inner.read_recursive().layout.cbytes as i64
    }

    /// Returns whether the frame is in native files.
    pub(crate) fn is_native(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.backend.is_native())
    }

    pub(in crate::frame) fn level(&self) -> Durability {
        Durability::from_number(self.level.load(Ordering::Relaxed).into()).unwrap_or(Durability::Off)
    }

    /// Returns the number of chunks, as last read.
    pub(crate) fn nchunks(&self) -> usize {
        self.inner.read_recursive().index.offsets.len()
    }

    /// Returns the checksums, if chunk `nchunk` must be checked by them when it is read.
    pub(in crate::frame) fn unchecked_chunk(&self, nchunk: usize) -> Option<Arc<Checksums>> {
        let inner = self.inner.read_recursive();
        inner.index.checksums.as_ref().filter(|checksums| checksums.needs_check(nchunk)).cloned()
    }

    /// Returns a copy of the index: one code for each chunk (`frame.md` 1.4).
    pub(crate) fn offsets(&self) -> Result<Offsets> {
        plan::copy_offsets(&self.inner.read_recursive().index.offsets)
    }

    /// Reads the frame again, because it differs from the parsed state. Returns `None` when the frame is invalid, as it
    /// is while another process writes it: the old state is kept, and the next check reports the difference again.
    ///
    /// # Errors
    /// `FileRead` for a length below the minimum; if the frame has a lock, also every error of reading the frame.
    pub(crate) fn refresh(&self, header: FrameHeader) -> Result<Option<FrameContents>> {
        load::check_file_len(&header)?;
        if let Some(disk) = &self.disk {
            journal::recover(disk)?;
        }
        if load::read_trailer_len(self, header.frame_len).is_err() && !self.has_changed_since(&header) {
            return Ok(None);
        }
        self.force_refresh.store(false, Ordering::Relaxed);
        self.check_undo_log();
        let mut header = Some(header);
        let attempts = if self.lock.is_some() { 1 } else { FRAME_READ_ATTEMPTS };
        let loaded = retry(attempts, || {
            let header = match header.take() {
                Some(header) => header,
                None => self.read_header()?,
            };
            header.check_for_reading()?;
            let trailer_len = load::read_trailer_len(self, header.frame_len)?;
            self.load(header, trailer_len)
        });
        match loaded {
            Ok(contents) => Ok(Some(contents)),
            Err(error) => {
                self.force_refresh.store(true, Ordering::Relaxed);
                let is_damaged = || {
                    error.kind() == ErrorKind::Data
                        && self.read_header().is_ok_and(|header| {
                            header.has_checksums && self.checksum_mode() != ChecksumMode::Off
                        })
                };
                if self.lock.is_some() || is_damaged() { Err(error) } else { Ok(None) }
            }
        }
    }

    /// Returns the address, valid until the next change, and the length in bytes of a frame in memory; `None` for a
    /// frame on disk.
    pub(crate) fn memory(&self) -> Option<(*mut u8, usize)> {
        if self.disk.is_some() {
            return None;
        }
        let inner = self.inner.read_recursive();
        Some((inner.memory.as_ptr(), inner.memory.bytes().len()))
    }

    /// Calls `then` with the memory of the frame; returns `None` for a frame on disk.
    pub(crate) fn with_memory<R>(&self, then: impl FnOnce(&mut MallocVec) -> R) -> Option<R> {
        if self.disk.is_some() {
            return None;
        }
        Some(then(&mut self.inner.write().memory))
    }
}

impl ReadFrame for Frame {
    fn read_at(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        self.read(at, dest)
    }

    fn read_vec_at(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        self.read_vec(at, len)
    }
}

/// Returns the durability of changes through a new handle. A handle must read the environment only once: another thread
/// may change it.
pub(super) fn new_handle_level(backend: &Backend) -> Durability {
    if backend.is_native() { Durability::from_environment() } else { Durability::Off }
}

/// Returns the use of checksums by a new handle with that durability of changes.
pub(super) fn new_handle_checksums(level: Durability) -> ChecksumMode {
    let default = if level > Durability::Off { ChecksumMode::Default } else { ChecksumMode::Verify };
    ChecksumMode::from_environment(default)
}

fn layout_from_header(header: &FrameHeader, kind: FrameKind, trailer_len: u64) -> FrameLayout {
    FrameLayout {
        kind,
        header_len: header.header_len as u64,
        cbytes: u64::try_from(header.cbytes).unwrap_or(0),
        frame_len: header.frame_len,
        trailer_len,
        table_len: 0,
    }
}

/// Creates the file or the directory at `path` of a new frame, whose images are written later if it `is_staged`. After an
/// error, a directory or a mapped file that this call has created is removed.
fn create_in_place(path: &CStr, disk: &Disk, images: &Images, is_staged: bool) -> Result<()> {
    let is_directory = disk.directory().is_some();
    if is_directory {
        paths::create_dir(path)?;
    } else if paths::exists(path) {
        return Err(err!(FileOpen, "{path:?} exists already"));
    }
    let created = match (is_staged, is_directory) {
        (false, _) => write_new_frame(disk, images),
        (true, true) => Ok(()),
        (true, false) => disk.backend.open(disk.path(), OpenMode::Create).map(drop),
    };
    if created.is_err() {
        let is_mapped = i32::from(disk.backend.id()) == BLOSC2_IO_FILESYSTEM_MMAP;
        let _ = match is_directory {
            true => paths::remove_dir(path),
            // Opening a mapping creates the file, and may fail later.
            false if is_mapped => paths::remove_file(path),
            false => Ok(()),
        };
    }
    created
}

/// Writes the file of a new frame. A plain file that cannot be written is removed.
fn write_new_frame(disk: &Disk, images: &Images) -> Result<()> {
    let stream = disk.backend.open(disk.path(), OpenMode::Create)?;
    if disk.backend.is_native() {
        let written = stream.write_vectored_at(0, &[&images.header, &images.trailer]);
        if written.is_err()
            && let Err(error) = disk.backend.remove(disk.path())
        {
            trace::warning(|| format!("the incomplete file of a new frame stays: {error}"));
        }
        return written;
    }
    let header_len = images.header.len() as u64;
    stream.write_at(0, &images.header, WriteUnit::Item)?;
    stream.write_at(header_len, &[], WriteUnit::Bytes)?;
    drop(stream);
    let stream = disk.backend.open(disk.path(), OpenMode::Update)?;
    stream.write_at(header_len, &images.trailer, WriteUnit::Bytes)?;
    stream.truncate(header_len + images.trailer.len() as u64)
}

/// Calls `attempt` until it succeeds, at most `attempts` times, with a pause between two calls. Returns the last
/// result.
fn retry<R>(attempts: usize, mut attempt: impl FnMut() -> Result<R>) -> Result<R> {
    let mut last = attempt();
    for _ in 1..attempts {
        if last.is_ok() {
            break;
        }
        std::thread::sleep(RETRY_PAUSE);
        last = attempt();
    }
    last
}

/// Converts the error of reading a block of a lazy chunk (`frame.md` 4.6): `FileRead` becomes `ReadBuffer`.
pub(in crate::frame) fn to_block_error(error: Error) -> Error {
    match error.kind() {
        ErrorKind::FileRead => err!(ReadBuffer, "{error}"),
        _ => error,
    }
}
