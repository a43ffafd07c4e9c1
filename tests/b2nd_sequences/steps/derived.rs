//! Arrays created from arrays: copies, slices, concatenations.

use std::ffi::CString;
use std::path::PathBuf;

use crate::geometry::{Geometry, extents};
use crate::known_defects::KnownDefect;
use crate::model::Model;
use crate::sequence_state::{LIBRARY_NAMES, SequenceState, StepEnd, StepResult, vlmetalayers_of, wrong};
use crate::setup::{Backend, draw_axis, draw_params, draw_partitions, is_small};
use crate::steps::draw_items;
use crate::steps::slices::draw_box;
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::Params;
use crate::support::known_defects as defects;
use crate::support::random::Random;
use crate::support::super_chunk::Store;

/// Draws another array of this shape and item size, with other partitions, parameters and store.
pub fn draw_spec(
    state: &mut SequenceState,
    random: &mut Random,
    shape: &[i64],
    equal: bool,
) -> (ArraySpec, String) {
    let typesize = state.setup.spec.params.typesize;
    let g = &state.model.geometry;
    let (chunk, block) = if equal && g.ndim() == shape.len() {
        (g.chunkshape.clone(), g.blockshape.clone())
    } else {
        draw_partitions(random, shape, typesize)
    };
    let spec = ArraySpec {
        shape: shape.to_vec(),
        chunkshape: chunk.iter().map(|&length| length as i32).collect(),
        blockshape: block.iter().map(|&length| length as i32).collect(),
        params: if random.one_in(2) {
            state.setup.spec.params.clone()
        } else {
            draw_params(random, typesize)
        },
        dtype: random.one_in(3).then(|| CString::new("<c8").expect("no NUL")).or(state.dtype.clone()),
        metalayers: Vec::new(),
        store: *random.pick(&Store::ALL),
        path: PathBuf::new(),
        ..state.setup.spec.clone()
    };
    (spec, state.fresh_name())
}

/// The new array of each side, and its path.
type CreatedArrays = Vec<(Array, PathBuf)>;

/// Creates an array on both sides with `make`, which must succeed; its name is relative to the directory of each
/// side.
fn create_on_both(
    state: &mut SequenceState,
    what: &str,
    spec: &ArraySpec,
    name: &str,
    right: i32,
    mut make: impl FnMut(&crate::support::array::ArrayContext, &Array, usize) -> (i32, Option<Array>),
) -> StepResult<CreatedArrays> {
    let mut made = Vec::new();
    for (at, side) in state.sides.iter_mut().enumerate() {
        let path = side.directory.join(name);
        let spec = ArraySpec { path: path.clone(), ..spec.clone() };
        let context = side.context(&spec, Backend::Native);
        let context =
            context.ok_or_else(|| wrong!("{what}: {} gives no context: {spec:?}", LIBRARY_NAMES[at]))?;
        let (rc, array) = make(&context, side.array(), at);
        if rc != right {
            return Err(wrong!("{what}: {} gives {rc}, right is {right}", LIBRARY_NAMES[at]));
        }
        if let Some(array) = array {
            made.push((array, path));
        }
    }
    Ok(made)
}

fn replace_arrays(state: &mut SequenceState, made: CreatedArrays, spec: ArraySpec, model: Model) {
    for (side, (array, path)) in state.sides.iter_mut().zip(made) {
        side.replace_array(Some(array), &path);
    }
    state.setup.backend = Backend::Native;
    state.dtype = spec.dtype.clone();
    state.dtype_format = spec.dtype_format;
    state.setup.spec = spec;
    state.model = model;
}

