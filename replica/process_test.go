package main

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"feed-replica/exit"
)

// asProgram is the variable with which the tests' program is feed-replica.
const asProgram = "FEED_REPLICA_TEST_AS_PROGRAM"

// panics is its value for one that panics at once.
const panics = "panics"

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
	m.t.Cleanup(func() { p.command.Process.Kill() }) // it has ended, unless the test failed
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

// threeProcesses makes a cluster of three, each node in a process of its own.
func threeProcesses(t *testing.T) ([]*machine, map[*machine]*process) {
	t.Helper()
	folder := newFolder(t)
	do(t, "cert", "--dir", folder, "--authority")
	machines := []*machine{newMachine(t, folder, "a"), newMachine(t, folder, "b"), newMachine(t, folder, "c")}
	first := machines[0]
	do(t, append([]string{"init", "--last-index", "7", "--cluster", testCluster.String()}, first.flags()...)...)
	processes := map[*machine]*process{first: first.start()}
	newService(t, first, 7)
	for n, each := range machines[1:] {
		join(t, each, machines[:n+1]...)
		processes[each] = each.start()
		newService(t, each, 0)
		first.awaitVoters(n + 2)
	}
	return machines, processes
}

// Fails if batches that were committed for their service, while replicas are killed and stopped and services
// lost at random, are not on every node, once, in one order; or if the cluster does not go on.
func TestProcessesLiveThroughFaults(t *testing.T) {
	machines, processes := threeProcesses(t)
	rounds, seed := 8, int64(1)
	if text := os.Getenv("FEED_FAULT_COUNT"); text != "" {
		if _, err := fmt.Sscan(text, &rounds); err != nil {
			t.Fatal(err)
		}
		seed = time.Now().UnixNano()
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewSource(seed))
	var isStopped atomic.Bool
	var loads sync.WaitGroup
	for _, each := range machines {
		loads.Add(1)
		go func(s *service) {
			defer loads.Done()
			s.load(&isStopped)
		}(each.service)
	}
	for round := 0; round < rounds && !t.Failed(); round++ {
		each := machines[random.Intn(len(machines))]
		switch random.Intn(3) {
		case 0:
			processes[each].kill(t, syscall.SIGKILL)
			processes[each] = each.start()
		case 1: // a pause is the subject
			processes[each].command.Process.Signal(syscall.SIGSTOP)
			time.Sleep(time.Duration(500+random.Intn(2000)) * time.Millisecond)
			processes[each].command.Process.Signal(syscall.SIGCONT)
		case 2:
			each.service.mu.Lock()
			each.service.conn.Close()
			each.service.mu.Unlock()
		}
		progress := make(chan struct{})
		go func() { // somebody goes on
			defer close(progress)
			goesOn(machines)
		}()
		select {
		case <-progress:
		case <-time.After(patience):
			t.Errorf("round %d: nothing is committed any more", round)
		}
	}
	isStopped.Store(true)
	for _, each := range machines {
		each.service.mu.Lock()
		each.service.changed.Broadcast()
		each.service.mu.Unlock()
	}
	loads.Wait()
	compareJournals(t, machines)
	for _, each := range machines {
		each.service.close()
		if code := processes[each].kill(t, syscall.SIGTERM); code != 0 {
			t.Errorf("SIGTERM of %s: exit %d", each.settings.name, code)
		}
	}
}

// goesOn returns when 20 more batches are committed.
func goesOn(machines []*machine) {
	count := func() (sum int) {
		for _, each := range machines {
			each.service.mu.Lock()
			sum += len(each.service.acked)
			each.service.mu.Unlock()
		}
		return sum
	}
	for until := count() + 20; count() < until; {
		time.Sleep(time.Millisecond) // three conditions cannot be waited for at once
	}
}

// compareJournals waits until all services have the same, and looks for what each was told that is committed.
func compareJournals(t *testing.T, machines []*machine) {
	t.Helper()
	last, acked := uint64(0), map[string]bool{}
	for _, each := range machines {
		s := each.service
		s.await("the end of what is on its way", func() bool { return len(s.pending) == 0 })
		s.mu.Lock()
		if has := s.applied(); has > last {
			last = has
		}
		for body := range s.acked {
			acked[body] = true
		}
		s.mu.Unlock()
	}
	journals := map[string]string{}
	for _, each := range machines {
		s := each.service
		s.await("all records", func() bool { return s.applied() >= last })
	}
	for _, each := range machines {
		s := each.service
		s.mu.Lock()
		found, all := map[string]int{}, []byte{}
		for i, body := range s.journal {
			found[string(body)]++
			if s.base+uint64(i) < last {
				all = append(append(all, body...), '\n')
			}
		}
		journals[each.settings.name] = string(all)
		for body := range acked {
			if found[body] != 1 {
				t.Errorf("%s has %.30q %d times", each.settings.name, body, found[body])
			}
		}
		s.mu.Unlock()
	}
	if journals["a"] != journals["b"] || journals["b"] != journals["c"] {
		t.Error("the journals differ")
	}
	t.Logf("%d acknowledged, %d records", len(acked), last)
}

// Fails if a kill of the leader's process, while batches are on their way, loses one that was acknowledged, or
// the node does not come back; or if the exit codes are not those of the page.
func TestKilledLeaderLosesNothing(t *testing.T) {
	machines, processes := threeProcesses(t)
	first := machines[0]
	acknowledged := map[string]bool{}
	for round := 0; round < 3; round++ {
		var current *machine
		for i := 0; i < 30; i++ {
			leader, body := commit(t, fmt.Sprintf("%d of round %d", i, round), machines...)
			current, acknowledged[body] = leader, true
		}
		if code := processes[current].kill(t, syscall.SIGKILL); code != -1 {
			t.Fatal("killed, and exit", code)
		}
		var others []*machine
		for _, each := range machines {
			if each != current {
				others = append(others, each)
			}
		}
		commit(t, "after a kill", others...)
		processes[current] = current.start()
	}
	_, last := commit(t, "the last", machines...)
	for _, each := range machines {
		each.service.await("the last", each.service.has(last))
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
	if code := first.start().await(t); code != int(exit.InUse) {
		t.Error("a second process of a directory: exit", code)
	}
	for _, each := range machines {
		each.service.close()
		if code := processes[each].kill(t, syscall.SIGTERM); code != 0 {
			t.Errorf("SIGTERM of %s: exit %d", each.settings.name, code)
		}
	}
	if err := os.Remove(filepath.Join(first.settings.directory, "durable.hwm")); err != nil {
		t.Fatal(err)
	}
	if code := first.start().await(t); code != int(exit.Replace) {
		t.Error("a node without its mark: exit", code)
	}
}

// Fails if a panic of another goroutine than the node's ends the process as a wrong flag does: it is not restarted then.
func TestPanicsOfOtherGoroutinesAbort(t *testing.T) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), asProgram+"="+panics)
	_ = command.Run() // its state says how it ended
	status := command.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != syscall.SIGABRT {
		t.Error(command.ProcessState)
	}
}
