package core

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/metrics"
	"feed-replica/store"
)

// The world is a cluster in one goroutine: cores with real logs, services that are models, a network that
// loses, doubles, reorders and cuts, and a clock that moves by itself. All chance is of one seed.
//
// What it checks: no acknowledged change is lost, doubled or moved; every service has the same chain; ROLE
// comes behind what it names; READ_OK and HEARD never say more than is so.

const (
	testSegmentByteCount = 64 << 10
	testTick             = 50 * time.Millisecond
	testBase             = 10
)

func TestMain(m *testing.M) {
	etcd.SetSegmentByteCount(testSegmentByteCount)
	os.Exit(m.Run())
}

var epoch = time.Unix(1_700_000_000, 0)

var testCluster = members.Cluster{1, 2, 3}

// parcel is a message on its way, perhaps with a state.
type parcel struct {
	message etcd.Message
	state   []byte
	from    *simNode
	ended   func(isReceived bool) // of a state
}

type link struct{ from, to members.ID }

type world struct {
	t       *testing.T
	seed    int64
	random  *rand.Rand
	faults  faults.Set
	folder  string
	now     time.Time
	nodes   map[members.ID]*simNode
	order   []members.ID
	parcels []parcel
	cut     map[link]bool
	failure error // the first thing that must not be

	values    uint64            // proposed so far
	acked     map[uint64]uint64 // value by index
	maxAcked  uint64
	ackedAt   []paceMark        // when which index was the highest
	committed map[uint64][]byte // what any service has at an index
	counts    struct{ crashes, copies, exits, added int }
	say       func(promise) // while it is recorded, for power cuts: then machines are not killed one by one
}

func newWorld(t *testing.T, seed int64, set faults.Set, ids ...members.ID) *world {
	t.Helper()
	return newWorldIn(t, newFolder(t), seed, set, ids...)
}

