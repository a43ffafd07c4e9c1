//! Steps that change the storage or the handle of a super-chunk: copies, buffers, files, handles, locks (schunk.md
//! 6-8, 19). Each library reads the output of the other one.

use std::path::PathBuf;
use std::ptr;
use std::rc::Rc;

use super::changes::{compress_inside, settle};
use crate::api::Schunk;
use crate::chunks;
use crate::frames;
use crate::known_defects::KnownDefect;
use crate::model::{Chunk, Model, Predicted};
use crate::setup::{Backend, Store, draw_params};
use crate::side::{Side, fields_of};
use crate::support::calls::{Header, Params};
use crate::support::known_defects::KnownDefect as ChunkDefect;
use crate::support::random::Random;
use crate::support::value::difference;
use crate::world::{Done, Stop, Touched, World, wrong};

/// Predicts the chunks of a copy in `target`, if the reference copies correctly (schunk.md 8.1 and 25).
fn predict_copy(world: &World, target: Store, params: Option<&Params>) -> Done<Model> {
    if world.typesize() > 255 {
        return Err(Stop::Skip(KnownDefect::CopyOfLargeTypesize));
    }
    let mut source = world.model.clone();
    let blocksize = params.map_or(world.reference().context_params().blocksize, |params| params.blocksize);
    let uneven = i64::from(blocksize) % world.typesize() != 0;
    if uneven && target.has_frame() && source.chunks.iter().any(|chunk| chunk.header.special() == 2) {
        return Err(Stop::Skip(KnownDefect::SyntheticBlocksize));
    }
    let vl = source.chunks.first().is_some_and(|chunk| chunk.vl());
    if let (Some(params), false) = (params, vl) {
        let context = world.reference().context_params();
        let compared = Params {
            blocksize: if params.blocksize == 0 { context.blocksize } else { params.blocksize },
            nthreads: context.nthreads,
            splitmode: context.splitmode,
            codec_meta: context.codec_meta,
            ..params.clone()
        };
        if compared != context {
            for chunk in &mut source.chunks {
                *chunk = recompressed(world, params, chunk)?;
            }
        }
    }
    if target.has_frame() && source.has_uneven_special(world.typesize()) {
        return Err(Stop::Skip(KnownDefect::SpecialMoved));
    }
    match source.copied(target) {
        Predicted::Next(model) => Ok(model),
        Predicted::Defect(defect) => Err(Stop::Skip(defect)),
        Predicted::Refused => Err(Stop::Idle),
    }
}

fn recompressed(world: &World, params: &Params, chunk: &Rc<Chunk>) -> Done<Rc<Chunk>> {
    if world.model.chunksize == 0 || chunk.nbytes() != world.model.chunksize {
        return Err(Stop::Skip(KnownDefect::RecompressingCopy));
    }
    let Some(content) = &chunk.content else {
        return Err(Stop::Skip(KnownDefect::UninitOverlay));
    };
    let new = compress_inside(world, params, content)?;
    if new.payload_free() && new.nbytes() % world.typesize() != 0 {
        return Err(Stop::Skip(KnownDefect::SpecialMoved));
    }
    Ok(new)
}

/// Predicts the frame written by `to_buffer`, `to_file` and `append_file`: the super-chunk's own frame, or a copy.
fn predict_frame(world: &World, target: Store) -> Done<Model> {
    if world.store != Store::MemoryFrame {
        return predict_copy(world, target, None);
    }
    match world.model.defect_in(target) {
        Some(defect) => Err(Stop::Skip(defect)),
        None => Ok(world.model.clone()),
    }
}

