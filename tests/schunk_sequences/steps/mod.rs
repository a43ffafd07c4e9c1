//! The steps of a sequence. A step is a kind and a seed: its details are drawn from the seed according to the current
//! state, so that any steps of a sequence can be omitted and the rest is still valid.

mod changes;
mod metadata;
mod reads;
mod slices;
mod storage;

use crate::setup::Setup;
use crate::support::random::Random;
use crate::world::{Done, Stop, Touched, World};

pub use storage::finish;

/// A kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    pub kind: Kind,
    pub seed: u64,
}

/// The relative frequency of each kind.
const WEIGHTS: [(Kind, usize); 35] = [
    (Kind::Append, 14),
    (Kind::Insert, 8),
    (Kind::Update, 10),
    (Kind::Delete, 6),
    (Kind::AppendBuffer, 8),
    (Kind::Fill, 1),
    (Kind::Reorder, 3),
    (Kind::Decompress, 3),
    (Kind::BadIndex, 2),
    (Kind::LazyChunk, 4),
    (Kind::VlBlock, 2),
    (Kind::GetSlice, 5),
    (Kind::SetSlice, 5),
    (Kind::Sparse, 3),
    (Kind::SliceNchunks, 2),
    (Kind::Parameters, 1),
    (Kind::Offsets, 2),
    (Kind::MetaAdd, 2),
    (Kind::MetaUpdate, 2),
    (Kind::VlMetaAdd, 3),
    (Kind::VlMetaUpdate, 2),
    (Kind::VlMetaGet, 2),
    (Kind::VlMetaDelete, 1),
    (Kind::FromBuffer, 2),
    (Kind::ToFile, 1),
    (Kind::AppendFile, 1),
    (Kind::Copy, 2),
    (Kind::Detach, 1),
    (Kind::Lock, 1),
    (Kind::Unlock, 1),
    (Kind::Refresh, 1),
    (Kind::Reopen, 5),
    (Kind::SecondOpen, 5),
    (Kind::SecondRead, 5),
    (Kind::SecondWrite, 2),
];

/// Draws the steps of a sequence.
pub fn draw(random: &mut Random, setup: &Setup, count: usize) -> Vec<Step> {
    let total: usize = WEIGHTS.iter().map(|(_, weight)| weight).sum();
    let kind = |random: &mut Random, number: usize| {
        if number < 3 && random.one_in(3) {
            return *random.pick(&[Kind::MetaAdd, Kind::MetaAdd, Kind::Fill, Kind::VlMetaAdd]);
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
            let vlmeta = matches!(kind, Kind::VlMetaAdd | Kind::VlMetaUpdate | Kind::VlMetaDelete);
            let kind = if setup.moving_map && vlmeta { Kind::Append } else { kind };
            Step { kind, seed: random.next() }
        })
        .collect()
}

/// Runs a step and compares everything afterwards.
pub fn run(world: &mut World, step: Step) -> Result<(), String> {
    let random = &mut Random::new(step.seed);
    let deep = world.setup.thorough || random.one_in(8);
    match perform(world, step.kind, random).and_then(|touched| world.check(&touched, deep)) {
        Ok(()) | Err(Stop::Idle) => Ok(()),
        Err(Stop::Skip(defect)) => {
            *world.skipped.entry(defect).or_default() += 1;
            Ok(())
        }
        Err(Stop::Wrong(text)) => Err(text),
    }
}

fn perform(world: &mut World, kind: Kind, random: &mut Random) -> Done<Touched> {
    match kind {
        Kind::Append => changes::append(world, random),
        Kind::Insert => changes::insert(world, random),
        Kind::Update => changes::update(world, random),
        Kind::Delete => changes::delete(world, random),
        Kind::AppendBuffer => changes::append_buffer(world, random),
        Kind::Fill => changes::fill(world, random),
        Kind::Reorder => changes::reorder(world, random),
        Kind::Decompress => reads::decompress(world, random),
        Kind::BadIndex => reads::bad_index(world, random),
        Kind::LazyChunk => reads::lazy_chunk(world, random),
        Kind::VlBlock => reads::vl_block(world, random),
        Kind::GetSlice => slices::get(world, random),
        Kind::SetSlice => slices::set(world, random),
        Kind::Sparse => slices::sparse(world, random),
        Kind::SliceNchunks => slices::nchunks(world, random),
        Kind::Parameters => reads::parameters(world),
        Kind::Offsets => reads::offsets(world),
        Kind::MetaAdd => metadata::meta_add(world, random),
        Kind::MetaUpdate => metadata::meta_update(world, random),
        Kind::VlMetaAdd => metadata::vlmeta_add(world, random),
        Kind::VlMetaUpdate => metadata::vlmeta_update(world, random),
        Kind::VlMetaGet => metadata::vlmeta_get(world, random),
        Kind::VlMetaDelete => metadata::vlmeta_delete(world, random),
        Kind::FromBuffer => storage::from_buffer(world, random),
        Kind::ToFile => storage::to_file(world, random),
        Kind::AppendFile => storage::append_file(world, random),
        Kind::Copy => storage::copy(world, random),
        Kind::Detach => storage::detach(world),
        Kind::Lock => storage::lock(world),
        Kind::Unlock => storage::unlock(world),
        Kind::Refresh => storage::refresh(world),
        Kind::Reopen => storage::reopen(world, random),
        Kind::SecondOpen => storage::second_open(world),
        Kind::SecondRead => storage::second_read(world, random),
        Kind::SecondWrite => storage::second_write(world, random),
    }
}
