//! Steps that change the storage or the handle of a super-chunk: copies, buffers, files, handles, locks (schunk.md
//! 6-8, 19). Each library reads the output of the other one.

use std::path::PathBuf;
use std::ptr;
use std::rc::Rc;

use super::changes::{apply_and_check, compress_with_reference};
use crate::api::Schunk;
use crate::chunks;
use crate::frames;
use crate::known_defects::SchunkDefect;
use crate::library_side::{LibrarySide, fields_of};
use crate::model::{Chunk, Model, Prediction};
use crate::sequence_state::{ChangedChunks, SequenceState, StepEnd, StepResult, wrong};
use crate::setup::{Backend, StorageKind, draw_params};
use crate::support::byte_messages::describe_difference;
use crate::support::calls::{Header, Params};
use crate::support::known_defects::KnownDefect as ChunkDefect;
use crate::support::random::Random;

/// Predicts the chunks of a copy in `target`, if the reference copies correctly (schunk.md 8.1 and 25).
fn predict_copy(state: &SequenceState, target: StorageKind, params: Option<&Params>) -> StepResult<Model> {
    if state.typesize() > 255 {
        return Err(StepEnd::Skip(SchunkDefect::CopyOfLargeTypesize));
    }
    let mut source = state.model.clone();
    let blocksize = params.map_or(state.reference().context_params().blocksize, |params| params.blocksize);
    let uneven = i64::from(blocksize) % state.typesize() != 0;
    if uneven && target.has_frame() && source.chunks.iter().any(|chunk| chunk.header.special() == 2) {
        return Err(StepEnd::Skip(SchunkDefect::SyntheticBlocksize));
    }
    let vl = source.chunks.first().is_some_and(|chunk| chunk.is_vl());
    if let (Some(params), false) = (params, vl) {
        let context = state.reference().context_params();
        let compared = Params {
            blocksize: if params.blocksize == 0 { context.blocksize } else { params.blocksize },
            nthreads: context.nthreads,
            splitmode: context.splitmode,
            codec_meta: context.codec_meta,
            ..params.clone()
        };
        if compared != context {
            for chunk in &mut source.chunks {
                *chunk = predict_recompression(state, params, chunk)?;
            }
        }
    }
    if target.has_frame() && source.has_uneven_special(state.typesize()) {
        return Err(StepEnd::Skip(SchunkDefect::SpecialMoved));
    }
    match source.copy_to(target) {
        Prediction::Next(model) => Ok(model),
        Prediction::Defect(defect) => Err(StepEnd::Skip(defect)),
        Prediction::Refused => Err(StepEnd::Idle),
    }
}

fn predict_recompression(state: &SequenceState, params: &Params, chunk: &Rc<Chunk>) -> StepResult<Rc<Chunk>> {
    if state.model.chunksize == 0 || chunk.nbytes() != state.model.chunksize {
        return Err(StepEnd::Skip(SchunkDefect::RecompressingCopy));
    }
    let Some(content) = &chunk.content else {
        return Err(StepEnd::Skip(SchunkDefect::UninitOverlay));
    };
    let new = compress_with_reference(state, params, content)?;
    if new.has_no_payload() && new.nbytes() % state.typesize() != 0 {
        return Err(StepEnd::Skip(SchunkDefect::SpecialMoved));
    }
    Ok(new)
}

/// Predicts the frame written by `to_buffer`, `to_file` and `append_file`: the super-chunk's own frame, or a copy.
fn predict_frame(state: &SequenceState, target: StorageKind) -> StepResult<Model> {
    if state.store != StorageKind::MemoryFrame {
        return predict_copy(state, target, None);
    }
    match state.model.frame_defect(target) {
        Some(defect) => Err(StepEnd::Skip(defect)),
        None => Ok(state.model.clone()),
    }
}

