//! A network that can be slow, stand still and break: a TCP proxy between a test and a server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::task::AbortOnDropHandle;

use crate::stands::address;

/// How much one way holds while it is delayed or frozen; then the sender has to wait.
const CHUNKS: usize = 64;
const CHUNK: usize = 16 * 1024;

/// One way through the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// What the client sends.
    ToServer,
    /// What the server answers.
    ToClient,
}

/// How connections are cut, on both of their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// With RST, as by a machine that knows nothing of the connection.
    Reset,
    /// With FIN, as by a process that ended.
    Close,
}

/// What the connections are told.
#[derive(Debug, Clone, Copy)]
struct Weather {
    frozen: bool,
    strands: usize,
    to_server: Duration,
    to_client: Duration,
    cuts: usize,
    cut: Cut,
}

impl Weather {
    /// Whether a connection that was made after so many strandings is let through.
    fn lets_through(&self, strands: usize) -> bool {
        !self.frozen && self.strands == strands
    }

    fn delay(&self, way: Way) -> Duration {
        match way {
            Way::ToServer => self.to_server,
            Way::ToClient => self.to_client,
        }
    }
}

/// A proxy on a port of its own. Dropping it closes the port and every connection.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    weather: watch::Sender<Weather>,
    connections: Arc<AtomicUsize>,
    accepted: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
    _task: AbortOnDropHandle<()>,
}

impl Proxy {
    /// A proxy to `server`, with no delay.
    pub async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (weather, told) = watch::channel(Weather {
            frozen: false,
            strands: 0,
            to_server: Duration::ZERO,
            to_client: Duration::ZERO,
            cuts: 0,
            cut: Cut::Reset,
        });
        let connections = Arc::new(AtomicUsize::new(0));
        let accepted = Arc::new(AtomicUsize::new(0));
        let asked = Arc::new(AtomicUsize::new(0));
        let counts = Counts {
            connections: Arc::clone(&connections),
            accepted: Arc::clone(&accepted),
            asked: Arc::clone(&asked),
        };
        let task = AbortOnDropHandle::new(tokio::spawn(listen(listener, server, told, counts)));
        Self { address, weather, connections, accepted, asked, _task: task }
    }

    /// A proxy to the server of a URL, and the URL that leads through it.
    pub async fn before(url: &str) -> (Self, String) {
        let host = address(url);
        let server = tokio::net::lookup_host(host).await.unwrap().next().unwrap();
        let proxy = Self::to(server).await;
        let through = url.replacen(host, &proxy.address.to_string(), 1);
        (proxy, through)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections lead through it now.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// How many connections were made to it so far.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }

    /// How often clients sent something, as a rule: a client that waits for each answer sends what
    /// it asks in one piece, so that this counts the round trips.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// Delays what comes in from now on; what came in before keeps its time.
    pub fn delay(&self, way: Way, delay: Duration) {
        self.weather.send_modify(|weather| match way {
            Way::ToServer => weather.to_server = delay,
            Way::ToClient => weather.to_client = delay,
        });
    }

    /// Lets nothing through any more, not even the end of a connection; connections are accepted.
    pub fn freeze(&self) {
        self.weather.send_modify(|weather| weather.frozen = true);
    }

    /// Lets through what was held back, and what follows.
    pub fn unfreeze(&self) {
        self.weather.send_modify(|weather| weather.frozen = false);
    }

    /// Lets nothing through any more on the connections that are there, as a firewall does that
    /// forgot them; connections made after it are not touched.
    pub fn strand(&self) {
        self.weather.send_modify(|weather| weather.strands += 1);
    }

    /// Ends every connection at once, frozen ones too; bytes on their way are lost.
    ///
    /// Connections made after it are not touched.
    pub fn cut(&self, cut: Cut) {
        self.weather.send_modify(|weather| {
            weather.cuts += 1;
            weather.cut = cut;
        });
    }
}

/// What is counted of all connections.
#[derive(Debug, Clone)]
struct Counts {
    connections: Arc<AtomicUsize>,
    accepted: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
}

async fn listen(
    listener: TcpListener,
    server: SocketAddr,
    weather: watch::Receiver<Weather>,
    counts: Counts,
) {
    // Dropped with this task, it ends the connections.
    let mut tasks = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let weather = weather.clone();
        let counts = counts.clone();
        counts.connections.fetch_add(1, Ordering::Relaxed);
        counts.accepted.fetch_add(1, Ordering::Relaxed);
        tasks.spawn(async move {
            let end = carry(client, server, weather, &counts.asked).await;
            counts.connections.fetch_sub(1, Ordering::Relaxed);
            if let Some((client, server)) = end {
                tokio::join!(drain(client), drain(server));
            }
        });
    }
}

