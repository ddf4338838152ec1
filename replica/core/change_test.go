package core

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"feed-replica/etcd"
	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/wire"
)

// refusalOf is why a change is refused, or "".
func refusalOf(n *simNode, change wire.Change, id members.ID, tail string) string {
	n.service.refused = nil
	n.give(n.service.session, wire.New(wire.Member, []byte(tail), n.core.term, n.core.last+1, uint64(change), uint64(id)))
	frames, err := n.service.session.outbox.take(uint64(n.identity.ID), n.log)
	if err != nil {
		n.world.t.Fatal(err)
	}
	for _, f := range frames {
		if f.Kind == wire.Refused {
			return string(f.Tail)
		}
	}
	return ""
}

// grow adds a member, which joins with its token and is promoted.
func (w *world) grow(t *testing.T, name string) *simNode {
	t.Helper()
	leader := w.settledLeader(t)
	leader.service.token = ""
	if !leader.service.change(wire.AddMember, 0, fmt.Sprintf("%s\nhttp://127.0.0.1:%d", name, 10+len(w.order))) {
		t.Fatal("the leader cannot change the members")
	}
	w.settle("a token", func() bool { return leader.service.token != "" })
	if w.failure != nil {
		t.Fatal(w.failure)
	}
	identity, err := members.ParseToken(leader.service.token)
	if err != nil {
		t.Fatal(err)
	}
	w.addNode(identity, nil)
	node := w.nodes[identity.ID]
	w.settle("the new node votes", func() bool {
		if wanted := leader.service.wanted; len(wanted) > 0 && leader.service.isLeader {
			leader.service.wanted = nil
			leader.service.change(wire.Change(wanted[0].Fields[0]), members.ID(wanted[0].Fields[1]), "")
		}
		return !leader.core.isLearner(identity.ID) && !node.core.isLearner(identity.ID) &&
			node.service.applied == leader.core.last
	})
	if w.failure != nil {
		t.Fatal(w.failure)
	}
	return node
}

// Fails if a node cannot be added with a state, is promoted before it keeps up, does not count as a voter after
// it, or may come back after it was removed.
func TestMembersAreAddedPromotedAndRemoved(t *testing.T) {
	w, first := leading(t, faults.Set{}, 1)
	for i := 0; i < 10; i++ {
		first.service.propose()
	}
	second := w.grow(t, "b")
	third := w.grow(t, "c")
	leader := w.settledLeader(t)
	if voters := leader.core.history.newest().voters.Voters; len(voters) != 3 {
		t.Fatal("voters:", voters)
	}
	// Two of three go on without the first.
	w.cut[link{1, second.identity.ID}], w.cut[link{1, third.identity.ID}] = true, true
	w.cut[link{second.identity.ID, 1}], w.cut[link{third.identity.ID, 1}] = true, true
	w.settle("another one leads", func() bool { return w.leader() == second || w.leader() == third })
	w.cut = map[link]bool{}
	leader = w.settledLeader(t)
	gone := second
	if leader == second {
		gone = third
	}
	if !leader.service.change(wire.RemoveMember, gone.identity.ID, "") {
		t.Fatal("the leader cannot change the members")
	}
	w.settle("the removal", func() bool { return leader.core.IsIDRemoved(uint64(gone.identity.ID)) })
	gone.isGone = true
	removed := leader.core.applied
	w.fill(leader, func() bool { return leader.log.FirstIndex() > removed })
	w.settledLeader(t)
	if _, err := New(optionsOf(leader, gone.identity)); err == nil || !strings.Contains(err.Error(), "was removed") {
		t.Error("a removed node starts:", err)
	}
	w.audit()
	if w.failure != nil {
		t.Error(w.failure)
	}
}

// optionsOf is another node over the same log.
func optionsOf(n *simNode, identity members.Identity) Options {
	options := n.core.options
	options.Identity = identity
	return options
}

// Fails if a change is taken that cannot be, or two at once.
func TestChangesOfTheMembersAreChecked(t *testing.T) {
	w, n := leading(t, faults.Set{}, 1, 2, 3)
	var other members.ID
	for _, id := range w.order {
		if id != n.identity.ID {
			other = id
		}
	}
	for _, each := range []struct {
		change wire.Change
		id     members.ID
		tail   string
		want   string
	}{
		{wire.AddMember, 0, "", "name of 0 bytes"},
		{wire.AddMember, 0, "a b\nhttps://h:1", "expected letters"},
		{wire.AddMember, 0, "b\nhttp://10.0.0.1:1", "expected https://"},
		{wire.AddMember, 0, "b\nftp://h:1", "expected https://"},
		{wire.AddMember, 0, "b\nhttps://h:1/path", "expected https://HOST:PORT"},
		{wire.AddMember, 0, other.String() + "\nhttps://h:1", "has this name or address"},
		{wire.PromoteMember, other, "", "is not a member that learns"},
		{wire.RemoveMember, 99, "", "is not a member"},
		{wire.RemoveMember, n.identity.ID, "", "transfer the leadership first"},
		{9, 0, "", "expected 1 to 3"},
	} {
		if got := refusalOf(n, each.change, each.id, each.tail); !strings.Contains(got, each.want) {
			t.Errorf("change %d of %s, %q: %q, expected %q", each.change, each.id, each.tail, got, each.want)
		}
	}
	for _, id := range w.order {
		w.cut[link{n.identity.ID, id}] = true
	}
	if got := refusalOf(n, wire.RemoveMember, other, ""); !strings.Contains(got, "expected a majority") {
		t.Errorf("without a majority: %q", got)
	}
	if got := refusalOf(n, wire.AddMember, 0, "d\nhttps://h:1"); got != "" {
		t.Errorf("a good one: %q", got)
	}
	if got := refusalOf(n, wire.AddMember, 0, "e\nhttps://h:2"); !strings.Contains(got, "one at a time") {
		t.Errorf("a second one: %q", got)
	}
}