/// Makes these super-chunks the current ones of the two sides.
fn set_schunks(
    state: &mut SequenceState,
    schunks: [(Schunk, PathBuf, *mut u8); 2],
    store: StorageKind,
    offset: i64,
) -> StepResult {
    let mut codes = Vec::new();
    for (side, (schunk, path, borrowed)) in state.sides.iter_mut().zip(schunks) {
        codes.push(side.replace_schunk(schunk, path, borrowed));
    }
    state.store = store;
    state.backend = Backend::Native;
    state.offset = offset;
    state.lock_depth = 0;
    state.data_len_unknown = false;
    state.current_unknown = false;
    state.counter_unknown = false;
    if codes == [0, 0] { Ok(()) } else { Err(wrong!("schunk_free gives {codes:?}")) }
}

fn free_both(state: &SequenceState, schunks: [Schunk; 2]) -> StepResult {
    let codes: Vec<i32> = state.sides.iter().zip(schunks).map(|(side, schunk)| side.free(schunk)).collect();
    if codes == [0, 0] { Ok(()) } else { Err(wrong!("schunk_free gives {codes:?}")) }
}

/// Checks that the super-chunk of each side has the same contents as the current one.
fn check_both(state: &SequenceState, schunks: [Schunk; 2], what: &str) -> StepResult {
    for (side, schunk) in state.sides.iter().zip(schunks) {
        if schunk.is_null() {
            return Err(wrong!("{what}: {} gives NULL", side.api.library.name));
        }
    }
    // SAFETY: live super-chunks, the first of ours and the second of the reference.
    let [ours, theirs] = schunks.map(|schunk| fields_of(unsafe { &*schunk }));
    if ours != theirs {
        return Err(wrong!("{what}: ours has {ours:?}, the reference {theirs:?}"));
    }
    for (side, schunk) in state.sides.iter().zip(schunks) {
        let name = if ptr::eq(side, &state.sides[0]) { "ours" } else { "the reference" };
        state.check_all(side, schunk, &format!("{what}, read by {name}"))?;
    }
    Ok(())
}

pub fn from_buffer(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let next = predict_frame(state, StorageKind::MemoryFrame)?;
    let (cross, copy, keep) = (random.one_in(2), random.one_in(2), !random.one_in(3));
    state.record(format!("to_buffer, from_buffer(copy {copy}), crossed {cross}, kept {keep}"));
    let strict = state.strict;
    let own = state.store == StorageKind::MemoryFrame;
    state.call_both("to_buffer", |side| {
        let (rc, _, free) = side.to_buffer();
        (if strict { rc } else { rc.signum() }, free)
    })?;
    let mut frames = state.sides.each_ref().map(|side| side.to_buffer().1.0);
    if frames.iter().any(Vec::is_empty) {
        return Err(wrong!("to_buffer fails"));
    }
    let mut shown = frames.clone();
    if own {
        shown.iter_mut().for_each(|frame| frames::zero_undefined_bytes(frame, 0, state));
    }
    if let (true, Some(text)) = (strict, describe_difference(&shown[0], &shown[1])) {
        return Err(wrong!("to_buffer, ours and the reference: {text}"));
    }
    if cross {
        frames.reverse();
    }
    let mut made = Vec::new();
    for (side, frame) in state.sides.iter().zip(&frames) {
        made.push(side.open_frame(frame, copy));
    }
    let (ours, theirs) = (made[0], made[1]);
    if copy && !strict && blocksizes_differ(state, [ours.0, theirs.0], cross)? {
        free_both(state, [ours.0, theirs.0])?;
        state.current_unknown = true;
        return Err(StepEnd::Skip(SchunkDefect::Chunk(ChunkDefect::HeaderBlocksize)));
    }
    check_both(state, [ours.0, theirs.0], "from_buffer")?;
    if !keep {
        state.current_unknown = true;
        for (side, (schunk, block)) in state.sides.iter().zip(made) {
            side.free(schunk);
            // SAFETY: NULL, or the block that the super-chunk borrowed.
            unsafe { libc::free(block.cast()) };
        }
        return Ok(ChangedChunks::None);
    }
    let store = if copy { StorageKind::MemorySparse } else { StorageKind::MemoryFrame };
    state.model = next;
    set_schunks(state, [ours, theirs].map(|(schunk, block)| (schunk, PathBuf::new(), block)), store, 0)?;
    update_model_chunksize(state);
    state.data_len_unknown = copy;
    if copy || !own {
        state.gap = 0;
    }
    Ok(ChangedChunks::All)
}

