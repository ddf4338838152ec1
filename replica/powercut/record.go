package powercut

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrNoStrace says that nothing can be recorded on this machine.
var ErrNoStrace = errors.New("strace is not installed")

// Plan is how many cuts a test makes, and its first seed, as the variables of all such suites say.
func Plan(usual int) (count int, seed int64) {
	number := func(name string, usual int64) int64 {
		if n, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
			return n
		}
		return usual
	}
	seed = number("FEED_SEED", number("FEED_FIRST_SEED", 0)+1)
	return int(number("FEED_POWER_CUTS", int64(usual))), seed
}

// calls are all with which a process could change files. One that is not taken apart below fails the recording.
const calls = "open,openat,creat,close,dup,dup2,dup3,write,pwrite64,writev,pwritev,pwritev2,lseek,ftruncate,truncate," +
	"fallocate,fsync,fdatasync,sync,syncfs,sync_file_range,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir," +
	"mkdirat,link,linkat,symlink,symlinkat,copy_file_range,sendfile,splice,io_uring_setup"

// Record runs a command, and gives what it did to the files below a folder, in order. What it writes to its
// standard output is in that order too: each write is what was told to somebody at that moment.
func Record(folder string, command *exec.Cmd) ([]Op, error) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return nil, ErrNoStrace
	}
	path := folder + ".strace"
	defer os.Remove(path)
	traced := exec.Command(strace, append([]string{"--seccomp-bpf", "-f", "-qq", "-xx", "-s", "20000000",
		"-e", "signal=none", "-e", "trace=" + calls, "-o", path, "--"}, command.Args...)...)
	traced.Env = command.Env
	if output, err := traced.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, output)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := &recording{folder: folder, open: map[string]*opened{"1": {isOut: true}}, begun: map[string]string{}}
	from := bufio.NewReader(file)
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return r.ops, nil
		}
		if err := r.take(strings.TrimSuffix(line, "\n")); err != nil {
			return nil, fmt.Errorf("%w in %.300s", err, line)
		}
	}
}

// opened is what a descriptor leads to.
type opened struct {
	file   int // its number in the recording
	offset int64
	isOut  bool
}

type recording struct {
	folder string
	open   map[string]*opened // by descriptor: those of files below the folder
	begun  map[string]string  // by thread: calls that another thread's have come between
	ops    []Op
	count  int
}

// take takes a line: a thread, a call with its arguments, and its result. A call counts when it returns.
func (r *recording) take(line string) error {
	thread, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimLeft(rest, " ")
	if begin, isUnfinished := cutSuffix(rest, " <unfinished ...>"); isUnfinished {
		r.begun[thread] = begin
		return nil
	}
	if strings.HasPrefix(rest, "<... ") {
		_, end, _ := strings.Cut(rest, " resumed>")
		rest = r.begun[thread] + end
	}
	head, result, isCall := cutLast(rest, " = ")
	name, inner, hasArguments := strings.Cut(head, "(")
	if !isCall || !hasArguments || strings.HasPrefix(result, "-1 ") || strings.HasPrefix(result, "?") {
		return nil // the end of a process, or a call that failed
	}
	arguments := strings.Split(strings.TrimSuffix(strings.TrimRight(inner, " "), ")"), ", ")
	return r.call(name, arguments, result)
}

func (r *recording) call(name string, arguments []string, result string) error {
	switch name {
	case "openat":
		return r.opens(arguments, result)
	case "mkdirat":
		if path, isInside := r.path(arguments[1]); isInside {
			r.add(Op{Kind: MakeFolder, Path: path})
		}
		return nil
	case "renameat", "renameat2":
		path, isInside := r.path(arguments[1])
		to, _ := r.path(arguments[3])
		if isInside {
			r.add(Op{Kind: Rename, Path: path, To: to})
		}
		return nil
	case "unlinkat":
		if path, isInside := r.path(arguments[1]); isInside {
			r.add(Op{Kind: Remove, Path: path})
		}
		return nil
	case "close":
		delete(r.open, arguments[0])
		return nil
	}
	f := r.open[arguments[0]]
	if f == nil {
		return nil // of another file
	}
	return r.callOfFile(name, f, arguments, result)
}

func (r *recording) callOfFile(name string, f *opened, arguments []string, result string) error {
	switch name {
	case "write", "pwrite64":
		data, err := text(arguments[1])
		if count, _ := strconv.Atoi(result); err != nil || count != len(data) {
			return fmt.Errorf("a write of %d bytes: %v", len(data), err)
		}
		if f.isOut {
			r.add(Op{Kind: Tell, Data: data})
			return nil
		}
		at := f.offset
		if name == "pwrite64" {
			if at, err = strconv.ParseInt(arguments[3], 10, 64); err != nil {
				return err
			}
		} else {
			f.offset += int64(len(data))
		}
		r.add(Op{Kind: Write, File: f.file, Offset: at, Data: data})
	case "lseek":
		at, err := strconv.ParseInt(result, 10, 64)
		if err != nil {
			return err
		}
		f.offset = at
	case "ftruncate", "fallocate":
		end, err := strconv.ParseInt(arguments[len(arguments)-1], 10, 64)
		if err != nil || name == "fallocate" && (arguments[1] != "0" || arguments[2] != "0") {
			return fmt.Errorf("another form of %s: %v", name, err)
		}
		r.add(Op{Kind: Resize, File: f.file, Offset: end, OnlyGrows: name == "fallocate"})
	case "fsync", "fdatasync":
		r.add(Op{Kind: Sync, File: f.file})
	default:
		return fmt.Errorf("%s is not known", name)
	}
	return nil
}

func (r *recording) opens(arguments []string, result string) error {
	path, isInside := r.path(arguments[1])
	delete(r.open, result)
	if !isInside {
		return nil
	}
	flags := arguments[2]
	if strings.Contains(flags, "O_APPEND") || strings.Contains(flags, "O_TMPFILE") {
		return fmt.Errorf("flags %s are not known", flags)
	}
	r.count++
	r.open[result] = &opened{file: r.count}
	r.add(Op{Kind: Open, File: r.count, Path: path, Creates: strings.Contains(flags, "O_CREAT"),
		Empties: strings.Contains(flags, "O_TRUNC")})
	return nil
}

func (r *recording) add(op Op) { r.ops = append(r.ops, op) }

// path is one below the folder.
func (r *recording) path(argument string) (string, bool) {
	b, err := text(argument)
	if err != nil {
		return "", false
	}
	path, err := filepath.Rel(r.folder, string(b))
	return path, err == nil && filepath.IsAbs(string(b)) && path != ".." && !strings.HasPrefix(path, "../")
}

// text is a string of strace's, whose bytes are all written as \x00.
func text(argument string) ([]byte, error) {
	return hex.DecodeString(strings.ReplaceAll(strings.Trim(argument, `"`), `\x`, ""))
}

func cutSuffix(s, suffix string) (string, bool) {
	return strings.TrimSuffix(s, suffix), strings.HasSuffix(s, suffix)
}

func cutLast(s, separator string) (before, after string, found bool) {
	if at := strings.LastIndex(s, separator); at >= 0 {
		return s[:at], s[at+len(separator):], true
	}
	return s, "", false
}
