//! The code of the headers that works without the library: the C programs check known results, and if the reference's
//! headers are available, both sets must give the same results for many inputs (`abi.md` 6, 16.9-16.11).

use libblosc2_test_support::support::child::target_command;

use crate::c_program::{build, reference_include, root, run, stdout_of};

#[test]
fn inline_functions_and_macros_do_as_specified() {
    super::bless_if_asked();
    let ours = stdout_of(&build("header_inlines.c", &root().join("include"), "ours", &[]));
    assert!(ours.lines().count() > 500);
    if let Some(include) = reference_include() {
        // The reference's headers need fewer flags.
        let theirs =
            stdout_of(&build("header_inlines.c", &include, "theirs", &["-DBLOSC2_REFERENCE_HEADERS".into()]));
        for (ours, theirs) in ours.lines().zip(theirs.lines()) {
            assert_eq!(ours, theirs);
        }
        assert_eq!(ours.lines().count(), theirs.lines().count());
    }
}

#[test]
fn messages_appear_when_the_environment_asks_for_them() {
    super::bless_if_asked();
    let program = build("header_inlines.c", &root().join("include"), "trace", &[]);
    let told = |variable: &str, value: &str| {
        let output = run(target_command(&program).arg("trace").env(variable, value));
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let traced = told("BLOSC_TRACE", "0");
    let mut lines = traced.lines();
    assert_eq!(lines.next(), Some("[warning] - w 1 (place.c:100)"));
    assert_eq!(lines.next(), Some("[error] - no argument (place.c:101)"));
    assert_eq!(lines.next(), Some("[info] - two and 2% (place.c:102)"));
    assert_eq!(lines.next(), Some("[other] - of its own category (place.c:103)"));
    let line = lines.next().expect("a line of BLOSC_ERROR with the text of the code");
    assert!(line.starts_with("[error] - Invalid data (") && line.contains("header_inlines.c:"), "{line}");
    assert_eq!(lines.next(), None);
    assert_eq!(told("BLOSC_INFO", ""), "[INFO] - told 3\n[INFO] - told\n");
    assert_eq!(told("UNRELATED", "1"), "");
}

#[test]
fn a_metalayer_can_be_read_without_the_library() {
    super::bless_if_asked();
    run(&mut target_command(&build("meta_alone.c", &root().join("include"), "alone", &[])));
}
