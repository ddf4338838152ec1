package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/wire"
)

// behindNode is a world in which one node was cut off until the leader's log begins behind what it has.
func behindNode(t *testing.T, set faults.Set) (w *world, leader, behind *simNode) {
	t.Helper()
	w, leader = leading(t, set, 1, 2, 3)
	for _, id := range w.order {
		if id != leader.identity.ID {
			behind = w.nodes[id]
		}
	}
	for _, id := range w.order {
		w.cut[link{behind.identity.ID, id}], w.cut[link{id, behind.identity.ID}] = true, true
	}
	w.fill(leader, func() bool { return leader.log.FirstIndex() > behind.core.last+1 })
	return w, leader, behind
}

// fill lets the leader's log grow until something holds.
func (w *world) fill(leader *simNode, holds func() bool) {
	w.settle("the log grows", func() bool {
		leader.service.propose()
		return holds()
	})
	if w.failure != nil {
		w.t.Fatal(w.failure)
	}
}

// wanted lets the leader find out that the node needs a state, and gives what it asks the service for.
func (w *world) wanted(leader *simNode) wire.Frame {
	w.t.Helper()
	w.cut = map[link]bool{}
	var found *wire.Frame
	leader.service.hungUntil = w.now.Add(time.Second)
	w.settle("COPY_WANTED", func() bool {
		leader.service.session.heardAt(w.now)
		for _, f := range leader.service.session.outbox.words {
			if f.Kind == wire.CopyWanted {
				f := f
				found = &f
			}
		}
		return found != nil
	})
	if w.failure != nil {
		w.t.Fatal(w.failure)
	}
	return *found
}

// firstAfterCopy is where the leader's log begins while a copy is on its way, and the log grows and is cut.
func firstAfterCopy(t *testing.T, set faults.Set) (first, copied uint64) {
	w, leader, behind := behindNode(t, set)
	f := w.wanted(leader)
	w.cut[link{leader.identity.ID, behind.identity.ID}] = true // it stays on its way
	leader.service.hungUntil = w.now
	copied = leader.service.applied
	leader.service.giveCopy(f.Fields[0], f.Fields[1])
	for len(leader.service.queue) > 0 {
		leader.service.hear()
	}
	var states []parcel
	for i := 0; i < len(w.parcels); i++ {
		if w.parcels[i].state != nil {
			states = append(states, w.parcels[i])
			w.parcels = append(w.parcels[:i:i], w.parcels[i+1:]...)
		}
	}
	if len(states) != 1 {
		t.Fatal("states on their way:", len(states))
	}
	until := leader.core.last + 60
	w.fill(leader, func() bool { return leader.service.applied > until })
	return leader.log.FirstIndex(), copied
}

// Fails if what a copy on its way needs is forgotten: the node would need another copy, and another.
func TestCopiesPinTheLog(t *testing.T) {
	first, copied := firstAfterCopy(t, faults.Set{})
	if first > copied+1 {
		t.Errorf("the log begins at %d, and the copy on its way is at %d", first, copied)
	}
}

