//! Steps that read single chunks, and the state of the super-chunk (schunk.md 9, 11, 20).

use crate::chunks;
use crate::known_defects::SchunkDefect;
use crate::library_side::LibrarySide;
use crate::sequence_state::{ChangedChunks, SequenceState, StepEnd, StepResult, wrong};
use crate::support::byte_messages::{DebugBytes, describe_difference};
use crate::support::known_defects::{self as defects, Verdict};
use crate::support::random::Random;

fn draw_index(state: &SequenceState, random: &mut Random) -> StepResult<usize> {
    if state.model.len() == 0 { Err(StepEnd::Idle) } else { Ok(random.below(state.model.len())) }
}

pub fn decompress(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let at = draw_index(state, random)?;
    let nb = state.model.chunks[at].nbytes() as usize;
    let destsize = match random.below(4) {
        0 => nb + random.below(100),
        1 => nb.saturating_sub(1),
        2 => random.below(nb + 1),
        _ => nb,
    };
    state.record(format!("decompress_chunk {at} of {nb} bytes into {destsize}"));
    let (rc, mut bytes) =
        state.call_both("decompress_chunk", |side| side.decompress(side.schunk, at as i64, destsize))?;
    if destsize < nb {
        return if rc < 0 { Ok(ChangedChunks::None) } else { Err(wrong!("{rc} bytes into {destsize}")) };
    }
    bytes.0.truncate(nb);
    state.compare_content(at, rc, &bytes)?;
    Ok(ChangedChunks::None)
}

/// Calls every indexed function with a number that no chunk has: −12, and the outputs are unchanged (which the calls
/// assert).
pub fn use_invalid_nchunk(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let count = state.model.len() as i64;
    let bad = *random.pick(&[-1, count, count + 1, i64::MAX, i64::MIN]);
    state.record(format!("chunk {bad} of {count}, with every function"));
    let (chunk, _) = chunks::draw(state.apis, random, &chunks::default_params(1), 40);
    let codes = state.call_both("a chunk that is not there", |side| {
        let mut codes = vec![
            i64::from(side.decompress(side.schunk, bad, 64).0),
            i64::from(side.get_chunk(bad).0),
            i64::from(side.get_lazychunk(bad, |_, _| ()).0),
            i64::from(side.get_vlblock(bad, 0).0),
            side.update(bad, &chunk, true),
            side.delete(bad),
        ];
        if bad != count {
            codes.push(side.insert(bad, &chunk, true));
        }
        codes
    })?;
    if codes.iter().any(|&code| code != -12) {
        return Err(wrong!("a chunk that is not there gives {codes:?}"));
    }
    state.mark_changed();
    Ok(ChangedChunks::None)
}

/// Returns an error if reading blocks of this chunk on demand is unsafe in the reference.
pub fn check_lazy_read(state: &SequenceState, at: usize) -> StepResult {
    let chunk = &state.model.chunks[at];
    if state.store.is_on_disk()
        && state.backend.returns_pointers()
        && (chunk.is_vl() || chunk.header.uses_dictionary())
    {
        return Err(StepEnd::Skip(SchunkDefect::LazyBlocksOfPointers));
    }
    if state.store.is_on_disk() && chunk.nbytes() == 0 {
        return Err(StepEnd::Skip(SchunkDefect::EmptyLazyChunk));
    }
    Ok(())
}

/// Returns an error if the reference reads `len` bytes at `start` of this chunk incorrectly.
pub fn check_partial_read(state: &SequenceState, at: usize, start: i64, len: i64) -> StepResult {
    let chunk = &state.model.chunks[at];
    if chunk.is_vl() {
        // Rejected by both libraries.
        return Ok(());
    }
    if chunk.header.special() == 3 && chunk.header.cbytes > 32 + 255 {
        return Err(StepEnd::Skip(SchunkDefect::WideValue));
    }
    // Uncompressed chunks are also read from disk block by block.
    let is_lazy = chunk.header.is_memcpyed() && state.store.is_on_disk();
    if is_lazy && defects::is_straddling(&chunk.header, start as i32, len as i32) {
        return Err(StepEnd::Skip(SchunkDefect::Chunk(defects::KnownDefect::StraddlingGetitem)));
    }
    match defects::getitem_verdict(&chunk.params, &chunk.header, start as i32, len as i32) {
        Verdict::Right => Ok(()),
        Verdict::Wrong(defect) | Verdict::Unsafe(defect) => Err(StepEnd::Skip(SchunkDefect::Chunk(defect))),
    }
}

/// Removes the undefined bytes of a lazy chunk (schunk.md 11.4).
fn clear_undefined_bytes(lazy: &mut [u8], nb: i64) {
    let (memcpyed, flagged) = (lazy[2] & 2 != 0, lazy[31] & 8 != 0);
    let blocksize = i64::from(i32::from_le_bytes(lazy[8..12].try_into().expect("four bytes")));
    if memcpyed && flagged && blocksize > 0 {
        let nblocks = (nb + blocksize - 1) / blocksize;
        lazy[32..32 + 4 * nblocks as usize].fill(0);
    }
}

