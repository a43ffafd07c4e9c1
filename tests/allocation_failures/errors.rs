//! Errors when memory runs out: the error code is returned, with or without memory for the message.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::{null, null_mut};

use crate::support::child::{test_again, test_name};
use blosc2::abi::{blosc2_context, blosc2_cparams};
use blosc2::capi::blosc2x::blosc2x_last_error;
use blosc2::capi::defaults::{blosc2_get_blosc2_cparams_defaults, blosc2_get_blosc2_dparams_defaults};
use blosc2::{Error, ErrorKind, err};

use crate::injection::without_memory;
use crate::support::exported::{
    blosc2_compress, blosc2_create_cctx, blosc2_create_dctx, blosc2_decompress, blosc2_decompress_ctx,
    blosc2_free_ctx, blosc2_getitem_ctx, blosc2_schunk_free, blosc2_vlcompress_ctx,
};

/// Writes the message of an error into a buffer, without allocating.
fn format_without_allocating(error: &Error) -> ([u8; 200], usize) {
    use std::io::Write;
    let mut buffer = [0; 200];
    let mut rest = &mut buffer[..];
    write!(rest, "{error:#}").expect("enough space");
    let left = rest.len();
    (buffer, 200 - left)
}

#[test]
fn an_error_keeps_its_kind_without_memory_for_its_text() {
    let found = std::hint::black_box(17);
    let make = || {
        err!(InvalidHeader, "{found} blocks, {found} bytes, {found} items, and the text grows several times")
    };
    let mut shortest = usize::MAX;
    for succeeding in 0.. {
        let (error, failed) = without_memory(succeeding, make);
        assert_eq!((error.kind(), error.code()), (ErrorKind::InvalidHeader, -11));
        let ((text, len), failed_then) = without_memory(0, || format_without_allocating(&error));
        assert_eq!(failed_then, 0, "displaying an error takes no memory");
        assert!(text[..len].starts_with(b"Invalid value in header"));
        shortest = shortest.min(len);
        if failed == 0 {
            assert!(text[..len].ends_with(b"grows several times"));
            assert!(len > shortest && succeeding > 0, "the text takes memory");
            return;
        }
    }
}

#[test]
fn an_error_with_a_constant_text_keeps_its_kind() {
    for succeeding in 0..2 {
        let (error, _) = without_memory(succeeding, || err!(NullPointer, "nothing there"));
        assert_eq!(error.code(), -32);
    }
    let code = err!(Failure, "{}", std::hint::black_box(5));
    let (code, _) = without_memory(0, || err!(Failure, "{code}").code());
    assert_eq!(code, -1);
}

/// A chunk of 1000 items, and contexts for compression and decompression.
struct ErrorFixture {
    chunk: Vec<u8>,
    reader: *mut blosc2_context,
    writer: *mut blosc2_context,
}

impl ErrorFixture {
    fn new() -> ErrorFixture {
        let source: Vec<u8> = (0..4000u32).map(|at| (at * at / 97) as u8).collect();
        let mut chunk = vec![0; 5000];
        let cparams = blosc2_cparams { typesize: 4, ..blosc2_get_blosc2_cparams_defaults() };
        // SAFETY: buffers with their true lengths; structs without pointers.
        unsafe {
            let cbytes =
                blosc2_compress(5, 1, 4, source.as_ptr().cast(), 4000, chunk.as_mut_ptr().cast(), 5000);
            assert!(cbytes > 0);
            chunk.truncate(cbytes as usize);
            let reader = blosc2_create_dctx(blosc2_get_blosc2_dparams_defaults());
            ErrorFixture { chunk, reader, writer: blosc2_create_cctx(cparams) }
        }
    }

    fn decompress(&self, chunk: &[u8], room: usize) -> c_int {
        let mut dest = [0u8; 4000];
        // SAFETY: a live context, buffers with their true lengths.
        unsafe {
            let (chunk, len) = (chunk.as_ptr().cast(), chunk.len() as i32);
            let code = blosc2_decompress_ctx(self.reader, chunk, len, dest.as_mut_ptr().cast(), room as i32);
            assert_eq!(code, blosc2_decompress(chunk, len, dest.as_mut_ptr().cast(), room as i32));
            code
        }
    }

    fn getitem(&self, start: i32) -> c_int {
        let mut dest = [0u8; 40];
        let (chunk, len) = (self.chunk.as_ptr().cast(), self.chunk.len() as i32);
        // SAFETY: as above.
        unsafe { blosc2_getitem_ctx(self.reader, chunk, len, start, 10, dest.as_mut_ptr().cast(), 40) }
    }

