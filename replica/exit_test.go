package main

import (
	"errors"
	"flag"
	"fmt"
	"testing"

	"feed-replica/core"
	"feed-replica/store"
)

// Fails if an error has another code than the page says: a unit restarts by it, and a node that lost entries
// must not be restarted.
func TestErrorsHaveTheirExitCodes(t *testing.T) {
	for _, each := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{flag.ErrHelp, 0},
		{&UsageError{"x"}, 2},
		{&store.InUseError{Directory: "x"}, 3},
		{&store.DamagedError{What: "x"}, 65},
		{&core.BehindServiceError{}, 65},
		{&core.RemovedError{}, 65},
		{&core.LogLimitError{}, 69},
		{errors.New("x"), 70},
		{&core.InternalError{What: "x"}, 70},
		{&store.TooLargeError{}, 70},
		{&store.DiskError{Operation: "x", Err: errors.New("y")}, 74},
	} {
		if got := exitCode(each.err); got != each.want {
			t.Errorf("%T: exit %d, expected %d", each.err, got, each.want)
		}
		if each.err == nil {
			continue
		}
		if got := exitCode(fmt.Errorf("about: %w", each.err)); got != each.want {
			t.Errorf("%T inside of another: exit %d, expected %d", each.err, got, each.want)
		}
	}
}
