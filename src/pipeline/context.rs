//! Contexts: the objects that `blosc2_create_cctx` and `blosc2_create_dctx` return (`chunk.md` 5, `abi.md` 4.3).
//!
//! A context begins with the head, whose layout tuners and some programs rely on ([`ContextHeadCell`]); its fields are
//! the parameters, and C code may write them between calls and inside tuner hooks. A job works with a snapshot of them.

mod auto_tuning;
mod compression;

use super::auto_tuner::AutoTuner;
use super::callbacks::Postfilter;
use super::container;
use super::decompress::{self, DecompressOutcome, ItemRange, RangeReader, VarlenReader, built_in_codec};
use super::env_overrides;
use super::filters;
use super::head::ContextHeadCell;
use super::params::{CallbackPointer, CompressParams, DecompressParams};
use super::raw_box::RawBox;
use super::tuner::{self, TunedContext};
use super::tuner_selection;
use crate::abi::{
    CBool, ContextHead, blosc2_context, blosc2_cparams, blosc2_dparams, blosc2_postfilter_params,
    blosc2_prefilter_params, blosc2_schunk,
};
use crate::chunk::format::{filter_id, flag2};
use crate::chunk::lazy::BlockSource;
use crate::chunk::{ChunkHeader, Container, ParsedChunk};
use crate::codec::{BuiltInCodec, PluginCodec};
use crate::error::{Result, err};
use crate::out_buffer::OutBuffer;
use crate::{panics, pool, registry};
use std::cell::{Cell, RefCell};
use std::mem;
use std::ops::{Deref, Range};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

/// A compression or decompression context. One thread uses it at a time.
#[repr(C)]
pub(crate) struct Context {
    head: ContextHeadCell,
    /// The context's copies of the parameters of pre- and postfilters; the head points at them.
    preparams: Option<RawBox<blosc2_prefilter_params>>,
    postparams: Option<RawBox<blosc2_postfilter_params>>,
    /// The mask of blocks that the next decompression leaves out; the head points at it.
    mask: Cell<Option<Vec<u8>>>,
    is_instrumented: bool,
    /// The automatic tuner, if it chooses the parameters, and the block size in bytes that the caller has requested.
    auto_tuner: Option<RefCell<AutoTuner>>,
    requested_blocksize: i32,
}

/// A context on the heap, to which C code may have a pointer.
pub(crate) type OwnedContext = RawBox<Context>;

impl OwnedContext {
    /// Passes ownership of the context to C.
    pub(crate) fn into_c(self) -> *mut blosc2_context {
        self.into_raw().cast()
    }

    /// Takes ownership back from C. Returns `None` for NULL.
    ///
    /// # Safety
    /// `context` is NULL or came from [`into_c`](Self::into_c), and was not taken back before.
    pub(crate) unsafe fn from_c(context: *mut blosc2_context) -> Option<OwnedContext> {
        // SAFETY: by the contract of this function `into_c` made the pointer from a box, which is taken back once.
        NonNull::new(context.cast()).map(|context| unsafe { RawBox::from_raw(context) })
    }
}

impl Deref for OwnedContext {
    type Target = Context;

    fn deref(&self) -> &Context {
        // SAFETY: a context that lives as long as its owner. C code writes only the head, which is a cell.
        unsafe { &*self.as_ptr() }
    }
}

/// The settings that a super-chunk reads from its decompression context for one read.
#[derive(Default)]
pub(crate) struct ReadSettings {
    /// Number of threads that may work on the read, at least 1 (0 stands for 1).
    pub nthreads: usize,
    /// Transforms each decoded block.
    pub postfilter: Option<Postfilter>,
    /// Blocks of a whole chunk to leave out, one byte each.
    pub mask: Option<Vec<u8>>,
    /// The properties of the super-chunk, set once a chunk was found that needs them.
    pub container: OnceLock<Container>,
}

/// Returns whether decoding a chunk with that header runs functions of the program.
pub(crate) fn decoding_runs_callbacks(header: &ChunkHeader) -> bool {
    header.is_coded()
        && ((built_in_codec(header).is_none() && is_user_codec(i32::from(header.udcompcode)))
            || header.filters.iter().any(|&id| is_user_filter(id)))
}

