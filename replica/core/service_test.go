package core

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"time"

	"feed-replica/members"
	"feed-replica/wire"
)

// simService is the model of a service: it has no more than docs/REPLICA.md says, and checks all it is told.
type simService struct {
	node    *simNode
	session *session
	queue   []wire.Frame // in the socket
	older   []oldSession // what services before it left there

	applied  uint64
	chain    uint64
	isLeader bool
	term     uint64
	pending  [][]byte // proposed behind `applied`, in order
	resends  bool
	reads    map[uint64]uint64 // what was acknowledged when it was asked
	nextRead uint64
	wanted   []wire.Frame // promotions
	token    string
	refused  []wire.Frame
	ended    []wire.Frame

	hungUntil time.Time
}

type oldSession struct {
	session *session
	queue   []wire.Frame
}

const maximumPending = 4

// nextChain is the chain behind a batch.
func nextChain(chain, index uint64, body []byte) uint64 {
	h := fnv.New64a()
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], chain)
	binary.LittleEndian.PutUint64(b[8:], index)
	h.Write(b[:])
	h.Write(body)
	return h.Sum64()
}

// say puts a frame into the socket.
func (s *simService) say(kind wire.Kind, tail []byte, fields ...uint64) {
	s.queue = append(s.queue, wire.New(kind, tail, fields...))
}

// connect begins a session.
func (s *simService) connect() {
	s.session, s.queue = newSession(s.node.world.now), nil
	s.reads = map[uint64]uint64{}
	s.say(wire.Hello, testCluster[:], wire.Version, s.applied, 1, 1)
	s.say(wire.Durable, nil, s.applied)
}

// exit is exit 75, or a kill: what was not committed is unknown, and what is in the socket stays there.
func (s *simService) exit() {
	if s.session != nil {
		s.older = append(s.older, oldSession{s.session, s.queue})
		s.node.world.counts.exits++
	}
	s.session, s.queue, s.pending, s.isLeader, s.resends = nil, nil, nil, false, false
}

// hear gives the first frame in the socket to the replica.
func (s *simService) hear() {
	if len(s.queue) == 0 {
		return
	}
	f := s.queue[0]
	s.queue = s.queue[1:]
	s.node.give(s.session, f)
}

// hearOld gives what a service before this one has left in its socket, and then the socket's end.
func (s *simService) hearOld() {
	if len(s.older) == 0 {
		return
	}
	old := &s.older[0]
	if len(old.queue) > 0 {
		f := old.queue[0]
		old.queue = old.queue[1:]
		s.node.give(old.session, f)
		return
	}
	session := old.session
	s.older = s.older[1:]
	s.node.do(func() error {
		return s.node.core.handle(request{session: session, isEnd: true, done: make(chan struct{})})
	})
}

func (n *simNode) give(session *session, f wire.Frame) {
	session.heardAt(n.world.now)
	n.do(func() error { return n.core.handle(request{session: session, frame: f}) })
}

// work does all that a healthy service does in a moment.
func (s *simService) work() {
	if s.node.isGone || s.node.world.now.Before(s.hungUntil) {
		return
	}
	if s.session == nil {
		s.connect()
	}
	for len(s.older) > 0 && s.node.world.failure == nil {
		s.hearOld()
	}
	for len(s.queue) > 0 && s.node.world.failure == nil && s.session != nil {
		s.hear()
	}
	s.listen()
	if s.session != nil {
		if s.resends {
			s.propose()
		}
		s.say(wire.Durable, nil, s.applied)
	}
}

// listen takes all that the replica says.
func (s *simService) listen() {
	for s.session != nil && s.node.world.failure == nil {
		s.session.mu.Lock()
		isEnded, notice := s.session.isEnded, s.session.notice
		hasMore := s.session.outbox.hasMore()
		s.session.mu.Unlock()
		if isEnded {
			s.ended = append(s.ended, *notice)
			s.exit()
			return
		}
		if !hasMore {
			return
		}
		frames, err := s.session.outbox.take(uint64(s.node.identity.ID), s.node.log)
		if err != nil {
			s.node.world.fail("node %s: %v", s.node.identity.ID, err)
			return
		}
		for _, f := range frames {
			s.take(f)
			if s.session == nil {
				return
			}
		}
	}
}

