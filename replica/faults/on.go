//go:build faults

package faults

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
