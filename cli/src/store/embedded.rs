//! Frames in the content of a frame.

use super::member::{Member, Place};
use crate::error::{Failure, WithPath};
use crate::msgpack::decode;
use crate::source::open_super_chunk;
use blosc2::SuperChunk;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// The metalayers that python-blosc2 gives a store, with the version of its format.
const STORE_METALAYERS: [&str; 3] = ["b2embed", "b2dict", "b2tree"];
/// The version of the format that is read.
const VERSION: u64 = 1;
/// The metalayer with the index.
const INDEX_METALAYER: &str = "estore_metadata";

fn open(store: &Path, offset: u64) -> Result<SuperChunk, Failure> {
    open_super_chunk(store, offset, 1).with_path(store)
}

/// Returns the members of the store at an offset of a file.
pub(super) fn members(store: &Path, offset: u64) -> Result<Vec<Member>, Failure> {
    let schunk = open(store, offset)?;
    let layers = schunk.metalayers();
    let known = layers.fixed_names().into_iter().find(|name| STORE_METALAYERS.contains(&name.as_str()));
    let content = known.and_then(|name| layers.fixed(&name).ok().flatten());
    let version = content.and_then(|content| decode(&content)?.get("version")?.as_u64());
    if version != Some(VERSION) {
        let found = version.map_or("of no known kind".to_owned(), |version| format!("of version {version}"));
        return Err(Failure::file(
            store,
            format!("a store {found}, expected version {VERSION} of python-blosc2"),
        ));
    }
    let invalid = || Failure::file(store, "the index of the store is not valid");
    let Some(index) = layers.variable(INDEX_METALAYER).with_path(store)? else { return Ok(Vec::new()) };
    let index = decode(&index).ok_or_else(invalid)?;
    let map = index.get("embed_map").and_then(Value::as_object).ok_or_else(invalid)?;
    let member = |(key, entry): (&String, &Value)| {
        let number = |name| entry.get(name).and_then(Value::as_u64);
        let (Some(start), Some(len)) = (number("offset"), number("length")) else {
            return Err(Failure::file(
                store,
                format!("member {key} is not supported, expected a frame in the store"),
            ));
        };
        let range = start..start.checked_add(len).ok_or_else(invalid)?;
        Ok(Member { key: key.clone(), place: Place::Embedded(store.to_owned(), offset, range) })
    };
    map.iter().map(member).collect()
}

/// Writes the frame in a range of the content of the store at an offset of a file to a new file.
pub(crate) fn extract(store: &Path, offset: u64, range: &Range<u64>, path: &Path) -> Result<(), Failure> {
    let schunk = open(store, offset)?;
    let nbytes = schunk.nbytes();
    if range.end > nbytes {
        return Err(Failure::file(store, format!("a member at bytes {range:?}, expected at most {nbytes}")));
    }
    let mut reader = schunk.reader();
    reader.seek(SeekFrom::Start(range.start)).with_path(store)?;
    let mut new = File::create_new(path).with_path(path)?;
    io::copy(&mut reader.take(range.end - range.start), &mut new).map(drop).with_path(store)
}
