package core

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"feed-replica/etcd"
	"feed-replica/wire"
)

// copyPatience is how long a copy may stand still.
const copyPatience = 120 * time.Second

// receivedPatience is how long a node may take to say that it has a state which the transport has delivered.
const receivedPatience = time.Second

// copying is the state on its way to a node whose next entry was forgotten. The service gives a file of it;
// the entries behind it are kept until the node has taken them up.
type copying struct {
	request    uint64
	message    etcd.Message // as the Raft core wants to send it
	least      uint64       // a state below this index is of no use
	pin        uint64       // the entries behind it are kept
	file       *pacedFile   // nil until the service has given it
	isReceived bool
	progress   uint64 // of bytes and entries
	movedAt    time.Time
}

// copies has one for each node.
type copies struct {
	byNode map[uint64]*copying
	next   uint64
}

func (c *copies) of(request uint64) (uint64, *copying) {
	for node, each := range c.byNode {
		if each.request == request {
			return node, each
		}
	}
	return 0, nil
}

// lowestPin is the index behind which entries are needed, or the given one.
func (c *copies) lowestPin(limit uint64) uint64 {
	for _, each := range c.byNode {
		if each.pin < limit {
			limit = each.pin
		}
	}
	return limit
}

// wantCopy asks the service for a state, as the Raft core wants to send one.
func (c *Core) wantCopy(message etcd.Message) {
	node := message.To
	each := c.copies.byNode[node]
	if each != nil && !each.isReceived {
		return // its end is reported
	}
	isNew := each != nil && c.options.Now().Sub(each.movedAt) < receivedPatience
	if !isNew {
		delete(c.copies.byNode, node) // it came, and was of no use: the node is behind again
	}
	if isNew || c.session == nil {
		c.raft.ReportSnapshot(node, etcd.SnapshotFailed)
		return
	}
	base := message.Snapshot.Metadata.Index
	each = &copying{message: message, least: base, pin: base, movedAt: c.options.Now()}
	// A node ignores a state that does not name it.
	if added := c.history.firstWith(node); added > each.least {
		each.least = added
	}
	c.copies.next++
	each.request = c.copies.next
	if c.copies.byNode == nil {
		c.copies.byNode = map[uint64]*copying{}
	}
	c.copies.byNode[node] = each
	c.logger.Info("a node needs the state", zapNode(node), zap.Uint64("least", each.least))
	c.session.tell(wire.CopyWanted, nil, each.request, each.least)
}

// copyIsReady takes the file of a state, and sends it.
func (c *Core) copyIsReady(request, index uint64, path string) {
	node, each := c.copies.of(request)
	if each == nil || each.file != nil {
		c.tellCopyDone(request)
		return
	}
	if err := c.sendState(node, each, index, path); err != nil {
		c.dropCopy(node, err.Error())
	}
}

func (c *Core) sendState(node uint64, each *copying, index uint64, path string) error {
	if index < each.least || index > c.applied {
		return fmt.Errorf("the state is at %d, expected %d to %d", index, each.least, c.applied)
	}
	term, err := c.store.Term(index)
	if err != nil {
		return fmt.Errorf("the state is at %d: %w", index, err)
	}
	file, byteCount, err := openPaced(path, c.options.CopyRate)
	if err != nil {
		return err
	}
	era := c.history.at(index)
	message := each.message
	message.To, message.Term = node, c.term
	message.Snapshot = etcd.Snapshot{Data: era.roster.Encode(), Metadata: etcd.SnapMetadata{
		Index: index, Term: term, ConfState: era.voters,
	}}
	each.pin, each.file, each.movedAt = index, file, c.options.Now()
	c.logger.Info("a state is sent", zapNode(node), zapIndex(index), zap.Int64("bytes", byteCount))
	c.options.Metrics.CopiesSent.Add(1)
	request := each.request
	ended := func(isReceived bool) { c.reportState(request, isReceived) }
	if !c.peers.SendState(message, file, byteCount, ended) {
		file.Close()
		return errors.New("the node is not known to the transport")
	}
	return nil
}

// copyFails takes that the service cannot give a state, or has to take the file back.
func (c *Core) copyFails(request uint64, why string) {
	if node, each := c.copies.of(request); each != nil {
		c.dropCopy(node, "the service: "+why)
	}
}

// stateReported takes what became of a state that was sent. What comes late, of a copy that was given up, says
// nothing of the next one to the same node.
func (c *Core) stateReported(request uint64, isReceived bool) {
	node, each := c.copies.of(request)
	switch {
	case each == nil:
	case !isReceived:
		c.dropCopy(node, "it was not received")
	default:
		c.raft.ReportSnapshot(node, etcd.SnapshotFinished)
		each.isReceived, each.movedAt = true, c.options.Now()
		c.tellCopyDone(request)
	}
}

func (c *Core) tellCopyDone(request uint64) {
	if c.session != nil {
		c.session.tell(wire.CopyDone, nil, request)
	}
}

// dropCopy gives a copy up; the Raft core asks again.
func (c *Core) dropCopy(node uint64, why string) {
	each := c.copies.byNode[node]
	if each == nil {
		return
	}
	delete(c.copies.byNode, node)
	c.logger.Warn("a copy of the state is given up", zapNode(node), zap.String("why", why))
	c.options.Metrics.CopiesEnded.Add(1)
	if each.file != nil {
		each.file.cancel()
	}
	if !each.isReceived {
		c.tellCopyDone(each.request)
		c.raft.ReportSnapshot(node, etcd.SnapshotFailed)
	}
}

func (c *Core) dropCopies(why string) {
	for node := range c.copies.byNode {
		c.dropCopy(node, why)
	}
}

// endCopies forgets the copies whose nodes go on with entries, and gives up those that stand still.
func (c *Core) endCopies(now time.Time) {
	if len(c.copies.byNode) == 0 {
		return
	}
	c.raft.WithProgress(func(node uint64, _ etcd.ProgressType, progress etcd.Progress) {
		each := c.copies.byNode[node]
		if each == nil {
			return
		}
		if each.isReceived && progress.State == etcd.Replicating && progress.Match >= each.pin {
			delete(c.copies.byNode, node)
			return
		}
		moved := progress.Match
		if each.file != nil {
			moved += uint64(each.file.sent.Load())
		}
		if moved != each.progress {
			each.progress, each.movedAt = moved, now
		}
	})
	for node, each := range c.copies.byNode {
		if now.Sub(each.movedAt) > copyPatience {
			c.dropCopy(node, fmt.Sprintf("nothing of it moved for %v", copyPatience))
		}
	}
}
