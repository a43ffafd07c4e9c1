//! The caller's own code in the pipeline: prefilters, postfilters, codecs and filters, each behind a safe method.
//!
//! All of it rests on the same word of the ABI: a callback reads and writes only the buffers it is given, within
//! the sizes it is given, and may be called from several threads at once. What it returns is not trusted.

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
type ForwardFn = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut blosc2_cparams, u8) -> c_int;
type BackwardFn = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut blosc2_dparams, u8) -> c_int;

/// A length for C; blocks are never longer than an `i32` holds.
fn c_len(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX)
}

/// The parameters that a caller's filters are told, for all workers of a job.
pub(crate) struct SharedCparams(pub blosc2_cparams);

// SAFETY: pointers inside are the caller's and only passed on to the caller's functions (see the module's docs).
unsafe impl Sync for SharedCparams {}

/// The block that a pre- or postfilter is called for.
#[derive(Clone, Copy)]
pub(crate) struct BlockPlace {
    /// Index of the chunk in its super-chunk, or -1.
    pub nchunk: i64,
    /// Index of the block in the chunk.
    pub nblock: usize,
    /// Where the block begins in the chunk's data, in bytes.
    pub offset: usize,
    /// Logical number of the worker.
    pub tid: usize,
    /// The worker's scratch.
    pub ttmp: *mut u8,
    /// Size of the worker's scratch that callbacks are told, in bytes.
    pub ttmp_nbytes: usize,
}

/// A prefilter with its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Prefilter {
    /// The caller's function.
    pub function: PrefilterFn,
    /// The caller's parameters, as they were when the context was made.
    pub params: blosc2_prefilter_params,
    /// The context's copy of them, which callers may ask for.
    pub original: *mut blosc2_prefilter_params,
}

// SAFETY: pointers inside are the caller's and only passed on to the caller's function (see the module's docs).
unsafe impl Send for Prefilter {}
// SAFETY: as above.
unsafe impl Sync for Prefilter {}

impl Prefilter {
    /// Whether the caller only wants the side effects.
    pub(crate) fn is_disposable(&self) -> bool {
        self.params.output_is_disposable.get()
    }

    /// Bytes that the function may write for a block of `len` bytes (`chunk.md` 3.10).
    pub(crate) fn output_size(&self, len: usize, typesize: usize) -> usize {
        len / typesize.max(1) * self.output_typesize(typesize)
    }

    fn output_typesize(&self, typesize: usize) -> usize {
        usize::try_from(self.params.output_typesize).ok().filter(|&size| size > 0).unwrap_or(typesize)
    }

    /// Fills `output` for a block of `len` bytes. `input` is the block in the caller's source, which may be NULL.
    /// `output` is at least `len` bytes long, and as long as [`output_size`](Self::output_size) asks for.
    ///
    /// # Errors
    /// `FilterPipeline` when the function fails and its output is needed.
    pub(crate) fn run(
        &self,
        input: *const u8,
        len: usize,
        output: &mut [u8],
        typesize: usize,
        place: BlockPlace,
    ) -> Result<()> {
        let output_size = self.output_size(len, typesize);
        if output.len() < output_size.max(len) {
            return Err(err!(
                FilterPipeline,
                "a prefilter wants {output_size} bytes, {} are there",
                output.len()
            ));
        }
        if !self.is_disposable() {
            output[..output_size.max(len)].fill(0);
        }
        let mut params = blosc2_prefilter_params {
            input,
            output: output.as_mut_ptr(),
            output_size: c_len(output_size),
            output_typesize: c_len(self.output_typesize(typesize)),
            output_offset: c_len(place.offset),
            nchunk: place.nchunk,
            nblock: c_len(place.nblock),
            tid: c_len(place.tid),
            ttmp: place.ttmp,
            ttmp_nbytes: place.ttmp_nbytes,
            ..self.params
        };
        // SAFETY: the caller's function with the caller's parameters, and an output of the size it is told.
        let code = unsafe { (self.function)(&raw mut params) };
        if code != 0 && !self.is_disposable() {
            return Err(err!(FilterPipeline, "the prefilter returned {code} for block {}", place.nblock));
        }
        Ok(())
    }
}

/// A postfilter with its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Postfilter {
    /// The caller's function.
    pub function: PostfilterFn,
    /// The caller's parameters, as they were when the context was made.
    pub params: blosc2_postfilter_params,
    /// The context's copy of them, which callers may ask for.
    pub original: *mut blosc2_postfilter_params,
}

// SAFETY: pointers inside are the caller's and only passed on to the caller's function (see the module's docs).
unsafe impl Send for Postfilter {}
// SAFETY: as above.
unsafe impl Sync for Postfilter {}