pub fn copy(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let g = state.model.geometry.clone();
    let wide = g.typesize > 255;
    let (mut spec, name) = draw_spec(state, random, &g.shape.clone(), random.clone().one_in(2));
    if g.chunkshape.contains(&0) {
        (spec.chunkshape, spec.blockshape) =
            (state.setup.spec.chunkshape.clone(), state.setup.spec.blockshape.clone());
    }
    let geometry = Geometry::of(&spec);
    let equal = geometry.chunkshape == g.chunkshape && geometry.blockshape == g.blockshape;
    if equal && wide {
        return Err(StepEnd::Skip(KnownDefect::WideCopy));
    }
    // Compressed again, with the parameters of the copy.
    let blocksize = (geometry.blockshape.iter().product::<i64>() * g.typesize as i64) as i32;
    let params = Params { blocksize, ..spec.params.clone() };
    let readable = |(_, content): &(String, Vec<u8>)| {
        let len = content.len() as i32;
        defects::compression_verdict(&params, len, defects::sufficient_destsize(&params, len)).is_right()
            && defects::is_header_blocksize_right(&params, len)
    };
    if !equal && !state.vlmetalayers.iter().all(readable) {
        return Err(StepEnd::Skip(KnownDefect::MetalayerBlocksize));
    }
    state.log(format!("{spec:?}"));
    let model = state.model.with_partitions(&geometry.chunkshape, &geometry.blockshape);
    let made = create_on_both(state, "copy", &spec, &name, 0, |context, array, _| context.copy(array))?;
    let dtype = spec.dtype.clone().unwrap_or_default();
    let stored = if equal { state.stored_dtype.clone() } else { dtype.clone() };
    let vlmetalayers = state.vlmetalayers.clone();
    let mut layers = state.metalayers();
    layers[0].1 = geometry.metalayer_bytes(stored.as_bytes(), spec.dtype_format);
    for ((array, _), name) in made.iter().zip(LIBRARY_NAMES) {
        state.check_contents(&format!("copy by {name}"), array, &model)?;
        if array.schunk().metalayers() != layers {
            return Err(wrong!(
                "copy by {name}: metalayers {:?}, right are {layers:?}",
                array.schunk().metalayers()
            ));
        }
        let found = (array.dtype(), vlmetalayers_of(array));
        if (found.0.as_ref(), &found.1) != (Some(&dtype), &vlmetalayers) {
            return Err(wrong!("copy by {name}: {found:?}, right is {dtype:?}, {vlmetalayers:?}"));
        }
    }
    // A dtype that differs from the stored one would make later changes incorrect (D24).
    if stored == dtype && random.one_in(2) {
        spec.metalayers = state.setup.spec.metalayers.clone();
        state.stored_dtype = stored;
        replace_arrays(state, made, spec, model);
    } else if stored.as_bytes().len() < dtype.as_bytes().len() {
        return Err(StepEnd::Skip(KnownDefect::LongerDtype));
    }
    Ok(())
}

pub fn slice_array(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let g = state.model.geometry.clone();
    let (start, stop) = loop {
        let (start, stop) = draw_box(random, &g);
        if stop.iter().zip(&g.shape).all(|(stop, length)| stop <= length) {
            break (start, stop);
        }
    };
    let (spec, name) = draw_spec(state, random, &extents(&start, &stop), false);
    state.log(format!("{start:?}..{stop:?} as {spec:?}"));
    let model = state.model.copy_box(Geometry::of(&spec), &start);
    let made = create_on_both(state, "get_slice", &spec, &name, 0, |context, array, _| {
        context.get_slice(array, &start, &stop)
    })?;
    for ((array, _), name) in made.iter().zip(LIBRARY_NAMES) {
        state.check_contents(&format!("slice by {name}"), array, &model)?;
    }
    if random.one_in(3) {
        state.stored_dtype = spec.dtype.clone().unwrap_or_default();
        state.vlmetalayers.clear();
        replace_arrays(state, made, spec, model);
    }
    Ok(())
}

