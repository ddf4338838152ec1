package core

import (
	"feed-replica/exit"
	"feed-replica/faults"
)

// trim forgets what the service has on its disk, but for what trails and what copies need. A log over its
// limit gives the copies up first.
func (c *Core) trim() error {
	limit := c.durable
	pinned := c.copies.lowestPin(limit)
	if pinned < limit && c.store.ByteCount() > c.options.LogLimit {
		c.dropCopies("the log is over its limit")
		pinned = limit
	}
	if c.options.Faults.Has(faults.TrimsUnderCopies) {
		pinned = limit
	}
	if through := c.store.CutIndex(c.options.Trailing, pinned); through != 0 {
		at := c.history.at(through)
		if err := c.store.Compact(through, at.voters, at.roster.Encode()); err != nil {
			return err
		}
		c.history.cut(through)
	}
	if err := c.store.DropStates(limit); err != nil {
		return err
	}
	switch isOver := c.store.ByteCount() > c.options.LogLimit; {
	case isOver && !c.isDraining:
		return exit.New(exit.LogLimit, "--log-limit: the log has %d bytes, the limit is %d: the service has %d of %d records on its disk",
			c.store.ByteCount(), c.options.LogLimit, c.durable, c.last)
	case !isOver && c.isDraining:
		c.logger.Info("the service has taken the log: the node takes part again")
		c.isDraining = false
	}
	return nil
}
