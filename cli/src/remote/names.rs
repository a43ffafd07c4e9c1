//! URLs as arguments, and their names without secrets.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The schemes of URLs that the crate `object_store` reads.
const SCHEMES: [&str; 11] =
    ["s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss", "http", "https", "file"];

/// The URLs with a secret, by their names.
static SECRETS: LazyLock<Mutex<HashMap<String, String>>> = LazyLock::new(Mutex::default);

/// Returns the text of a path that is a URL.
pub(crate) fn url(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)).then_some(text)
}

/// Returns whether a path is a URL.
pub(crate) fn is_url(path: &Path) -> bool {
    url(path).is_some()
}

/// Returns the name of an argument: of a URL, the part without a password and a query.
pub(crate) fn name(argument: PathBuf) -> PathBuf {
    let Some(text) = url(&argument) else { return argument };
    let name = without_secrets(text);
    if name == text {
        return argument;
    }
    let mut secrets = SECRETS.lock().unwrap_or_else(PoisonError::into_inner);
    secrets.insert(name.clone(), text.to_owned());
    PathBuf::from(name)
}

/// Returns a URL without a password and a query.
fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    // The user of an `abfs` URL is the name of a file system.
    let is_secret = |user: &str| user.contains(':') || scheme.to_ascii_lowercase().starts_with("http");
    let host = match host.rsplit_once('@') {
        Some((user, host)) if is_secret(user) => host,
        _ => host,
    };
    format!("{scheme}://{host}{path}")
}

/// Returns the URL of a name, or of a file in the directory of that name.
#[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "no URL is opened"))]
pub(super) fn full_url(name: &str) -> String {
    let secrets = SECRETS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = secrets.iter().filter_map(|(known, url)| {
        let rest = name.strip_prefix(known.as_str())?;
        let is_below = rest.is_empty() || rest.starts_with('/') || known.ends_with('/');
        is_below.then(|| (known.len(), format!("{url}{rest}")))
    });
    let known = known.max_by_key(|(len, _)| *len).map(|(_, url)| url);
    known.unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_secret() {
        for (url, expected) in [
            ("s3://bucket/a.b2nd", "s3://bucket/a.b2nd"),
            ("https://user:geheim@host:80/a/b.b2nd", "https://host:80/a/b.b2nd"),
            ("https://token@host", "https://host"),
            ("https://host/a@b?token=geheim#x", "https://host/a@b"),
            ("abfs://system@account.dfs.core.windows.net/a", "abfs://system@account.dfs.core.windows.net/a"),
            ("HTTP://u:p@h/a", "HTTP://h/a"),
        ] {
            assert_eq!(name(url.into()), Path::new(expected));
        }
        assert_eq!(full_url("https://host:80/a/b.b2nd/x"), "https://user:geheim@host:80/a/b.b2nd/x");
        assert_eq!(full_url("s3://bucket/a.b2nd"), "s3://bucket/a.b2nd");
    }

    #[test]
    fn only_known_schemes_are_urls() {
        for path in ["s3://bucket/a", "file:///a", "HTTPS://host"] {
            assert!(is_url(Path::new(path)), "{path}");
        }
        for path in ["a", "/a/b", "s3:/a", "ftp://host/a", "-", "c:\\a", "a s3://b"] {
            assert!(!is_url(Path::new(path)), "{path}");
        }
    }
}
