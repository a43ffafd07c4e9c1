//! A frame on disk: its paths, and reading and writing its files.

use super::chunk_files::ChunkFiles;
use super::trailing;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::err;
use crate::error::{Error, ErrorKind, Result};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::chunk_info::stored_len;
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader};
use crate::frame::format::index::Offsets;
use crate::frame::format::plan::FrameLayout;
use crate::io::new_files::NewFiles;
use crate::io::replacement::Replacement;
use crate::io::{
    Backend, CachedReader, ObservedStamp, OpenMode, ReadHandle, paths, read_file_stamp, replacement,
};
use crate::os;
use parking_lot::Mutex;
use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// The file of a directory that holds header, index and trailer.
pub(crate) const INDEX_FILE: &str = "chunks.b2frame";

/// The files of a frame.
pub(crate) struct Disk {
    /// The I/O back-end of the files.
    pub backend: Backend,
    /// Offset of the frame in its file, in bytes.
    pub base: u64,
    names: FileNames,
    /// The read handle, which is kept for sparse frames, too, where the reference keeps none (`frame.md` 5.4). An index
    /// file that was replaced, as atomic changes do, is detected as for other files.
    reader: CachedReader,
    /// The files while the frame is being created under a temporary name. Dropped after the read handle: Windows does not
    /// remove a directory in which a file is open.
    creation: Option<Box<Creation>>,
}

struct FileNames {
    /// The file with header, index and trailer.
    path: CString,
    /// The chunk files of a sparse frame; `None` for a contiguous one, whose chunks are in that file.
    directory: Option<ChunkFiles>,
}

impl FileNames {
    /// Returns the names of the files of the frame at `path`: a file, or for a sparse frame a directory.
    fn new(kind: FrameKind, path: &CStr, backend: &Backend) -> Result<FileNames> {
        let path = path.to_bytes();
        Ok(match kind {
            FrameKind::Contiguous => FileNames { path: fallible::c_string(&[path])?, directory: None },
            FrameKind::Sparse => {
                let directory = fallible::c_string(&[path])?;
                FileNames {
                    path: fallible::c_string(&[path, b"/", INDEX_FILE.as_bytes()])?,
                    directory: Some(ChunkFiles { directory, backend: backend.clone() }),
                }
            }
        })
    }
}

/// The files of a frame that is being created.
struct Creation {
    names: FileNames,
    files: Mutex<NewFiles>,
    is_published: AtomicBool,
}

impl Disk {
    /// Describes the frame at `path`: a file, or for a sparse frame a directory, without a slash at its end. Opens
    /// nothing.
    pub(crate) fn new(kind: FrameKind, path: &CStr, base: u64, backend: Backend) -> Result<Disk> {
        Ok(Disk {
            reader: CachedReader::new(backend.clone()),
            names: FileNames::new(kind, path, &backend)?,
            creation: None,
            backend,
            base,
        })
    }

    /// Gives the files the names of `files` until [`publish`](Self::publish) is called.
    pub(in crate::frame) fn begin_creation(&mut self, files: NewFiles) -> Result<()> {
        let path = fallible::c_string(&[files.temporary_path().as_os_str().as_encoded_bytes()])?;
        let names = FileNames::new(self.kind(), &path, &self.backend)?;
        let creation = Creation { names, files: Mutex::new(files), is_published: AtomicBool::new(false) };
        self.creation = Some(fallible::try_box(creation)?);
        Ok(())
    }

    /// Gives the files of a frame that was being created their own name; does nothing for others. With `is_synced`, waits
    /// until the name is on disk.
    pub(in crate::frame) fn publish(&self, is_synced: bool) -> Result<()> {
        let Some(creation) = self.creation.as_ref().filter(|_| self.is_unpublished()) else { return Ok(()) };
        if !os::RENAMES_DIRECTORIES_IN_USE && self.directory().is_some() {
            self.reader.close();
        }
        creation.files.lock().publish(is_synced)?;
        creation.is_published.store(true, Ordering::Release);
        Ok(())
    }

