//! Opening super-chunks: from files and directories, and from frames in memory (`schunk.md` 6).

use super::access_lock::WriteGuard;
use super::c_struct::chunk_array::ChunkBlock;
use super::c_struct::metalayer_kind::MetalayerKind;
use super::rules::Counters;
use super::storage::Storage;
use super::{OwnedSuperChunk, SuperChunk};
use crate::abi::{
    BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, blosc2_cparams, blosc2_dparams, blosc2_io,
};
use crate::error::{Result, ensure, err, os_err};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::chunk_info::ChunkInfo;
use crate::frame::format::header::FrameHeader;
use crate::frame::store::fetch::FetchMode;
use crate::frame::store::{Frame, FrameContents};
use crate::io::source::Source;
use crate::io::{Backend, paths};
use crate::malloc::MallocVec;
use crate::pipeline::library;
use std::ffi::CStr;
use std::sync::Arc;

/// Upper limit for the memory of the special chunks in a copy of a frame: `COPY_LIMIT_BASE + COPY_LIMIT_FACTOR x` the
/// length of the frame, in bytes.
const COPY_LIMIT_BASE: u64 = 64 << 20;
/// Factor of the limit at [`COPY_LIMIT_BASE`].
const COPY_LIMIT_FACTOR: u64 = 4096;
/// Memory of a special chunk in bytes, including its pointer and the overhead of `malloc`.
const COPIED_SPECIAL_NBYTES: u64 = 56;

impl SuperChunk {
    /// Opens the frame at byte `offset` of the file at `path`, or in the directory there.
    ///
    /// # Safety
    /// The parameters of the back-end are valid for it, for as long as the super-chunk lives.
    pub(crate) unsafe fn open(path: &CStr, offset: i64, io: &blosc2_io) -> Result<OwnedSuperChunk> {
        // SAFETY: by the contract the parameters of the back-end are valid as long as the super-chunk lives.
        let backend = unsafe { Backend::resolve(io) }?;
        let opened = open_frame(path, offset, &backend).and_then(|(frame, contents, flags2)| {
            let contiguous = frame.kind() == FrameKind::Contiguous;
            let storage = Storage { contiguous, urlpath: Some(path), io, ..Storage::default() };
            SuperChunk::from_opened_frame(frame, &contents, flags2, Some(backend.clone()), &storage)
        });
        // The super-chunk owns the back-end's parameters. Without one, they are released here.
        opened.inspect_err(|_| {
            if let Err(error) = backend.destroy() {
                crate::trace::error(&error);
            }
        })
    }

    /// Opens the frame at byte `base` of the file `name` of `source`, or in the files of a directory, for reading.
    pub(crate) fn open_source(
        kind: FrameKind,
        name: &CStr,
        base: u64,
        source: Arc<dyn Source>,
    ) -> Result<OwnedSuperChunk> {
        let backend = Backend::of_source(source);
        let (frame, contents, flags2) = Frame::open(kind, name, base, backend.clone())?;
        let contiguous = kind == FrameKind::Contiguous;
        let storage = Storage { contiguous, urlpath: Some(name), ..Storage::default() };
        SuperChunk::from_opened_frame(frame, &contents, flags2, Some(backend), &storage)
    }

    /// Opens a frame in memory without copying it; the first change copies it.
    pub(crate) fn from_frame(memory: MallocVec) -> Result<OwnedSuperChunk> {
        let (frame, contents) = Frame::from_memory(memory)?;
        let flags2 = frame.first_chunk_flags2(&contents)?;
        let storage = Storage { contiguous: true, ..Storage::default() };
        SuperChunk::from_opened_frame(frame, &contents, flags2, None, &storage)
    }

