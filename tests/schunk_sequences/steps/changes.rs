//! Steps that change the list of chunks (schunk.md 10, 11.1, 14).

use std::rc::Rc;

use crate::chunks::{self, Made, compress_into};
use crate::known_defects::KnownDefect;
use crate::model::{Chunk, Model, Predicted};
use crate::setup::Store;
use crate::side::Side;
use crate::support::calls::{Header, Params};
use crate::support::known_defects::Verdict;
use crate::support::random::Random;
use crate::world::{Done, Stop, Touched, World, wrong};

const MOST_CHUNKS: usize = 60;
const MOST_BYTES: i64 = 1 << 20;

/// Draws the uncompressed size of the next chunk.
fn draw_size(world: &World, random: &mut Random) -> usize {
    let typesize = world.typesize() as usize;
    let full = match world.model.chunksize {
        size if size > 0 => size as usize,
        _ => world.setup.chunksize as usize,
    };
    let whole_items = |size: usize| (size / typesize * typesize).max(typesize);
    if !world.setup.variable {
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
fn draw_chunk(world: &World, random: &mut Random) -> Made {
    let size = draw_size(world, random);
    let vl = world.model.chunks.first().map_or(world.setup.vl, |chunk| chunk.vl());
    // Sometimes of the wrong kind, which is rejected.
    let odd = world.setup.vl && random.one_in(20);
    if vl != odd {
        return chunks::draw_vl(world.apis, random, &world.setup.params, size);
    }
    chunks::draw(world.apis, random, &world.setup.params, size)
}

fn room_for_more(world: &World) -> Done {
    let full = world.model.len() >= MOST_CHUNKS || world.model.nbytes() > MOST_BYTES;
    if full { Err(Stop::Idle) } else { Ok(()) }
}

fn describe(made: &Made) -> String {
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
pub fn settle(
    world: &mut World,
    predicted: Predicted,
    what: String,
    may_give: Option<bool>,
    mut call: impl FnMut(&mut Side, bool) -> i64,
) -> Done<bool> {
    let next = match predicted {
        Predicted::Next(next) => Some(next),
        Predicted::Refused => None,
        Predicted::Defect(defect) => return Err(Stop::Skip(defect)),
    };
    // After a rejected change, one library has taken ownership of the chunk and the other has not (frame.md 9).
    let copy = next.is_none() || may_give != Some(true);
    world.say(match may_give {
        Some(_) => format!("{what}, copy {copy}"),
        None => what.clone(),
    });
    let rc = world.same(&what, |side| call(side, copy))?;
    match next {
        Some(next) if rc == next.len() as i64 => {
            become_model(world, next);
            Ok(true)
        }
        Some(next) => Err(wrong!("{what} gives {rc}, has to give {}", next.len())),
        None if rc < 0 => Ok(false),
        None => Err(wrong!("{what} gives {rc}, expected an error")),
    }
}

fn become_model(world: &mut World, next: Model) {
    if next.chunks.is_empty() && world.store.contiguous() {
        // The current contents of the data section will be neither kept nor overwritten (frame.md 2.6).
        world.gap = world.reference().cbytes();
    }
    world.model = next;
    world.changed();
}

pub fn append(world: &mut World, random: &mut Random) -> Done<Touched> {
    room_for_more(world)?;
    let made = draw_chunk(world, random);
    let at = world.model.len();
    let predicted = world.model.insert(world.store, at, &made.1);
    let give = random.one_in(2);
    let what = format!("append_chunk {}", describe(&made));
    let added = settle(world, predicted, what, Some(give), |side, copy| side.append(&made.0, copy))?;
    Ok(if added { Touched::One(at) } else { Touched::None })
}

pub fn insert(world: &mut World, random: &mut Random) -> Done<Touched> {
    room_for_more(world)?;
    let made = draw_chunk(world, random);
    let at = random.below(world.model.len() + 1);
    let predicted = world.model.insert(world.store, at, &made.1);
    let give = random.one_in(2);
    let what = format!("insert_chunk {at} {}", describe(&made));
    let added =
        settle(world, predicted, what, Some(give), |side, copy| side.insert(at as i64, &made.0, copy))?;
    Ok(if added { Touched::One(at) } else { Touched::None })
}

pub fn update(world: &mut World, random: &mut Random) -> Done<Touched> {
    if world.model.len() == 0 {
        return Err(Stop::Idle);
    }
    let made = draw_chunk(world, random);
    let at = random.below(world.model.len());
    let predicted = world.model.update(world.store, at, &made.1);
    let give = random.one_in(2);
    let what = format!("update_chunk {at} {}", describe(&made));
    let changed =
        settle(world, predicted, what, Some(give), |side, copy| side.update(at as i64, &made.0, copy))?;
    Ok(if changed { Touched::One(at) } else { Touched::None })
}

pub fn delete(world: &mut World, random: &mut Random) -> Done<Touched> {
    if world.model.len() == 0 {
        return Err(Stop::Idle);
    }
    // Sometimes all chunks are deleted: the rest of that frame is a special case.
    let all = random.one_in(6) && world.model.len() < 12;
    for _ in 0..if all { world.model.len() } else { 1 } {
        let at = random.below(world.model.len());
        let predicted = world.model.delete(world.store, at);
        settle(world, predicted, format!("delete_chunk {at}"), None, |side, _| side.delete(at as i64))?;
        if all {
            world.check(&Touched::None, false)?;
        }
    }
    Ok(Touched::None)
}

/// Returns the chunk that the reference's context produces from `data` in a destination of `nbytes + 32` bytes, or
/// the known defect because of which the call must be skipped.
pub fn compress_inside(world: &World, params: &Params, data: &[u8]) -> Done<Rc<Chunk>> {
    if (data.len() as i64) < world.typesize() {
        return Err(Stop::Skip(KnownDefect::BlocksizeOfOne));
    }
    match compress_into(world.apis[1].library, params, data, data.len() + 32) {
        Ok((_, chunk)) => Ok(chunk),
        Err(Verdict::Wrong(defect) | Verdict::Unsafe(defect)) => Err(Stop::Skip(KnownDefect::Chunk(defect))),
        Err(Verdict::Right) => unreachable!("`Verdict::Right` is not an error"),
    }
}

pub fn append_buffer(world: &mut World, random: &mut Random) -> Done<Touched> {
    room_for_more(world)?;
    let vl = world.model.chunks.first().is_some_and(|chunk| chunk.vl());
    if vl && !random.one_in(10) {
        return Err(Stop::Idle);
    }
    let size = draw_size(world, random);
    let data = chunks::draw_data(random, world.setup.params.typesize, size);
    let params = world.reference().context_params();
    let chunk = compress_inside(world, &params, &data)?;
    let at = world.model.len();
    let predicted = world.model.insert(world.store, at, &chunk);
    let what = format!("append_buffer of {size} bytes, context {params:?}");
    if !settle(world, predicted, what, None, |side, _| side.append_buffer(&data))? {
        return Ok(Touched::None);
    }
    world.note_compressed(at)?;
    Ok(Touched::One(at))
}

pub fn reorder(world: &mut World, random: &mut Random) -> Done<Touched> {
    let count = world.model.len();
    if world.store == Store::MemorySparse && world.reference().data_len() < 8 * count {
        return Err(Stop::Skip(KnownDefect::DataLenOfCopiedFrame));
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
    let next = match (valid, world.model.len()) {
        (false, _) => None,
        (true, 0) => Some(world.model.clone()),
        (true, _) => match world.model.reorder(world.store, &order) {
            Predicted::Next(next) => Some(next),
            Predicted::Defect(defect) => return Err(Stop::Skip(defect)),
            Predicted::Refused => unreachable!("`Model::reorder` does not reject a valid order"),
        },
    };
    world.say(format!("reorder_offsets {order:?}"));
    let rc = world.same("reorder_offsets", |side| side.reorder(&order))?;
    let right = match &next {
        None => -3,
        Some(_) if count == 0 && world.store.has_frame() => -3,
        Some(_) => 0,
    };
    if rc != right {
        return Err(wrong!("reorder_offsets gives {rc}, has to give {right}"));
    }
    if let Some(next) = next {
        become_model(world, next);
        return Ok(Touched::All);
    }
    Ok(Touched::None)
}

pub fn fill(world: &mut World, random: &mut Random) -> Done<Touched> {
    let typesize = world.typesize();
    if world.model.len() > 0 && !random.one_in(4) {
        return Err(Stop::Idle);
    }
    if world.store == Store::MemorySparse && world.model.chunksize != -1 && world.model.len() == 0 {
        // The chunks are then appended one by one, by the rules for the old chunksize.
        return Err(Stop::Idle);
    }
    let kind = *random.pick(&[0, 1, 1, 2, 2, 3, 4, 4, 5]);
    let chunksize = match random.below(8) {
        0 => *random.pick(&[0, -1, typesize as i32 - 1, typesize as i32 + 1, 1]),
        _ => world.setup.chunksize,
    };
    let per_chunk = (i64::from(chunksize) / typesize).max(1);
    let nitems = match random.below(8) {
        0 => *random.pick(&[0, -1, 1]),
        1 => random.below(per_chunk as usize) as i64,
        2..=4 => per_chunk * (1 + random.below(8) as i64),
        _ => random.below(8 * per_chunk as usize) as i64,
    };
    world.say(format!("fill_special {nitems} items, kind {kind}, chunksize {chunksize}"));
    let rc = world.same("fill_special", |side| side.fill(nitems, kind, chunksize))?;
    if rc <= 0 {
        return Ok(Touched::None);
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
            header: Header::of(&header),
            params: chunks::plain(typesize as i32),
            content: (kind == 1).then(|| vec![0; nbytes as usize]),
            blocks: None,
            differs: false,
        })
    };
    let mut chunks = vec![special(per_chunk * typesize); full as usize];
    chunks.extend((left > 0).then(|| special(left * typesize)));
    let memory = world.store == Store::MemorySparse;
    let chunksize = if memory && full == 0 { left * typesize } else { i64::from(chunksize) };
    become_model(world, Model { chunks, chunksize });
    Ok(Touched::All)
}
