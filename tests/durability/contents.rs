//! What a library reads from the files of a frame.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::array::Array;
use crate::support::library::Library;
use crate::support::super_chunk::SuperChunk;

/// What the files hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    SuperChunk,
    Array,
    /// Two super-chunks in one file, of which the second one is changed.
    SecondFrame,
}

impl Form {
    pub const ALL: [Form; 3] = [Form::SuperChunk, Form::Array, Form::SecondFrame];
}

/// Bytes, or the error code of reading them.
type Content = Result<Vec<u8>, i32>;

/// A metalayer: name and content.
type Metalayer = (Vec<u8>, Content);

/// The data that a library reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// The shape of an array; empty for a super-chunk.
    pub shape: Vec<i64>,
    /// The items of an array; empty for a super-chunk.
    pub items: Content,
    pub chunks: Vec<Content>,
    pub metalayers: Vec<Metalayer>,
    pub vlmetalayers: Vec<Metalayer>,
    /// The chunks of the first frame of the file, which the change of the second frame must not touch.
    pub first_frame: Vec<Content>,
}

impl Contents {
    /// Reads everything; `None` when the files cannot be opened.
    pub fn read(library: &'static Library, path: &Path, form: Form) -> Option<Contents> {
        match form {
            Form::SuperChunk => Some(Contents::of_super_chunk(&SuperChunk::open(library, path)?)),
            Form::Array => Some(Contents::of_array(&Array::open(library, path).1?)),
            Form::SecondFrame => {
                let second = SuperChunk::open_offset(library, path, second_frame_offset(path)?)?;
                let contents = Contents::of_super_chunk(&second);
                let first_frame = chunks(&SuperChunk::open(library, path)?);
                Some(Contents { first_frame, ..contents })
            }
        }
    }

    /// Reads everything from an open array.
    pub fn of_array(array: &Array) -> Contents {
        let contents = Contents::of_super_chunk(&array.schunk());
        Contents { shape: array.shape().to_vec(), items: array.to_cbuffer(), ..contents }
    }

    /// Reads everything from an open super-chunk.
    pub fn of_super_chunk(schunk: &SuperChunk) -> Contents {
        let name_of = |layer: (Vec<u8>, Vec<u8>)| String::from_utf8_lossy(&layer.0).into_owned();
        let vlmetalayers = schunk.raw_vlmetalayers().into_iter().map(name_of);
        Contents {
            shape: Vec::new(),
            items: Ok(Vec::new()),
            chunks: chunks(schunk),
            metalayers: schunk.metalayers().into_iter().map(|(name, bytes)| (name, Ok(bytes))).collect(),
            vlmetalayers: vlmetalayers
                .map(|name| {
                    let content = schunk.vlmeta_get(&name);
                    (name.into_bytes(), content)
                })
                .collect(),
            first_frame: Vec::new(),
        }
    }

    /// Returns a description for messages: the shape, the number of chunks, and the first chunk that cannot be read.
    pub fn summary(&self) -> String {
        let shape = &self.shape;
        let error = self.chunks.iter().enumerate().find_map(|(at, chunk)| Some((at, chunk.as_ref().err()?)));
        let error = error.map_or(String::new(), |(at, code)| format!(", chunk {at} gives {code}"));
        format!("shape {shape:?}, {} chunks{error}", self.chunks.len())
    }

    /// Returns whether a chunk is read with success that is in none of the states at the same position.
    pub fn has_wrong_chunk(&self, states: &[&Contents]) -> bool {
        self.chunks.iter().enumerate().any(|(at, content)| {
            let is_known = |state: &&Contents| state.chunks.get(at).is_some_and(|known| known == content);
            content.is_ok() && !states.iter().any(is_known)
        })
    }
}

fn chunks(schunk: &SuperChunk) -> Vec<Content> {
    (0..schunk.nchunks()).map(|nchunk| schunk.decompress(nchunk)).collect()
}

/// Returns the length of the first frame in a file, from its header (frame.md 1).
pub fn second_frame_offset(path: &Path) -> Option<i64> {
    let bytes = fs::read(path).ok()?;
    Some(i64::from_be_bytes(bytes.get(16..24)?.try_into().ok()?))
}

/// Returns the path of the file or directory that an operation creates beside the one at `path`.
pub fn target_of(path: &Path) -> PathBuf {
    path.with_extension("target")
}

/// What a library reads from the files of an operation; `None` for files that it cannot open.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub frame: Option<Contents>,
    /// The file or the directory that the operation creates.
    pub target: Target,
}

/// What a library finds at a path that an operation gives to a new file or directory.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    Absent,
    /// Something is there, and the library cannot open it.
    Unreadable,
    Readable(Contents),
}

/// How well the contents of files match a state that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The state before the change.
    Old,
    /// The state after the change.
    New,
    /// Parts of several states, or errors; every chunk that can be read is a chunk of one of the states.
    Mixed,
    /// The files cannot be opened.
    Unreadable,
    /// A chunk is read with success that is in none of the states.
    Wrong,
}

impl State {
    pub fn read(library: &'static Library, path: &Path, form: Form) -> State {
        let target = target_of(path);
        State {
            frame: Contents::read(library, path, form),
            target: match Contents::read(library, &target, form) {
                _ if !target.exists() => Target::Absent,
                None => Target::Unreadable,
                Some(contents) => Target::Readable(contents),
            },
        }
    }

    /// Compares with the states before and after an operation.
    pub fn compare(&self, before: &State, after: &State) -> Outcome {
        if self == after {
            return Outcome::New;
        }
        if self == before {
            return Outcome::Old;
        }
        let frame = compare_part(self.frame.as_ref(), before.frame.as_ref(), after.frame.as_ref());
        let target = match &self.target {
            Target::Absent => Outcome::Old,
            Target::Unreadable => Outcome::Unreadable,
            Target::Readable(_) => compare_part(self.target(), before.target(), after.target()),
        };
        frame.max(target).max(Outcome::Mixed)
    }

    fn target(&self) -> Option<&Contents> {
        match &self.target {
            Target::Readable(contents) => Some(contents),
            Target::Absent | Target::Unreadable => None,
        }
    }
}

/// Compares files, which are in neither state, with both states.
fn compare_part(found: Option<&Contents>, before: Option<&Contents>, after: Option<&Contents>) -> Outcome {
    match found {
        None if before.is_some() => Outcome::Unreadable,
        None => Outcome::Old,
        Some(found) => {
            let states: Vec<&Contents> = [before, after].into_iter().flatten().collect();
            if found.has_wrong_chunk(&states) { Outcome::Wrong } else { Outcome::Mixed }
        }
    }
}
