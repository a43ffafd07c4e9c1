//! Steps that change the list of chunks (schunk.md 10, 11.1, 14).

use std::rc::Rc;

use crate::chunks::{self, DrawnChunk, compress_into};
use crate::known_defects::SchunkDefect;
use crate::library_side::LibrarySide;
use crate::model::{Chunk, Model, Prediction};
use crate::sequence_state::{ChangedChunks, SequenceState, StepEnd, StepResult, wrong};
use crate::setup::StorageKind;
use crate::support::calls::{Header, Params};
use crate::support::known_defects::Verdict;
use crate::support::random::Random;

const MAX_CHUNKS: usize = 60;
const MAX_BYTES: i64 = 1 << 20;

/// Draws the uncompressed size of the next chunk.
fn draw_size(state: &SequenceState, random: &mut Random) -> usize {
    let typesize = state.typesize() as usize;
    let full = match state.model.chunksize {
        size if size > 0 => size as usize,
        _ => state.setup.chunksize as usize,
    };
    let whole_items = |size: usize| (size / typesize * typesize).max(typesize);
    if !state.setup.variable_chunksize {
        return match random.below(14) {
            0 => whole_items(random.below(full) + 1),
            1 if random.one_in(3) => full + typesize,
            2 if random.one_in(3) => random.below(full) + 1,
            _ => full,
        };
    }
    match random.below(15) {
        0..=4 => full,
        5..=6 => whole_items(full / 2),
        7..=11 => whole_items(random.below(2 * full) + 1),
        12 => random.below(2 * full) + 1,
        13 => random.below(32) + 1,
        _ => 0,
    }
}

/// Draws the next chunk for both libraries.
fn draw_chunk(state: &SequenceState, random: &mut Random) -> DrawnChunk {
    let size = draw_size(state, random);
    let vl = state.model.chunks.first().map_or(state.setup.vl, |chunk| chunk.is_vl());
    // Sometimes of the wrong kind, which is rejected.
    let odd = state.setup.vl && random.one_in(20);
    if vl != odd {
        return chunks::draw_vl(state.apis, random, &state.setup.params, size);
    }
    chunks::draw(state.apis, random, &state.setup.params, size)
}

fn stop_if_full(state: &SequenceState) -> StepResult {
    let full = state.model.len() >= MAX_CHUNKS || state.model.nbytes() > MAX_BYTES;
    if full { Err(StepEnd::Idle) } else { Ok(()) }
}

fn describe(made: &DrawnChunk) -> String {
    let Chunk { header, params, blocks, .. } = &*made.1;
    let kind = match (header.special(), blocks) {
        (0, None) => "chunk".to_owned(),
        (0, Some(blocks)) => format!("blocks {blocks:?}"),
        (special, _) => format!("special {special}"),
    };
    format!(
        "{kind} of {} bytes (cbytes {}, typesize {}, codec {}, clevel {}, dict {}, filters {:?})",
        header.nbytes,
        header.cbytes,
        params.typesize,
        params.codec,
        params.clevel,
        params.use_dict,
        params.filters
    )
}

/// Makes the change on both sides and compares the results with the prediction.
pub fn apply_and_check(
    state: &mut SequenceState,
    predicted: Prediction,
    what: String,
    may_give: Option<bool>,
    mut call: impl FnMut(&mut LibrarySide, bool) -> i64,
) -> StepResult<bool> {
    let next = match predicted {
        Prediction::Next(next) => Some(next),
        Prediction::Refused => None,
        Prediction::Defect(defect) => return Err(StepEnd::Skip(defect)),
    };
    // After a rejected change, one library has taken ownership of the chunk and the other has not (frame.md 9).
    let copy = next.is_none() || may_give != Some(true);
    state.record(match may_give {
        Some(_) => format!("{what}, copy {copy}"),
        None => what.clone(),
    });
    let rc = state.call_both(&what, |side| call(side, copy))?;
    match next {
        Some(next) if rc == next.len() as i64 => {
            set_model(state, next);
            Ok(true)
        }
        Some(next) => Err(wrong!("{what} gives {rc}, has to give {}", next.len())),
        None if rc < 0 => Ok(false),
        None => Err(wrong!("{what} gives {rc}, expected an error")),
    }
}

