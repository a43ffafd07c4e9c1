//! Copying super-chunks, and exporting them as frames: to memory, to a file, or to the end of a file (`schunk.md` 8).

use super::access_lock::WriteGuard;
use super::c_struct::metalayer_kind::MetalayerKind;
use super::change::InputChunk;
use super::metalayers::decompress_content;
use super::rules::Counters;
use super::storage::Storage;
use super::{OwnedSuperChunk, SuperChunk};
use crate::abi::{BLOSC2_CPARAMS_DEFAULTS, BLOSC2X_TUNER_AUTO, blosc2_cparams, blosc2_dparams, blosc2_io};
use crate::chunk::format::flag2;
use crate::chunk::{ChunkHeader, ParsedChunk};
use crate::error::{ErrorKind, Result, err, to_kind};
use crate::fallible;
use crate::frame::format::metalayers::{self, OwnedMetalayer};
use crate::frame::store::durability::Durability;
use crate::frame::store::{DiskFrame, Frame, MemoryFrame};
use crate::io::{Backend, OpenMode, WriteUnit, paths, replacement};
use crate::malloc::MallocVec;
use crate::trace;
use std::ffi::{CStr, CString};
use std::ptr;

#[derive(Clone, Copy, Default)]
pub(crate) struct CopyDestination<'a> {
    /// Whether the copy is one frame; otherwise it has separate chunks.
    pub contiguous: bool,
    /// The path; `None` for a copy in memory.
    pub urlpath: Option<&'a CStr>,
    /// Compression parameters; `None` for those of the original.
    pub cparams: Option<&'a blosc2_cparams>,
    /// Decompression parameters; `None` for the defaults.
    pub dparams: Option<&'a blosc2_dparams>,
    /// The I/O back-end; `None` for plain files.
    pub io: Option<&'a blosc2_io>,
}

impl<'a> CopyDestination<'a> {
    /// Returns the place and the parameters of a new super-chunk, with defaults for those that are `None`.
    pub(crate) fn with_defaults(&self) -> Storage<'a> {
        let defaults = Storage::default();
        Storage {
            contiguous: self.contiguous,
            urlpath: self.urlpath,
            cparams: self.cparams.unwrap_or(defaults.cparams),
            dparams: self.dparams.unwrap_or(defaults.dparams),
            io: self.io.unwrap_or(defaults.io),
        }
    }
}

/// A frame in memory for C code: address and length in bytes.
pub(crate) struct FrameBytes {
    pub start: *mut u8,
    pub len: usize,
    /// Whether the bytes are a `malloc` block that C code has to free; otherwise they are the super-chunk's own memory,
    /// valid until it changes.
    pub is_copy: bool,
}

impl SuperChunk {
    /// Returns the default parameters of a copy: those of the context, without pointers to objects of the program. With
    /// the automatic tuner they are those that the program has set, as in the header of the original.
    fn default_copy_cparams(&self) -> Result<blosc2_cparams> {
        let typesize = self.typesize();
        let cctx = self.cctx()?;
        if let Some(blocksize) = cctx.requested_blocksize_with_auto_tuner() {
            return Ok(blosc2_cparams { nthreads: 0, schunk: ptr::null_mut(), blocksize, ..self.cparams() });
        }
        let head = cctx.head();
        Ok(blosc2_cparams {
            compcode: head.compcode() as u8,
            compcode_meta: head.compcode_meta(),
            clevel: head.clevel() as u8,
            use_dict: head.use_dict(),
            // The context only has typesizes that fit into the header of a chunk.
            typesize: if typesize > 255 { typesize } else { head.typesize() },
            nthreads: 0,
            blocksize: head.blocksize(),
            splitmode: head.splitmode(),
            filters: head.filters(),
            filters_meta: head.filters_meta(),
            tuner_id: 0,
            ..BLOSC2_CPARAMS_DEFAULTS
        })
    }

    /// Returns whether compression with these parameters would make the same chunks as the existing ones, so that they
    /// can be copied.
    fn can_copy_chunks(&self, cparams: &blosc2_cparams) -> Result<bool> {
        let has_postfilter = self.dctx().is_some_and(|dctx| dctx.head().postfilter().is_some());
        let own = self.default_copy_cparams()?;
        let blocksize = if cparams.blocksize == 0 { own.blocksize } else { cparams.blocksize };
        let has_prefilter = self.cctx()?.head().prefilter().is_some();
        Ok(cparams.typesize == own.typesize
            && cparams.clevel == own.clevel
            && cparams.compcode == own.compcode
            && (cparams.use_dict != 0) == (own.use_dict != 0)
            && blocksize == own.blocksize
            && cparams.filters == own.filters
            && cparams.filters_meta == own.filters_meta
            && cparams.tuner_id != BLOSC2X_TUNER_AUTO
            && !has_prefilter
            && !has_postfilter)
    }

