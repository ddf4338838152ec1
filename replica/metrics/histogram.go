// Package metrics counts and writes what an operator's system of alerts reads, as OpenMetrics.
package metrics

import (
	"sync/atomic"
	"time"
)

// bounds are the upper ends of a histogram's buckets: from a fast disk's sync to a stalled one.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 5 * time.Second,
}

// Histogram counts durations. Any goroutine may use it; the zero value is empty.
type Histogram struct {
	counts [len(bounds) + 1]atomic.Uint64
	sum    atomic.Int64
}

// Observe counts a duration.
func (h *Histogram) Observe(duration time.Duration) {
	bucket := 0
	for bucket < len(bounds) && duration > bounds[bucket] {
		bucket++
	}
	h.counts[bucket].Add(1)
	h.sum.Add(int64(duration))
}

// Replica has what a node counts as it works. The zero value is empty.
type Replica struct {
	Syncs       Histogram // of the log
	Commits     Histogram // of proposals, from their arrival to their commit
	Elections   atomic.Uint64
	HandOvers   atomic.Uint64
	CopiesSent  atomic.Uint64
	CopiesEnded atomic.Uint64 // without being received
	Refusals    atomic.Uint64 // of proposals
}
