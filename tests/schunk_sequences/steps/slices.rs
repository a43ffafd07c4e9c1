//! Steps on ranges of items (schunk.md 12, 13, 20).

use std::rc::Rc;

use super::changes::compress_with_reference;
use super::reads::{check_lazy_read, check_partial_read};
use crate::chunks;
use crate::known_defects::SchunkDefect;
use crate::library_side::DEST_FILL_BYTE;
use crate::model::{Model, Prediction};
use crate::sequence_state::{ChangedChunks, SequenceState, StepEnd, StepResult, wrong};
use crate::setup::Backend;
use crate::support::byte_messages::describe_difference;
use crate::support::known_defects::has_filter;
use crate::support::random::Random;

/// Draws a range of items: mostly valid, sometimes empty, reversed or past the end.
fn draw_range(state: &SequenceState, random: &mut Random) -> (i64, i64) {
    let items = (state.model.nbytes() / state.typesize()) as usize;
    let per_chunk = (state.model.chunksize.max(1) / state.typesize()).max(1);
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
fn chunk_ranges(state: &SequenceState, start: i64, stop: i64) -> StepResult<Vec<(usize, i64, i64)>> {
    let full = state.model.chunksize;
    if full == 0 {
        return Err(StepEnd::Skip(SchunkDefect::VariableSlice));
    }
    let (mut at, end) = (start * state.typesize(), stop * state.typesize());
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
fn has_full_chunks(state: &SequenceState) -> bool {
    let full = state.model.chunksize;
    state.model.chunks.iter().rev().skip(1).all(|chunk| chunk.nbytes() == full)
}

pub fn get_slice(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let (start, stop) = draw_range(state, random);
    for (at, from, to) in chunk_ranges(state, start, stop)? {
        let Some(chunk) = state.model.chunks.get(at) else { break };
        check_lazy_read(state, at)?;
        let whole = from == 0 && (to == chunk.nbytes() || to == state.model.chunksize);
        if chunk.is_vl() && whole && state.store.is_on_disk() {
            return Err(StepEnd::Skip(SchunkDefect::VlSlice));
        }
        let is_last = at + 1 == state.model.chunks.len();
        if is_last && from == 0 && to == state.model.nbytes() % state.model.chunksize && to != chunk.nbytes()
        {
            return Err(StepEnd::Skip(SchunkDefect::ShortSliceShortcut));
        }
        if chunk.content.is_none() && to > chunk.nbytes() {
            return Err(StepEnd::Skip(SchunkDefect::UninitOverEnd));
        }
        if !whole {
            check_partial_read(state, at, from, to - from)?;
        } else if to > chunk.nbytes() {
            // Past the end of a short chunk.
            check_partial_read(state, at, from, chunk.nbytes())?;
        }
    }
    state.record(format!("get_slice_buffer [{start}, {stop})"));
    let size = ((stop - start).max(0) * state.typesize()) as usize;
    let (rc, bytes) = state.call_both("get_slice_buffer", |side| side.get_slice(start, stop, size))?;
    if rc < 0 {
        state.current_unknown = true;
        return Ok(ChangedChunks::None);
    }
    if let (true, Some(whole)) = (has_full_chunks(state), state.model.contents()) {
        let from = (start.min(stop) * state.typesize()) as usize;
        if size > 0 {
            let right = whole.get(from..from + size).ok_or_else(|| wrong!("a slice over the end gives 0"))?;
            if let Some(text) = describe_difference(&bytes.0, right) {
                return Err(wrong!("get_slice_buffer [{start}, {stop}), found and right: {text}"));
            }
        }
    }
    Ok(ChangedChunks::None)
}

/// Predicts the write of `data` to [start, stop), piece by piece (schunk.md 12.2): the model afterwards and the
/// return code.
fn predict_set(state: &SequenceState, start: i64, stop: i64, data: &[u8]) -> StepResult<(Model, i32)> {
    let mut params = state.reference().context_params();
    let mut model = state.model.clone();
    if model.chunksize == -1 && start < stop {
        return Err(StepEnd::Skip(SchunkDefect::EmptySetSlice));
    }
    let mut used = 0;
    for (at, from, to) in chunk_ranges(state, start, stop)? {
        let piece = &data[used..used + (to - from) as usize];
        used += piece.len();
        let left = model.nbytes() % model.chunksize;
        let whole = from == 0 && (to == model.chunksize || to == left);
        let Some(old) = model.chunks.get(at).cloned() else {
            if whole && (piece.len() as i64) < state.typesize() {
                // The reference compresses the piece before it detects that the chunk does not exist.
                return Err(StepEnd::Skip(SchunkDefect::BlocksizeOfOne));
            }
            return Ok((model, if whole { -21 } else { -1 }));
        };
        if whole && to != old.nbytes() && !(at == model.len() - 1 && to == model.chunksize) {
            return Err(StepEnd::Skip(SchunkDefect::ShortSliceShortcut));
        }
        let content = if whole {
            piece.to_vec()
        } else {
            let Some(mut content) = old.content.clone() else {
                return Err(StepEnd::Skip(SchunkDefect::UninitOverlay));
            };
            let from = (from as usize).min(content.len());
            let to = (to as usize).min(content.len());
            content[from..to].copy_from_slice(&piece[..to - from]);
            content
        };
        let new = compress_with_reference(state, &params, &content)?;
        // The context keeps the block size (schunk.md 4).
        params.blocksize = new.header.blocksize;
        if state.store.has_frame() && new.has_no_payload() && new.nbytes() % state.typesize() != 0 {
            return Err(StepEnd::Skip(SchunkDefect::SpecialMoved));
        }
        match model.update(state.store, at, &new) {
            Prediction::Next(next) => model = next,
            Prediction::Defect(defect) => return Err(StepEnd::Skip(defect)),
            Prediction::Refused => return Err(StepEnd::Idle),
        }
    }
    Ok((model, 0))
}

pub fn set_slice(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    if state.model.chunks.first().is_some_and(|chunk| chunk.is_vl()) || !has_full_chunks(state) {
        return Err(StepEnd::Idle);
    }
    let (start, stop) = draw_range(state, random);
    let size = ((stop - start).max(0) * state.typesize()) as usize;
    let data = chunks::draw_data(random, state.setup.params.typesize, size);
    let (next, right) = predict_set(state, start, stop, &data)?;
    state.record(format!("set_slice_buffer [{start}, {stop})"));
    let rc = state.call_both("set_slice_buffer", |side| side.set_slice(start, stop, &data))?;
    if rc != right {
        return Err(wrong!("set_slice_buffer [{start}, {stop}) gives {rc}, has to give {right}"));
    }
    state.current_unknown = rc < 0;
    // Our library takes the lock once, the reference once per chunk.
    let touched = chunk_ranges(state, start, stop)?.len();
    state.counter_unknown |= state.backend == Backend::Locking && touched > 1;
    let changed: Vec<usize> =
        (0..next.len()).filter(|&at| !Rc::ptr_eq(&next.chunks[at], &state.model.chunks[at])).collect();
    state.model = next;
    state.mark_changed();
    for at in changed {
        state.record_recompression(at)?;
    }
    Ok(ChangedChunks::All)
}

pub fn get_sparse(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let items = state.model.nbytes() / state.typesize();
    let count = if random.one_in(4) { 1 } else { 1 + random.below(40) };
    let mut coords: Vec<i64> = (0..count).map(|_| random.below(items.max(1) as usize) as i64).collect();
    if random.one_in(8) {
        let at = random.below(count);
        coords[at] = *random.pick(&[-1, items, items + 5, i64::MAX / 2]);
    }
    let fields = state.reference().fields();
    let typesize = state.typesize();
    let readable = fields.blocksize > 0
        && fields.chunksize > 0
        && i64::from(fields.blocksize) % typesize == 0
        && i64::from(fields.chunksize) % typesize == 0;
    if readable && state.model.len() > 0 && !state.model.chunks[0].is_vl() {
        if !has_full_chunks(state) {
            return Err(StepEnd::Idle);
        }
        for &coord in coords.iter().filter(|coord| (0..items).contains(*coord)) {
            check_sparse(state, coord * typesize, fields.blocksize)?;
        }
    }
    state.record(format!("get_sparse_buffer {coords:?}"));
    let size = count * typesize as usize;
    let (rc, bytes) = state.call_both("get_sparse_buffer", |side| side.get_sparse(&coords, size))?;
    if rc < 0 {
        state.current_unknown = true;
        return Ok(ChangedChunks::None);
    }
    if let Some(whole) = state.model.contents() {
        let right: Vec<u8> = coords
            .iter()
            .flat_map(|&coord| &whole[(coord * typesize) as usize..((coord + 1) * typesize) as usize])
            .copied()
            .collect();
        if let Some(text) = describe_difference(&bytes.0, &right) {
            return Err(wrong!("get_sparse_buffer, found and right: {text}"));
        }
    } else if bytes.0.is_empty() && count > 0 {
        return Err(wrong!("no items, filled with {DEST_FILL_BYTE:02x} before"));
    }
    Ok(ChangedChunks::None)
}

/// Returns an error if the reference gathers the item at this byte incorrectly.
fn check_sparse(state: &SequenceState, byte: i64, blocksize: i32) -> StepResult {
    let at = (byte / state.model.chunksize) as usize;
    let chunk = &state.model.chunks[at];
    check_lazy_read(state, at)?;
    if chunk.header.special() == 4 {
        return Err(StepEnd::Skip(SchunkDefect::SparseUninit));
    }
    let found = chunk.header.blocksize;
    let nb = chunk.header.nbytes;
    let located = found == blocksize || (nb <= blocksize && found >= nb);
    let typesize = match state.typesize() {
        1..=255 => state.typesize() as u8,
        _ => 1,
    };
    let odd = has_filter(&chunk.params, 3) || chunk.header.uses_dictionary();
    if !located || odd || chunk.header.typesize != typesize {
        return Err(StepEnd::Skip(SchunkDefect::SparseBlocksize));
    }
    check_partial_read(state, at, byte % state.model.chunksize, state.typesize())
}

pub fn get_slice_nchunks(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    if state.model.chunksize == 0 && state.model.len() > 0 {
        return Err(StepEnd::Skip(SchunkDefect::VariableSlice));
    }
    let (start, stop) = draw_range(state, random);
    let (start, stop) = (start.min(stop), start.max(stop));
    state.record(format!("get_slice_nchunks [{start}, {stop})"));
    state.call_both("get_slice_nchunks", |side| side.slice_nchunks(start, stop))?;
    Ok(ChangedChunks::None)
}