/// Makes these super-chunks the current ones of the two sides.
fn adopt(world: &mut World, schunks: [(Schunk, PathBuf, *mut u8); 2], store: Store, offset: i64) -> Done {
    let mut codes = Vec::new();
    for (side, (schunk, path, borrowed)) in world.sides.iter_mut().zip(schunks) {
        codes.push(side.adopt(schunk, path, borrowed));
    }
    world.store = store;
    world.backend = Backend::Native;
    world.offset = offset;
    world.lock_depth = 0;
    world.data_len_unknown = false;
    world.current_unknown = false;
    world.counter_unknown = false;
    if codes == [0, 0] { Ok(()) } else { Err(wrong!("schunk_free gives {codes:?}")) }
}

fn free_both(world: &World, schunks: [Schunk; 2]) -> Done {
    let codes: Vec<i32> = world.sides.iter().zip(schunks).map(|(side, schunk)| side.free(schunk)).collect();
    if codes == [0, 0] { Ok(()) } else { Err(wrong!("schunk_free gives {codes:?}")) }
}

/// Checks that the super-chunk of each side has the same contents as the current one.
fn read_both(world: &World, schunks: [Schunk; 2], what: &str) -> Done {
    for (side, schunk) in world.sides.iter().zip(schunks) {
        if schunk.is_null() {
            return Err(wrong!("{what}: {} gives NULL", side.api.library.name));
        }
    }
    // SAFETY: live super-chunks, the first of ours and the second of the reference.
    let [ours, theirs] = schunks.map(|schunk| fields_of(unsafe { &*schunk }));
    if ours != theirs {
        return Err(wrong!("{what}: ours has {ours:?}, the reference {theirs:?}"));
    }
    for (side, schunk) in world.sides.iter().zip(schunks) {
        let name = if ptr::eq(side, &world.sides[0]) { "ours" } else { "the reference" };
        world.read_all(side, schunk, &format!("{what}, read by {name}"))?;
    }
    Ok(())
}

pub fn from_buffer(world: &mut World, random: &mut Random) -> Done<Touched> {
    let next = predict_frame(world, Store::MemoryFrame)?;
    let (cross, copy, keep) = (random.one_in(2), random.one_in(2), !random.one_in(3));
    world.say(format!("to_buffer, from_buffer(copy {copy}), crossed {cross}, kept {keep}"));
    let strict = world.strict;
    let own = world.store == Store::MemoryFrame;
    world.same("to_buffer", |side| {
        let (rc, _, free) = side.to_buffer();
        (if strict { rc } else { rc.signum() }, free)
    })?;
    let mut frames = world.sides.each_ref().map(|side| side.to_buffer().1.0);
    if frames.iter().any(Vec::is_empty) {
        return Err(wrong!("to_buffer fails"));
    }
    let mut shown = frames.clone();
    if own {
        shown.iter_mut().for_each(|frame| frames::blank(frame, 0, world));
    }
    if let (true, Some(text)) = (strict, difference(&shown[0], &shown[1])) {
        return Err(wrong!("to_buffer, ours and the reference: {text}"));
    }
    if cross {
        frames.reverse();
    }
    let mut made = Vec::new();
    for (side, frame) in world.sides.iter().zip(&frames) {
        made.push(side.wrap(frame, copy));
    }
    let (ours, theirs) = (made[0], made[1]);
    if copy && !strict && blocksizes_differ(world, [ours.0, theirs.0], cross)? {
        free_both(world, [ours.0, theirs.0])?;
        world.current_unknown = true;
        return Err(Stop::Skip(KnownDefect::Chunk(ChunkDefect::HeaderBlocksize)));
    }
    read_both(world, [ours.0, theirs.0], "from_buffer")?;
    if !keep {
        world.current_unknown = true;
        for (side, (schunk, block)) in world.sides.iter().zip(made) {
            side.free(schunk);
            // SAFETY: NULL, or the block that the super-chunk borrowed.
            unsafe { libc::free(block.cast()) };
        }
        return Ok(Touched::None);
    }
    let store = if copy { Store::MemorySparse } else { Store::MemoryFrame };
    world.model = next;
    adopt(world, [ours, theirs].map(|(schunk, block)| (schunk, PathBuf::new(), block)), store, 0)?;
    chunksize_in_frame(world);
    world.data_len_unknown = copy;
    if copy || !own {
        world.gap = 0;
    }
    Ok(Touched::All)
}

