//! The filter pipeline of a chunk (`filters.md` 3): converts the six slots into a checked list of steps, and runs the
//! steps forwards and backwards on one block, between scratch buffers. The source is never written.

use super::callbacks;
use crate::abi::{
    BLOSC_FILTER_BYTEDELTA, BLOSC_FILTER_BYTEDELTA_BUGGY, BLOSC_FILTER_INT_TRUNC, BLOSC_FILTER_NDCELL,
    BLOSC_FILTER_NDMEAN,
};
use crate::abi::{blosc2_cparams, blosc2_dparams, blosc2_filter_backward_cb, blosc2_filter_forward_cb};
use crate::chunk::Container;
use crate::chunk::format::{MAX_FILTERS, filter_id, version};
use crate::error::{Error, ErrorKind, Result, ensure, err};
use crate::filter::bytedelta::{self, Revision};
use crate::filter::cells::CellFilter;
use crate::filter::copy::copy;
use crate::filter::{bitshuffle, delta, int_trunc, shuffle, trunc_prec};
use crate::registry::{self, FilterEntry};
use std::mem;
use std::num::NonZeroUsize;

/// One active slot.
#[derive(Clone, Copy)]
enum FilterStep {
    Shuffle {
        nstreams: usize,
    },
    Bitshuffle,
    Delta,
    TruncPrec {
        precision: i8,
    },
    IntTrunc {
        precision: i8,
    },
    ByteDelta {
        revision: Revision,
        /// `None` if neither the meta byte nor a super-chunk gives the number.
        nstreams: Option<NonZeroUsize>,
    },
    Cells {
        side: u8,
        filter: CellFilter,
    },
    User {
        id: u8,
        meta: u8,
        forward: blosc2_filter_forward_cb,
        backward: blosc2_filter_backward_cb,
    },
    /// An id that the format does not define, or a filter that is not registered.
    Unknown {
        id: u8,
    },
}

/// The active slots of a pipeline, in the order of compression.
#[derive(Clone, Copy)]
pub(crate) struct FilterSteps<'c> {
    steps: [FilterStep; MAX_FILTERS],
    len: usize,
    typesize: usize,
    container: Option<&'c Container>,
}

/// The location of a block before it is filtered.
#[derive(Clone, Copy)]
pub(crate) enum BlockInput<'a> {
    /// In the caller's source.
    InSource(&'a [u8]),
    /// At the start of the front buffer, this many bytes long.
    InFrontBuffer(usize),
}

impl FilterSteps<'_> {
    /// A pipeline without steps.
    pub(crate) const EMPTY: FilterSteps<'static> =
        FilterSteps { steps: [FilterStep::Bitshuffle; MAX_FILTERS], len: 0, typesize: 1, container: None };
}

