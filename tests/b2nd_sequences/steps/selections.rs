//! Selections of items by flat positions, and outer products of coordinates.

use crate::known_defects::KnownDefect;
use crate::sequence_state::{SequenceState, StepEnd, StepResult};
use crate::steps::draw_items;
use crate::support::random::Random;

pub fn get_sparse(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let geometry = &state.model.geometry;
    let nitems = geometry.nitems();
    let count = *random.pick(&[0, 1, 2, 5, 20, 60]);
    let mut coords: Vec<i64> = (0..count).map(|_| random.below(nitems.max(1) as usize) as i64).collect();
    if random.one_in(6) && count > 0 {
        coords[random.below(count)] = *random.pick(&[nitems, -1, i64::MAX, i64::MIN]);
    }
    let room = count * geometry.typesize + random.below(2) * 5;
    let buffersize = if random.one_in(8) { (count * geometry.typesize) as i64 - 1 } else { room as i64 };
    state.log(format!("{coords:?} into {buffersize} bytes"));
    let right = state.model.get_sparse(&coords, room, buffersize);
    state.expect_read("get_sparse_cbuffer", &right, |array| array.get_sparse(&coords, room, buffersize))
}

/// Lists of coordinates, the shape of the buffer, its actual size in bytes, and the size passed to the call.
type Selection = (Vec<Vec<i64>>, Vec<i64>, usize, i64);

fn draw_selection(state: &SequenceState, random: &mut Random) -> StepResult<Selection> {
    let geometry = &state.model.geometry;
    if geometry.ndim() == 0 {
        return Err(StepEnd::Skip(KnownDefect::ZeroDimSelection));
    }
    let most = if geometry.ndim() > 4 { 2 } else { 7 };
    let selection: Vec<Vec<i64>> = geometry
        .shape
        .iter()
        .map(|&length| {
            let count = if length == 0 || random.one_in(20) { 0 } else { 1 + random.below(most) };
            (0..count).map(|_| random.below(length as usize) as i64).collect()
        })
        .collect();
    let mut buffershape: Vec<i64> = selection.iter().map(|list| list.len() as i64).collect();
    let items: usize = selection.iter().map(Vec::len).product();
    let mut buffersize = (items * geometry.typesize) as i64;
    if random.one_in(4) {
        let dim = random.below(geometry.ndim());
        buffershape[dim] += 2;
    }
    match random.below(8) {
        0 => buffersize += 1,
        1 if buffersize > 0 => buffersize -= 1,
        _ => {}
    }
    let room = (buffershape.iter().product::<i64>() as usize * geometry.typesize).max(buffersize as usize);
    Ok((selection, buffershape, room, buffersize))
}

pub fn get_orthogonal(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let (mut selection, buffershape, room, buffersize) = draw_selection(state, random)?;
    if random.one_in(10) && !selection[0].is_empty() {
        // Rejected before anything is read.
        selection[0][0] = state.model.geometry.shape[0] + 1;
    }
    state.log(format!("{selection:?}, buffer {buffershape:?} of {buffersize} bytes"));
    let right = state.model.get_orthogonal(&selection, &buffershape, room, buffersize);
    state.expect_read("get_orthogonal_selection", &right, |array| {
        array.get_orthogonal(&selection, &buffershape, room, buffersize)
    })
}

pub fn set_orthogonal(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let (selection, buffershape, room, buffersize) = draw_selection(state, random)?;
    let source = draw_items(random, room);
    state.log(format!("{selection:?}, buffer {buffershape:?} of {buffersize} bytes"));
    let right = state.model.set_orthogonal(&selection, &source, &buffershape, buffersize);
    state.expect("set_orthogonal_selection", &right, |side| {
        side.array().set_orthogonal(&selection, &source, &buffershape, buffersize)
    })
}
