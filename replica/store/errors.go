package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// DamagedError says that the log is not what it was. The node must not vote again: it is replaced.
type DamagedError struct {
	What string
	Err  error // nil if the log itself was read
}

// Error is a sentence that ends with what to do.
func (e *DamagedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v; replace this node", e.What, e.Err)
	}
	return e.What + "; replace this node"
}

// Unwrap is what etcd's packages said.
func (e *DamagedError) Unwrap() error { return e.Err }

// DiskError is a read, write or sync that the system refused.
type DiskError struct {
	Operation string
	Err       error
}

// Error names the operation.
func (e *DiskError) Error() string { return fmt.Sprintf("the disk failed: %s: %v", e.Operation, e.Err) }

// Unwrap is the system's error.
func (e *DiskError) Unwrap() error { return e.Err }

// InUseError says that another process has the log.
type InUseError struct{ Directory string }

// Error names the directory.
func (e *InUseError) Error() string { return e.Directory + ": another replica uses this directory" }

// TooLargeError is an entry that could be written and never be read again.
type TooLargeError struct{ ByteCount, Limit int }

// Error has both sizes.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("entry of %d bytes exceeds the limit of %d bytes", e.ByteCount, e.Limit)
}

// failure tells a failed disk from a damaged log.
func failure(operation string, err error) error {
	var path *fs.PathError
	var number syscall.Errno
	if errors.As(err, &path) || errors.As(err, &number) {
		return &DiskError{operation, err}
	}
	return &DamagedError{operation, err}
}
