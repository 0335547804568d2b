//! Notifications about sessions whose list of tools changed. They say that something changed, not what.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Poll, Waker};

use super::SessionKey;
use crate::sync::Unpoisoned as _;

/// The side of a store that announces changes. Changes in a row are one notification.
#[derive(Default)]
pub struct SessionFeed(Arc<Listeners>);

#[derive(Default)]
struct Listeners(Mutex<HashMap<SessionKey, Vec<Arc<Listener>>>>);

#[derive(Default)]
struct Listener(Mutex<Heard>);

#[derive(Default)]
struct Heard {
    changes: u64,
    waker: Option<Waker>,
}

impl SessionFeed {
    /// Notifies everyone who watches a session.
    pub fn notify(&self, session: &SessionKey) {
        // Without the lock, because a woken task may drop its watch.
        let listeners = self.0.lock().get(session).cloned();
        for listener in listeners.into_iter().flatten() {
            listener.notify();
        }
    }

    /// Notifies everyone: anything may have changed while the store could not say.
    pub fn notify_all(&self) {
        let listeners: Vec<_> = self.0.lock().values().flatten().cloned().collect();
        for listener in listeners {
            listener.notify();
        }
    }

    /// Starts to watch some sessions.
    pub fn watch(&self, sessions: Vec<SessionKey>) -> SessionWatch {
        let listener = Arc::new(Listener::default());
        let mut listeners = self.0.lock();
        for session in &sessions {
            listeners.entry(session.clone()).or_default().push(listener.clone());
        }
        drop(listeners);
        SessionWatch { sessions, listener, seen: 0, feed: Arc::downgrade(&self.0) }
    }
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, Vec<Arc<Listener>>>> {
        self.0.lock().unpoisoned()
    }
}

impl Listener {
    fn notify(&self) {
        let mut heard = self.0.lock().unpoisoned();
        heard.changes += 1;
        let waker = heard.waker.take();
        drop(heard);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Notices changes of some sessions from its creation on.
pub struct SessionWatch {
    sessions: Vec<SessionKey>,
    listener: Arc<Listener>,
    seen: u64,
    feed: Weak<Listeners>,
}

impl SessionWatch {
    /// Returns how many changes there have been. The number only grows.
    pub fn changes(&self) -> u64 {
        self.listener.0.lock().unpoisoned().changes
    }

    /// Waits for a change since the last call, or since the creation.
    pub async fn changed(&mut self) {
        let Self { listener, seen, .. } = self;
        poll_fn(|cx| {
            let mut heard = listener.0.lock().unpoisoned();
            if heard.changes == *seen {
                heard.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            *seen = heard.changes;
            Poll::Ready(())
        })
        .await;
    }
}

impl Drop for SessionWatch {
    fn drop(&mut self) {
        let Some(feed) = self.feed.upgrade() else { return };
        let mut listeners = feed.lock();
        for session in &self.sessions {
            if let Some(those) = listeners.get_mut(session) {
                those.retain(|it| !Arc::ptr_eq(it, &self.listener));
                if those.is_empty() {
                    listeners.remove(session);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Context;

    use super::*;
    use crate::SessionId;

    fn key(id: &str) -> SessionKey {
        SessionKey::Session(SessionId::new(id))
    }

    /// Returns whether a watch has noticed a change.
    fn has_changed(watch: &mut SessionWatch) -> bool {
        pin!(watch.changed()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn changes_in_a_row_are_one_notification() {
        let feed = SessionFeed::default();
        let mut watch = feed.watch(vec![key("a"), key("b")]);
        assert!(!has_changed(&mut watch));
        feed.notify(&key("a"));
        feed.notify(&key("b"));
        feed.notify(&key("c"));
        assert_eq!(watch.changes(), 2);
        assert!(has_changed(&mut watch));
        assert!(!has_changed(&mut watch));
        feed.notify_all();
        assert!(has_changed(&mut watch));
    }

    #[test]
    fn a_dropped_watch_leaves_nothing_behind() {
        let feed = SessionFeed::default();
        let (first, second) = (feed.watch(vec![key("a")]), feed.watch(vec![key("a"), key("b")]));
        drop(second);
        assert_eq!(feed.0.lock().len(), 1);
        drop(first);
        assert!(feed.0.lock().is_empty());
        let orphan = SessionFeed::default().watch(vec![key("a")]);
        drop(orphan);
    }
}
