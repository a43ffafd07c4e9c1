//! Steps that read single chunks, and the state of the super-chunk (schunk.md 9, 11, 20).

use crate::chunks;
use crate::known_defects::KnownDefect;
use crate::side::Side;
use crate::support::known_defects::{self as defects, Verdict};
use crate::support::random::Random;
use crate::support::value::{Bytes, difference};
use crate::world::{Done, Stop, Touched, World, wrong};

fn draw_index(world: &World, random: &mut Random) -> Done<usize> {
    if world.model.len() == 0 { Err(Stop::Idle) } else { Ok(random.below(world.model.len())) }
}

pub fn decompress(world: &mut World, random: &mut Random) -> Done<Touched> {
    let at = draw_index(world, random)?;
    let nb = world.model.chunks[at].nbytes() as usize;
    let destsize = match random.below(4) {
        0 => nb + random.below(100),
        1 => nb.saturating_sub(1),
        2 => random.below(nb + 1),
        _ => nb,
    };
    world.say(format!("decompress_chunk {at} of {nb} bytes into {destsize}"));
    let (rc, mut bytes) =
        world.same("decompress_chunk", |side| side.decompress(side.schunk, at as i64, destsize))?;
    if destsize < nb {
        return if rc < 0 { Ok(Touched::None) } else { Err(wrong!("{rc} bytes into {destsize}")) };
    }
    bytes.0.truncate(nb);
    world.compare_content(at, rc, &bytes)?;
    Ok(Touched::None)
}

