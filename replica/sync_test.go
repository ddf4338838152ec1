//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"feed-replica/exit"
	"feed-replica/faults"
	"feed-replica/members"
	"feed-replica/wire"
)

// Fails if a cluster stands still whose leader's disk hangs, if that node does not take up again what it missed, or if
// one whose syncs fail goes on.
func TestClusterLivesWithABadDisk(t *testing.T) {
	control := filepath.Join(newFolder(t), "control")
	say := func(what string) {
		t.Helper()
		if err := os.WriteFile(control, []byte(what), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Of the bad node alone, from its second start on.
	t.Setenv(faults.SyncVariable, "")
	machines, processes := threeProcesses(t)
	bad, _ := commit(t, "before", machines...)
	if code := processes[bad].kill(t, syscall.SIGKILL); code != -1 {
		t.Fatal(code)
	}
	os.Setenv(faults.SyncVariable, control)
	processes[bad] = bad.start()
	identity, err := members.LoadIdentity(bad.settings.directory)
	if err != nil {
		t.Fatal(err)
	}
	var others []*machine
	for _, each := range machines {
		if each != bad {
			others = append(others, each)
		}
	}
	for _, what := range []string{"20ms", "hang", ""} {
		able := machines
		if what == "hang" {
			able = others
			eventually(t, "it leads", func() bool {
				leader := leading(t, machines...)
				if leader != bad {
					leader.service.mu.Lock()
					leader.service.say(wire.Transfer, nil, uint64(identity.ID))
					leader.service.mu.Unlock()
				}
				return leader == bad
			})
		}
		say(what)
		for i := 0; i < 5; i++ {
			commit(t, fmt.Sprintf("%d with %q", i, what), able...)
		}
	}
	_, last := commit(t, "the last", machines...)
	bad.service.await("the last", bad.service.has(last))
	for i, what := range []string{"EIO", "ENOSPC"} {
		say(what)
		commit(t, what, others...)
		if code := processes[bad].await(t); code != int(exit.Failed) {
			t.Errorf("%s: exit %d", what, code)
		}
		if say(""); i == 0 {
			processes[bad] = bad.start()
		}
	}
}
