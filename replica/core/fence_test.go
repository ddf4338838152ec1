package core

import (
	"testing"
	"time"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/wire"
)

// leading is a world in which a service leads, and all nodes have everything.
func leading(t *testing.T, set faults.Set, ids ...members.ID) (*world, *simNode) {
	t.Helper()
	w := newWorld(t, 1, set, ids...)
	return w, w.settledLeader(t)
}

func (w *world) settledLeader(t *testing.T) *simNode {
	t.Helper()
	var leader *simNode
	w.settle("a service leads, and all have everything", func() bool {
		leader = w.leader()
		if leader == nil || !leader.service.isLeader || len(leader.service.pending) > 0 {
			return false
		}
		for _, node := range w.nodes {
			if !node.isGone && (node.service.session == nil || node.service.applied != leader.core.last) {
				return false
			}
		}
		return true
	})
	if w.failure != nil {
		t.Fatal(w.failure)
	}
	return leader
}

// proposed is what became of one proposal.
func proposed(n *simNode, session *session, term, index uint64, body []byte) (isAppended bool, reason wire.Reason) {
	last := n.core.last
	n.service.refused = nil
	n.give(session, wire.New(wire.Propose, body, term, index))
	frames, err := session.outbox.take(uint64(n.identity.ID), n.log)
	if err != nil {
		n.world.t.Fatal(err)
	}
	for _, f := range frames {
		if f.Kind == wire.Refused {
			reason = wire.Reason(f.Fields[2])
		}
	}
	return n.core.last > last, reason
}

var someBatch = make([]byte, 16)

// Fails if a proposal is appended that is not the next one, of the term that the node leads, by its session.
func TestOnlyTheNextProposalOfTheTermIsAppended(t *testing.T) {
	_, n := leading(t, faults.Set{}, 1)
	s, term, last := n.service.session, n.core.term, n.core.last
	for _, each := range []struct {
		name        string
		term, index uint64
		count       int
		want        wire.Reason
	}{
		{"the last one again", term, last, 16, wire.OtherIndex},
		{"behind a gap", term, last + 2, 16, wire.OtherIndex},
		{"of an earlier term", term - 1, last + 1, 16, wire.OtherTerm},
		{"of a later term", term + 1, last + 1, 16, wire.OtherTerm},
		{"too large", term, last + 1, wire.MaximumBodyByteCount + 1, wire.TooLarge},
		{"the next one", term, last + 1, 16, 0},
		{"the next one again", term, last + 1, 16, wire.OtherIndex},
		{"the largest", term, last + 2, wire.MaximumBodyByteCount, 0},
	} {
		isAppended, reason := proposed(n, s, each.term, each.index, make([]byte, each.count))
		if isAppended != (each.want == 0) || reason != each.want {
			t.Errorf("%s: appended %v, reason %d, expected %d", each.name, isAppended, reason, each.want)
		}
	}
	other := newSession(n.world.now)
	n.give(other, wire.New(wire.Hello, testCluster[:], wire.Version, n.core.last, 1, 1))
	if isAppended, _ := proposed(n, s, term, n.core.last+1, someBatch); isAppended {
		t.Error("a proposal of a session that was replaced is appended")
	}
	if isAppended, reason := proposed(n, other, term, n.core.last+1, someBatch); !isAppended {
		t.Error("a proposal of the new session is refused:", reason)
	}
}

// Fails if records without number wait for their commit: small ones never reach the limit of bytes.
func TestRecordsThatWaitAreLimited(t *testing.T) {
	w, n := leading(t, faults.Set{}, 1, 2, 3)
	for _, id := range w.order {
		w.cut[link{n.identity.ID, id}] = true
	}
	for i := 0; i <= maximumUncommittedCount; i++ {
		isAppended, reason := proposed(n, n.service.session, n.core.term, n.core.last+1, someBatch)
		w.parcels = nil
		if isAppended != (i < maximumUncommittedCount) || !isAppended && reason != wire.TooManyBytes {
			t.Fatalf("record %d: appended %v, reason %d", i, isAppended, reason)
		}
	}
}