impl<'c> FilterSteps<'c> {
    /// Returns the steps of a pipeline for items of `typesize` bytes (1..=255), in a chunk of `container`.
    #[inline]
    pub(crate) fn new(
        filters: &[u8; MAX_FILTERS],
        metas: &[u8; MAX_FILTERS],
        typesize: usize,
        container: Option<&'c Container>,
    ) -> Self {
        let mut chain =
            FilterSteps { steps: [FilterStep::Bitshuffle; MAX_FILTERS], len: 0, typesize, container };
        for (&id, &meta) in filters.iter().zip(metas) {
            chain.steps[chain.len] = match id {
                filter_id::NONE => continue,
                filter_id::SHUFFLE => {
                    FilterStep::Shuffle { nstreams: if meta == 0 { typesize } else { usize::from(meta) } }
                }
                filter_id::BITSHUFFLE => FilterStep::Bitshuffle,
                filter_id::DELTA => FilterStep::Delta,
                filter_id::TRUNC_PREC => FilterStep::TruncPrec { precision: meta as i8 },
                id => plugin_step(id, meta, typesize, container).unwrap_or_else(|| registered_step(id, meta)),
            };
            chain.len += 1;
        }
        chain
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn steps(&self) -> &[FilterStep] {
        &self.steps[..self.len]
    }

    /// Returns whether a block of zeros is not changed.
    pub(crate) fn keeps_zeros(&self) -> bool {
        self.steps().iter().all(|s| matches!(s, FilterStep::Shuffle { .. } | FilterStep::Bitshuffle))
    }

    /// Returns whether the blocks of a chunk depend on its first block.
    pub(crate) fn has_delta(&self) -> bool {
        self.steps().iter().any(|s| matches!(s, FilterStep::Delta))
    }

    /// Returns whether all steps are undone in place, so that a block may be decoded directly into its destination.
    pub(crate) fn is_undone_in_place(&self) -> bool {
        self.steps().iter().all(|s| s.is_undone_in_place() || !s.is_undone())
    }

    /// Filters a block and returns the result: `input` itself if there are no steps, else a prefix of one of the
    /// buffers, which are at least as long as the block. `reference` is the first block of the source, for a block
    /// that is not itself the first.
    pub(crate) fn forward<'a>(
        &self,
        input: BlockInput<'a>,
        reference: Option<&[u8]>,
        cparams: &blosc2_cparams,
        mut front: &'a mut [u8],
        mut back: &'a mut [u8],
        chunk_version: u8,
    ) -> Result<&'a [u8]> {
        let (block, len, mut in_front) = match input {
            BlockInput::InSource(block) => (block, block.len(), false),
            BlockInput::InFrontBuffer(len) => (&[][..], len, true),
        };
        for step in self.steps() {
            if let (FilterStep::ByteDelta { revision, nstreams }, true) = (step, in_front) {
                bytedelta::encode_in_place(*revision, require_nstreams(*nstreams)?, &mut front[..len]);
                continue;
            }
            let src = if in_front { &front[..len] } else { block };
            let dest = &mut back[..len];
            match *step {
                FilterStep::Shuffle { nstreams } => shuffle::shuffle(nstreams, src, dest),
                FilterStep::Bitshuffle if chunk_version == version::BLOSC1 => {
                    bitshuffle::bitshuffle_v2(self.typesize, src, dest);
                }
                FilterStep::Bitshuffle => bitshuffle::bitshuffle(self.typesize, src, dest),
                FilterStep::Delta => match reference {
                    Some(reference) => delta::encode_other(self.typesize, src, reference, dest),
                    None => delta::encode_first(self.typesize, src, dest),
                },
                FilterStep::TruncPrec { precision } => {
                    trunc_prec::truncate(precision, self.typesize, src, dest)?
                }
                FilterStep::IntTrunc { precision } => {
                    int_trunc::truncate(precision, self.typesize, src, dest)?
                }
                FilterStep::ByteDelta { revision, nstreams } => {
                    bytedelta::encode(revision, require_nstreams(nstreams)?, src, dest);
                }
                FilterStep::Cells { side, filter } => {
                    filter.encode(side, self.typesize, self.container, src, dest)?;
                }
                FilterStep::User { id, meta, forward, .. } => {
                    let function = match forward {
                        Some(function) => Some(function),
                        None => registry::load_filter(id)?.properties.forward,
                    };
                    let function = function
                        .ok_or_else(|| err!(FilterPipeline, "filter {id} has no forward function"))?;
                    // SAFETY: the caller that registered the filter guarantees the contract for it, and the caller
                    // that created the context guarantees it for the pointers in `cparams`.
                    let code = unsafe { callbacks::run_filter(function, id, meta, cparams, src, dest) };
                    ensure!(code == 0, FilterPipeline, "filter {id} returned {code}, expected 0");
                }
                FilterStep::Unknown { id } => {
                    return Err(err!(FilterPipeline, "filter {id} is neither built in nor registered"));
                }
            }
            mem::swap(&mut front, &mut back);
            in_front = true;
        }
        Ok(if in_front { &front[..len] } else { block })
    }

    /// Undoes the pipeline on the block in `front`, into `dest`, which has the block's length. `reference` is the
    /// decoded first block of the chunk, for a block that is not itself the first. The buffers are at least as
    /// long as the block.
    ///
    /// # Errors
    /// `Failure` for an id that the format does not define, `FilterPipeline` for a filter that is not registered, or
    /// the negative code that a program's filter returned, unchanged (`filters.md` 1.2).
    pub(crate) fn backward<'a>(
        &self,
        mut front: &'a mut [u8],
        mut back: &'a mut [u8],
        dest: &mut [u8],
        reference: Option<&[u8]>,
        dparams: &blosc2_dparams,
        chunk_version: u8,
    ) -> Result<()> {
        let len = dest.len();
        let mut undefined = None;
        let mut in_dest = false;
        // Number of remaining steps that write to another buffer; the last of them writes to `dest`.
        let mut moves_left = self.steps().iter().filter(|s| s.needs_output_buffer()).count();
        for (index, step) in self.steps().iter().enumerate().rev() {
            if step.is_undone_in_place() {
                let data = if in_dest { &mut *dest } else { &mut front[..len] };
                self.undo_in_place(step, data, reference)?;
                continue;
            }
            if !step.needs_output_buffer() {
                if let FilterStep::Unknown { id } = *step {
                    undefined = Some(err!(Failure, "filter {id} is not defined"));
                }
                continue;
            }
            moves_left -= 1;
            in_dest = moves_left == 0;
            let src = &front[..len];
            let out = if in_dest { &mut *dest } else { &mut back[..len] };
            match *step {
                FilterStep::Shuffle { nstreams } => shuffle::unshuffle(nstreams, src, out),
                FilterStep::Bitshuffle if chunk_version == version::BLOSC1 => {
                    bitshuffle::bitunshuffle_v2(self.typesize, src, out);
                }
                FilterStep::Bitshuffle => bitshuffle::bitunshuffle(self.typesize, src, out),
                FilterStep::Cells { side, filter } => filter.decode(side, self.container, src, out)?,
                FilterStep::User { id, meta, backward, .. } => {
                    let function = match backward {
                        Some(function) => Some(function),
                        None => registry::load_filter(id)?.properties.backward,
                    };
                    let function = function
                        .ok_or_else(|| err!(FilterPipeline, "filter {id} has no backward function"))?;
                    // SAFETY: the caller that registered the filter guarantees the contract for it, and the caller
                    // that created the context guarantees it for the pointers in `dparams`.
                    let code = unsafe { callbacks::run_filter(function, id, meta, dparams, src, out) };
                    if code < 0 {
                        return Err(Error::new(
                            ErrorKind::Callback(code),
                            format_args!("filter {id} returned {code}, expected 0 or more"),
                        ));
                    }
                    // A positive value ends the pipeline of the block, which is an error only if other steps would
                    // follow (filters.md 15 Q3).
                    if code > 0 {
                        ensure!(
                            !self.steps()[..index].iter().any(FilterStep::is_undone),
                            FilterPipeline,
                            "filter {id} ended the pipeline before its last step",
                        );
                        break;
                    }
                }
                FilterStep::Unknown { id } => {
                    return Err(err!(FilterPipeline, "filter {id} is not registered"));
                }
                FilterStep::Delta
                | FilterStep::ByteDelta { .. }
                | FilterStep::TruncPrec { .. }
                | FilterStep::IntTrunc { .. } => {}
            }
            mem::swap(&mut front, &mut back);
        }
        if let Some(error) = undefined {
            return Err(error);
        }
        if !in_dest {
            copy(&front[..len], dest);
        }
        Ok(())
    }

    /// Undoes a pipeline that [works in place](Self::is_undone_in_place) on the block in `dest`.
    pub(crate) fn backward_in_place(&self, dest: &mut [u8], reference: Option<&[u8]>) -> Result<()> {
        self.steps().iter().rev().try_for_each(|step| self.undo_in_place(step, dest, reference))
    }

    /// Undoes a step that [works in place](FilterStep::is_undone_in_place). Other steps have no effect here.
    fn undo_in_place(&self, step: &FilterStep, data: &mut [u8], reference: Option<&[u8]>) -> Result<()> {
        match *step {
            FilterStep::Delta => match reference {
                Some(reference) => delta::decode_other(self.typesize, data, reference),
                None => delta::decode_first(self.typesize, data),
            },
            FilterStep::ByteDelta { revision, nstreams } => {
                let nstreams = nstreams
                    .ok_or_else(|| err!(Failure, "the number of streams of a bytedelta is unknown"))?;
                bytedelta::decode_in_place(revision, nstreams.get(), data);
            }
            _ => {}
        }
        Ok(())
    }
}

