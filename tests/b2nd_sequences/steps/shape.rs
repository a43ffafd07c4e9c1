//! Changes of the shape.

use crate::geometry::Geometry;
use crate::sequence_state::{SequenceState, StepEnd, StepResult};
use crate::setup::{draw_axis, is_small};
use crate::steps::draw_items;
use crate::support::random::Random;

/// Returns `NothingToDo` if the array would become too large for these tests.
fn check_size(state: &SequenceState, shape: &[i64]) -> StepResult {
    let geometry = Geometry { shape: shape.to_vec(), ..state.model.geometry.clone() };
    if shape.iter().all(|&length| length >= 0) && !is_small(&geometry) {
        Err(StepEnd::NothingToDo)
    } else {
        Ok(())
    }
}

pub fn resize(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let g = state.model.geometry.clone();
    let mut shape = g.shape.clone();
    let mut start = g.shape.clone();
    let mut changed = false;
    for dim in 0..g.ndim() {
        if changed && !random.one_in(3) {
            continue;
        }
        changed = true;
        let chunk = g.chunkshape[dim].max(1);
        let by = if random.one_in(2) {
            chunk * (random.below(4) as i64 - 1)
        } else {
            random.below(2 * chunk as usize + 3) as i64 - chunk
        };
        shape[dim] = if random.one_in(12) { 0 } else { (g.shape[dim] + by).max(0) };
        // The end, a multiple of the chunk extent, or any position.
        start[dim] = match random.below(4) {
            0 | 1 => g.shape[dim] + (shape[dim] - g.shape[dim]).min(0),
            2 => random.below(g.shape[dim] as usize + 1) as i64 / chunk * chunk,
            _ => random.below(g.shape[dim] as usize + 2) as i64,
        };
    }
    if random.one_in(20) && g.ndim() > 0 {
        shape[random.below(g.ndim())] = -1;
    }
    let start = random.one_in(2).then_some(start);
    check_size(state, &shape)?;
    state.log(format!("{:?} to {shape:?} at {start:?}", g.shape));
    let mut next = state.model.clone();
    let right = next.resize(&shape, start.as_deref())?;
    state.model = next;
    state.expect("resize", &right, |side| side.array().resize(&shape, start.as_deref()))
}

/// Draws bytes for a whole number of slabs along `axis`, sometimes for a fraction.
fn draw_slabs(state: &SequenceState, random: &mut Random, axis: usize) -> Vec<u8> {
    let g = &state.model.geometry;
    let Some(&chunk) = g.chunkshape.get(axis) else { return draw_items(random, 3 * g.typesize) };
    let count = match random.below(3) {
        0 => chunk,
        1 => random.below(2) as i64 * 2 * chunk,
        _ => random.below(2 * chunk as usize + 2) as i64,
    };
    let odd = if random.one_in(10) { 1 } else { 0 };
    let len = (state.model.slab_bytes(axis) * count) as usize + odd;
    draw_items(random, len)
}

fn shape_after_insert(state: &SequenceState, len: usize, axis: usize) -> Vec<i64> {
    let mut shape = state.model.geometry.shape.clone();
    if let Some(length) = shape.get_mut(axis) {
        *length += len as i64 / state.model.slab_bytes(axis).max(1);
    }
    shape
}

pub fn insert(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let g = state.model.geometry.clone();
    let axis = draw_axis(random, g.ndim());
    let source = draw_slabs(state, random, axis);
    let length = g.shape.get(axis).copied().unwrap_or(0);
    let chunk = g.chunkshape.get(axis).copied().unwrap_or(1).max(1);
    let at = match random.below(4) {
        0 => length,
        1 | 2 => random.below(length as usize + 1) as i64 / chunk * chunk,
        _ => random.below(length as usize + 3) as i64,
    };
    check_size(state, &shape_after_insert(state, source.len(), axis))?;
    state.log(format!("{:?}: {} bytes along {axis} at {at}", g.shape, source.len()));
    let mut next = state.model.clone();
    let right = next.insert(&source, axis, at)?;
    state.model = next;
    state.expect("insert", &right, |side| side.array().insert(&source, axis as i8, at))
}

pub fn append(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let g = state.model.geometry.clone();
    let axis = draw_axis(random, g.ndim());
    let source = draw_slabs(state, random, axis);
    check_size(state, &shape_after_insert(state, source.len(), axis))?;
    state.log(format!("{:?}: {} bytes along {axis}", g.shape, source.len()));
    let mut next = state.model.clone();
    let right = next.append(&source, axis)?;
    state.model = next;
    state.expect("append", &right, |side| side.array().append(&source, axis as i8))
}

pub fn delete(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let g = state.model.geometry.clone();
    let axis = draw_axis(random, g.ndim());
    let length = g.shape.get(axis).copied().unwrap_or(0);
    let chunk = g.chunkshape.get(axis).copied().unwrap_or(1).max(1);
    let count = random.below(length as usize + 1) as i64;
    let (at, count) = match random.below(4) {
        0 => (length - count, count),
        1 | 2 => (random.below(length as usize + 1) as i64 / chunk * chunk, count / chunk * chunk),
        _ => (random.below(length as usize + 1) as i64, count),
    };
    state.log(format!("{:?}: {count} along {axis} at {at}", g.shape));
    let mut next = state.model.clone();
    let right = next.delete(axis, at, count)?;
    state.model = next;
    state.expect("delete", &right, |side| side.array().delete(axis as i8, at, count))
}
