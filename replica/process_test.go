package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// asProgram is the variable with which the tests' program is feed-replica.
const asProgram = "FEED_REPLICA_TEST_AS_PROGRAM"

// process is a node in a process of its own.
type process struct {
	command *exec.Cmd
	ended   chan int // its exit code
}

func (m *machine) start() *process {
	m.t.Helper()
	s := &m.settings
	p := &process{ended: make(chan int, 1)}
	p.command = exec.Command(os.Args[0], "run", "--dir", s.directory, "--listen", s.listen, "--socket", s.socket,
		"--metrics", s.metrics, "--certificate", s.certificate, "--key", s.key, "--authority", s.authority,
		"--log-level", "error")
	p.command.Env = append(os.Environ(), asProgram+"=1")
	p.command.Stderr = os.Stderr
	if err := p.command.Start(); err != nil {
		m.t.Fatal(err)
	}
	go func() {
		_ = p.command.Wait() // the code says it
		p.ended <- p.command.ProcessState.ExitCode()
	}()
	return p
}

func (p *process) kill(t *testing.T, signal syscall.Signal) int {
	t.Helper()
	if err := p.command.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return p.await(t)
}

func (p *process) await(t *testing.T) int {
	t.Helper()
	select {
	case code := <-p.ended:
		return code
	case <-time.After(patience):
		p.command.Process.Kill()
		t.Fatal("the process does not end")
		return -1
	}
}

// Fails if a kill of the leader's process, while batches are on their way, loses one that was acknowledged, or
// the node does not come back; or if the exit codes are not those of the page.
func TestKilledLeaderLosesNothing(t *testing.T) {
	folder := newFolder(t)
	do(t, "cert", "--dir", folder, "--authority")
	machines := []*machine{newMachine(t, folder, "a"), newMachine(t, folder, "b"), newMachine(t, folder, "c")}
	first := machines[0]
	do(t, append([]string{"init", "--last-index", "7", "--cluster", testCluster.String()}, first.flags()...)...)
	processes := map[*machine]*process{first: first.start()}
	leader := newService(t, first, 7)
	leader.propose("alone")
	for _, each := range machines[1:] {
		do(t, append([]string{"join", leader.add(each.settings.name, each.settings.listen)}, each.flags()...)...)
		processes[each] = each.start()
		newService(t, each, 0)
		voters := first.voters()
		leader.await("a voter", func() bool { return first.voters() > voters })
	}
	leaders := make(chan *service, 16)
	for _, each := range machines {
		each.service.mu.Lock()
		each.service.leaders = leaders
		each.service.mu.Unlock()
	}
	acknowledged := map[string]bool{}
	current := first
	for round := 0; round < 3; round++ {
		for i := 0; i < 30; i++ {
			if body := fmt.Sprintf("%d of round %d", i, round); current.service.propose(body) {
				acknowledged[body] = true
			}
		}
		for len(leaders) > 0 {
			<-leaders
		}
		if code := processes[current].kill(t, syscall.SIGKILL); code != -1 {
			t.Fatal("killed, and exit", code)
		}
		killed := current
		select {
		case s := <-leaders:
			for _, each := range machines {
				if each.service == s {
					current = each
				}
			}
		case <-time.After(patience):
			t.Fatal("nobody leads after a kill")
		}
		processes[killed] = killed.start()
	}
	current.service.propose("the last")
	for _, each := range machines {
		each.service.await("the last", each.service.has("the last"))
		found := map[string]int{}
		each.service.mu.Lock()
		for _, body := range each.service.journal {
			found[string(body)]++
		}
		each.service.mu.Unlock()
		for body := range acknowledged {
			if found[body] != 1 {
				t.Errorf("%s has %q %d times", each.settings.name, body, found[body])
			}
		}
	}
	if len(acknowledged) < 60 {
		t.Error("acknowledged:", len(acknowledged))
	}
	if code := first.start().await(t); code != exitInUse {
		t.Error("a second process of a directory: exit", code)
	}
	for _, each := range machines {
		each.service.close()
		if code := processes[each].kill(t, syscall.SIGTERM); code != exitStopped {
			t.Errorf("SIGTERM of %s: exit %d", each.settings.name, code)
		}
	}
	if err := os.Remove(filepath.Join(first.settings.directory, "durable.hwm")); err != nil {
		t.Fatal(err)
	}
	if code := first.start().await(t); code != exitReplace {
		t.Error("a node without its mark: exit", code)
	}
}
