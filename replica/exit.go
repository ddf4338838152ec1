package main

import (
	"errors"
	"flag"

	"feed-replica/core"
	"feed-replica/store"
)

// Exit codes, as of sysexits where there is one. A unit restarts the program but for exitReplace.
const (
	exitStopped  = 0
	exitUsage    = 2  // flags, settings, files that they name
	exitInUse    = 3  // another process has the directory
	exitReplace  = 65 // the node lost entries or was removed: it must not vote again
	exitLogLimit = 69 // the service does not take the log
	exitInternal = 70
	exitDisk     = 74 // a write or a sync failed
)

// UsageError is one of the command line or of the settings.
type UsageError struct{ Text string }

// Error is the text.
func (e *UsageError) Error() string { return e.Text }

// exitCode is the one place where errors become codes.
func exitCode(err error) int {
	var (
		usage    *UsageError
		inUse    *store.InUseError
		damaged  *store.DamagedError
		behind   *core.BehindServiceError
		removed  *core.RemovedError
		logLimit *core.LogLimitError
		disk     *store.DiskError
	)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitStopped
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &inUse):
		return exitInUse
	case errors.As(err, &damaged), errors.As(err, &behind), errors.As(err, &removed):
		return exitReplace
	case errors.As(err, &logLimit):
		return exitLogLimit
	case errors.As(err, &disk):
		return exitDisk
	}
	return exitInternal
}
