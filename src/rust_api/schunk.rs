//! Super-chunks and their metalayers.

use super::chunk::ChunkFields;
use super::params::{CompressSettings, decompress_params};
use super::{c_path, c_text};
use crate::abi::{
    BLOSC2_IO_DEFAULTS, BLOSC2_IO_FILESYSTEM_MMAP, BLOSC2_STDIO_MMAP_DEFAULTS, CBool, blosc2_cparams,
    blosc2_dparams, blosc2_io, blosc2_stdio_mmap, blosc2_stdio_params,
};
use crate::error::{Error, ErrorKind, Result, ensure, err};
use crate::frame::FrameKind;
use crate::frame::store::{DiskFrame, Frame};
use crate::io::paths;
use crate::malloc::MallocVec;
use crate::out_buffer::OutBuffer;
use crate::schunk::change::InputChunk;
use crate::schunk::copy::CopyDestination;
use crate::schunk::slice::slice_len;
use crate::schunk::storage::Storage;
use crate::schunk::{self, OwnedSuperChunk, StorageKind};
use std::cell::UnsafeCell;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

pub use crate::frame::format::checksums::with_checksums;
pub use crate::frame::store::durability::Durability;
pub use crate::io::source::{FilePart, Source, SourceFile};
pub use crate::schunk::MetalayerKind;

/// How the files of a super-chunk are accessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileAccess {
    /// Reads and writes by position.
    #[default]
    Plain,
    /// As `Plain`, with a lock between processes.
    Locked,
    /// The file is mapped into memory for reading.
    Mapped,
}

/// The parameters of a back-end, which live as long as the super-chunk.
pub(super) struct BackendParams {
    io: blosc2_io,
    /// The struct that `io` points at for mapped files. The library writes to it.
    mapping: Option<Box<UnsafeCell<blosc2_stdio_mmap>>>,
}

// SAFETY: the library accesses the struct of a mapping under its own lock, and no other code does.
unsafe impl Send for BackendParams {}
// SAFETY: through a shared reference the struct of the mapping is only reached by the pointer in `io`, which the
// library follows under its own lock.
unsafe impl Sync for BackendParams {}

impl BackendParams {
    pub(super) fn new(access: FileAccess) -> Self {
        static LOCKED: blosc2_stdio_params = blosc2_stdio_params { locking: CBool::TRUE };
        let mut io = BLOSC2_IO_DEFAULTS;
        let mapping =
            (access == FileAccess::Mapped).then(|| Box::new(UnsafeCell::new(BLOSC2_STDIO_MMAP_DEFAULTS)));
        match &mapping {
            Some(mapping) => {
                io.id = BLOSC2_IO_FILESYSTEM_MMAP as u8;
                io.params = mapping.get().cast();
            }
            // The library only reads the struct.
            None if access == FileAccess::Locked => io.params = ptr::from_ref(&LOCKED).cast_mut().cast(),
            None => {}
        }
        BackendParams { io, mapping }
    }

    pub(super) fn io(&self) -> &blosc2_io {
        &self.io
    }

    pub(super) fn is_mapped(&self) -> bool {
        self.mapping.is_some()
    }
}

/// The place of a new super-chunk or array.
#[derive(Clone, Copy, Debug)]
pub struct NewStorage<'a> {
    /// The file or directory, which must not exist; `None` for memory.
    pub path: Option<&'a Path>,
    /// Whether the chunks are in one frame; otherwise in a directory, or one by one in memory.
    pub is_contiguous: bool,
    /// How the files are accessed: not `Mapped`.
    pub access: FileAccess,
}

/// A [`NewStorage`] with the types of the core.
pub(super) struct CheckedStorage {
    path: Option<CString>,
    is_contiguous: bool,
    pub(super) params: BackendParams,
}

