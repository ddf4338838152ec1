package core

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feed-replica/faults"
	"feed-replica/wire"
)

// socketPatience ends a test that hangs.
const socketPatience = 3 * time.Minute

// listening is a running node of one, with its socket.
func listening(t *testing.T) (path string, n *simNode) {
	t.Helper()
	w := newWorld(t, 1, faults.Set{}, 1)
	n = w.nodes[1]
	n.core.options.Now = time.Now
	n.core.options.Tick = 5 * time.Millisecond
	folder, err := os.MkdirTemp("", "feed")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(folder, "socket")
	listener, err := Listen(n.core, path)
	if err != nil {
		t.Fatal(err)
	}
	served, ran := make(chan error, 1), make(chan error, 1)
	go func() { served <- listener.Serve() }()
	go func() { ran <- n.core.Run() }()
	t.Cleanup(func() {
		n.core.Stop()
		if err := <-ran; err != nil {
			t.Error("Run:", err)
		}
		listener.Close()
		if err := <-served; err != nil {
			t.Error("Serve:", err)
		}
		os.RemoveAll(folder)
	})
	return path, n
}

// client is one side of the socket.
type client struct {
	t    *testing.T
	conn net.Conn
}

func dial(t *testing.T, path string) client {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(socketPatience))
	return client{t, conn}
}

func (c client) say(kind wire.Kind, tail []byte, fields ...uint64) {
	c.t.Helper()
	if _, err := c.conn.Write(wire.New(kind, tail, fields...).Append(nil)); err != nil {
		c.t.Fatal(err)
	}
}

// until reads frames up to one of a kind.
func (c client) until(kind wire.Kind) wire.Frame {
	c.t.Helper()
	for {
		frame, err := wire.ReadFrame(c.conn)
		if err != nil {
			c.t.Fatalf("no %s: %v", kind, err)
		}
		if frame.Kind == kind {
			return frame
		}
	}
}

// isAtEnd says whether the replica has closed the connection.
func (c client) isAtEnd() bool {
	_, err := wire.ReadFrame(c.conn)
	return errors.Is(err, io.EOF)
}

func (c client) lead() (term, index uint64) {
	c.t.Helper()
	c.say(wire.Hello, testCluster[:], wire.Version, testBase, 1, 1)
	for {
		if role := c.until(wire.Role); role.Fields[0] == 1 {
			return role.Fields[1], role.Fields[3]
		}
	}
}

// Fails if a service cannot hold a session over a real socket, or is not told why it ends.
func TestSessionOverASocket(t *testing.T) {
	path, _ := listening(t)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != socketMode {
		t.Fatal(info, err)
	}
	first := dial(t, path)
	term, index := first.lead()
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<15)
	for i := uint64(1); i <= 20; i++ {
		first.say(wire.Propose, body, term, index+i)
	}
	for first.until(wire.Committed).Fields[1] < index+20 {
	}
	first.say(wire.Read, nil, 7)
	if got := first.until(wire.ReadOK); got.Fields[0] != 7 {
		t.Error(got)
	}
	other := dial(t, path)
	other.say(wire.Status, nil, 5)
	status := other.until(wire.StatusIs)
	if status.Fields[0] != 5 || !strings.Contains(string(status.Tail), `"role":"leader"`) {
		t.Errorf("%s", status.Tail)
	}
	// Another session ends the first, and gets all that it has not.
	other.say(wire.Hello, testCluster[:], wire.Version, testBase, 1, 1)
	if end := first.until(wire.End); wire.Reason(end.Fields[0]) != wire.Replaced || !first.isAtEnd() {
		t.Error("the first session:", end)
	}
	for i := uint64(testBase + 1); i <= index+20; i++ {
		entry := other.until(wire.Entry)
		if entry.Fields[0] != i || i > index && !bytes.Equal(entry.Tail, body) {
			t.Fatalf("entry %d: %v with %d bytes", i, entry.Fields, len(entry.Tail))
		}
	}
	if role := other.until(wire.Role); role.Fields[3] != index+20 {
		t.Error(role)
	}
}

