//go:build faults

package store

import (
	"errors"
	"testing"

	"feed-replica/etcd"
	"feed-replica/exit"
	"feed-replica/faults"
)

// Each rule is switched off, and what audits it has to report that.

func TestWithoutTheMarkLogsAreOpenedShort(t *testing.T) {
	if short, _ := shortAfterZeroedSectors(t, faults.Set{faults.NoMark: true}); short == 0 {
		t.Fatal("the audit of zeroed sectors sees no entries missing")
	}
}

func TestWithoutTheRuleOfTermsEntriesComeBack(t *testing.T) {
	// The mark alone refuses the node: better than other entries, and a node too few.
	last, _, err := endAfterOverwriting(t, faults.Set{faults.KeepsFallingTerms: true})
	if exit.CodeOf(err) != exit.Replace {
		t.Fatalf("opened at %d: %v", last, err)
	}
	both := faults.Set{faults.KeepsFallingTerms: true, faults.NoMark: true}
	if last, term, err := endAfterOverwriting(t, both); last != 10 || term != 5 || err != nil {
		t.Fatalf("opened at %d of term %d: %v", last, term, err)
	}
}

func TestWithoutTheFlagReplacedEntriesComeBack(t *testing.T) {
	s := installOverOwnEnd(t, faults.Set{faults.KeepsVoidEntries: true})
	s.Close()
	if last, term, err := reopenedEnd(s.options); last != 10 || term != 5 || err != nil {
		t.Fatalf("opened at %d of term %d: %v", last, term, err)
	}
}

func TestWithoutTheRuleOfSnapshotsAnotherLogIsOpened(t *testing.T) {
	if term, err := termAfterLosingTheSnapshot(t, faults.Set{faults.TakesOlderSnapshots: true}); err != nil || term != 5 {
		t.Fatalf("entry 7 is of term %d: %v", term, err)
	}
}

// Fails if the mark does not say that entries are void before the log has the snapshot that replaces them.
func TestKillInsideAnInstallBringsNothingBack(t *testing.T) {
	s := founded(t, 1, faults.Set{faults.StopsInInstall: true})
	save(t, s, 5, 1, entries(2, 10, 5, 100))
	if err := s.Install(installedSnapshot, etcd.HardState{Term: 6, Commit: 7}, nil); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	killed := copyOf(t, s.options.Directory)
	s.Close()
	if last, term, err := reopenedEnd(options(killed, faults.Set{})); last != 7 || term != 4 || err != nil {
		t.Fatalf("opened at %d of term %d: %v", last, term, err)
	}
}

func TestWithoutTheSyncAnInstallIsLost(t *testing.T) {
	if last, err := endOfKilledInstall(t, faults.Set{faults.ReleasesUnsynced: true}); err == nil && last == 7 {
		t.Fatal("the audit of installs sees nothing missing")
	}
}

func TestWithoutTheLimitALogIsNeverReadAgain(t *testing.T) {
	saved, read := reopenWithLargeEntry(t, 11<<20, faults.Set{faults.NoSizeLimit: true})
	if saved != nil || (read == nil) != etcd.ReadsLongEntries {
		t.Fatal(saved, read)
	}
}

// Without a rule the cuts have to show it.
func TestPowerCutsSeeEachFault(t *testing.T) {
	for name, fault := range map[string]faults.Fault{
		"no mark":                       faults.NoMark,
		"terms that fall":               faults.KeepsFallingTerms,
		"void entries":                  faults.KeepsVoidEntries,
		"an install that is not synced": faults.ReleasesUnsynced,
	} {
		t.Run(name, func(t *testing.T) {
			got := powerCuts(t, 20000, 1, fault)
			if got.failure == nil {
				t.Fatalf("nothing is wrong without this rule, after %d cuts", got.cuts)
			}
			t.Logf("after %d cuts: %v", got.cuts, got.failure)
		})
	}
}
