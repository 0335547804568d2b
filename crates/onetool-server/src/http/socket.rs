//! The socket of a connection, with its timeouts.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A stream that fails if the client does not read for too long while data is pending.
pub(super) struct Socket {
    stream: TcpStream,
    write_timeout: Duration,
    /// Runs while a write is blocked.
    stalled: Option<Pin<Box<tokio::time::Sleep>>>,
    /// Set whenever bytes arrive.
    arrived: Arc<AtomicBool>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, write_timeout: Duration, arrived: Arc<AtomicBool>) -> Self {
        Self { stream, write_timeout, stalled: None, arrived }
    }

    /// Polls a write, and starts the timeout if it blocks.
    fn poll_writing<T>(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(written) = poll(Pin::new(&mut self.stream), cx) {
            self.stalled = None;
            return Poll::Ready(written);
        }
        let timeout = self.write_timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client stopped reading the response")))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.arrived.store(true, Ordering::Relaxed);
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_writing(cx, |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_writing(cx, |stream, cx| stream.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_writing(cx, TcpStream::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_writing(cx, TcpStream::poll_shutdown)
    }
}

/// The timer for the head of each request.
///
/// hyper has only one timeout for the pause between two requests and for the head itself. With this timer, the pause may
/// be long, but the first head of a connection, and the rest of a head that has started to arrive, must arrive soon.
pub(super) struct HeadTimer {
    header_timeout: Duration,
    idle_timeout: Duration,
    arrived: Arc<AtomicBool>,
    has_started: AtomicBool,
}

impl HeadTimer {
    pub(super) fn new(header_timeout: Duration, idle_timeout: Duration, arrived: Arc<AtomicBool>) -> Self {
        Self { header_timeout, idle_timeout, arrived, has_started: AtomicBool::new(false) }
    }
}

impl Timer for HeadTimer {
    fn sleep(&self, _: Duration) -> Pin<Box<dyn Sleep>> {
        let is_first = !self.has_started.swap(true, Ordering::Relaxed);
        self.arrived.store(false, Ordering::Relaxed);
        let timeout = if is_first { self.header_timeout } else { self.idle_timeout };
        Box::pin(HeadSleep {
            sleep: Box::pin(tokio::time::sleep(timeout)),
            header_timeout: self.header_timeout,
            arriving: (!is_first).then(|| self.arrived.clone()),
        })
    }

    fn sleep_until(&self, _: Instant) -> Pin<Box<dyn Sleep>> {
        self.sleep(Duration::ZERO)
    }
}

/// The timeout of one head.
struct HeadSleep {
    sleep: Pin<Box<tokio::time::Sleep>>,
    header_timeout: Duration,
    /// Set when the first bytes arrive; `None` afterwards, and for the first head.
    arriving: Option<Arc<AtomicBool>>,
}

impl Sleep for HeadSleep {}

impl Future for HeadSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.arriving.take_if(|arrived| arrived.load(Ordering::Relaxed)).is_some() {
            let deadline = tokio::time::Instant::now() + self.header_timeout;
            self.sleep.as_mut().reset(deadline);
        }
        self.sleep.as_mut().poll(cx)
    }
}