    /// Makes a super-chunk in memory, without a frame, of the frame in `bytes`.
    pub(crate) fn from_copy(memory: MallocVec) -> Result<OwnedSuperChunk> {
        let (frame, contents) = Frame::from_memory(memory)?;
        let header = &contents.header;
        // A frame of a few bytes can have 250 million special chunks, each of which becomes a `malloc` block.
        let limit = COPY_LIMIT_BASE + COPY_LIMIT_FACTOR * frame.len();
        if (contents.nchunks as u64).saturating_mul(COPIED_SPECIAL_NBYTES) > limit {
            let (nchunks, len) = (contents.nchunks, frame.len());
            return Err(err!(
                MemoryAlloc,
                "{nchunks} chunks of a frame of {len} bytes need more than the limit of {limit} bytes"
            ));
        }
        let mut chunks = fallible::vec_with_capacity(contents.nchunks.min(1 << 16))?;
        // 0 for chunks with blocks of several sizes.
        let (mut nbytes, mut cbytes, mut blocksize) = (0i64, 0i64, 0);
        for nchunk in 0..contents.nchunks {
            let chunk = frame.stored_chunk(nchunk, header)?.fetch(FetchMode::Keep)?.into_owned()?;
            let info = ChunkInfo::parse(&chunk)?;
            nbytes += i64::from(info.nbytes);
            cbytes += i64::from(info.cbytes);
            blocksize = if nchunk == 0 || blocksize == info.blocksize { info.blocksize } else { 0 };
            chunks.push(chunk);
        }
        ensure!(
            nbytes == header.nbytes.max(0),
            Data,
            "the chunks have {nbytes} uncompressed bytes, expected {} by the frame header",
            header.nbytes,
        );
        let schunk = SuperChunk::from_frame_header(header, None, &Storage::default())?;
        let mut access = WriteGuard::lock(&*schunk)?;
        let counters = Counters { nchunks: 0, nbytes, cbytes, ..access.counters() };
        access.set_counters(&counters);
        if contents.nchunks > 0 {
            access.set_blocksize(blocksize);
        } else {
            access.set_counters(&Counters { cbytes: header.cbytes, ..counters });
        }
        let flags2 = match chunks.first() {
            Some(first) => ChunkInfo::parse(first)?.flags2,
            None => 0,
        };
        for (at, chunk) in (0..).zip(chunks) {
            access.insert_in_memory(at, ChunkBlock::new(chunk)?)?;
            let counters = Counters { nchunks: at + 1, flags2, ..access.counters() };
            access.set_counters(&counters);
        }
        access.replace_metalayers(MetalayerKind::Fixed, &contents.metalayers)?;
        access.replace_metalayers(MetalayerKind::Variable, &contents.vlmetalayers)?;
        drop(access);
        Ok(schunk)
    }

    /// Returns a super-chunk with the fields of the header of a frame, and without chunks and metalayers.
    fn from_frame_header(
        header: &FrameHeader,
        backend: Option<Backend>,
        storage: &Storage<'_>,
    ) -> Result<OwnedSuperChunk> {
        let nthreads = library::nthreads();
        let cparams = blosc2_cparams {
            compcode: header.compcode,
            compcode_meta: header.compcode_meta,
            clevel: header.clevel,
            use_dict: i32::from(header.use_dict),
            typesize: header.typesize,
            nthreads,
            blocksize: header.blocksize,
            splitmode: i32::from(header.splitmode),
            filters: header.filters,
            filters_meta: header.filters_meta,
            ..BLOSC2_CPARAMS_DEFAULTS
        };
        let dparams = blosc2_dparams { nthreads, typesize: 0, ..BLOSC2_DPARAMS_DEFAULTS };
        let storage = Storage { cparams: &cparams, dparams: &dparams, ..*storage };
        let schunk = SuperChunk::with_storage(backend, &storage, None)?;
        // SAFETY: no other code has access to the super-chunk yet.
        unsafe { schunk.set_coding(&cparams) };
        WriteGuard::lock(&*schunk)?.set_counters(&Counters {
            nchunks: 0,
            nbytes: header.nbytes,
            cbytes: header.cbytes,
            chunksize: header.chunksize,
            flags2: 0,
        });
        // SAFETY: the parameters have no pointers but that of the super-chunk, to which no other code has access yet.
        unsafe {
            let storage = *schunk.storage();
            schunk.make_contexts(&*storage.cparams, &*storage.dparams)?;
        }
        Ok(schunk)
    }

    /// Returns a super-chunk with a frame that was opened. Does not read the frame, whose lock is not held.
    fn from_opened_frame(
        frame: Frame,
        contents: &FrameContents,
        flags2: u8,
        backend: Option<Backend>,
        storage: &Storage<'_>,
    ) -> Result<OwnedSuperChunk> {
        let header = &contents.header;
        let schunk = SuperChunk::from_frame_header(header, backend, storage)?;
        // SAFETY: no other code has access to the super-chunk yet.
        unsafe { schunk.set_frame(frame) };
        let mut access = WriteGuard::lock(&*schunk)?;
        let counters = Counters { nchunks: contents.nchunks as i64, flags2, ..access.counters() };
        access.set_counters(&counters);
        access.replace_metalayers(MetalayerKind::Fixed, &contents.metalayers)?;
        access.replace_metalayers(MetalayerKind::Variable, &contents.vlmetalayers)?;
        drop(access);
        Ok(schunk)
    }
}

fn open_frame(path: &CStr, offset: i64, backend: &Backend) -> Result<(Frame, FrameContents, u8)> {
    let path = paths::strip_scheme(path);
    let base =
        u64::try_from(offset).map_err(|_| err!(InvalidParam, "`offset` is {offset}, expected 0 or more"))?;
    let is_dir = match std::fs::metadata(paths::as_path(path)) {
        Ok(found) => found.is_dir(),
        Err(_) if backend.is_registered() => path.to_bytes().ends_with(b"/"),
        Err(error) => {
            return Err(os_err!(error, FileOpen, "{path:?} does not exist or is not accessible"));
        }
    };
    if is_dir {
        return Frame::open(FrameKind::Sparse, &paths::strip_trailing_slash(path)?, base, backend.clone());
    }
    Frame::open(FrameKind::Contiguous, path, base, backend.clone())
}
