package core

import (
	"encoding/binary"
	"time"

	"feed-replica/etcd"
	"feed-replica/wire"
)

// reads has the questions whether the node still leads: of its service, and those with which a follower learns
// what the leader has committed. All that wait share one round of heartbeats.
type reads struct {
	node    uint64
	next    uint64
	waiting []uint64 // the service's, for the next round
	rounds  map[uint64][]uint64
	count   int // of all that are not answered
}

// begin takes where the numbers of rounds start: never at those of a process before it, whose answers may
// still be on their way.
func (r *reads) begin(node, first uint64) {
	r.node, r.next, r.rounds = node, first, map[uint64][]uint64{}
}

// round is the name of a new one, which no other node has.
func (r *reads) round() (number uint64, name []byte) {
	r.next++
	name = binary.LittleEndian.AppendUint64(nil, r.node)
	return r.next, binary.LittleEndian.AppendUint64(name, r.next)
}

// number is that of a round by its name.
func (r *reads) number(name []byte) (uint64, bool) {
	if len(name) != 16 || binary.LittleEndian.Uint64(name) != r.node {
		return 0, false
	}
	return binary.LittleEndian.Uint64(name[8:]), true
}

// ask begins a round for all that wait.
func (r *reads) ask(raft *etcd.RawNode) {
	if len(r.waiting) == 0 {
		return
	}
	number, name := r.round()
	r.rounds[number] = r.waiting
	r.waiting = nil
	raft.ReadIndex(name)
}

// answered gives the questions of a round.
func (r *reads) answered(number uint64) []uint64 {
	ids := r.rounds[number]
	delete(r.rounds, number)
	r.count -= len(ids)
	return ids
}

func (r *reads) forget() {
	r.waiting, r.rounds, r.count = nil, map[uint64][]uint64{}, 0
}

// refuse answers all: the node does not lead any more.
func (r *reads) refuse(s *session) {
	if s != nil {
		for _, id := range r.waiting {
			s.tell(wire.ReadNo, nil, id)
		}
		for _, ids := range r.rounds {
			for _, id := range ids {
				s.tell(wire.ReadNo, nil, id)
			}
		}
	}
	r.forget()
}

// read takes a question of the service. It is answered once a majority has confirmed that the node led after
// it was asked.
func (c *Core) read(s *session, id uint64) {
	if !c.isLeader || c.reads.count >= maximumWaitingReads {
		s.tell(wire.ReadNo, nil, id)
		return
	}
	c.reads.waiting = append(c.reads.waiting, id)
	c.reads.count++
}

// heard is what a follower knows of the leader: all up to `commit` was committed when it was asked.
//
// The commit indexes of heartbeats do not say that: to a node that is behind they name what it has.
// The moment is that of the question, on a clock of the machine that runs while it is suspended: a service that was
// stopped reads words of before, and sees how old they are.
type heard struct {
	commit  uint64
	at      time.Duration // 0 while nothing was heard
	round   uint64        // the question on its way, or 0
	askedAt time.Duration
}

// askAgainPeriod is when a question counts as lost.
const askAgainPeriod = 500 * time.Millisecond

// askLeader lets a follower ask what is committed: once a tick, if the last question was answered.
func (c *Core) askLeader() {
	now := c.options.Boottime()
	if c.isLeader || c.leader == etcd.NoLeader || c.session == nil ||
		c.heard.round != 0 && now-c.heard.askedAt < askAgainPeriod {
		return
	}
	number, name := c.reads.round()
	c.heard.round, c.heard.askedAt = number, now
	c.raft.ReadIndex(name)
}

// tellHeard tells the service how old what it knows is. A leader says nothing: its READ is the proof.
func (c *Core) tellHeard() {
	if c.isLeader || c.session == nil || c.heard.at == 0 {
		return
	}
	word := wire.New(wire.Heard, nil, c.heard.commit, uint64(c.heard.at.Microseconds()))
	c.session.with(func(o *outbox) bool {
		o.heard = &word
		return true
	})
}

// takeReadStates takes the answers of rounds.
func (c *Core) takeReadStates(states []etcd.ReadState) {
	for _, state := range states {
		number, isOurs := c.reads.number(state.RequestCtx)
		switch {
		case !isOurs:
		case number == c.heard.round:
			c.heard.round, c.heard.commit, c.heard.at = 0, state.Index, c.heard.askedAt
		case c.session != nil && c.isLeader:
			for _, id := range c.reads.answered(number) {
				c.session.tell(wire.ReadOK, nil, id)
			}
		}
	}
}