/// Returns whether decoding a chunk with that header needs properties of the super-chunk around it.
pub(crate) fn decoding_needs_container(header: &ChunkHeader) -> bool {
    header.is_coded() && container::is_needed(i32::from(header.udcompcode), &header.filters)
}

/// Returns whether the codec is none of the library's own.
fn is_user_codec(compcode: i32) -> bool {
    BuiltInCodec::from_compcode(compcode).is_none() && PluginCodec::from_compcode(compcode).is_none()
}

/// Returns whether the filter is none of the library's own.
fn is_user_filter(id: u8) -> bool {
    id > filter_id::TRUNC_PREC && !filters::is_plugin_filter(id)
}

/// Values of the head's `thread_backend`.
mod thread_backend {
    pub(super) const SERIAL: i16 = 0;
    pub(super) const POOL: i16 = 1;
    pub(super) const CALLBACK: i16 = 2;
}

/// One address for each number of threads: contexts that share a pool show the same address as their `thread_pool`.
static POOL_TOKENS: [u8; i16::MAX as usize + 1] = [0; i16::MAX as usize + 1];

#[inline(always)]
fn zeroed_head() -> ContextHead {
    // SAFETY: all fields are integers, pointers, optional functions and arrays of them, for which zero is valid.
    unsafe { mem::zeroed() }
}

impl Context {
    /// Returns a new compression context.
    ///
    /// # Safety
    /// Pointers inside `cparams` are NULL or valid as the ABI defines for their fields, and the functions obey the
    /// contracts of their typedefs, for as long as the context lives. While a method of the context runs, no other code
    /// uses its head or changes its super-chunk: see [`ContextHeadCell::new`].
    ///
    /// # Errors
    /// `InvalidParam` for an invalid filter id, an unknown tuner, or an environment variable that names a codec that
    /// contexts cannot use; `NullPointer` for a prefilter without parameters; `MemoryAlloc`; any error of the tuner.
    pub(crate) unsafe fn for_compression(cparams: &blosc2_cparams) -> Result<OwnedContext> {
        if let Some(&id) = cparams.filters.iter().find(|&&id| !registry::is_valid_filter_id(id)) {
            return Err(err!(InvalidParam, "filter id {id} is not defined"));
        }
        let mut overridden = CompressParams {
            compcode: i32::from(cparams.compcode),
            clevel: i32::from(cparams.clevel),
            typesize: cparams.typesize,
            nthreads: effective_thread_count(cparams.nthreads),
            blocksize: cparams.blocksize,
            splitmode: cparams.splitmode,
            filters: cparams.filters,
            ..CompressParams::default()
        };
        let auto = env_overrides::apply_to_new_context(&mut overridden)?;
        let nthreads = match (overridden.nthreads, cparams.nthreads) {
            // Not overridden: keeps the value of `cparams`, since callers may read it back.
            (1, given) if given <= 0 => given,
            (n, _) => i16::try_from(n).unwrap_or(i16::MAX),
        };
        // SAFETY: by the contract of this function the parameters of the tuner are as the ABI requires.
        let auto_tuner = unsafe { tuner_selection::tuner_for(cparams, &overridden, auto) }?;
        let preparams = match cparams.prefilter {
            // SAFETY: not NULL, and the ABI requires that it points at parameters in this case.
            Some(_) => Some(RawBox::new(unsafe { copy_filter_params(cparams.preparams) }?)?),
            None => None,
        };
        let head = ContextHead {
            typesize: overridden.typesize,
            compcode: overridden.compcode,
            compcode_meta: cparams.compcode_meta,
            clevel: overridden.clevel,
            use_dict: cparams.use_dict,
            blocksize: overridden.blocksize,
            splitmode: overridden.splitmode,
            filters: overridden.filters,
            filters_meta: cparams.filters_meta,
            blosc2_flags: if cparams.instr_codec.get() { flag2::INSTR } else { 0 },
            prefilter: cparams.prefilter,
            preparams: preparams.as_ref().map_or(ptr::null_mut(), RawBox::as_ptr),
            schunk: cparams.schunk.cast(),
            do_compress: 1,
            nthreads,
            new_nthreads: nthreads,
            ..zeroed_head()
        };
        let context = RawBox::new(Context {
            // SAFETY: by the contract of this function pointers and functions in `cparams` are as the ABI requires;
            // the parameters of the prefilter are the context's own copy.
            head: unsafe { ContextHeadCell::new(head) },
            preparams,
            postparams: None,
            mask: Cell::new(None),
            is_instrumented: cparams.instr_codec.get(),
            auto_tuner,
            requested_blocksize: overridden.blocksize,
        })?;
        // The tuner's init reads a head with all fields set except these three (codecs.md 15).
        // SAFETY: by the contract of this function the parameters of the tuner, and the functions of a tuner, are as
        // the ABI requires.
        unsafe {
            tuner::call_init(&*context, cparams.tuner_id, cparams.tuner_params)?;
            context.head.set_tuner_id(cparams.tuner_id.max(0));
            context.head.set_codec_params(cparams.codec_params);
            context.head.set_filter_params(cparams.filter_params);
        }
        Ok(context)
    }

