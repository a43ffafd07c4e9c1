//! Stores of python-blosc2 (`TreeStore`, `DictStore`, `EmbedStore`), whose members are addressed as `store.b2z/group/array`.
//!
//! A `.b2d` is a directory of frames. A `.b2z` is a zip file of them, whose entries are not compressed. A `.b2e` is a frame
//! whose content is other frames, with an index in a metalayer; it is also in the others, for small members.

mod embedded;
mod member;
mod zip;

pub(crate) use embedded::extract as extract_embedded;
pub(crate) use member::{Member, Place};

use crate::error::{Failure, WithPath};
use crate::remote;
use member::key_of;
use std::fs;
use std::path::Path;

/// The extensions of stores.
const EXTENSIONS: [&str; 3] = ["b2z", "b2d", "b2e"];

/// Returns whether the path is that of a store.
pub(crate) fn is_store(path: &Path) -> bool {
    match extension(path) {
        // The files of a directory behind a URL are not listed.
        Some("b2d") => path.is_dir(),
        Some(_) => path.is_file() || remote::is_url(path),
        None => false,
    }
}

fn extension(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?;
    EXTENSIONS.into_iter().find(|known| extension == *known)
}

/// Returns the members of a store, sorted by name.
///
/// # Errors
/// Parts of the store that are not supported.
pub(crate) fn members(store: &Path) -> Result<Vec<Member>, Failure> {
    let mut members = match extension(store) {
        Some("b2d") => directory_members(store)?,
        Some("b2z") => zip::members(store)?,
        _ => embedded::members(store, 0)?,
    };
    members.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(members)
}

/// Returns the place of the member that a path names, for example `store.b2z/group/array`; `None` for a path outside
/// stores, and for one that exists.
pub(crate) fn find(path: &Path) -> Result<Option<Place>, Failure> {
    if !remote::is_url(path) && path.exists() {
        return Ok(None);
    }
    let Some(store) = path.ancestors().skip(1).find(|ancestor| is_store(ancestor)) else { return Ok(None) };
    let rest = path.strip_prefix(store).unwrap_or(path);
    let parts: Vec<_> = rest.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let key = format!("/{}", parts.join("/"));
    let members = members(store)?;
    if let Some(member) = members.iter().find(|member| member.key == key) {
        return Ok(Some(member.place.clone()));
    }
    let in_group = members.iter().filter(|member| member.key.starts_with(&format!("{key}/")));
    let message = match in_group.count() {
        0 => {
            format!("no member {key}, expected one of the {} that `blosc2 info --tree` lists", members.len())
        }
        count => format!("a group of {count} members, expected one of them"),
    };
    Err(Failure::file(path, message))
}

fn directory_members(store: &Path) -> Result<Vec<Member>, Failure> {
    let mut members = Vec::new();
    let mut pending = vec![store.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).with_path(&directory)? {
            let path = entry.with_path(&directory)?.path();
            let name = path.strip_prefix(store).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            // The directory of a sparse frame is a member itself.
            if path.is_dir() && key_of(&name, store).is_err() {
                pending.push(path);
                continue;
            }
            match key_of(&name, store)? {
                Some(key) => members.push(Member { key, place: Place::File(path) }),
                None => members.extend(embedded::members(&path, 0)?),
            }
        }
    }
    Ok(members)
}
