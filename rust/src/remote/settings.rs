//! How requests are made, and what is told of them.

#[cfg(test)]
use object_store::ObjectStore;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A request that a store has answered, for [`Client::on_request`](super::Client::on_request).
///
/// ```
/// let client = blosc2::remote::Client::new().on_request(|request: &blosc2::remote::Request| {
///     eprintln!("{} {} {:?}: {} bytes", request.method, request.url, request.range, request.nbytes);
/// });
/// assert_eq!(client.requests(), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// `GET`, `PUT`, `POST` or `DELETE`.
    pub method: &'static str,
    /// The URL without user, password and options.
    pub url: String,
    /// The bytes of the file that were received or sent.
    pub range: Range<u64>,
    /// The number of bytes that were received or sent.
    pub nbytes: u64,
    /// The time until the last byte.
    pub time: Duration,
}

/// A function that gets each request.
pub(super) type Observer = Arc<dyn Fn(&Request) + Send + Sync>;

/// How requests are made.
#[derive(Clone)]
pub(super) struct Settings {
    /// Names and values of options of the crate `object_store`.
    pub(super) options: Vec<(String, String)>,
    /// The time of a request with its repetitions.
    pub(super) time_limit: Duration,
    /// The number of requests at a time.
    pub(super) parallel: usize,
    /// The largest distance in bytes of ranges that are joined.
    pub(super) max_gap: u64,
    /// The longest request in bytes: longer ranges are fetched by several at a time.
    pub(super) max_request: u64,
    /// Whether requests are repeated after errors of the server or the network.
    pub(super) has_retries: bool,
    pub(super) observer: Option<Observer>,
    /// A store for all URLs.
    #[cfg(test)]
    pub(super) store: Option<Arc<dyn ObjectStore>>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of options may be secrets.
        let options: Vec<&str> = self.options.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Settings")
            .field("options", &options)
            .field("time_limit", &self.time_limit)
            .field("parallel", &self.parallel)
            .field("max_gap", &self.max_gap)
            .field("max_request", &self.max_request)
            .finish_non_exhaustive()
    }
}
