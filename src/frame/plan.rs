//! What a change does to a frame: the images of its parts and where they go (`frame.md` 2).
//!
//! Pure: a plan is worked out from the layout of the frame and what shall change; [`super::writer`] carries it out.

use super::FrameKind;
use super::header::{FIXED_LEN, FrameHeader};
use super::index::{IndexEncoder, Offsets, Place, code_of, encode_special};
use super::metalayers::{Metalayer, section_len};
use super::trailer;
use crate::chunk::Special;
use crate::err;
use crate::error::Result;

/// A chunk as a frame keeps it.
#[derive(Clone, Copy)]
pub(crate) enum Payload<'a> {
    /// Stored as it is.
    Bytes(&'a [u8]),
    /// Told by the index alone.
    Special(Special),
}

impl Payload<'_> {
    /// Bytes in the data section or the chunk file.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Payload::Bytes(bytes) => bytes.len() as u64,
            Payload::Special(_) => 0,
        }
    }
}

/// What shall become of a frame.
pub(crate) enum Change<'a> {
    /// A chunk before the chunk that is `at` now, or at the end.
    Insert {
        /// Position of the new chunk.
        at: usize,
        /// The chunk.
        chunk: Payload<'a>,
    },
    /// Another chunk in the place of one.
    Update {
        /// Its position.
        at: usize,
        /// The new chunk.
        chunk: Payload<'a>,
        /// Bytes that the old one takes in the data section.
        old_len: u64,
    },
    /// One chunk less.
    Delete {
        /// Its position.
        at: usize,
    },
    /// Old chunk `order[i]` becomes chunk `i`.
    Reorder {
        /// A permutation of all positions.
        order: &'a [i64],
    },
    /// Nothing but special chunks, in a frame without any.
    Fill {
        /// What they are.
        special: Special,
        /// How many.
        nchunks: usize,
    },
    /// Other metalayers of variable length.
    Vlmetalayers,
    /// Other contents of metalayers, of the same lengths.
    MetalayerContents,
    /// One more metalayer, in a frame without chunks.
    Metalayers,
}

/// Where the parts of a contiguous frame are, or those of the index file of a sparse one. In bytes from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Contiguous or sparse.
    pub kind: FrameKind,
    /// Length of the header.
    pub header_len: u64,
    /// Bytes of the data section, or of all chunk files.
    pub cbytes: u64,
    /// Length of the frame.
    pub frame_len: u64,
    /// Length of the trailer.
    pub trailer_len: u64,
}

impl Layout {
    /// Where the index chunk is.
    pub(crate) fn index_at(&self) -> u64 {
        match self.kind {
            FrameKind::Contiguous => self.header_len + self.cbytes,
            FrameKind::Sparse => self.header_len,
        }
    }
}

/// What a frame file held before a change, besides chunks.
#[derive(Default)]
pub(crate) struct Images {
    /// The header.
    pub header: Vec<u8>,
    /// The index chunk; empty without chunks.
    pub index: Vec<u8>,
    /// The trailer.
    pub trailer: Vec<u8>,
}

/// Bytes that change their place inside the data section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    /// Where they are.
    pub from: u64,
    /// Where they go.
    pub to: u64,
    /// How many.
    pub len: u64,
}

/// A chunk in a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkFile<'a> {
    /// The number that names it.
    pub number: u64,
    /// The chunk.
    pub bytes: &'a [u8],
    /// Whether a chunk that counts has the number now.
    pub replaces: bool,
}

/// What is to be written, in this order: chunk file, moved bytes, payload, index, header, trailer; then the frame
/// ends at `frame_len`, and files that are superseded go.
pub(crate) struct Plan<'a> {
    /// A chunk file (sparse frames).
    pub chunk_file: Option<ChunkFile<'a>>,
    /// A chunk file that nothing refers to any more; whether it goes before the index is written.
    pub removed_file: Option<(u64, bool)>,
    /// Bytes that make room, or close a gap.
    pub moved: Option<Move>,
    /// A chunk in the data section; of a special one there is nothing to write.
    pub payload: Option<(u64, &'a [u8])>,
    /// The index chunk.
    pub index: Option<(u64, Vec<u8>)>,
    /// The header.
    pub header: Vec<u8>,
    /// The trailer.
    pub trailer: Option<(u64, Vec<u8>)>,
    /// The frame's new layout.
    pub layout: Layout,
}