/// Returns whether copies of the frames, crossed or not, report different blocksizes that are both correct: the
/// blocksize that the headers of the chunks share, or 0. The reference's headers contain the requested value, ours
/// the effective one (schunk.md 25).
fn blocksizes_differ(state: &SequenceState, schunks: [Schunk; 2], cross: bool) -> StepResult<bool> {
    if schunks.iter().any(|schunk| schunk.is_null()) {
        return Ok(false);
    }
    // SAFETY: live super-chunks, the first of ours and the second of the reference.
    let [ours, theirs] = schunks.map(|schunk| unsafe { (*schunk).blocksize });
    if ours == theirs {
        return Ok(false);
    }
    let mut shared = state.sides.each_ref().map(|side| {
        let mut sizes =
            (0..state.model.len()).map(|at| Header::parse(&side.get_chunk(at as i64).1.0).blocksize);
        let first = sizes.next().unwrap_or(0);
        if sizes.all(|size| size == first) { first } else { 0 }
    });
    if cross {
        shared.reverse();
    }
    if shared == [ours, theirs] {
        Ok(true)
    } else {
        Err(wrong!("from_buffer: blocksizes {ours} and {theirs}, those of the chunks are {shared:?}"))
    }
}

/// Returns the same path of each side; with `cross`, of the other side.
fn side_paths(state: &SequenceState, name: &str, cross: bool) -> [PathBuf; 2] {
    let mut paths = state.sides.each_ref().map(|side| side.directory.join(name));
    if cross {
        paths.reverse();
    }
    paths
}

/// Opens these files with the default back-end, compares, and continues with them if `keep`.
fn continue_with_files(
    state: &mut SequenceState,
    paths: [PathBuf; 2],
    offset: i64,
    next: Model,
    keep: bool,
) -> StepResult<ChangedChunks> {
    let mut opened = Vec::new();
    for (side, path) in state.sides.iter_mut().zip(&paths) {
        opened.push(side.open(Backend::Native, path, offset));
    }
    let schunks = [opened[0], opened[1]];
    check_both(state, schunks, "the file")?;
    if !keep {
        state.current_unknown = true;
        free_both(state, schunks)?;
        return Ok(ChangedChunks::None);
    }
    if state.store != StorageKind::MemoryFrame {
        state.gap = 0;
    }
    state.model = next;
    let [ours, theirs] = paths;
    let [a, b] = schunks;
    set_schunks(
        state,
        [(a, ours, ptr::null_mut()), (b, theirs, ptr::null_mut())],
        StorageKind::DiskFrame,
        offset,
    )?;
    update_model_chunksize(state);
    Ok(ChangedChunks::All)
}

/// The chunksize of an empty super-chunk may be missing in its frame (schunk.md 3.2).
fn update_model_chunksize(state: &mut SequenceState) {
    if state.model.len() == 0 {
        state.model.chunksize = i64::from(state.reference().fields().chunksize);
    }
}

pub fn to_file(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let next = predict_frame(state, StorageKind::DiskFrame)?;
    let name = state.fresh_name();
    let (cross, keep, twice) = (random.one_in(2), random.one_in(3), random.one_in(3));
    state.record(format!("to_file {name}, twice {twice}, crossed {cross}, kept {keep}"));
    let strict = state.strict;
    let own = state.store == StorageKind::MemoryFrame;
    let code = |rc: i64| if strict || rc < 0 { rc } else { 1 };
    let rc = state.call_both("to_file", |side| code(side.to_file(&side.directory.join(&name))))?;
    if rc < 0 {
        return Err(wrong!("to_file gives {rc}"));
    }
    if twice {
        let again =
            state.call_both("to_file again", |side| code(side.to_file(&side.directory.join(&name))))?;
        if again != if own { rc } else { -23 } {
            return Err(wrong!("to_file again gives {again}"));
        }
    }
    let paths = side_paths(state, &name, cross);
    compare_files(state, &paths, 0, own)?;
    continue_with_files(state, paths, 0, next, keep)
}

