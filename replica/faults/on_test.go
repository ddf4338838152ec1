//go:build faults

package faults

import "testing"

func TestTheVariableNamesRules(t *testing.T) {
	t.Setenv(RulesVariable, "NoMark,EarlyRole")
	set := Chosen()
	if !set.Has(NoMark) || !set.Has(EarlyRole) || set.Has(NoIndexFence) {
		t.Errorf("the set is %v", set)
	}
	t.Setenv(RulesVariable, "NoMarks")
	defer func() {
		if recover() == nil {
			t.Error("a rule that nobody has is switched off")
		}
	}()
	Chosen()
}
