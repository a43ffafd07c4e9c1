//! The steps of a sequence. A step is a kind and a seed: its details are drawn from the seed according to the current
//! state, so that any steps of a sequence can be omitted and the rest is still valid.

mod arguments;
mod derived;
mod selections;
mod shape;
mod slices;
mod storage;
mod views;

use crate::sequence_state::{SequenceState, StepEnd, StepResult};
use crate::support::random::Random;

pub use storage::{create, finish};

/// A kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    ToCbuffer,
    GetSlice,
    SetSlice,
    SliceNchunks,
    GetSparse,
    GetOrthogonal,
    SetOrthogonal,
    Resize,
    Insert,
    Append,
    Delete,
    Extend,
    Concatenate,
    Copy,
    SliceArray,
    Squeeze,
    ExpandDims,
    Cframe,
    Save,
    SaveAppend,
    Reopen,
    Exchange,
    Refresh,
    VlMeta,
    NullPointers,
}

/// A kind of step, and the seed of all its details.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub kind: StepKind,
    pub seed: u64,
}

/// The relative frequency of each kind.
const STEP_WEIGHTS: [(StepKind, usize); 25] = [
    (StepKind::ToCbuffer, 3),
    (StepKind::GetSlice, 12),
    (StepKind::SetSlice, 14),
    (StepKind::SliceNchunks, 3),
    (StepKind::GetSparse, 5),
    (StepKind::GetOrthogonal, 6),
    (StepKind::SetOrthogonal, 6),
    (StepKind::Resize, 10),
    (StepKind::Insert, 5),
    (StepKind::Append, 6),
    (StepKind::Delete, 5),
    (StepKind::Extend, 4),
    (StepKind::Concatenate, 3),
    (StepKind::Copy, 5),
    (StepKind::SliceArray, 4),
    (StepKind::Squeeze, 3),
    (StepKind::ExpandDims, 3),
    (StepKind::Cframe, 4),
    (StepKind::Save, 3),
    (StepKind::SaveAppend, 2),
    (StepKind::Reopen, 4),
    (StepKind::Exchange, 4),
    (StepKind::Refresh, 2),
    (StepKind::VlMeta, 3),
    (StepKind::NullPointers, 1),
];

/// Draws the steps of a sequence.
pub fn draw_steps(random: &mut Random, count: usize) -> Vec<Step> {
    let total: usize = STEP_WEIGHTS.iter().map(|(_, weight)| weight).sum();
    let kind = |random: &mut Random| {
        let mut left = random.below(total);
        for (kind, weight) in STEP_WEIGHTS {
            if left < weight {
                return kind;
            }
            left -= weight;
        }
        unreachable!("below the sum of the weights")
    };
    (0..count).map(|_| Step { kind: kind(random), seed: random.next() }).collect()
}

/// Runs a step and compares everything afterwards.
pub fn run(state: &mut SequenceState, step: Step) -> Result<(), String> {
    let random = &mut Random::new(step.seed);
    match perform(state, step.kind, random).and_then(|()| state.check()) {
        Ok(()) | Err(StepEnd::NothingToDo) => Ok(()),
        Err(StepEnd::Skip(defect)) => {
            *state.skipped.entry(defect).or_default() += 1;
            Ok(())
        }
        Err(StepEnd::WrongResult(text)) => Err(text),
    }
}

fn perform(state: &mut SequenceState, kind: StepKind, random: &mut Random) -> StepResult {
    match kind {
        StepKind::ToCbuffer => slices::to_cbuffer(state, random),
        StepKind::GetSlice => slices::get(state, random),
        StepKind::SetSlice => slices::set(state, random),
        StepKind::SliceNchunks => slices::slice_nchunks(state, random),
        StepKind::GetSparse => selections::get_sparse(state, random),
        StepKind::GetOrthogonal => selections::get_orthogonal(state, random),
        StepKind::SetOrthogonal => selections::set_orthogonal(state, random),
        StepKind::Resize => shape::resize(state, random),
        StepKind::Insert => shape::insert(state, random),
        StepKind::Append => shape::append(state, random),
        StepKind::Delete => shape::delete(state, random),
        StepKind::Extend => derived::extend(state, random),
        StepKind::Concatenate => derived::concatenate(state, random),
        StepKind::Copy => derived::copy(state, random),
        StepKind::SliceArray => derived::slice_array(state, random),
        StepKind::Squeeze => views::squeeze(state, random),
        StepKind::ExpandDims => views::expand_dims(state, random),
        StepKind::Cframe => storage::cframe(state, random),
        StepKind::Save => storage::save(state, random),
        StepKind::SaveAppend => storage::save_append(state, random),
        StepKind::Reopen => storage::reopen(state, false),
        StepKind::Exchange => storage::reopen(state, true),
        StepKind::Refresh => storage::refresh(state),
        StepKind::VlMeta => storage::vlmeta(state, random),
        StepKind::NullPointers => arguments::null_pointers(state),
    }
}

/// Draws bytes for items, mostly compressible ones.
pub fn draw_items(random: &mut Random, len: usize) -> Vec<u8> {
    match random.below(4) {
        0 => random.bytes(len),
        1 => vec![random.byte(); len],
        _ => {
            let step = 1 + random.below(7);
            (0..len).map(|at| (at / step) as u8).collect()
        }
    }
}
