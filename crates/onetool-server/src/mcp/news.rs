//! Notifies clients of changes: lists of tools, resources and prompts, and single resources they watch.

use std::sync::Arc;

use onetool_core::Caller;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::session::Session;
use crate::catalog::{Change, SessionKey};
use crate::{Capabilities, Server};

/// Waits for changes. Combines several changes in a row.
struct News {
    seen: Change,
    changes: watch::Receiver<Change>,
    updates: broadcast::Receiver<Arc<str>>,
    /// The session, and all sessions of its caller.
    sessions: [SessionKey; 2],
    loads: broadcast::Receiver<SessionKey>,
}

enum Item {
    Lists(ChangedLists),
    Resource(Arc<str>),
}

#[derive(Clone, Copy)]
struct ChangedLists {
    tools: bool,
    resources: bool,
    prompts: bool,
}

impl ChangedLists {
    const TOOLS: Self = Self { tools: true, resources: false, prompts: false };
}

impl News {
    fn of(server: &Server, sessions: [SessionKey; 2]) -> Self {
        let mut changes = server.changes();
        let seen = *changes.borrow_and_update();
        let (updates, loads) = (server.resource_updates(), server.active().subscribe());
        Self { seen, changes, updates, sessions, loads }
    }

    async fn next(&mut self) -> Option<Item> {
        loop {
            tokio::select! {
                changed = self.changes.changed() => {
                    changed.ok()?;
                    let now = *self.changes.borrow_and_update();
                    let seen = std::mem::replace(&mut self.seen, now);
                    return Some(Item::Lists(ChangedLists {
                        tools: now.tools != seen.tools,
                        resources: now.resources != seen.resources,
                        prompts: now.prompts != seen.prompts,
                    }));
                }
                loaded = self.loads.recv() => match loaded {
                    Ok(session) if !self.sessions.contains(&session) => {}
                    // Whoever missed some of it looks at its list once too often rather than never.
                    Ok(_) | Err(RecvError::Lagged(_)) => return Some(Item::Lists(ChangedLists::TOOLS)),
                    Err(RecvError::Closed) => return None,
                },
                update = self.updates.recv() => match update {
                    Ok(uri) => return Some(Item::Resource(uri)),
                    Err(RecvError::Lagged(missed)) => tracing::warn!(missed, "a session missed resource updates"),
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }
}

/// Sends notifications to a session until it ends.
pub(super) async fn tell_session(
    server: Server,
    peer: Peer<RoleServer>,
    session: Arc<Session>,
    caller: Caller,
    declared: Capabilities,
    ended: CancellationToken,
) {
    let mut news = News::of(&server, [session.key(), SessionKey::Every(caller)]);
    session.begin_telling();
    // The task must not keep the server alive.
    drop(server);
    loop {
        let item = tokio::select! {
            () = ended.cancelled() => return,
            item = news.next() => item,
        };
        let sent = match item {
            None => return,
            Some(Item::Resource(uri)) if session.is_watching(&uri) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(&*uri)).await
            }
            Some(Item::Resource(_)) => Ok(()),
            Some(Item::Lists(changed)) => {
                let sent = notify_lists(&peer, changed, declared).await;
                if changed.tools {
                    session.note_told();
                }
                sent
            }
        };
        if sent.is_err() && peer.is_transport_closed() {
            return;
        }
    }
}

async fn notify_lists(
    peer: &Peer<RoleServer>,
    changed: ChangedLists,
    declared: Capabilities,
) -> Result<(), rmcp::ServiceError> {
    if changed.tools {
        peer.notify_tool_list_changed().await?;
    }
    if changed.resources && declared.resources {
        peer.notify_resource_list_changed().await?;
    }
    if changed.prompts && declared.prompts {
        peer.notify_prompt_list_changed().await?;
    }
    Ok(())
}

/// Sends the requested notifications to a subscription of a stateless client.
pub(super) async fn tell_subscription(
    server: &Server,
    session: &SessionKey,
    caller: Caller,
    subscription: &SubscriptionContext,
    ended: &CancellationToken,
) {
    let wanted = subscription.accepted().clone();
    let sink = subscription.sink();
    let mut news = News::of(server, [session.clone(), SessionKey::Every(caller)]);
    loop {
        let item = tokio::select! {
            () = subscription.cancelled() => return,
            () = ended.cancelled() => return,
            item = news.next() => item,
        };
        let sent = match item {
            None => return,
            Some(Item::Resource(uri)) => {
                let watched = wanted.resource_subscriptions.iter().flatten().any(|it| **it == *uri);
                if watched { sink.notify_resource_updated(&*uri).await } else { Ok(()) }
            }
            Some(Item::Lists(changed)) => {
                async {
                    if changed.tools && wanted.tools_list_changed == Some(true) {
                        sink.notify_tool_list_changed().await?;
                    }
                    if changed.resources && wanted.resources_list_changed == Some(true) {
                        sink.notify_resource_list_changed().await?;
                    }
                    if changed.prompts && wanted.prompts_list_changed == Some(true) {
                        sink.notify_prompt_list_changed().await?;
                    }
                    Ok(())
                }
                .await
            }
        };
        if sent.is_err() {
            return;
        }
    }
}