/// Returns whether copies of the frames, crossed or not, report different blocksizes that are both correct: the
/// blocksize that the headers of the chunks share, or 0. The reference's headers contain the requested value, ours
/// the effective one (schunk.md 25).
fn blocksizes_differ(world: &World, schunks: [Schunk; 2], cross: bool) -> Done<bool> {
    if schunks.iter().any(|schunk| schunk.is_null()) {
        return Ok(false);
    }
    // SAFETY: live super-chunks, the first of ours and the second of the reference.
    let [ours, theirs] = schunks.map(|schunk| unsafe { (*schunk).blocksize });
    if ours == theirs {
        return Ok(false);
    }
    let mut shared = world.sides.each_ref().map(|side| {
        let mut sizes = (0..world.model.len()).map(|at| Header::of(&side.get_chunk(at as i64).1.0).blocksize);
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
fn paths(world: &World, name: &str, cross: bool) -> [PathBuf; 2] {
    let mut paths = world.sides.each_ref().map(|side| side.directory.join(name));
    if cross {
        paths.reverse();
    }
    paths
}

/// Opens these files with the default back-end, compares, and continues with them if `keep`.
fn continue_with(
    world: &mut World,
    paths: [PathBuf; 2],
    offset: i64,
    next: Model,
    keep: bool,
) -> Done<Touched> {
    let mut opened = Vec::new();
    for (side, path) in world.sides.iter_mut().zip(&paths) {
        opened.push(side.open(Backend::Native, path, offset));
    }
    let schunks = [opened[0], opened[1]];
    read_both(world, schunks, "the file")?;
    if !keep {
        world.current_unknown = true;
        free_both(world, schunks)?;
        return Ok(Touched::None);
    }
    if world.store != Store::MemoryFrame {
        world.gap = 0;
    }
    world.model = next;
    let [ours, theirs] = paths;
    let [a, b] = schunks;
    adopt(world, [(a, ours, ptr::null_mut()), (b, theirs, ptr::null_mut())], Store::DiskFrame, offset)?;
    chunksize_in_frame(world);
    Ok(Touched::All)
}

/// The chunksize of an empty super-chunk may be missing in its frame (schunk.md 3.2).
fn chunksize_in_frame(world: &mut World) {
    if world.model.len() == 0 {
        world.model.chunksize = i64::from(world.reference().fields().chunksize);
    }
}

pub fn to_file(world: &mut World, random: &mut Random) -> Done<Touched> {
    let next = predict_frame(world, Store::DiskFrame)?;
    let name = world.fresh_name();
    let (cross, keep, twice) = (random.one_in(2), random.one_in(3), random.one_in(3));
    world.say(format!("to_file {name}, twice {twice}, crossed {cross}, kept {keep}"));
    let strict = world.strict;
    let own = world.store == Store::MemoryFrame;
    let code = |rc: i64| if strict || rc < 0 { rc } else { 1 };
    let rc = world.same("to_file", |side| code(side.to_file(&side.directory.join(&name))))?;
    if rc < 0 {
        return Err(wrong!("to_file gives {rc}"));
    }
    if twice {
        let again = world.same("to_file again", |side| code(side.to_file(&side.directory.join(&name))))?;
        if again != if own { rc } else { -23 } {
            return Err(wrong!("to_file again gives {again}"));
        }
    }
    let paths = paths(world, &name, cross);
    compare_files(world, &paths, 0, own)?;
    continue_with(world, paths, 0, next, keep)
}

fn compare_files(world: &mut World, paths: &[PathBuf; 2], offset: usize, own: bool) -> Done {
    let mut files = [frames::read(&paths[0]), frames::read(&paths[1])];
    if own {
        files.iter_mut().for_each(|file| frames::blank(file, offset, world));
    }
    if let (true, Some(text)) = (world.strict, difference(&files[0], &files[1])) {
        return Err(wrong!("the files: {text}"));
    }
    Ok(())
}

pub fn append_file(world: &mut World, random: &mut Random) -> Done<Touched> {
    let next = predict_frame(world, Store::DiskFrame)?;
    let name = world.fresh_name();
    let junk = random.below(100) * random.below(2);
    let (cross, keep, twice) = (random.one_in(2), random.one_in(2), random.one_in(2));
    world.say(format!("append_file {name} after {junk} bytes, twice {twice}, crossed {cross}, kept {keep}"));
    if junk > 0 {
        let bytes = random.bytes(junk);
        for side in &world.sides {
            std::fs::write(side.directory.join(&name), &bytes).expect("a file");
        }
    }
    let strict = world.strict;
    let first = world.same("append_file", |side| side.append_file(&side.directory.join(&name)))?;
    if first != junk as i64 {
        return Err(wrong!("append_file gives {first}, has to give {junk}"));
    }
    let mut offset = first;
    // For two frames in a row, only the undefined part of one can be excluded from the comparison.
    if twice && strict && world.gap == 0 {
        offset = world.same("append_file again", |side| side.append_file(&side.directory.join(&name)))?;
    }
    let own = world.store == Store::MemoryFrame;
    let paths = paths(world, &name, cross);
    if world.gap == 0 {
        compare_files(world, &paths, 0, own)?;
    }
    continue_with(world, paths, offset, next, keep)
}

pub fn copy(world: &mut World, random: &mut Random) -> Done<Touched> {
    let store = *random.pick(&Store::ALL);
    let typesize = world.setup.params.typesize;
    let params = match random.below(3) {
        0 => None,
        1 => Some(world.setup.params.clone()),
        _ => Some(draw_params(random, typesize)),
    };
    let threads = *random.pick(&[None, Some(1), Some(2)]);
    let next = predict_copy(world, store, params.as_ref())?;
    let (name, keep) = (world.fresh_name(), random.one_in(2));
    world.say(format!("schunk_copy to {store:?} with {params:?}, threads {threads:?}, kept {keep}"));
    let mut made = Vec::new();
    for side in &mut world.sides {
        let path = side.directory.join(&name);
        let schunk = side.copy(store, &path, params.as_ref(), threads);
        made.push((schunk, if store.on_disk() { path } else { PathBuf::new() }));
    }
    let schunks = [made[0].0, made[1].0];
    read_both(world, schunks, "schunk_copy")?;
    if !keep {
        world.current_unknown = true;
        free_both(world, schunks)?;
        return Ok(Touched::None);
    }
    let recompressed: Vec<usize> =
        (0..next.len()).filter(|&at| !Rc::ptr_eq(&next.chunks[at], &world.model.chunks[at])).collect();
    world.model = next;
    world.gap = 0;
    world.setup.params = params.unwrap_or_else(|| world.setup.params.clone());
    let schunks: Vec<_> = made.into_iter().map(|(schunk, path)| (schunk, path, ptr::null_mut())).collect();
    adopt(world, schunks.try_into().expect("two"), store, 0)?;
    for at in recompressed {
        world.note_compressed(at)?;
    }
    Ok(Touched::All)
}

pub fn detach(world: &mut World) -> Done<Touched> {
    if world.store != Store::MemoryFrame {
        return Err(Stop::Idle);
    }
    world.say("avoid_cframe_free, to_buffer, free, from_buffer(copy false)".to_owned());
    let strict = world.strict;
    let len = world.same("the detached frame", |side| {
        let len = side.detach_and_wrap();
        if strict || len < 0 { len } else { 1 }
    })?;
    if len < 0 {
        return Err(wrong!("a detached frame cannot be wrapped again"));
    }
    chunksize_in_frame(world);
    Ok(Touched::All)
}

pub fn lock(world: &mut World) -> Done<Touched> {
    if world.lock_depth > 2 {
        return Err(Stop::Idle);
    }
    world.say("lock".to_owned());
    let rc = world.same("lock", |side| side.lock())?;
    world.lock_depth += 1;
    if rc == 0 { Ok(Touched::None) } else { Err(wrong!("lock gives {rc}")) }
}

pub fn unlock(world: &mut World) -> Done<Touched> {
    world.say("unlock".to_owned());
    let rc = world.same("unlock", |side| side.unlock())?;
    world.lock_depth = world.lock_depth.saturating_sub(1);
    if rc == 0 { Ok(Touched::None) } else { Err(wrong!("unlock gives {rc}")) }
}

pub fn refresh(world: &mut World) -> Done<Touched> {
    world.say("refresh".to_owned());
    let rc = world.same("refresh", |side| side.refresh(side.schunk))?;
    if rc == 0 { Ok(Touched::None) } else { Err(wrong!("refresh of the only writer gives {rc}")) }
}

/// Returns an error if the reference cannot open the files of the sides.
fn openable(world: &World) -> Done {
    if !world.store.on_disk() {
        return Err(Stop::Idle);
    }
    if world.store == Store::Directory && world.model.len() > 0 {
        let least = world.sides.each_ref().map(Side::cbytes).into_iter().min().unwrap_or(0);
        let numbers = world.reference().offsets().ok_or_else(|| wrong!("frame_get_offsets gives NULL"))?;
        if numbers.iter().any(|&number| number > least - 32) {
            return Err(Stop::Skip(KnownDefect::SframeNumbers));
        }
    }
    Ok(())
}

pub fn reopen(world: &mut World, random: &mut Random) -> Done<Touched> {
    let cross = random.one_in(3);
    let mut backend = Backend::pick(random, world.store);
    if let (true, Backend::Mapped { .. }) = (world.setup.moving_map, backend) {
        backend = Backend::Mapped { initial: *random.pick(&[1, 100, 4096, 65_536]) };
    }
    let prefixed = random.one_in(10);
    reopen_with(world, backend, cross, prefixed)
}

fn reopen_with(world: &mut World, backend: Backend, cross: bool, prefixed: bool) -> Done<Touched> {
    openable(world)?;
    world.say(format!("close, open with {backend:?} at {}, crossed {cross}", world.offset));
    let rc = world.same("schunk_free", |side| side.close())?;
    if rc != 0 {
        return Err(wrong!("schunk_free gives {rc}"));
    }
    if cross {
        let [ours, theirs] = &mut world.sides;
        std::mem::swap(&mut ours.path, &mut theirs.path);
    }
    world.backend = backend;
    world.lock_depth = 0;
    let offset = world.offset;
    let opened = world.same("schunk_open", |side| {
        let path = side.path.clone();
        let path = if prefixed { PathBuf::from(format!("file:///{}", path.display())) } else { path };
        side.schunk = side.open(backend, &path, offset);
        !side.schunk.is_null()
    })?;
    if !opened {
        return Err(wrong!("schunk_open gives NULL"));
    }
    chunksize_in_frame(world);
    Ok(Touched::All)
}

pub fn second_open(world: &mut World) -> Done<Touched> {
    openable(world)?;
    if !world.backend.shares() {
        return Err(Stop::Idle);
    }
    if world.backend == Backend::Locking && world.lock_depth > 0 {
        return Err(Stop::Skip(KnownDefect::SelfDeadlock));
    }
    world.say("second handle: open".to_owned());
    let (backend, offset) = (world.backend, world.offset);
    world.same("schunk_open", |side| {
        side.close_second();
        let path = side.path.clone();
        side.second = side.open(backend, &path, offset);
        !side.second.is_null()
    })?;
    world.overtaken = false;
    Ok(Touched::None)
}

/// Updates the second handle, if the reference can do so.
fn catch_up(world: &mut World) -> Done {
    if world.sides.iter().any(|side| side.second.is_null()) {
        return Err(Stop::Idle);
    }
    if world.backend == Backend::Locking && world.lock_depth > 0 {
        return Err(Stop::Skip(KnownDefect::SelfDeadlock));
    }
    let seen = world.sides.iter().all(|side| side.frame_len(side.second) != side.frame_len(side.schunk));
    let counted = world.backend == Backend::Locking && !world.counter_unknown;
    // SAFETY: a live super-chunk.
    let known = fields_of(unsafe { &*world.reference().second });
    let fit = world.model.chunksize > 0
        && i64::from(known.chunksize) == world.model.chunksize
        && known.flags2 == world.reference().fields().flags2;
    if !fit || (world.overtaken && !seen && !counted) {
        world.same("schunk_free", |side| side.close_second())?;
        return Err(Stop::Skip(KnownDefect::StaleHandle));
    }
    world.say("second handle: refresh".to_owned());
    world.same("refresh of a second handle", |side| side.refresh(side.second))?;
    world.overtaken = false;
    Ok(())
}

pub fn second_read(world: &mut World, random: &mut Random) -> Done<Touched> {
    if world.sides.iter().any(|side| side.second.is_null()) {
        // For the next step.
        return second_open(world);
    }
    catch_up(world)?;
    world.say("second handle: read".to_owned());
    let schunks = world.sides.each_ref().map(|side| side.second);
    read_both(world, schunks, "the second handle")?;
    if random.one_in(4) {
        world.say("second handle: close".to_owned());
        world.same("schunk_free", |side| side.close_second())?;
    }
    Ok(Touched::None)
}

/// The second handle becomes the writing one.
pub fn second_write(world: &mut World, random: &mut Random) -> Done<Touched> {
    if random.one_in(2) {
        second_open(world)?;
    }
    catch_up(world)?;
    world.say("second handle: becomes the first".to_owned());
    for side in &mut world.sides {
        std::mem::swap(&mut side.schunk, &mut side.second);
    }
    Ok(Touched::All)
}

/// The end of a sequence: each library reads the output of the other one and writes to it, and the other one reads
/// that.
pub fn finish(world: &mut World) -> Result<(), String> {
    let random = &mut Random::new(world.model.nbytes() as u64);
    let mut end = || -> Done {
        world.check(&Touched::All, true)?;
        if !world.store.on_disk() {
            let touched = from_buffer(world, random)?;
            return world.check(&touched, true);
        }
        let touched = reopen_with(world, Backend::Native, true, false)?;
        world.check(&touched, true)?;
        if world.model.chunks.first().is_some_and(|chunk| chunk.vl()) {
            return Ok(());
        }
        let size = world.model.chunksize.max(i64::from(world.setup.chunksize).min(1000));
        let size = if world.model.chunksize > 0 { world.model.chunksize } else { size } as usize;
        let data = random.bytes(size);
        let made =
            chunks::compress_once(world.apis[0].library, &chunks::plain(1), &data).expect("a raw copy");
        let at = world.model.len();
        let predicted = world.model.insert(world.store, at, &made.1);
        settle(world, predicted, "append_chunk to the other's".to_owned(), None, |side, _| {
            side.append(&made.0, true)
        })?;
        let touched = reopen_with(world, Backend::Native, true, false)?;
        world.check(&touched, true)
    };
    match end() {
        Ok(()) | Err(Stop::Idle | Stop::Skip(_)) => (),
        Err(Stop::Wrong(text)) => return Err(text),
    }
    match world.same("schunk_free", |side| side.close()) {
        Ok(0) => Ok(()),
        Ok(rc) => Err(format!("schunk_free gives {rc}")),
        Err(Stop::Wrong(text)) => Err(text),
        Err(_) => Ok(()),
    }
}
