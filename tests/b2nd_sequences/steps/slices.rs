//! Reads and writes of boxes.

use crate::geometry::{Geometry, extents};
use crate::model::Slice;
use crate::sequence_state::{SequenceState, StepResult};
use crate::steps::draw_items;
use crate::support::random::Random;

/// Draws a box inside the shape; sometimes one that is only inside the extended shape, sometimes a whole chunk.
pub fn draw_box(random: &mut Random, geometry: &Geometry) -> (Vec<i64>, Vec<i64>) {
    let limits =
        if random.one_in(6) && geometry.nitems() > 0 { geometry.extshape() } else { geometry.shape.clone() };
    let kind = random.below(8);
    let mut start = Vec::new();
    let mut stop = Vec::new();
    for (dim, &limit) in limits.iter().enumerate() {
        let chunk = geometry.chunkshape[dim];
        let (from, to) = match kind {
            0 => (0, limit),
            1 | 2 if chunk > 0 && limit > 0 => {
                let at = random.below((limit as usize).div_ceil(chunk as usize)) as i64 * chunk;
                // Up to the end of the shape, or past it up to the end of the chunks.
                (at, if kind == 1 { (at + chunk).min(limit) } else { at + chunk })
            }
            _ => {
                let a = random.below(limit as usize + 1) as i64;
                let b = random.below(limit as usize + 1) as i64;
                let (a, b) = (a.min(b), a.max(b));
                if a == b && b < limit && !random.one_in(8) { (a, b + 1) } else { (a, b) }
            }
        };
        start.push(from);
        stop.push(to);
    }
    (start, stop)
}

/// Draws a box with a buffer, which may be larger than necessary, or too small.
fn draw_slice(random: &mut Random, geometry: &Geometry) -> Slice {
    let (start, stop) = draw_box(random, geometry);
    let mut slice = Slice::exact(start, stop, geometry.typesize);
    if geometry.ndim() == 0 {
        return slice;
    }
    match random.below(8) {
        0 | 1 => {
            for length in &mut slice.buffershape {
                *length += random.below(3) as i64;
            }
        }
        2 if random.one_in(3) => {
            let dim = random.below(geometry.ndim());
            slice.buffershape[dim] -= 1;
        }
        _ => {}
    }
    // Enough for the last item (b2nd.md D19), unless the slice is rejected anyway.
    let reach = slice.min_buffer_bytes(geometry.typesize).max(slice.buffersize.max(0) as usize) as i64;
    slice.buffersize = match random.below(10) {
        0 => reach + random.below(20) as i64,
        1 => {
            let needed =
                extents(&slice.start, &slice.stop).iter().product::<i64>() * geometry.typesize as i64;
            if needed > 0 { random.below(needed as usize) as i64 } else { reach }
        }
        2 if random.one_in(3) => -1 - random.below(5) as i64,
        _ => reach,
    };
    slice
}

pub fn get(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let slice = draw_slice(random, &state.model.geometry);
    let room = slice.buffersize.max(0) as usize;
    state.log(format!("{slice:?}"));
    let right = state.model.get(&slice, room)?;
    state.expect_read("get_slice_cbuffer", &right, |array| {
        array.get_slice_cbuffer(&slice.start, &slice.stop, &slice.buffershape, room, slice.buffersize)
    })
}

pub fn set(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let slice = draw_slice(random, &state.model.geometry);
    let source = draw_items(random, slice.buffersize.max(0) as usize);
    state.log(format!("{slice:?}"));
    let mut next = state.model.clone();
    let right = next.set(&slice, &source)?;
    state.model = next;
    state.expect("set_slice_cbuffer", &right, |side| {
        side.array().set_slice_cbuffer(
            &source,
            &slice.buffershape,
            slice.buffersize,
            &slice.start,
            &slice.stop,
        )
    })
}

pub fn to_cbuffer(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let items = state.model.items();
    let (room, buffersize) = match random.below(4) {
        0 => (items.len() + 9, items.len() as i64 + 9),
        1 => (items.len(), items.len() as i64 - 1 - random.below(4) as i64),
        _ => (items.len(), items.len() as i64),
    };
    state.log(format!("to_cbuffer of {buffersize} bytes, {} items", state.model.geometry.nitems()));
    let mut right = vec![crate::support::calls::DEST_FILL_BYTE; room];
    let code = if buffersize < items.len() as i64 {
        -12
    } else {
        if !items.is_empty() && state.model.geometry.ndim() > 0 {
            right.fill(0);
            right[..items.len()].copy_from_slice(&items);
        }
        0
    };
    if state.model.geometry.ndim() == 0 && code == 0 {
        right.fill(0);
        right[..items.len()].copy_from_slice(&items);
    }
    state.expect_read("to_cbuffer", &(code, right), |array| array.to_cbuffer_sized(room, buffersize))
}

pub fn slice_nchunks(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let (start, stop) = draw_box(random, &state.model.geometry);
    state.log(format!("{start:?}..{stop:?}"));
    let right = Ok(state.model.intersected_nchunks(&start, &stop));
    state.expect("get_slice_nchunks", &right, |side| side.array().slice_nchunks(&start, &stop))
}