fn compare_files(state: &mut SequenceState, paths: &[PathBuf; 2], offset: usize, own: bool) -> StepResult {
    let mut files = [frames::read_file(&paths[0]), frames::read_file(&paths[1])];
    if own {
        files.iter_mut().for_each(|file| frames::zero_undefined_bytes(file, offset, state));
    }
    if let (true, Some(text)) = (state.strict, describe_difference(&files[0], &files[1])) {
        return Err(wrong!("the files: {text}"));
    }
    Ok(())
}

pub fn append_file(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let next = predict_frame(state, StorageKind::DiskFrame)?;
    let name = state.fresh_name();
    let junk = random.below(100) * random.below(2);
    let (cross, keep, twice) = (random.one_in(2), random.one_in(2), random.one_in(2));
    state.record(format!(
        "append_file {name} after {junk} bytes, twice {twice}, crossed {cross}, kept {keep}"
    ));
    if junk > 0 {
        let bytes = random.bytes(junk);
        for side in &state.sides {
            std::fs::write(side.directory.join(&name), &bytes).expect("a file");
        }
    }
    let strict = state.strict;
    let first = state.call_both("append_file", |side| side.append_file(&side.directory.join(&name)))?;
    if first != junk as i64 {
        return Err(wrong!("append_file gives {first}, has to give {junk}"));
    }
    let mut offset = first;
    // For two frames in a row, only the undefined part of one can be excluded from the comparison.
    if twice && strict && state.gap == 0 {
        offset =
            state.call_both("append_file again", |side| side.append_file(&side.directory.join(&name)))?;
    }
    let own = state.store == StorageKind::MemoryFrame;
    let paths = side_paths(state, &name, cross);
    if state.gap == 0 {
        compare_files(state, &paths, 0, own)?;
    }
    continue_with_files(state, paths, offset, next, keep)
}

pub fn copy(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let store = *random.pick(&StorageKind::ALL);
    let typesize = state.setup.params.typesize;
    let params = match random.below(3) {
        0 => None,
        1 => Some(state.setup.params.clone()),
        _ => Some(draw_params(random, typesize)),
    };
    let threads = *random.pick(&[None, Some(1), Some(2)]);
    let next = predict_copy(state, store, params.as_ref())?;
    let (name, keep) = (state.fresh_name(), random.one_in(2));
    state.record(format!("schunk_copy to {store:?} with {params:?}, threads {threads:?}, kept {keep}"));
    let mut made = Vec::new();
    for side in &mut state.sides {
        let path = side.directory.join(&name);
        let schunk = side.copy(store, &path, params.as_ref(), threads);
        made.push((schunk, if store.is_on_disk() { path } else { PathBuf::new() }));
    }
    let schunks = [made[0].0, made[1].0];
    check_both(state, schunks, "schunk_copy")?;
    if !keep {
        state.current_unknown = true;
        free_both(state, schunks)?;
        return Ok(ChangedChunks::None);
    }
    let recompressed: Vec<usize> =
        (0..next.len()).filter(|&at| !Rc::ptr_eq(&next.chunks[at], &state.model.chunks[at])).collect();
    state.model = next;
    state.gap = 0;
    state.setup.params = params.unwrap_or_else(|| state.setup.params.clone());
    let schunks: Vec<_> = made.into_iter().map(|(schunk, path)| (schunk, path, ptr::null_mut())).collect();
    set_schunks(state, schunks.try_into().expect("two"), store, 0)?;
    for at in recompressed {
        state.record_recompression(at)?;
    }
    Ok(ChangedChunks::All)
}

pub fn detach(state: &mut SequenceState) -> StepResult<ChangedChunks> {
    if state.store != StorageKind::MemoryFrame {
        return Err(StepEnd::Idle);
    }
    state.record("avoid_cframe_free, to_buffer, free, from_buffer(copy false)".to_owned());
    let strict = state.strict;
    let len = state.call_both("the detached frame", |side| {
        let len = side.detach_and_reopen();
        if strict || len < 0 { len } else { 1 }
    })?;
    if len < 0 {
        return Err(wrong!("a detached frame cannot be wrapped again"));
    }
    update_model_chunksize(state);
    Ok(ChangedChunks::All)
}