impl CheckedStorage {
    pub(super) fn new(place: &NewStorage<'_>) -> Result<CheckedStorage> {
        ensure!(place.access != FileAccess::Mapped, InvalidParam, "mapped files can only be read");
        let path = place.path.map(c_path).transpose()?;
        let params = BackendParams::new(place.access);
        Ok(CheckedStorage { path, is_contiguous: place.is_contiguous, params })
    }

    pub(super) fn storage<'a>(
        &'a self,
        cparams: &'a blosc2_cparams,
        dparams: &'a blosc2_dparams,
    ) -> Storage<'a> {
        let urlpath = self.path.as_deref();
        Storage { contiguous: self.is_contiguous, urlpath, cparams, dparams, io: self.params.io() }
    }

    pub(super) fn destination<'a>(
        &'a self,
        cparams: Option<&'a blosc2_cparams>,
        dparams: Option<&'a blosc2_dparams>,
    ) -> CopyDestination<'a> {
        let (urlpath, io) = (self.path.as_deref(), Some(self.params.io()));
        CopyDestination { contiguous: self.is_contiguous, urlpath, cparams, dparams, io }
    }
}

/// The size and the properties of a super-chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuperChunkInfo {
    /// Number of chunks.
    pub nchunks: u64,
    /// Length of the content in bytes.
    pub nbytes: u64,
    /// Length of the chunks in bytes.
    pub cbytes: u64,
    /// Length of the content of a chunk in bytes, of the last one at most that; `None` for chunks of different sizes.
    pub chunksize: Option<usize>,
    /// Length of the frame in bytes; an estimate without a frame.
    pub frame_len: u64,
    /// Whether the chunks are in one frame.
    pub is_contiguous: bool,
    /// Whether the chunks have blocks of variable length.
    pub has_variable_blocks: bool,
    /// Whether the frame has checksums, which are compared when it is read.
    pub has_checksums: bool,
    /// Compression parameters.
    pub settings: CompressSettings,
}

/// A super-chunk.
pub struct SuperChunkHandle {
    // Dropped before the parameters of its back-end.
    inner: OwnedSuperChunk,
    params: BackendParams,
}

impl Drop for SuperChunkHandle {
    fn drop(&mut self) {
        if let Err(error) = self.inner.release_backend() {
            crate::trace::error(&error);
        }
    }
}

impl SuperChunkHandle {
    /// Creates a super-chunk without chunks. `nthreads` is the number of threads that decompress.
    pub fn create(
        place: &NewStorage<'_>,
        settings: &CompressSettings,
        nthreads: i16,
    ) -> Result<SuperChunkHandle> {
        let place = CheckedStorage::new(place)?;
        let (cparams, dparams) = (settings.to_c(), decompress_params(nthreads));
        // SAFETY: the parameters have no pointers, except that of the tuner, which is followed only in this call, and those
        // of the back-end, which outlive the super-chunk.
        let inner = unsafe { schunk::SuperChunk::create(&place.storage(&cparams, &dparams)) }?;
        inner.finish_creation()?;
        Ok(SuperChunkHandle { inner, params: place.params })
    }

    /// Opens the frame at byte `offset` of a file, or in a directory.
    pub fn open(path: &Path, offset: u64, access: FileAccess) -> Result<SuperChunkHandle> {
        let params = BackendParams::new(access);
        let offset = signed(offset)?;
        // SAFETY: the parameters of the back-end outlive the super-chunk.
        let inner = unsafe { schunk::SuperChunk::open(&c_path(path)?, offset, params.io()) }?;
        Ok(SuperChunkHandle { inner, params })
    }

    /// Opens the frame in a place of `source` for reading.
    pub fn open_source(source: Arc<dyn Source>, place: SourcePlace<'_>) -> Result<SuperChunkHandle> {
        let inner = open_source(source, place)?;
        Ok(SuperChunkHandle { inner, params: BackendParams::new(FileAccess::Plain) })
    }

