//! Who is connected, and who has to go when there are too many.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// One connection, as others see it.
pub struct Connection {
    number: u64,
    from: IpAddr,
    /// Requests that are being read, answered or sent.
    requests: AtomicUsize,
    /// When bytes last went either way, in milliseconds since `epoch`.
    active: AtomicU64,
    epoch: Instant,
    dismissed: Notify,
}

impl Connection {
    /// Bytes went either way.
    pub fn moved(&self) {
        let now = self.epoch.elapsed().as_millis() as u64;
        self.active.store(now, Ordering::Relaxed);
    }

    /// Whether a request is at hand.
    pub fn is_busy(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
    }

    /// Returns when the connection has to make room for others.
    pub async fn dismissed(&self) {
        self.dismissed.notified().await;
    }

    fn idle_since(&self) -> u64 {
        self.active.load(Ordering::Relaxed)
    }
}

/// A request at hand, until its answer has been sent.
pub struct Request(Arc<Connection>);

impl Request {
    /// One more on a connection.
    pub fn on(connection: &Arc<Connection>) -> Self {
        connection.requests.fetch_add(1, Ordering::Relaxed);
        Self(connection.clone())
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
        self.0.moved();
    }
}

/// All connections.
pub struct Table {
    most: usize,
    epoch: Instant,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    all: HashMap<u64, Arc<Connection>>,
    by_address: HashMap<IpAddr, usize>,
}

/// A place at the table; free again when dropped.
pub struct Place {
    table: Arc<Table>,
    /// Whose it is.
    pub connection: Arc<Connection>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.table.lock().remove(self.connection.number);
    }
}

impl Table {
    /// An empty one for `most` connections.
    pub fn new(most: usize) -> Self {
        Self { most, epoch: Instant::now(), open: Mutex::default() }
    }

    /// A place for somebody new. At a full table one goes who holds the most places (see [`Open::dispensable`]); `None` where nobody
    /// has to.
    pub fn seat(self: &Arc<Self>, from: IpAddr) -> Option<Place> {
        let from = household(from);
        let mut open = self.lock();
        if open.all.len() >= self.most {
            let number = open.dispensable(Some(from))?;
            open.dismiss(number);
        }
        open.next += 1;
        let connection = Arc::new(Connection {
            number: open.next,
            from,
            requests: AtomicUsize::new(0),
            active: AtomicU64::new(self.epoch.elapsed().as_millis() as u64),
            epoch: self.epoch,
            dismissed: Notify::new(),
        });
        open.all.insert(connection.number, connection.clone());
        *open.by_address.entry(from).or_default() += 1;
        Some(Place { table: self.clone(), connection })
    }

    /// Dismisses somebody because the system has no room for more; whether there was anybody to dismiss.
    pub fn make_room(&self) -> bool {
        let mut open = self.lock();
        let number = open.dispensable(None);
        number.is_some_and(|number| open.dismiss(number))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Who goes: of the address with the most connections the one that has been idle longest. Requests at hand are finished,
    /// unless a newcomer's address has fewer connections than that one even with the new one: nobody keeps others out with requests that are
    /// slow on purpose. Behind a proxy all have one address, and only idle ones go.
    fn dispensable(&self, newcomer: Option<IpAddr>) -> Option<u64> {
        let (greediest, most) = self.by_address.iter().max_by_key(|(_, count)| **count)?;
        let theirs = || self.all.values().filter(|one| one.from == *greediest);
        let idlest = |all: &mut dyn Iterator<Item = &Arc<Connection>>| {
            all.min_by_key(|one| (one.idle_since(), one.number)).map(|one| one.number)
        };
        let is_idle = |one: &&Arc<Connection>| !one.is_busy();
        let own = newcomer.and_then(|from| self.by_address.get(&from)).map_or(0, |count| *count);
        let unfair = newcomer.is_some() && own + 1 < *most;
        idlest(&mut theirs().filter(is_idle))
            .or_else(|| idlest(&mut theirs()).filter(|_| unfair))
            .or_else(|| idlest(&mut self.all.values().filter(is_idle)))
    }

    /// At once out of the table; the connection itself ends when its task hears of it.
    fn dismiss(&mut self, number: u64) -> bool {
        let gone = self.remove(number);
        if let Some(connection) = &gone {
            connection.dismissed.notify_one();
        }
        gone.is_some()
    }

    fn remove(&mut self, number: u64) -> Option<Arc<Connection>> {
        let gone = self.all.remove(&number)?;
        if let Some(count) = self.by_address.get_mut(&gone.from) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&gone.from);
            }
        }
        Some(gone)
    }
}

/// Whose connections are counted together: an IPv4 address, or the /64 that a household has of IPv6.
fn household(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(six) => Ipv6Addr::from_bits(six.to_bits() & (u128::MAX << 64)).into(),
        four => four,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(most: usize) -> Arc<Table> {
        Arc::new(Table::new(most))
    }

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    /// Whether a connection was told to go.
    fn was_dismissed(place: &Place) -> bool {
        !place.table.lock().all.contains_key(&place.connection.number)
    }

    #[test]
    fn the_idlest_of_whoever_holds_the_most_makes_room() {
        let table = table(4);
        let lone = table.seat(address(1)).unwrap();
        let greedy: Vec<Place> = (0..3).map(|_| table.seat(address(2)).unwrap()).collect();
        // All are as old as the lone one at least; who moved last stays.
        for (milliseconds, place) in
            [(0, &lone), (20, &greedy[0]), (10, &greedy[1]), (30, &greedy[2])]
        {
            place.connection.active.store(milliseconds, Ordering::Relaxed);
        }
        let new = table.seat(address(3)).unwrap();
        assert!(was_dismissed(&greedy[1]));
        assert!(![&lone, &greedy[0], &greedy[2], &new].into_iter().any(was_dismissed));
        drop((lone, greedy, new));
        assert!(table.lock().all.is_empty() && table.lock().by_address.is_empty());
    }

    #[test]
    fn slow_requests_of_one_address_do_not_keep_others_out() {
        let table = table(3);
        let slow: Vec<Place> = (0..3).map(|_| table.seat(address(2)).unwrap()).collect();
        let _requests: Vec<Request> = slow.iter().map(|one| Request::on(&one.connection)).collect();
        assert!(table.seat(address(2)).is_none(), "its own requests are not cut off for more");
        let other = table.seat(address(1)).unwrap();
        assert_eq!(slow.iter().filter(|place| was_dismissed(place)).count(), 1);
        // Two against one is not yet unfair to a third of either.
        let _request = Request::on(&other.connection);
        assert!(table.seat(address(1)).is_none());
    }

    #[test]
    fn a_household_counts_as_one() {
        let [one, two, far] =
            ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map(|text| text.parse().unwrap());
        assert_eq!(household(one), household(two));
        assert_ne!(household(one), household(far));
        assert_eq!(household("::ffff:10.0.0.1".parse().unwrap()), address(1));
    }
}
