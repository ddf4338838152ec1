package core

import (
	"testing"
	"time"

	"feed-replica/etcd"
	"feed-replica/faults"
)

// Fails if a tick waits for messages of peers: the heartbeats of a busy leader would come late.
func TestTicksDoNotWaitForMessages(t *testing.T) {
	w, n := leading(t, faults.Set{}, 1, 2, 3)
	ticks := make(chan time.Time, 1)
	for turn := 0; turn < 200; turn++ {
		for len(n.core.messages) < cap(n.core.messages) {
			n.core.messages <- etcd.Message{Type: etcd.SnapshotMessage, From: 2, To: 1} // no leader takes one
		}
		w.parcels = nil
		ticks <- w.now
		if err := n.core.turn(ticks, nil); err != nil {
			t.Fatal(err)
		}
		if len(ticks) > 0 {
			t.Fatalf("turn %d has left a tick out", turn)
		}
	}
	if len(w.parcels) == 0 {
		t.Error("a tick of a leader sends nothing")
	}
}

// Fails if a node that could not run asks the others for votes, although the heartbeat of its leader is here: the tick
// that is due comes behind it. The least timeout of an election is drawn in one of ten terms.
func TestWhatWasHeardCountsBeforeATick(t *testing.T) {
	w, n := leading(t, faults.Set{}, 1, 2, 3)
	heartbeat := etcd.Message{Type: etcd.HeartbeatMessage, From: 2, To: 1, Term: n.core.term}
	for turn := 0; turn < 500; turn++ {
		heartbeat.Term++
		n.do(func() error { n.core.step(heartbeat); return nil })
		for tick := 1; tick < electionTicks; tick++ {
			n.do(func() error { n.core.tick(); return nil })
		}
		ticks := make(chan time.Time, 1)
		ticks <- w.now
		n.core.messages <- heartbeat
		if err := n.core.turn(ticks, nil); err != nil {
			t.Fatal(err)
		}
		for _, each := range w.parcels {
			if kind := each.message.Type.String(); kind == "MsgPreVote" {
				t.Fatalf("turn %d: %s to %x", turn, kind, each.message.To)
			}
		}
		w.parcels = nil
	}
}
