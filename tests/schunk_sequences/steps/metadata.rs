//! Steps on metalayers, fixed and of variable length (schunk.md 17, 18).

use std::ffi::{CStr, CString};

use crate::chunks;
use crate::known_defects::SchunkDefect;
use crate::sequence_state::{ChangedChunks, SequenceState, StepEnd, StepResult, wrong};
use crate::setup::{Backend, draw_params};
use crate::support::byte_messages::DebugBytes;
use crate::support::calls::Params;
use crate::support::data::Data;
use crate::support::random::Random;

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

pub fn meta_add(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    if state.store.has_frame() && (state.model.len() > 0 || state.reference().cbytes() > 0) {
        return Err(StepEnd::Skip(SchunkDefect::MetaAddAfterData));
    }
    let (name, content) = (draw_name(random), draw_content(random, 3000));
    state.record(format!("meta_add {name:?} of {} bytes", content.len()));
    let rc = state.call_both("meta_add", |side| side.meta_add(&name, &content))?;
    let right = match position(&state.metalayers, &name) {
        Some(_) => -12,
        None => {
            state.metalayers.push((name, content));
            state.mark_changed();
            state.metalayers.len() as i32 - 1
        }
    };
    if rc == right {
        Ok(ChangedChunks::None)
    } else {
        Err(wrong!("meta_add gives {rc}, has to give {right}"))
    }
}

pub fn meta_update(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let name = match state.metalayers.len() {
        0 => draw_name(random),
        count if random.one_in(8) => state.metalayers[random.below(count)].0.clone(),
        _ => draw_name(random),
    };
    let found = position(&state.metalayers, &name);
    let old = found.map_or(0, |at| state.metalayers[at].1.len());
    let len = match random.below(4) {
        0 => old + 1 + random.below(20),
        1 => random.below(old + 1),
        _ => old,
    };
    let content = random.bytes(len);
    state.record(format!("meta_update {name:?} of {old} bytes with {len}"));
    let rc = state.call_both("meta_update", |side| side.meta_update(&name, &content))?;
    let right = found.map_or(-16, |at| at as i32);
    if let (Some(at), true) = (found, len <= old) {
        state.metalayers[at].1[..len].copy_from_slice(&content);
        state.mark_changed();
    }
    state.counter_unknown |= state.backend == Backend::Locking;
    if rc == right {
        Ok(ChangedChunks::None)
    } else {
        Err(wrong!("meta_update gives {rc}, has to give {right}"))
    }
}

/// Draws parameters for the content, or the defaults of the library.
fn draw_content_params(random: &mut Random) -> Option<Params> {
    let params = match random.below(4) {
        0 => draw_params(random, 1),
        1 => Params { codec: *random.pick(&[1, 4, 5]), ..chunks::default_params(*random.pick(&[1, 4])) },
        _ => return None,
    };
    // Valid for any length (`support::known_defects`).
    Some(Params {
        use_dict: false,
        filters: [0, 0, 0, 0, 0, 1],
        filters_meta: [0; 6],
        blocksize: 0,
        ..params
    })
}

pub fn vlmeta_add(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let (name, content) = (draw_name(random), draw_content(random, 9000));
    let params = draw_content_params(random);
    state.record(format!("vlmeta_add {name:?} of {} bytes with {params:?}", content.len()));
    let rc = state
        .call_both("vlmeta_add", |side| side.vlmeta_add_or_update(false, &name, &content, params.as_ref()))?;
    let right = match position(&state.vlmetalayers, &name) {
        Some(_) => -12,
        None => {
            state.vlmetalayers.push((name, content));
            state.mark_changed();
            state.vlmetalayers.len() as i32 - 1
        }
    };
    if rc == right {
        Ok(ChangedChunks::None)
    } else {
        Err(wrong!("vlmeta_add gives {rc}, has to give {right}"))
    }
}

pub fn vlmeta_update(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let (name, content) = (draw_name(random), draw_content(random, 9000));
    let params = draw_content_params(random);
    state.record(format!("vlmeta_update {name:?} with {} bytes with {params:?}", content.len()));
    let rc = state.call_both("vlmeta_update", |side| {
        side.vlmeta_add_or_update(true, &name, &content, params.as_ref())
    })?;
    let found = position(&state.vlmetalayers, &name);
    if let Some(at) = found {
        state.vlmetalayers[at].1 = content;
        state.mark_changed();
    }
    let right = found.map_or(-16, |at| at as i32);
    if rc == right {
        Ok(ChangedChunks::None)
    } else {
        Err(wrong!("vlmeta_update gives {rc}, has to give {right}"))
    }
}

pub fn vlmeta_get(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let name = if random.one_in(8) {
        c"a name of more than thirty-one characters".to_owned()
    } else {
        draw_name(random)
    };
    state.record(format!("vlmeta_exists, vlmeta_get {name:?}"));
    let exists = state.call_both("vlmeta_exists", |side| side.vlmeta_exists(&name))?;
    let found = state.call_both("vlmeta_get", |side| side.vlmeta_get(side.schunk, &name))?;
    let right = match position(&state.vlmetalayers, &name) {
        Some(at) => (at as i32, DebugBytes(state.vlmetalayers[at].1.clone())),
        None if name.as_bytes().len() > 31 => (-12, DebugBytes(Vec::new())),
        None => (-16, DebugBytes(Vec::new())),
    };
    if exists == right.0 && found == right {
        return Ok(ChangedChunks::None);
    }
    Err(wrong!("vlmeta_exists gives {exists}, vlmeta_get {found:?}, have to give {right:?}"))
}

pub fn vlmeta_delete(state: &mut SequenceState, random: &mut Random) -> StepResult<ChangedChunks> {
    let name = draw_name(random);
    state.record(format!("vlmeta_delete {name:?}"));
    let rc = state.call_both("vlmeta_delete", |side| side.vlmeta_delete(&name))?;
    let right = match position(&state.vlmetalayers, &name) {
        Some(at) => {
            state.vlmetalayers.remove(at);
            state.mark_changed();
            state.vlmetalayers.len() as i32
        }
        None => -16,
    };
    if rc == right {
        Ok(ChangedChunks::None)
    } else {
        Err(wrong!("vlmeta_delete gives {rc}, has to give {right}"))
    }
}