    /// Copies the super-chunk. Chunks are recompressed if the parameters differ from those of this one.
    ///
    /// # Safety
    /// Pointers in the parameters are valid as the ABI requires, for as long as the copy lives.
    pub(crate) unsafe fn copy(&self, to: &CopyDestination<'_>) -> Result<OwnedSuperChunk> {
        let own = self.default_copy_cparams()?;
        let cparams = to.cparams.unwrap_or(&own);
        let storage = Storage { cparams, ..to.with_defaults() };
        // SAFETY: the contract of this function: the pointers in the parameters stay valid as long as the copy.
        let copy = unsafe { SuperChunk::create(&storage) }?;
        let from = self.read_lock().counters();
        let counters = Counters { chunksize: from.chunksize, flags2: from.flags2, ..copy.counters() };
        WriteGuard::lock(&*copy)?.set_counters(&counters);
        for (name, content) in self.copy_metalayers(MetalayerKind::Fixed)? {
            copy.meta_add(&fallible::c_string(&[&name])?, &content)?;
        }
        // Chunks of the automatic tuner have other parameters than those that the program has set.
        let may_differ = to.cparams.is_some() && self.cctx()?.requested_blocksize_with_auto_tuner().is_some();
        let verbatim = !may_differ && self.can_copy_chunks(cparams)? || from.flags2 & flag2::VL_BLOCKS != 0;
        copy.without_array_check(|| {
            (0..from.nchunks).try_for_each(|nchunk| {
                if verbatim {
                    copy.append_chunk(InputChunk::Take(&mut Some(self.copy_of_chunk(nchunk)?)))?;
                } else {
                    let content = self.decode_chunk(nchunk)?;
                    copy.append_buffer(Some(&content), content.len())?;
                }
                Ok(())
            })
        })?;
        // SAFETY: there are no parameters.
        unsafe { self.add_vlmetalayers_to(&copy, None) }?;
        Ok(copy)
    }

    /// Returns copies of the metalayers of a list, all in the same state.
    pub(crate) fn copy_metalayers(&self, kind: MetalayerKind) -> Result<Vec<OwnedMetalayer>> {
        metalayers::to_owned(self.read_lock().lock_proof().metalayers(kind))
    }

    /// Adds the metalayers of variable length to another super-chunk, recompressed.
    ///
    /// # Safety
    /// As [`vlmeta_add`](Self::vlmeta_add).
    unsafe fn add_vlmetalayers_to(&self, copy: &SuperChunk, cparams: Option<&blosc2_cparams>) -> Result<()> {
        for (name, chunk) in self.copy_metalayers(MetalayerKind::Variable)? {
            let content = decompress_content(&ParsedChunk::parse(&mut ChunkHeader::default(), &chunk)?)?;
            // SAFETY: the contract of this function: the pointers in `cparams` are valid during the call.
            unsafe { copy.vlmeta_add(&fallible::c_string(&[&name])?, &content, cparams) }?;
        }
        Ok(())
    }

    /// Adds the metalayers of variable length to another super-chunk, recompressed with its parameters.
    ///
    /// # Errors
    /// `Data` for a metalayer that cannot be decompressed, those of [`vlmeta_add`](Self::vlmeta_add).
    pub(crate) fn copy_vlmetalayers_to(&self, other: &SuperChunk) -> Result<()> {
        // SAFETY: `cparams` returns numbers, and the address of a super-chunk that lives during the call.
        unsafe { self.add_vlmetalayers_to(other, Some(&other.cparams())) }
    }

    /// Returns copies of all fixed metalayers except `name`.
    ///
    /// # Errors
    /// `Data` for an invalid name.
    pub(crate) fn other_metalayers(&self, name: &CStr) -> Result<Vec<(CString, Vec<u8>)>> {
        let others = self.copy_metalayers(MetalayerKind::Fixed)?.into_iter();
        let others = others.filter(|(other, _)| other != name.to_bytes());
        fallible::try_collect(others.map(|(name, content)| Ok((fallible::c_string(&[&name])?, content))))
    }

    fn copy_to_memory_frame(&self) -> Result<OwnedSuperChunk> {
        let to = CopyDestination { contiguous: true, ..CopyDestination::default() };
        // SAFETY: only the super-chunk's own parameters, without pointers.
        unsafe { self.copy(&to) }.map_err(to_kind(ErrorKind::SchunkCopy))
    }

    /// Returns whether the super-chunk is one frame in memory. `false` for a view, since the header and metalayers of
    /// its owner's frame differ from those of the view.
    fn is_frame_in_memory(&self) -> bool {
        !self.is_view() && self.frame().and_then(Frame::memory).is_some()
    }

