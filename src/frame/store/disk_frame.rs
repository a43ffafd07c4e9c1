//! A frame in a file or in a directory, which other handles and processes may change, too.
//!
//! Data flow: files -> parsed header, trailer and index ([`load`]) -> [`crate::frame::format::plan`] turns a change into a plan
//! -> [`super::writer`] or [`super::staged`] executes the plan -> the new layout is stored in [`DiskInner`].

use super::disk::Disk;
use super::durability::Durability;
use super::inner::{Changes, DiskInner, InnerLock};
use super::journal;
use super::kept_units::KeptUnits;
use super::load::{self, FrameContents, LoadedParts, ReadFrame};
use super::staged::Staging;
use crate::abi::BLOSC2_IO_FILESYSTEM_MMAP;
use crate::err;
use crate::error::{Error, ErrorKind, Result, os_err};
use crate::fallible;
use crate::fork_count;
use crate::frame::FrameKind;
use crate::frame::format::checksums::ChecksumMode;
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader};
use crate::frame::format::plan::{FrameLayout, Images};
use crate::io::new_files::NewFiles;
use crate::io::{Backend, FrameLock, FrameLockGuard, OpenMode, WriteUnit, paths};
use crate::trace;
use std::ffi::CStr;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Number of attempts to read a frame that another process may be writing, and the pause between two attempts.
const FRAME_READ_ATTEMPTS: usize = 50;
/// See [`FRAME_READ_ATTEMPTS`].
const RETRY_PAUSE: Duration = Duration::from_millis(1);

/// A frame in a file or in a directory.
pub(crate) struct DiskFrame {
    pub(in crate::frame) disk: Disk,
    pub(super) lock: Option<FrameLock>,
    /// Whether the frame must be read again although its length is unchanged.
    pub(super) force_refresh: Arc<AtomicBool>,
    /// The last [generation](super::status::FrameStatus::generation) that was returned.
    pub(super) generation: AtomicU64,
    /// The [`Durability`] of changes.
    pub(super) level: AtomicU8,
    pub(super) checksum_mode: AtomicU8,
    /// The checks of chunks that were read in parts.
    pub(super) kept_units: KeptUnits,
    /// Number of reads that failed because another handle had changed the frame meanwhile.
    pub(super) changed_reads: AtomicU64,
    pub(super) inner: InnerLock,
    /// The process that used the frame last, identified by its [`fork_count`].
    pub(super) process: AtomicU32,
}

impl DiskFrame {
    /// Creates the files of a frame without chunks. With atomic changes, a transaction is open until
    /// [`finish_creation`](Self::finish_creation), and the files have a temporary name before.
    ///
    /// # Errors
    /// `MemoryAlloc`, `FileOpen` for a path that is taken, `FileWrite`, `FileTruncate`.
    pub(super) fn create(
        path: &CStr,
        backend: Backend,
        header: FrameHeader,
        layout: FrameLayout,
        images: Images,
    ) -> Result<Box<DiskFrame>> {
        let kind = layout.kind;
        let level = new_handle_level(&backend);
        let mut disk = Disk::new(kind, path, 0, backend)?;
        let mut inner = DiskInner::new(layout, images);
        let is_staged = level > Durability::Off;
        if is_staged {
            let staging = Staging::of_new_frame(&layout, header, &inner.images)?;
            inner.changes = Changes::Staged(fallible::try_box(staging)?);
        }
        let destination = fallible::path(&[path.to_bytes()])?;
        let new_files =
            if is_staged { NewFiles::create(destination, kind == FrameKind::Sparse)? } else { None };
        if let Some(new_files) = new_files {
            disk.begin_creation(new_files)?;
            return DiskFrame::new(level, disk, inner);
        }
        // Without memory, no file is created.
        let frame = DiskFrame::new(level, disk, inner)?;
        create_in_place(path, &frame.disk, &frame.inner.read_recursive().images, is_staged)?;
        Ok(frame)
    }

    fn new(level: Durability, disk: Disk, inner: DiskInner) -> Result<Box<DiskFrame>> {
        let force_refresh = Arc::<AtomicBool>::default();
        let needs_lock = disk.backend.needs_locking();
        let lock = needs_lock.then(|| Ok(FrameLock::new(disk.lock_file_path()?, force_refresh.clone())));
        fallible::try_box(DiskFrame {
            disk,
            lock: lock.transpose()?,
            force_refresh,
            generation: AtomicU64::new(0),
            level: AtomicU8::new(level as u8),
            checksum_mode: AtomicU8::new(new_handle_checksums(level) as u8),
            kept_units: KeptUnits::default(),
            changed_reads: AtomicU64::new(0),
            inner: InnerLock::new(inner),
            process: AtomicU32::new(fork_count::current()),
        })
    }

