//! Reads and writes of boxes.

use crate::geometry::{Geometry, extents};
use crate::model::Slice;
use crate::steps::items;
use crate::support::random::Random;
use crate::world::{Done, World};

/// Draws a box inside the shape; sometimes one that is only inside the extended shape, sometimes a whole chunk.
pub fn draw_box(random: &mut Random, geometry: &Geometry) -> (Vec<i64>, Vec<i64>) {
    let limits =
        if random.one_in(6) && geometry.nitems() > 0 { geometry.extshape() } else { geometry.shape.clone() };
    let kind = random.below(8);
    let mut start = Vec::new();
    let mut stop = Vec::new();
    for (dim, &limit) in limits.iter().enumerate() {
        let chunk = geometry.chunk[dim];
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
    let reach = slice.reach(geometry.typesize).max(slice.buffersize.max(0) as usize) as i64;
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

pub fn get(world: &mut World, random: &mut Random) -> Done {
    let slice = draw_slice(random, &world.model.geometry);
    let room = slice.buffersize.max(0) as usize;
    world.say(format!("{slice:?}"));
    let right = world.model.get(&slice, room)?;
    world.expect_read("get_slice_cbuffer", &right, |array| {
        array.get_slice_cbuffer(&slice.start, &slice.stop, &slice.buffershape, room, slice.buffersize)
    })
}

pub fn set(world: &mut World, random: &mut Random) -> Done {
    let slice = draw_slice(random, &world.model.geometry);
    let source = items(random, slice.buffersize.max(0) as usize);
    world.say(format!("{slice:?}"));
    let mut next = world.model.clone();
    let right = next.set(&slice, &source)?;
    world.model = next;
    world.expect("set_slice_cbuffer", &right, |side| {
        side.array().set_slice_cbuffer(
            &source,
            &slice.buffershape,
            slice.buffersize,
            &slice.start,
            &slice.stop,
        )
    })
}

pub fn to_cbuffer(world: &mut World, random: &mut Random) -> Done {
    let items = world.model.items();
    let (room, buffersize) = match random.below(4) {
        0 => (items.len() + 9, items.len() as i64 + 9),
        1 => (items.len(), items.len() as i64 - 1 - random.below(4) as i64),
        _ => (items.len(), items.len() as i64),
    };
    world.say(format!("to_cbuffer of {buffersize} bytes, {} items", world.model.geometry.nitems()));
    let mut right = vec![crate::support::calls::BEFORE; room];
    let code = if buffersize < items.len() as i64 {
        -12
    } else {
        if !items.is_empty() && world.model.geometry.ndim() > 0 {
            right.fill(0);
            right[..items.len()].copy_from_slice(&items);
        }
        0
    };
    if world.model.geometry.ndim() == 0 && code == 0 {
        right.fill(0);
        right[..items.len()].copy_from_slice(&items);
    }
    world.expect_read("to_cbuffer", &(code, right), |array| array.to_cbuffer_sized(room, buffersize))
}

pub fn nchunks(world: &mut World, random: &mut Random) -> Done {
    let (start, stop) = draw_box(random, &world.model.geometry);
    world.say(format!("{start:?}..{stop:?}"));
    let right = Ok(world.model.touched_numbers(&start, &stop));
    world.expect("get_slice_nchunks", &right, |side| side.array().slice_nchunks(&start, &stop))
}