fn set_model(state: &mut SequenceState, next: Model) {
    if next.chunks.is_empty() && state.store.is_contiguous() {
        // The current contents of the data section will be neither kept nor overwritten (frame.md 2.6).
        state.gap = state.reference().cbytes();
    }
    state.model = next;
    state.mark_changed();
}

pub fn append(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    stop_if_full(state)?;
    let made = draw_chunk(state, random);
    let at = state.model.len();
    let predicted = state.model.insert(state.store, at, &made.1);
    let give = random.one_in(2);
    let what = format!("append_chunk {}", describe(&made));
    let added = apply_and_check(state, predicted, what, Some(give), |side, copy| side.append(&made.0, copy))?;
    Ok(if added { ChangedChunks::One(at) } else { ChangedChunks::None })
}

pub fn insert(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    stop_if_full(state)?;
    let made = draw_chunk(state, random);
    let at = random.below(state.model.len() + 1);
    let predicted = state.model.insert(state.store, at, &made.1);
    let give = random.one_in(2);
    let what = format!("insert_chunk {at} {}", describe(&made));
    let added = apply_and_check(state, predicted, what, Some(give), |side, copy| {
        side.insert(at as i64, &made.0, copy)
    })?;
    Ok(if added { ChangedChunks::One(at) } else { ChangedChunks::None })
}

pub fn update(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    if state.model.len() == 0 {
        return Err(StepEnd::Idle);
    }
    let made = draw_chunk(state, random);
    let at = random.below(state.model.len());
    let predicted = state.model.update(state.store, at, &made.1);
    let give = random.one_in(2);
    let what = format!("update_chunk {at} {}", describe(&made));
    let changed = apply_and_check(state, predicted, what, Some(give), |side, copy| {
        side.update(at as i64, &made.0, copy)
    })?;
    Ok(if changed { ChangedChunks::One(at) } else { ChangedChunks::None })
}

pub fn delete(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    if state.model.len() == 0 {
        return Err(StepEnd::Idle);
    }
    // Sometimes all chunks are deleted: the rest of that frame is a special case.
    let all = random.one_in(6) && state.model.len() < 12;
    for _ in 0..if all { state.model.len() } else { 1 } {
        let at = random.below(state.model.len());
        let predicted = state.model.delete(state.store, at);
        apply_and_check(state, predicted, format!("delete_chunk {at}"), None, |side, _| {
            side.delete(at as i64)
        })?;
        if all {
            state.check(&ChangedChunks::None, false)?;
        }
    }
    Ok(ChangedChunks::None)
}

/// Returns the chunk that the reference's context produces from `data` in a destination of `nbytes + 32` bytes, or
/// the known defect because of which the call must be skipped.
pub fn compress_with_reference(state: &SequenceState, params: &Params, data: &[u8]) -> StepResult<Rc<Chunk>> {
    if (data.len() as i64) < state.typesize() {
        return Err(StepEnd::Skip(SchunkDefect::BlocksizeOfOne));
    }
    match compress_into(state.apis[1].library, params, data, data.len() + 32) {
        Ok((_, chunk)) => Ok(chunk),
        Err(Verdict::Wrong(defect) | Verdict::Unsafe(defect)) => {
            Err(StepEnd::Skip(SchunkDefect::Chunk(defect)))
        }
        Err(Verdict::Right) => unreachable!("`Verdict::Right` is not an error"),
    }
}

pub fn append_buffer(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    stop_if_full(state)?;
    let vl = state.model.chunks.first().is_some_and(|chunk| chunk.is_vl());
    if vl && !random.one_in(10) {
        return Err(StepEnd::Idle);
    }
    let size = draw_size(state, random);
    let data = chunks::draw_data(random, state.setup.params.typesize, size);
    let params = state.reference().context_params();
    let chunk = compress_with_reference(state, &params, &data)?;
    let at = state.model.len();
    let predicted = state.model.insert(state.store, at, &chunk);
    let what = format!("append_buffer of {size} bytes, context {params:?}");
    if !apply_and_check(state, predicted, what, None, |side, _| side.append_buffer(&data))? {
        return Ok(ChangedChunks::None);
    }
    state.record_recompression(at)?;
    Ok(ChangedChunks::One(at))
}

