//! Options as in zstd and gzip, old spellings, trees of files, and files with holes.

mod commands;

use blosc2::{Split, SuperChunk};
use commands::{Cli, numbers, stderr};
use std::fs;

#[test]
fn old_spellings_work_with_a_hint() {
    let cli = Cli::new();
    cli.write("a", &numbers(10_000));
    cli.succeed(&["compress", "-q", "-t4", "--filters=bitshuffle", "a"], b"");
    let expected = cli.read("a.b2frame");
    let output = cli.run(&["compress", "-t4", "-f", "bitshuffle", "-F", "a"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).starts_with(
        "blosc2: -f is --force now, --filters bitshuffle the option for filters\n\
         blosc2: -F is the old spelling of -f, --force\n"
    ));
    assert_eq!(cli.read("a.b2frame"), expected);
    // A file with the name of a filter is a file.
    cli.write("shuffle", &numbers(100));
    cli.succeed(&["compress", "-f", "shuffle"], b"");
    cli.succeed(&["decompress", "-f", "shuffle.b2frame"], b"");
    assert_eq!(cli.read("shuffle"), numbers(100));
}

#[test]
fn trees_are_compressed_and_decompressed() {
    let cli = Cli::new();
    fs::create_dir_all(cli.path("t/u/v")).unwrap();
    for (name, len) in [("t/a", 10), ("t/u/b", 5000), ("t/u/v/c", 0)] {
        cli.write(name, &numbers(len));
    }
    assert!(cli.fail(&["compress", "t"], 1).contains("-r compresses the files in it"));
    let listed = cli.succeed(&["compress", "-r", "--dry-run", "-t4", "t"], b"");
    let listed = String::from_utf8(listed).unwrap();
    assert_eq!(
        listed,
        "t/a -> t/a.b2frame (items of 4 bytes)\nt/u/b -> t/u/b.b2frame (items of 4 bytes)\n\
         t/u/v/c -> t/u/v/c.b2frame (items of 4 bytes)\n"
    );
    assert_eq!(commands::names(&cli.path("t")), ["a", "u"]);
    cli.succeed(&["compress", "-r", "--rm", "t"], b"");
    assert_eq!(commands::names(&cli.path("t/u")), ["b.b2frame", "v"]);
    // Compressed files are left out, also by a second run.
    cli.succeed(&["compress", "-r", "t"], b"");
    assert_eq!(
        cli.succeed(&["decompress", "-r", "--dry-run", "t/u/v"], b""),
        b"t/u/v/c.b2frame -> t/u/v/c\n"
    );
    cli.succeed(&["compress", "-d", "-r", "--rm", "t"], b"");
    for (name, len) in [("t/a", 10), ("t/u/b", 5000), ("t/u/v/c", 0)] {
        assert_eq!(cli.read(name), numbers(len));
        assert!(!cli.path(&format!("{name}.b2frame")).exists());
    }
    assert!(cli.fail(&["compress", "--dry-run", "-o", "t/a", "t/u/b"], 1).contains("exists already"));
}

#[test]
fn dictionaries_and_streams_are_chosen() {
    let cli = Cli::new();
    cli.write("a", &numbers(400_000));
    cli.succeed(&["compress", "-t4", "--dict", "--split=never", "--blocksize=1KiB", "a"], b"");
    let params = SuperChunk::open(cli.path("a.b2frame")).unwrap().info().params;
    assert!(params.get_dictionary());
    assert_eq!(params.get_blocksize(), 1024);
    assert_eq!(params.get_split(), Split::Never);
    assert_eq!(cli.succeed(&["decompress", "a.b2frame", "-o", "-"], b""), numbers(400_000));
    assert!(cli.fail(&["compress", "-f", "--dict", "-c", "zlib", "a"], 2).contains("dictionar"));
}

#[cfg(unix)]
#[test]
fn zeros_are_holes_unless_no_sparse() {
    use std::os::unix::fs::MetadataExt;
    let cli = Cli::new();
    let mut content = vec![0; 20 << 20];
    content[5_000_000..5_000_100].fill(7);
    cli.write("a", &content);
    cli.succeed(&["compress", "a"], b"");
    cli.succeed(&["decompress", "a.b2frame", "-o", "holes"], b"");
    cli.succeed(&["decompress", "--no-sparse", "a.b2frame", "-o", "full"], b"");
    cli.succeed(&["import", "a", "a.b2nd", "--shape=1048576,20", "--dtype=u1"], b"");
    cli.succeed(&["export", "a.b2nd", "items"], b"");
    for name in ["holes", "full", "items"] {
        assert!(cli.read(name) == content, "{name}");
    }
    let blocks = |name: &str| cli.path(name).metadata().unwrap().blocks();
    // Of a file system without holes, nothing is checked.
    let sparse = fs::File::create(cli.path("sparse")).unwrap();
    sparse.set_len(20 << 20).unwrap();
    if blocks("sparse") < 100 {
        assert!(blocks("holes") < 1000 && blocks("items") < 1000);
        assert!(blocks("full") >= 40 << 10);
    }
}
