//! Tests of the contract of every built-in codec, over kinds of data, levels and destination sizes.

use super::*;
use crate::random::Random;

const GUARD: u8 = 0xa5;

/// Returns `total` bytes made of prefixes of `words` words of `len` bytes, by the generator of `codecs.md` 3.4.
fn repeated_words(words: usize, len: usize, total: usize) -> Vec<u8> {
    let mut x = 1u32;
    let mut next = move || {
        x = x.wrapping_mul(1_103_515_245).wrapping_add(12345) & 0x7fff_ffff;
        (x >> 16) as usize
    };
    let words: Vec<Vec<u8>> = (0..words).map(|_| (0..len).map(|_| next() as u8).collect()).collect();
    let mut out = Vec::new();
    while out.len() < total {
        let word = &words[next() % words.len()];
        out.extend_from_slice(&word[..5 + next() % (len - 4)]);
    }
    out.truncate(total);
    out
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    Random(seed).bytes(len, 256)
}

/// Returns a ramp of 32-bit numbers, byte-shuffled: the most common input of codecs.
fn shuffled_ramp(len: usize) -> Vec<u8> {
    let items = len.div_ceil(4);
    (0..4).flat_map(|byte| (0..items).map(move |i| (i as u32 * 3).to_le_bytes()[byte])).take(len).collect()
}

fn text(len: usize) -> Vec<u8> {
    b"The quick brown fox jumps over the lazy dog; 1234567890. ".iter().copied().cycle().take(len).collect()
}

fn test_inputs(len: usize) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("zeros", vec![0; len]),
        ("noise", noise(len, len as u64)),
        ("nibbles", noise(len, 7).into_iter().map(|b| b & 3).collect()),
        ("text", text(len)),
        ("words", repeated_words(40, 60, len)),
        ("ramp", shuffled_ramp(len)),
    ]
}

/// Encodes into a buffer of `capacity` bytes that lies between guards; checks the guards.
fn encode(encoder: &dyn Encoder, workspace: &mut Workspace, src: &[u8], capacity: usize) -> Vec<u8> {
    let mut buffer = vec![GUARD; capacity + 128];
    let written = encoder.encode(workspace, src, &mut buffer[64..64 + capacity]).unwrap();
    assert!(written <= capacity, "{written} bytes written into {capacity}");
    assert!(buffer[..64].iter().chain(&buffer[64 + capacity..]).all(|&b| b == GUARD), "wrote outside dest");
    buffer[64..64 + written].to_vec()
}

/// Decodes into a buffer of `len` bytes that lies between guards; checks the guards.
fn decode(decoder: &dyn Decoder, workspace: &mut Workspace, src: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut buffer = vec![GUARD; len + 128];
    let written = decoder.decode(workspace, src, &mut buffer[64..64 + len]).unwrap();
    assert!(buffer[..64].iter().chain(&buffer[64 + len..]).all(|&b| b == GUARD), "wrote outside dest");
    (written == len).then(|| buffer[64..64 + len].to_vec())
}

/// Returns enough room for every codec's worst case: the fastest deflate level takes nine bits for a literal.
fn max_stream_len(len: usize) -> usize {
    len + len / 7 + 600
}

/// Encodes and decodes each kind of data of `len` bytes. The destination has room for the longest stream.
fn check_round_trip(codec: BuiltInCodec, clevel: i32, len: usize, workspace: &mut Workspace) {
    for (kind, data) in test_inputs(len) {
        let stream = encode(&codec.encoder(clevel, None), workspace, &data, max_stream_len(len));
        if stream.is_empty() {
            let stores = codec == BuiltInCodec::Zlib && (clevel == 0 || len > 4000 && kind == "noise");
            assert!(codec == BuiltInCodec::BloscLz || stores, "{codec:?} {clevel} {kind} {len}");
            continue;
        }
        let back = decode(&codec.decoder(None), workspace, &stream, len);
        assert!(back.as_ref() == Some(&data), "{codec:?} {clevel} {kind} {len}");
    }
}

