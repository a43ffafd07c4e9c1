//! The functions of the program in the pipeline: prefilters, postfilters, codecs and filters.
//!
//! All code here relies on the *contract of callbacks* in the ABI: a callback reads and writes only the buffers it is
//! given, within the sizes it is given, follows only pointers that the program itself has set, and may be called from
//! several threads at once. Its return value is not trusted. The caller of an unsafe constructor in this file
//! guarantees the contract.

use crate::abi::{blosc2_cparams, blosc2_dparams, blosc2_postfilter_params, blosc2_prefilter_params};
use crate::codec::{Decoder, Encoder, Workspace};
use crate::error::{Result, ensure, err};
use crate::registry::{self, CodecEntry};
use std::ffi::{c_int, c_void};

type BlockFn<P> = unsafe extern "C" fn(*mut P) -> c_int;
type FilterFn<P> = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut P, u8) -> c_int;
type CodecFn<P> = unsafe extern "C" fn(*const u8, i32, *mut u8, i32, u8, *mut P, *const c_void) -> c_int;

/// The value of `output_typesize` with which a prefilter writes whole blocks: also the bytes behind the last whole item of a
/// chunk, which are zeros otherwise. Prefilters of the Rust API have it.
pub(crate) const WHOLE_BLOCKS: i32 = i32::MIN;

/// Converts a length for C; a block is never longer than `i32::MAX`.
fn saturating_i32(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX)
}

/// The compression parameters that are passed to the program's filters, for all workers of a job.
pub(crate) struct SharedCparams(blosc2_cparams);

impl SharedCparams {
    /// Returns parameters for all workers of a job.
    pub(crate) fn new(cparams: blosc2_cparams) -> Self {
        SharedCparams(cparams)
    }

    pub(crate) fn get(&self) -> &blosc2_cparams {
        &self.0
    }
}

// SAFETY: pointers inside are only passed on to the caller's functions, which may be called from any thread: the
// contract.
unsafe impl Sync for SharedCparams {}

/// The block that a pre- or postfilter is called for.
#[derive(Clone, Copy)]
pub(crate) struct BlockContext {
    /// Index of the chunk in its super-chunk, or -1.
    pub nchunk: i64,
    /// Index of the block in the chunk.
    pub nblock: usize,
    /// Offset of the block in the chunk's data, in bytes.
    pub offset: usize,
    /// Logical number of the worker.
    pub tid: usize,
    /// The worker's scratch.
    pub ttmp: *mut u8,
    /// Size of the worker's scratch that is passed to callbacks, in bytes.
    pub ttmp_nbytes: usize,
}

/// A function of the program that is called for blocks, with its parameters.
#[derive(Clone, Copy)]
pub(crate) struct BlockFunction<P> {
    function: BlockFn<P>,
    /// The caller's parameters, as they were when the context was created.
    params: P,
    /// The context's copy of the parameters, whose address callers may read from the context.
    context_params: *mut P,
}

pub(crate) type Prefilter = BlockFunction<blosc2_prefilter_params>;
pub(crate) type Postfilter = BlockFunction<blosc2_postfilter_params>;

// SAFETY: pointers inside are only passed on to the caller's function, which may be called from any thread: the
// contract.
unsafe impl<P> Send for BlockFunction<P> {}
// SAFETY: methods through a shared reference only copy the pointers and call that function.
unsafe impl<P> Sync for BlockFunction<P> {}

impl<P> BlockFunction<P> {
    /// Returns a function with its parameters. `context_params` is the context's copy of `params`; it is never followed
    /// here.
    ///
    /// # Safety
    /// With `params`, `function` fulfils the contract of callbacks (see the module) for as long as the result lives.
    pub(crate) unsafe fn new(function: BlockFn<P>, params: P, context_params: *mut P) -> Self {
        BlockFunction { function, params, context_params }
    }

    pub(crate) fn function(&self) -> BlockFn<P> {
        self.function
    }

    /// Returns the address of the context's copy of the parameters.
    pub(crate) fn context_params(&self) -> *mut P {
        self.context_params
    }
}

