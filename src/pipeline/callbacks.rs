//! The functions of the program in the pipeline: prefilters, postfilters, codecs and filters.
//!
//! All code here relies on the *contract of callbacks* in the ABI: a callback reads and writes only the buffers it is
//! given, within the sizes it is given, follows only pointers that the program itself has set, and may be called from
//! several threads at once. Its return value is not trusted. The caller of an unsafe constructor in this file
//! guarantees the contract.

use crate::abi::{
    blosc2_codec_decoder_cb, blosc2_codec_encoder_cb, blosc2_cparams, blosc2_dparams,
    blosc2_postfilter_params, blosc2_prefilter_params,
};
use crate::codec::{Decoder, Encoder, Workspace};
use crate::err;
use crate::error::{Error, ErrorKind, Result};
use crate::registry;
use std::ffi::{c_int, c_void};

type PrefilterFn = unsafe extern "C" fn(*mut blosc2_prefilter_params) -> c_int;
type PostfilterFn = unsafe extern "C" fn(*mut blosc2_postfilter_params) -> c_int;
type FilterForwardFn = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut blosc2_cparams, u8) -> c_int;
type FilterBackwardFn = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut blosc2_dparams, u8) -> c_int;

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

    /// Returns the parameters.
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

/// A prefilter with its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Prefilter {
    /// The caller's function.
    function: PrefilterFn,
    /// The caller's parameters, as they were when the context was created.
    params: blosc2_prefilter_params,
    /// The context's copy of the parameters, whose address callers may read from the context.
    context_params: *mut blosc2_prefilter_params,
}

// SAFETY: pointers inside are only passed on to the caller's function, which may be called from any thread: the
// contract.
unsafe impl Send for Prefilter {}
// SAFETY: methods through a shared reference only copy the pointers and call that function.
unsafe impl Sync for Prefilter {}

impl Prefilter {
    /// Returns a prefilter. `context_params` is the context's copy of `params`; it is never followed here.
    ///
    /// # Safety
    /// With `params`, `function` fulfils the contract of callbacks (see the module) for as long as the prefilter lives.
    pub(crate) unsafe fn new(
        function: PrefilterFn,
        params: blosc2_prefilter_params,
        context_params: *mut blosc2_prefilter_params,
    ) -> Self {
        Prefilter { function, params, context_params }
    }

    /// Returns the caller's function.
    pub(crate) fn function(&self) -> PrefilterFn {
        self.function
    }

    /// Returns the address of the context's copy of the parameters.
    pub(crate) fn context_params(&self) -> *mut blosc2_prefilter_params {
        self.context_params
    }

    /// Returns whether the output is discarded: the function is called for its side effects only.
    pub(crate) fn is_output_disposable(&self) -> bool {
        self.params.output_is_disposable.get()
    }

    /// Returns how many bytes the function may write for a block of `len` bytes (`chunk.md` 3.10).
    pub(crate) fn output_size(&self, len: usize, typesize: usize) -> usize {
        len / typesize.max(1) * self.output_typesize(typesize)
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
    ///
    /// # Errors
    /// `FilterPipeline` when the function fails and its output is needed.
    pub(crate) unsafe fn run(
        &self,
        input: *const u8,
        len: usize,
        output: &mut [u8],
        typesize: usize,
        block_context: BlockContext,
    ) -> Result<()> {
        let output_size = self.output_size(len, typesize);
        if output.len() < output_size.max(len) {
            return Err(err!(
                FilterPipeline,
                "the buffer for a prefilter has {} bytes, expected at least {output_size} and {len}",
                output.len()
            ));
        }
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
        if code != 0 && !self.is_output_disposable() {
            return Err(err!(
                FilterPipeline,
                "the prefilter returned {code} for block {}, expected 0",
                block_context.nblock
            ));
        }
        Ok(())
    }
}

/// A postfilter with its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Postfilter {
    /// The caller's function.
    function: PostfilterFn,
    /// The caller's parameters, as they were when the context was created.
    params: blosc2_postfilter_params,
    /// The context's copy of the parameters, whose address callers may read from the context.
    context_params: *mut blosc2_postfilter_params,
}

