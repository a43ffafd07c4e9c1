//! What the automatic tuner optimises.

use crate::abi::{
    BLOSC2X_TUNER_BALANCED, BLOSC2X_TUNER_COMPRESSION, BLOSC2X_TUNER_DECOMPRESSION, blosc2x_tuner_params,
};
use crate::error::{Result, ensure, err};

/// The speed that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SpeedMode {
    /// The geometric mean of both speeds.
    #[default]
    Balanced,
    /// Speed of compression.
    Compression,
    /// Speed of decompression.
    Decompression,
}

/// What the automatic tuner optimises: `tradeoff * ln(ratio) + (1 - tradeoff) * ln(speed)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    tradeoff: f64,
    mode: SpeedMode,
}

impl Settings {
    /// Returns settings for a tradeoff from 0 (speed) to 1 (ratio).
    ///
    /// # Errors
    /// `InvalidParam` for another tradeoff.
    pub fn new(tradeoff: f64, mode: SpeedMode) -> Result<Settings> {
        ensure!(
            (0.0..=1.0).contains(&tradeoff),
            InvalidParam,
            "the tradeoff of the automatic tuner is {tradeoff}, expected 0 (speed) to 1 (ratio)"
        );
        // `-0.0` becomes 0.
        Ok(Settings { tradeoff: tradeoff.abs(), mode })
    }

    /// Returns the settings of a program.
    ///
    /// # Errors
    /// `InvalidParam` for an unknown mode, or a tradeoff that is out of range.
    pub(crate) fn from_params(params: &blosc2x_tuner_params) -> Result<Settings> {
        let mode = match params.mode {
            BLOSC2X_TUNER_BALANCED => SpeedMode::Balanced,
            BLOSC2X_TUNER_COMPRESSION => SpeedMode::Compression,
            BLOSC2X_TUNER_DECOMPRESSION => SpeedMode::Decompression,
            mode => {
                return Err(err!(
                    InvalidParam,
                    "the mode of the automatic tuner is {mode}, expected 0, 1 or 2"
                ));
            }
        };
        Settings::new(params.tradeoff, mode)
    }

    /// Returns the settings as a program passes them.
    pub(crate) fn to_params(self) -> blosc2x_tuner_params {
        blosc2x_tuner_params {
            size: size_of::<blosc2x_tuner_params>() as u32,
            mode: match self.mode {
                SpeedMode::Balanced => BLOSC2X_TUNER_BALANCED,
                SpeedMode::Compression => BLOSC2X_TUNER_COMPRESSION,
                SpeedMode::Decompression => BLOSC2X_TUNER_DECOMPRESSION,
            },
            tradeoff: self.tradeoff,
        }
    }

    /// Returns the same tradeoff for another speed.
    pub(crate) fn with_mode(self, mode: SpeedMode) -> Settings {
        Settings { mode, ..self }
    }

    /// Returns the tradeoff, from 0 (speed) to 1 (ratio).
    pub fn tradeoff(&self) -> f64 {
        self.tradeoff
    }

    /// Returns the speed that counts.
    pub fn mode(&self) -> SpeedMode {
        self.mode
    }

    /// Reads `TRADEOFF` or `TRADEOFF:MODE`, where the mode is `balanced`, `comp` or `decomp`.
    ///
    /// # Errors
    /// `InvalidParam` for another text.
    pub fn parse(text: &str) -> Result<Settings> {
        let (number, mode) = text.split_once(':').unwrap_or((text, "balanced"));
        let mode = match mode {
            "balanced" => SpeedMode::Balanced,
            "comp" => SpeedMode::Compression,
            "decomp" => SpeedMode::Decompression,
            _ => {
                return Err(err!(
                    InvalidParam,
                    "the mode of the automatic tuner is `{mode}`, expected balanced, comp or decomp"
                ));
            }
        };
        let tradeoff =
            number.parse().map_err(|_| err!(InvalidParam, "`{number}` is not a tradeoff from 0 to 1"))?;
        Settings::new(tradeoff, mode)
    }

    /// Returns the score of natural logarithms: of the compressed size divided by the size, and of the times of compression
    /// and decompression per byte.
    pub fn score(&self, size: f32, compress_time: f32, decompress_time: f32) -> f32 {
        let time = match self.mode {
            SpeedMode::Balanced => (compress_time + decompress_time) / 2.0,
            SpeedMode::Compression => compress_time,
            SpeedMode::Decompression => decompress_time,
        };
        let tradeoff = self.tradeoff as f32;
        -tradeoff * size - (1.0 - tradeoff) * time
    }
}
