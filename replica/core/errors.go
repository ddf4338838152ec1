package core

import (
	"fmt"

	"feed-replica/members"
)

// RemovedError says that the node does not belong to its cluster any more.
type RemovedError struct{ Node members.ID }

// Error says what to do.
func (e *RemovedError) Error() string {
	return fmt.Sprintf("node %s was removed from its cluster; add a new one in its place", e.Node)
}

// BehindServiceError says that the log ends before what the service has of it.
type BehindServiceError struct{ Last, Applied uint64 }

// Error has both numbers.
func (e *BehindServiceError) Error() string {
	return fmt.Sprintf("entries are lost: the service has record %d, and the log ends at %d; "+
		"replace this node", e.Applied, e.Last)
}

// LogLimitError says that the service does not take the log.
type LogLimitError struct {
	ByteCount, Limit int64
	Durable, Last    uint64
}

// Error has the sizes, and how far the service is.
func (e *LogLimitError) Error() string {
	return fmt.Sprintf("--log-limit: the log has %d bytes, the limit is %d: "+
		"the service has %d of %d records on its disk", e.ByteCount, e.Limit, e.Durable, e.Last)
}

// InternalError is a fault of the program, or of what it is made of.
type InternalError struct {
	What string
	Err  error
}

// Error names the part.
func (e *InternalError) Error() string { return fmt.Sprintf("%s: %v", e.What, e.Err) }

// Unwrap is what the part said.
func (e *InternalError) Unwrap() error { return e.Err }