    /// Returns whether the files have a temporary name: the frame is being created.
    pub(in crate::frame) fn is_unpublished(&self) -> bool {
        self.creation.as_ref().is_some_and(|creation| !creation.is_published.load(Ordering::Acquire))
    }

    fn names(&self) -> &FileNames {
        match &self.creation {
            Some(creation) if !creation.is_published.load(Ordering::Acquire) => &creation.names,
            _ => &self.names,
        }
    }

    /// Returns the path of the file with header, index and trailer.
    pub(in crate::frame) fn path(&self) -> &CStr {
        &self.names().path
    }

    /// Returns the chunk files of a sparse frame; `None` for a contiguous one, whose chunks are in its only file.
    pub(in crate::frame) fn directory(&self) -> Option<&ChunkFiles> {
        self.names().directory.as_ref()
    }

    pub(in crate::frame) fn kind(&self) -> FrameKind {
        if self.names.directory.is_some() { FrameKind::Sparse } else { FrameKind::Contiguous }
    }

    pub(in crate::frame) fn chunk_files(&self) -> Result<&ChunkFiles> {
        self.directory().ok_or_else(|| err!(InvalidHeader, "no chunk files: expected a sparse frame"))
    }

    /// Removes the chunk files with these numbers, to which no index refers.
    pub(in crate::frame) fn remove_chunk_files(&self, numbers: impl IntoIterator<Item = u64>) {
        if let Some(files) = self.directory() {
            numbers.into_iter().for_each(|number| files.remove(number));
        }
    }

    pub(crate) fn lock_file_path(&self) -> Result<PathBuf> {
        match &self.names.directory {
            Some(files) => fallible::path(&[files.directory.to_bytes(), b"/.b2lock"]),
            None => paths::lock_file_path(&self.names.path),
        }
    }

    /// Returns the stamp of the file with header, index and trailer; `None` when the file does not exist, and for
    /// mappings and back-ends of the program.
    pub(crate) fn stamp(&self) -> Option<ObservedStamp> {
        if self.backend.is_native() { read_file_stamp(self.path()) } else { None }
    }

    /// Returns whether the path names another file than the one that was read last. `current` is the stamp that the
    /// path has now.
    pub(crate) fn was_replaced(&self, current: Option<&ObservedStamp>) -> bool {
        self.reader.revalidate(current.map(|current| current.stamp.version()))
    }

    /// Sets whether a replacement of the index file must also be detected while no read handle is kept: for a directory with
    /// atomic changes. `current` is the stamp that the path has before the file is read.
    pub(crate) fn detect_replacements(&self, current: Option<&ObservedStamp>) {
        self.reader.set_unkept(current.map(|current| current.stamp.version()));
    }

    /// Returns whether the path names another file than the one that was read last.
    pub(super) fn names_other_file(&self) -> bool {
        self.stamp().is_some_and(|current| self.reader.is_other_file(current.stamp.version()))
    }

    /// Lets the next [`drop_lost_reader`](Self::drop_lost_reader) check the kept read handle.
    pub(super) fn expect_reader_check(&self) {
        self.reader.expect_check();
    }

    /// Drops the kept read handle if the program has closed its descriptor; the next read opens the file again. The handle is
    /// checked once for each call of the program.
    pub(super) fn drop_lost_reader(&self) {
        self.reader.drop_if_lost();
    }

    pub(crate) fn reader(&self) -> Result<ReadHandle> {
        self.reader.open(self.path())
    }

    /// Fills `dest` with the bytes that begin at byte `at` of the frame.
    pub(crate) fn read(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        let at = self
            .base
            .checked_add(at)
            .ok_or_else(|| err!(FileRead, "offset {at} of a frame at byte {} overflows", self.base))?;
        self.reader()?.read_exact_at(at, dest)
    }

    /// Reads the fixed part of the header.
    pub(in crate::frame) fn read_header(&self) -> Result<FrameHeader> {
        self.read_header_with_image().map(|(_, header)| header)
    }

    /// Reads the fixed part of the header. Also returns its bytes.
    #[inline]
    pub(super) fn read_header_with_image(&self) -> Result<([u8; FIXED_HEADER_LEN], FrameHeader)> {
        let mut image = [0; FIXED_HEADER_LEN];
        self.read(0, &mut image)?;
        Ok((image, FrameHeader::parse(&image, self.kind())?))
    }

