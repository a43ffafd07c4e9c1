//! Steps on metalayers, fixed and of variable length (schunk.md 17, 18).

use std::ffi::{CStr, CString};

use crate::chunks;
use crate::known_defects::KnownDefect;
use crate::setup::{Backend, draw_params};
use crate::support::calls::Params;
use crate::support::data::Data;
use crate::support::random::Random;
use crate::support::value::Bytes;
use crate::world::{Done, Stop, Touched, World, wrong};

const NAMES: [&CStr; 7] =
    [c"m1", c"b", c"", c"metalayer", c"a name of thirty-one characters", c"caterva2", c"x"];

fn draw_name(random: &mut Random) -> CString {
    (*random.pick(&NAMES)).to_owned()
}

fn position(list: &[(CString, Vec<u8>)], name: &CStr) -> Option<usize> {
    list.iter().position(|(other, _)| other.as_c_str() == name)
}

fn draw_content(random: &mut Random, most: usize) -> Vec<u8> {
    let len = match random.below(6) {
        0 => 0,
        1 => 1,
        2 => random.below(most) + 1,
        _ => random.below(60),
    };
    let kind = *random.pick(&Data::ALL);
    kind.generate(random, 4, len)
}

pub fn meta_add(world: &mut World, random: &mut Random) -> Done<Touched> {
    if world.store.has_frame() && (world.model.len() > 0 || world.reference().cbytes() > 0) {
        return Err(Stop::Skip(KnownDefect::MetaAddAfterData));
    }
    let (name, content) = (draw_name(random), draw_content(random, 3000));
    world.say(format!("meta_add {name:?} of {} bytes", content.len()));
    let rc = world.same("meta_add", |side| side.meta_add(&name, &content))?;
    let right = match position(&world.metalayers, &name) {
        Some(_) => -12,
        None => {
            world.metalayers.push((name, content));
            world.changed();
            world.metalayers.len() as i32 - 1
        }
    };
    if rc == right { Ok(Touched::None) } else { Err(wrong!("meta_add gives {rc}, has to give {right}")) }
}

pub fn meta_update(world: &mut World, random: &mut Random) -> Done<Touched> {
    let name = match world.metalayers.len() {
        0 => draw_name(random),
        count if random.one_in(8) => world.metalayers[random.below(count)].0.clone(),
        _ => draw_name(random),
    };
    let found = position(&world.metalayers, &name);
    let old = found.map_or(0, |at| world.metalayers[at].1.len());
    let len = match random.below(4) {
        0 => old + 1 + random.below(20),
        1 => random.below(old + 1),
        _ => old,
    };
    let content = random.bytes(len);
    world.say(format!("meta_update {name:?} of {old} bytes with {len}"));
    let rc = world.same("meta_update", |side| side.meta_update(&name, &content))?;
    let right = found.map_or(-16, |at| at as i32);
    if let (Some(at), true) = (found, len <= old) {
        world.metalayers[at].1[..len].copy_from_slice(&content);
        world.changed();
    }
    world.counter_unknown |= world.backend == Backend::Locking;
    if rc == right { Ok(Touched::None) } else { Err(wrong!("meta_update gives {rc}, has to give {right}")) }
}

/// Draws parameters for the content, or the defaults of the library.
fn draw_content_params(random: &mut Random) -> Option<Params> {
    let params = match random.below(4) {
        0 => draw_params(random, 1),
        1 => Params { codec: *random.pick(&[1, 4, 5]), ..chunks::plain(*random.pick(&[1, 4])) },
        _ => return None,
    };
    // Valid for any length (`support::known_defects`).
    Some(Params { use_dict: false, filters: [0, 0, 0, 0, 0, 1], metas: [0; 6], blocksize: 0, ..params })
}

pub fn vlmeta_add(world: &mut World, random: &mut Random) -> Done<Touched> {
    let (name, content) = (draw_name(random), draw_content(random, 9000));
    let params = draw_content_params(random);
    world.say(format!("vlmeta_add {name:?} of {} bytes with {params:?}", content.len()));
    let rc = world.same("vlmeta_add", |side| side.vlmeta_put(false, &name, &content, params.as_ref()))?;
    let right = match position(&world.vlmetalayers, &name) {
        Some(_) => -12,
        None => {
            world.vlmetalayers.push((name, content));
            world.changed();
            world.vlmetalayers.len() as i32 - 1
        }
    };
    if rc == right { Ok(Touched::None) } else { Err(wrong!("vlmeta_add gives {rc}, has to give {right}")) }
}

pub fn vlmeta_update(world: &mut World, random: &mut Random) -> Done<Touched> {
    let (name, content) = (draw_name(random), draw_content(random, 9000));
    let params = draw_content_params(random);
    world.say(format!("vlmeta_update {name:?} with {} bytes with {params:?}", content.len()));
    let rc = world.same("vlmeta_update", |side| side.vlmeta_put(true, &name, &content, params.as_ref()))?;
    let found = position(&world.vlmetalayers, &name);
    if let Some(at) = found {
        world.vlmetalayers[at].1 = content;
        world.changed();
    }
    let right = found.map_or(-16, |at| at as i32);
    if rc == right { Ok(Touched::None) } else { Err(wrong!("vlmeta_update gives {rc}, has to give {right}")) }
}

pub fn vlmeta_get(world: &mut World, random: &mut Random) -> Done<Touched> {
    let name = if random.one_in(8) {
        c"a name of more than thirty-one characters".to_owned()
    } else {
        draw_name(random)
    };
    world.say(format!("vlmeta_exists, vlmeta_get {name:?}"));
    let exists = world.same("vlmeta_exists", |side| side.vlmeta_exists(&name))?;
    let found = world.same("vlmeta_get", |side| side.vlmeta_get(side.schunk, &name))?;
    let right = match position(&world.vlmetalayers, &name) {
        Some(at) => (at as i32, Bytes(world.vlmetalayers[at].1.clone())),
        None if name.as_bytes().len() > 31 => (-12, Bytes(Vec::new())),
        None => (-16, Bytes(Vec::new())),
    };
    if exists == right.0 && found == right {
        return Ok(Touched::None);
    }
    Err(wrong!("vlmeta_exists gives {exists}, vlmeta_get {found:?}, have to give {right:?}"))
}

pub fn vlmeta_delete(world: &mut World, random: &mut Random) -> Done<Touched> {
    let name = draw_name(random);
    world.say(format!("vlmeta_delete {name:?}"));
    let rc = world.same("vlmeta_delete", |side| side.vlmeta_delete(&name))?;
    let right = match position(&world.vlmetalayers, &name) {
        Some(at) => {
            world.vlmetalayers.remove(at);
            world.changed();
            world.vlmetalayers.len() as i32
        }
        None => -16,
    };
    if rc == right { Ok(Touched::None) } else { Err(wrong!("vlmeta_delete gives {rc}, has to give {right}")) }
}
