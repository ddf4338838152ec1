package core

import (
	"encoding/binary"
	"os"
	"strconv"
	"testing"
	"time"

	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/wire"
)

func seedsOf(t *testing.T, first, count int64) (list []int64) {
	if text := os.Getenv("FEED_SEED"); text != "" {
		seed, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return []int64{seed}
	}
	for seed := first; seed < first+count; seed++ {
		list = append(list, seed)
	}
	return list
}

// simulate lets a world of three live through faults, heals it, and audits what is left.
func simulate(t *testing.T, seed int64, steps int, set faults.Set) *world {
	w := newWorld(t, seed, set, 1, 2, 3)
	for step := 0; step < steps && w.failure == nil; step++ {
		w.step()
	}
	w.cut = map[link]bool{}
	for _, node := range w.nodes {
		node.service.hungUntil = w.now
	}
	w.settle("all nodes have everything", func() bool {
		leader := w.leader()
		if leader == nil || len(leader.service.pending) > 0 {
			return false
		}
		for _, node := range w.nodes {
			if node.isGone {
				continue
			}
			if node.service.session == nil || node.service.applied != leader.core.last {
				return false
			}
		}
		return true
	})
	w.audit()
	return w
}

// step is one thing that happens.
func (w *world) step() {
	node := w.nodes[w.order[w.random.Intn(len(w.order))]]
	switch x := w.random.Intn(10000); {
	case x < 1500:
		node.tick()
	case x < 5500:
		for n := 0; n < 3 && len(w.parcels) > 0; n++ {
			at := 0
			if w.random.Intn(4) == 0 {
				at = w.random.Intn(len(w.parcels)) // mostly in order
			}
			w.deliver(at, w.random.Intn(100) < 3, w.random.Intn(100) < 3)
		}
	case x < 6800:
		node.service.propose()
	case x < 7000:
		node.service.read()
	case x < 8300:
		if w.now.After(node.service.hungUntil) {
			if node.service.session == nil {
				node.service.connect()
			}
			for n := 0; n < 3; n++ {
				node.service.hear()
			}
		}
	case x < 8500:
		node.service.hearOld()
	case x < 9700:
		if w.now.After(node.service.hungUntil) {
			node.service.listen()
		}
	case x < 9900:
		if node.service.session != nil && w.now.After(node.service.hungUntil) {
			node.service.say(wire.Status, nil, 1)
			node.service.say(wire.Durable, nil, node.service.applied)
		}
	case x < 9910:
		node.service.exit() // the service is killed
	case x < 9915:
		node.service.hungUntil = w.now.Add(time.Duration(w.random.Intn(4000)) * time.Millisecond)
	case x < 9922:
		node.crash()
	case x < 9930:
		if node.service.session != nil {
			node.service.say(wire.Transfer, nil, 0)
		}
	case x < 9945:
		w.cut[link{w.order[w.random.Intn(3)], w.order[w.random.Intn(3)]}] = true
	case x < 9960: // alone
		for _, id := range w.order {
			w.cut[link{node.identity.ID, id}], w.cut[link{id, node.identity.ID}] = true, true
		}
	case x < 9985:
		w.cut = map[link]bool{}
	}
	if len(w.parcels) > 3000 { // a network holds no more
		kept := append([]parcel(nil), w.parcels[2000:]...)
		for _, each := range w.parcels[:2000] {
			if each.state != nil {
				kept = append(kept, each)
			}
		}
		w.parcels = kept
	}
}

// audit compares what was acknowledged with what all nodes have.
func (w *world) audit() {
	values := map[uint64]uint64{}
	for index, body := range w.committed {
		if len(body) == 0 {
			continue
		}
		value := binary.LittleEndian.Uint64(body)
		if other, isKnown := values[value]; isKnown {
			w.fail("change %d is at %d and at %d", value, other, index)
		}
		values[value] = index
	}
	for index, value := range w.acked {
		if values[value] != index {
			w.fail("acknowledged change %d was at %d, and is at %d", value, index, values[value])
		}
	}
	var chain uint64
	var first members.ID
	for _, id := range w.order {
		if node := w.nodes[id]; !node.isGone {
			if first != 0 && node.service.chain != chain {
				w.fail("the chains of nodes %s and %s differ", first, id)
			}
			chain, first = node.service.chain, id
		}
	}
}

// Fails if an acknowledged change is lost, doubled or moved, chains differ, a read or a follower is told more
// than is so, or a cluster does not come back: with messages lost, doubled and reordered, links cut, services
// killed and hung, machines killed, states copied, and leaders transferred, by seed.
func TestSimulation(t *testing.T) {
	count := int64(12)
	if text := os.Getenv("FEED_SIMULATION_COUNT"); text != "" {
		var err error
		if count, err = strconv.ParseInt(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	acked, crashes, copies, exits := 0, 0, 0, 0
	terms := uint64(0)
	for _, seed := range seedsOf(t, 1, count) {
		w := simulate(t, seed, 15000, faults.Set{})
		if w.failure != nil {
			t.Fatal(w.failure)
		}
		acked += len(w.acked)
		crashes += w.counts.crashes
		copies += w.counts.copies
		exits += w.counts.exits
		terms += w.leader().core.term
	}
	t.Logf("%d acknowledged, %d machines killed, %d services ended, %d states copied, %d terms", acked, crashes,
		exits, copies, terms)
	if os.Getenv("FEED_SEED") == "" && (acked < 1000 || crashes == 0 || copies == 0 || exits == 0) {
		t.Error("the simulation does not do what it is for")
	}
}
