//! The streams of runs: of bytes that all have the same value.
//!
//! The planes of shuffled numbers often have a single value, and chunks of Blosc 1 hold them as any other stream. A codec
//! takes longer to clear its tables than to encode them, so the last such streams are kept, and copied when they are
//! needed again. Owns the kept streams; never encodes.

use super::reference::Reference;

const MAX_KEPT: usize = 4;
/// The length in bytes of the longest stream that is kept: that of a run of 1 MiB has 4 KiB.
const MAX_STREAM_LEN: usize = 8 << 10;

/// What a stream of a run depends on, apart from the room for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct RunParameters {
    /// The code of the codec.
    pub compcode: u8,
    pub clevel: i32,
    pub reference: Reference,
    /// The length of the run in bytes.
    pub len: usize,
    pub value: u8,
}

/// The streams that were kept last.
#[derive(Default)]
pub(super) struct RunStreams {
    kept: [Option<RunStream>; MAX_KEPT],
    /// The place of the stream that is replaced next.
    next: usize,
}

struct RunStream {
    parameters: RunParameters,
    /// The length in bytes of the buffer that the stream was encoded into.
    room: usize,
    stream: Vec<u8>,
}

impl RunStreams {
    /// Returns the stream of a run, if it was kept and was encoded into a buffer of `room` bytes or fewer: with more room,
    /// streams are the same.
    pub(super) fn get(&self, parameters: &RunParameters, room: usize) -> Option<&[u8]> {
        let is_wanted = |kept: &&RunStream| kept.parameters == *parameters && kept.room <= room;
        self.kept.iter().flatten().find(is_wanted).map(|kept| &kept.stream[..])
    }

    /// Keeps the stream of a run that was encoded into a buffer of `room` bytes, unless it is long or memory is exhausted.
    pub(super) fn keep(&mut self, parameters: RunParameters, room: usize, stream: &[u8]) {
        let place = &mut self.kept[self.next];
        let mut bytes = place.take().map(|kept| kept.stream).unwrap_or_default();
        bytes.clear();
        if stream.len() > MAX_STREAM_LEN || bytes.try_reserve(stream.len()).is_err() {
            return;
        }
        bytes.extend_from_slice(stream);
        *place = Some(RunStream { parameters, room, stream: bytes });
        self.next = (self.next + 1) % MAX_KEPT;
    }
}