impl Prefilter {
    /// Returns whether the output is discarded: the function is called for its side effects only.
    pub(crate) fn is_output_disposable(&self) -> bool {
        self.params.output_is_disposable.get()
    }

    /// Returns how many bytes the function may write for a block of `len` bytes (`chunk.md` 3.10).
    pub(crate) fn output_size(&self, len: usize, typesize: usize) -> usize {
        match self.params.output_typesize {
            WHOLE_BLOCKS => len,
            _ => len / typesize.max(1) * self.output_typesize(typesize),
        }
    }

    fn output_typesize(&self, typesize: usize) -> usize {
        usize::try_from(self.params.output_typesize).ok().filter(|&size| size > 0).unwrap_or(typesize)
    }

    /// Fills `output` for a block of `len` bytes. `input` is the block in the caller's source, which may be NULL.
    /// `output` is at least `len` bytes long, and at least [`output_size`](Self::output_size) bytes.
    ///
    /// # Safety
    /// `len` bytes can be read at `input`, or the context has no source, so that the function does not follow it.
    /// `block_context.ttmp_nbytes` bytes can be written at `block_context.ttmp`, and nothing else uses them meanwhile,
    /// except that `output` may be the beginning of them.
    pub(crate) unsafe fn run(
        &self,
        input: *const u8,
        len: usize,
        output: &mut [u8],
        typesize: usize,
        block_context: BlockContext,
    ) -> Result<()> {
        let output_size = self.output_size(len, typesize);
        ensure!(
            output.len() >= output_size.max(len),
            FilterPipeline,
            "the buffer for a prefilter has {} bytes, expected at least {output_size} and {len}",
            output.len(),
        );
        // A disposable output is zeroed, too: variable-length blocks and plain chunks store it, and the buffer has
        // bytes of earlier blocks.
        output[..output_size.max(len)].fill(0);
        let mut params = blosc2_prefilter_params {
            input,
            output: output.as_mut_ptr(),
            output_size: saturating_i32(output_size),
            output_typesize: saturating_i32(self.output_typesize(typesize)),
            output_offset: saturating_i32(block_context.offset),
            nchunk: block_context.nchunk,
            nblock: saturating_i32(block_context.nblock),
            tid: saturating_i32(block_context.tid),
            ttmp: block_context.ttmp,
            ttmp_nbytes: block_context.ttmp_nbytes,
            ..self.params
        };
        // SAFETY: the caller of `new` guarantees the contract, with the parameters that go with the function; the
        // output has the size that is passed, and the caller guarantees the other pointers.
        let code = unsafe { (self.function)(&raw mut params) };
        ensure!(
            code == 0 || self.is_output_disposable(),
            FilterPipeline,
            "the prefilter returned {code} for block {}, expected 0",
            block_context.nblock,
        );
        Ok(())
    }
}

impl Postfilter {
    /// Fills `output` from the decoded block `input`; both have the same length.
    ///
    /// # Panics
    /// If the lengths differ.
    ///
    /// # Safety
    /// `block_context.ttmp_nbytes` bytes can be written at `block_context.ttmp`, and nothing else uses them meanwhile,
    /// except that `input` may be the beginning of them.
    pub(crate) unsafe fn run(
        &self,
        input: &[u8],
        output: &mut [u8],
        typesize: usize,
        block_context: BlockContext,
    ) -> Result<()> {
        assert_eq!(input.len(), output.len(), "input and output of a postfilter differ in length");
        let mut params = blosc2_postfilter_params {
            input: input.as_ptr(),
            output: output.as_mut_ptr(),
            size: saturating_i32(output.len()),
            typesize: saturating_i32(typesize),
            offset: saturating_i32(block_context.offset),
            nchunk: block_context.nchunk,
            nblock: saturating_i32(block_context.nblock),
            tid: saturating_i32(block_context.tid),
            ttmp: block_context.ttmp,
            ttmp_nbytes: block_context.ttmp_nbytes,
            ..self.params
        };
        // SAFETY: the caller of `new` guarantees the contract, with the parameters that go with the function; the
        // buffers have the size that is passed: asserted above. The caller guarantees the scratch.
        let code = unsafe { (self.function)(&raw mut params) };
        ensure!(
            code == 0,
            Postfilter,
            "the postfilter returned {code} for block {}, expected 0",
            block_context.nblock,
        );
        Ok(())
    }
}