#[test]
fn every_codec_and_level_round_trips() {
    let mut workspace = Workspace::default();
    for codec in BuiltInCodec::all_of_blosc1() {
        for clevel in 0..=9 {
            // The optimal parsers of the top levels cost a millisecond of set-up each.
            let step = if clevel == 9 { 7 } else { 1 };
            (1..300).step_by(step).for_each(|len| check_round_trip(codec, clevel, len, &mut workspace));
        }
        for clevel in [1, 2, 3, 5, 6, 8, 9] {
            for len in [4097, 65535, 65548, 300_001] {
                check_round_trip(codec, clevel, len, &mut workspace);
            }
        }
    }
}

#[test]
fn every_destination_size_gives_nothing_or_a_whole_stream() {
    let mut workspace = Workspace::default();
    for codec in BuiltInCodec::all_of_blosc1() {
        for clevel in [1, 2, 3, 5, 9] {
            for len in [1, 2, 17, 70, 200, 333] {
                for (kind, data) in test_inputs(len) {
                    let mut fitted = false;
                    for capacity in 0..=len + 20 {
                        let stream = encode(&codec.encoder(clevel, None), &mut workspace, &data, capacity);
                        fitted |= !stream.is_empty();
                        if !stream.is_empty() {
                            let back = decode(&codec.decoder(None), &mut workspace, &stream, len);
                            assert!(
                                back.as_ref() == Some(&data),
                                "{codec:?} {clevel} {kind} {len} {capacity}"
                            );
                        }
                    }
                    if len >= 200 && (kind == "zeros" || kind == "text") && codec != BuiltInCodec::BloscLz {
                        assert!(fitted, "{codec:?} {clevel} {kind} {len} never fitted");
                    }
                }
            }
        }
    }
}

#[test]
fn stream_does_not_depend_on_earlier_use_of_the_workspace() {
    let mut used = Workspace::default();
    for codec in BuiltInCodec::all_of_blosc1() {
        for clevel in [1, 2, 5, 9] {
            for len in [100, 3000, 70_000] {
                for (kind, data) in test_inputs(len) {
                    let encoder = codec.encoder(clevel, None);
                    // A failed call must have no effect on the next one either.
                    encode(&encoder, &mut used, &data, 7);
                    let first = encode(&encoder, &mut used, &data, max_stream_len(len));
                    let fresh = encode(&encoder, &mut Workspace::default(), &data, max_stream_len(len));
                    assert!(first == fresh, "{codec:?} {clevel} {kind} {len}");
                }
            }
        }
    }
}

#[test]
fn trailing_bytes_are_accepted_only_by_zlib() {
    let data = text(1000);
    let mut workspace = Workspace::default();
    for (codec, ignored) in [
        (BuiltInCodec::Lz4, false),
        (BuiltInCodec::Lz4Hc, false),
        (BuiltInCodec::Zlib, true),
        (BuiltInCodec::Zstd, false),
    ] {
        let mut stream = encode(&codec.encoder(5, None), &mut workspace, &data, 2000);
        let decoder = codec.decoder(None);
        assert_eq!(
            decode(&decoder, &mut workspace, &stream[..stream.len() - 1], data.len()),
            None,
            "{codec:?}"
        );
        for _ in 0..20 {
            stream.push(7);
            let accepted = decode(&decoder, &mut workspace, &stream, data.len()).is_some();
            assert_eq!(accepted, ignored, "{codec:?}");
        }
    }
}

#[test]
fn zlib_rejects_a_wrong_adler32() {
    let data = text(1000);
    let mut workspace = Workspace::default();
    let stream = encode(&BuiltInCodec::Zlib.encoder(5, None), &mut workspace, &data, 2000);
    for bit in 0..32 {
        let mut bad = stream.clone();
        let byte = bad.len() - 4 + bit / 8;
        bad[byte] ^= 1 << (bit % 8);
        assert_eq!(decode(&BuiltInCodec::Zlib.decoder(None), &mut workspace, &bad, data.len()), None);
    }
}

