package core

import (
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"feed-replica/exit"
	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/wire"
)

// session is a service as the core sees it. Its connection reads from the outbox, and is told to close.
type session struct {
	mu       sync.Mutex
	wake     *sync.Cond
	outbox   outbox
	isEnded  bool
	notice   *wire.Frame // the last word
	lastWord time.Time   // when the service said something
	onEnd    func()      // lets the last word not wait for ever
}

// request is something that a service said, or that its connection has ended.
type request struct {
	session *session
	frame   wire.Frame
	isEnd   bool
	done    chan<- struct{} // closed once the core has seen the end
}

func newSession(now time.Time) *session {
	s := &session{lastWord: now}
	s.wake = sync.NewCond(&s.mu)
	s.onEnd = func() {}
	return s
}

// with changes the outbox, and wakes the connection.
func (s *session) with(change func(*outbox) bool) {
	s.mu.Lock()
	if !s.isEnded && !change(&s.outbox) {
		s.finish(lastWord(wire.TooSlow, "the service does not take what it is told"))
	}
	s.mu.Unlock()
	s.wake.Signal()
}

func (s *session) tell(kind wire.Kind, tail []byte, fields ...uint64) {
	s.with(func(o *outbox) bool { return o.tell(wire.New(kind, tail, fields...)) })
}

// end closes the session with a last word, if it can still be said.
func (s *session) end(notice wire.Frame) {
	s.mu.Lock()
	s.finish(notice)
	s.mu.Unlock()
	s.wake.Signal()
}

func (s *session) finish(notice wire.Frame) {
	if !s.isEnded {
		s.isEnded, s.notice = true, &notice
		s.onEnd()
	}
}

func (s *session) heardAt(now time.Time) {
	s.mu.Lock()
	s.lastWord = now
	s.mu.Unlock()
}

func (s *session) isSilent(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.lastWord) > serviceSilence
}

func (s *session) hasEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isEnded
}

func lastWord(reason wire.Reason, text string) wire.Frame {
	return wire.New(wire.End, []byte(text), uint64(reason))
}

func stops() wire.Frame { return lastWord(wire.Stopping, "the replica stops") }

// handle does what a service said. An error is one that the node cannot go on with.
func (c *Core) handle(r request) error {
	if r.isEnd {
		c.sessionEnded(r)
		return nil
	}
	s, f := r.session, r.frame
	switch {
	case s.hasEnded() && !(c.options.Faults.Has(faults.NoSessionFence) && f.Kind == wire.Propose):
		// It was told so: what was on its way is left out.
	case f.Kind == wire.Status:
		s.tell(wire.StatusIs, c.statusJSON(), f.Fields[0])
	case f.Kind == wire.Hello:
		return c.hello(s, f)
	case s != c.session && !(c.options.Faults.Has(faults.NoSessionFence) && f.Kind == wire.Propose):
		s.end(lastWord(wire.BadFrame, "HELLO has to come first"))
	default:
		c.handleOfService(s, f)
	}
	return nil
}

func (c *Core) handleOfService(s *session, f wire.Frame) {
	switch f.Kind {
	case wire.Propose:
		c.propose(s, f.Fields[0], f.Fields[1], f.Tail)
	case wire.Durable:
		c.isDurable(f.Fields[0])
	case wire.Read:
		c.read(s, f.Fields[0])
	case wire.Member:
		c.proposeChange(s, f)
	case wire.Transfer:
		c.transfer(s, f.Fields[0])
	case wire.Copy:
		c.copyIsReady(f.Fields[0], f.Fields[1], string(f.Tail))
	case wire.NoCopy:
		c.copyFails(f.Fields[0], string(f.Tail))
	default:
		s.end(lastWord(wire.BadFrame, "a service does not say "+f.Kind.String()))
	}
}

// hello begins the session of a service; one that is there ends.
func (c *Core) hello(s *session, f wire.Frame) error {
	version, applied := f.Fields[0], f.Fields[1]
	cluster := c.options.Identity.Cluster
	var theirs members.Cluster
	copy(theirs[:], f.Tail)
	switch {
	case s == c.session:
		s.end(lastWord(wire.BadFrame, "HELLO came twice"))
		return nil
	case version < wire.OldestVersion || version > wire.Version:
		s.end(lastWord(wire.BadVersion,
			fmt.Sprintf("version %d, expected %d to %d", version, wire.OldestVersion, wire.Version)))
		return nil
	case theirs != cluster && (applied != 0 || theirs != members.Cluster{}):
		s.end(lastWord(wire.OtherCluster, "the state is not of cluster "+cluster.String()))
		return nil
	}
	if applied > c.last {
		return exit.New(exit.Replace, "entries are lost: the service has record %d, and the log ends at %d; replace this node",
			applied, c.last)
	}
	if c.session != nil {
		c.logger.Warn("another service has come: the first one is cut off")
		c.endSession(lastWord(wire.Replaced, "another service has come"))
	}
	c.session = s
	c.service.Store(&members.Service{
		Address: string(f.Tail[wire.ClusterIDByteCount:]), LowestLevel: f.Fields[2], HighestLevel: f.Fields[3],
	})
	// What a service has, it may not have on its disk: it says so itself. What it lacks, it needs.
	if c.durable > applied {
		c.durable = applied
	}
	c.logger.Info("the service has come", zap.Uint64("applied", applied), zap.Uint64("committed", c.applied))
	s.with(func(o *outbox) bool {
		o.begin(applied, c.committedForService())
		return o.tell(wire.New(wire.Welcome, cluster[:], version, uint64(c.options.Identity.ID), c.term,
			c.leader, c.applied, c.last))
	})
	// What a session before it has proposed may still be committed: this one has to know it first.
	c.leadFrom = c.last
	c.tellRole()
	return nil
}

func (c *Core) sessionEnded(r request) {
	if c.session == r.session {
		c.logger.Warn("the service is gone")
		c.endSession(stops())
		c.handOverWithoutService(c.options.Now())
	}
	close(r.done)
}

// endSession takes the service away, with what only it could finish.
func (c *Core) endSession(notice wire.Frame) {
	if c.session == nil {
		return
	}
	c.session.end(notice)
	c.session = nil
	c.change.isSession = false
	c.reads.forget()
	c.dropCopies("the service is gone")
}

func (c *Core) committedForService() uint64 {
	if c.options.Faults.Has(faults.EarlyCommitted) {
		return c.last
	}
	return c.applied
}

func (c *Core) tellCommitted() {
	c.proposals.committed(c.applied, c.options.Now(), &c.options.Metrics.Commits)
	if c.session == nil {
		return
	}
	committed := c.committedForService()
	c.session.with(func(o *outbox) bool {
		o.committed = committed
		return true
	})
}

func (c *Core) tellRole() {
	if c.session == nil {
		return
	}
	c.session.with(func(o *outbox) bool {
		if !c.isLeader {
			return o.follow(c.term, c.leader)
		}
		from := c.leadFrom
		if c.options.Faults.Has(faults.EarlyRole) {
			from = 0
		}
		o.lead(c.term, from)
		return true
	})
}

// isDurable takes how far the service's own disk is: more than was committed, it cannot have.
func (c *Core) isDurable(index uint64) {
	if index > c.durable && index <= c.applied {
		c.durable = index
	}
}