// take checks one frame, and does what it asks for.
func (s *simService) take(f wire.Frame) {
	w := s.node.world
	switch f.Kind {
	case wire.Entry:
		s.takeEntry(f.Fields[0], wire.EntryKind(f.Fields[2]), f.Tail)
	case wire.Committed:
		s.takeCommitted(f.Fields[1])
	case wire.Role:
		s.takeRole(f)
	case wire.Refused:
		s.refused = append(s.refused, f)
		if s.isChanging() {
			if f.Fields[1] == s.applied+1 {
				s.pending = nil // the next batch has its index
			}
			return
		}
		switch wire.Reason(f.Fields[2]) {
		case wire.Transferring, wire.OtherIndex, wire.TooManyBytes:
			s.resends = true
		}
	case wire.ReadOK:
		if s.applied < s.reads[f.Fields[0]] {
			w.fail("node %s answers reads at %d, and %d was acknowledged before", s.node.identity.ID, s.applied,
				s.reads[f.Fields[0]])
		}
	case wire.Heard:
		at := epoch.Add(time.Duration(f.Fields[1]) * time.Microsecond)
		for i := len(w.ackedAt) - 1; i >= 0; i-- {
			if w.ackedAt[i].at.Before(at) {
				if w.ackedAt[i].last > f.Fields[0] {
					w.fail("node %s hears that %d is all, and %d was acknowledged before", s.node.identity.ID,
						f.Fields[0], w.ackedAt[i].last)
				}
				break
			}
		}
	case wire.CopyWanted:
		s.giveCopy(f.Fields[0], f.Fields[1])
	case wire.Install:
		s.install(f.Fields[0], string(f.Tail))
	case wire.TooOld:
		w.fail("node %s has %d and needs what is forgotten: the log begins at %d", s.node.identity.ID, s.applied,
			f.Fields[0])
	case wire.MemberWanted:
		s.wanted = append(s.wanted, f)
	case wire.Added:
		s.token = string(f.Tail)
	}
}

// takeEntry takes a record of another service, or of one before this.
func (s *simService) takeEntry(index uint64, kind wire.EntryKind, body []byte) {
	w := s.node.world
	if index != s.applied+1 {
		w.fail("node %s has %d and is given %d", s.node.identity.ID, s.applied, index)
		return
	}
	if len(s.pending) > 0 {
		// A change of the members or a new term stands where a batch was proposed.
		if !s.isLeader || kind == wire.Batch {
			w.fail("node %s is given %d, which it has proposed itself", s.node.identity.ID, index)
			return
		}
	}
	s.apply(index, kind, body)
}

func (s *simService) takeCommitted(through uint64) {
	w := s.node.world
	for s.applied < through {
		if len(s.pending) == 0 {
			w.fail("node %s: COMMITTED %d, and it has proposed nothing behind %d", s.node.identity.ID, through, s.applied)
			return
		}
		body := s.pending[0]
		s.pending = s.pending[1:]
		if body == nil { // a change of the members comes as an entry
			w.fail("node %s: COMMITTED of a change of the members at %d", s.node.identity.ID, s.applied+1)
			return
		}
		index, value := s.applied+1, binary.LittleEndian.Uint64(body)
		s.apply(index, wire.Batch, body)
		w.acked[index] = value
		if w.say != nil {
			w.say(promise{Index: index, Value: value})
		}
		if index > w.maxAcked {
			w.maxAcked = index
			w.ackedAt = append(w.ackedAt, paceMark{w.now, index})
		}
	}
}