#[test]
fn zstd_decodes_concatenated_frames() {
    let data = text(1000);
    let mut workspace = Workspace::default();
    let encoder = BuiltInCodec::Zstd.encoder(5, None);
    let mut stream = encode(&encoder, &mut workspace, &data[..400], 2000);
    // A skippable frame of three bytes between them.
    stream.extend_from_slice(&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    stream.extend(encode(&encoder, &mut workspace, &data[400..], 2000));
    let decoder = BuiltInCodec::Zstd.decoder(None);
    assert_eq!(decode(&decoder, &mut workspace, &stream, data.len()).as_ref(), Some(&data));
}

#[test]
fn decoding_to_another_length_fails() {
    let data = text(1000);
    let mut workspace = Workspace::default();
    for codec in BuiltInCodec::all_of_blosc1() {
        let stream = encode(&codec.encoder(9, None), &mut workspace, &data, 2000);
        assert!(!stream.is_empty());
        for len in [1, 999, 1001, 5000] {
            assert_eq!(decode(&codec.decoder(None), &mut workspace, &stream, len), None, "{codec:?} {len}");
        }
    }
}

#[test]
fn mutated_streams_write_nothing_outside_dest() {
    let mut workspace = Workspace::default();
    let mut random = noise(1 << 20, 99).into_iter().cycle();
    let mut next = move || random.next().unwrap() as usize;
    for codec in BuiltInCodec::all_of_blosc1() {
        let decoder = codec.decoder(None);
        for (_, data) in test_inputs(2000) {
            let stream = encode(&codec.encoder(9, None), &mut workspace, &data, max_stream_len(2000));
            for cut in 0..stream.len().min(400) {
                decode(&decoder, &mut workspace, &stream[..cut], data.len());
            }
            for _ in 0..1000 {
                let mut bad = stream.clone();
                for _ in 0..1 + next() % 4 {
                    let at = (next() << 8 | next()) % bad.len().max(1);
                    if let Some(byte) = bad.get_mut(at) {
                        *byte = next() as u8;
                    }
                }
                decode(&decoder, &mut workspace, &bad, data.len());
            }
        }
        decode(&decoder, &mut workspace, &[], 100);
        decode(&decoder, &mut workspace, &[], 0);
        assert_eq!(codec.encoder(5, None).encode(&mut workspace, &text(100), &mut []).unwrap(), 0);
    }
}

fn dictionary_codecs() -> [BuiltInCodec; 3] {
    [BuiltInCodec::Lz4, BuiltInCodec::Lz4Hc, BuiltInCodec::Zstd]
}

#[test]
fn streams_with_a_dictionary_round_trip_and_are_shorter() {
    let mut workspace = Workspace::default();
    let all = repeated_words(90, 120, 131_072);
    let raw = &all[..6000];
    let sizes = [300; 100];
    let trained = train_zstd(&all[..30_000], &sizes, 4000).unwrap();
    assert!((256..=4000).contains(&trained.len()));
    for codec in dictionary_codecs() {
        for bytes in [raw, &raw[..1], &raw[..7], &trained[..]] {
            let forward = EncoderDictionary::new(codec, bytes).unwrap();
            let backward = DecoderDictionary::new(codec, bytes).unwrap();
            let decoder = codec.decoder(Some(&backward));
            for clevel in 1..=9 {
                let encoder = codec.encoder(clevel, Some(&forward));
                for len in [1, 20, 300, 4000, 4097, 30_000] {
                    let data = &all[60_000..60_000 + len];
                    let stream = encode(&encoder, &mut workspace, data, max_stream_len(len));
                    let back = decode(&decoder, &mut workspace, &stream, len);
                    assert!(back.as_deref() == Some(data), "{codec:?} {clevel} {len}");

                    encode(&encoder, &mut workspace, data, stream.len() / 2);
                    let again = encode(&encoder, &mut workspace, data, max_stream_len(len));
                    let fresh = encode(&encoder, &mut Workspace::default(), data, max_stream_len(len));
                    assert!(stream == again && stream == fresh, "{codec:?} {clevel} {len}");
                    if bytes.len() > 3000 && len == 300 {
                        let plain =
                            encode(&codec.encoder(clevel, None), &mut workspace, data, max_stream_len(len));
                        assert!(stream.len() < plain.len(), "{codec:?} {clevel}");
                    }
                }
            }
        }
    }
}

#[test]
fn with_a_dictionary_a_written_stream_decodes_at_every_dest_size() {
    let mut workspace = Workspace::default();
    let all = repeated_words(40, 60, 20_000);
    for codec in dictionary_codecs() {
        let forward = EncoderDictionary::new(codec, &all[..3000]).unwrap();
        let backward = DecoderDictionary::new(codec, &all[..3000]).unwrap();
        for clevel in [1, 5, 9] {
            let encoder = codec.encoder(clevel, Some(&forward));
            for (len, step) in [(300, 1), (5000, 37)] {
                let data = &all[9000..9000 + len];
                for capacity in (0..len + 20).step_by(step) {
                    let stream = encode(&encoder, &mut workspace, data, capacity);
                    if !stream.is_empty() {
                        let back = decode(&codec.decoder(Some(&backward)), &mut workspace, &stream, len);
                        assert!(back.as_deref() == Some(data), "{codec:?} {clevel} {len} {capacity}");
                    }
                }
            }
        }
    }
}

#[test]
fn threads_can_share_a_dictionary() {
    let all = repeated_words(90, 120, 131_072);
    for codec in dictionary_codecs() {
        let forward = EncoderDictionary::new(codec, &all[..30_000]).unwrap();
        let backward = DecoderDictionary::new(codec, &all[..30_000]).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (forward, backward, all) = (&forward, &backward, &all);
                scope.spawn(move || {
                    let mut workspace = Workspace::default();
                    for i in 0..30 {
                        let data = &all[thread * 10_000..][..100 + i * 300];
                        let clevel = 1 + (i % 9) as i32;
                        let encoder = codec.encoder(clevel, Some(forward));
                        let stream = encode(&encoder, &mut workspace, data, max_stream_len(data.len()));
                        let decoder = codec.decoder(Some(backward));
                        assert_eq!(
                            decode(&decoder, &mut workspace, &stream, data.len()).as_deref(),
                            Some(data)
                        );
                    }
                });
            }
        });
    }
}

