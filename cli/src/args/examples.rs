//! Examples and exit codes, below the help of a verb and in its man page.

/// Verbs, with their text.
const TEXTS: [(&str, &str); 14] = [
    (
        "info",
        "Examples:
  blosc2 info data.b2nd
  blosc2 info --stats --json data.b2nd
  blosc2 info --tree directory store.b2z
  blosc2 info --why=0.9 data.b2nd
  blosc2 info --requests s3://bucket/data.b2nd

Exit codes: 0, success; 1, a file or a part of it cannot be read; 2, invalid arguments",
    ),
    (
        "compress",
        "Examples:
  blosc2 compress data.npy
  blosc2 compress -c lz4 -l 9 -t 4 --rm data.f32
  blosc2 compress --auto=0.9 data.f32
  blosc2 compress -r --dry-run directory
  tar cf - directory | blosc2 compress - -o directory.tar.b2frame
  blosc2 compress data.f32 -o s3://bucket/data.f32.b2frame

Exit codes: 0, success; 1, a file cannot be read or written; 2, invalid arguments",
    ),
    (
        "decompress",
        "Examples:
  blosc2 decompress data.f32.b2frame
  blosc2 decompress data.f32.b2frame -o - | head -c 100
  blosc2 decompress -r --rm directory

Exit codes: 0, success; 1, a file is missing, damaged or cannot be written; 2, invalid arguments",
    ),
    (
        "import",
        "Examples:
  blosc2 import data.npy data.b2nd
  blosc2 import --chunks 100,1000 -c zstd -l 9 data.npy data.b2nd
  blosc2 import --shape 1000,1000 --dtype '<f4' data.raw data.b2nd

Exit codes: 0, success; 1, a file is missing, does not fit or cannot be written; 2, invalid arguments",
    ),
    (
        "export",
        "Examples:
  blosc2 export data.b2nd data.npy
  blosc2 export --slice '::10,...' data.b2nd part.npy
  blosc2 export store.b2z/group/array data.raw
  blosc2 export --slice 0:100 s3://bucket/data.b2nd part.npy

Exit codes: 0, success; 1, a file is missing, damaged or cannot be written; 2, invalid arguments",
    ),
    (
        "cat",
        "Examples:
  blosc2 cat data.b2nd
  blosc2 cat --csv table.b2nd > table.csv
  blosc2 cat --dtype f4 data.f32.b2frame

Exit codes: 0, success; 1, a file is missing or damaged; 2, invalid arguments",
    ),
    (
        "slice",
        "Examples:
  blosc2 slice data.b2nd 0:10,...,-1
  blosc2 slice --json data.b2nd '::100'
  blosc2 slice https://host/data.b2nd 0:10,...,-1

Exit codes: 0, success; 1, a file is missing or damaged; 2, invalid arguments",
    ),
    (
        "verify",
        "Examples:
  blosc2 verify data.b2nd
  blosc2 verify -r directory
  blosc2 verify --against data.npy data.b2nd

Exit codes: 0, all files are whole; 1, a file is damaged, missing or different; 2, invalid arguments",
    ),
    (
        "repair",
        "Examples:
  blosc2 repair damaged.b2nd -o saved.b2nd

Exit codes: 0, all is saved; 1, nothing is saved; 2, damaged parts are not saved, or invalid arguments",
    ),
    (
        "recompress",
        "Examples:
  blosc2 recompress -c zstd -l 9 data.b2nd
  blosc2 recompress --chunks 100,100 --blocks 10,100 data.b2nd -o rechunked.b2nd
  blosc2 recompress -r -c lz4 directory

Exit codes: 0, success; 1, a file is missing, damaged or cannot be written; 2, invalid arguments",
    ),
    (
        "append",
        "Examples:
  blosc2 append log.b2frame more.log
  blosc2 append --axis 0 data.b2nd rows.npy

Exit codes: 0, success; 1, a file is missing, does not fit or cannot be written; 2, invalid arguments",
    ),
    (
        "bench",
        "Examples:
  blosc2 bench data.npy
  blosc2 bench --target ratio --top 5 --codecs zstd --levels 1,3,5,7,9 data.npy
  blosc2 bench --svg chart.svg --seconds 60 data.b2nd

Exit codes: 0, success; 1, a file cannot be read or written; 2, invalid arguments",
    ),
    (
        "diff",
        "Examples:
  blosc2 diff a.b2nd b.b2nd
  blosc2 diff --rtol 1e-5 --atol 1e-8 --equal-nan a.b2nd b.npy
  blosc2 diff -q a.b2frame a
  blosc2 diff data.b2nd s3://bucket/data.b2nd

Exit codes: 0, the contents are equal; 1, they differ; 2, not compared, or invalid arguments",
    ),
    (
        "meta",
        "Examples:
  blosc2 meta get data.b2nd
  blosc2 meta set data.b2nd unit '\"K\"'
  blosc2 meta rm data.b2nd unit

Exit codes: 0, success; 1, a file or metalayer is missing or cannot be written; 2, invalid arguments",
    ),
];

/// Returns the text of a verb, if there is one.
pub(super) fn of(verb: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(name, _)| *name == verb).map(|(_, text)| *text)
}
