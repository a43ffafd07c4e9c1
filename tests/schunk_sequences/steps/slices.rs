//! Steps on ranges of items (schunk.md 12, 13, 20).

use std::rc::Rc;

use super::changes::compress_inside;
use super::reads::{blocks_on_demand, partial};
use crate::chunks;
use crate::known_defects::KnownDefect;
use crate::model::{Model, Predicted};
use crate::setup::Backend;
use crate::side::BEFORE;
use crate::support::known_defects::has_filter;
use crate::support::random::Random;
use crate::support::value::difference;
use crate::world::{Done, Stop, Touched, World, wrong};

/// Draws a range of items: mostly valid, sometimes empty, reversed or past the end.
fn draw_range(world: &World, random: &mut Random) -> (i64, i64) {
    let items = (world.model.nbytes() / world.typesize()) as usize;
    let per_chunk = (world.model.chunksize.max(1) / world.typesize()).max(1);
    let aligned = |random: &mut Random| {
        (random.below(items / per_chunk as usize + 2) as i64 * per_chunk).min(items as i64)
    };
    match random.below(12) {
        0 => (0, items as i64),
        1 => {
            let at = random.below(items + 1) as i64;
            (at, at)
        }
        2 => (random.below(items + 1) as i64, random.below(items + 1) as i64),
        3 => {
            let start = random.below(items + 1);
            (start as i64, (items + 1 + random.below(2 * per_chunk as usize + 1)) as i64)
        }
        4..=6 => {
            let (a, b) = (aligned(random), aligned(random));
            (a.min(b), a.max(b))
        }
        7 => {
            let start = aligned(random);
            (start, start + 1 + random.below(per_chunk as usize) as i64)
        }
        _ => {
            let (a, b) = (random.below(items + 1) as i64, random.below(items + 1) as i64);
            (a.min(b), a.max(b))
        }
    }
}

/// Returns the chunks of `[start, stop)`: number, and first and last byte in it.
fn pieces(world: &World, start: i64, stop: i64) -> Done<Vec<(usize, i64, i64)>> {
    let full = world.model.chunksize;
    if full == 0 {
        return Err(Stop::Skip(KnownDefect::VariableSlice));
    }
    let (mut at, end) = (start * world.typesize(), stop * world.typesize());
    let mut pieces = Vec::new();
    while at < end && full > 0 {
        let chunk = at / full;
        let until = end.min((chunk + 1) * full);
        pieces.push((chunk as usize, at - chunk * full, until - chunk * full));
        at = until;
    }
    Ok(pieces)
}

/// Returns whether every chunk but the last is full, so that positions can be computed.
fn regular(world: &World) -> bool {
    let full = world.model.chunksize;
    world.model.chunks.iter().rev().skip(1).all(|chunk| chunk.nbytes() == full)
}

pub fn get(world: &mut World, random: &mut Random) -> Done<Touched> {
    let (start, stop) = draw_range(world, random);
    for (at, from, to) in pieces(world, start, stop)? {
        let Some(chunk) = world.model.chunks.get(at) else { break };
        blocks_on_demand(world, at)?;
        let whole = from == 0 && (to == chunk.nbytes() || to == world.model.chunksize);
        if chunk.vl() && whole && world.store.on_disk() {
            return Err(Stop::Skip(KnownDefect::VlSlice));
        }
        let is_last = at + 1 == world.model.chunks.len();
        if is_last && from == 0 && to == world.model.nbytes() % world.model.chunksize && to != chunk.nbytes()
        {
            return Err(Stop::Skip(KnownDefect::ShortSliceShortcut));
        }
        if chunk.content.is_none() && to > chunk.nbytes() {
            return Err(Stop::Skip(KnownDefect::UninitOverEnd));
        }
        if !whole {
            partial(world, at, from, to - from)?;
        } else if to > chunk.nbytes() {
            // Past the end of a short chunk.
            partial(world, at, from, chunk.nbytes())?;
        }
    }
    world.say(format!("get_slice_buffer [{start}, {stop})"));
    let size = ((stop - start).max(0) * world.typesize()) as usize;
    let (rc, bytes) = world.same("get_slice_buffer", |side| side.get_slice(start, stop, size))?;
    if rc < 0 {
        world.current_unknown = true;
        return Ok(Touched::None);
    }
    if let (true, Some(whole)) = (regular(world), world.model.whole()) {
        let from = (start.min(stop) * world.typesize()) as usize;
        if size > 0 {
            let right = whole.get(from..from + size).ok_or_else(|| wrong!("a slice over the end gives 0"))?;
            if let Some(text) = difference(&bytes.0, right) {
                return Err(wrong!("get_slice_buffer [{start}, {stop}), found and right: {text}"));
            }
        }
    }
    Ok(Touched::None)
}

