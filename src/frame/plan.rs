//! The plan of a change to a frame: the images of its parts and their offsets (`frame.md` 2).
//!
//! This module does no I/O: a plan is computed from the layout of the frame and the change; [`super::writer`] executes
//! it.

use super::FrameKind;
use super::header::{FIXED_LEN, FrameHeader};
use super::index::{IndexEncoder, Offsets, Place, code_of, encode_special};
use super::metalayers::{Metalayer, section_len};
use super::trailer;
use crate::chunk::Special;
use crate::err;
use crate::error::Result;

/// A chunk as a frame stores it.
#[derive(Clone, Copy)]
pub(crate) enum Payload<'a> {
    /// The bytes of the chunk, stored unchanged.
    Bytes(&'a [u8]),
    /// A special chunk, which is stored in its index entry only.
    Special(Special),
}

impl Payload<'_> {
    /// Returns the number of bytes in the data section or the chunk file.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Payload::Bytes(bytes) => bytes.len() as u64,
            Payload::Special(_) => 0,
        }
    }
}

/// A change of a frame.
pub(crate) enum Change<'a> {
    /// Inserts a chunk before the current chunk `at`, or at the end.
    Insert {
        /// Index of the new chunk.
        at: usize,
        /// The chunk.
        chunk: Payload<'a>,
    },
    /// Replaces a chunk.
    Update {
        /// Index of the chunk.
        at: usize,
        /// The new chunk.
        chunk: Payload<'a>,
        /// Size of the old chunk in the data section, in bytes.
        old_len: u64,
    },
    /// Deletes a chunk.
    Delete {
        /// Index of the chunk.
        at: usize,
    },
    /// Reorders the chunks: old chunk `order[i]` becomes chunk `i`.
    Reorder {
        /// A permutation of all chunk indexes.
        order: &'a [i64],
    },
    /// Fills a frame without chunks with special chunks.
    Fill {
        /// The kind of all chunks.
        special: Special,
        /// Number of chunks.
        nchunks: usize,
    },
    /// Replaces the metalayers of variable length.
    Vlmetalayers,
    /// Replaces the contents of metalayers by contents of the same lengths.
    MetalayerContents,
    /// Adds a metalayer to a frame without chunks.
    Metalayers,
}

/// The offsets and lengths, in bytes, of the parts of a contiguous frame, or of the index file of a sparse frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Contiguous or sparse.
    pub kind: FrameKind,
    /// Length of the header.
    pub header_len: u64,
    /// Size of the data section, or of all chunk files.
    pub cbytes: u64,
    /// Length of the frame.
    pub frame_len: u64,
    /// Length of the trailer.
    pub trailer_len: u64,
}

impl Layout {
    /// Returns the offset of the index chunk in bytes.
    pub(crate) fn index_at(&self) -> u64 {
        match self.kind {
            FrameKind::Contiguous => self.header_len + self.cbytes,
            FrameKind::Sparse => self.header_len,
        }
    }
}

/// The contents of a frame file before a change, except the chunks.
#[derive(Default)]
pub(crate) struct Images {
    /// The header.
    pub header: Vec<u8>,
    /// The index chunk; empty for a frame without chunks.
    pub index: Vec<u8>,
    /// The trailer.
    pub trailer: Vec<u8>,
}

/// A move of bytes inside the data section. Offsets count from the start of the frame, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    /// Old offset.
    pub from: u64,
    /// New offset.
    pub to: u64,
    /// Number of bytes.
    pub len: u64,
}

/// A chunk of a sparse frame, which is stored in its own file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkFile<'a> {
    /// The number that the file name is made of.
    pub number: u64,
    /// The chunk.
    pub bytes: &'a [u8],
    /// Whether an index entry refers to the number before the change, so that the file is overwritten.
    pub replaces: bool,
}

