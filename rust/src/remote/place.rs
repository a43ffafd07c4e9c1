//! URLs of stores and their files.

use super::settings::Settings;
use crate::error::{Error, ErrorKind, Result};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreScheme, RetryConfig};
use std::sync::Arc;
use url::Url;

/// A parsed URL.
pub(super) struct Place {
    url: Url,
    scheme: ObjectStoreScheme,
    pub(super) path: Path,
    /// The URL of the store without a secret, for messages.
    pub(super) shown: String,
    /// The user and the password of the URL.
    pub(super) secret: Option<String>,
}

impl Place {
    pub(super) fn parse(text: &str) -> Result<Place> {
        let url = Url::parse(text).map_err(|error| Error::param(format!("the URL is not valid: {error}")))?;
        let mut shown = url.clone();
        // A URL without a host has no user.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        let shown = shown[..url::Position::BeforePath].to_owned();
        if url.query().is_some() || url.fragment().is_some() {
            return Err(Error::param(format!(
                "{shown}{}: a URL with `?` or `#` is not supported",
                url.path()
            )));
        }
        let parsed = ObjectStoreScheme::parse(&url);
        let (scheme, path) =
            parsed.map_err(|error| Error::param(format!("{shown}{}: {error}", url.path())))?;
        let has_secret = url.password().is_some() || !url.username().is_empty();
        let secret =
            has_secret.then(|| url[url::Position::BeforeUsername..url::Position::AfterPassword].to_owned());
        Ok(Place { url, scheme, path, shown, secret })
    }

    /// Returns a text that determines the store: its URL with user and password.
    pub(super) fn key(&self) -> &str {
        // The path of such a URL begins with the name of a bucket.
        let is_api = self.url.scheme().starts_with("http") && self.scheme != ObjectStoreScheme::Http;
        if is_api { self.url.as_str() } else { &self.url[..url::Position::BeforePath] }
    }

    /// Returns the store, with the options of the environment and of the caller.
    pub(super) fn store(&self, settings: &Settings) -> Result<Arc<dyn ObjectStore>> {
        #[cfg(test)]
        if let Some(store) = &settings.store {
            return Ok(store.clone());
        }
        let mut retry = RetryConfig { retry_timeout: settings.time_limit, ..RetryConfig::default() };
        if !settings.has_retries {
            retry.max_retries = 0;
        }
        let has_prefix =
            |name: &str| ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|prefix| name.starts_with(prefix));
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| has_prefix(name));
        let mut options: Vec<(String, String)> = variables.collect();
        if self.url.scheme() == "http" {
            options.push(("allow_http".to_owned(), "true".to_owned()));
        }
        options.push(("timeout".to_owned(), format!("{}ms", settings.time_limit.as_millis().max(1))));
        options.extend(settings.options.iter().cloned());
        let named = |name: &str| name.to_ascii_lowercase();
        macro_rules! build {
            ($builder:expr) => {{
                let mut builder = $builder;
                for (name, value) in &options {
                    // Options of other stores are ignored.
                    if let Ok(key) = named(name).parse() {
                        builder = builder.with_config(key, value);
                    }
                }
                builder.with_retry(retry).build().map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
            }};
        }
        let url = self.url.as_str();
        let store = match self.scheme {
            ObjectStoreScheme::Local => Ok(Arc::new(object_store::local::LocalFileSystem::new()) as _),
            ObjectStoreScheme::AmazonS3 => build!(object_store::aws::AmazonS3Builder::new().with_url(url)),
            ObjectStoreScheme::GoogleCloudStorage => {
                build!(object_store::gcp::GoogleCloudStorageBuilder::new().with_url(url))
            }
            ObjectStoreScheme::MicrosoftAzure => {
                build!(object_store::azure::MicrosoftAzureBuilder::new().with_url(url))
            }
            ObjectStoreScheme::Http => {
                build!(
                    object_store::http::HttpBuilder::new().with_url(&self.url[..url::Position::BeforePath])
                )
            }
            _ => return Err(Error::param(format!("{}: URLs of this kind are not supported", self.shown))),
        };
        store.map_err(|error| Error::new(ErrorKind::FileOpen, format!("{}: {error}", self.shown)))
    }
}