/// The state of a frame after a change, from which its images are built.
pub(crate) struct FrameState<'a> {
    /// The header; its lengths are filled in here.
    pub header: FrameHeader,
    /// The metalayers.
    pub metalayers: &'a [Metalayer<'a>],
    /// The metalayers of variable length.
    pub vlmetalayers: &'a [Metalayer<'a>],
}

/// Where the chunks of a frame are, and what it takes to write that down.
#[derive(Default)]
pub(crate) struct Index {
    /// One entry for each chunk.
    pub offsets: Offsets,
    /// Compressed blocks of the last image.
    pub encoder: IndexEncoder,
    /// [`Offsets::max_number`], once that was asked for and as long as it is known.
    highest: Option<i64>,
}

/// How to take back what [`plan`] did to an index.
pub(crate) enum Undo {
    /// Nothing was done.
    Nothing,
    /// An entry was put in.
    Inserted(usize),
    /// An entry was taken out.
    Removed(usize, i64),
    /// The entries were others.
    All(Offsets),
}

impl Index {
    /// Another index, since the frame is another.
    pub(crate) fn replace(&mut self, offsets: Offsets) {
        self.offsets = offsets;
        self.encoder.forget();
        self.highest = None;
    }

    /// Takes back what a plan has done.
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

    /// Puts an entry in.
    fn insert(&mut self, at: usize, code: i64) -> Result<()> {
        self.offsets.insert(at, code)?;
        self.highest = self.highest.map(|highest| highest.max(code));
        Ok(())
    }

    fn code(&self, at: usize) -> Result<i64> {
        self.offsets.get(at).ok_or_else(|| err!(InvalidParam, "chunk {at} of {}", self.offsets.len()))
    }

    /// A number for a new chunk file. One above all, as the reference gives; but not beyond `cbytes - 32`, since
    /// the reference does not open a directory with such a number (`frame.md` 9): then the lowest that is free.
    fn next_number(&mut self, cbytes: u64) -> Result<u64> {
        let highest = *self.highest.get_or_insert_with(|| self.offsets.max_number());
        let next = u64::try_from(highest).map_or(0, |highest| highest + 1);
        if next <= cbytes.saturating_sub(32) { Ok(next) } else { self.offsets.lowest_free_number() }
    }
}

/// Works out `change` for a frame of that layout and index. The index is changed at once; the second result takes that
/// back.
///
/// # Errors
/// `Data` for an order that is no permutation, `InvalidHeader` for a chunk that does not lie in the data section,
/// `FileWrite` when there are no numbers for chunk files left, what building the images says; nothing changes then.
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

/// What became of the index, and what goes into the data section.
struct Edited<'a> {
    /// The first entry that is another now.
    changed_from: usize,
    /// Entries for which the reference makes room when it compresses the index.
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

/// Changes the index.
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
                return Err(err!(Data, "the order is no permutation of {len} chunks"));
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

/// Gives a new chunk its place: the end of the data section, or a file of its own.
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
                return Err(err!(FileWrite, "chunk file {number} has no name"));
            }
            edited.chunk_file = Some(ChunkFile { number, bytes, replaces: false });
            Ok(Place::Payload(number))
        }
    }
}

/// Puts another chunk in the place of one (`frame.md` 2.5).
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
        return Err(err!(InvalidHeader, "a chunk at {old_place}+{old_len} of {} bytes", layout.cbytes));
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

/// A copy, for taking a change back.
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

/// Builds the images.
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
        return Err(err!(Data, "a header of {} bytes was one of {}", new.header_len, layout.header_len));
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