/// The writes of a change, in this order: chunk file, moved bytes, payload, index, header, trailer. After them the
/// frame is truncated to `frame_len`, and superseded chunk files are removed.
pub(crate) struct Plan<'a> {
    /// A chunk file (sparse frames).
    pub chunk_file: Option<ChunkFile<'a>>,
    /// The number of a chunk file that is no longer referenced, and whether it is removed before the index is written.
    pub removed_file: Option<(u64, bool)>,
    /// The move that makes room for a longer chunk or closes the gap behind a shorter one.
    pub moved: Option<Move>,
    /// Offset and bytes of a chunk in the data section; `None` for a special chunk.
    pub payload: Option<(u64, &'a [u8])>,
    /// Offset and bytes of the index chunk.
    pub index: Option<(u64, Vec<u8>)>,
    /// The header.
    pub header: Vec<u8>,
    /// The trailer.
    pub trailer: Option<(u64, Vec<u8>)>,
    /// The layout of the frame after the change.
    pub layout: Layout,
}

/// The state of a frame after a change, from which its images are built.
pub(crate) struct FrameState<'a> {
    /// The header; [`plan`] computes its lengths.
    pub header: FrameHeader,
    /// The metalayers.
    pub metalayers: &'a [Metalayer<'a>],
    /// The metalayers of variable length.
    pub vlmetalayers: &'a [Metalayer<'a>],
}

/// The places of the chunks of a frame, and the state of the encoder that writes them.
#[derive(Default)]
pub(crate) struct Index {
    /// One entry for each chunk.
    pub offsets: Offsets,
    /// The encoder, which keeps the compressed blocks of the last index image.
    pub encoder: IndexEncoder,
    /// The cached result of [`Offsets::max_number`]; `None` while it is not known.
    highest: Option<i64>,
}

/// The information that reverts the change that [`plan`] made to an index.
pub(crate) enum Undo {
    /// The index is unchanged.
    Nothing,
    /// An entry was inserted at this position.
    Inserted(usize),
    /// This entry was removed: its position and its value.
    Removed(usize, i64),
    /// These are all old entries.
    All(Offsets),
}

impl Index {
    /// Replaces the index after the frame was read again.
    pub(crate) fn replace(&mut self, offsets: Offsets) {
        self.offsets = offsets;
        self.encoder.forget();
        self.highest = None;
    }

    /// Reverts the change that [`plan`] made.
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub(crate) fn undo(&mut self, undo: Undo) -> Result<()> {
        self.encoder.forget();
        self.highest = None;
        match undo {
            Undo::Nothing => Ok(()),
            Undo::Inserted(at) => self.offsets.remove(at).map(|_| ()),
            Undo::Removed(at, code) => self.offsets.insert(at, code),
            Undo::All(offsets) => {
                self.offsets = offsets;
                Ok(())
            }
        }
    }

    /// Inserts an entry and updates `highest`.
    fn insert(&mut self, at: usize, code: i64) -> Result<()> {
        self.offsets.insert(at, code)?;
        self.highest = self.highest.map(|highest| highest.max(code));
        Ok(())
    }

    fn code(&self, at: usize) -> Result<i64> {
        self.offsets
            .get(at)
            .ok_or_else(|| err!(InvalidParam, "no chunk {at} in a frame of {} chunks", self.offsets.len()))
    }

    /// Returns a number for a new chunk file: the highest number plus one, as in the reference, but at most `cbytes -
    /// 32`, since the reference does not open a directory with a larger number (`frame.md` 9). Above that limit,
    /// returns the lowest free number.
    fn next_number(&mut self, cbytes: u64) -> Result<u64> {
        let highest = *self.highest.get_or_insert_with(|| self.offsets.max_number());
        let next = u64::try_from(highest).map_or(0, |highest| highest + 1);
        if next <= cbytes.saturating_sub(32) { Ok(next) } else { self.offsets.lowest_free_number() }
    }
}

/// Plans `change` for a frame with that layout and index. The index is changed at once; the second result reverts that.
///
/// # Errors
/// `Data` for an order that is no permutation, `InvalidHeader` for a chunk that does not lie in the data section,
/// `FileWrite` when no number is left for a chunk file, and the errors of building the images. The index is unchanged
/// then.
pub(crate) fn plan<'a>(
    layout: &Layout,
    index: &mut Index,
    change: &Change<'a>,
    target: &FrameState<'_>,
) -> Result<(Plan<'a>, Undo)> {
    let (undo, result) = match edit(layout, index, change, target) {
        Ok((edited, undo)) => (undo, images(layout, index, change, target, edited)),
        Err(error) => return Err(error),
    };
    match result {
        Ok(plan) => Ok((plan, undo)),
        Err(error) => {
            index.undo(undo)?;
            Err(error)
        }
    }
}