#[test]
fn zstd_with_a_dictionary_ignores_the_level() {
    let all = repeated_words(90, 120, 131_072);
    let forward = EncoderDictionary::new(BuiltInCodec::Zstd, &all[..3000]).unwrap();
    let mut workspace = Workspace::default();
    let [low, high] = [1, 9].map(|clevel| {
        encode(
            &BuiltInCodec::Zstd.encoder(clevel, Some(&forward)),
            &mut workspace,
            &all[50_000..58_000],
            9000,
        )
    });
    assert_eq!(low, high);
}

#[test]
fn mutated_streams_with_a_dictionary_write_nothing_outside_dest() {
    let mut workspace = Workspace::default();
    let all = repeated_words(40, 60, 20_000);
    let mut random = noise(1 << 16, 5).into_iter().cycle();
    let mut next = move || random.next().unwrap() as usize;
    for codec in dictionary_codecs() {
        let forward = EncoderDictionary::new(codec, &all[..700]).unwrap();
        // Shorter than the encoder's dictionary: matches begin before its start.
        let backward = DecoderDictionary::new(codec, &all[650..700]).unwrap();
        let data = &all[9000..11_000];
        let stream = encode(&codec.encoder(9, Some(&forward)), &mut workspace, data, max_stream_len(2000));
        for _ in 0..2000 {
            let mut bad = stream.clone();
            let at = (next() << 8 | next()) % bad.len();
            bad[at] = next() as u8;
            decode(&codec.decoder(Some(&backward)), &mut workspace, &bad, data.len());
        }
    }
}

#[test]
fn empty_long_and_invalid_dictionaries_are_rejected() {
    use crate::error::ErrorKind::CodecDict;
    // Zstd's magic number and an identifier, then nothing: a dictionary that claims to have tables.
    let hollow = [0x37, 0xa4, 0x30, 0xec, 1, 0, 0, 0, 0, 0, 0, 0];
    let long = vec![1; dictionary::MAX_DICTIONARY_LEN + 1];
    for codec in BuiltInCodec::all_of_blosc1() {
        for bytes in [&[][..], &long[..]] {
            assert_eq!(EncoderDictionary::new(codec, bytes).err().map(|e| e.kind()), Some(CodecDict));
            assert_eq!(DecoderDictionary::new(codec, bytes).err().map(|e| e.kind()), Some(CodecDict));
        }
        assert!(EncoderDictionary::new(codec, &long[1..]).is_ok());
        let refused = (codec == BuiltInCodec::Zstd).then_some(CodecDict);
        assert_eq!(EncoderDictionary::new(codec, &hollow).err().map(|e| e.kind()), refused);
        assert_eq!(DecoderDictionary::new(codec, &hollow).err().map(|e| e.kind()), refused);
    }
}

