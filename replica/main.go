// Command feed-replica is one node of a replicated log beside a feed service.
//
// docs/CLUSTER.md says how it is used, docs/REPLICA.md how it works. The packages, from the ground up: `etcd` imports
// etcd; `exit` has the errors with their codes; `wire` the frames of the socket; `members` who belongs to a cluster;
// `store` the log on the disk; `core` the node; `peers` the way to other nodes; `metrics` what it counts. This one reads
// settings and joins them.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"feed-replica/etcd"
	"feed-replica/exit"
)

// command is one of the program.
type command struct {
	name, summary string
	run           func(arguments []string, out io.Writer) error
}

var commands = []command{
	{"run", "runs the node of a directory", runCommand},
	{"init", "makes a cluster of one node, behind the last record of a service's state", initCommand},
	{"join", "makes a node of a token, which `feedctl cluster add` has printed", joinCommand},
	{"cert", "makes the cluster's certificate authority, or a certificate of a node", certCommand},
}

// segmentByteCount is how large a file of the log becomes: one is made ahead, with all of its room.
const segmentByteCount = 16 << 20

// version is that of the service; scripts/replica.sh sets it at the build.
var version = "unknown"

// begin sets what holds for the whole process.
func begin() {
	// A panic of a goroutine of the transport ends the process by SIGABRT. As Go has it, it would be exit 2: a wrong flag
	// to a unit, which does not restart the program then.
	debug.SetTraceback("crash")
	etcd.SetSegmentByteCount(segmentByteCount)
}

func main() {
	begin()
	err := dispatch(os.Args[1:], os.Stdout)
	if err == flag.ErrHelp {
		err = nil
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "feed-replica: %v\n", err)
	}
	os.Exit(int(exit.CodeOf(err)))
}

func dispatch(arguments []string, out io.Writer) error {
	if len(arguments) == 0 || arguments[0] == "help" || arguments[0] == "--help" {
		printUsage(out)
		return nil
	}
	if arguments[0] == "--version" {
		fmt.Fprintln(out, version)
		return nil
	}
	for _, each := range commands {
		if each.name == arguments[0] {
			return each.run(arguments[1:], out)
		}
	}
	return exit.Usage("command %q: expected run, init, join or cert", arguments[0])
}

func printUsage(out io.Writer) {
	fmt.Fprint(out, "OVERVIEW: A node of a replicated log beside a feed service.\n\n"+
		"USAGE: feed-replica COMMAND [--FLAG VALUE ...]\n\nSUBCOMMANDS:\n")
	for _, each := range commands {
		fmt.Fprintf(out, "  %-5s %s.\n", each.name, each.summary)
	}
	fmt.Fprintln(out, "\nfeed-replica COMMAND --help has the flags, feed-replica --version the version. docs/CLUSTER.md says how a\n"+
		"cluster is made, feedctl cluster --help how it is seen and changed.")
}