// SAFETY: pointers inside are only passed on to the caller's function, which may be called from any thread: the
// contract.
unsafe impl Send for Postfilter {}
// SAFETY: methods through a shared reference only copy the pointers and call that function.
unsafe impl Sync for Postfilter {}

impl Postfilter {
    /// Returns a postfilter. `context_params` is the context's copy of `params`; it is never followed here.
    ///
    /// # Safety
    /// With `params`, `function` fulfils the contract of callbacks (see the module) for as long as the postfilter
    /// lives.
    pub(crate) unsafe fn new(
        function: PostfilterFn,
        params: blosc2_postfilter_params,
        context_params: *mut blosc2_postfilter_params,
    ) -> Self {
        Postfilter { function, params, context_params }
    }

    /// Returns the caller's function.
    pub(crate) fn function(&self) -> PostfilterFn {
        self.function
    }

    /// Returns the address of the context's copy of the parameters.
    pub(crate) fn context_params(&self) -> *mut blosc2_postfilter_params {
        self.context_params
    }

    /// Fills `output` from the decoded block `input`; both have the same length.
    ///
    /// # Panics
    /// If the lengths differ.
    ///
    /// # Safety
    /// `block_context.ttmp_nbytes` bytes can be written at `block_context.ttmp`, and nothing else uses them meanwhile,
    /// except that `input` may be the beginning of them.
    ///
    /// # Errors
    /// `Postfilter` when the function fails.
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
        if code != 0 {
            return Err(err!(
                Postfilter,
                "the postfilter returned {code} for block {}, expected 0",
                block_context.nblock
            ));
        }
        Ok(())
    }
}

/// A caller's encoder, ready for the streams of one chunk.
pub(crate) struct UserEncoder {
    /// Id of the codec.
    compcode: i32,
    /// The caller's function; `None` if it is in a plugin library that is loaded for the first stream.
    function: blosc2_codec_encoder_cb,
    /// The codec's meta byte.
    meta: u8,
    /// The compression parameters that are passed to the function.
    cparams: blosc2_cparams,
    /// Start of the caller's source.
    chunk: *const c_void,
}

impl UserEncoder {
    /// Returns the encoder of the codec `compcode`: `function`, or if that is `None` the one of the codec's plugin
    /// library. `meta` is the codec's meta byte.
    ///
    /// # Safety
    /// With `cparams` and `chunk`, the start of the caller's source or NULL, the function fulfils the contract of
    /// callbacks (see the module) for as long as the encoder lives.
    pub(crate) unsafe fn new(
        compcode: i32,
        function: blosc2_codec_encoder_cb,
        meta: u8,
        cparams: blosc2_cparams,
        chunk: *const c_void,
    ) -> Self {
        UserEncoder { compcode, function, meta, cparams, chunk }
    }
}

// SAFETY: pointers inside are only passed on to the caller's function, which may be called from any thread: the
// contract.
unsafe impl Sync for UserEncoder {}

impl Encoder for UserEncoder {
    fn encode(&self, _: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let mut cparams = self.cparams;
        let lacks = || err!(CodecSupport, "codec {} has no encoder", self.compcode);
        let function = match self.function {
            Some(function) => function,
            None => registry::load_codec(self.compcode)?.encoder.ok_or_else(lacks)?,
        };
        // SAFETY: the caller of `new` guarantees the contract; the pointers and lengths are those of the slices.
        let code = unsafe {
            function(
                src.as_ptr(),
                saturating_i32(src.len()),
                dest.as_mut_ptr(),
                saturating_i32(dest.len()),
                self.meta,
                &raw mut cparams,
                self.chunk,
            )
        };
        usize::try_from(code).map_err(|_| {
            err!(Data, "the encoder of codec {} returned {code}, expected 0 or more", cparams.compcode)
        })
    }
}