    /// Checks that the file has only remains of earlier changes behind the frame, before the frame is changed.
    /// `header_image` is the committed header, `size` the length of the file in bytes.
    ///
    /// # Errors
    /// `FileWrite` if other data follow, `FileRead`, `MemoryAlloc`.
    pub(in crate::frame) fn check_end_of_file(
        &self,
        layout: &FrameLayout,
        header_image: &[u8],
        size: u64,
    ) -> Result<()> {
        let end = self.base + layout.frame_len;
        if size <= end {
            return Ok(());
        }
        let header = FrameHeader::parse(header_image, layout.kind)?;
        let mut read = |at, dest: &mut [u8]| self.reader()?.read_exact_at(at, dest);
        let has_other_data = trailing::has_other_data_behind(&header, self.base, size, &mut read);
        // The size that a back-end of the program gives may include bytes that cannot be read.
        let is_unreadable = |error: &Error| !self.backend.is_native() && error.kind() == ErrorKind::FileRead;
        if has_other_data.or_else(|error| if is_unreadable(&error) { Ok(false) } else { Err(error) })? {
            let path = paths::as_path(self.path());
            let path = path.display();
            return Err(err!(
                FileWrite,
                "other data follow the frame, which ends at byte {end} of {path}: it cannot be changed"
            ));
        }
        Ok(())
    }

    /// Returns the end of the last chunk of a contiguous frame and its record, in bytes from the start of the frame. If the
    /// length of that chunk cannot be read, the whole data section counts as used. The index file of a directory has no
    /// chunks.
    pub(in crate::frame) fn end_of_chunks(&self, layout: &FrameLayout, offsets: &Offsets) -> u64 {
        let last = if layout.kind == FrameKind::Contiguous { offsets.max_number() } else { -1 };
        let Ok(last) = u64::try_from(last) else { return layout.header_len };
        let at = layout.header_len + last;
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        let room = layout.index_offset().saturating_sub(at);
        let len = self.read(at, &mut head).ok().and_then(|()| stored_len(&head)).filter(|&len| len <= room);
        len.map_or(layout.index_offset(), |len| at + layout.len_with_record(len, room))
    }

    /// Waits until all native files of the frame, and their names, are on disk.
    pub(in crate::frame) fn sync(&self) -> Result<()> {
        self.directory().map_or(Ok(()), |files| files.sync(self.path()))?;
        replacement::sync_file(&paths::as_path(self.path()))?;
        self.sync_names()
    }

    /// Waits until the names of the frame's native files are on disk: those in the directory of the index file, and for
    /// a sparse frame the name of that directory. A temporary name need not be on disk.
    pub(in crate::frame) fn sync_names(&self) -> Result<()> {
        self.sync_file_names()?;
        self.directory()
            .map_or(Ok(()), |files| replacement::sync_directory(&paths::as_path(&files.directory)))
    }

    /// Waits until the names in the directory of the index file are on disk.
    pub(in crate::frame) fn sync_file_names(&self) -> Result<()> {
        replacement::sync_directory(&paths::as_path(self.path()))
    }

    /// Writes a new index file of a native directory beside the existing one.
    pub(in crate::frame) fn prepare_index_file<'a>(&'a self, bytes: &'a [u8]) -> Result<Replacement<'a>> {
        Replacement::prepare(self.path(), bytes)
    }

    /// Replaces the index file of a native directory by a new file, and waits until it is on disk if `is_synced`.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`; the old file is unchanged then.
    pub(in crate::frame) fn commit_index_file(&self, new: Replacement<'_>, is_synced: bool) -> Result<()> {
        self.reader.replace_open_file(new.commit(is_synced)?);
        Ok(())
    }

    /// Cuts off the native file of a contiguous frame, or the index file, behind a frame of `frame_len` bytes.
    pub(in crate::frame) fn cut_file(&self, frame_len: u64) -> Result<()> {
        self.backend.open(self.path(), OpenMode::Update)?.cut(self.base + frame_len)
    }
}