/// The changed part of the index, and the writes to the data section.
struct Edited<'a> {
    /// The first entry that has changed.
    changed_from: usize,
    /// Number of entries for which the reference allocates memory when it compresses the index.
    capacity: usize,
    chunk_file: Option<ChunkFile<'a>>,
    removed_file: Option<(u64, bool)>,
    moved: Option<Move>,
    payload: Option<(u64, &'a [u8])>,
}

impl Edited<'_> {
    fn at(changed_from: usize, capacity: usize) -> Self {
        Edited { changed_from, capacity, chunk_file: None, removed_file: None, moved: None, payload: None }
    }
}

/// Changes the index, and returns the writes to the data section and the chunk files.
fn edit<'a>(
    layout: &Layout,
    index: &mut Index,
    change: &Change<'a>,
    target: &FrameState<'_>,
) -> Result<(Edited<'a>, Undo)> {
    let len = index.offsets.len();
    match *change {
        Change::Vlmetalayers | Change::MetalayerContents | Change::Metalayers => {
            Ok((Edited::at(len, len), Undo::Nothing))
        }
        Change::Insert { at, chunk } => {
            let mut edited = Edited::at(at, len + 1);
            let place = place_new(layout, index, chunk, target, &mut edited)?;
            index.insert(at, code_of(place))?;
            Ok((edited, Undo::Inserted(at)))
        }
        Change::Update { at, chunk, old_len } => update(layout, index, at, chunk, old_len, target),
        Change::Delete { at } => {
            let code = index.code(at)?;
            let mut edited = Edited::at(at, len);
            if let (FrameKind::Sparse, Ok(number)) = (layout.kind, u64::try_from(code)) {
                edited.removed_file = Some((number, true));
            }
            index.offsets.remove(at)?;
            index.highest = index.highest.filter(|&highest| code < highest);
            Ok((edited, Undo::Removed(at, code)))
        }
        Change::Reorder { order } => {
            let Some(permuted) = index.offsets.permuted(order) else {
                return Err(err!(Data, "`offsets_order` is not a permutation of {len} chunk numbers"));
            };
            Ok((Edited::at(0, len), Undo::All(std::mem::replace(&mut index.offsets, permuted))))
        }
        Change::Fill { special, nchunks } => {
            let offsets = Offsets::Uniform { code: code_of(Place::Special(special)), len: nchunks };
            index.highest = None;
            Ok((Edited::at(0, nchunks), Undo::All(std::mem::replace(&mut index.offsets, offsets))))
        }
    }
}

/// Assigns a place to a new chunk, the end of the data section or a new file, and adds its write to `edited`.
fn place_new<'a>(
    layout: &Layout,
    index: &mut Index,
    chunk: Payload<'a>,
    target: &FrameState<'_>,
    edited: &mut Edited<'a>,
) -> Result<Place> {
    let bytes = match chunk {
        Payload::Special(special) => return Ok(Place::Special(special)),
        Payload::Bytes(bytes) => bytes,
    };
    match layout.kind {
        FrameKind::Contiguous => {
            edited.payload = Some((layout.header_len + layout.cbytes, bytes));
            Ok(Place::Payload(layout.cbytes))
        }
        FrameKind::Sparse => {
            let number = index.next_number(u64::try_from(target.header.cbytes).unwrap_or(0))?;
            if number > u64::from(u32::MAX) {
                return Err(err!(FileWrite, "chunk file number {number}, expected at most {}", u32::MAX));
            }
            edited.chunk_file = Some(ChunkFile { number, bytes, replaces: false });
            Ok(Place::Payload(number))
        }
    }
}

