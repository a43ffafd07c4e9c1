//! The expected contents of a super-chunk: the list of its chunks and its chunksize, changed by the rules of
//! schunk.md 10 without a library. Predicts which changes are rejected and which would trigger a known defect of the
//! reference.

use std::rc::Rc;

use super::known_defects::SchunkDefect::{self, *};
use super::setup::StorageKind;
use crate::support::calls::{Header, Params};

/// The properties of a chunk that the test uses.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The header that the reference wrote.
    pub header: Header,
    pub params: Params,
    /// The decoded content; `None` if it is undefined or decoding fails.
    pub content: Option<Vec<u8>>,
    /// Block sizes of a chunk of variable-length blocks.
    pub blocks: Option<Vec<usize>>,
    /// The libraries compressed the chunk themselves, with different bytes.
    pub differs: bool,
}

impl Chunk {
    pub fn nbytes(&self) -> i64 {
        i64::from(self.header.nbytes)
    }

    /// Stored in the index of a frame only, without payload (frame.md 0).
    pub fn has_no_payload(&self) -> bool {
        matches!(self.header.special(), 1 | 2 | 4)
    }

    pub fn is_vl(&self) -> bool {
        self.blocks.is_some()
    }
}

/// See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub chunks: Vec<Rc<Chunk>>,
    pub chunksize: i64,
}

/// The expected result of a change.
pub enum Prediction {
    Next(Model),
    /// An error, and no change.
    Refused,
    /// The change must not be made, because it triggers a defect of the reference.
    Defect(SchunkDefect),
}

impl Model {
    pub fn empty() -> Model {
        Model { chunks: Vec::new(), chunksize: -1 }
    }

    /// Whether a frame of items of `typesize` bytes could not store the size of one of the chunks.
    pub fn has_uneven_special(&self, typesize: i64) -> bool {
        self.chunks.iter().any(|chunk| chunk.has_no_payload() && chunk.nbytes() % typesize != 0)
    }

    pub fn nbytes(&self) -> i64 {
        self.chunks.iter().map(|chunk| chunk.nbytes()).sum()
    }

    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the concatenated contents, if all are defined.
    pub fn contents(&self) -> Option<Vec<u8>> {
        let mut whole = Vec::new();
        for chunk in &self.chunks {
            whole.extend_from_slice(chunk.content.as_ref()?);
        }
        Some(whole)
    }

    /// Returns the defect that prevents the reference from storing this in a frame.
    pub fn frame_defect(&self, store: StorageKind) -> Option<SchunkDefect> {
        if !store.has_frame() || self.chunks.is_empty() {
            return None;
        }
        let nbytes = self.nbytes();
        if nbytes == 0 {
            return Some(FrameCount);
        }
        if store.is_on_disk() && self.chunks[0].nbytes() == 0 {
            return Some(EmptyFirstChunk);
        }
        if self.chunksize == 0 {
            return self.chunks.iter().any(|chunk| chunk.has_no_payload()).then_some(SpecialInVariableFrame);
        }
        if nbytes.div_euclid(self.chunksize) + i64::from(nbytes % self.chunksize != 0) != self.len() as i64 {
            return Some(FrameCount);
        }
        let last = self.len() - 1;
        let stored = |at: usize| match nbytes % self.chunksize {
            short if at == last && short != 0 => short,
            _ => self.chunksize,
        };
        let moved = |(at, chunk): (usize, &Rc<Chunk>)| chunk.has_no_payload() && chunk.nbytes() != stored(at);
        self.chunks.iter().enumerate().any(moved).then_some(SpecialMoved)
    }

    fn into_prediction(self, store: StorageKind) -> Prediction {
        match self.frame_defect(store) {
            Some(defect) => Prediction::Defect(defect),
            None => Prediction::Next(self),
        }
    }

    /// Predicts appending (`at` = number of chunks) or inserting.
    pub fn insert(&self, store: StorageKind, at: usize, chunk: &Rc<Chunk>) -> Prediction {
        if self.chunks.first().is_some_and(|first| first.is_vl() != chunk.is_vl()) {
            return Prediction::Refused;
        }
        let nb = chunk.nbytes();
        let mut next = self.clone();
        if next.chunksize == -1 {
            next.chunksize = nb;
        }
        let full = next.chunksize;
        if full != 0 {
            let Some(last) = self.chunks.last() else {
                if nb > full {
                    return if chunk.is_vl() {
                        Prediction::Defect(FlagsOfRefusedChunk)
                    } else {
                        Prediction::Refused
                    };
                }
                next.chunks.push(chunk.clone());
                return next.into_prediction(store);
            };
            if store.has_frame() && nb < full && last.nbytes() < full && self.nbytes() < full {
                return Prediction::Defect(FailedWriteState);
            }
            if last.nbytes() < full || nb > full || (at != self.len() && nb != full) {
                next.chunksize = 0;
            }
        }
        next.chunks.insert(at, chunk.clone());
        next.into_prediction(store)
    }

    pub fn update(&self, store: StorageKind, at: usize, chunk: &Rc<Chunk>) -> Prediction {
        if self.len() > 1 && self.chunks[usize::from(at == 0)].is_vl() != chunk.is_vl() {
            return Prediction::Refused;
        }
        let mut next = self.clone();
        let (nb, last) = (chunk.nbytes(), self.len() - 1);
        if next.chunksize != 0 && (nb > next.chunksize || (at != last && nb != next.chunksize)) {
            next.chunksize = 0;
        }
        next.chunks[at] = chunk.clone();
        next.into_prediction(store)
    }

    pub fn delete(&self, store: StorageKind, at: usize) -> Prediction {
        let mut next = self.clone();
        next.chunks.remove(at);
        next.into_prediction(store)
    }

    pub fn reorder(&self, store: StorageKind, order: &[i64]) -> Prediction {
        let mut next = self.clone();
        next.chunks = order.iter().map(|&from| self.chunks[from as usize].clone()).collect();
        next.into_prediction(store)
    }

    /// Predicts a copy into `store`, chunk by chunk (schunk.md 8.1).
    pub fn copy_to(&self, store: StorageKind) -> Prediction {
        let mut copy = Model { chunks: Vec::new(), chunksize: self.chunksize };
        for chunk in &self.chunks {
            match copy.insert(store, copy.len(), chunk) {
                Prediction::Next(next) => copy = next,
                // The copy fails in the middle; the state that it leaves is another defect.
                Prediction::Refused => return Prediction::Defect(FailedWriteState),
                defect => return defect,
            }
        }
        Prediction::Next(copy)
    }
}