    /// Returns a new decompression context.
    ///
    /// # Safety
    /// Pointers inside `dparams` are NULL or valid as the ABI defines for their fields, and the functions obey the
    /// contracts of their typedefs, for as long as the context lives. While a method of the context runs, no other code
    /// uses its head or changes its super-chunk: see [`ContextHeadCell::new`].
    ///
    /// # Errors
    /// `NullPointer` for a postfilter without parameters; `MemoryAlloc`.
    pub(crate) unsafe fn for_decompression(dparams: &blosc2_dparams) -> Result<OwnedContext> {
        let nthreads = env_overrides::nthreads_for_new_context(dparams.nthreads);
        let postparams = match dparams.postfilter {
            // SAFETY: not NULL, and the ABI requires that it points at parameters in this case.
            Some(_) => Some(RawBox::new(unsafe { copy_filter_params(dparams.postparams) }?)?),
            None => None,
        };
        RawBox::new_with(|| Context {
            // SAFETY: by the contract of this function pointers and functions in `dparams` are as the ABI requires;
            // the parameters of the postfilter are the context's own copy.
            head: unsafe {
                ContextHeadCell::new(ContextHead {
                    postfilter: dparams.postfilter,
                    postparams: postparams.as_ref().map_or(ptr::null_mut(), RawBox::as_ptr),
                    schunk: dparams.schunk.cast(),
                    nthreads,
                    new_nthreads: nthreads,
                    ..zeroed_head()
                })
            },
            preparams: None,
            postparams,
            mask: Cell::new(None),
            is_instrumented: false,
            auto_tuner: None,
            requested_blocksize: 0,
        })
    }

