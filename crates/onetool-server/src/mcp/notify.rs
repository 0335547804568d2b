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

/// Waits for changes, and combines consecutive ones.
struct ChangeListener {
    seen: Change,
    changes: watch::Receiver<Change>,
    updates: broadcast::Receiver<Arc<str>>,
    /// The list of the session, and the one that its caller has in every session.
    loads: SessionWatch,
}

enum Changed {
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

impl ChangeListener {
    fn new(server: &Server, session: SessionKey, caller: Caller) -> Self {
        let mut changes = server.changes();
        let seen = *changes.borrow_and_update();
        let updates = server.resource_updates();
        let loads = server.active().watch(vec![session, SessionKey::Every(caller)]);
        Self { seen, changes, updates, loads }
    }

    async fn next(&mut self) -> Option<Changed> {
        loop {
            tokio::select! {
                changed = self.changes.changed() => {
                    changed.ok()?;
                    let now = *self.changes.borrow_and_update();
                    let seen = std::mem::replace(&mut self.seen, now);
                    return Some(Changed::Lists(ChangedLists {
                        tools: now.tools != seen.tools,
                        resources: now.resources != seen.resources,
                        prompts: now.prompts != seen.prompts,
                    }));
                }
                () = self.loads.changed() => return Some(Changed::Lists(ChangedLists::TOOLS)),
                update = self.updates.recv() => match update {
                    Ok(uri) => return Some(Changed::Resource(uri)),
                    Err(RecvError::Lagged(missed)) => tracing::warn!(missed, "a session missed resource updates"),
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }
}

/// Sends notifications to a session until it ends.
pub(super) async fn notify_session(
    server: Server,
    peer: Peer<RoleServer>,
    session: Arc<Session>,
    key: SessionKey,
    caller: Caller,
    declared: Capabilities,
    ended: CancellationToken,
) {
    let mut changes = ChangeListener::new(&server, key.clone(), caller);
    session.start_notifications(server.active().watch(vec![key]));
    // The task must not keep the server alive.
    drop(server);
    loop {
        let changed = tokio::select! {
            () = ended.cancelled() => return,
            changed = changes.next() => changed,
        };
        let sent = match changed {
            None => return,
            Some(Changed::Resource(uri)) if session.is_watching(&uri) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(&*uri)).await
            }
            Some(Changed::Resource(_)) => Ok(()),
            Some(Changed::Lists(lists)) => {
                let sent = notify_lists(&peer, lists, declared).await;
                if lists.tools {
                    session.count_notification();
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
pub(super) async fn notify_subscription(
    server: &Server,
    session: &SessionKey,
    caller: Caller,
    subscription: &SubscriptionContext,
    ended: &CancellationToken,
) {
    let accepted = subscription.accepted().clone();
    let sink = subscription.sink();
    let mut changes = ChangeListener::new(server, session.clone(), caller);
    loop {
        let changed = tokio::select! {
            () = subscription.cancelled() => return,
            () = ended.cancelled() => return,
            changed = changes.next() => changed,
        };
        let sent = match changed {
            None => return,
            Some(Changed::Resource(uri)) => {
                let watched = accepted.resource_subscriptions.iter().flatten().any(|it| **it == *uri);
                if watched { sink.notify_resource_updated(&*uri).await } else { Ok(()) }
            }
            Some(Changed::Lists(lists)) => {
                async {
                    if lists.tools && accepted.tools_list_changed == Some(true) {
                        sink.notify_tool_list_changed().await?;
                    }
                    if lists.resources && accepted.resources_list_changed == Some(true) {
                        sink.notify_resource_list_changed().await?;
                    }
                    if lists.prompts && accepted.prompts_list_changed == Some(true) {
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