pub fn reorder(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let count = state.model.len();
    if state.store == StorageKind::MemorySparse && state.reference().data_len() < 8 * count {
        return Err(StepEnd::Skip(SchunkDefect::DataLenOfCopiedFrame));
    }
    let mut order: Vec<i64> = (0..count as i64).collect();
    for at in (1..count).rev() {
        order.swap(at, random.below(at + 1));
    }
    if random.one_in(6) && count > 0 {
        let at = random.below(count);
        order[at] = *random.pick(&[-1, count as i64, order[(at + 1) % count], i64::MAX]);
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let valid = sorted.iter().copied().eq(0..count as i64);
    let next = match (valid, state.model.len()) {
        (false, _) => None,
        (true, 0) => Some(state.model.clone()),
        (true, _) => match state.model.reorder(state.store, &order) {
            Prediction::Next(next) => Some(next),
            Prediction::Defect(defect) => return Err(StepEnd::Skip(defect)),
            Prediction::Refused => unreachable!("`Model::reorder` does not reject a valid order"),
        },
    };
    state.record(format!("reorder_offsets {order:?}"));
    let rc = state.call_both("reorder_offsets", |side| side.reorder(&order))?;
    let right = match &next {
        None => -3,
        Some(_) if count == 0 && state.store.has_frame() => -3,
        Some(_) => 0,
    };
    if rc != right {
        return Err(wrong!("reorder_offsets gives {rc}, has to give {right}"));
    }
    if let Some(next) = next {
        set_model(state, next);
        return Ok(ChangedChunks::All);
    }
    Ok(ChangedChunks::None)
}

pub fn fill_special(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let typesize = state.typesize();
    if state.model.len() > 0 && !random.one_in(4) {
        return Err(StepEnd::Idle);
    }
    if state.store == StorageKind::MemorySparse && state.model.chunksize != -1 && state.model.len() == 0 {
        // The chunks are then appended one by one, by the rules for the old chunksize.
        return Err(StepEnd::Idle);
    }
    let kind = *random.pick(&[0, 1, 1, 2, 2, 3, 4, 4, 5]);
    let chunksize = match random.below(8) {
        0 => *random.pick(&[0, -1, typesize as i32 - 1, typesize as i32 + 1, 1]),
        _ => state.setup.chunksize,
    };
    let per_chunk = (i64::from(chunksize) / typesize).max(1);
    let nitems = match random.below(8) {
        0 => *random.pick(&[0, -1, 1]),
        1 => random.below(per_chunk as usize) as i64,
        2..=4 => per_chunk * (1 + random.below(8) as i64),
        _ => random.below(8 * per_chunk as usize) as i64,
    };
    state.record(format!("fill_special {nitems} items, kind {kind}, chunksize {chunksize}"));
    let rc = state.call_both("fill_special", |side| side.fill_special(nitems, kind, chunksize))?;
    if rc <= 0 {
        return Ok(ChangedChunks::None);
    }
    let (full, left) = (nitems / per_chunk, nitems % per_chunk);
    if rc != full + i64::from(left > 0) {
        return Err(wrong!("fill_special gives {rc}"));
    }
    let special = |nbytes: i64| {
        let mut header = [0; 32];
        header[3] = typesize as u8;
        header[4..8].copy_from_slice(&(nbytes as i32).to_le_bytes());
        header[31] = (kind as u8) << 4;
        Rc::new(Chunk {
            header: Header::parse(&header),
            params: chunks::default_params(typesize as i32),
            content: (kind == 1).then(|| vec![0; nbytes as usize]),
            blocks: None,
            differs: false,
        })
    };
    let mut chunks = vec![special(per_chunk * typesize); full as usize];
    chunks.extend((left > 0).then(|| special(left * typesize)));
    let memory = state.store == StorageKind::MemorySparse;
    let chunksize = if memory && full == 0 { left * typesize } else { i64::from(chunksize) };
    set_model(state, Model { chunks, chunksize });
    Ok(ChangedChunks::All)
}