/// Calls every indexed function with a number that no chunk has: −12, and the outputs are unchanged (which the calls
/// assert).
pub fn bad_index(world: &mut World, random: &mut Random) -> Done<Touched> {
    let count = world.model.len() as i64;
    let bad = *random.pick(&[-1, count, count + 1, i64::MAX, i64::MIN]);
    world.say(format!("chunk {bad} of {count}, with every function"));
    let (chunk, _) = chunks::draw(world.apis, random, &chunks::plain(1), 40);
    let codes = world.same("a chunk that is not there", |side| {
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
    world.changed();
    Ok(Touched::None)
}

/// Returns an error if reading blocks of this chunk on demand is unsafe in the reference.
pub fn blocks_on_demand(world: &World, at: usize) -> Done {
    let chunk = &world.model.chunks[at];
    if world.store.on_disk() && world.backend.points() && (chunk.vl() || chunk.header.uses_dictionary()) {
        return Err(Stop::Skip(KnownDefect::LazyBlocksOfPointers));
    }
    if world.store.on_disk() && chunk.nbytes() == 0 {
        return Err(Stop::Skip(KnownDefect::EmptyLazyChunk));
    }
    Ok(())
}

/// Returns an error if the reference reads `len` bytes at `start` of this chunk incorrectly.
pub fn partial(world: &World, at: usize, start: i64, len: i64) -> Done {
    let chunk = &world.model.chunks[at];
    if chunk.vl() {
        // Rejected by both libraries.
        return Ok(());
    }
    if chunk.header.special() == 3 && chunk.header.cbytes > 32 + 255 {
        return Err(Stop::Skip(KnownDefect::WideValue));
    }
    // Uncompressed chunks are also read from disk block by block.
    let is_lazy = chunk.header.memcpyed() && world.store.on_disk();
    if is_lazy && defects::straddles(&chunk.header, start as i32, len as i32) {
        return Err(Stop::Skip(KnownDefect::Chunk(defects::KnownDefect::StraddlingGetitem)));
    }
    match defects::of_getitem(&chunk.params, &chunk.header, start as i32, len as i32) {
        Verdict::Right => Ok(()),
        Verdict::Wrong(defect) | Verdict::Unsafe(defect) => Err(Stop::Skip(KnownDefect::Chunk(defect))),
    }
}

/// Removes the undefined bytes of a lazy chunk (schunk.md 11.4).
fn meaningful(lazy: &mut [u8], nb: i64) {
    let (memcpyed, flagged) = (lazy[2] & 2 != 0, lazy[31] & 8 != 0);
    let blocksize = i64::from(i32::from_le_bytes(lazy[8..12].try_into().expect("four bytes")));
    if memcpyed && flagged && blocksize > 0 {
        let nblocks = (nb + blocksize - 1) / blocksize;
        lazy[32..32 + 4 * nblocks as usize].fill(0);
    }
}

pub fn lazy_chunk(world: &mut World, random: &mut Random) -> Done<Touched> {
    let at = draw_index(world, random)?;
    blocks_on_demand(world, at)?;
    let chunk = world.model.chunks[at].clone();
    let nb = chunk.nbytes();
    let start = random.below(nb as usize + 1) as i64;
    let len = random.below((nb - start) as usize + 1) as i64;
    let part = partial(world, at, start, len).is_ok() && len > 0 && !chunk.vl();
    // A whole chunk of blocks of variable length cannot be decoded lazily.
    let whole = !(chunk.vl() && world.store.on_disk());
    world.say(format!("get_lazychunk {at}, decode all: {whole}, [{start}, +{len}): {part}"));
    let decode = |side: &Side, lazy: &[u8]| {
        let all = whole.then(|| side.decode(lazy, nb as usize));
        let part = part.then(|| side.decode_bytes(lazy, start as i32, len as i32));
        (all, part)
    };
    // It contains the position of its chunk in the file.
    let strict = world.strict && !chunk.differs;
    let (rc, _, _, decoded) = world.same("get_lazychunk", |side| {
        let (rc, mut lazy, free, decoded) = side.get_lazychunk(at as i64, decode);
        if rc >= 32 {
            meaningful(&mut lazy.0, nb);
        }
        let lazy = if strict { lazy } else { Bytes(Vec::new()) };
        (if strict { rc } else { rc.signum() }, lazy, free, decoded)
    })?;
    let Some((all, part)) = decoded else {
        return Err(wrong!("get_lazychunk({at}) gives {rc}"));
    };
    if let Some((rc, bytes)) = all {
        world.compare_content(at, rc, &bytes)?;
    }
    if let (Some((rc, bytes)), Some(content)) = (part, &chunk.content) {
        let right = &content[start as usize..(start + len) as usize];
        if let (true, Some(text)) = (rc >= 0, difference(&bytes.0, right)) {
            return Err(wrong!("bytes [{start}, +{len}) of lazy chunk {at}, found and right: {text}"));
        }
    }
    Ok(Touched::None)
}

pub fn vl_block(world: &mut World, random: &mut Random) -> Done<Touched> {
    let at = draw_index(world, random)?;
    let chunk = world.model.chunks[at].clone();
    let sizes = chunk.blocks.clone().unwrap_or_default();
    if sizes.is_empty() && !random.one_in(4) {
        return Err(Stop::Idle);
    }
    let nblock = random.below(sizes.len() + 2) as i32 - i32::from(random.one_in(5));
    world.say(format!("get_vlblock {at} {nblock} of {}", sizes.len()));
    let (rc, bytes) = world.same("get_vlblock", |side| side.get_vlblock(at as i64, nblock))?;
    if !(0..sizes.len() as i32).contains(&nblock) {
        return if rc == -12 { Ok(Touched::None) } else { Err(wrong!("get_vlblock gives {rc}")) };
    }
    let before: usize = sizes[..nblock as usize].iter().sum();
    let content = chunk.content.as_ref().expect("blocks have contents");
    match difference(&bytes.0, &content[before..before + sizes[nblock as usize]]) {
        Some(text) => Err(wrong!("block {nblock} of chunk {at}, found and right: {text}")),
        None => Ok(Touched::None),
    }
}

pub fn parameters(world: &mut World) -> Done<Touched> {
    world.say("get_cparams, get_dparams, frame_len".to_owned());
    world.same("get_cparams", |side| side.cparams())?;
    world.same("get_dparams", |side| side.dparams())?;
    let (lens, cbytes) = (
        world.sides.each_ref().map(|side| side.frame_len(side.schunk)),
        world.sides.each_ref().map(Side::cbytes),
    );
    if !world.store.has_frame() {
        // Independent of the compressed sizes (schunk.md 3.4).
        let count = world.model.len() as i64;
        if (0..2).any(|at| lens[at] != cbytes[at] + 8 * count) {
            return Err(wrong!("frame_len {lens:?} of cbytes {cbytes:?} and {count} chunks"));
        }
    }
    Ok(Touched::None)
}

pub fn offsets(world: &mut World) -> Done<Touched> {
    if world.model.len() == 0 && world.store.has_frame() {
        return Err(Stop::Skip(KnownDefect::OffsetsOfEmptyFrame));
    }
    world.say("frame_get_offsets".to_owned());
    if world.strict {
        world.same("frame_get_offsets", |side| side.offsets())?;
    }
    Ok(Touched::None)
}