    fn vlcompress(&self) -> c_int {
        let block = [7u8; 100];
        let sources = [block.as_ptr().cast(); 5];
        let mut dest = [0u8; 1000];
        // SAFETY: five blocks of 100 bytes; as above.
        unsafe {
            let sizes = [100; 5];
            let dest = dest.as_mut_ptr().cast();
            blosc2_vlcompress_ctx(self.writer, sources.as_ptr(), sizes.as_ptr(), 5, dest, 1000)
        }
    }

    /// Returns calls that fail, each with its return code when memory is available, and without memory.
    fn failing_calls(&self) -> Vec<(&'static str, c_int, c_int)> {
        let mut bad_blocksize = self.chunk.clone();
        bad_blocksize[8..12].fill(0);
        let mut bad_size = self.chunk.clone();
        bad_size[4..8].fill(0xFF);
        let calls: [(&str, &dyn Fn() -> c_int); 7] = [
            ("a chunk that is cut off", &|| self.decompress(&self.chunk[..self.chunk.len() - 1], 4000)),
            ("a block size of 0", &|| self.decompress(&bad_blocksize, 4000)),
            ("a size below 0", &|| self.decompress(&bad_size, 4000)),
            ("a destination that is too short", &|| self.decompress(&self.chunk, 3999)),
            ("items behind the end", &|| self.getitem(995)),
            // SAFETY: NULL is no super-chunk.
            ("no super-chunk", &|| unsafe { blosc2_schunk_free(null_mut()) }),
            ("a table that takes memory", &|| self.vlcompress()),
        ];
        let told = |(what, call): (&'static str, &dyn Fn() -> c_int)| {
            let with_memory = call();
            (what, with_memory, without_memory(0, call).0)
        };
        calls.into_iter().map(told).collect()
    }
}

impl Drop for ErrorFixture {
    fn drop(&mut self) {
        // SAFETY: live contexts, freed once.
        unsafe {
            blosc2_free_ctx(self.reader);
            blosc2_free_ctx(self.writer);
        }
    }
}

#[test]
fn calls_that_fail_return_their_codes_without_memory() {
    for (what, with_memory, without) in ErrorFixture::new().failing_calls() {
        match what {
            "a table that takes memory" => assert!(with_memory > 0 && without == -4, "{what}: {without}"),
            "no super-chunk" => assert_eq!((with_memory, without), (0, 0)),
            _ => assert!(with_memory < 0 && without == with_memory, "{what}: {with_memory}, {without}"),
        }
    }
}

/// Runs in new threads, so that memory is also missing for what the first error of a thread needs.
#[test]
fn last_error_has_a_text_without_memory() {
    let is_text_of = |text: *const c_char, start: &[u8]| {
        // SAFETY: a string that no other call of this thread has replaced.
        unsafe { CStr::from_ptr(text) }.to_bytes_with_nul().starts_with(start)
    };
    for succeeding in 0..6 {
        let fail_in_thread = move || {
            // SAFETY: NULL is refused.
            let fail = || unsafe { blosc2_decompress(null(), 17, null_mut(), 0) };
            let (code, failed) = without_memory(succeeding, fail);
            assert_eq!(code, -32);
            let (text, _) = without_memory(0, || blosc2x_last_error());
            assert!(is_text_of(text, b"Pointer is null\0"), "{succeeding}");
            let text = blosc2x_last_error();
            assert!(is_text_of(text, b"Pointer is null"));
            assert_eq!(
                is_text_of(text, b"Pointer is null: the source is NULL, expected 17 bytes"),
                failed == 0
            );
            failed
        };
        let failed = std::thread::spawn(fail_in_thread).join().expect("no panic");
        assert_eq!(failed > 0, succeeding < 3, "{succeeding}: {failed} allocations failed");
    }
}

/// With `BLOSC_TRACE` the message goes to standard error; without memory for it, the line is shorter. Runs in a
/// separate process, since the variable applies to the whole process.
#[test]
fn errors_are_traced_without_memory() {
    if std::env::var_os("BLOSC_TRACE").is_some() {
        ErrorFixture::new().failing_calls();
        return;
    }
    let output = test_again(test_name!()).env("BLOSC_TRACE", "1").output().expect("a child");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    // Nine errors with memory, nine without, and one for the table.
    assert_eq!(text.matches("[error] - ").count(), 19, "{text}");
    assert_eq!(text.matches("(no memory for the details)").count(), 10, "{text}");
}
