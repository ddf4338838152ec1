//go:build faults

package faults

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Set names the rules that are switched off. It is there with the tag `faults` only.
type Set map[Fault]bool

// Has says whether a rule is switched off.
func (s Set) Has(fault Fault) bool { return s[fault] }

// Of is the set of some.
func Of(list ...Fault) Set {
	set := Set{}
	for _, each := range list {
		set[each] = true
	}
	return set
}

// RulesVariable names the rules that are switched off in a whole process, as `NoMark,EarlyRole`.
const RulesVariable = "FEED_REPLICA_FAULTS"

// named are those that a process can live without for a while: what it does wrong shows outside of it.
var named = map[string]Fault{
	"EarlyCommitted": EarlyCommitted, "EarlyRole": EarlyRole, "KeepsFallingTerms": KeepsFallingTerms,
	"NoIndexFence": NoIndexFence, "NoMark": NoMark, "TrimsUnderCopies": TrimsUnderCopies,
}

// Chosen is the set that the variable names. A name that no rule has ends the process: a control with a mistake
// in it would find nothing.
func Chosen() Set {
	set := Set{}
	for _, name := range strings.FieldsFunc(os.Getenv(RulesVariable), func(r rune) bool { return r == ',' }) {
		fault, isKnown := named[name]
		if !isKnown {
			panic(RulesVariable + ": no rule is called " + name)
		}
		set[fault] = true
	}
	return set
}

// SyncVariable names a file that says what happens to the syncs of the log: `hang`, `EIO`, `ENOSPC`, or how long each
// takes longer, as `200ms`. An empty or missing one is none. It may change at any time.
const SyncVariable = "FEED_REPLICA_SYNC_FAULT"

// Sync does that before a sync.
func Sync() error {
	path := os.Getenv(SyncVariable)
	if path == "" {
		return nil
	}
	for {
		b, _ := os.ReadFile(path) // a missing one is none
		switch what := strings.TrimSpace(string(b)); what {
		case "":
			return nil
		case "hang":
			time.Sleep(10 * time.Millisecond) // until the file says something else
		case "EIO":
			return syscall.EIO
		case "ENOSPC":
			return syscall.ENOSPC
		default:
			longer, err := time.ParseDuration(what)
			time.Sleep(longer)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			return nil
		}
	}
}
