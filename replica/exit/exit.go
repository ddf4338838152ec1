// Package exit has the errors that end the program, each with its exit code.
package exit

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Code is what the program ends with: a number of sysexits where there is one.
type Code int

// Codes, as docs/CLUSTER.md has them. A unit restarts the program but for Wrong, InUse and Replace.
const (
	Wrong    Code = 2  // flags, settings, files that they name
	InUse    Code = 3  // another process has the directory
	Replace  Code = 65 // the node lost entries or was removed: it must not vote again
	LogLimit Code = 69 // the service does not take the log
	Internal Code = 70 // a fault of the program, or of what it is made of
	Failed   Code = 74 // a read, write or sync that the system refused
)

// Error is a sentence with its code.
type Error struct {
	Code Code
	error
}

// Unwrap is what the sentence is about.
func (e *Error) Unwrap() error { return errors.Unwrap(e.error) }

// New makes an error as fmt.Errorf does.
func New(code Code, format string, values ...interface{}) error {
	return &Error{code, fmt.Errorf(format, values...)}
}

// Usage is a mistake of the command line or of the settings.
func Usage(format string, values ...interface{}) error { return New(Wrong, format, values...) }

// Disk is an operation that the system refused.
func Disk(operation string, err error) error {
	return New(Failed, "the disk failed: %s: %w", operation, err)
}

// Damaged says that the log is not what it was. The node must not vote again.
func Damaged(what string) error { return New(Replace, "%s; replace this node", what) }

// Log is what etcd's packages say of the log: a failed disk, or damage.
func Log(what string, err error) error {
	var path *fs.PathError
	var number syscall.Errno
	if errors.As(err, &path) || errors.As(err, &number) {
		return Disk(what, err)
	}
	return New(Replace, "%s: %w; replace this node", what, err)
}

// CodeOf is the code of an error: Internal for one that has none.
func CodeOf(err error) Code {
	var known *Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &known):
		return known.Code
	}
	return Internal
}
