// Package core is a node: the Raft core between the log, the peers and the service.
//
// One goroutine, which Run is, has all of it. What comes from peers, from the service and from timers waits in
// bounded channels. The service is a `session`, whose outbox has what is to be said; the goroutines of its
// connection only move bytes. So a test steps a core without a socket and without a clock.
//
// Invariants, which the tests hold against a plain model:
//
//   - An entry is appended only for the service's one session, in the term that the node leads, under the next
//     number. So nothing that a deposed or dead service left in the socket is ever appended, and a committed
//     batch implies all before it.
//   - The service is told that it leads only behind the last entry that it must know.
//   - What it is told of the log is in the log's order, each number once.
//   - An entry is forgotten only if the service has it on its disk, and no copy on its way needs it.
package core

import (
	"io"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/metrics"
	"feed-replica/store"
)

// Limits of what waits for the core's goroutine, and of what it keeps.
const (
	maximumWaitingMessages  = 32 // of up to 1 MiB, or one entry
	maximumWaitingRequests  = 4  // bodies have up to 8 MiB
	maximumWaitingReports   = 256
	maximumTurn             = 256 // what goes into one write of the log
	maximumWaitingReads     = 1024
	maximumUncommittedCount = 4096
	maximumUncommittedBytes = 32 << 20
	maximumMessageBytes     = 1 << 20
	maximumMessagesInFlight = 32
	maximumReadyBytes       = 4 << 20
)

// Times of the protocol.
const (
	DefaultTick    = 50 * time.Millisecond
	electionTicks  = 10 // to 20, at random
	lookPeriod     = 200 * time.Millisecond
	stopPeriod     = time.Second
	handOverPeriod = time.Second
	serviceSilence = 1500 * time.Millisecond
	serviceWordAge = 5 * time.Second // of what other nodes say of theirs, once a second
)

// Peers is the way to the other nodes.
type Peers interface {
	// Send sends messages; what cannot be sent is dropped.
	Send(messages []etcd.Message)
	// SendState streams a state and closes it; then another goroutine calls `ended`, once. False if it does
	// none of this, as the node is not known.
	SendState(message etcd.Message, state io.ReadCloser, byteCount int64, ended func(isReceived bool)) bool
	Add(node uint64, url string)
	Remove(node uint64)
	IsConnected(node uint64) bool
}

// Options says what a node is made of.
type Options struct {
	Identity members.Identity
	Store    *store.Store
	Logger   *zap.Logger
	Metrics  *metrics.Replica
	Trailing store.Trailing
	LogLimit int64 // bytes of entries that the service has not taken
	CopyRate int64 // bytes a second of a state's copy; 0 is unlimited
	Tick     time.Duration
	Now      func() time.Time
	// Boottime is the machine's CLOCK_BOOTTIME, which the service reads too.
	Boottime func() time.Duration
	Random   io.Reader // numbers of nodes are drawn from it
	Faults   faults.Set
}

// Core is one node.
type Core struct {
	options Options
	store   *store.Store
	raft    *etcd.RawNode
	peers   Peers
	logger  *zap.Logger

	messages chan etcd.Message
	requests chan request
	reports  chan func()
	stop     chan struct{}
	done     chan struct{}                   // closed when Run returns
	roster   atomic.Pointer[members.Roster]  // for the transport's goroutines
	service  atomic.Pointer[members.Service] // of this node, as it said HELLO last

	session  *session
	isLeader bool
	term     uint64
	leader   uint64
	last     uint64 // of the log, with what was proposed and not saved yet
	applied  uint64 // committed, saved and told
	leadFrom uint64 // the service leads once it has all up to here
	durable  uint64 // what the service has on its disk

	history   history
	change    pendingChange
	reads     reads
	heard     heard
	copies    copies
	pace      pace
	services  map[members.ID]heardService
	proposals proposals

	handedOver time.Time
	stopUntil  time.Time // zero while the node works
	isDraining bool      // a log over its limit waits for its service before the node takes part
}

// New makes a node of its log. `Connect` has to follow before anything else.
func New(options Options) (*Core, error) {
	c := &Core{
		options:  options,
		store:    options.Store,
		logger:   options.Logger,
		messages: make(chan etcd.Message, maximumWaitingMessages),
		requests: make(chan request, maximumWaitingRequests),
		reports:  make(chan func(), maximumWaitingReports),
		stop:     make(chan struct{}),
		done:     make(chan struct{}),
		services: map[members.ID]heardService{},
		last:     options.Store.LastIndex(),
		term:     options.Store.HardTerm(),
	}
	base := c.store.Base()
	c.applied = base.Metadata.Index
	if err := c.history.begin(base); err != nil {
		return nil, err
	}
	if c.history.roster().WasRemoved(options.Identity.ID) {
		return nil, Removed(options.Identity.ID)
	}
	c.publishRoster()
	c.reads.begin(uint64(options.Identity.ID), uint64(options.Now().UnixNano()))
	c.isDraining = c.store.ByteCount() > options.LogLimit
	raft, err := etcd.NewRawNode(&etcd.RaftConfig{
		ID:                        uint64(options.Identity.ID),
		ElectionTick:              electionTicks,
		HeartbeatTick:             1,
		Storage:                   c.store.Memory(),
		Applied:                   c.applied,
		MaxSizePerMsg:             maximumMessageBytes,
		MaxInflightMsgs:           maximumMessagesInFlight,
		MaxUncommittedEntriesSize: maximumUncommittedBytes,
		MaxCommittedSizePerReady:  maximumReadyBytes,
		CheckQuorum:               true,
		PreVote:                   true,
		DisableProposalForwarding: true,
		Logger:                    raftLogger{c.logger.Named("raft").Sugar()},
	})
	if err != nil {
		return nil, exit.New(exit.Internal, "the Raft core: %w", err)
	}
	c.raft = raft
	return c, nil
}

