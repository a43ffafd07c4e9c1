//! Spellings of options before version 0.2: `-f FILTERS` for `--filters`, and `-F` for `-f`.

use super::compression::parse_filter;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Returns the arguments with today's spellings, and a hint for each that was replaced.
pub(crate) fn with_new_spellings(arguments: Vec<OsString>) -> (Vec<OsString>, Vec<String>) {
    let (mut new, mut hints) = (Vec::with_capacity(arguments.len()), Vec::new());
    let mut arguments = arguments.into_iter().peekable();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            new.push(argument);
            break;
        }
        let value = match argument.to_str() {
            Some("-F") => {
                hints.push("-F is the old spelling of -f, --force".to_owned());
                new.push("-f".into());
                continue;
            }
            Some("-f") => arguments.next_if(|next| is_filters(next)),
            Some(text) => text.strip_prefix("-f").map(OsString::from).filter(|value| is_filters(value)),
            None => None,
        };
        match value {
            Some(value) => {
                hints.push(format!(
                    "-f is --force now, --filters {0} the option for filters",
                    value.display()
                ));
                new.extend(["--filters".into(), value]);
            }
            None => new.push(argument),
        }
    }
    new.extend(arguments);
    (new, hints)
}

/// Returns whether a text is a list of filters, and not the name of a file.
fn is_filters(text: &OsStr) -> bool {
    let is_list = |text: &str| text.split(',').all(|filter| parse_filter(filter).is_ok());
    text.to_str().is_some_and(is_list) && !Path::new(text).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_spellings_are_replaced() {
        for (old, new, hints) in [
            ("compress -f shuffle a", "compress --filters shuffle a", 1),
            ("compress -fbitshuffle,delta -F a", "compress --filters bitshuffle,delta -f a", 2),
            ("compress -f a", "compress -f a", 0),
            ("compress -fv a", "compress -fv a", 0),
            ("compress -- -F", "compress -- -F", 0),
        ] {
            let words = old.split(' ').map(OsString::from).collect();
            let (found, found_hints) = with_new_spellings(words);
            assert_eq!(found.join(OsStr::new(" ")), new);
            assert_eq!(found_hints.len(), hints, "{old}");
        }
    }
}