fn registered_step(id: u8, meta: u8) -> FilterStep {
    match registry::filter(id).filter(|_| id >= filter_id::FIRST_REGISTERED).map(|filter| filter.properties) {
        Some(FilterEntry { forward, backward }) => FilterStep::User { id, meta, forward, backward },
        None => FilterStep::Unknown { id },
    }
}

/// Returns the step of an optional filter (ids 32 to 36) for items of `typesize` bytes, if this build includes it.
fn plugin_step(id: u8, meta: u8, typesize: usize, container: Option<&Container>) -> Option<FilterStep> {
    if !is_plugin_filter(id) {
        return None;
    }
    // If the meta byte is 0, the item size is that of the super-chunk: the chunk's may have been capped.
    let nstreams = || {
        NonZeroUsize::new(match (meta, container) {
            (0, Some(container)) => usize::try_from(container.typesize).unwrap_or(0),
            (0, None) => typesize,
            _ => usize::from(meta),
        })
    };
    match i32::from(id) {
        BLOSC_FILTER_NDCELL => Some(FilterStep::Cells { side: meta, filter: CellFilter::NdCell }),
        BLOSC_FILTER_NDMEAN => Some(FilterStep::Cells { side: meta, filter: CellFilter::NdMean }),
        BLOSC_FILTER_BYTEDELTA_BUGGY => {
            Some(FilterStep::ByteDelta { revision: Revision::Restarting, nstreams: nstreams() })
        }
        BLOSC_FILTER_BYTEDELTA => {
            Some(FilterStep::ByteDelta { revision: Revision::Plain, nstreams: nstreams() })
        }
        BLOSC_FILTER_INT_TRUNC => Some(FilterStep::IntTrunc { precision: meta as i8 }),
        _ => None,
    }
}

