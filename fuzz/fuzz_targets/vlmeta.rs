//! Variable-length metalayers: sequences of calls, compared with a map, and frames whose trailers are arbitrary bytes.

#![no_main]

use std::collections::BTreeMap;

use libblosc2_fuzz::fields::FRAME_LEN;
use libblosc2_fuzz::support::calls::Params;
use libblosc2_fuzz::support::random::Random;
use libblosc2_fuzz::support::super_chunk::{Store, SuperChunk};
use libblosc2_fuzz::{container, library, split_seed};
use libfuzzer_sys::fuzz_target;

/// Upper limit for variable-length metalayers in a frame that the library writes (frame.md 7).
const MAX_VLMETALAYERS: usize = 16;
/// Upper limit for a name in bytes.
const MAX_NAME_LEN: usize = 31;
/// `BLOSC2_ERROR_NOT_FOUND`
const NOT_FOUND: i32 = -16;
/// Upper limit in bytes for content that the target reads: a chunk of 32 bytes may claim any size.
const MAX_CONTENT_LEN: i32 = 1 << 20;

/// Reads all names and contents twice; both reads must return the same.
fn check_reads(schunk: &SuperChunk) {
    let names = schunk.vlmeta_names();
    let raw = schunk.raw_vlmetalayers();
    assert_eq!(names.len(), raw.len());
    for (name, (_, content)) in names.iter().zip(raw) {
        let claimed =
            content.get(4..8).map_or(0, |field| i32::from_le_bytes(field.try_into().expect("four bytes")));
        if claimed <= MAX_CONTENT_LEN {
            let found = schunk.vlmeta_get_c(name);
            assert!(found == schunk.vlmeta_get_c(name), "two reads of {name:?} differ");
        }
    }
    let _ = schunk.vlmeta_get("absent");
}

/// Returns an empty valid frame with the trailer `trailer`, followed by the 23 bytes that hold its length and
/// fingerprint.
fn frame_with_trailer(trailer: &[u8]) -> Vec<u8> {
    let schunk =
        SuperChunk::create(library(), Store::MemoryFrame, &container::scratch_path(), &Params::default());
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
    let mut frame = frame_with_trailer(trailer);
    if random.one_in(4) {
        let path = container::scratch_path();
        std::fs::write(&path, &frame).expect("a file");
        if let Some(schunk) = SuperChunk::open(library(), &path) {
            check_reads(&schunk);
            schunk.vlmeta_add("new", trailer);
            check_reads(&schunk);
        }
        container::remove(&path);
    } else if let Some(schunk) = SuperChunk::from_frame_copy(library(), &mut frame) {
        check_reads(&schunk);
        let _ = schunk.vlmeta_delete("short");
        let _ = schunk.vlmeta_update("longer", b"another");
        check_reads(&schunk);
    }
}

/// The names and contents that were stored: the expected state.
type Model = BTreeMap<String, Vec<u8>>;

#[track_caller]
fn assert_has_vlmetalayers(schunk: &SuperChunk, model: &Model) {
    assert_eq!(schunk.vlmeta_names().len(), model.len());
    for (name, content) in model {
        assert!(schunk.vlmeta_exists(name) >= 0, "{name} is missing");
        let found = schunk.vlmeta_get(name);
        assert!(found.as_ref() == Ok(content), "{name}: {:?}", found.err());
    }
}

fn run_step(schunk: &SuperChunk, model: &mut Model, data: &mut &[u8], random: &mut Random) {
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
    let valid = name.len() <= MAX_NAME_LEN;
    match random.below(5) {
        0..=1 => {
            let rc = schunk.vlmeta_add(&name, &content);
            let fits = valid && !model.contains_key(&name) && model.len() < MAX_VLMETALAYERS;
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

fn run_sequence(mut data: &[u8], random: &mut Random) {
    let store =
        *random.pick(&[Store::Memory, Store::MemoryFrame, Store::MemoryFrame, Store::File, Store::Directory]);
    let path = container::scratch_path();
    let schunk = SuperChunk::create(library(), store, &path, &Params { typesize: 1, ..Params::default() });
    let mut model = Model::new();
    for number in 0..1 + random.below(30) {
        run_step(&schunk, &mut model, &mut data, random);
        if random.one_in(8) {
            schunk.append(&data[..data.len().min(100)]).ok();
        }
        if number % 8 == 0 {
            assert_has_vlmetalayers(&schunk, &model);
        }
    }
    assert_has_vlmetalayers(&schunk, &model);
    if store != Store::Memory {
        let mut frame = schunk.to_buffer().expect("a frame");
        assert_has_vlmetalayers(
            &SuperChunk::from_frame_copy(library(), &mut frame).expect("a super-chunk"),
            &model,
        );
    }
    drop(schunk);
    if store.is_on_disk() {
        assert_has_vlmetalayers(&SuperChunk::open(library(), &path).expect("a super-chunk"), &model);
        container::remove(&path);
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((data, mut random)) = split_seed(input) else { return };
    if random.one_in(2) { open_trailer(data, &mut random) } else { run_sequence(data, &mut random) }
});