/// Predicts the write of `data` to [start, stop), piece by piece (schunk.md 12.2): the model afterwards and the
/// return code.
fn predict_set(world: &World, start: i64, stop: i64, data: &[u8]) -> Done<(Model, i32)> {
    let mut params = world.reference().context_params();
    let mut model = world.model.clone();
    if model.chunksize == -1 && start < stop {
        return Err(Stop::Skip(KnownDefect::EmptySetSlice));
    }
    let mut used = 0;
    for (at, from, to) in pieces(world, start, stop)? {
        let piece = &data[used..used + (to - from) as usize];
        used += piece.len();
        let left = model.nbytes() % model.chunksize;
        let whole = from == 0 && (to == model.chunksize || to == left);
        let Some(old) = model.chunks.get(at).cloned() else {
            if whole && (piece.len() as i64) < world.typesize() {
                // The reference compresses the piece before it detects that the chunk does not exist.
                return Err(Stop::Skip(KnownDefect::BlocksizeOfOne));
            }
            return Ok((model, if whole { -21 } else { -1 }));
        };
        if whole && to != old.nbytes() && !(at == model.len() - 1 && to == model.chunksize) {
            return Err(Stop::Skip(KnownDefect::ShortSliceShortcut));
        }
        let content = if whole {
            piece.to_vec()
        } else {
            let Some(mut content) = old.content.clone() else {
                return Err(Stop::Skip(KnownDefect::UninitOverlay));
            };
            let from = (from as usize).min(content.len());
            let to = (to as usize).min(content.len());
            content[from..to].copy_from_slice(&piece[..to - from]);
            content
        };
        let new = compress_inside(world, &params, &content)?;
        // The context keeps the block size (schunk.md 4).
        params.blocksize = new.header.blocksize;
        if world.store.has_frame() && new.payload_free() && new.nbytes() % world.typesize() != 0 {
            return Err(Stop::Skip(KnownDefect::SpecialMoved));
        }
        match model.update(world.store, at, &new) {
            Predicted::Next(next) => model = next,
            Predicted::Defect(defect) => return Err(Stop::Skip(defect)),
            Predicted::Refused => return Err(Stop::Idle),
        }
    }
    Ok((model, 0))
}

pub fn set(world: &mut World, random: &mut Random) -> Done<Touched> {
    if world.model.chunks.first().is_some_and(|chunk| chunk.vl()) || !regular(world) {
        return Err(Stop::Idle);
    }
    let (start, stop) = draw_range(world, random);
    let size = ((stop - start).max(0) * world.typesize()) as usize;
    let data = chunks::draw_data(random, world.setup.params.typesize, size);
    let (next, right) = predict_set(world, start, stop, &data)?;
    world.say(format!("set_slice_buffer [{start}, {stop})"));
    let rc = world.same("set_slice_buffer", |side| side.set_slice(start, stop, &data))?;
    if rc != right {
        return Err(wrong!("set_slice_buffer [{start}, {stop}) gives {rc}, has to give {right}"));
    }
    world.current_unknown = rc < 0;
    // Our library takes the lock once, the reference once per chunk.
    let touched = pieces(world, start, stop)?.len();
    world.counter_unknown |= world.backend == Backend::Locking && touched > 1;
    let changed: Vec<usize> =
        (0..next.len()).filter(|&at| !Rc::ptr_eq(&next.chunks[at], &world.model.chunks[at])).collect();
    world.model = next;
    world.changed();
    for at in changed {
        world.note_compressed(at)?;
    }
    Ok(Touched::All)
}