// Fails if wrong bytes end anything but their own connection, or are not said to be wrong.
func TestWrongBytesEndTheirConnection(t *testing.T) {
	path, _ := listening(t)
	for _, text := range []string{"\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\x02", "\x09\x00\x00\x00\x63........", "GET / HTTP/1.1\r\n"} {
		c := dial(t, path)
		if _, err := c.conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if end := c.until(wire.End); wire.Reason(end.Fields[0]) != wire.BadFrame || !strings.Contains(string(end.Tail), "expected") {
			t.Errorf("%q: %v %s", text, end.Fields, end.Tail)
		}
	}
	for n := 1; n < 9; n++ { // cut anywhere
		c := dial(t, path)
		if _, err := c.conn.Write(wire.New(wire.Durable, nil, 1).Append(nil)[:n]); err != nil {
			t.Fatal(err)
		}
		c.conn.Close()
	}
	dial(t, path).lead()
}

// Fails if connections take all places for ever, or one over the limit takes anything.
func TestConnectionsAreLimited(t *testing.T) {
	path, _ := listening(t)
	var open []client
	for i := 0; i < maximumConnectionCount; i++ {
		c := dial(t, path)
		c.say(wire.Status, nil, 1)
		c.until(wire.StatusIs)
		open = append(open, c)
	}
	if over := dial(t, path); !over.isAtEnd() {
		t.Error("a connection over the limit is served")
	}
	for _, c := range open {
		c.conn.Close()
	}
	awaitPlace(t, path)
}

// Fails if a replica takes the socket of another one, or does not take what a killed one left.
func TestSocketIsTakenFromTheDeadOnly(t *testing.T) {
	path, n := listening(t)
	if _, err := Listen(n.core, path); err == nil || !strings.Contains(err.Error(), "another process listens") {
		t.Error(err)
	}
	left := filepath.Join(filepath.Dir(path), "left")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: left, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	listener, err := Listen(n.core, left)
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	file := filepath.Join(filepath.Dir(path), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(n.core, file); err == nil {
		t.Error("a file was replaced by a socket")
	}
}

// Fails if a service that does not read makes the replica wait: the node has to commit and answer others.
func TestServiceThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	path, _ := listening(t)
	first := dial(t, path)
	term, index := first.lead()
	body := make([]byte, 1<<20)
	for i := uint64(1); i <= 24; i++ {
		first.say(wire.Propose, body, term, index+i)
	}
	for first.until(wire.Committed).Fields[1] < index+24 {
	}
	// The next one gets 24 MiB, and reads nothing of it.
	deaf := dial(t, path)
	deaf.say(wire.Hello, testCluster[:], wire.Version, testBase, 1, 1)
	if end := first.until(wire.End); wire.Reason(end.Fields[0]) != wire.Replaced {
		t.Error(end)
	}
	asks := dial(t, path)
	for i := uint64(0); i < 100; i++ {
		asks.say(wire.Status, nil, i)
		asks.until(wire.StatusIs)
	}
	// It is cut off by the next one, although its socket is full; and so are as many as there are places.
	for i := 0; i < maximumConnectionCount; i++ {
		dial(t, path).conn.Write(wire.New(wire.Hello, testCluster[:], wire.Version, testBase, 1, 1).Append(nil))
	}
	awaitPlace(t, path)
}

// awaitPlace waits until the replica serves a connection: it takes the places back from those that it cut off.
func awaitPlace(t *testing.T, path string) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < socketPatience; {
		c := dial(t, path)
		c.conn.Write(wire.New(wire.Status, nil, 1).Append(nil)) // may be closed already
		if frame, err := wire.ReadFrame(c.conn); err == nil && frame.Kind == wire.StatusIs {
			return
		}
		c.conn.Close()
		time.Sleep(5 * time.Millisecond) // the places come back as the replica sees their ends
	}
	t.Fatal("no place is free again")
}
