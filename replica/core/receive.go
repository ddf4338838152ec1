package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/members"
)

// ErrRemoved is in the error of a node that does not belong to its cluster any more.
var ErrRemoved = errors.New("was removed from its cluster")

// Removed says what to do.
func Removed(node members.ID) error {
	return exit.New(exit.Replace, "node %s %w; add a new one in its place", node, ErrRemoved)
}

// Process takes a message of a peer: the transport's goroutines call it.
func (c *Core) Process(ctx context.Context, message etcd.Message) error {
	if c.IsIDRemoved(message.From) {
		return Removed(members.ID(message.From))
	}
	select {
	case c.messages <- message:
		return nil
	case <-c.done:
		return context.Canceled
	case <-ctx.Done():
		return ctx.Err()
	}
}

// IsIDRemoved says whether a node was removed.
func (c *Core) IsIDRemoved(id uint64) bool { return c.roster.Load().WasRemoved(members.ID(id)) }

// ReportUnreachable takes that a message could not be sent. The Raft core finds out by itself, later.
func (c *Core) ReportUnreachable(id uint64) {
	select {
	case c.reports <- func() { c.raft.ReportUnreachable(id) }:
	default:
	}
}

// ReportSnapshot does nothing: it does not say which state it is of. `SendState` does.
func (c *Core) ReportSnapshot(uint64, etcd.SnapshotStatus) {}

// reportState takes what became of a state that was sent.
func (c *Core) reportState(request uint64, isReceived bool) {
	select {
	case c.reports <- func() { c.stateReported(request, isReceived) }:
	case <-c.done:
	}
}

// Members are those of the newest record that is applied: the transport's goroutines call it.
func (c *Core) Members() map[members.ID]members.Member { return c.roster.Load().Members }

// Service is what this node's service has said of itself, or nil if none was there yet.
func (c *Core) Service() *members.Service { return c.service.Load() }

// heardService is what another node has said of its service.
type heardService struct {
	members.Service
	at time.Time
}

// TakeService takes what another node says of its service. If the core is busy, the next word will do.
func (c *Core) TakeService(id members.ID, service members.Service) {
	select {
	case c.reports <- func() { c.services[id] = heardService{service, c.options.Now()} }:
	default:
	}
}

// raftLogger writes the Raft core's lines into the log. What it calls a panic is a broken invariant: Run ends.
type raftLogger struct{ *zap.SugaredLogger }

// Warning is a warning.
func (l raftLogger) Warning(v ...interface{}) { l.Warn(v...) }

// Warningf is a warning.
func (l raftLogger) Warningf(format string, v ...interface{}) { l.Warnf(format, v...) }

// Fatal panics: one place ends the process.
func (l raftLogger) Fatal(v ...interface{}) { l.Panic(v...) }

// Fatalf panics: one place ends the process.
func (l raftLogger) Fatalf(format string, v ...interface{}) { panic(fmt.Sprintf(format, v...)) }

var _ etcd.RaftLogger = raftLogger{}
var _ etcd.PeerReceiver = (*Core)(nil)