pub fn lock(state: &mut SequenceState) -> StepResult<ChangedChunks> {
    if state.lock_depth > 2 {
        return Err(StepEnd::Idle);
    }
    state.record("lock".to_owned());
    let rc = state.call_both("lock", |side| side.lock())?;
    state.lock_depth += 1;
    if rc == 0 { Ok(ChangedChunks::None) } else { Err(wrong!("lock gives {rc}")) }
}

pub fn unlock(state: &mut SequenceState) -> StepResult<ChangedChunks> {
    state.record("unlock".to_owned());
    let rc = state.call_both("unlock", |side| side.unlock())?;
    state.lock_depth = state.lock_depth.saturating_sub(1);
    if rc == 0 { Ok(ChangedChunks::None) } else { Err(wrong!("unlock gives {rc}")) }
}

pub fn refresh(state: &mut SequenceState) -> StepResult<ChangedChunks> {
    state.record("refresh".to_owned());
    let rc = state.call_both("refresh", |side| side.refresh(side.schunk))?;
    if rc == 0 { Ok(ChangedChunks::None) } else { Err(wrong!("refresh of the only writer gives {rc}")) }
}

/// Returns an error if the reference cannot open the files of the sides.
fn check_openable(state: &SequenceState) -> StepResult {
    if !state.store.is_on_disk() {
        return Err(StepEnd::Idle);
    }
    if state.store == StorageKind::Directory && state.model.len() > 0 {
        let least = state.sides.each_ref().map(LibrarySide::cbytes).into_iter().min().unwrap_or(0);
        let numbers = state.reference().offsets().ok_or_else(|| wrong!("frame_get_offsets gives NULL"))?;
        if numbers.iter().any(|&number| number > least - 32) {
            return Err(StepEnd::Skip(SchunkDefect::SframeNumbers));
        }
    }
    Ok(())
}

pub fn reopen(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let cross = random.one_in(3);
    let mut backend = Backend::pick(random, state.store);
    if let (true, Backend::Mapped { .. }) = (state.setup.moving_map, backend) {
        backend = Backend::Mapped { initial: *random.pick(&[1, 100, 4096, 65_536]) };
    }
    let prefixed = random.one_in(10);
    reopen_with(state, backend, cross, prefixed)
}

fn reopen_with(
    state: &mut SequenceState,
    backend: Backend,
    cross: bool,
    prefixed: bool,
) -> StepResult<ChangedChunks> {
    check_openable(state)?;
    state.record(format!("close, open with {backend:?} at {}, crossed {cross}", state.offset));
    let rc = state.call_both("schunk_free", |side| side.close())?;
    if rc != 0 {
        return Err(wrong!("schunk_free gives {rc}"));
    }
    if cross {
        let [ours, theirs] = &mut state.sides;
        std::mem::swap(&mut ours.path, &mut theirs.path);
    }
    state.backend = backend;
    state.lock_depth = 0;
    let offset = state.offset;
    let opened = state.call_both("schunk_open", |side| {
        let path = side.path.clone();
        let path = if prefixed { PathBuf::from(format!("file:///{}", path.display())) } else { path };
        side.schunk = side.open(backend, &path, offset);
        !side.schunk.is_null()
    })?;
    if !opened {
        return Err(wrong!("schunk_open gives NULL"));
    }
    update_model_chunksize(state);
    Ok(ChangedChunks::All)
}

pub fn second_open(state: &mut SequenceState) -> StepResult<ChangedChunks> {
    check_openable(state)?;
    if !state.backend.can_share_files() {
        return Err(StepEnd::Idle);
    }
    if state.backend == Backend::Locking && state.lock_depth > 0 {
        return Err(StepEnd::Skip(SchunkDefect::SelfDeadlock));
    }
    state.record("second handle: open".to_owned());
    let (backend, offset) = (state.backend, state.offset);
    state.call_both("schunk_open", |side| {
        side.close_second();
        let path = side.path.clone();
        side.second_handle = side.open(backend, &path, offset);
        !side.second_handle.is_null()
    })?;
    state.is_second_stale = false;
    Ok(ChangedChunks::None)
}

