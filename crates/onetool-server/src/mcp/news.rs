//! Notifies clients of changes: lists of tools, resources and prompts, and single resources they watch.

use std::sync::Arc;

use onetool_core::Caller;
use onetool_core::state::{SessionKey, SessionWatch};
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::session::Session;
use crate::catalog::Change;
use crate::{Capabilities, Server};

/// Waits for changes. Combines several changes in a row.
struct News {
    seen: Change,
    changes: watch::Receiver<Change>,
    updates: broadcast::Receiver<Arc<str>>,
    /// The list of the session, and the one that its caller has in every session.
    loads: SessionWatch,
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
    fn of(server: &Server, session: SessionKey, caller: Caller) -> Self {
        let mut changes = server.changes();
        let seen = *changes.borrow_and_update();
        let updates = server.resource_updates();
        let loads = server.active().watch(vec![session, SessionKey::Every(caller)]);
        Self { seen, changes, updates, loads }
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
                () = self.loads.changed() => return Some(Item::Lists(ChangedLists::TOOLS)),
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
    key: SessionKey,
    caller: Caller,
    declared: Capabilities,
    ended: CancellationToken,
) {
    let mut news = News::of(&server, key.clone(), caller);
    session.begin_telling(server.active().watch(vec![key]));
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
    let mut news = News::of(server, session.clone(), caller);
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
