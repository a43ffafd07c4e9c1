//! The output of `b2nd_print_meta` (b2nd.md 6.16). It runs in child processes, as it writes to the stdout of the
//! process.

use crate::support::array::ArraySpec;
use crate::support::child::{test_again, test_name};
use crate::support::library::Library;

/// The environment variable with the name of the library for a child.
const CHILD_VARIABLE: &str = "BLOSC2_PRINTED_BY";

const EXPECTED_OUTPUT: &str = "b2nd metalayer parameters:
 Ndim:       2
 shape:      5, 7
 chunkshape: 3, 4
 dtype: |S1
 blockshape: 2, 2
";

fn print(library: &'static Library) {
    let array = ArraySpec::new(&[5, 7], &[3, 4], &[2, 2], 1).zeros(library);
    // SAFETY: a live array; afterwards the C stream is flushed.
    unsafe {
        assert_eq!((array.functions.b2nd_print_meta)(array.raw()), 0);
        libc::fflush(std::ptr::null_mut());
    }
}

#[test]
fn print_meta_writes_the_documented_text() {
    if let Ok(name) = std::env::var(CHILD_VARIABLE) {
        return print(if name == "ours" {
            Library::ours()
        } else {
            Library::reference().expect("the reference")
        });
    }
    let mut libraries = vec!["ours"];
    libraries.extend(crate::support::both_libraries().map(|_| "reference"));
    for name in libraries {
        let output = test_again(test_name!()).env(CHILD_VARIABLE, name).output().expect("a child");
        // Windows ends lines with two characters.
        let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
        assert!(
            output.status.success() && text.contains(EXPECTED_OUTPUT),
            "{name}: {}\n{text}",
            output.status
        );
    }
}