/// Returns whether `id` is an optional filter (ids 32 to 36) that this build includes.
pub(crate) fn is_plugin_filter(id: u8) -> bool {
    cfg!(feature = "plugin-filters")
        && (BLOSC_FILTER_NDCELL..=BLOSC_FILTER_INT_TRUNC).contains(&i32::from(id))
}

/// Returns whether undoing the filter restores every byte. Filters of the program count as lossy.
pub(crate) fn is_lossless(id: u8) -> bool {
    id <= filter_id::DELTA
        || [BLOSC_FILTER_NDCELL, BLOSC_FILTER_BYTEDELTA_BUGGY, BLOSC_FILTER_BYTEDELTA]
            .contains(&i32::from(id))
}

/// Returns whether the filter is one of the program, which may turn any bytes into zeros.
pub(crate) fn is_of_program(id: u8) -> bool {
    i32::from(id) > BLOSC_FILTER_INT_TRUNC
}

/// Returns the number of streams of a bytedelta, for compression, or an error if it is unknown.
fn require_nstreams(nstreams: Option<NonZeroUsize>) -> Result<usize> {
    nstreams
        .map(NonZeroUsize::get)
        .ok_or_else(|| err!(FilterPipeline, "the number of streams of a bytedelta is unknown"))
}

impl FilterStep {
    /// Returns whether decompression has to undo the step.
    fn is_undone(&self) -> bool {
        !matches!(self, FilterStep::TruncPrec { .. } | FilterStep::IntTrunc { .. })
    }

    /// Returns whether the step is undone in the buffer that holds the block.
    fn is_undone_in_place(&self) -> bool {
        matches!(self, FilterStep::Delta | FilterStep::ByteDelta { .. })
    }

    /// Returns whether undoing the step needs another buffer for its result.
    fn needs_output_buffer(&self) -> bool {
        match self {
            FilterStep::Delta
            | FilterStep::ByteDelta { .. }
            | FilterStep::TruncPrec { .. }
            | FilterStep::IntTrunc { .. } => false,
            FilterStep::Unknown { id } => *id >= filter_id::FIRST_REGISTERED,
            FilterStep::Shuffle { .. }
            | FilterStep::Bitshuffle
            | FilterStep::Cells { .. }
            | FilterStep::User { .. } => true,
        }
    }
}