    /// Returns the pointer to the context that C code has.
    pub(crate) fn as_ptr(&self) -> *mut blosc2_context {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// Returns the head, which C code may have changed since the last call.
    pub(crate) fn head(&self) -> &ContextHeadCell {
        &self.head
    }

    fn postfilter(&self) -> Option<Postfilter> {
        let own = self.postparams.as_ref()?;
        let params = blosc2_postfilter_params { ctx: self.as_ptr(), ..own.get() };
        let function = self.head.postfilter()?;
        // SAFETY: guaranteed by the caller of `for_decompression`; the parameters are those that came with the
        // function.
        Some(unsafe { Postfilter::new(function, params, own.as_ptr()) })
    }

    /// Decompresses a whole chunk. Returns the length of the content in bytes. The mask is cleared, also when the call
    /// fails. The blocks of a lazy chunk come from `source`.
    ///
    /// # Errors
    /// `InvalidParam` for a compression context, and those of `chunk.md` 2.
    pub(crate) fn decompress(
        &self,
        chunk: &[u8],
        source: Option<&dyn BlockSource>,
        mut dest: OutBuffer<'_>,
    ) -> Result<usize> {
        self.prepare_decompression()?;
        let mask = self.take_mask();
        let mut header = ChunkHeader::default();
        let chunk = ParsedChunk::parse(&mut header, chunk)?;
        let is_changed = self.postparams.is_some() || mask.is_some();
        if let Some(done) = decompress::try_decompress_fast(&chunk, is_changed, dest.reborrow()) {
            self.publish_decompression(chunk.header(), &done);
            return Ok(done.nbytes);
        }
        let chunk = chunk.with_source(source);
        let done = self.with_decompress_params(&chunk, mask.as_deref(), |params| {
            decompress::decompress_general(params, &chunk, dest)
        })?;
        self.publish_decompression(chunk.header(), &done);
        Ok(done.nbytes)
    }

    /// Reads a part of a chunk. Returns the number of bytes read. Works on either kind of context and does not change
    /// the parameters of a compression context.
    ///
    /// # Errors
    /// Those of `chunk.md` 4.5.
    #[inline(always)]
    pub(crate) fn getitem(
        &self,
        chunk: &[u8],
        source: Option<&dyn BlockSource>,
        wanted: ItemRange,
        dest: OutBuffer<'_>,
    ) -> Result<usize> {
        let mut header = ChunkHeader::default();
        let chunk = ParsedChunk::parse(&mut header, chunk)?;
        let has_postfilter = self.postparams.is_some();
        let done = decompress::getitem_with(&chunk, has_postfilter, wanted, dest, |range, dest| {
            self.decode_items(&chunk.with_source(source), range, dest)
        })?;
        if self.head.do_compress() == 0 {
            self.publish_decompression(chunk.header(), &done);
        }
        Ok(done.nbytes)
    }

    /// Decodes the bytes `range` of a chunk. Not inlined: the variables would be kept on the stack for it, also where
    /// stored items are copied.
    #[inline(never)]
    fn decode_items(
        &self,
        chunk: &ParsedChunk<'_>,
        range: Range<usize>,
        dest: OutBuffer<'_>,
    ) -> Result<DecompressOutcome> {
        panics::in_library_call(|| {
            self.with_decompress_params(chunk, None, |params| {
                RangeReader::open(params, chunk, |reader| reader.read(range, dest))
            })
        })
    }

    /// Opens a chunk of variable-length blocks and calls `then` with its reader.
    ///
    /// # Errors
    /// `InvalidParam` for a compression context or a chunk of equal blocks, those of decompression, or what
    /// `then` returns.
    pub(crate) fn open_varlen<R>(
        &self,
        chunk: &[u8],
        source: Option<&dyn BlockSource>,
        then: impl FnOnce(&VarlenReader<'_>) -> Result<R>,
    ) -> Result<R> {
        self.prepare_decompression()?;
        let mut header = ChunkHeader::default();
        let chunk = ParsedChunk::parse(&mut header, chunk)?.with_source(source);
        self.with_decompress_params(&chunk, None, |params| VarlenReader::open(params, &chunk, then))
    }

    fn prepare_decompression(&self) -> Result<()> {
        if self.head.do_compress() != 0 {
            return Err(err!(InvalidParam, "the context is for compression, expected one for decompression"));
        }
        update_thread_fields(&self.head);
        Ok(())
    }

    /// Passes the parameters for decoding `chunk` to `then`.
    fn with_decompress_params<R>(
        &self,
        chunk: &ParsedChunk<'_>,
        mask: Option<&[u8]>,
        then: impl FnOnce(&DecompressParams<'_>) -> R,
    ) -> R {
        then(&DecompressParams {
            nthreads: effective_thread_count(self.head.new_nthreads()),
            postfilter: self.postfilter().as_ref(),
            mask,
            nchunk: self.current_nchunk(),
            schunk: CallbackPointer(self.head.schunk().cast()),
            container: self.container_for(chunk.header()).as_ref(),
        })
    }

    /// Returns the field `current_nchunk` of the context's super-chunk; -1 without a super-chunk.
    fn current_nchunk(&self) -> i64 {
        let schunk = self.head.schunk();
        if schunk.is_null() {
            return -1;
        }
        // SAFETY: a super-chunk, as the callers of `ContextHeadCell::new` and `ContextHeadCell::set_schunk`
        // guarantee, or as the program has set it. The program may write its public fields between calls but not
        // during one. Threads that read from the super-chunk write this one field during the call, atomically.
        unsafe { AtomicI64::from_ptr(&raw mut (*schunk).current_nchunk) }.load(Ordering::Relaxed)
    }

    /// Returns the properties of the context's super-chunk if decoding a chunk with that header needs them.
    fn container_for(&self, header: &ChunkHeader) -> Option<Container> {
        if !decoding_needs_container(header) {
            return None;
        }
        // SAFETY: the callers of `ContextHeadCell::new` and `ContextHeadCell::set_schunk` guarantee a super-chunk
        // that does not change during the call.
        unsafe { container::of_schunk(self.head.schunk()) }
    }

    /// Returns the settings that the super-chunk of this context needs to read a chunk by itself. Several threads may
    /// read at the same time; the super-chunk then lets one thread at a time call this.
    #[inline(always)]
    pub(crate) fn read_settings(&self, takes_mask: bool) -> ReadSettings {
        let mask = if takes_mask { self.take_mask() } else { None };
        let nthreads = effective_thread_count(self.head.new_nthreads());
        ReadSettings { nthreads, postfilter: self.postfilter(), mask, container: OnceLock::new() }
    }

    /// Writes into the head the properties of the chunk that the super-chunk has read.
    pub(crate) fn publish_chunk_read(&self, header: &ChunkHeader, done: &DecompressOutcome) {
        self.publish_decompression(header, done);
    }

    /// Writes into the head the item size, in bytes, of a chunk that was read before.
    pub(crate) fn publish_typesize(&self, typesize: u8) {
        self.head.set_typesize(i32::from(typesize));
    }

    /// Does the same as [`publish_typesize`](Self::publish_typesize), unless there is a postfilter. Returns whether
    /// there is none.
    pub(crate) fn publish_cached_read(&self, typesize: u8) -> bool {
        if self.head.postfilter().is_some() {
            return false;
        }
        self.publish_typesize(typesize);
        true
    }

    /// Returns whether compressing runs functions of the program.
    pub(crate) fn runs_callbacks(&self) -> bool {
        self.head.prefilter().is_some()
            || tuner::is_registered(self.head.tuner_id())
            || is_user_codec(self.head.compcode())
            || self.head.filters().iter().any(|&id| is_user_filter(id))
    }

    /// Returns the super-chunk whose properties codecs and filters of this context need; `None` if they need none.
    pub(crate) fn schunk_for_container(&self) -> Option<*const blosc2_schunk> {
        container::is_needed(self.head.compcode(), &self.head.filters())
            .then(|| self.head.schunk().cast_const().cast())
    }

    /// Returns whether the context can compress blocks that are assembled one at a time
    /// ([`BlockProvider`](super::compress::BlockProvider)) and are `blocksize` bytes long: nothing that the program
    /// configured reads the source or several blocks.
    pub(crate) fn can_compress_patched_blocks(&self, blocksize: usize) -> bool {
        !self.runs_callbacks()
            && self.auto_tuner.is_none()
            && !self.is_instrumented
            && self.head.use_dict() == 0
            && !self.head.filters().contains(&filter_id::DELTA)
            && usize::try_from(self.head.blocksize()).is_ok_and(|size| size == blocksize)
    }

    /// Writes into the head the properties of the last chunk that was decompressed.
    fn publish_decompression(&self, header: &ChunkHeader, done: &DecompressOutcome) {
        let head = &self.head;
        head.set_header_flags(header.flags);
        head.set_blosc2_flags(header.blosc2_flags);
        head.set_blosc2_flags2(header.blosc2_flags2);
        head.set_sourcesize(header.nbytes);
        head.set_blocksize(header.blocksize);
        head.set_header_blocksize(header.blocksize);
        head.set_header_overhead(header.len() as i32);
        head.set_srcsize(header.cbytes);
        head.set_typesize(i32::from(header.typesize));
        // The codec format replaces the codec id, except for registered codecs (codecs.md 17.11).
        head.set_compcode(match BuiltInCodec::from_format(header.codec_format()) {
            Some(_) => i32::from(header.codec_format()),
            None => i32::from(header.udcompcode),
        });
        head.set_compcode_meta(header.compcode_meta);
        head.set_filters(header.filters);
        head.set_filters_meta(header.filters_meta);
        head.set_use_dict(i32::from(done.used_dictionary));
        head.set_special_type(i32::from(header.special_id()));
    }

    /// Sets the blocks that the next whole decompression leaves out, one byte each.
    pub(crate) fn set_mask(&self, mask: Vec<u8>) {
        self.head.set_block_maskout(mask.as_ptr().cast_mut().cast::<CBool>());
        self.head.set_block_maskout_nitems(i32::try_from(mask.len()).unwrap_or(i32::MAX));
        self.mask.set(Some(mask));
    }

    fn take_mask(&self) -> Option<Vec<u8>> {
        let mask = self.mask.take();
        if mask.is_some() {
            self.head.set_block_maskout(ptr::null_mut());
            self.head.set_block_maskout_nitems(0);
        }
        mask
    }

    /// Fills `cparams` with the context's parameters; `tuner_params` and `filter_params` keep their values
    /// (`chunk.md` 5.2).
    pub(crate) fn store_cparams(&self, cparams: &mut blosc2_cparams) {
        let head = &self.head;
        *cparams = blosc2_cparams {
            compcode: head.compcode() as u8,
            compcode_meta: head.compcode_meta(),
            clevel: head.clevel() as u8,
            use_dict: head.use_dict(),
            typesize: head.typesize(),
            nthreads: head.nthreads(),
            blocksize: head.blocksize(),
            splitmode: head.splitmode(),
            schunk: head.schunk().cast(),
            filters: head.filters(),
            filters_meta: head.filters_meta(),
            prefilter: head.prefilter(),
            preparams: head.preparams(),
            tuner_params: cparams.tuner_params,
            tuner_id: head.tuner_id(),
            instr_codec: CBool::from(self.is_instrumented),
            codec_params: head.codec_params(),
            filter_params: cparams.filter_params,
        };
    }

    pub(crate) fn dparams(&self) -> blosc2_dparams {
        blosc2_dparams {
            nthreads: self.head.nthreads(),
            schunk: self.head.schunk().cast(),
            postfilter: self.head.postfilter(),
            postparams: self.head.postparams(),
            typesize: self.head.typesize(),
        }
    }
}

// SAFETY: both belong to this context.
unsafe impl TunedContext for Context {
    fn head(&self) -> &ContextHeadCell {
        self.head()
    }

    fn as_ptr(&self) -> *mut blosc2_context {
        self.as_ptr()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        tuner::call_free(self);
    }
}

/// Returns the number of threads for the field of a struct: values below 1 mean only the caller's thread.
fn effective_thread_count(nthreads: i16) -> usize {
    usize::try_from(nthreads).unwrap_or(0).max(1)
}

/// Applies a thread count that C code has written into the head, and writes the fields that describe the thread
/// backend.
fn update_thread_fields(head: &ContextHeadCell) {
    if head.new_nthreads() > 0 {
        head.set_nthreads(head.new_nthreads());
    }
    let nthreads = effective_thread_count(head.new_nthreads());
    let parallel = nthreads > 1;
    head.set_threads_started(if parallel { head.nthreads() } else { 0 });
    let (backend, pool) = if !parallel {
        (thread_backend::SERIAL, ptr::null_mut())
    } else if pool::has_callback() {
        (thread_backend::CALLBACK, ptr::null_mut())
    } else {
        (thread_backend::POOL, ptr::from_ref(&POOL_TOKENS[nthreads]).cast_mut().cast())
    };
    head.set_thread_pool(pool);
    head.set_thread_backend(backend);
}

/// Returns a copy of the parameters that a pointer in a caller's struct points at.
///
/// # Safety
/// `params` is NULL or points at initialised parameters.
unsafe fn copy_filter_params<T: Copy>(params: *const T) -> Result<T> {
    // SAFETY: by the contract of this function NULL or initialised parameters, which are copied.
    unsafe { params.as_ref() }
        .copied()
        .ok_or_else(|| err!(NullPointer, "a prefilter or postfilter is set, but its parameters are NULL"))
}

#[cfg(test)]
mod tests;