func newFolder(t *testing.T) string {
	t.Helper()
	parent := "/dev/shm" // a disk would take most of the time
	var room syscall.Statfs_t
	if err := syscall.Statfs(parent, &room); err != nil || room.Bavail*uint64(room.Bsize) < 1<<30 {
		parent = "" // containers often have 64 MiB there
	}
	folder, err := os.MkdirTemp(parent, "feed-replica-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

func newWorldIn(t *testing.T, folder string, seed int64, set faults.Set, ids ...members.ID) *world {
	w := &world{
		t: t, seed: seed, random: rand.New(rand.NewSource(seed)), faults: set, folder: folder,
		now: epoch.Add(time.Hour), nodes: map[members.ID]*simNode{}, cut: map[link]bool{},
		acked: map[uint64]uint64{}, committed: map[uint64][]byte{},
	}
	roster := members.Roster{}
	base := &store.Base{Index: testBase}
	for _, id := range ids {
		roster.Add(id, members.Member{Name: id.String(), URL: "http://127.0.0.1:1"})
		base.Voters = append(base.Voters, uint64(id))
	}
	base.Roster = roster.Encode()
	for _, id := range ids {
		w.addNode(members.Identity{Cluster: testCluster, ID: id, Name: id.String(), Members: roster.Members}, base)
		w.nodes[id].service.applied = testBase
	}
	t.Cleanup(func() {
		for _, node := range w.nodes {
			node.log.Close()
		}
	})
	return w
}

// fail keeps the first thing that is wrong.
func (w *world) fail(format string, values ...interface{}) {
	if w.failure == nil {
		w.failure = fmt.Errorf("seed %d: "+format, append([]interface{}{w.seed}, values...)...)
	}
}

// simNode is a machine: a replica and its service.
type simNode struct {
	world     *world
	identity  members.Identity
	directory string
	core      *Core
	log       *store.Store
	service   *simService
	ticks     int
	logLimit  int64
	isGone    bool // it was removed, and has seen that
}

func (w *world) addNode(identity members.Identity, base *store.Base) {
	node := &simNode{world: w, identity: identity, logLimit: 1 << 30,
		directory: filepath.Join(w.folder, identity.ID.String())}
	node.service = &simService{node: node, hungUntil: w.now}
	if err := os.Mkdir(node.directory, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := store.Create(node.storeOptions(), base); err != nil {
		w.t.Fatal(err)
	}
	w.nodes[identity.ID] = node
	w.order = append(w.order, identity.ID)
	node.start()
}

func (n *simNode) storeOptions() store.Options {
	return store.Options{Directory: n.directory, Logger: zap.NewNop(), Faults: n.world.faults}
}

func (n *simNode) start() {
	log, err := store.Open(n.storeOptions())
	if err != nil {
		n.world.fail("node %s does not start: %v", n.identity.ID, err)
		return
	}
	core, err := New(Options{
		Identity: n.identity, Store: log, Logger: zap.NewNop(), Metrics: &metrics.Replica{},
		Trailing: store.Trailing{Least: 8 << 10, Most: 16 << 10}, LogLimit: n.logLimit, Tick: testTick,
		Now:      func() time.Time { return n.world.now },
		Boottime: func() time.Duration { return n.world.now.Sub(epoch) },
		Random:   n.world.random, Faults: n.world.faults,
	})
	if err != nil {
		n.world.fail("node %s does not start: %v", n.identity.ID, err)
		log.Close()
		return
	}
	core.Connect(simPeers{n})
	n.log, n.core = log, core
	n.do(func() error { return nil })
}

// do does something on the node's goroutine, and what follows from it.
func (n *simNode) do(action func() error) {
	if n.isGone || n.world.failure != nil {
		return
	}
	err := action()
	if err == nil {
		err = n.core.process()
	}
	if errors.Is(err, ErrRemoved) {
		n.isGone = true
		return
	}
	if err != nil {
		n.world.fail("node %s ends: %v", n.identity.ID, err)
	}
}

// crash kills both programs of a machine, and starts them again. What no write has reached is lost.
func (n *simNode) crash() {
	w := n.world
	w.counts.crashes++
	killed := n.directory + "x"
	copyFolder(w.t, n.directory, killed)
	n.log.Close()
	os.RemoveAll(n.directory)
	n.directory = killed
	var left []parcel
	for _, each := range w.parcels {
		if each.state == nil || each.from != n {
			left = append(left, each)
		}
	}
	w.parcels = left
	n.service.exit()
	n.service.older = nil
	had := n.service.applied
	n.start()
	if w.failure == nil && n.core.last < had {
		w.fail("node %s had applied %d and starts with %d", n.identity.ID, had, n.core.last)
	}
}

func copyFolder(t *testing.T, from, to string) {
	if output, err := exec.Command("cp", "-R", from+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}

// tick moves the clock, and one node's time.
func (n *simNode) tick() {
	n.world.now = n.world.now.Add(testTick / time.Duration(len(n.world.nodes)))
	n.ticks++
	if n.ticks%20 == 0 {
		n.askServices()
	}
	n.do(func() error {
		n.core.tick()
		if n.ticks%4 == 0 {
			return n.core.lookAround()
		}
		return nil
	})
}

// askServices lets the node know what the services of the others say of themselves, as far as it reaches them.
func (n *simNode) askServices() {
	for id, other := range n.world.nodes {
		if other == n || other.isGone || !(simPeers{n}).IsConnected(uint64(id)) || !(simPeers{other}).IsConnected(uint64(n.identity.ID)) {
			continue
		}
		if service := other.core.Service(); service != nil {
			n.core.services[id] = heardService{*service, n.world.now}
		}
	}
}

// deliver gives one parcel to its node, or loses it.
func (w *world) deliver(at int, isLost, isDoubled bool) {
	each := w.parcels[at]
	if !isDoubled || each.state != nil {
		w.parcels = append(w.parcels[:at:at], w.parcels[at+1:]...)
	}
	to := w.nodes[members.ID(each.message.To)]
	from := members.ID(each.message.From)
	isLost = isLost || to == nil || to.isGone || w.cut[link{from, to.identity.ID}]
	if each.state == nil {
		if !isLost && !to.core.IsIDRemoved(each.message.From) {
			to.do(func() error { to.core.step(each.message); return nil })
		}
		return
	}
	if !isLost {
		if _, err := to.log.Snapshots().SaveDBFrom(bytes.NewReader(each.state), each.message.Snapshot.Metadata.Index); err != nil {
			w.t.Fatal(err)
		}
		to.do(func() error { to.core.step(each.message); return nil })
		w.counts.copies++
	}
	each.ended(!isLost)
	each.from.do(func() error { (<-each.from.core.reports)(); return nil })
}

// simPeers is the network as a node sees it.
type simPeers struct{ node *simNode }

func (p simPeers) Send(messages []etcd.Message) {
	for _, message := range messages {
		if message.To == 0 {
			continue
		}
		if p.node.world.say != nil {
			p.node.world.sayPromiseOf(message)
		}
		b, err := message.Marshal() // a copy, as a wire makes one
		if err != nil {
			p.node.world.t.Fatal(err)
		}
		var sent etcd.Message
		if err := sent.Unmarshal(b); err != nil {
			p.node.world.t.Fatal(err)
		}
		p.node.world.parcels = append(p.node.world.parcels, parcel{message: sent, from: p.node})
	}
}

func (p simPeers) SendState(message etcd.Message, state io.ReadCloser, _ int64, ended func(bool)) bool {
	b, err := io.ReadAll(state)
	state.Close()
	if err != nil {
		p.node.world.t.Fatal(err)
	}
	p.node.world.parcels = append(p.node.world.parcels, parcel{message, b, p.node, ended})
	return true
}

func (p simPeers) Add(uint64, string) {}
func (p simPeers) Remove(uint64)      {}

func (p simPeers) IsConnected(id uint64) bool {
	to := p.node.world.nodes[members.ID(id)]
	return to != nil && !to.isGone && !p.node.world.cut[link{p.node.identity.ID, members.ID(id)}]
}

// leader is the node that leads the highest term, or nil.
func (w *world) leader() (found *simNode) {
	for _, id := range w.order {
		if n := w.nodes[id]; !n.isGone && n.core.isLeader && (found == nil || n.core.term > found.core.term) {
			found = n
		}
	}
	return found
}

// settle lets everything arrive, in order, until a condition holds.
func (w *world) settle(what string, isSettled func() bool) {
	w.t.Helper()
	for step := 0; step < 20000; step++ {
		if w.failure != nil {
			return
		}
		if isSettled() {
			return
		}
		for len(w.parcels) > 0 && w.failure == nil {
			w.deliver(0, false, false)
		}
		for _, id := range w.order {
			node := w.nodes[id]
			if step%2 == 0 {
				node.tick()
			}
			node.service.work()
		}
	}
	w.fail("never: %s%s", what, w.describe())
}

// describe says where each node is, for a failure.
func (w *world) describe() (text string) {
	for _, id := range w.order {
		n := w.nodes[id]
		text += fmt.Sprintf("\n  node %s: %s of term %d, leader %x, log %d to %d, committed %d, durable %d; "+
			"service: session %v, applied %d, leads %v, %d on their way",
			id, n.core.roleName(), n.core.term, n.core.leader, n.log.FirstIndex(), n.core.last, n.core.applied,
			n.core.durable, n.service.session != nil, n.service.applied, n.service.isLeader, len(n.service.pending))
		if count := len(n.service.refused); count > 0 {
			last := n.service.refused[count-1]
			text += fmt.Sprintf("; %d refusals, the last %v %q", count, last.Fields, last.Tail)
		}
		if count := len(n.service.ended); count > 0 {
			text += fmt.Sprintf("; its last session of %d was told %q", count, n.service.ended[count-1].Tail)
		}
	}
	return text
}