    /// Opens a copy of the contiguous frame in `bytes`.
    pub fn from_frame(bytes: &[u8]) -> Result<SuperChunkHandle> {
        let mut memory = MallocVec::new();
        memory.write_at(0, bytes)?;
        let inner = schunk::SuperChunk::from_frame(memory)?;
        Ok(SuperChunkHandle { inner, params: BackendParams::new(FileAccess::Plain) })
    }

    /// Copies the super-chunk with its metalayers. With other parameters, the chunks are compressed again.
    pub fn copy(
        &self,
        place: &NewStorage<'_>,
        settings: Option<&CompressSettings>,
    ) -> Result<SuperChunkHandle> {
        let place = CheckedStorage::new(place)?;
        let cparams = settings.map(CompressSettings::to_c);
        // SAFETY: the parameters have no pointers, except that of the tuner, which is followed only in this call, and those
        // of the back-end, which outlive the copy: `params` is dropped after `inner`.
        let inner = unsafe { self.inner.copy(&place.destination(cparams.as_ref(), None)) }?;
        inner.finish_creation()?;
        Ok(SuperChunkHandle { inner, params: place.params })
    }

    /// Returns the functions of the super-chunk.
    pub fn as_ref(&self) -> SuperChunkRef<'_> {
        SuperChunkRef(&self.inner)
    }

    /// Returns the owner of the super-chunk, and the parameters of its back-end.
    pub(super) fn inner(&self) -> &OwnedSuperChunk {
        &self.inner
    }

    /// Returns whether the file is mapped.
    pub fn is_mapped(&self) -> bool {
        self.params.is_mapped()
    }
}

pub(super) fn open_source(source: Arc<dyn Source>, place: SourcePlace<'_>) -> Result<OwnedSuperChunk> {
    let (kind, name, offset) = place.parts();
    schunk::SuperChunk::open_source(kind, &c_text(name)?, offset, source)
}

/// The place of a frame in a [`Source`].
#[derive(Clone, Copy, Debug)]
pub enum SourcePlace<'a> {
    /// The name of a file, and the offset of the frame in it in bytes.
    File(&'a str, u64),
    /// The name of a directory.
    Directory(&'a str),
}

impl<'a> SourcePlace<'a> {
    pub(super) fn parts(self) -> (FrameKind, &'a str, u64) {
        match self {
            SourcePlace::File(name, offset) => (FrameKind::Contiguous, name, offset),
            SourcePlace::Directory(name) => (FrameKind::Sparse, name, 0),
        }
    }
}

/// A borrowed super-chunk, of a [`SuperChunkHandle`] or of an array. Any number of threads may use and change it.
#[derive(Clone, Copy)]
pub struct SuperChunkRef<'a>(pub(super) &'a schunk::SuperChunk);