// Fails if what a session that was ended has left in its socket is taken: another HELLO, or a proposal.
func TestEndedSessionsSayNothing(t *testing.T) {
	_, n := leading(t, faults.Set{}, 1)
	s := n.service.session
	s.end(lastWord(wire.TooSlow, "a test"))
	last := n.core.last
	n.give(s, wire.New(wire.Propose, someBatch, n.core.term, last+1))
	if n.core.last != last {
		t.Error("a proposal of an ended session is appended")
	}
	other := newSession(n.world.now)
	n.give(other, wire.New(wire.Hello, testCluster[:], wire.Version, last, 1, 1))
	n.give(s, wire.New(wire.Hello, testCluster[:], wire.Version, last, 1, 1))
	if n.core.session != other || other.isEnded {
		t.Error("an ended session has ended another one")
	}
}

// Fails if a broken invariant ends the process otherwise than as a fault of the program, with its exit code.
func TestPanicsEndRun(t *testing.T) {
	n := newWorld(t, 1, faults.Set{}, 1).nodes[1]
	n.core.reports <- func() { panic("broken") }
	if err := n.core.Run(); exit.CodeOf(err) != exit.Internal {
		t.Error(err)
	}
}

// Fails if what a peer proposes is appended: the service would take it for its own.
func TestPeersProposeNothing(t *testing.T) {
	w, n := leading(t, faults.Set{}, 1)
	n.do(func() error {
		n.core.step(etcd.Message{Type: etcd.ProposalMessage, From: 9, To: 1, Entries: []etcd.Entry{{Data: someBatch}}})
		return nil
	})
	if last := n.log.LastIndex(); last != n.service.applied || w.failure != nil {
		t.Errorf("the log ends at %d, the service has %d: %v", last, n.service.applied, w.failure)
	}
}

// Fails if a node that does not lead, or is giving the leadership away, appends.
func TestProposalsAreRefusedWithoutTheLeadership(t *testing.T) {
	w, n := leading(t, faults.Set{}, 1, 2, 3)
	for _, id := range w.order {
		if other := w.nodes[id]; other != n {
			if isAppended, reason := proposed(other, other.service.session, n.core.term, other.core.last+1, someBatch); isAppended ||
				reason != wire.NotLeader {
				t.Errorf("a follower: appended %v, reason %d", isAppended, reason)
			}
		}
	}
	n.give(n.service.session, wire.New(wire.Transfer, nil, 0))
	if isAppended, reason := proposed(n, n.service.session, n.core.term, n.core.last+1, someBatch); isAppended ||
		reason != wire.Transferring {
		t.Errorf("during a transfer: appended %v, reason %d", isAppended, reason)
	}
	before := n
	w.settle("another node leads", func() bool { return w.leader() != nil && w.leader() != before })
	if w.failure != nil {
		t.Fatal(w.failure)
	}
}

