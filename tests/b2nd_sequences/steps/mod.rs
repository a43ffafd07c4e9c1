//! The steps of a sequence. A step is a kind and a seed: its details are drawn from the seed according to the current
//! state, so that any steps of a sequence can be omitted and the rest is still valid.

mod arguments;
mod derived;
mod selections;
mod shape;
mod slices;
mod storage;
mod views;

use crate::support::random::Random;
use crate::world::{Done, Stop, World};

pub use storage::{create, finish};

/// A kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    pub kind: Kind,
    pub seed: u64,
}

/// The relative frequency of each kind.
const WEIGHTS: [(Kind, usize); 25] = [
    (Kind::ToCbuffer, 3),
    (Kind::GetSlice, 12),
    (Kind::SetSlice, 14),
    (Kind::SliceNchunks, 3),
    (Kind::GetSparse, 5),
    (Kind::GetOrthogonal, 6),
    (Kind::SetOrthogonal, 6),
    (Kind::Resize, 10),
    (Kind::Insert, 5),
    (Kind::Append, 6),
    (Kind::Delete, 5),
    (Kind::Extend, 4),
    (Kind::Concatenate, 3),
    (Kind::Copy, 5),
    (Kind::SliceArray, 4),
    (Kind::Squeeze, 3),
    (Kind::ExpandDims, 3),
    (Kind::Cframe, 4),
    (Kind::Save, 3),
    (Kind::SaveAppend, 2),
    (Kind::Reopen, 4),
    (Kind::Exchange, 4),
    (Kind::Refresh, 2),
    (Kind::VlMeta, 3),
    (Kind::NullPointers, 1),
];

/// Draws the steps of a sequence.
pub fn draw(random: &mut Random, count: usize) -> Vec<Step> {
    let total: usize = WEIGHTS.iter().map(|(_, weight)| weight).sum();
    let kind = |random: &mut Random| {
        let mut left = random.below(total);
        for (kind, weight) in WEIGHTS {
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
pub fn run(world: &mut World, step: Step) -> Result<(), String> {
    let random = &mut Random::new(step.seed);
    match perform(world, step.kind, random).and_then(|()| world.check()) {
        Ok(()) | Err(Stop::Idle) => Ok(()),
        Err(Stop::Skip(defect)) => {
            *world.skipped.entry(defect).or_default() += 1;
            Ok(())
        }
        Err(Stop::Wrong(text)) => Err(text),
    }
}

fn perform(world: &mut World, kind: Kind, random: &mut Random) -> Done {
    match kind {
        Kind::ToCbuffer => slices::to_cbuffer(world, random),
        Kind::GetSlice => slices::get(world, random),
        Kind::SetSlice => slices::set(world, random),
        Kind::SliceNchunks => slices::nchunks(world, random),
        Kind::GetSparse => selections::get_sparse(world, random),
        Kind::GetOrthogonal => selections::get_orthogonal(world, random),
        Kind::SetOrthogonal => selections::set_orthogonal(world, random),
        Kind::Resize => shape::resize(world, random),
        Kind::Insert => shape::insert(world, random),
        Kind::Append => shape::append(world, random),
        Kind::Delete => shape::delete(world, random),
        Kind::Extend => derived::extend(world, random),
        Kind::Concatenate => derived::concatenate(world, random),
        Kind::Copy => derived::copy(world, random),
        Kind::SliceArray => derived::slice_array(world, random),
        Kind::Squeeze => views::squeeze(world, random),
        Kind::ExpandDims => views::expand_dims(world, random),
        Kind::Cframe => storage::cframe(world, random),
        Kind::Save => storage::save(world, random),
        Kind::SaveAppend => storage::save_append(world, random),
        Kind::Reopen => storage::reopen(world, false),
        Kind::Exchange => storage::reopen(world, true),
        Kind::Refresh => storage::refresh(world),
        Kind::VlMeta => storage::vlmeta(world, random),
        Kind::NullPointers => arguments::null_pointers(world),
    }
}

/// Draws bytes for items, mostly compressible ones.
pub fn items(random: &mut Random, len: usize) -> Vec<u8> {
    match random.below(4) {
        0 => random.bytes(len),
        1 => vec![random.byte(); len],
        _ => {
            let step = 1 + random.below(7);
            (0..len).map(|at| (at / step) as u8).collect()
        }
    }
}