/// Creates another array on both sides, which can or (sometimes) cannot be appended to this one along `axis`.
fn create_second_operand(
    state: &mut SequenceState,
    random: &mut Random,
    axis: usize,
) -> StepResult<(CreatedArrays, Model, bool)> {
    let mut shape = state.model.geometry.shape.clone();
    let mut fits = true;
    if let Some(length) = shape.get_mut(axis) {
        *length = random.below(*length as usize + 4) as i64;
    }
    if random.one_in(12) && shape.len() > 1 {
        shape[(axis + 1) % state.model.geometry.ndim()] += 1;
        fits = false;
    }
    let equal = random.one_in(2);
    let (spec, name) = draw_spec(state, random, &shape, equal);
    let geometry = Geometry::of(&spec);
    if !is_small(&geometry) || geometry.chunkshape.contains(&0) {
        return Err(StepEnd::NothingToDo);
    }
    let source = draw_items(random, geometry.nbytes());
    let value = draw_items(random, geometry.typesize);
    let full = random.one_in(3);
    let model = if full { Model::full(geometry, &value) } else { Model::from_items(geometry, &source) };
    state.log(format!("other: {spec:?}, full: {full}"));
    let made = create_on_both(state, "other", &spec, &name, 0, |context, _, _| {
        if full { context.full(&value) } else { context.create_from_buffer(&source) }
    })?;
    Ok((made, model, fits))
}

/// Ends the step if the array would become too large by a concatenation along `axis`.
fn check_concatenated_size(
    state: &SequenceState,
    chunk: &[i64],
    block: &[i64],
    other: &Model,
    axis: usize,
) -> StepResult {
    let mut g = state.model.geometry.clone();
    (g.chunkshape, g.blockshape) = (chunk.to_vec(), block.to_vec());
    if let Some(length) = g.shape.get_mut(axis) {
        *length += other.geometry.shape[axis];
    }
    if is_small(&g) { Ok(()) } else { Err(StepEnd::NothingToDo) }
}

pub fn extend(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let g = state.model.geometry.clone();
    let axis = random.below(g.ndim().max(1));
    let (made, other, fits) = create_second_operand(state, random, axis)?;
    check_concatenated_size(state, &g.chunkshape, &g.blockshape, &other, axis)?;
    state.log(format!("{:?} and {:?} along {axis}", g.shape, other.geometry.shape));
    let mut next = state.model.clone();
    let right = if !fits || axis >= g.ndim() { -12 } else { next.extend(&g, &other, axis)? };
    state.model = next;
    let mut others = made.iter().map(|(array, _)| array);
    state.expect("concatenate in place", &right, |side| {
        side.array().extend(others.next().expect("one each"), axis as i8)
    })?;
    for ((array, _), name) in made.iter().zip(LIBRARY_NAMES) {
        state.check_contents(&format!("second operand of {name}"), array, &other)?;
    }
    Ok(())
}

pub fn concatenate(state: &mut SequenceState, random: &mut Random) -> StepResult {
    let g = state.model.geometry.clone();
    let axis = draw_axis(random, g.ndim());
    let (others, other, fits) = create_second_operand(state, random, axis)?;
    let (mut spec, name) = draw_spec(state, random, &g.shape.clone(), random.clone().one_in(2));
    if g.chunkshape.contains(&0) {
        return Err(StepEnd::NothingToDo);
    }
    // As in a copy, the dtypes must be equal for the following steps (D24).
    spec.dtype = Some(state.stored_dtype.clone());
    let geometry = Geometry::of(&spec);
    let equal = geometry.chunkshape == g.chunkshape && geometry.blockshape == g.blockshape;
    if equal && g.typesize > 255 {
        return Err(StepEnd::Skip(KnownDefect::WideCopy));
    }
    check_concatenated_size(state, &geometry.chunkshape, &geometry.blockshape, &other, axis)?;
    state.log(format!("{:?} and {:?} along {axis} as {spec:?}", g.shape, other.geometry.shape));
    let mut model = state.model.with_partitions(&geometry.chunkshape, &geometry.blockshape);
    let right = if !fits || axis >= g.ndim() { -12 } else { model.extend(&g, &other, axis)? };
    let made = create_on_both(state, "concatenate", &spec, &name, right, |context, array, at| {
        context.concatenate(array, &others[at].0, axis as i8)
    })?;
    for ((array, _), name) in made.iter().zip(LIBRARY_NAMES) {
        state.check_contents(&format!("concatenation by {name}"), array, &model)?;
    }
    Ok(())
}
