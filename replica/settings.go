package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v2"

	"feed-replica/exit"
	"feed-replica/members"
)

// Limits of settings.
const (
	maximumSettingsByteCount = 64 << 10
	leastLogLimit            = 128 << 20 // twice what stays for other nodes
	leastCopyRate            = 1 << 20   // a peer that reads nothing for 5 s ends the copy
)

// settings are what flags and the file say.
type settings struct {
	config      string
	name        string
	directory   string
	listen      string
	socket      string
	metrics     string
	certificate string
	key         string
	authority   string
	logLimit    byteCount
	copyRate    byteCount
	logLevel    string
}

// register adds the flags of all commands that use a directory.
func (s *settings) register(flags *flag.FlagSet) {
	s.logLimit, s.copyRate = 1<<30, 64<<20
	flags.StringVar(&s.config, "config", "", "`file` of settings in YAML: flags without dashes; flags win")
	flags.StringVar(&s.name, "name", "", "the node's `name`, as feedctl shows it")
	flags.StringVar(&s.directory, "dir", "", "`directory` of the log")
	flags.StringVar(&s.listen, "listen", "",
		"`URL` for the other nodes: https://HOST:PORT, or http:// on 127.0.0.0/8")
	flags.StringVar(&s.socket, "socket", "/run/feed-replica/socket", "`path` of the socket for the service")
	flags.StringVar(&s.metrics, "metrics", "127.0.0.1:7441",
		"`address` for /metrics and /status, on 127.0.0.0/8; empty: none")
	flags.StringVar(&s.certificate, "certificate", "", "`file` of this node's certificate")
	flags.StringVar(&s.key, "key", "", "`file` of its key")
	flags.StringVar(&s.authority, "authority", "", "`file` of the cluster's authority, ca.crt")
	flags.Var(&s.logLimit, "log-limit", "`bytes` of log that the service may leave: exit 69 above")
	flags.Var(&s.copyRate, "copy-rate", "`bytes` a second of the state to another node; 0: as fast as it goes")
	flags.StringVar(&s.logLevel, "log-level", "info",
		"`level` of the lines on standard error: debug, info, warn or error")
}

func newFlagSet(command string) *flag.FlagSet {
	return flag.NewFlagSet("feed-replica "+command, flag.ContinueOnError)
}

// parseFlags reads a command line of flags alone. --help prints them; a mistake is one line.
func parseFlags(flags *flag.FlagSet, arguments []string, out io.Writer) error {
	flags.SetOutput(io.Discard)
	switch err := flags.Parse(arguments); {
	case err == flag.ErrHelp:
		flags.SetOutput(out)
		flags.Usage()
		return err
	case err != nil:
		return exit.Usage("%w", err)
	case flags.NArg() > 0:
		return exit.Usage("%s: expected flags, got %q", flags.Name(), flags.Arg(0))
	}
	return nil
}

// parse reads flags, then what the file has for those that were not given.
func (s *settings) parse(flags *flag.FlagSet, arguments []string, out io.Writer) error {
	if err := parseFlags(flags, arguments, out); err != nil {
		return err
	}
	given := map[string]bool{}
	flags.Visit(func(each *flag.Flag) { given[each.Name] = true })
	if s.config != "" {
		if err := applyFile(flags, s.config, given); err != nil {
			return err
		}
	}
	if s.directory == "" {
		return exit.Usage("--dir: expected the directory of the log")
	}
	if s.logLimit < leastLogLimit {
		return exit.Usage("--log-limit: expected 128MiB or more, got %s", s.logLimit.String())
	}
	if s.copyRate != 0 && s.copyRate < leastCopyRate {
		return exit.Usage("--copy-rate: expected 0, or 1MiB or more, got %s", s.copyRate.String())
	}
	return nil
}

func applyFile(flags *flag.FlagSet, path string, given map[string]bool) error {
	file, err := os.Open(path)
	if err != nil {
		return exit.Usage("--config: %v", err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maximumSettingsByteCount+1))
	if err != nil {
		return exit.Usage("--config: %v", err)
	}
	if len(b) > maximumSettingsByteCount {
		return exit.Usage("--config: %s has more than %d bytes", path, maximumSettingsByteCount)
	}
	values := map[string]interface{}{}
	if err := yaml.UnmarshalStrict(b, &values); err != nil {
		return exit.Usage("--config: %s: %v", path, err)
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if flags.Lookup(name) == nil || name == "config" {
			return exit.Usage("--config: %s: unknown key %q", path, name)
		}
		if given[name] {
			continue
		}
		if err := flags.Set(name, fmt.Sprint(values[name])); err != nil {
			return exit.Usage("--config: %s: %s: %v", path, name, err)
		}
	}
	return nil
}

// byteCount is a flag as 64MiB.
type byteCount int64

var units = []struct {
	suffix string
	count  int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

// String is the count with the largest unit that fits.
func (b *byteCount) String() string {
	for _, unit := range units {
		if int64(*b) >= unit.count && int64(*b)%unit.count == 0 {
			return strconv.FormatInt(int64(*b)/unit.count, 10) + unit.suffix
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Set reads what String writes.
func (b *byteCount) Set(text string) error {
	for _, unit := range units {
		if digits := strings.TrimSuffix(text, unit.suffix); unit.suffix == "" || digits != text {
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil || n < 0 || n > (1<<62)/unit.count {
				return fmt.Errorf("expected a count as 64MiB, got %q", text)
			}
			*b = byteCount(n * unit.count)
			return nil
		}
	}
	return nil
}

// checkIdentity compares the settings with who the directory is.
func (s *settings) checkIdentity(identity members.Identity) error {
	if s.name != "" && s.name != identity.Name {
		return exit.Usage("--name: %s is node %s, got %s", s.directory, identity.Name, s.name)
	}
	return nil
}