/// Updates the second handle, if the reference can do so.
fn refresh_second(state: &mut SequenceState) -> StepResult {
    if state.sides.iter().any(|side| side.second_handle.is_null()) {
        return Err(StepEnd::Idle);
    }
    if state.backend == Backend::Locking && state.lock_depth > 0 {
        return Err(StepEnd::Skip(SchunkDefect::SelfDeadlock));
    }
    let seen =
        state.sides.iter().all(|side| side.frame_len(side.second_handle) != side.frame_len(side.schunk));
    let counted = state.backend == Backend::Locking && !state.counter_unknown;
    // SAFETY: a live super-chunk.
    let known = fields_of(unsafe { &*state.reference().second_handle });
    let fit = state.model.chunksize > 0
        && i64::from(known.chunksize) == state.model.chunksize
        && known.flags2 == state.reference().fields().flags2;
    if !fit || (state.is_second_stale && !seen && !counted) {
        state.call_both("schunk_free", |side| side.close_second())?;
        return Err(StepEnd::Skip(SchunkDefect::StaleHandle));
    }
    state.record("second handle: refresh".to_owned());
    state.call_both("refresh of a second handle", |side| side.refresh(side.second_handle))?;
    state.is_second_stale = false;
    Ok(())
}

pub fn second_read(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    if state.sides.iter().any(|side| side.second_handle.is_null()) {
        // For the next step.
        return second_open(state);
    }
    refresh_second(state)?;
    state.record("second handle: read".to_owned());
    let schunks = state.sides.each_ref().map(|side| side.second_handle);
    check_both(state, schunks, "the second handle")?;
    if random.one_in(4) {
        state.record("second handle: close".to_owned());
        state.call_both("schunk_free", |side| side.close_second())?;
    }
    Ok(ChangedChunks::None)
}

/// The second handle becomes the writing one.
pub fn second_write(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    if random.one_in(2) {
        second_open(state)?;
    }
    refresh_second(state)?;
    state.record("second handle: becomes the first".to_owned());
    for side in &mut state.sides {
        std::mem::swap(&mut side.schunk, &mut side.second_handle);
    }
    Ok(ChangedChunks::All)
}

/// The end of a sequence: each library reads the output of the other one and writes to it, and the other one reads
/// that.
pub fn finish(state: &mut SequenceState) -> Result<(), String> {
    let random = &mut Random::new(state.model.nbytes() as u64);
    let mut end = || -> StepResult {
        state.check(&ChangedChunks::All, true)?;
        if !state.store.is_on_disk() {
            let changed = from_buffer(state, random)?;
            return state.check(&changed, true);
        }
        let changed = reopen_with(state, Backend::Native, true, false)?;
        state.check(&changed, true)?;
        if state.model.chunks.first().is_some_and(|chunk| chunk.is_vl()) {
            return Ok(());
        }
        let size = state.model.chunksize.max(i64::from(state.setup.chunksize).min(1000));
        let size = if state.model.chunksize > 0 { state.model.chunksize } else { size } as usize;
        let data = random.bytes(size);
        let made = chunks::compress_once(state.apis[0].library, &chunks::default_params(1), &data)
            .expect("a raw copy");
        let at = state.model.len();
        let predicted = state.model.insert(state.store, at, &made.1);
        apply_and_check(state, predicted, "append_chunk to the other's".to_owned(), None, |side, _| {
            side.append(&made.0, true)
        })?;
        let changed = reopen_with(state, Backend::Native, true, false)?;
        state.check(&changed, true)
    };
    match end() {
        Ok(()) | Err(StepEnd::Idle | StepEnd::Skip(_)) => (),
        Err(StepEnd::WrongResult(text)) => return Err(text),
    }
    match state.call_both("schunk_free", |side| side.close()) {
        Ok(0) => Ok(()),
        Ok(rc) => Err(format!("schunk_free gives {rc}")),
        Err(StepEnd::WrongResult(text)) => Err(text),
        Err(_) => Ok(()),
    }
}