/// A caller's decoder, ready for the streams of one chunk.
pub(crate) struct UserDecoder {
    /// Id of the codec.
    compcode: u8,
    /// The caller's function; `None` if it is in a plugin library that is loaded for the first stream.
    function: blosc2_codec_decoder_cb,
    /// The codec's meta byte.
    meta: u8,
    /// The decompression parameters that are passed to the function.
    dparams: blosc2_dparams,
    /// Start of the compressed chunk.
    chunk: *const c_void,
}

impl UserDecoder {
    /// Returns the decoder of the codec `compcode`: `function`, or if that is `None` the one of the codec's plugin
    /// library. `meta` is the codec's meta byte.
    ///
    /// # Safety
    /// With `dparams` and `chunk`, the start of the compressed chunk, the function fulfils the contract of callbacks
    /// (see the module) for as long as the decoder lives.
    pub(crate) unsafe fn new(
        compcode: u8,
        function: blosc2_codec_decoder_cb,
        meta: u8,
        dparams: blosc2_dparams,
        chunk: *const c_void,
    ) -> Self {
        UserDecoder { compcode, function, meta, dparams, chunk }
    }
}

// SAFETY: pointers inside are only passed on to the caller's function, which may be called from any thread: the
// contract.
unsafe impl Sync for UserDecoder {}

impl Decoder for UserDecoder {
    fn decode(&self, _: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let mut dparams = self.dparams;
        let lacks = || err!(CodecSupport, "codec {} has no decoder", self.compcode);
        let function = match self.function {
            Some(function) => function,
            None => registry::load_codec(i32::from(self.compcode))?.decoder.ok_or_else(lacks)?,
        };
        // SAFETY: the caller of `new` guarantees the contract; the pointers and lengths are those of the slices.
        let code = unsafe {
            function(
                src.as_ptr(),
                saturating_i32(src.len()),
                dest.as_mut_ptr(),
                saturating_i32(dest.len()),
                self.meta,
                &raw mut dparams,
                self.chunk,
            )
        };
        Ok(usize::try_from(code).unwrap_or(0))
    }
}

/// Runs a caller's forward function on a block.
///
/// # Panics
/// If the lengths of `src` and `dest` differ.
///
/// # Safety
/// With `cparams`, the function fulfils the contract of callbacks (see the module).
///
/// # Errors
/// `FilterPipeline` when the function returns anything but 0.
pub(crate) unsafe fn run_filter_forward(
    function: FilterForwardFn,
    id: u8,
    meta: u8,
    cparams: &blosc2_cparams,
    src: &[u8],
    dest: &mut [u8],
) -> Result<()> {
    assert_eq!(src.len(), dest.len(), "source and destination of a filter differ in length");
    let mut cparams = *cparams;
    // SAFETY: the caller guarantees the contract; both buffers have the length that is passed: asserted above.
    let code = unsafe {
        function(src.as_ptr(), dest.as_mut_ptr(), saturating_i32(src.len()), meta, &raw mut cparams, id)
    };
    if code != 0 {
        return Err(err!(FilterPipeline, "filter {id} returned {code}, expected 0"));
    }
    Ok(())
}

/// Runs a caller's backward function on a block. Returns the function's return value if that is not negative.
///
/// # Panics
/// If the lengths of `src` and `dest` differ.
///
/// # Safety
/// With `dparams`, the function fulfils the contract of callbacks (see the module).
///
/// # Errors
/// The function's own negative code, unchanged (`filters.md` 1.2).
pub(crate) unsafe fn run_filter_backward(
    function: FilterBackwardFn,
    id: u8,
    meta: u8,
    dparams: &blosc2_dparams,
    src: &[u8],
    dest: &mut [u8],
) -> Result<i32> {
    assert_eq!(src.len(), dest.len(), "source and destination of a filter differ in length");
    let mut dparams = *dparams;
    // SAFETY: the caller guarantees the contract; both buffers have the length that is passed: asserted above.
    let code = unsafe {
        function(src.as_ptr(), dest.as_mut_ptr(), saturating_i32(src.len()), meta, &raw mut dparams, id)
    };
    if code < 0 {
        return Err(Error::new(
            ErrorKind::Callback(code),
            format_args!("filter {id} returned {code}, expected 0 or more"),
        ));
    }
    Ok(code)
}
