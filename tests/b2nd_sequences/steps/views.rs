//! Views with fewer (squeezed) or with additional dimensions of length 1.

use crate::geometry::Geometry;
use crate::known_defects::KnownDefect;
use crate::model::{Model, Slice};
use crate::sequence_state::{LIBRARY_NAMES, SequenceState, StepEnd, StepResult, wrong};
use crate::steps::slices::draw_box;
use crate::support::array::Array;
use crate::support::random::Random;

/// Skips the step in the cases in which every view of the reference is wrong.
fn skip_if_vlmetalayers(state: &SequenceState) -> StepResult {
    if state.vlmetalayers.is_empty() { Ok(()) } else { Err(StepEnd::Skip(KnownDefect::ViewMetalayers)) }
}

/// Creates the view on both sides, reads it with every function, and frees it.
fn check_view(
    state: &mut SequenceState,
    random: &mut Random,
    what: &str,
    right: i32,
    geometry: Geometry,
    make: impl Fn(&Array) -> (i32, Option<Array>),
) -> StepResult {
    let model = Model { geometry, chunks: state.model.chunks.clone() };
    let (start, stop) = draw_box(random, &model.geometry);
    let slice = Slice::exact(start, stop, model.geometry.typesize);
    for (side, name) in state.sides.iter().zip(LIBRARY_NAMES) {
        let (rc, view) = make(side.array());
        if rc != right {
            return Err(wrong!("{what}: {name} gives {rc}, right is {right}"));
        }
        let Some(view) = view.filter(|_| right == 0) else { continue };
        state.check_contents(&format!("{what} by {name}"), &view, &model)?;
        if view.dtype() != state.dtype || view.fields().dtype_format != state.dtype_format {
            return Err(wrong!("{what} by {name}: dtype {:?}", view.dtype()));
        }
        let room = slice.buffersize as usize;
        let found =
            view.get_slice_cbuffer(&slice.start, &slice.stop, &slice.buffershape, room, slice.buffersize);
        if Ok(&found) != model.get(&slice, room).as_ref() {
            return Err(wrong!("{what} by {name}: {slice:?} gives {found:?}"));
        }
        if model.geometry.typesize <= 255 {
            let (mut frame, fresh) =
                view.to_cframe().map_err(|rc| wrong!("{what} by {name}: to_cframe {rc}"))?;
            let (rc, copy) = Array::from_frame_copy(side.library, &mut frame);
            let copy = copy.ok_or_else(|| wrong!("{what} by {name}: from_cframe gives {rc}"))?;
            if !fresh {
                return Err(wrong!("{what} by {name}: to_cframe of a view must give a copy"));
            }
            state.check_contents(&format!("frame of {what} by {name}"), &copy, &model)?;
        }
        if view.free() != 0 {
            return Err(wrong!("{what} by {name}: the view cannot be freed"));
        }
    }
    Ok(())
}

/// Returns whether the chunks of a view are those of its base.
fn has_chunks_of_base(g: &Geometry, dim: usize) -> bool {
    g.nitems() == 0 || g.chunkshape[dim] == 1 && g.blockshape[dim] == 1
}

pub fn squeeze(state: &mut SequenceState, random: &mut Random) -> StepResult {
    skip_if_vlmetalayers(state)?;
    let g = state.model.geometry.clone();
    let all = random.one_in(2);
    let index: Vec<bool> = g
        .shape
        .iter()
        .map(
            |&length| if all || !random.one_in(12) { length == 1 && (all || random.one_in(2)) } else { true },
        )
        .collect();
    let right = if !state.setup.spec.metalayers.is_empty() {
        -12
    } else if index.iter().zip(&g.shape).any(|(&gone, &length)| gone && length != 1) {
        -33
    } else {
        0
    };
    let kept: Vec<usize> = (0..g.ndim()).filter(|&dim| !index[dim]).collect();
    if (0..g.ndim()).any(|dim| index[dim] && !has_chunks_of_base(&g, dim)) && right == 0 {
        return Err(StepEnd::Skip(KnownDefect::WideView));
    }
    let pick = |lengths: &[i64]| kept.iter().map(|&dim| lengths[dim]).collect::<Vec<i64>>();
    let view = Geometry {
        shape: pick(&g.shape),
        chunkshape: pick(&g.chunkshape),
        blockshape: pick(&g.blockshape),
        ..g
    };
    state.log(format!("{:?} without {index:?}, all: {all}", state.model.geometry));
    check_view(state, random, "squeeze", right, view, |array| {
        if all { array.squeeze() } else { array.squeeze_index(&index) }
    })
}

pub fn expand_dims(state: &mut SequenceState, random: &mut Random) -> StepResult {
    skip_if_vlmetalayers(state)?;
    let g = state.model.geometry.clone();
    let mut axis = vec![false; g.ndim()];
    let more = if g.ndim() >= 15 { 0 } else { random.below(3) };
    for _ in 0..more {
        axis.insert(random.below(axis.len() + 1), true);
    }
    if random.one_in(10) && axis.len() < 16 {
        axis.push(false);
    }
    let old = axis.iter().filter(|&&new| !new).count();
    let right = if !state.setup.spec.metalayers.is_empty() || old > g.ndim() { -12 } else { 0 };
    let mut view = Geometry { shape: vec![], chunkshape: vec![], blockshape: vec![], typesize: g.typesize };
    let mut dim = 0;
    for &new in &axis {
        let lengths = if new || dim >= g.ndim() {
            (1, 1, 1)
        } else {
            (g.shape[dim], g.chunkshape[dim], g.blockshape[dim])
        };
        view.shape.push(lengths.0);
        view.chunkshape.push(lengths.1);
        view.blockshape.push(lengths.2);
        dim += usize::from(!new);
    }
    state.log(format!("{g:?} with {axis:?}"));
    check_view(state, random, "expand_dims", right, view, |array| array.expand_dims(&axis))
}