// Fails if a service of another cluster or version, or one that has more than the log, is taken.
func TestHelloIsChecked(t *testing.T) {
	var other members.Cluster
	other[0] = 99
	hello := func(cluster members.Cluster, version, applied uint64) (wire.Reason, error) {
		_, n := leading(t, faults.Set{}, 1)
		s := newSession(n.world.now)
		err := n.core.handle(request{session: s, frame: wire.New(wire.Hello, cluster[:], version, applied, 1, 1)})
		if s.notice == nil {
			return 0, err
		}
		return wire.Reason(s.notice.Fields[0]), err
	}
	for _, each := range []struct {
		name             string
		cluster          members.Cluster
		version, applied uint64
		want             wire.Reason
	}{
		{"a good one", testCluster, wire.Version, testBase, 0},
		{"a newer version", testCluster, wire.Version + 1, testBase, wire.BadVersion},
		{"no version", testCluster, 0, testBase, wire.BadVersion},
		{"another cluster", other, wire.Version, testBase, wire.OtherCluster},
		{"another cluster without records", other, wire.Version, 0, wire.OtherCluster},
		{"no cluster, with records", members.Cluster{}, wire.Version, testBase, wire.OtherCluster},
		{"no cluster, no records", members.Cluster{}, wire.Version, 0, 0},
	} {
		if got, err := hello(each.cluster, each.version, each.applied); got != each.want || err != nil {
			t.Errorf("%s: reason %d, expected %d: %v", each.name, got, each.want, err)
		}
	}
	if _, err := hello(testCluster, wire.Version, 1000); exit.CodeOf(err) != exit.Replace {
		t.Error("a service that has more than the log:", err)
	}
	_, n := leading(t, faults.Set{}, 1)
	first := n.service.session
	n.give(newSession(n.world.now), wire.New(wire.Hello, testCluster[:], wire.Version, testBase, 1, 1))
	if !first.isEnded || wire.Reason(first.notice.Fields[0]) != wire.Replaced {
		t.Error("a second session does not end the first")
	}
}

// Fails if a service that takes nothing makes the replica keep words without end.
func TestServiceThatTakesNothingIsCutOff(t *testing.T) {
	_, n := leading(t, faults.Set{}, 1)
	s := n.service.session
	for i := 0; i <= maximumWaitingWords && !s.isEnded; i++ {
		n.give(s, wire.New(wire.Status, nil, uint64(i)))
	}
	if !s.isEnded || wire.Reason(s.notice.Fields[0]) != wire.TooSlow {
		t.Error("no end after", len(s.outbox.words))
	}
}

// Fails if frames before HELLO, twice HELLO, or what only a replica says, are taken.
func TestFramesOutOfPlaceEndTheSession(t *testing.T) {
	for _, each := range []struct {
		isAttached bool
		frame      wire.Frame
	}{
		{false, wire.New(wire.Durable, nil, 1)},
		{false, wire.New(wire.Propose, someBatch, 1, 1)},
		{true, wire.New(wire.Hello, testCluster[:], wire.Version, testBase, 1, 1)},
		{true, wire.New(wire.Committed, nil, 1, 1)},
	} {
		_, n := leading(t, faults.Set{}, 1)
		s := n.service.session
		if !each.isAttached {
			s = newSession(n.world.now)
		}
		n.give(s, each.frame)
		if !s.isEnded || wire.Reason(s.notice.Fields[0]) != wire.BadFrame {
			t.Errorf("%s, attached %v: the session goes on", each.frame.Kind, each.isAttached)
		}
	}
}

// Fails if reads are answered by a node that no majority confirms, or are forgotten, or pile up.
func TestReadsNeedAMajority(t *testing.T) {
	w, n := leading(t, faults.Set{}, 1, 2, 3)
	words := func(id members.ID) map[wire.Kind]int {
		found := map[wire.Kind]int{}
		node := w.nodes[id]
		frames, err := node.service.session.outbox.take(uint64(id), node.log)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			found[f.Kind]++
		}
		return found
	}
	w.parcels = nil
	n.give(n.service.session, wire.New(wire.Read, nil, 1))
	n.give(n.service.session, wire.New(wire.Read, nil, 2))
	if got := words(n.identity.ID); got[wire.ReadOK] != 0 {
		t.Fatal("answered by the node alone")
	}
	for len(w.parcels) > 0 {
		w.deliver(0, false, false)
	}
	if got := words(n.identity.ID); got[wire.ReadOK] != 2 {
		t.Fatal("not answered by a majority:", got)
	}
	for i := uint64(0); i <= maximumWaitingReads; i++ {
		n.core.read(n.service.session, 100+i)
	}
	if got := words(n.identity.ID); got[wire.ReadNo] != 1 {
		t.Fatal("over the limit:", got)
	}
	for _, id := range w.order { // cut off: it finds out by itself
		w.cut[link{n.identity.ID, id}], w.cut[link{id, n.identity.ID}] = true, true
	}
	for i := 0; i < 100 && n.core.isLeader; i++ {
		n.tick()
	}
	if got := words(n.identity.ID); got[wire.ReadNo] != maximumWaitingReads || got[wire.ReadOK] != 0 {
		t.Fatal("deposed:", got)
	}
	n.give(n.service.session, wire.New(wire.Read, nil, 1))
	if got := words(n.identity.ID); got[wire.ReadNo] != 1 {
		t.Fatal("asked of a node that does not lead:", got)
	}
}

