//! Arrays created from arrays: copies, slices, concatenations.

use std::ffi::CString;
use std::path::PathBuf;

use crate::geometry::{Geometry, extents};
use crate::known_defects::KnownDefect;
use crate::model::Model;
use crate::setup::{Backend, draw_axis, draw_params, draw_partitions, is_small};
use crate::steps::items;
use crate::steps::slices::draw_box;
use crate::support::array::{Array, Spec};
use crate::support::calls::Params;
use crate::support::known_defects as defects;
use crate::support::random::Random;
use crate::support::super_chunk::Store;
use crate::world::{Done, NAMES, Stop, World, vlmetalayers_of, wrong};

/// Draws another array of this shape and item size, with other partitions, parameters and store.
pub fn draw_spec(world: &mut World, random: &mut Random, shape: &[i64], equal: bool) -> (Spec, String) {
    let typesize = world.setup.spec.params.typesize;
    let g = &world.model.geometry;
    let (chunk, block) = if equal && g.ndim() == shape.len() {
        (g.chunk.clone(), g.block.clone())
    } else {
        draw_partitions(random, shape, typesize)
    };
    let spec = Spec {
        shape: shape.to_vec(),
        chunkshape: chunk.iter().map(|&length| length as i32).collect(),
        blockshape: block.iter().map(|&length| length as i32).collect(),
        params: if random.one_in(2) {
            world.setup.spec.params.clone()
        } else {
            draw_params(random, typesize)
        },
        dtype: random.one_in(3).then(|| CString::new("<c8").expect("no NUL")).or(world.dtype.clone()),
        metalayers: Vec::new(),
        store: *random.pick(&Store::ALL),
        path: PathBuf::new(),
        ..world.setup.spec.clone()
    };
    (spec, world.fresh_name())
}

/// The new array of each side, and its path.
type Made = Vec<(Array, PathBuf)>;

/// Creates an array on both sides with `make`, which must succeed; its name is relative to the directory of each
/// side.
fn make_both(
    world: &mut World,
    what: &str,
    spec: &Spec,
    name: &str,
    right: i32,
    mut make: impl FnMut(&crate::support::array::Context, &Array, usize) -> (i32, Option<Array>),
) -> Done<Made> {
    let mut made = Vec::new();
    for (at, side) in world.sides.iter_mut().enumerate() {
        let path = side.directory.join(name);
        let spec = Spec { path: path.clone(), ..spec.clone() };
        let context = side.context(&spec, Backend::Native);
        let context = context.ok_or_else(|| wrong!("{what}: {} gives no context: {spec:?}", NAMES[at]))?;
        let (rc, array) = make(&context, side.array(), at);
        if rc != right {
            return Err(wrong!("{what}: {} gives {rc}, right is {right}", NAMES[at]));
        }
        if let Some(array) = array {
            made.push((array, path));
        }
    }
    Ok(made)
}

fn adopt(world: &mut World, made: Made, spec: Spec, model: Model) {
    for (side, (array, path)) in world.sides.iter_mut().zip(made) {
        side.adopt(Some(array), &path);
    }
    world.setup.backend = Backend::Native;
    world.dtype = spec.dtype.clone();
    world.dtype_format = spec.dtype_format;
    world.setup.spec = spec;
    world.model = model;
}

pub fn copy(world: &mut World, random: &mut Random) -> Done {
    let g = world.model.geometry.clone();
    let wide = g.typesize > 255;
    let (mut spec, name) = draw_spec(world, random, &g.shape.clone(), random.clone().one_in(2));
    if g.chunk.contains(&0) {
        (spec.chunkshape, spec.blockshape) =
            (world.setup.spec.chunkshape.clone(), world.setup.spec.blockshape.clone());
    }
    let geometry = Geometry::of(&spec);
    let equal = geometry.chunk == g.chunk && geometry.block == g.block;
    if equal && wide {
        return Err(Stop::Skip(KnownDefect::WideCopy));
    }
    // Compressed again, with the parameters of the copy.
    let blocksize = (geometry.block.iter().product::<i64>() * g.typesize as i64) as i32;
    let params = Params { blocksize, ..spec.params.clone() };
    let readable = |(_, content): &(String, Vec<u8>)| {
        let len = content.len() as i32;
        defects::of_compression(&params, len, defects::roomy(&params, len)).is_right()
            && defects::header_blocksize_is_right(&params, len)
    };
    if !equal && !world.vlmetalayers.iter().all(readable) {
        return Err(Stop::Skip(KnownDefect::MetalayerBlocksize));
    }
    world.say(format!("{spec:?}"));
    let model = world.model.copied(&geometry.chunk, &geometry.block);
    let made = make_both(world, "copy", &spec, &name, 0, |context, array, _| context.copy(array))?;
    let dtype = spec.dtype.clone().unwrap_or_default();
    let stored = if equal { world.stored_dtype.clone() } else { dtype.clone() };
    let vlmetalayers = world.vlmetalayers.clone();
    let mut layers = world.metalayers();
    layers[0].1 = geometry.metalayer(stored.as_bytes(), spec.dtype_format);
    for ((array, _), name) in made.iter().zip(NAMES) {
        world.read_all(&format!("copy by {name}"), array, &model)?;
        if array.schunk().metas() != layers {
            return Err(wrong!(
                "copy by {name}: metalayers {:?}, right are {layers:?}",
                array.schunk().metas()
            ));
        }
        let found = (array.dtype(), vlmetalayers_of(array));
        if (found.0.as_ref(), &found.1) != (Some(&dtype), &vlmetalayers) {
            return Err(wrong!("copy by {name}: {found:?}, right is {dtype:?}, {vlmetalayers:?}"));
        }
    }
    // A dtype that differs from the stored one would make later changes incorrect (D24).
    if stored == dtype && random.one_in(2) {
        spec.metalayers = world.setup.spec.metalayers.clone();
        world.stored_dtype = stored;
        adopt(world, made, spec, model);
    } else if stored.as_bytes().len() < dtype.as_bytes().len() {
        return Err(Stop::Skip(KnownDefect::LongerDtype));
    }
    Ok(())
}