#[test]
fn codecs_without_dictionaries_ignore_them() {
    let mut workspace = Workspace::default();
    let data = text(1000);
    for codec in [BuiltInCodec::BloscLz, BuiltInCodec::Zlib] {
        let forward = EncoderDictionary::new(codec, &data[..100]).unwrap();
        let backward = DecoderDictionary::new(codec, &data[..100]).unwrap();
        let stream = encode(&codec.encoder(9, Some(&forward)), &mut workspace, &data, 1000);
        assert_eq!(stream, encode(&codec.encoder(9, None), &mut workspace, &data, 1000));
        let back = decode(&codec.decoder(Some(&backward)), &mut workspace, &stream, data.len());
        assert_eq!(back.as_ref(), Some(&data));
    }
}

#[test]
fn training_returns_none_for_wrong_sizes_and_too_few_samples() {
    assert_eq!(train_zstd(&[1; 100], &[50, 49], 1000), None);
    assert_eq!(train_zstd(&[1; 100], &[usize::MAX, 101], 1000), None);
    assert_eq!(train_zstd(&[], &[], 1000), None);
    assert_eq!(train_zstd(&[0; 4000], &[500; 8], 0), None);
}

/// Bytes that the search skips as noise may be repeated later: half of these are, in pieces of another order.
#[test]
fn repeated_noise_is_compressed() {
    const PIECE: usize = 1021;
    let noise = noise(128 * PIECE, 1);
    let mut data = vec![];
    for part in noise.chunks(14 * PIECE) {
        data.extend_from_slice(part);
        part.chunks(PIECE).rev().for_each(|piece| data.extend_from_slice(piece));
    }
    let mut workspace = Workspace::default();
    for codec in [BuiltInCodec::Lz4Hc, BuiltInCodec::Zlib] {
        for clevel in 3..=9 {
            let len = encode(&codec.encoder(clevel, None), &mut workspace, &data, data.len()).len();
            assert!(len * 100 < data.len() * 56, "{codec:?} {clevel}: {len} of {}", data.len());
        }
    }
}

#[test]
fn kept_streams_of_runs_are_those_of_a_new_workspace() {
    let codecs: Vec<_> = BuiltInCodec::all_of_blosc1().collect();
    let lens: &[usize] = if cfg!(miri) { &[200] } else { &[1, 15, 16, 67, 200, 4096, 70_000, 3_000_000] };
    let mut used = Workspace::default();
    let mut numbers = noise(4000, 1).into_iter().map(usize::from);
    for round in 0..if cfg!(miri) { 20 } else { 400 } {
        let mut draw = |bound: usize| numbers.next().expect("enough numbers") % bound;
        // Few different runs: each one occurs again.
        let (codec, is_split, clevel) = (codecs[draw(codecs.len())], draw(2) == 0, [1, 5, 9][draw(3)]);
        // Miri cannot call the C library.
        let codec = if cfg!(miri) && codec == BuiltInCodec::Zstd { BuiltInCodec::Lz4 } else { codec };
        let (len, value) = (lens[draw(lens.len())], [0, 7][draw(2)]);
        let room = [len, len / 2, 2 * len, 70, 20][draw(5)];
        let encoder = codec.encoder(clevel, None).for_blosc1(is_split);
        let src = vec![value; len];
        for _ in 0..2 {
            let mut dest = vec![GUARD; room + 16];
            let written = encoder.encode_run(&mut used, &src, &mut dest[..room]).unwrap();
            let fresh = encode(&encoder, &mut Workspace::default(), &src, room);
            assert!(
                dest[..written] == fresh[..],
                "round {round}: {codec:?} {clevel}, {len} bytes into {room}"
            );
            assert!(dest[room..].iter().all(|&byte| byte == GUARD), "wrote outside dest");
        }
    }
}
