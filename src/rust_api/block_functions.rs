//! Prefilters and postfilters of the program, as Rust closures behind the C functions of the parameters.

use super::plugins::lend_buffers;
use crate::abi::{CBool, blosc2_cparams, blosc2_dparams, blosc2_postfilter_params, blosc2_prefilter_params};
use crate::error::Result;
use crate::pipeline::callbacks::WHOLE_BLOCKS;
use crate::pipeline::context::{Context, OwnedContext};
use crate::pipeline::raw_box::RawBox;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// The place of a block in its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BlockPosition {
    /// Number of the block in the chunk.
    pub nblock: usize,
    /// Offset of the block in the content of the chunk, in bytes.
    pub offset: usize,
}

/// Writes the block that replaces the second argument to the third, which has the same length. Returns whether that was
/// possible.
pub type BlockClosure = Box<dyn Fn(BlockPosition, &[u8], &mut [u8]) -> bool + Send + Sync>;

/// A context, and the closure that it calls.
pub(super) struct ContextWithClosure {
    // Dropped before the closure.
    context: OwnedContext,
    closure: Option<RawBox<BlockClosure>>,
}

impl ContextWithClosure {
    /// Returns a context for compression, with a prefilter or without.
    pub(super) fn for_compression(
        cparams: &blosc2_cparams,
        prefilter: Option<BlockClosure>,
    ) -> Result<ContextWithClosure> {
        let closure = prefilter.map(RawBox::new).transpose()?;
        let mut preparams = blosc2_prefilter_params {
            user_data: user_data(&closure),
            input: ptr::null(),
            output: ptr::null_mut(),
            output_size: 0,
            output_typesize: WHOLE_BLOCKS,
            output_offset: 0,
            nchunk: -1,
            nblock: 0,
            tid: 0,
            ttmp: ptr::null_mut(),
            ttmp_nbytes: 0,
            ctx: ptr::null_mut(),
            output_is_disposable: CBool::FALSE,
        };
        let mut cparams = *cparams;
        if closure.is_some() {
            cparams.prefilter = Some(run_prefilter);
            cparams.preparams = &raw mut preparams;
        }
        // SAFETY: the only pointers are that of the tuner, which is read in this call only, and `preparams`, which the context
        // copies: its `user_data` is the closure, which lives as long as the context. `run_prefilter` uses only its buffers.
        let context = unsafe { Context::for_compression(&cparams) }?;
        Ok(ContextWithClosure { context, closure })
    }

    /// Returns a context for decompression, with a postfilter or without.
    pub(super) fn for_decompression(
        dparams: &blosc2_dparams,
        postfilter: Option<BlockClosure>,
    ) -> Result<ContextWithClosure> {
        let closure = postfilter.map(RawBox::new).transpose()?;
        let mut postparams = blosc2_postfilter_params {
            user_data: user_data(&closure),
            input: ptr::null(),
            output: ptr::null_mut(),
            size: 0,
            typesize: 0,
            offset: 0,
            nchunk: -1,
            nblock: 0,
            tid: 0,
            ttmp: ptr::null_mut(),
            ttmp_nbytes: 0,
            ctx: ptr::null_mut(),
        };
        let mut dparams = *dparams;
        if closure.is_some() {
            dparams.postfilter = Some(run_postfilter);
            dparams.postparams = &raw mut postparams;
        }
        // SAFETY: as for compression: the context copies `postparams`, and its `user_data` points at the closure, which
        // lives as long as the context. `run_postfilter` uses only the buffers that it is given.
        let context = unsafe { Context::for_decompression(&dparams) }?;
        Ok(ContextWithClosure { context, closure })
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// Returns whether there is a prefilter or a postfilter.
    pub(super) fn has_closure(&self) -> bool {
        self.closure.is_some()
    }
}

fn user_data(closure: &Option<RawBox<BlockClosure>>) -> *mut c_void {
    closure.as_ref().map_or(ptr::null_mut(), |closure| closure.as_ptr().cast())
}

/// Returns the code for the pipeline. A panic of the closure, which the panic hook of the program reports, is a failure.
fn call(closure: &BlockClosure, nblock: i32, offset: i32, input: &[u8], output: &mut [u8]) -> c_int {
    let number = |value: i32| usize::try_from(value).unwrap_or(0);
    let position = BlockPosition { nblock: number(nblock), offset: number(offset) };
    match catch_unwind(AssertUnwindSafe(|| closure(position, input, output))) {
        Ok(true) => 0,
        Ok(false) | Err(_) => -1,
    }
}

/// Calls the closure for a block. Its source is always memory here: the sources without memory are those of the C functions that
/// take NULL, and the patched chunks that `Context::can_compress_patched_blocks` rejects for prefilters.
///
/// # Safety
/// `params` are those of `for_compression`, with the buffers of a block, as `Prefilter::run` passes them.
unsafe extern "C" fn run_prefilter(params: *mut blosc2_prefilter_params) -> c_int {
    // SAFETY: by the contract `user_data` is the closure; with `WHOLE_BLOCKS`, `input` and `output` have `output_size` bytes.
    let (params, closure, (input, output)) = unsafe {
        let params = &*params;
        let size = params.output_size;
        let buffers = lend_buffers(params.input, size, params.output, size);
        (params, &*params.user_data.cast::<BlockClosure>(), buffers)
    };
    call(closure, params.nblock, params.output_offset, input, output)
}

/// Calls the closure for a block.
///
/// # Safety
/// `params` are those of `for_decompression`, with a decoded block and its destination, as `Postfilter::run` passes them.
unsafe extern "C" fn run_postfilter(params: *mut blosc2_postfilter_params) -> c_int {
    // SAFETY: by the contract `user_data` is the closure, and `input` and `output` have `size` bytes.
    let (params, closure, (input, output)) = unsafe {
        let params = &*params;
        let buffers = lend_buffers(params.input, params.size, params.output, params.size);
        (params, &*params.user_data.cast::<BlockClosure>(), buffers)
    };
    call(closure, params.nblock, params.offset, input, output)
}