// Connect gives the node its way to the others, and tells that of the members.
func (c *Core) Connect(peers Peers) {
	c.peers = peers
	known := c.history.roster()
	for id, member := range c.options.Identity.Members {
		if _, isMember := known.Members[id]; !isMember && !known.WasRemoved(id) {
			c.addPeer(id, member)
		}
	}
	for id, member := range known.Members {
		c.addPeer(id, member)
	}
}

func (c *Core) addPeer(id members.ID, member members.Member) {
	if id != c.options.Identity.ID {
		c.peers.Add(uint64(id), member.URL)
	}
}

// Run is the node's goroutine. It returns nil after Stop, or why the node cannot go on. A broken invariant of the
// Raft core, which panics, is such a reason.
func (c *Core) Run() (err error) {
	defer close(c.done)
	defer func() {
		if what := recover(); what != nil {
			c.logger.Error("a panic", zap.Any("what", what), zap.Stack("stack"))
			err = exit.New(exit.Internal, "the node's goroutine: %v", what)
			return
		}
		c.endSession(stops())
	}()
	ticker := time.NewTicker(c.options.Tick)
	defer ticker.Stop()
	look := time.NewTicker(lookPeriod)
	defer look.Stop()
	for !c.mayStop() {
		if err := c.turn(ticker.C, look.C); err != nil {
			return err
		}
	}
	return nil
}

// turn waits for something to do, and does it with all that waits beside it. A tick that is due is a part of each
// turn, once, and comes last: neither do messages hold up a leader's heartbeats, nor are peers silent that were
// heard while this node could not run.
func (c *Core) turn(ticks, looks <-chan time.Time) error {
	isTick, stop := false, c.stop
	if !c.stopUntil.IsZero() {
		stop = nil
	}
	select {
	case <-ticks:
		isTick = true
	case message := <-c.messages:
		c.step(message)
	case request := <-c.requests:
		if err := c.handle(request); err != nil {
			return err
		}
	case report := <-c.reports:
		report()
	case <-looks:
		if err := c.lookAround(); err != nil {
			return err
		}
	case <-stop:
		c.stopUntil = c.options.Now().Add(stopPeriod)
		c.handOver(0)
	}
	if err := c.takeWaiting(); err != nil {
		return err
	}
	if !isTick {
		select {
		case <-ticks:
			isTick = true
		default:
		}
	}
	if isTick {
		c.tick()
	}
	return c.process()
}

// takeWaiting takes what else has come into the same write, and the same sync.
func (c *Core) takeWaiting() error {
	for n := 0; n < maximumTurn; n++ {
		select {
		case message := <-c.messages:
			c.step(message)
		case request := <-c.requests:
			if err := c.handle(request); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// mayStop says whether a node that was told to stop has nothing to wait for: it does not lead, nobody can take
// the leadership, or it has waited long enough.
func (c *Core) mayStop() bool {
	return !c.stopUntil.IsZero() &&
		(!c.isLeader || !c.hasOtherVoters() || c.options.Now().After(c.stopUntil))
}

// Stop ends Run, after the leadership was handed over, or a second.
func (c *Core) Stop() { close(c.stop) }

func (c *Core) tick() {
	if c.isDraining {
		return
	}
	c.raft.Tick()
	c.askLeader()
	c.tellHeard()
}

// step takes a message of a peer. Those to a node that waits for its service are dropped, as by a network. So are
// proposals: peers send none, and Raft would append them past the fence.
func (c *Core) step(message etcd.Message) {
	if c.isDraining || message.Type == etcd.ProposalMessage {
		return
	}
	err := c.raft.Step(message)
	if err != nil && err != etcd.ErrProposalDropped && err != etcd.ErrPeerNotFound {
		c.logger.Warn("a peer's message was not taken", zap.Stringer("from", members.ID(message.From)),
			zap.Stringer("type", message.Type), zap.Error(err))
	}
}

// lookAround does what has its time: five times a second.
func (c *Core) lookAround() error {
	now := c.options.Now()
	c.pace.record(now, c.last)
	c.noteService(now)
	c.handOverWithoutService(now)
	c.wantPromotions(now)
	c.endCopies(now)
	return c.trim()
}

// ID is the number of the node.
func (c *Core) ID() members.ID { return c.options.Identity.ID }