// endsAgain says whether a removed node is a member again after the log has a change that adds it.
func endsAgain(t *testing.T, set faults.Set) bool {
	w, n := leading(t, set, 1, 2, 3)
	var other members.ID
	for _, id := range w.order {
		if id != n.identity.ID {
			other = id
		}
	}
	n.service.change(wire.RemoveMember, other, "")
	w.settle("the removal", func() bool { return n.core.IsIDRemoved(uint64(other)) })
	w.nodes[other].isGone = true
	n.do(func() error {
		return n.core.raft.ProposeConfChange(etcd.ConfChange{Type: etcd.AddVoter, NodeID: uint64(other),
			Context: members.Member{Name: "again", URL: "https://h:1"}.Encode()})
	})
	for i := 0; i < 100 && w.failure == nil; i++ {
		for len(w.parcels) > 0 {
			w.deliver(0, false, false)
		}
		n.tick()
	}
	if w.failure != nil {
		t.Fatal(w.failure)
	}
	return len(n.core.history.newest().voters.Voters) == 3
}

// Fails if the number of a removed node is ever a member again.
func TestNumbersDoNotComeBack(t *testing.T) {
	if endsAgain(t, faults.Set{}) {
		t.Error("a removed node is a member again")
	}
}

// Fails if a learner that has answered nothing is to be promoted.
func TestLearnersThatAreBehindAreNotPromoted(t *testing.T) {
	w, n := leading(t, faults.Set{}, 1)
	n.service.change(wire.AddMember, 0, "b\nhttps://b:1")
	w.settle("a token", func() bool { return n.service.token != "" })
	identity, err := members.ParseToken(n.service.token)
	if err != nil {
		t.Fatal(err)
	}
	w.addNode(identity, nil)
	w.cut[link{identity.ID, n.identity.ID}] = true // it hears, and is not heard
	for i := 0; i < 500; i++ {
		for len(w.parcels) > 0 {
			w.deliver(0, false, false)
		}
		n.tick()
		n.service.work()
	}
	if w.failure != nil || len(n.service.wanted) != 0 {
		t.Errorf("%d times wanted: %v", len(n.service.wanted), w.failure)
	}
}

// Fails if a snapshot carries other members than those as of its index.
func TestMembersAreThoseOfTheIndex(t *testing.T) {
	var h history
	if err := h.begin(etcd.Snapshot{Metadata: etcd.SnapMetadata{Index: 10}}); err != nil {
		t.Fatal(err)
	}
	for index := uint64(15); index <= 20; index += 5 {
		roster := h.roster().Clone()
		roster.Add(members.ID(index), members.Member{Name: "n"})
		h.add(index, etcd.ConfState{Voters: []uint64{index}}, roster)
	}
	check := func(wants map[uint64]int) {
		for index, want := range wants {
			if got := len(h.at(index).roster.Members); got != want {
				t.Errorf("at %d: %d members, expected %d", index, got, want)
			}
		}
	}
	check(map[uint64]int{10: 0, 14: 0, 15: 1, 19: 1, 20: 2, 99: 2})
	if h.firstWith(15) != 15 || h.firstWith(20) != 20 {
		t.Error(h.firstWith(15), h.firstWith(20))
	}
	h.cut(17)
	check(map[uint64]int{17: 1, 19: 1, 20: 2})
	if len(h.eras) != 2 || h.eras[0].index != 17 {
		t.Error(h.eras)
	}
}

// Fails if how far a peer is behind is not when the log had more than it.
func TestPaceSaysForHowLong(t *testing.T) {
	var p pace
	at := time.Unix(100, 0)
	if _, isKnown := p.behind(at, 5); isKnown {
		t.Error("behind is known without a log")
	}
	for i := 0; i < 400; i++ {
		p.record(at, uint64(i))
		at = at.Add(lookPeriod)
	}
	if len(p.marks) != maximumPaceMarks {
		t.Error("marks:", len(p.marks))
	}
	now := at.Add(-lookPeriod)
	for index, want := range map[uint64]time.Duration{399: 0, 500: 0, 398: 0, 394: 4 * lookPeriod} {
		if got, isKnown := p.behind(now, index); got != want || !isKnown {
			t.Errorf("index %d is behind for %v, expected %v", index, got, want)
		}
	}
	if got, isKnown := p.behind(now, 3); isKnown || got < 59*time.Second {
		t.Errorf("an index of before: %v, known %v", got, isKnown)
	}
}
