package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"feed-replica/core"
	"feed-replica/exit"
	"feed-replica/store"
)

// Fails if an error has another code than the page says: a unit restarts by it, and a node that lost entries
// must not be restarted.
func TestErrorsHaveTheirExitCodes(t *testing.T) {
	for _, each := range []struct {
		err  error
		want exit.Code
	}{
		{nil, 0},
		{exit.Usage("x"), 2},
		{exit.New(exit.InUse, "x"), 3},
		{exit.Damaged("x"), 65},
		{exit.Log("x", errors.New("y")), 65},
		{core.Removed(1), 65},
		{exit.New(exit.LogLimit, "x"), 69},
		{errors.New("x"), 70},
		{store.TooLarge(1), 70},
		{exit.Disk("x", errors.New("y")), 74},
		{exit.Log("x", fmt.Errorf("y: %w", syscall.EIO)), 74},
	} {
		if got := exit.CodeOf(each.err); got != each.want {
			t.Errorf("%v: exit %d, expected %d", each.err, got, each.want)
		}
		if each.err == nil {
			continue
		}
		if got := exit.CodeOf(fmt.Errorf("about: %w", each.err)); got != each.want {
			t.Errorf("%v inside of another: exit %d, expected %d", each.err, got, each.want)
		}
	}
}

// Fails if others can read the log or the snapshots, whatever umask the node was made and run with.
func TestFilesOfANodeArePrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	folder := newFolder(t)
	m := &machine{t: t, settings: settings{name: "a", directory: filepath.Join(folder, "a"), logLimit: 1 << 30,
		listen: "http://" + freeAddress(t, newHost()), socket: filepath.Join(folder, "s")}}
	do(t, append([]string{"init", "--last-index", "7", "--cluster", testCluster.String()}, m.flags()...)...)
	syscall.Umask(0)
	m.run()
	commit(t, "one", withService(m, 7))
	m.end()
	err := filepath.Walk(m.settings.directory, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func withService(m *machine, base uint64) *machine {
	newService(m.t, m, base)
	return m
}