/// Carries one connection to its end; returns both sockets where they have to see the other's FIN.
async fn carry(
    mut client: TcpStream,
    server: SocketAddr,
    weather: watch::Receiver<Weather>,
    asked: &AtomicUsize,
) -> Option<(TcpStream, TcpStream)> {
    let Weather { cuts: before, strands, .. } = *weather.borrow();
    let Ok(mut server) = TcpStream::connect(server).await else {
        let _ = client.set_zero_linger();
        return None;
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let both_ways = async {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let carried = tokio::try_join!(
            pump(from_client, to_server, Way::ToServer, strands, weather.clone(), Some(asked)),
            pump(from_server, to_client, Way::ToClient, strands, weather.clone(), None),
        );
        // A frozen network does not tell one end that the other is gone.
        thawed(&mut weather.clone(), strands).await;
        carried
    };
    let cut = tokio::select! {
        _ = both_ways => None,
        cut = next_cut(weather.clone(), before) => cut,
    };
    match cut? {
        Cut::Reset => {
            let _ = (client.set_zero_linger(), server.set_zero_linger());
            None
        }
        Cut::Close => {
            let _ = tokio::join!(client.shutdown(), server.shutdown());
            Some((client, server))
        }
    }
}

async fn pump(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    way: Way,
    strands: usize,
    mut weather: watch::Receiver<Weather>,
    count: Option<&AtomicUsize>,
) -> io::Result<()> {
    let (sender, mut receiver) = mpsc::channel(CHUNKS);
    let told = weather.clone();
    let read = async move {
        loop {
            let mut chunk = Vec::with_capacity(CHUNK);
            if from.read_buf(&mut chunk).await? == 0 {
                return Ok(());
            }
            count.map(|count| count.fetch_add(1, Ordering::Relaxed));
            let due = Instant::now() + told.borrow().delay(way);
            if sender.send((due, chunk)).await.is_err() {
                return Ok(());
            }
        }
    };
    let write = async move {
        while let Some((due, chunk)) = receiver.recv().await {
            sleep_until(due).await;
            thawed(&mut weather, strands).await;
            to.write_all(&chunk).await?;
        }
        thawed(&mut weather, strands).await;
        to.shutdown().await
    };
    tokio::try_join!(read, write).map(|((), ())| ())
}

async fn thawed(weather: &mut watch::Receiver<Weather>, strands: usize) {
    // An error means that the proxy is gone, and this task with it.
    let _ = weather.wait_for(|weather| weather.lets_through(strands)).await;
}

/// Nothing when the proxy is gone, and this task with it.
async fn next_cut(mut weather: watch::Receiver<Weather>, before: usize) -> Option<Cut> {
    let told = weather.wait_for(|weather| weather.cuts > before).await;
    told.ok().map(|weather| weather.cut)
}

/// Reads to the end: a socket closed with unread bytes would send RST after its FIN.
async fn drain(mut socket: TcpStream) {
    let _ = tokio::io::copy(&mut socket, &mut tokio::io::sink()).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eventually::{eventually, stays};

    const MOMENT: Duration = Duration::from_millis(50);

    /// A server that answers with what it was sent, and a client that reaches it through a proxy.
    async fn echo() -> (Proxy, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let server = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = socket.split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        let proxy = Proxy::to(server).await;
        let mut client = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(ask(&mut client, b"hello").await.unwrap(), b"hello");
        (proxy, client)
    }

    async fn ask(client: &mut TcpStream, question: &[u8]) -> io::Result<Vec<u8>> {
        client.write_all(question).await?;
        let mut answer = vec![0; question.len()];
        client.read_exact(&mut answer).await?;
        Ok(answer)
    }

    fn has_answer(client: &TcpStream) -> bool {
        !matches!(client.try_read(&mut [0; 1]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    #[tokio::test]
    async fn megabytes_go_through_unchanged() {
        let (_proxy, client) = echo().await;
        let sent: Vec<u8> = (0..4_000_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let (mut from, mut to) = client.into_split();
        let expected = sent.clone();
        let writer = tokio::spawn(async move {
            to.write_all(&sent).await.unwrap();
            to
        });
        let mut received = vec![0; expected.len()];
        from.read_exact(&mut received).await.unwrap();
        assert!(received == expected);
        drop(writer.await.unwrap());
        assert_eq!(
            from.read(&mut [0; 1]).await.unwrap(),
            0,
            "the end of the connection goes through"
        );
    }

    #[tokio::test]
    async fn questions_are_counted_and_answers_are_not() {
        let (proxy, mut client) = echo().await;
        let before = proxy.asked();
        for _ in 0..5 {
            ask(&mut client, b"question").await.unwrap();
        }
        assert_eq!(proxy.asked(), before + 5);
    }

    #[tokio::test]
    async fn each_way_has_its_own_delay() {
        let (proxy, mut client) = echo().await;
        for (way, delay) in [(Way::ToServer, 40), (Way::ToClient, 80)] {
            proxy.delay(way, Duration::from_millis(delay));
        }
        let start = Instant::now();
        ask(&mut client, b"slow").await.unwrap();
        assert!(start.elapsed() >= Duration::from_millis(120), "{:?}", start.elapsed());
    }

    #[tokio::test]
    async fn a_delay_is_a_latency_and_no_limit_of_throughput() {
        let (proxy, mut client) = echo().await;
        proxy.delay(Way::ToServer, MOMENT);
        let start = Instant::now();
        for _ in 0..20 {
            client.write_all(b"x").await.unwrap();
            client.flush().await.unwrap();
            tokio::task::yield_now().await;
        }
        client.read_exact(&mut [0; 20]).await.unwrap();
        assert!(start.elapsed() < MOMENT * 10, "{:?}", start.elapsed());
    }

    #[tokio::test]
    async fn a_frozen_proxy_holds_everything_back_until_it_thaws() {
        let (proxy, mut client) = echo().await;
        proxy.freeze();
        client.write_all(b"a").await.unwrap();
        let mut late = TcpStream::connect(proxy.address()).await.unwrap();
        late.write_all(b"b").await.unwrap();
        stays("nothing is answered", MOMENT, async || !has_answer(&client) && !has_answer(&late))
            .await;
        proxy.unfreeze();
        eventually("both are answered", async || has_answer(&client)).await;
        eventually("both are answered", async || has_answer(&late)).await;
    }

    #[tokio::test]
    async fn a_frozen_network_does_not_tell_that_the_other_end_is_gone() {
        let (proxy, client) = echo().await;
        proxy.freeze();
        client.set_zero_linger().unwrap();
        drop(client);
        stays("the server's end is open", MOMENT, async || proxy.connections() == 1).await;
        proxy.unfreeze();
        eventually("the server's end is closed", async || proxy.connections() == 0).await;
    }

    #[tokio::test]
    async fn a_cut_ends_what_is_there_and_nothing_later() {
        for cut in [Cut::Reset, Cut::Close] {
            let (proxy, mut client) = echo().await;
            proxy.freeze();
            client.write_all(b"lost").await.unwrap();
            proxy.cut(cut);
            let end = client.read(&mut [0; 8]).await;
            match cut {
                Cut::Reset => assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset),
                Cut::Close => assert_eq!(end.unwrap(), 0),
            }
            eventually("no connection is left", async || proxy.connections() == 0).await;
            proxy.unfreeze();
            let mut next = TcpStream::connect(proxy.address()).await.unwrap();
            assert_eq!(ask(&mut next, b"again").await.unwrap(), b"again");
            assert_eq!(proxy.accepted(), 2, "those that ended are counted too");
        }
    }

    #[tokio::test]
    async fn a_stranded_connection_stands_still_and_a_later_one_does_not() {
        let (proxy, mut client) = echo().await;
        proxy.strand();
        client.write_all(b"a").await.unwrap();
        let mut late = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(ask(&mut late, b"b").await.unwrap(), b"b");
        stays("nothing is answered", MOMENT, async || !has_answer(&client)).await;
        proxy.cut(Cut::Reset);
        eventually("a cut ends it", async || proxy.connections() == 0).await;
    }

    #[tokio::test]
    async fn a_url_is_led_through_the_proxy() {
        let (proxy, url) =
            Proxy::before("postgres://me:pw@127.0.0.1:5432/db?options=-c%20a%3Db").await;
        assert_eq!(url, format!("postgres://me:pw@{}/db?options=-c%20a%3Db", proxy.address()));
    }
}
