//! Decoding of single streams between inaccessible pages by all decoding functions of the library, which must agree.

use blosc2::internals::streams::{NativeCodec, StreamCoder, decode_prefix};

use crate::support::guard::GuardedBuffer;
use crate::support::random::Random;

/// Upper limit for the content of a stream in these targets, in bytes.
pub const CAPACITY: usize = 64 << 10;
/// Upper limit for a stream in bytes.
const MAX_STREAM_LEN: usize = 256 << 10;
/// Upper limit for the space behind streams and contents, in bytes: more than `WRITE_AHEAD` of the library.
const MAX_PADDING: usize = 256;

/// The buffers and the state of the codecs. They are reused for all inputs, as in a thread of the library.
pub struct StreamDecoder {
    streams: StreamCoder,
    src: GuardedBuffer,
    dest: GuardedBuffer,
}

impl Default for StreamDecoder {
    fn default() -> StreamDecoder {
        StreamDecoder {
            streams: StreamCoder::default(),
            src: GuardedBuffer::new(MAX_STREAM_LEN),
            dest: GuardedBuffer::new(CAPACITY + MAX_PADDING),
        }
    }
}

impl StreamDecoder {
    /// Decodes `stream` into `len` bytes filled with `before`. Both buffers have `ahead` more bytes and are adjacent to
    /// an inaccessible page, at the end if `at_end`, else at the start. Returns the content if the decoder reports
    /// `len` bytes.
    fn decode_once(
        &mut self,
        codec: NativeCodec,
        dictionary: &[u8],
        stream: &[u8],
        len: usize,
        (at_end, ahead, before): (bool, usize, u8),
    ) -> Option<Vec<u8>> {
        let src = self.src.edge_bytes(stream.len() + ahead, at_end);
        src[..stream.len()].copy_from_slice(stream);
        src[stream.len()..].fill(before);
        let dest = self.dest.edge_bytes(len + ahead, at_end);
        dest.fill(before);
        let written = self.streams.decode(codec, dictionary, (src, stream.len()), (dest, len));
        assert!(written <= len, "{codec:?}: {written} bytes in {len}");
        assert!(src[..stream.len()] == *stream, "{codec:?}: the stream was written to");
        assert!(
            src[stream.len()..].iter().all(|&byte| byte == before),
            "{codec:?}: the source was written to"
        );
        (written == len).then(|| dest[..len].to_vec())
    }

    /// Returns the `len` bytes to which `stream` decodes, `None` if it is invalid. Panics if the result depends on
    /// anything else, such as the previous bytes of the destination or earlier streams.
    pub fn decode(
        &mut self,
        codec: NativeCodec,
        dictionary: &[u8],
        stream: &[u8],
        len: usize,
        random: &mut Random,
    ) -> Option<Vec<u8>> {
        if stream.len() + MAX_PADDING > MAX_STREAM_LEN || len > CAPACITY {
            return None;
        }
        let found = self.decode_once(codec, dictionary, stream, len, (true, 0, 0xCC));
        for how in
            [(false, 0, 0x33), (true, MAX_PADDING, 0x5A), (true, random.below(MAX_PADDING), random.byte())]
        {
            let again = self.decode_once(codec, dictionary, stream, len, how);
            assert!(again == found, "{codec:?}: {} bytes decode in two ways: {how:?}", stream.len());
        }
        self.streams = StreamCoder::default();
        let fresh = self.decode_once(codec, dictionary, stream, len, (true, 0, 0));
        assert!(fresh == found, "{codec:?}: the result depends on earlier streams");
        if dictionary.is_empty() {
            self.check_prefix(codec, stream, len, found.as_deref(), random);
        }
        found
    }

    fn check_prefix(
        &mut self,
        codec: NativeCodec,
        stream: &[u8],
        len: usize,
        whole: Option<&[u8]>,
        random: &mut Random,
    ) {
        let wanted = random.below(len + 1);
        let src = self.src.last_bytes(stream.len());
        src.copy_from_slice(stream);
        let dest = self.dest.last_bytes(len);
        dest.fill(0xCC);
        let Some(written) = decode_prefix(codec, src, dest, wanted) else { return };
        assert!(written <= len, "{codec:?}: {written} bytes in {len}");
        if let Some(whole) = whole {
            assert!(written >= wanted, "{codec:?}: {written} of {wanted} bytes of a valid stream");
            assert!(dest[..wanted] == whole[..wanted], "{codec:?}: other bytes in a part of the stream");
        }
    }

    /// Encodes `src` at a random level into a destination of random size. Panics if the stream does not decode to
    /// `src`.
    pub fn round_trip(&mut self, codec: NativeCodec, dictionary: &[u8], src: &[u8], random: &mut Random) {
        if src.is_empty() || src.len() > CAPACITY {
            return;
        }
        let clevel = random.below(10) as i32;
        let room = if random.one_in(4) { 2 * src.len() + 64 } else { random.below(src.len() + 40) };
        let plain = self.src.last_bytes(src.len());
        plain.copy_from_slice(src);
        let mut dest = GuardedBuffer::new(room);
        let dest = dest.last_bytes(room);
        let len = self.streams.encode(codec, clevel, dictionary, plain, dest);
        assert!(len <= room && plain == src, "{codec:?}: {len} bytes in {room}");
        if len == 0 {
            return;
        }
        let stream = dest[..len].to_vec();
        let mut second = vec![0; room];
        let again = self.streams.encode(codec, clevel, dictionary, src, &mut second);
        assert!(second[..again] == stream, "{codec:?}: encoding the same bytes again gives another stream");
        let decoded = self.decode(codec, dictionary, &stream, src.len(), random);
        assert!(
            decoded.as_deref() == Some(src),
            "{codec:?} level {clevel}: {} bytes, room {room}",
            src.len()
        );
    }
}