// Fails if a state is not what the receiver needs, and is sent all the same, or a failed copy is not asked for
// again.
func TestCopiesAreCheckedAndAskedForAgain(t *testing.T) {
	w, leader, behind := behindNode(t, faults.Set{})
	folder := t.TempDir()
	path := filepath.Join(folder, "state")
	if err := os.WriteFile(path, []byte("state"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, each := range []struct {
		name   string
		answer func(request, least uint64) wire.Frame
	}{
		{"below the least index", func(request, least uint64) wire.Frame {
			return wire.New(wire.Copy, []byte(path), request, least-1)
		}},
		{"above what is committed", func(request, _ uint64) wire.Frame {
			return wire.New(wire.Copy, []byte(path), request, leader.core.applied+1)
		}},
		{"no file", func(request, _ uint64) wire.Frame {
			return wire.New(wire.Copy, []byte(path+"x"), request, leader.core.applied)
		}},
		{"a folder", func(request, _ uint64) wire.Frame {
			return wire.New(wire.Copy, []byte(folder), request, leader.core.applied)
		}},
		{"the service cannot", func(request, _ uint64) wire.Frame {
			return wire.New(wire.NoCopy, []byte("full"), request)
		}},
	} {
		f := w.wanted(leader)
		leader.service.session.outbox.words = nil
		leader.give(leader.service.session, each.answer(f.Fields[0], f.Fields[1]))
		if len(leader.core.copies.byNode) != 0 {
			t.Errorf("%s: the copy goes on", each.name)
		}
		if words := leader.service.session.outbox.words; len(words) != 1 || words[0].Kind != wire.CopyDone {
			t.Errorf("%s: the service is told %v", each.name, words)
		}
	}
	leader.service.hungUntil = w.now
	w.settledLeader(t)
	if behind.service.applied != leader.core.last || w.counts.copies == 0 {
		t.Error("no state came in the end")
	}
}

// Fails if a new node is sent a state from before it was added: it would ignore it, and be sent it again.
func TestStatesNameTheirReceiver(t *testing.T) {
	w, n := leading(t, faults.Set{}, 1)
	n.service.change(wire.AddMember, 0, "b\nhttps://b:1")
	w.settle("a token", func() bool { return n.service.token != "" })
	identity, err := members.ParseToken(n.service.token)
	if err != nil {
		t.Fatal(err)
	}
	message := etcd.Message{To: uint64(identity.ID), Snapshot: n.log.Base()}
	n.do(func() error { n.core.wantCopy(message); return nil })
	if least := n.core.copies.byNode[message.To].least; least != n.core.applied {
		t.Errorf("a state at %d is taken, and the node was added at %d", least, n.core.applied)
	}
}

// Fails if a copy that stands still keeps the log for ever, or one that moves is given up.
func TestCopiesThatStandStillAreGivenUp(t *testing.T) {
	w, leader, behind := behindNode(t, faults.Set{})
	w.wanted(leader)
	each := leader.core.copies.byNode[uint64(behind.identity.ID)]
	file, _, err := openPaced(filepath.Join(leader.directory, "durable.hwm"), 0)
	if err != nil {
		t.Fatal(err)
	}
	each.file = file
	for i := 0; i < 5; i++ {
		w.now = w.now.Add(copyPatience - time.Second)
		file.sent.Add(1)
		leader.core.endCopies(w.now)
	}
	if len(leader.core.copies.byNode) != 1 {
		t.Fatal("a copy that moves is given up")
	}
	leader.core.endCopies(w.now.Add(copyPatience + time.Second))
	if len(leader.core.copies.byNode) != 0 || file.ctx.Err() == nil {
		t.Fatal("a copy that stands still goes on")
	}
}

// Fails if what became of a state that was given up is taken for what became of the next one to the same node.
func TestLateReportsAreOfTheirCopy(t *testing.T) {
	for _, isReceived := range []bool{false, true} {
		w, leader, behind := behindNode(t, faults.Set{})
		f := w.wanted(leader)
		w.cut[link{leader.identity.ID, behind.identity.ID}] = true // it stays on its way
		leader.service.hungUntil = w.now
		leader.service.giveCopy(f.Fields[0], f.Fields[1])
		for len(leader.service.queue) > 0 {
			leader.service.hear()
		}
		var late func(bool)
		for _, each := range w.parcels {
			if each.state != nil {
				late = each.ended
			}
		}
		if late == nil {
			t.Fatal("no state is on its way")
		}
		leader.give(leader.service.session, wire.New(wire.NoCopy, []byte("it is taken back"), f.Fields[0]))
		w.parcels, leader.service.session.outbox.words = nil, nil
		next := w.wanted(leader).Fields[0]
		late(isReceived)
		leader.do(func() error { (<-leader.core.reports)(); return nil })
		each := leader.core.copies.byNode[uint64(behind.identity.ID)]
		if each == nil || each.request != next || each.isReceived {
			t.Errorf("received %v: the next copy is given up, or taken for received", isReceived)
		}
	}
}

// silentReceiver is a node that takes what comes, and says nothing.
type silentReceiver struct{}

func (silentReceiver) Process(context.Context, etcd.Message) error { return nil }
func (silentReceiver) IsIDRemoved(uint64) bool                     { return false }
func (silentReceiver) ReportUnreachable(uint64)                    {}
func (silentReceiver) ReportSnapshot(uint64, etcd.SnapshotStatus)  {}

// Fails if the transport says that a state was not received which was, or the other way round.
func TestTransportSaysWhatBecameOfAState(t *testing.T) {
	start := func(node uint64) (etcd.Peers, string) {
		folder := t.TempDir()
		transport := etcd.NewTransport(etcd.PeerOptions{
			Logger: zap.NewNop(), Node: node, Cluster: 1, Receiver: silentReceiver{},
			Snapshotter: etcd.NewSnapshotter(zap.NewNop(), folder), DialTimeout: time.Minute,
		})
		if err := transport.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(transport.Stop)
		return etcd.Peers{Transport: transport}, folder
	}
	from, _ := start(1)
	to, folder := start(2)
	server := httptest.NewServer(to.Handler())
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	from.Add(2, server.URL)
	path := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(path, bytes.Repeat([]byte("state"), 200_000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, isCancelled := range []bool{false, true} {
		file, byteCount, err := openPaced(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		if isCancelled {
			file.cancel()
		}
		message := etcd.Message{Type: etcd.SnapshotMessage, From: 1, To: 2,
			Snapshot: etcd.Snapshot{Metadata: etcd.SnapMetadata{Index: 7, Term: 1}}}
		ended := make(chan bool, 1)
		if !from.SendState(message, file, byteCount, func(isReceived bool) { ended <- isReceived }) {
			t.Fatal("the node is not known")
		}
		if isReceived := <-ended; isReceived == isCancelled {
			t.Errorf("cancelled %v, received %v", isCancelled, isReceived)
		}
	}
	if files, err := filepath.Glob(filepath.Join(folder, "*.snap.db")); err != nil || len(files) != 1 {
		t.Error(files, err)
	}
}

// Fails if a file is not read whole, at a rate, or goes on after it is cancelled.
func TestPacedFilesAreReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	want := bytes.Repeat([]byte("state"), 200_000)
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	file, count, err := openPaced(path, 1<<40)
	if err != nil || count != int64(len(want)) {
		t.Fatal(count, err)
	}
	got, err := io.ReadAll(file)
	if err != nil || !bytes.Equal(got, want) || file.sent.Load() != count {
		t.Fatal(len(got), err)
	}
	file.Close()
	if file, _, err = openPaced(path, 1); err != nil { // a byte a second
		t.Fatal(err)
	}
	file.cancel()
	if _, err := io.ReadAll(file); err == nil {
		t.Error("a cancelled file is read")
	}
	if file, _, err = openPaced(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Now(), time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(file); !errors.Is(err, errFileChanged) {
		t.Errorf("a file that was written meanwhile is read: %v", err)
	}
}

// Fails if a service that does not take the log lets it grow without end, or a start over the limit takes part
// before its service has caught up.
func TestLogOverItsLimitEndsTheNode(t *testing.T) {
	w, leader := leading(t, faults.Set{}, 1, 2, 3)
	var slow *simNode
	for _, id := range w.order {
		if id != leader.identity.ID {
			slow = w.nodes[id]
		}
	}
	slow.core.options.LogLimit = 40 << 10
	slow.service.hungUntil = w.now.Add(time.Hour)
	var limit error
	for i := 0; i < 2000 && limit == nil; i++ {
		leader.service.propose()
		leader.service.work()
		for len(w.parcels) > 0 {
			w.deliver(0, false, false)
		}
		leader.tick()
		slow.do(func() error { slow.core.tick(); return nil })
		if limit = slow.core.trim(); limit != nil && exit.CodeOf(limit) != exit.LogLimit {
			t.Fatal(limit)
		}
	}
	count := 0
	if limit == nil {
		t.Fatal("no limit")
	}
	_, err := fmt.Sscanf(limit.Error(), "--log-limit: the log has %d bytes", &count)
	if err != nil || count <= 40<<10 || count > 60<<10 {
		t.Fatal(limit)
	}
	slow.logLimit = 40 << 10
	slow.crash()
	core := slow.core
	term, last := core.raft.BasicStatus().Term, core.last
	for i := 0; i < 100; i++ {
		slow.tick()
		core.step(etcd.Message{Type: etcd.HeartbeatMessage, From: uint64(leader.identity.ID),
			To: uint64(slow.identity.ID), Term: term + 5})
	}
	if got := core.raft.BasicStatus(); got.Term != term || core.last != last || core.roleName() != "draining" {
		t.Fatalf("a node over its limit takes part: %s of term %d", core.roleName(), got.Term)
	}
	slow.service.hungUntil = w.now
	w.settle("the node takes part again", func() bool { return core.roleName() == "follower" })
	w.settledLeader(t)
}

// Fails if a follower's log is cut beyond what its service has on its disk.
func TestLogIsKeptForTheService(t *testing.T) {
	w, leader := leading(t, faults.Set{}, 1, 2, 3)
	var slow *simNode
	for _, id := range w.order {
		if id != leader.identity.ID {
			slow = w.nodes[id]
		}
	}
	had := slow.service.applied
	slow.service.hungUntil = w.now.Add(time.Hour)
	w.fill(leader, func() bool { return leader.log.FirstIndex() > had+20 })
	w.settle("it has the log", func() bool { return slow.core.applied == leader.core.applied })
	if first := slow.log.FirstIndex(); first > had+1 {
		t.Errorf("the log begins at %d, and the service has %d", first, had)
	}
	// What a service says of itself, and what it has, are two things.
	slow.service.exit()
	session := newSession(w.now)
	slow.give(session, wire.New(wire.Hello, testCluster[:], wire.Version, slow.core.applied, 1, 1))
	slow.do(func() error { return slow.core.trim() })
	if first := slow.log.FirstIndex(); first > had+1 {
		t.Errorf("HELLO alone: the log begins at %d", first)
	}
	slow.give(session, wire.New(wire.Durable, nil, slow.core.applied+1000))
	if slow.core.durable > slow.core.applied {
		t.Errorf("%d is durable, and %d committed", slow.core.durable, slow.core.applied)
	}
	slow.give(session, wire.New(wire.Durable, nil, slow.core.applied))
	slow.do(func() error { return slow.core.trim() })
	if first := slow.log.FirstIndex(); first <= had+1 {
		t.Errorf("after DURABLE: the log begins at %d", first)
	}
	// A service that comes back with less needs what it lacks.
	has := slow.log.FirstIndex() + 2
	slow.give(newSession(w.now), wire.New(wire.Hello, testCluster[:], wire.Version, has, 1, 1))
	w.fill(leader, func() bool { return leader.log.FirstIndex() > has+20 })
	w.settle("it has the log", func() bool { return slow.core.applied == leader.core.applied })
	slow.do(func() error { return slow.core.trim() })
	if first := slow.log.FirstIndex(); first > has+1 {
		t.Errorf("the log begins at %d, and the service has come back with %d", first, has)
	}
}
