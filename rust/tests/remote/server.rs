//! A web server for tests, with ranges, that counts its requests and can fail.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What the server does with requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Answers with this status and without a file.
    Status(u16),
    /// Closes the connection without an answer.
    Drop,
    /// Answers nothing, and keeps the connection.
    Stall,
    /// Sends half of the bytes and closes the connection.
    Truncate,
    /// States half of the length, and sends as many bytes.
    LieAboutLength,
    /// States twice the length of the file.
    LieAboutSize,
    /// Sends the whole file in place of a range.
    IgnoreRange,
    /// Sends the bytes after those of the range.
    ShiftRange,
}

#[derive(Default)]
struct State {
    files: HashMap<String, Vec<u8>>,
    fault: Option<Fault>,
    /// The version of all files.
    version: u64,
    /// The number of requests at a time until which the server answers none, for at most 20 seconds.
    gathered: usize,
    /// The path and the range of each request.
    requests: Vec<(String, Option<String>)>,
    /// The number of requests that are answered, and the highest since it was asked for.
    active: usize,
    max_active: usize,
}

pub struct Server {
    address: String,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub fn new() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<Mutex<State>>::default();
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                thread::spawn(move || serve(stream, &shared));
            }
        });
        Server { address, state }
    }

    pub fn add(&self, path: &str, bytes: Vec<u8>) {
        let mut state = self.state.lock().unwrap();
        state.files.insert(format!("/{path}"), bytes);
        state.version += 1;
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.address)
    }

    pub fn fail(&self, fault: Option<Fault>) {
        self.state.lock().unwrap().fault = fault;
    }

    /// Answers no request before `requests` have arrived at a time since the last call of `take_max_active`, or 20 seconds have
    /// passed.
    pub fn gather(&self, requests: usize) {
        self.state.lock().unwrap().gathered = requests;
    }

    /// Returns the highest number of requests at a time since the last call.
    pub fn take_max_active(&self) -> usize {
        std::mem::take(&mut self.state.lock().unwrap().max_active)
    }

    /// Returns the requests since the last call.
    pub fn take_requests(&self) -> Vec<(String, Option<String>)> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

/// Answers the requests of a connection.
fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    while let Some((is_head, path, headers)) = read_request(&mut lines) {
        if answer(&stream, state, is_head, &path, &headers).is_err() {
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    }
}

/// Returns whether the answer has no body, the path, and the headers.
fn read_request(lines: &mut impl BufRead) -> Option<(bool, String, HashMap<String, String>)> {
    let mut line = String::new();
    lines.read_line(&mut line).ok().filter(|&len| len > 0)?;
    let (method, path) = line.split_once(' ')?;
    let (is_head, path) = (method == "HEAD", path.split(' ').next()?.to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).ok()?;
        match line.trim().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => return Some((is_head, path, headers)),
        };
    }
}

fn answer(
    mut stream: &TcpStream,
    state: &Mutex<State>,
    is_head: bool,
    path: &str,
    headers: &HashMap<String, String>,
) -> std::io::Result<()> {
    let range = headers.get("range").cloned();
    let (file, fault, version) = {
        let mut state = state.lock().unwrap();
        state.requests.push((path.to_owned(), range.clone()));
        state.active += 1;
        state.max_active = state.max_active.max(state.active);
        (state.files.get(path).cloned(), state.fault, state.version)
    };
    let arrived = Instant::now();
    loop {
        let mut state = state.lock().unwrap();
        if state.max_active >= state.gathered || arrived.elapsed() > Duration::from_secs(20) {
            state.active -= 1;
            break;
        }
        drop(state);
        thread::sleep(Duration::from_millis(1));
    }
    match fault {
        Some(Fault::Drop) => return Err(std::io::ErrorKind::ConnectionAborted.into()),
        Some(Fault::Stall) => thread::sleep(Duration::from_secs(3600)),
        Some(Fault::Status(status)) => return empty(stream, status),
        _ => {}
    }
    let Some(file) = file else { return empty(stream, 404) };
    let tag = format!("\"{version}\"");
    if headers.get("if-match").is_some_and(|wanted| *wanted != tag) {
        return empty(stream, 412);
    }
    let (mut start, mut end) = (0, file.len());
    let asked = range.as_deref().filter(|_| fault != Some(Fault::IgnoreRange));
    if let Some((first, last)) = asked.and_then(|range| range.strip_prefix("bytes=")?.split_once('-')) {
        match (first.parse::<usize>(), last.parse::<usize>()) {
            (Ok(first), Ok(last)) => (start, end) = (first, (last + 1).min(end)),
            (Ok(first), Err(_)) => start = first,
            (Err(_), Ok(last)) => start = end.saturating_sub(last),
            _ => return empty(stream, 400),
        }
        if start >= end {
            return empty(stream, 416);
        }
    }
    let (status, mut size) = (if asked.is_some() { "206 Partial Content" } else { "200 OK" }, file.len());
    let shift = if fault == Some(Fault::ShiftRange) { 1.min(file.len() - end) } else { 0 };
    let mut body = &file[start + shift..end + shift];
    let mut len = body.len();
    match fault {
        Some(Fault::Truncate) => body = &body[..len / 2],
        Some(Fault::LieAboutLength) => {
            len /= 2;
            body = &body[..len];
        }
        Some(Fault::LieAboutSize) => size *= 2,
        _ => {}
    }
    let range = if asked.is_some() {
        format!("Content-Range: bytes {start}-{}/{size}\r\n", end - 1)
    } else {
        String::new()
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {len}\r\n{range}ETag: {tag}\r\n\
         Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\nAccept-Ranges: bytes\r\n\r\n"
    )?;
    if is_head {
        return Ok(());
    }
    stream.write_all(body)?;
    if fault == Some(Fault::Truncate) { Err(std::io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

fn empty(mut stream: &TcpStream, status: u16) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {status} -\r\nContent-Length: 0\r\n\r\n")
}