    /// Returns the super-chunk as one frame in memory: its own, or a copy.
    pub(crate) fn to_buffer(&self) -> Result<FrameBytes> {
        if !self.is_view()
            && let Some((start, len)) = self.frame().and_then(Frame::memory).map(MemoryFrame::address)
        {
            // Later changes may move the frame, so a lock during this call would not protect the caller.
            return Ok(FrameBytes { start, len, is_copy: false });
        }
        let copy = self.copy_to_memory_frame()?;
        let bytes = copy.frame().and_then(Frame::memory).map(|frame| {
            frame.with_bytes(|memory| {
                // SAFETY: `true` passes no memory to this value, which leaves its memory to the caller when it is
                // dropped.
                unsafe { memory.set_program_owned(true) };
                FrameBytes { start: memory.as_ptr(), len: memory.bytes().len(), is_copy: true }
            })
        });
        bytes.ok_or_else(|| err!(SchunkCopy, "the super-chunk has no frame in memory"))
    }

    pub(crate) fn copy_frame_bytes<R>(&self, copy: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
        let in_memory;
        let holder = if self.is_frame_in_memory() {
            self
        } else {
            in_memory = self.copy_to_memory_frame()?;
            &in_memory
        };
        let bytes = {
            let _reading = holder.read_lock();
            holder
                .frame()
                .and_then(Frame::memory)
                .map(|frame| frame.with_bytes(|memory| copy(memory.bytes())))
        };
        bytes.ok_or_else(|| err!(SchunkCopy, "the super-chunk has no frame in memory"))?
    }

    /// Lends the bytes of the super-chunk as one frame in a file to `then`: with checksums, if new files have them.
    fn with_file_bytes<R>(&self, then: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
        if !DiskFrame::has_checksums_when_new(&self.backend_for_frame()) {
            return then(&self.copy_frame_bytes(fallible::copy_of)?);
        }
        let mut memory = MallocVec::new();
        self.copy_frame_bytes(|bytes| memory.write_at(0, bytes))?;
        then(MemoryFrame::add_checksums(memory)?.bytes())
    }

    /// Returns the back-end that writes an exported frame: the super-chunk's own if it is a frame in memory; plain
    /// files for copies.
    fn backend_for_frame(&self) -> Backend {
        match &self.backend {
            Some(backend) if self.is_frame_in_memory() => backend.clone(),
            _ => Backend::native(),
        }
    }

    /// Writes the super-chunk as one frame to a file. Returns the length of the frame in bytes. An existing file is
    /// replaced if the super-chunk is a frame in memory; otherwise it is an error.
    pub(crate) fn to_file(&self, path: &CStr) -> Result<usize> {
        if !self.is_frame_in_memory() {
            let to = CopyDestination { contiguous: true, urlpath: Some(path), ..CopyDestination::default() };
            // SAFETY: only the super-chunk's own parameters, without pointers.
            let copy = unsafe { self.copy(&to) }.map_err(to_kind(ErrorKind::SchunkCopy))?;
            copy.finish_creation()?;
            return Ok(usize::try_from(copy.frame_len()).unwrap_or(0));
        }
        let is_synced = Durability::from_environment() == Durability::Power;
        self.with_file_bytes(|bytes| {
            self.backend_for_frame().write_whole_file(paths::strip_scheme(path), bytes, is_synced)?;
            Ok(bytes.len())
        })
    }

    /// Appends the super-chunk as one frame to a file. Returns the offset of the frame in the file, in bytes.
    pub(crate) fn append_file(&self, path: &CStr) -> Result<u64> {
        let is_synced = Durability::from_environment() == Durability::Power;
        self.with_file_bytes(|bytes| {
            let backend = self.backend_for_frame();
            let path = paths::strip_scheme(path);
            if backend.is_native() && !paths::exists(path) {
                // A part of the frame must not be found under the name of a new file.
                backend.write_whole_file(path, bytes, is_synced)?;
                return Ok(0);
            }
            let mut is_new = false;
            let stream = backend.open(path, OpenMode::Update).or_else(|_| {
                is_new = !paths::exists(path);
                drop(backend.open(path, OpenMode::Append)?);
                backend.open(path, OpenMode::Update)
            })?;
            let at = stream.size()?;
            let mut written = stream.write_at(at, bytes, WriteUnit::Item);
            if is_synced {
                written = written
                    .and_then(|()| stream.sync_data())
                    .and_then(|()| replacement::sync_directory(&paths::as_path(path)));
            }
            if let Err(error) = written {
                let restored = if is_new { backend.remove(path) } else { stream.truncate(at) };
                if let Err(error) = restored {
                    trace::warning(|| format!("a part of a frame stays at the end of {path:?}: {error}"));
                }
                return Err(error);
            }
            Ok(at)
        })
    }
}