    /// Opens the frame at `path`, which begins at byte `base` of its file. For a sparse frame, `path` is a directory
    /// without a slash at its end. Also returns the result of [`first_chunk_flags2`](Self::first_chunk_flags2): other
    /// processes may change the frame as soon as the lock is released.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`, `Lock`, and the errors of `frame.md` 4.1, 4.4 and 4.5.
    pub(super) fn open(
        kind: FrameKind,
        path: &CStr,
        base: u64,
        backend: Backend,
    ) -> Result<(Box<DiskFrame>, FrameContents, u8)> {
        let level = new_handle_level(&backend);
        let disk = Disk::new(kind, path, base, backend)?;
        journal::recover(&disk)?;
        let frame = DiskFrame::new(level, disk, DiskInner::unread(kind))?;
        // With a lock, another process may be writing the frame at this moment, so an invalid frame is read again.
        if frame.lock.is_some() {
            retry(FRAME_READ_ATTEMPTS, || frame.read_header_and_trailer_len())?;
        }
        let locked = frame.lock(false)?;
        let opened = DiskFrame::retry_changed_reads(Some(&frame), || {
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
        self.disk.read(0, &mut bytes)?;
        let header = FrameHeader::parse(&bytes, self.disk.kind())?;
        header.check_for_opening(&bytes)?;
        load::check_file_len(&header)?;
        let trailer_len = self.explain_error(&header, load::read_trailer_len(self, header.frame_len))?;
        Ok((header, trailer_len))
    }

    /// Drops the kept read handle if the path names another file now, before the frame is opened.
    fn drop_replaced_reader(&self) {
        let stamp = self.disk.stamp();
        self.disk.was_replaced(stamp.as_ref());
        if self.disk.directory().is_some() && self.level() > Durability::Off {
            self.disk.detect_replacements(stamp.as_ref());
        }
    }

    /// Reads everything except the chunks, and stores the layout, the index and the images in [`DiskInner`].
    fn load(&self, header: FrameHeader, trailer_len: u64) -> Result<FrameContents> {
        let mut loaded = self.load_parts(&header, trailer_len);
        if self.lock.is_none() {
            // Another handle may have written other parts between two reads.
            loaded = self.confirm_unchanged(&header, Instant::now(), loaded);
        }
        let loaded = self.explain_error(&header, loaded)?;
        let LoadedParts { layout, offsets, images, mut contents, checksums } = loaded;
        let has_pages =
            checksums.as_ref().is_some_and(|checksums| checksums.stored_places().next().is_some());
        let is_open = (header.gap.is_some() || has_pages) && self.is_native();
        let end_of_chunks = is_open.then(|| self.disk.end_of_chunks(&layout, &offsets));
        if let (Some(end), FrameKind::Contiguous) = (end_of_chunks, layout.kind) {
            // The size of the chunks, without the gap behind them.
            contents.header.cbytes = (end - layout.header_len) as i64;
        }
        let mut inner = self.inner.write();
        inner.layout = layout;
        if let (Some(new), Some(old)) = (&checksums, &inner.index.checksums) {
            new.keep_verified(old, |nchunk| inner.index.offsets.get(nchunk) == offsets.get(nchunk));
        }
        inner.index.replace(offsets);
        inner.index.checksums = checksums.map(Arc::new);
        inner.last_check = None;
        inner.end_of_chunks = end_of_chunks;
        inner.discard_staging();
        inner.images = images;
        Ok(contents)
    }

    pub(super) fn load_parts(&self, header: &FrameHeader, trailer_len: u64) -> Result<LoadedParts> {
        let index_limit = header.frame_len.saturating_sub(trailer_len);
        let mut parts = load::load_parts(self, header, trailer_len, index_limit, self.checksum_mode())?;
        if let Some(checksums) = parts.checksums.as_mut().filter(|_| !self.is_native()) {
            checksums.forget_places();
        }
        Ok(parts)
    }

    pub(super) fn checksum_mode(&self) -> ChecksumMode {
        ChecksumMode::from_u8(self.checksum_mode.load(Ordering::Relaxed))
    }

    /// Acquires the lock between processes, if the frame has one. Dropping the result releases it.
    #[inline]
    pub(crate) fn lock(&self, exclusive: bool) -> Result<Option<FrameLockGuard<'_>>> {
        self.discard_inherited_state();
        // No other handle has a frame that is being created under a temporary name.
        let lock = self.lock.as_ref().filter(|_| !self.is_unpublished());
        lock.map(|lock| lock.guard(exclusive)).transpose()
    }

    /// Calls `work` with the lock between processes held exclusively, if the frame has one. Does nothing if another handle
    /// has the lock.
    pub(crate) fn with_lock_if_free(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.discard_inherited_state();
        let Some(lock) = self.lock.as_ref().filter(|_| !self.is_unpublished()) else { return work() };
        let Some(guard) = lock.try_guard()? else { return Ok(()) };
        work()?;
        guard.release()
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
        self.disk.is_unpublished()
    }

    /// Returns whether the frame is a mapped file, so that its chunks can be read in place as in memory.
    pub(crate) fn is_mapped(&self) -> bool {
        self.disk.directory().is_none() && i32::from(self.disk.backend.id()) == BLOSC2_IO_FILESYSTEM_MMAP
    }

    /// Returns whether reads and writes of the frame call I/O callbacks of the program.
    pub(crate) fn has_user_callbacks(&self) -> bool {
        self.disk.backend.id() > 1
    }

    /// Returns whether the process that used the frame last is one from which this process was forked.
    #[inline]
    pub(crate) fn is_state_of_parent(&self) -> bool {
        self.process.load(Ordering::Acquire) != fork_count::current()
    }

    /// Returns the length of the frame in bytes, as last read; of a sparse frame, that of the index file.
    pub(crate) fn len(&self) -> u64 {
        self.inner.read_recursive().layout.frame_len
    }

    /// Returns the size of the data section in bytes, as last read; in a directory, that of all chunks.
    pub(crate) fn cbytes(&self) -> i64 {
        self.inner.read_recursive().layout.cbytes as i64
    }

    /// Returns the length that the frame has once it is closed, in bytes.
    pub(super) fn closed_len(&self) -> u64 {
        let inner = self.inner.read_recursive();
        match inner.staging() {
            Some(staging) => staging.closed_len(&inner.layout, &inner.images),
            None => {
                let closed = |end| end + inner.images.len_behind_chunks();
                inner.end_of_chunks.map_or(inner.layout.frame_len, closed)
            }
        }
    }

    /// Returns whether the frame is in native files.
    pub(crate) fn is_native(&self) -> bool {
        self.disk.backend.is_native()
    }

    pub(super) fn level(&self) -> Durability {
        Durability::from_number(self.level.load(Ordering::Relaxed).into()).unwrap_or(Durability::Off)
    }

    /// Reads the frame again, because it differs from the parsed state. Returns `None` when the frame is invalid, as it
    /// is while another process writes it: the old state is kept, and the next check reports the difference again.
    ///
    /// # Errors
    /// `FileRead` for a length below the minimum; if the frame has a lock, also every error of reading the frame.
    pub(crate) fn refresh(&self, header: FrameHeader) -> Result<Option<FrameContents>> {
        load::check_file_len(&header)?;
        journal::recover(&self.disk)?;
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
                None => self.disk.read_header()?,
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
                        && self.disk.read_header().is_ok_and(|header| {
                            header.has_checksums && self.checksum_mode() != ChecksumMode::Off
                        })
                };
                if self.lock.is_some() || is_damaged() { Err(error) } else { Ok(None) }
            }
        }
    }
}

impl ReadFrame for DiskFrame {
    fn read_at(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        self.disk.read(at, dest)
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

/// Creates the file or the directory at `path` of a new frame, whose images are written later if it `is_staged`. After an
/// error, a directory or a mapped file that this call has created is removed.
fn create_in_place(path: &CStr, disk: &Disk, images: &Images, is_staged: bool) -> Result<()> {
    let is_directory = disk.directory().is_some();
    if is_directory {
        paths::create_dir(path)?;
    } else if paths::exists(path) {
        let error = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(os_err!(error, FileOpen, "{path:?} exists already"));
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
pub(super) fn to_block_error(error: Error) -> Error {
    match error.kind() {
        ErrorKind::FileRead => err!(ReadBuffer, "{error}"),
        _ => error,
    }
}