/// Replaces a chunk (`frame.md` 2.5).
fn update<'a>(
    layout: &Layout,
    index: &mut Index,
    at: usize,
    chunk: Payload<'a>,
    old_len: u64,
    target: &FrameState<'_>,
) -> Result<(Edited<'a>, Undo)> {
    let len = index.offsets.len();
    let old = index.code(at)?;
    let mut edited = Edited::at(at, len);
    let Ok(old_place) = u64::try_from(old) else {
        let place = place_new(layout, index, chunk, target, &mut edited)?;
        let before = copy_of(&index.offsets)?;
        index.highest = None;
        index.offsets.set(at, code_of(place))?;
        return Ok((edited, Undo::All(before)));
    };
    if layout.kind == FrameKind::Sparse {
        return match chunk {
            Payload::Bytes(bytes) => {
                edited.chunk_file = Some(ChunkFile { number: old_place, bytes, replaces: true });
                Ok((edited, Undo::Nothing))
            }
            Payload::Special(special) => {
                edited.removed_file = Some((old_place, false));
                let before = copy_of(&index.offsets)?;
                index.highest = None;
                index.offsets.set(at, code_of(Place::Special(special)))?;
                Ok((edited, Undo::All(before)))
            }
        };
    }
    let new_len = chunk.len();
    let tail = old_place.checked_add(old_len).filter(|&tail| tail <= layout.cbytes);
    let Some(tail) = tail else {
        return Err(err!(
            InvalidHeader,
            "the old chunk of {old_len} bytes at offset {old_place} is outside the data section of {} bytes",
            layout.cbytes
        ));
    };
    if new_len != old_len && tail < layout.cbytes {
        edited.moved = Some(Move {
            from: layout.header_len + tail,
            to: layout.header_len + old_place + new_len,
            len: layout.cbytes - tail,
        });
    }
    if let Payload::Bytes(bytes) = chunk {
        edited.payload = Some((layout.header_len + old_place, bytes));
    }
    let before = copy_of(&index.offsets)?;
    index.highest = None;
    if new_len != old_len {
        edited.changed_from = 0;
        index.offsets.shift_behind(old_place, new_len as i64 - old_len as i64)?;
    }
    if let Payload::Special(special) = chunk {
        index.offsets.set(at, code_of(Place::Special(special)))?;
    }
    Ok((edited, Undo::All(before)))
}

/// Returns a copy of the entries, for reverting a change.
pub(super) fn copy_of(offsets: &Offsets) -> Result<Offsets> {
    match offsets {
        Offsets::Uniform { code, len } => Ok(Offsets::Uniform { code: *code, len: *len }),
        Offsets::List(list) => {
            let mut copy = Vec::new();
            let no_memory = |_| err!(MemoryAlloc, "an index of {} entries", list.len());
            copy.try_reserve_exact(list.len()).map_err(no_memory)?;
            copy.extend_from_slice(list);
            Ok(Offsets::List(copy))
        }
    }
}

/// Builds the images of header, index and trailer, and puts the plan together.
fn images<'a>(
    layout: &Layout,
    index: &mut Index,
    change: &Change<'a>,
    target: &FrameState<'_>,
    edited: Edited<'a>,
) -> Result<Plan<'a>> {
    let mut header = target.header.clone();
    let trailer = trailer::build(target.vlmetalayers)?;
    let has_chunks = header.nbytes > 0;
    let mut new = Layout {
        cbytes: u64::try_from(header.cbytes).unwrap_or(0),
        trailer_len: trailer.len() as u64,
        header_len: (FIXED_LEN + section_len(target.metalayers)?) as u64,
        ..*layout
    };
    if new.header_len != layout.header_len && !matches!(change, Change::Metalayers) {
        return Err(err!(
            Data,
            "the new frame header has {} bytes, expected {} as the old one",
            new.header_len,
            layout.header_len
        ));
    }
    let index_image = match *change {
        Change::Vlmetalayers | Change::MetalayerContents | Change::Metalayers => None,
        Change::Fill { special, nchunks } => Some(encode_special(special, nchunks)?),
        _ => Some(index.encoder.encode(&index.offsets, edited.changed_from, edited.capacity)?),
    };
    let trailer_at = match (&index_image, has_chunks) {
        (_, false) => new.header_len,
        (Some(image), true) => new.index_at() + image.len() as u64,
        (None, true) => layout.frame_len - layout.trailer_len,
    };
    let trailer = match change {
        Change::MetalayerContents => None,
        _ => Some((trailer_at, trailer)),
    };
    match &trailer {
        Some((at, bytes)) => new.frame_len = at + bytes.len() as u64,
        None => new = *layout,
    }
    header.frame_len = new.frame_len;
    Ok(Plan {
        chunk_file: edited.chunk_file,
        removed_file: edited.removed_file,
        moved: edited.moved,
        payload: edited.payload,
        index: index_image.map(|image| (new.index_at(), image)),
        header: header.build(target.metalayers)?,
        trailer,
        layout: new,
    })
}