pub fn read_lazychunk(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let at = draw_index(state, random)?;
    check_lazy_read(state, at)?;
    let chunk = state.model.chunks[at].clone();
    let nb = chunk.nbytes();
    let start = random.below(nb as usize + 1) as i64;
    let len = random.below((nb - start) as usize + 1) as i64;
    let part = check_partial_read(state, at, start, len).is_ok() && len > 0 && !chunk.is_vl();
    // A whole chunk of blocks of variable length cannot be decoded lazily.
    let whole = !(chunk.is_vl() && state.store.is_on_disk());
    state.record(format!("get_lazychunk {at}, decode all: {whole}, [{start}, +{len}): {part}"));
    let decode = |side: &LibrarySide, lazy: &[u8]| {
        let all = whole.then(|| side.decode(lazy, nb as usize));
        let part = part.then(|| side.decode_bytes(lazy, start as i32, len as i32));
        (all, part)
    };
    // It contains the position of its chunk in the file.
    let strict = state.strict && !chunk.differs;
    let (rc, _, _, decoded) = state.call_both("get_lazychunk", |side| {
        let (rc, mut lazy, free, decoded) = side.get_lazychunk(at as i64, decode);
        if rc >= 32 {
            clear_undefined_bytes(&mut lazy.0, nb);
        }
        let lazy = if strict { lazy } else { DebugBytes(Vec::new()) };
        (if strict { rc } else { rc.signum() }, lazy, free, decoded)
    })?;
    let Some((all, part)) = decoded else {
        return Err(wrong!("get_lazychunk({at}) gives {rc}"));
    };
    if let Some((rc, bytes)) = all {
        state.compare_content(at, rc, &bytes)?;
    }
    if let (Some((rc, bytes)), Some(content)) = (part, &chunk.content) {
        let right = &content[start as usize..(start + len) as usize];
        if let (true, Some(text)) = (rc >= 0, describe_difference(&bytes.0, right)) {
            return Err(wrong!("bytes [{start}, +{len}) of lazy chunk {at}, found and right: {text}"));
        }
    }
    Ok(ChangedChunks::None)
}

pub fn read_vlblock(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let at = draw_index(state, random)?;
    let chunk = state.model.chunks[at].clone();
    let sizes = chunk.blocks.clone().unwrap_or_default();
    if sizes.is_empty() && !random.one_in(4) {
        return Err(StepEnd::Idle);
    }
    let nblock = random.below(sizes.len() + 2) as i32 - i32::from(random.one_in(5));
    state.record(format!("get_vlblock {at} {nblock} of {}", sizes.len()));
    let (rc, bytes) = state.call_both("get_vlblock", |side| side.get_vlblock(at as i64, nblock))?;
    if !(0..sizes.len() as i32).contains(&nblock) {
        return if rc == -12 { Ok(ChangedChunks::None) } else { Err(wrong!("get_vlblock gives {rc}")) };
    }
    let before: usize = sizes[..nblock as usize].iter().sum();
    let content = chunk.content.as_ref().expect("blocks have contents");
    match describe_difference(&bytes.0, &content[before..before + sizes[nblock as usize]]) {
        Some(text) => Err(wrong!("block {nblock} of chunk {at}, found and right: {text}")),
        None => Ok(ChangedChunks::None),
    }
}

pub fn read_parameters(state: &mut SequenceState) -> StepResult<ChangedChunks> {
    state.record("get_cparams, get_dparams, frame_len".to_owned());
    state.call_both("get_cparams", |side| side.cparams())?;
    state.call_both("get_dparams", |side| side.dparams())?;
    let (lens, cbytes) = (
        state.sides.each_ref().map(|side| side.frame_len(side.schunk)),
        state.sides.each_ref().map(LibrarySide::cbytes),
    );
    if !state.store.has_frame() {
        // Independent of the compressed sizes (schunk.md 3.4).
        let count = state.model.len() as i64;
        if (0..2).any(|at| lens[at] != cbytes[at] + 8 * count) {
            return Err(wrong!("frame_len {lens:?} of cbytes {cbytes:?} and {count} chunks"));
        }
    }
    Ok(ChangedChunks::None)
}

pub fn read_offsets(state: &mut SequenceState) -> StepResult<ChangedChunks> {
    if state.model.len() == 0 && state.store.has_frame() {
        return Err(StepEnd::Skip(SchunkDefect::OffsetsOfEmptyFrame));
    }
    state.record("frame_get_offsets".to_owned());
    if state.strict {
        state.call_both("frame_get_offsets", |side| side.offsets())?;
    }
    Ok(ChangedChunks::None)
}