/// An encoder or a decoder of the program, ready for the streams of one chunk.
pub(crate) struct UserCodec<P> {
    compcode: u8,
    /// The caller's function; `None` if it is in a plugin library that is loaded for the first stream.
    function: Option<CodecFn<P>>,
    /// The codec's meta byte.
    meta: u8,
    /// The parameters that are passed to the function.
    params: P,
    /// Start of the caller's source, or of the compressed chunk.
    chunk: *const c_void,
}

pub(crate) type UserEncoder = UserCodec<blosc2_cparams>;
pub(crate) type UserDecoder = UserCodec<blosc2_dparams>;

impl<P: Copy> UserCodec<P> {
    /// Returns the codec `compcode` with `function`, or if that is `None` with the one of the codec's plugin library.
    /// `meta` is the codec's meta byte.
    ///
    /// # Safety
    /// With `params` and `chunk`, the start of the caller's source or of the compressed chunk, or NULL, the function
    /// fulfils the contract of callbacks (see the module) for as long as the result lives.
    pub(crate) unsafe fn new(
        compcode: u8,
        function: Option<CodecFn<P>>,
        meta: u8,
        params: P,
        chunk: *const c_void,
    ) -> Self {
        UserCodec { compcode, function, meta, params, chunk }
    }

    /// Returns the return value of the function for `src` and `dest`. `find` returns the function of a codec that has
    /// been loaded from its plugin library; `name` is for messages.
    fn run(
        &self,
        name: &str,
        find: impl FnOnce(CodecEntry) -> Option<CodecFn<P>>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<c_int> {
        let function = match self.function {
            Some(function) => function,
            None => find(registry::load_codec(i32::from(self.compcode))?.properties)
                .ok_or_else(|| err!(CodecSupport, "codec {} has no {name}", self.compcode))?,
        };
        let mut params = self.params;
        let (src_len, dest_len) = (saturating_i32(src.len()), saturating_i32(dest.len()));
        let (src, dest) = (src.as_ptr(), dest.as_mut_ptr());
        // SAFETY: the caller of `new` guarantees the contract; the pointers and lengths are those of the slices.
        Ok(unsafe { function(src, src_len, dest, dest_len, self.meta, &raw mut params, self.chunk) })
    }
}

// SAFETY: pointers inside are only passed on to the caller's function, which may be called from any thread: the
// contract.
unsafe impl<P> Sync for UserCodec<P> {}

impl Encoder for UserEncoder {
    fn encode(&self, _: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let code = self.run("encoder", |codec| codec.encoder, src, dest)?;
        usize::try_from(code).map_err(|_| {
            err!(Data, "the encoder of codec {} returned {code}, expected 0 or more", self.compcode)
        })
    }
}

impl Decoder for UserDecoder {
    fn decode(&self, _: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        Ok(usize::try_from(self.run("decoder", |codec| codec.decoder, src, dest)?).unwrap_or(0))
    }
}

/// Runs a filter function of the program on a block, and returns its return value.
///
/// # Panics
/// If the lengths of `src` and `dest` differ.
///
/// # Safety
/// With `params`, the function fulfils the contract of callbacks (see the module).
pub(crate) unsafe fn run_filter<P: Copy>(
    function: FilterFn<P>,
    id: u8,
    meta: u8,
    params: &P,
    src: &[u8],
    dest: &mut [u8],
) -> c_int {
    assert_eq!(src.len(), dest.len(), "source and destination of a filter differ in length");
    let mut params = *params;
    // SAFETY: the caller guarantees the contract; both buffers have the length that is passed: asserted above.
    unsafe { function(src.as_ptr(), dest.as_mut_ptr(), saturating_i32(src.len()), meta, &raw mut params, id) }
}