impl Postfilter {
    /// Makes `output` of the decoded block `input`; both have the same length.
    ///
    /// # Errors
    /// `Postfilter` when the function fails.
    pub(crate) fn run(
        &self,
        input: &[u8],
        output: &mut [u8],
        typesize: usize,
        place: BlockPlace,
    ) -> Result<()> {
        let mut params = blosc2_postfilter_params {
            input: input.as_ptr(),
            output: output.as_mut_ptr(),
            size: c_len(output.len()),
            typesize: c_len(typesize),
            offset: c_len(place.offset),
            nchunk: place.nchunk,
            nblock: c_len(place.nblock),
            tid: c_len(place.tid),
            ttmp: place.ttmp,
            ttmp_nbytes: place.ttmp_nbytes,
            ..self.params
        };
        debug_assert_eq!(input.len(), output.len());
        // SAFETY: the caller's function with the caller's parameters, and buffers of the size it is told.
        let code = unsafe { (self.function)(&raw mut params) };
        if code != 0 {
            return Err(err!(Postfilter, "the postfilter returned {code} for block {}", place.nblock));
        }
        Ok(())
    }
}

/// A caller's encoder, ready for the streams of one chunk.
pub(crate) struct UserEncoder {
    /// Id of the codec.
    pub compcode: i32,
    /// The caller's function; `None` if it is in a plugin library that the first stream has to load.
    pub function: blosc2_codec_encoder_cb,
    /// The codec's own byte.
    pub meta: u8,
    /// What it is told of the compression.
    pub cparams: blosc2_cparams,
    /// Start of the caller's source.
    pub chunk: *const c_void,
}

// SAFETY: pointers inside are the caller's and only passed on to the caller's function (see the module's docs).
unsafe impl Sync for UserEncoder {}

impl Encoder for UserEncoder {
    fn encode(&self, _: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let mut cparams = self.cparams;
        let lacks = || err!(CodecSupport, "codec {} has no encoder", self.compcode);
        let function = match self.function {
            Some(function) => function,
            None => registry::load_codec(self.compcode)?.encoder.ok_or_else(lacks)?,
        };
        // SAFETY: the caller's function with true pointers and lengths.
        let code = unsafe {
            function(
                src.as_ptr(),
                c_len(src.len()),
                dest.as_mut_ptr(),
                c_len(dest.len()),
                self.meta,
                &raw mut cparams,
                self.chunk,
            )
        };
        usize::try_from(code)
            .map_err(|_| err!(Data, "the encoder of codec {} returned {code}", cparams.compcode))
    }
}

/// A caller's decoder, ready for the streams of one chunk.
pub(crate) struct UserDecoder {
    /// Id of the codec.
    pub compcode: u8,
    /// The caller's function; `None` if it is in a plugin library that the first stream has to load.
    pub function: blosc2_codec_decoder_cb,
    /// The codec's own byte.
    pub meta: u8,
    /// What it is told of the decompression.
    pub dparams: blosc2_dparams,
    /// Start of the compressed chunk.
    pub chunk: *const c_void,
}

// SAFETY: pointers inside are the caller's and only passed on to the caller's function (see the module's docs).
unsafe impl Sync for UserDecoder {}

impl Decoder for UserDecoder {
    fn decode(&self, _: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let mut dparams = self.dparams;
        let lacks = || err!(CodecSupport, "codec {} has no decoder", self.compcode);
        let function = match self.function {
            Some(function) => function,
            None => registry::load_codec(i32::from(self.compcode))?.decoder.ok_or_else(lacks)?,
        };
        // SAFETY: the caller's function with true pointers and lengths.
        let code = unsafe {
            function(
                src.as_ptr(),
                c_len(src.len()),
                dest.as_mut_ptr(),
                c_len(dest.len()),
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
/// # Errors
/// `FilterPipeline` for anything but 0.
pub(crate) fn filter_forward(
    function: ForwardFn,
    id: u8,
    meta: u8,
    cparams: &blosc2_cparams,
    src: &[u8],
    dest: &mut [u8],
) -> Result<()> {
    debug_assert_eq!(src.len(), dest.len());
    let mut cparams = *cparams;
    // SAFETY: the caller's function with true pointers; both buffers are as long as it is told.
    let code =
        unsafe { function(src.as_ptr(), dest.as_mut_ptr(), c_len(src.len()), meta, &raw mut cparams, id) };
    if code != 0 {
        return Err(err!(FilterPipeline, "filter {id} returned {code}"));
    }
    Ok(())
}

/// Runs a caller's backward function on a block; its return value if that is not negative.
///
/// # Errors
/// The function's own negative code, unchanged (`filters.md` 1.2).
pub(crate) fn filter_backward(
    function: BackwardFn,
    id: u8,
    meta: u8,
    dparams: &blosc2_dparams,
    src: &[u8],
    dest: &mut [u8],
) -> Result<i32> {
    debug_assert_eq!(src.len(), dest.len());
    let mut dparams = *dparams;
    // SAFETY: the caller's function with true pointers; both buffers are as long as it is told.
    let code =
        unsafe { function(src.as_ptr(), dest.as_mut_ptr(), c_len(src.len()), meta, &raw mut dparams, id) };
    if code < 0 {
        return Err(Error::new(ErrorKind::Callback(code), format_args!("filter {id} returned {code}")));
    }
    Ok(code)
}