pub fn slice_array(world: &mut World, random: &mut Random) -> Done {
    let g = world.model.geometry.clone();
    let (start, stop) = loop {
        let (start, stop) = draw_box(random, &g);
        if stop.iter().zip(&g.shape).all(|(stop, length)| stop <= length) {
            break (start, stop);
        }
    };
    let (spec, name) = draw_spec(world, random, &extents(&start, &stop), false);
    world.say(format!("{start:?}..{stop:?} as {spec:?}"));
    let model = world.model.boxed(Geometry::of(&spec), &start);
    let made = make_both(world, "get_slice", &spec, &name, 0, |context, array, _| {
        context.get_slice(array, &start, &stop)
    })?;
    for ((array, _), name) in made.iter().zip(NAMES) {
        world.read_all(&format!("slice by {name}"), array, &model)?;
    }
    if random.one_in(3) {
        world.stored_dtype = spec.dtype.clone().unwrap_or_default();
        world.vlmetalayers.clear();
        adopt(world, made, spec, model);
    }
    Ok(())
}

/// Creates another array on both sides, which can or (sometimes) cannot be appended to this one along `axis`.
fn draw_other(world: &mut World, random: &mut Random, axis: usize) -> Done<(Made, Model, bool)> {
    let mut shape = world.model.geometry.shape.clone();
    let mut fits = true;
    if let Some(length) = shape.get_mut(axis) {
        *length = random.below(*length as usize + 4) as i64;
    }
    if random.one_in(12) && shape.len() > 1 {
        shape[(axis + 1) % world.model.geometry.ndim()] += 1;
        fits = false;
    }
    let equal = random.one_in(2);
    let (spec, name) = draw_spec(world, random, &shape, equal);
    let geometry = Geometry::of(&spec);
    if !is_small(&geometry) || geometry.chunk.contains(&0) {
        return Err(Stop::Idle);
    }
    let source = items(random, geometry.nbytes());
    let value = items(random, geometry.typesize);
    let full = random.one_in(3);
    let model = if full { Model::full(geometry, &value) } else { Model::from_items(geometry, &source) };
    world.say(format!("other: {spec:?}, full: {full}"));
    let made = make_both(world, "other", &spec, &name, 0, |context, _, _| {
        if full { context.full(&value) } else { context.filled(&source) }
    })?;
    Ok((made, model, fits))
}

/// Ends the step if the array would become too large by a concatenation along `axis`.
fn keep_small(world: &World, chunk: &[i64], block: &[i64], other: &Model, axis: usize) -> Done {
    let mut g = world.model.geometry.clone();
    (g.chunk, g.block) = (chunk.to_vec(), block.to_vec());
    if let Some(length) = g.shape.get_mut(axis) {
        *length += other.geometry.shape[axis];
    }
    if is_small(&g) { Ok(()) } else { Err(Stop::Idle) }
}

pub fn extend(world: &mut World, random: &mut Random) -> Done {
    let g = world.model.geometry.clone();
    let axis = random.below(g.ndim().max(1));
    let (made, other, fits) = draw_other(world, random, axis)?;
    keep_small(world, &g.chunk, &g.block, &other, axis)?;
    world.say(format!("{:?} and {:?} along {axis}", g.shape, other.geometry.shape));
    let mut next = world.model.clone();
    let right = if !fits || axis >= g.ndim() { -12 } else { next.extend(&g, &other, axis)? };
    world.model = next;
    let mut others = made.iter().map(|(array, _)| array);
    world.expect("concatenate in place", &right, |side| {
        side.array().extend(others.next().expect("one each"), axis as i8)
    })?;
    for ((array, _), name) in made.iter().zip(NAMES) {
        world.read_all(&format!("second operand of {name}"), array, &other)?;
    }
    Ok(())
}

pub fn concatenate(world: &mut World, random: &mut Random) -> Done {
    let g = world.model.geometry.clone();
    let axis = draw_axis(random, g.ndim());
    let (others, other, fits) = draw_other(world, random, axis)?;
    let (mut spec, name) = draw_spec(world, random, &g.shape.clone(), random.clone().one_in(2));
    if g.chunk.contains(&0) {
        return Err(Stop::Idle);
    }
    // As in a copy, the dtypes must be equal for the following steps (D24).
    spec.dtype = Some(world.stored_dtype.clone());
    let geometry = Geometry::of(&spec);
    let equal = geometry.chunk == g.chunk && geometry.block == g.block;
    if equal && g.typesize > 255 {
        return Err(Stop::Skip(KnownDefect::WideCopy));
    }
    keep_small(world, &geometry.chunk, &geometry.block, &other, axis)?;
    world.say(format!("{:?} and {:?} along {axis} as {spec:?}", g.shape, other.geometry.shape));
    let mut model = world.model.copied(&geometry.chunk, &geometry.block);
    let right = if !fits || axis >= g.ndim() { -12 } else { model.extend(&g, &other, axis)? };
    let made = make_both(world, "concatenate", &spec, &name, right, |context, array, at| {
        context.concatenate(array, &others[at].0, axis as i8)
    })?;
    for ((array, _), name) in made.iter().zip(NAMES) {
        world.read_all(&format!("concatenation by {name}"), array, &model)?;
    }
    Ok(())
}
