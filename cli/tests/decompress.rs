//! `blosc2 decompress`: damaged inputs, arrays, directories, and chunks of different sizes.

mod commands;

use blosc2::{Array, OpenOptions, Params, SuperChunk};
use commands::{Cli, numbers, random, stderr};

/// Number of chunks of the damaged frames.
const NCHUNKS: usize = 5;
/// Size of their chunks in bytes.
const CHUNK: usize = 20_000;

/// Writes the frame `a.b2frame`. Returns its content.
fn write_frame(cli: &Cli) -> Vec<u8> {
    let content = numbers(NCHUNKS * CHUNK);
    let frame = cli.run_with(&["compress", "-", "-t", "4", "--chunksize", "20000"], &content).stdout;
    cli.write("a.b2frame", &frame);
    content
}

/// Decompresses `a.b2frame`, which must fail without output. Returns the message.
fn fail(cli: &Cli) -> String {
    let message = cli.fail(&["decompress", "a.b2frame"], 1);
    assert!(message.starts_with("blosc2: a.b2frame: "), "{message}");
    assert_eq!(cli.names(), ["a.b2frame", "tmp"]);
    message
}

#[test]
fn truncated_frames_are_errors_without_output() {
    let cli = Cli::new();
    write_frame(&cli);
    let frame = cli.read("a.b2frame");
    let step = (frame.len() / 60).max(1);
    for len in (0..frame.len()).step_by(step).chain([frame.len() - 1]) {
        cli.write("a.b2frame", &frame[..len]);
        fail(&cli);
        let output = cli.run_with(&["decompress", "-"], &frame[..len]);
        assert_eq!(output.status.code(), Some(1), "{len}");
        assert!(stderr(&output).starts_with("blosc2: stdin: "), "{}", stderr(&output));
    }
}

#[test]
fn a_damaged_chunk_is_named() {
    let cli = Cli::new();
    write_frame(&cli);
    let frame = cli.read("a.b2frame");
    let mut offset = usize::from(frame[14]);
    let schunk = SuperChunk::from_frame(&frame).unwrap();
    for nchunk in 0..NCHUNKS {
        let mut damaged = frame.clone();
        // The lengths of the blocks' streams, or their offsets, behind the header of the chunk.
        damaged[offset + 32..offset + 48].fill(0xee);
        cli.write("a.b2frame", &damaged);
        let message = fail(&cli);
        assert!(message.contains(&format!("chunk {nchunk} is damaged")), "{message}");
        let chunk = schunk.chunk(nchunk as u64).unwrap();
        assert_eq!(chunk.as_bytes(), &frame[offset..offset + chunk.as_bytes().len()]);
        offset += chunk.as_bytes().len();
    }
}

#[test]
fn flipped_bits_of_a_frame_with_checksums_are_errors_without_output() {
    let cli = Cli::new();
    let content = numbers(NCHUNKS * CHUNK);
    cli.write("content", &content);
    let options = ["compress", "content", "-o", "a.b2frame", "-t", "4", "--chunksize", "20000", "--rm"];
    let output = cli.command(options).env("BLOSC2_CHECKSUMS", "on").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let frame = cli.read("a.b2frame");
    for n in 0..200 {
        let mut damaged = frame.clone();
        let at = n * frame.len() / 200;
        damaged[at] ^= 1 << (n % 8);
        cli.write("a.b2frame", &damaged);
        fail(&cli);
    }
}

#[test]
fn flipped_bits_of_any_frame_are_errors_or_keep_the_length() {
    let cli = Cli::new();
    let content = write_frame(&cli);
    let frame = cli.read("a.b2frame");
    let mut errors = 0;
    for n in 0..200 {
        let mut damaged = frame.clone();
        damaged[n * frame.len() / 200] ^= 1 << (n % 8);
        cli.write("a.b2frame", &damaged);
        let output = cli.run(&["decompress", "a.b2frame"]);
        match output.status.code() {
            Some(0) => {
                assert_eq!(cli.read("a").len(), content.len(), "{n}");
                std::fs::remove_file(cli.path("a")).unwrap();
            }
            Some(1) => {
                assert_eq!(cli.names(), ["a.b2frame", "tmp"], "{n}");
                errors += 1;
            }
            code => panic!("{n}: {code:?} {}", stderr(&output)),
        }
    }
    assert!(errors > 20, "{errors}");
}

#[test]
fn chunks_of_different_sizes_and_directories_return() {
    let content = [numbers(5000), random(100_000, 4), numbers(300)];
    for is_directory in [false, true] {
        let cli = Cli::new();
        let params = Params::new().typesize(1);
        let options = OpenOptions::new().write(true).create_new(true).directory(is_directory).params(params);
        let mut schunk = options.open(cli.path("a.b2frame")).unwrap();
        for content in &content {
            let chunk = blosc2::compress(content, &Params::new().typesize(1)).unwrap();
            schunk.append_chunk(&chunk).unwrap();
        }
        drop(schunk);
        cli.succeed(&["decompress", "a.b2frame"], b"");
        assert_eq!(cli.read("a"), content.concat());
        if is_directory {
            let message = cli.fail(&["decompress", "a.b2frame", "-o", "b", "--rm"], 1);
            assert!(message.contains("is a directory"), "{message}");
            assert!(cli.path("a.b2frame").exists());
        }
    }
}

#[test]
fn arrays_are_written_as_items_in_c_order() {
    let cli = Cli::new();
    let shapes: [&[u64]; 5] = [&[], &[1000], &[30, 40], &[7, 0, 3], &[9, 8, 7]];
    for shape in shapes {
        let count: u64 = shape.iter().product();
        let items: Vec<u32> = (0..u32::try_from(count).unwrap()).collect();
        let builder = Array::<u32>::builder(shape.to_vec()).chunks(shape.iter().map(|_| 4)).truncate(true);
        builder.create_from(cli.path("a.b2nd"), &items).unwrap();
        let message = cli.fail(&["decompress", "a.b2nd"], 1);
        assert!(message.contains("--output") && message.contains("blosc2 export"), "{message}");
        let expected: Vec<u8> = items.iter().flat_map(|item| item.to_ne_bytes()).collect();
        assert_eq!(cli.succeed(&["decompress", "a.b2nd", "-o", "-"], b""), expected);
        assert_eq!(cli.succeed(&["decompress", "-"], &cli.read("a.b2nd")), expected);
        cli.succeed(&["decompress", "a.b2nd", "-o", "a.bin", "-f"], b"");
        assert_eq!(cli.read("a.bin"), expected);
    }
}