// apply appends to the journal, and compares chains.
func (s *simService) apply(index uint64, kind wire.EntryKind, body []byte) {
	w := s.node.world
	if kind == wire.Batch {
		if chain := binary.LittleEndian.Uint64(body[8:]); chain != s.chain {
			w.fail("node %s: the chain differs at %d", s.node.identity.ID, index)
			return
		}
		s.chain = nextChain(s.chain, index, body)
	} else if len(s.pending) > 0 && s.pending[0] == nil {
		s.pending = s.pending[1:]
	}
	if other, isKnown := w.committed[index]; isKnown && string(other) != string(body) {
		w.fail("node %s has another record at %d than a node before it", s.node.identity.ID, index)
		return
	}
	w.committed[index] = append([]byte{}, body...)
	s.applied = index
}

func (s *simService) takeRole(f wire.Frame) {
	s.term = f.Fields[1]
	if f.Fields[0] == 0 {
		wasInDoubt := len(s.pending) > 0
		s.isLeader = false
		if wasInDoubt {
			s.exit()
		}
		return
	}
	if s.applied < f.Fields[3] {
		s.node.world.fail("node %s leads from %d on, and has %d", s.node.identity.ID, f.Fields[3], s.applied)
	}
	s.isLeader, s.pending, s.resends = true, nil, false
}

// isChanging says whether a change of the members is on its way: nothing else is.
func (s *simService) isChanging() bool { return len(s.pending) > 0 && s.pending[0] == nil }

// propose puts a batch into the socket, if the window has room.
func (s *simService) propose() {
	w := s.node.world
	if s.session == nil || !s.isLeader || s.isChanging() || len(s.pending) >= maximumPending && !s.resends {
		return
	}
	if s.resends {
		s.resends = false
		for i, body := range s.pending {
			s.say(wire.Propose, body, s.term, s.applied+1+uint64(i))
		}
		return
	}
	chain := s.chain
	for i, body := range s.pending {
		chain = nextChain(chain, s.applied+1+uint64(i), body)
	}
	w.values++
	body := make([]byte, 16+w.random.Intn(1500))
	binary.LittleEndian.PutUint64(body, w.values)
	binary.LittleEndian.PutUint64(body[8:], chain)
	s.pending = append(s.pending, body)
	s.say(wire.Propose, body, s.term, s.applied+uint64(len(s.pending)))
}

// read asks whether the node leads.
func (s *simService) read() {
	if s.session != nil && s.isLeader {
		s.nextRead++
		s.reads[s.nextRead] = s.node.world.maxAcked
		s.say(wire.Read, nil, s.nextRead)
	}
}

// change asks for a change of the members, with nothing else on its way.
func (s *simService) change(change wire.Change, id members.ID, tail string) bool {
	if s.session == nil || !s.isLeader || len(s.pending) > 0 {
		return false
	}
	s.pending = append(s.pending, nil)
	s.say(wire.Member, []byte(tail), s.term, s.applied+1, uint64(change), uint64(id))
	return true
}

// giveCopy gives a file of the state: how far it is, and its chain.
func (s *simService) giveCopy(request, least uint64) {
	if s.applied < least {
		s.say(wire.NoCopy, []byte("not that far"), request)
		return
	}
	path := filepath.Join(s.node.world.folder, fmt.Sprintf("state-%s-%d", s.node.identity.ID, request))
	b := binary.LittleEndian.AppendUint64(nil, s.applied)
	b = binary.LittleEndian.AppendUint64(b, s.chain)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		s.node.world.t.Fatal(err)
	}
	s.say(wire.Copy, []byte(path), request, s.applied)
}

// install takes a state in place of its own, and starts again.
func (s *simService) install(index uint64, path string) {
	b, err := os.ReadFile(path)
	if err != nil || binary.LittleEndian.Uint64(b) != index {
		s.node.world.fail("node %s: INSTALL %d of %s: %v", s.node.identity.ID, index, path, err)
		return
	}
	s.applied, s.chain = index, binary.LittleEndian.Uint64(b[8:])
	s.exit()
}
