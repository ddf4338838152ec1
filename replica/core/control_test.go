//go:build faults

package core

import (
	"testing"

	"feed-replica/faults"
	"feed-replica/wire"
)

// Without a rule, what audits it has to report that.

func TestWithoutFencesProposalsAreAppended(t *testing.T) {
	for name, each := range map[string]struct {
		fault       faults.Fault
		term, index int64 // beside the right ones
	}{
		"term":   {faults.NoTermFence, -1, 1},
		"number": {faults.NoIndexFence, 0, 2},
	} {
		_, n := leading(t, faults.Set{each.fault: true}, 1)
		isAppended, _ := proposed(n, n.service.session, uint64(int64(n.core.term)+each.term),
			uint64(int64(n.core.last)+each.index), someBatch)
		if !isAppended {
			t.Errorf("no fence of the %s, and nothing is appended", name)
		}
	}
	_, n := leading(t, faults.Set{faults.NoSessionFence: true}, 1)
	old := n.service.session
	n.give(newSession(n.world.now), wire.New(wire.Hello, testCluster[:], wire.Version, n.core.last, 1, 1))
	if isAppended, _ := proposed(n, old, n.core.term, n.core.last+1, someBatch); !isAppended {
		t.Error("no fence of sessions, and nothing is appended")
	}
}

func TestWithoutPinsCopiesLoseTheirLog(t *testing.T) {
	if first, copied := firstAfterCopy(t, faults.Set{faults.TrimsUnderCopies: true}); first <= copied+1 {
		t.Errorf("the log begins at %d, and the copy is at %d", first, copied)
	}
}

func TestWithoutTheRuleOfNumbersTheyComeBack(t *testing.T) {
	if !endsAgain(t, faults.Set{faults.ReturnsIDs: true}) {
		t.Error("the audit of numbers sees nothing")
	}
}

// Without a rule the simulation has to report something, for one seed of some.
func TestSimulationSeesEachFault(t *testing.T) {
	for name, fault := range map[string]faults.Fault{
		"no fence of numbers":        faults.NoIndexFence,
		"no fence of sessions":       faults.NoSessionFence,
		"ROLE before the last entry": faults.EarlyRole,
		"answers before COMMITTED":   faults.EarlyCommitted,
	} {
		t.Run(name, func(t *testing.T) {
			// Raft draws its timeouts by itself, so how many it takes differs: 1 to 60, mostly.
			for seed := int64(1); seed <= 500; seed++ {
				if w := simulate(t, seed, 15000, false, faults.Set{fault: true}); w.failure != nil {
					t.Logf("after %d seeds: %v", seed, w.failure)
					return
				}
			}
			t.Fatal("nothing is wrong without this rule")
		})
	}
}

// Without a rule the cuts have to show it.
func TestPowerCutsSeeEachFault(t *testing.T) {
	for name, fault := range map[string]faults.Fault{
		"answers before COMMITTED":      faults.EarlyCommitted,
		"an install that is not synced": faults.ReleasesUnsynced,
	} {
		t.Run(name, func(t *testing.T) {
			cuts, _, err := powerCuts(t, 5000, 1, fault)
			if err == nil {
				t.Fatalf("nothing is wrong without this rule, after %d cuts", cuts)
			}
			t.Logf("after %d cuts: %v", cuts, err)
		})
	}
}
