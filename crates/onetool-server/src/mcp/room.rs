//! Memory that large requests share, so that many at once cannot take all of it. Small ones need no room.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests that take no more than this are always let in; there are no more of them than connections.
const SMALL: usize = 64 * 1024;
/// What all larger requests together may take, from their first byte to the end of their answers.
const TOTAL: usize = 512 << 20;
const UNIT: usize = 1024;

#[derive(Clone)]
pub(super) struct Room(Arc<Semaphore>);

/// The part of the room that a request takes until this is dropped.
pub(super) struct Place {
    room: Room,
    bytes: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(TOTAL / UNIT)))
    }
}

impl Room {
    /// Takes room for so many bytes; nothing if there is not enough of it now.
    pub(super) fn take(&self, bytes: usize) -> Option<Place> {
        let mut place = Place { room: self.clone(), bytes: 0, permit: None };
        place.grow_to(bytes).then_some(place)
    }
}

impl Place {
    /// Takes room for so many bytes in all; false if there is not enough of it now.
    pub(super) fn grow_to(&mut self, bytes: usize) -> bool {
        if bytes <= SMALL || bytes <= self.bytes {
            return true;
        }
        let units = |bytes: usize| bytes.div_ceil(UNIT);
        let Ok(missing) = u32::try_from(units(bytes) - units(self.bytes)) else { return false };
        let Ok(more) = self.room.0.clone().try_acquire_many_owned(missing) else { return false };
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
        self.bytes = bytes;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_2_large_requests_share_room_and_small_ones_need_none() {
        let room = Room::default();
        let mut first = room.take(TOTAL / 2).unwrap();
        let second = room.take(TOTAL / 2).unwrap();
        assert!(room.take(SMALL + 1).is_none());
        assert!(!first.grow_to(TOTAL));
        assert!(room.take(SMALL).is_some());
        drop(second);
        assert!(first.grow_to(TOTAL));
        assert!(first.grow_to(1), "what is there is there");
        drop(first);
        assert!(room.take(TOTAL).is_some());
    }
}
