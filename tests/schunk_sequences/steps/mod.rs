//! The steps of a sequence. A step is a kind and a seed: its details are drawn from the seed according to the current
//! state, so that any steps of a sequence can be omitted and the rest is still valid.

mod changes;
mod metadata;
mod reads;
mod slices;
mod storage;

use crate::sequence_state::{ChangedChunks, SequenceState, StepEnd, StepResult};
use crate::setup::Setup;
use crate::support::random::Random;

pub use storage::finish;

/// A kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    Append,
    Insert,
    Update,
    Delete,
    AppendBuffer,
    Fill,
    Reorder,
    Decompress,
    BadIndex,
    LazyChunk,
    VlBlock,
    GetSlice,
    SetSlice,
    Sparse,
    SliceNchunks,
    Parameters,
    Offsets,
    MetaAdd,
    MetaUpdate,
    VlMetaAdd,
    VlMetaUpdate,
    VlMetaGet,
    VlMetaDelete,
    FromBuffer,
    ToFile,
    AppendFile,
    Copy,
    Detach,
    Lock,
    Unlock,
    Refresh,
    Reopen,
    SecondOpen,
    SecondRead,
    SecondWrite,
}

/// A kind of step, and the seed of all its details.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub kind: StepKind,
    pub seed: u64,
}

/// The relative frequency of each kind.
const WEIGHTS: [(StepKind, usize); 35] = [
    (StepKind::Append, 14),
    (StepKind::Insert, 8),
    (StepKind::Update, 10),
    (StepKind::Delete, 6),
    (StepKind::AppendBuffer, 8),
    (StepKind::Fill, 1),
    (StepKind::Reorder, 3),
    (StepKind::Decompress, 3),
    (StepKind::BadIndex, 2),
    (StepKind::LazyChunk, 4),
    (StepKind::VlBlock, 2),
    (StepKind::GetSlice, 5),
    (StepKind::SetSlice, 5),
    (StepKind::Sparse, 3),
    (StepKind::SliceNchunks, 2),
    (StepKind::Parameters, 1),
    (StepKind::Offsets, 2),
    (StepKind::MetaAdd, 2),
    (StepKind::MetaUpdate, 2),
    (StepKind::VlMetaAdd, 3),
    (StepKind::VlMetaUpdate, 2),
    (StepKind::VlMetaGet, 2),
    (StepKind::VlMetaDelete, 1),
    (StepKind::FromBuffer, 2),
    (StepKind::ToFile, 1),
    (StepKind::AppendFile, 1),
    (StepKind::Copy, 2),
    (StepKind::Detach, 1),
    (StepKind::Lock, 1),
    (StepKind::Unlock, 1),
    (StepKind::Refresh, 1),
    (StepKind::Reopen, 5),
    (StepKind::SecondOpen, 5),
    (StepKind::SecondRead, 5),
    (StepKind::SecondWrite, 2),
];

/// Draws the steps of a sequence.
pub fn draw(random: &mut Random, setup: &Setup, count: usize) -> Vec<Step> {
    let total: usize = WEIGHTS.iter().map(|(_, weight)| weight).sum();
    let kind = |random: &mut Random, number: usize| {
        if number < 3 && random.one_in(3) {
            return *random.pick(&[
                StepKind::MetaAdd,
                StepKind::MetaAdd,
                StepKind::Fill,
                StepKind::VlMetaAdd,
            ]);
        }
        let mut left = random.below(total);
        for (kind, weight) in WEIGHTS {
            if left < weight {
                return kind;
            }
            left -= weight;
        }
        unreachable!("below the sum of the weights")
    };
    (0..count)
        .map(|number| {
            let kind = kind(random, number);
            let vlmeta =
                matches!(kind, StepKind::VlMetaAdd | StepKind::VlMetaUpdate | StepKind::VlMetaDelete);
            let kind = if setup.moving_map && vlmeta { StepKind::Append } else { kind };
            Step { kind, seed: random.next() }
        })
        .collect()
}

/// Runs a step and compares everything afterwards.
pub fn run(state: &mut SequenceState, step: Step) -> Result<(), String> {
    let random = &mut Random::new(step.seed);
    let deep = state.setup.checks_every_chunk || random.one_in(8);
    match perform(state, step.kind, random).and_then(|changed| state.check(&changed, deep)) {
        Ok(()) | Err(StepEnd::Idle) => Ok(()),
        Err(StepEnd::Skip(defect)) => {
            *state.skipped.entry(defect).or_default() += 1;
            Ok(())
        }
        Err(StepEnd::WrongResult(text)) => Err(text),
    }
}

fn perform(state: &mut SequenceState, kind: StepKind, random: &mut Random) -> StepResult<ChangedChunks> {
    match kind {
        StepKind::Append => changes::append(state, random),
        StepKind::Insert => changes::insert(state, random),
        StepKind::Update => changes::update(state, random),
        StepKind::Delete => changes::delete(state, random),
        StepKind::AppendBuffer => changes::append_buffer(state, random),
        StepKind::Fill => changes::fill_special(state, random),
        StepKind::Reorder => changes::reorder(state, random),
        StepKind::Decompress => reads::decompress(state, random),
        StepKind::BadIndex => reads::use_invalid_nchunk(state, random),
        StepKind::LazyChunk => reads::read_lazychunk(state, random),
        StepKind::VlBlock => reads::read_vlblock(state, random),
        StepKind::GetSlice => slices::get_slice(state, random),
        StepKind::SetSlice => slices::set_slice(state, random),
        StepKind::Sparse => slices::get_sparse(state, random),
        StepKind::SliceNchunks => slices::get_slice_nchunks(state, random),
        StepKind::Parameters => reads::read_parameters(state),
        StepKind::Offsets => reads::read_offsets(state),
        StepKind::MetaAdd => metadata::meta_add(state, random),
        StepKind::MetaUpdate => metadata::meta_update(state, random),
        StepKind::VlMetaAdd => metadata::vlmeta_add(state, random),
        StepKind::VlMetaUpdate => metadata::vlmeta_update(state, random),
        StepKind::VlMetaGet => metadata::vlmeta_get(state, random),
        StepKind::VlMetaDelete => metadata::vlmeta_delete(state, random),
        StepKind::FromBuffer => storage::from_buffer(state, random),
        StepKind::ToFile => storage::to_file(state, random),
        StepKind::AppendFile => storage::append_file(state, random),
        StepKind::Copy => storage::copy(state, random),
        StepKind::Detach => storage::detach(state),
        StepKind::Lock => storage::lock(state),
        StepKind::Unlock => storage::unlock(state),
        StepKind::Refresh => storage::refresh(state),
        StepKind::Reopen => storage::reopen(state, random),
        StepKind::SecondOpen => storage::second_open(state),
        StepKind::SecondRead => storage::second_read(state, random),
        StepKind::SecondWrite => storage::second_write(state, random),
    }
}