// Fails if a leader without a service, or with a hung one, keeps the leadership, or gives it to a node that is
// not connected, or has no service either: each such step is another term.
func TestLeadersWithoutServiceHandOver(t *testing.T) {
	w, hung := leading(t, faults.Set{}, 1, 2, 3)
	hung.service.hungUntil = w.now.Add(time.Hour)
	w.settle("a node whose service lives leads", func() bool {
		leader := w.leader()
		return leader != nil && leader != hung && leader.service.isLeader
	})
	if w.failure != nil {
		t.Fatal(w.failure)
	}
	for _, node := range w.nodes {
		node.service.exit()
		node.service.hungUntil = w.now.Add(time.Hour)
		for len(node.service.older) > 0 {
			node.service.hearOld()
		}
	}
	begin, given := w.now, uint64(0)
	for _, node := range w.nodes {
		given -= node.core.options.Metrics.HandOvers.Load()
	}
	hungSince := w.leader().core.term
	for w.now.Sub(begin) < 10*time.Second && w.failure == nil {
		for len(w.parcels) > 0 {
			w.deliver(0, false, false)
		}
		for _, id := range w.order {
			w.nodes[id].tick()
		}
	}
	for _, node := range w.nodes {
		given += node.core.options.Metrics.HandOvers.Load()
	}
	// Each of three may begin one a second, until it has heard that the services of the others are gone, too.
	if given > 6 {
		t.Errorf("%d times in 10 s without services, in %d terms", given, w.leader().core.term-hungSince)
	}
	back := w.nodes[w.order[0]]
	if back == w.leader() {
		back = w.nodes[w.order[1]]
	}
	back.service.hungUntil = w.now
	w.settle("the node whose service is back leads", func() bool { return back.service.isLeader })
	if w.failure != nil {
		t.Error(w.failure)
	}
}

// Fails if the leadership is given to a node that cannot take it.
func TestTransfersAreChecked(t *testing.T) {
	w, n := leading(t, faults.Set{}, 1, 2, 3)
	transfer := func(node *simNode, to members.ID) wire.Reason {
		node.give(node.service.session, wire.New(wire.Transfer, nil, uint64(to)))
		frames, _ := node.service.session.outbox.take(uint64(node.identity.ID), node.log)
		for _, f := range frames {
			if f.Kind == wire.Refused {
				return wire.Reason(f.Fields[2])
			}
		}
		return 0
	}
	var others []members.ID
	for _, id := range w.order {
		if id != n.identity.ID {
			others = append(others, id)
		}
	}
	w.cut[link{n.identity.ID, others[0]}] = true
	for to, want := range map[members.ID]wire.Reason{
		n.identity.ID: wire.BadTransfer, 99: wire.BadTransfer, others[0]: wire.BadTransfer,
	} {
		if got := transfer(n, to); got != want {
			t.Errorf("to %s: reason %d, expected %d", to, got, want)
		}
	}
	if got := transfer(w.nodes[others[1]], 0); got != wire.BadTransfer {
		t.Errorf("from a follower: reason %d", got)
	}
	if got := transfer(n, others[1]); got != 0 || n.core.raft.BasicStatus().LeadTransferee != uint64(others[1]) {
		t.Errorf("to a connected voter: reason %d", got)
	}
}
