package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const suspension = 100_000 * time.Second

// Fails if HEARD's moment is of a clock that stands still while the machine is suspended. A namespace of times has such
// a machine.
func TestTheClockRunsWhileTheMachineIsSuspended(t *testing.T) {
	if os.Getenv("FEED_SUSPENDED") == "" {
		arguments := []string{"--time", "--boottime", fmt.Sprint(int(suspension.Seconds())), "--",
			os.Args[0], "-test.run", t.Name() + "$", "-test.v"}
		command := exec.Command("unshare", arguments...)
		command.Env = append(os.Environ(), "FEED_SUSPENDED=1")
		output, err := command.CombinedOutput()
		if strings.Contains(string(output), "unshare:") || errorsIsMissing(err) {
			t.Skipf("no namespace of times: %v %s", err, output)
		}
		if err != nil {
			t.Errorf("%v: %s", err, output)
		}
		return
	}
	var running unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &running); err != nil {
		t.Fatal(err)
	}
	if slept := boottime() - time.Duration(running.Nano()); slept < suspension {
		t.Errorf("the clock has run for %v while the machine was suspended, expected %v", slept, suspension)
	}
}

func errorsIsMissing(err error) bool {
	_, isMissing := err.(*exec.Error)
	return isMissing
}