pub fn sparse(world: &mut World, random: &mut Random) -> Done<Touched> {
    let items = world.model.nbytes() / world.typesize();
    let count = if random.one_in(4) { 1 } else { 1 + random.below(40) };
    let mut coords: Vec<i64> = (0..count).map(|_| random.below(items.max(1) as usize) as i64).collect();
    if random.one_in(8) {
        let at = random.below(count);
        coords[at] = *random.pick(&[-1, items, items + 5, i64::MAX / 2]);
    }
    let fields = world.reference().fields();
    let typesize = world.typesize();
    let readable = fields.blocksize > 0
        && fields.chunksize > 0
        && i64::from(fields.blocksize) % typesize == 0
        && i64::from(fields.chunksize) % typesize == 0;
    if readable && world.model.len() > 0 && !world.model.chunks[0].vl() {
        if !regular(world) {
            return Err(Stop::Idle);
        }
        for &coord in coords.iter().filter(|coord| (0..items).contains(*coord)) {
            check_sparse(world, coord * typesize, fields.blocksize)?;
        }
    }
    world.say(format!("get_sparse_buffer {coords:?}"));
    let size = count * typesize as usize;
    let (rc, bytes) = world.same("get_sparse_buffer", |side| side.get_sparse(&coords, size))?;
    if rc < 0 {
        world.current_unknown = true;
        return Ok(Touched::None);
    }
    if let Some(whole) = world.model.whole() {
        let right: Vec<u8> = coords
            .iter()
            .flat_map(|&coord| &whole[(coord * typesize) as usize..((coord + 1) * typesize) as usize])
            .copied()
            .collect();
        if let Some(text) = difference(&bytes.0, &right) {
            return Err(wrong!("get_sparse_buffer, found and right: {text}"));
        }
    } else if bytes.0.is_empty() && count > 0 {
        return Err(wrong!("no items, filled with {BEFORE:02x} before"));
    }
    Ok(Touched::None)
}

/// Returns an error if the reference gathers the item at this byte incorrectly.
fn check_sparse(world: &World, byte: i64, blocksize: i32) -> Done {
    let at = (byte / world.model.chunksize) as usize;
    let chunk = &world.model.chunks[at];
    blocks_on_demand(world, at)?;
    if chunk.header.special() == 4 {
        return Err(Stop::Skip(KnownDefect::SparseUninit));
    }
    let found = chunk.header.blocksize;
    let nb = chunk.header.nbytes;
    let located = found == blocksize || (nb <= blocksize && found >= nb);
    let typesize = match world.typesize() {
        1..=255 => world.typesize() as u8,
        _ => 1,
    };
    let odd = has_filter(&chunk.params, 3) || chunk.header.uses_dictionary();
    if !located || odd || chunk.header.typesize != typesize {
        return Err(Stop::Skip(KnownDefect::SparseBlocksize));
    }
    partial(world, at, byte % world.model.chunksize, world.typesize())
}

pub fn nchunks(world: &mut World, random: &mut Random) -> Done<Touched> {
    if world.model.chunksize == 0 && world.model.len() > 0 {
        return Err(Stop::Skip(KnownDefect::VariableSlice));
    }
    let (start, stop) = draw_range(world, random);
    let (start, stop) = (start.min(stop), start.max(stop));
    world.say(format!("get_slice_nchunks [{start}, {stop})"));
    world.same("get_slice_nchunks", |side| side.slice_nchunks(start, stop))?;
    Ok(Touched::None)
}