fn number(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// Returns a number of chunks or items for the core.
///
/// # Errors
/// `InvalidParam` from 2^63 on.
pub(super) fn signed(value: u64) -> Result<i64> {
    i64::try_from(value).map_err(|_| err!(InvalidParam, "{value} is too large, expected less than 2^63"))
}

impl SuperChunkRef<'_> {
    /// Returns the size and the properties.
    pub fn info(self) -> SuperChunkInfo {
        let counters = self.0.counters();
        SuperChunkInfo {
            nchunks: number(counters.nchunks),
            nbytes: number(counters.nbytes),
            cbytes: number(counters.cbytes),
            chunksize: usize::try_from(counters.chunksize).ok().filter(|&size| size > 0),
            frame_len: number(self.0.frame_len()),
            is_contiguous: self.0.storage_kind() == StorageKind::Contiguous,
            has_variable_blocks: counters.flags2 & crate::chunk::format::flag2::VL_BLOCKS != 0,
            has_checksums: self.0.frame().is_some_and(Frame::has_checksums),
            settings: CompressSettings::from_c(&self.0.cparams()),
        }
    }

    /// Returns the number of chunks.
    pub fn nchunks(self) -> u64 {
        number(self.0.counters().nchunks)
    }

    /// Reads the changes of other handles on the same files. Returns whether there were any.
    pub fn refresh(self) -> Result<bool> {
        self.0.refresh()
    }

    /// Returns the name of the file that has chunk `nchunk` of a frame on disk; `None` for a special chunk, and in memory.
    pub fn file_of_chunk(self, nchunk: u64) -> Result<Option<Arc<str>>> {
        let number = usize::try_from(nchunk).unwrap_or(usize::MAX);
        self.0.disk_frame().map_or(Ok(None), |frame| frame.file_of_chunk(number))
    }

    /// Gives new chunk files of a directory numbers that no file has had, from `first` on: each change then makes files that can be
    /// added to a copy of the directory.
    pub fn set_first_new_chunk_file(self, first: u64) {
        if let Some(frame) = self.0.disk_frame() {
            frame.set_first_new_number(first);
        }
    }

    /// Returns the fields of the header of chunk `nchunk`.
    pub fn chunk_info(self, nchunk: u64) -> Result<ChunkFields> {
        ChunkFields::parse(&self.0.chunk_head(signed(nchunk)?)?)
    }

    /// Fetches chunk `nchunk` from files of a [`Source`]; the result is kept while it is read.
    pub fn fetch_chunk(self, nchunk: u64) -> Result<impl Send + use<>> {
        self.0.fetch_chunk(signed(nchunk)?)
    }

    /// Returns a copy of chunk `nchunk`.
    pub fn chunk(self, nchunk: u64) -> Result<Vec<u8>> {
        Ok(self.0.copy_of_chunk(signed(nchunk)?)?.to_vec())
    }

    /// Decompresses chunk `nchunk` into `dest`. Returns the number of bytes.
    pub fn decompress_chunk(self, nchunk: u64, dest: &mut [u8]) -> Result<usize> {
        self.0.decompress_chunk(signed(nchunk)?, OutBuffer::from(dest))
    }

    /// Reads the items `start..stop` into `dest`.
    pub fn read_items(self, start: u64, stop: u64, dest: &mut [u8]) -> Result<()> {
        let (start, stop) = self.check_items(start, stop, dest.len())?;
        self.0.get_slice(start, stop, OutBuffer::from(dest))
    }

    /// Overwrites the items `start..stop`.
    pub fn write_items(self, start: u64, stop: u64, src: &[u8]) -> Result<()> {
        let (start, stop) = self.check_items(start, stop, src.len())?;
        if start == stop {
            return Ok(());
        }
        self.0.set_slice(start, stop, src)
    }

    fn check_items(self, start: u64, stop: u64, len: usize) -> Result<(i64, i64)> {
        let typesize = self.0.typesize();
        let nitems = number(self.0.counters().nbytes) / u64::try_from(typesize).unwrap_or(1).max(1);
        ensure!(start <= stop && stop <= nitems, InvalidParam, "items {start}..{stop} of {nitems}");
        let (start, stop) = (signed(start)?, signed(stop)?);
        let expected = slice_len(start, stop, typesize)?;
        ensure!(len == expected, InvalidParam, "the buffer has {len} bytes, expected {expected}");
        Ok((start, stop))
    }

    /// Reads single items, one after the other, into `dest`.
    pub fn read_sparse(self, items: &[u64], dest: &mut [u8]) -> Result<()> {
        let items = items.iter().map(|&item| signed(item)).collect::<Result<Vec<i64>>>()?;
        let expected = slice_len(0, signed(items.len() as u64)?, self.0.typesize())?;
        if dest.len() != expected {
            return Err(err!(InvalidParam, "the buffer has {} bytes, expected {expected}", dest.len()));
        }
        if items.is_empty() {
            return Ok(());
        }
        if self.0.blocksize() > 0 {
            return self.0.get_sparse(&items, OutBuffer::from(dest));
        }
        // Blocks of different sizes.
        let width = dest.len() / items.len();
        for (&item, dest) in items.iter().zip(dest.chunks_exact_mut(width)) {
            let (start, stop) = self.check_items(item.unsigned_abs(), item.unsigned_abs() + 1, width)?;
            self.0.get_slice(start, stop, OutBuffer::from(dest))?;
        }
        Ok(())
    }

    /// Compresses `content`, and appends it as a chunk. Returns the number of chunks.
    pub fn append(self, content: &[u8]) -> Result<u64> {
        self.0.append_buffer(Some(content), content.len()).map(number)
    }

    /// Appends a chunk. Returns the number of chunks.
    pub fn append_chunk(self, chunk: &[u8]) -> Result<u64> {
        self.0.append_chunk(InputChunk::Copy(checked_chunk(chunk)?)).map(number)
    }

    /// Inserts a chunk before chunk `nchunk`. Returns the number of chunks.
    pub fn insert_chunk(self, nchunk: u64, chunk: &[u8]) -> Result<u64> {
        self.0.insert_chunk(signed(nchunk)?, InputChunk::Copy(checked_chunk(chunk)?)).map(number)
    }

    /// Replaces chunk `nchunk`.
    pub fn update_chunk(self, nchunk: u64, chunk: &[u8]) -> Result<()> {
        self.0.update_chunk(signed(nchunk)?, InputChunk::Copy(checked_chunk(chunk)?)).map(|_| ())
    }

    /// Deletes chunk `nchunk`. Returns the number of chunks.
    pub fn delete_chunk(self, nchunk: u64) -> Result<u64> {
        self.0.delete_chunk(signed(nchunk)?).map(number)
    }

    /// Puts the chunks in another order: chunk `order[i]` becomes chunk `i`.
    pub fn reorder(self, order: &[u64]) -> Result<()> {
        let order = order.iter().map(|&n| signed(n)).collect::<Result<Vec<i64>>>()?;
        let nchunks = self.nchunks();
        ensure!(order.len() as u64 == nchunks, InvalidParam, "{} numbers for {nchunks} chunks", order.len());
        self.0.reorder(&order)
    }

    /// Returns the names of the metalayers, in their order.
    pub fn metalayer_names(self, list: MetalayerKind) -> Vec<Vec<u8>> {
        self.0.metalayer_name_copies(list)
    }

    /// Returns the content of a metalayer; `None` if there is none of that name.
    pub fn metalayer(self, list: MetalayerKind, name: &str) -> Result<Option<Vec<u8>>> {
        // No metalayer has a name with a NUL byte.
        let Ok(name) = c_text(name) else { return Ok(None) };
        if list == MetalayerKind::Fixed {
            return self.0.meta_copy(&name);
        }
        match self.0.vlmeta_get(&name) {
            Ok((_, content)) => Ok(Some(content?.to_vec())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sets the content of a metalayer. A new fixed metalayer needs a super-chunk without chunks; the content of an
    /// existing one must have the same length.
    pub fn set_metalayer(self, list: MetalayerKind, name: &str, content: &[u8]) -> Result<()> {
        let c_name = c_text(name)?;
        let there = self.0.copy_metalayers(list)?.into_iter().find(|(other, _)| other == name.as_bytes());
        match (list, there) {
            (MetalayerKind::Fixed, None) => self.0.meta_add(&c_name, content).map(|_| ()),
            (MetalayerKind::Fixed, Some((_, old))) if old.len() != content.len() => Err(err!(
                InvalidParam,
                "metalayer {name:?} has {} bytes, expected the same number instead of {}",
                old.len(),
                content.len()
            )),
            (MetalayerKind::Fixed, Some(_)) => self.0.meta_update(&c_name, content).map(|_| ()),
            (MetalayerKind::Variable, None) => {
                // SAFETY: there are no parameters, whose pointers the contract is about.
                unsafe { self.0.vlmeta_add(&c_name, content, None) }.map(|_| ())
            }
            (MetalayerKind::Variable, Some(_)) => {
                // SAFETY: there are no parameters, whose pointers the contract is about.
                unsafe { self.0.vlmeta_update(&c_name, content, None) }.map(|_| ())
            }
        }
    }

    /// Deletes a metalayer of variable length.
    pub fn delete_metalayer(self, name: &str) -> Result<()> {
        self.0.vlmeta_delete(&c_text(name)?).map(|_| ())
    }

    /// Returns the super-chunk as one contiguous frame.
    pub fn to_frame(self) -> Result<Vec<u8>> {
        self.0.copy_frame_bytes(|bytes| Ok(bytes.to_vec()))
    }

    /// Appends the super-chunk as one contiguous frame to a file. Returns the offset of the frame in bytes.
    pub fn append_to_file(self, path: &Path) -> Result<u64> {
        self.0.append_file(&c_path(path)?)
    }

    /// Sets the durability of changes.
    pub fn set_durability(self, level: Durability) -> Result<()> {
        self.0.set_durability(level)
    }

    /// Waits until all changes survive a loss of power.
    pub fn sync(self) -> Result<()> {
        self.0.sync()
    }

    /// Takes the lock between processes, if there is one, and begins a bracket: changes until [`unlock`](Self::unlock)
    /// are committed together.
    pub fn lock(self) -> Result<()> {
        self.0.hold_frame_lock()
    }

    /// Ends what [`lock`](Self::lock) has begun.
    pub fn unlock(self) -> Result<()> {
        self.0.release_frame_lock()
    }

    /// Returns whether the super-chunk is in plain files.
    pub fn has_transactions(self) -> bool {
        self.0.disk_frame().is_some_and(DiskFrame::is_native)
    }

    /// Runs `work`, whose changes are committed together; after an error none of them is there.
    ///
    /// # Errors
    /// Those of `work`; `Failure` for a super-chunk that is not in plain files; those of writing.
    pub fn transaction<R, E: From<Error>>(
        self,
        work: impl FnOnce() -> std::result::Result<R, E>,
    ) -> std::result::Result<R, E> {
        let mut failed = None;
        let done = self.0.transact(|| {
            work().map_err(|error| {
                failed = Some(error);
                err!(Failure, "the changes of the transaction have failed")
            })
        });
        done.map_err(|error| failed.unwrap_or_else(|| error.into()))
    }

    /// Returns the number of threads that work on one call.
    pub fn nthreads(self) -> i16 {
        // `set_nthreads` gives both contexts the same number; the lock of the other one is held while a chunk is compressed.
        self.0.dctx().map_or(1, |dctx| dctx.head().new_nthreads())
    }

    /// Sets the numbers of threads that compress and decompress.
    pub fn set_nthreads(self, nthreads: i16) -> Result<()> {
        self.0.cctx()?.head().set_new_nthreads(nthreads);
        if let Some(dctx) = self.0.dctx() {
            dctx.head().set_new_nthreads(nthreads);
        }
        Ok(())
    }
}

/// Returns `chunk`, whose header states no more bytes than it has.
///
/// # Errors
/// `ReadBuffer`; those of a damaged header.
fn checked_chunk(chunk: &[u8]) -> Result<&[u8]> {
    let info = ChunkFields::parse_whole(chunk)?;
    chunk
        .get(..info.cbytes)
        .ok_or_else(|| err!(ReadBuffer, "the chunk has {} bytes, expected {}", chunk.len(), info.cbytes))
}

/// Returns whether there is a file or a directory at a path, of which a leading `file:///` is left out.
pub fn exists(path: &Path) -> Result<bool> {
    Ok(paths::exists(paths::strip_scheme(&c_path(path)?)))
}

/// Removes the files of a super-chunk; a missing path is no error. A leading `file:///` of the path is left out.
pub fn remove(path: &Path) -> Result<()> {
    paths::remove_urlpath(paths::strip_scheme(&c_path(path)?))
}

/// Returns the name of the index file of the directory of a super-chunk.
pub fn index_file(directory: &Path) -> PathBuf {
    directory.join(crate::frame::store::disk::INDEX_FILE)
}
