//! Variable-length metalayers: sequences of calls, compared with a map, and frames whose trailers are arbitrary bytes.

#![no_main]

use std::collections::BTreeMap;

use libblosc2_fuzz::fields::FRAME_LEN;
use libblosc2_fuzz::support::calls::Params;
use libblosc2_fuzz::support::random::Random;
use libblosc2_fuzz::support::super_chunk::{Store, SuperChunk};
use libblosc2_fuzz::{container, library, split};
use libfuzzer_sys::fuzz_target;

/// Upper limit for variable-length metalayers in a frame that the library writes (frame.md 7).
const MOST: usize = 16;
/// Upper limit for a name in bytes.
const LONGEST_NAME: usize = 31;
/// `BLOSC2_ERROR_NOT_FOUND`
const NOT_FOUND: i32 = -16;
/// Upper limit in bytes for content that the target reads: a chunk of 32 bytes may claim any size.
const MODEST: i32 = 1 << 20;

/// Reads all names and contents twice; both reads must return the same.
fn read(schunk: &SuperChunk) {
    let names = schunk.vlmeta_names();
    let raw = schunk.raw_vlmetas();
    assert_eq!(names.len(), raw.len());
    for (name, (_, content)) in names.iter().zip(raw) {
        let claimed =
            content.get(4..8).map_or(0, |field| i32::from_le_bytes(field.try_into().expect("four bytes")));
        if claimed <= MODEST {
            let found = schunk.vlmeta_get_c(name);
            assert!(found == schunk.vlmeta_get_c(name), "two reads of {name:?} differ");
        }
    }
    let _ = schunk.vlmeta_get("absent");
}

/// Returns an empty valid frame with the trailer `trailer`, followed by the 23 bytes that hold its length and fingerprint.
fn with_trailer(trailer: &[u8]) -> Vec<u8> {
    let schunk = SuperChunk::create(library(), Store::MemoryFrame, &container::path(), &Params::default());
    let mut frame = schunk.to_buffer().expect("a frame");
    let len = frame.len();
    // An empty trailer has 35 bytes; its last 23 are its length and a fingerprint.
    let end = frame.split_off(len - 23);
    frame.truncate(len - 35);
    frame.extend(trailer);
    frame.extend(end);
    let len = frame.len();
    frame[len - 22..len - 18].copy_from_slice(&(trailer.len() as u32 + 23).to_be_bytes());
    FRAME_LEN.set(&mut frame, len as i64);
    frame
}

fn open_trailer(trailer: &[u8], random: &mut Random) {
    let mut frame = with_trailer(trailer);
    if random.one_in(4) {
        let path = container::path();
        std::fs::write(&path, &frame).expect("a file");
        if let Some(schunk) = SuperChunk::open(library(), &path) {
            read(&schunk);
            schunk.vlmeta_add("new", trailer);
            read(&schunk);
        }
        container::remove(&path);
    } else if let Some(schunk) = SuperChunk::from_copy(library(), &mut frame) {
        read(&schunk);
        let _ = schunk.vlmeta_delete("short");
        let _ = schunk.vlmeta_update("longer", b"another");
        read(&schunk);
    }
}

/// The names and contents that were stored: the expected state.
type Model = BTreeMap<String, Vec<u8>>;

#[track_caller]
fn assert_holds(schunk: &SuperChunk, model: &Model) {
    assert_eq!(schunk.vlmeta_names().len(), model.len());
    for (name, content) in model {
        assert!(schunk.vlmeta_exists(name) >= 0, "{name} is missing");
        let found = schunk.vlmeta_get(name);
        assert!(found.as_ref() == Ok(content), "{name}: {:?}", found.err());
    }
}

fn step(schunk: &SuperChunk, model: &mut Model, data: &mut &[u8], random: &mut Random) {
    let take = |data: &mut &[u8], len: usize| {
        let (head, rest) = data.split_at(len.min(data.len()));
        *data = rest;
        head.to_vec()
    };
    let longest = if random.one_in(10) { 40 } else { 3 };
    let len = random.below(longest);
    // A name may have any bytes except NUL; letters are enough for the comparison.
    let name: String = take(data, len).iter().map(|byte| char::from(b'a' + byte % 26)).collect();
    let longest = if random.one_in(10) { 5000 } else { 60 };
    let len = random.below(longest);
    let mut content = take(data, len);
    if random.one_in(10) {
        content = content.repeat(50);
    }
    let valid = name.len() <= LONGEST_NAME;
    match random.below(5) {
        0..=1 => {
            let rc = schunk.vlmeta_add(&name, &content);
            let fits = valid && !model.contains_key(&name) && model.len() < MOST;
            assert_eq!(rc >= 0, fits, "add {name:?}, {} bytes: {rc}", content.len());
            if fits {
                model.insert(name, content);
            }
        }
        2 => {
            let rc = schunk.vlmeta_update(&name, &content);
            assert_eq!(rc >= 0, model.contains_key(&name), "update {name:?}, {} bytes: {rc}", content.len());
            if let Some(stored) = model.get_mut(&name) {
                *stored = content;
            }
        }
        3 => {
            let rc = schunk.vlmeta_delete(&name);
            assert_eq!(rc >= 0, model.remove(&name).is_some(), "delete {name:?}: {rc}");
        }
        _ => {
            let found = schunk.vlmeta_get(&name);
            let absent = if valid { found == Err(NOT_FOUND) } else { found.is_err() };
            assert!(model.contains_key(&name) || absent, "get {name:?}: {found:?}");
        }
    }
}

fn sequence(mut data: &[u8], random: &mut Random) {
    let store =
        *random.pick(&[Store::Memory, Store::MemoryFrame, Store::MemoryFrame, Store::File, Store::Directory]);
    let path = container::path();
    let schunk = SuperChunk::create(library(), store, &path, &Params { typesize: 1, ..Params::default() });
    let mut model = Model::new();
    for number in 0..1 + random.below(30) {
        step(&schunk, &mut model, &mut data, random);
        if random.one_in(8) {
            schunk.append(&data[..data.len().min(100)]).ok();
        }
        if number % 8 == 0 {
            assert_holds(&schunk, &model);
        }
    }
    assert_holds(&schunk, &model);
    if store != Store::Memory {
        let mut frame = schunk.to_buffer().expect("a frame");
        assert_holds(&SuperChunk::from_copy(library(), &mut frame).expect("a super-chunk"), &model);
    }
    drop(schunk);
    if store.on_disk() {
        assert_holds(&SuperChunk::open(library(), &path).expect("a super-chunk"), &model);
        container::remove(&path);
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((data, mut random)) = split(input) else { return };
    if random.one_in(2) { open_trailer(data, &mut random) } else { sequence(data, &mut random) }
});
