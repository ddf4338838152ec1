// Package powercut makes, for tests, the files that a power cut could have left behind a process.
//
// A process runs under strace, once, which writes down all that it does to its files and what it says to others
// meanwhile. A Disk then plays that again up to any moment, and draws what of it outlives a cut there:
//
//   - what a sync of the file has covered is there;
//   - of what was written since, each block of 4 KiB is as it was at one of its times, in a third of them each
//     sector of 512 bytes at one of its own; sizes are drawn apart from contents;
//   - a file that was cut off is so wholly, or as it was before;
//   - names made, changed and removed since the last sync of their folder are there up to one of them: file systems
//     write them in order. The sync of a file does not keep its name.
//
// A kill leaves all that was written, and nothing more is synced by it.
package powercut

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Kind is what an Op does.
type Kind int

// Kinds of Op.
const (
	Open Kind = iota + 1
	Write
	Resize
	Sync
	MakeFolder
	Rename
	Remove
	Tell // says something to somebody: nothing of it may be untrue later
)

// Op is one thing that a process did. Paths begin below its folder.
type Op struct {
	Kind             Kind
	File             int // of those that were opened
	Path, To         string
	Creates, Empties bool
	Offset           int64 // for Resize: the size
	OnlyGrows        bool
	Data             []byte
}

const (
	blockByteCount  = 4096
	sectorByteCount = 512
)

// Disk is a folder: what is on the disk, and what is only in memory.
type Disk struct {
	root *node
	open map[int]*node
}

// node is a file or a folder.
type node struct {
	names   map[string]*node // nil for a file
	renames []func(names map[string]*node)
	bytes   []byte // as synced
	writes  []Op   // since
}

func newFolder() *node { return &node{names: map[string]*node{}} }

// NewDisk is an empty folder.
func NewDisk() *Disk { return &Disk{root: newFolder(), open: map[int]*node{}} }

// Begin is the beginning of another process: all files are closed.
func (d *Disk) Begin() { d.open = map[int]*node{} }

// Do does what a process did.
func (d *Disk) Do(op Op) error {
	switch op.Kind {
	case Open:
		folder, name := d.parent(op.Path)
		file := folder.current()[name]
		if op.Path == "." {
			file = d.root
		}
		if file == nil && op.Creates {
			file = &node{}
			folder.change(func(names map[string]*node) { names[name] = file })
		}
		if file == nil {
			return fmt.Errorf("%s was opened, and is not there", op.Path)
		}
		if op.Empties {
			file.writes = append(file.writes, Op{Kind: Resize})
		}
		d.open[op.File] = file
	case Write, Resize:
		file := d.open[op.File]
		file.writes = append(file.writes, op)
	case Sync:
		d.open[op.File].sync()
	case MakeFolder:
		folder, name := d.parent(op.Path)
		made := newFolder()
		folder.change(func(names map[string]*node) { names[name] = made })
	case Remove:
		folder, name := d.parent(op.Path)
		folder.change(func(names map[string]*node) { delete(names, name) })
	case Rename:
		folder, name := d.parent(op.Path)
		to, newName := d.parent(op.To)
		if folder != to {
			return fmt.Errorf("%s went into another folder", op.Path)
		}
		folder.change(func(names map[string]*node) { names[newName] = names[name]; delete(names, name) })
	}
	return nil
}

func (d *Disk) parent(path string) (*node, string) {
	folder := d.root
	parts := strings.Split(path, "/")
	for _, part := range parts[:len(parts)-1] {
		folder = folder.current()[part]
	}
	return folder, parts[len(parts)-1]
}

func (n *node) change(change func(map[string]*node)) { n.renames = append(n.renames, change) }

func (n *node) current() map[string]*node { return n.namesAfter(len(n.renames)) }

func (n *node) namesAfter(count int) map[string]*node {
	names := map[string]*node{}
	for name, each := range n.names {
		names[name] = each
	}
	for _, change := range n.renames[:count] {
		change(names)
	}
	return names
}

func (n *node) sync() {
	if n.names != nil {
		n.names, n.renames = n.current(), nil
		return
	}
	n.bytes, n.writes = n.bytesAfter(), nil
}

// bytesAfter is the file as processes see it.
func (n *node) bytesAfter() []byte {
	b := append([]byte(nil), n.bytes...)
	for _, op := range n.writes {
		b = resized(b, op.size(len(b)))
		copy(b[min(int(op.Offset), len(b)):], op.Data)
	}
	return b
}

// size is how long a file is after a write or a resize.
func (op Op) size(before int) int {
	if end := int(op.Offset) + len(op.Data); end > before || op.Kind == Resize && !op.OnlyGrows {
		return end
	}
	return before
}

func resized(b []byte, count int) []byte {
	if count <= len(b) {
		return b[:count:count]
	}
	return append(b, make([]byte, count-len(b))...)
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

// Kill is the disk as another process finds it.
func (d *Disk) Kill(folder string) error { return d.root.put(folder, nil) }

// Cut puts what is left of a power cut into a folder. The disk stays what it is.
func (d *Disk) Cut(folder string, random *rand.Rand) error {
	return d.root.put(folder, newFate(random))
}

// Restart is the disk of a folder that Cut has made: all is there, and nothing else.
func Restart(folder string) (*Disk, error) {
	d := NewDisk()
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == folder {
			return err
		}
		relative, _ := filepath.Rel(folder, path)
		parent, name := d.parent(relative)
		if info.IsDir() {
			parent.names[name] = newFolder()
			return nil
		}
		b, err := os.ReadFile(path)
		parent.names[name] = &node{bytes: b}
		return err
	})
	return d, err
}

// put writes a node as it is, or what of it a fate leaves.
func (n *node) put(path string, fate *fate) error {
	if n.names == nil {
		if fate == nil {
			return os.WriteFile(path, n.bytesAfter(), 0o600)
		}
		return os.WriteFile(path, n.surviving(fate), 0o600)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	count := len(n.renames)
	if fate != nil {
		count = fate.pick(count)
	}
	names := n.namesAfter(count)
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	sort.Strings(sorted) // chance falls on them in the same order each time
	for _, name := range sorted {
		if err := names[name].put(filepath.Join(path, name), fate); err != nil {
			return err
		}
	}
	return nil
}

// fate draws what outlives a cut: nothing, all, or some.
type fate struct {
	random *rand.Rand
	kept   int // of 100
}

func newFate(random *rand.Rand) *fate {
	return &fate{random, []int{0, 20, 50, 80, 100}[random.Intn(5)]}
}

func (f *fate) keeps() bool { return f.random.Intn(100) < f.kept }

// pick is how many of the changes since a sync are there.
func (f *fate) pick(count int) int {
	if count == 0 || !f.keeps() {
		return 0
	}
	return 1 + f.random.Intn(count)
}

func (n *node) surviving(fate *fate) []byte {
	writes := n.writes
	sizes := []int{len(n.bytes)}
	for i, op := range n.writes {
		before := sizes[len(sizes)-1]
		after := op.size(before)
		if after < before {
			if !fate.keeps() {
				writes = writes[:i]
				break
			}
			sizes = sizes[:0]
		}
		sizes = append(sizes, after)
	}
	times := map[int]int{} // by sector: how many of the writes have reached it
	b := append([]byte(nil), n.bytes...)
	for i, op := range writes {
		b = resized(b, op.size(len(b)))
		for at := int(op.Offset); at < int(op.Offset)+len(op.Data); {
			end := min((at/sectorByteCount+1)*sectorByteCount, int(op.Offset)+len(op.Data))
			if i < fate.timeOf(at, len(writes), times) {
				copy(b[at:end], op.Data[at-int(op.Offset):])
			}
			at = end
		}
	}
	return resized(b, sizes[min(fate.pick(len(sizes)), len(sizes)-1)])
}

// timeOf draws the time of a block, and of its sectors if it is torn, once.
func (f *fate) timeOf(at, count int, times map[int]int) int {
	sector := at / sectorByteCount
	if time, isDrawn := times[sector]; isDrawn {
		return time
	}
	const perBlock = blockByteCount / sectorByteCount
	time, isTorn := f.pick(count), f.random.Intn(3) == 0
	first := sector / perBlock * perBlock
	for each := first; each < first+perBlock; each++ {
		if isTorn {
			time = f.pick(count)
		}
		times[each] = time
	}
	return times[sector]
}

// Spoil makes zeros of a sector, of a block that was on its way to the disk when the power was cut, in a file with
// a suffix. Not every disk keeps the rest of a block that it writes. False: there was none, or Cut has left none.
func (d *Disk) Spoil(folder, suffix string, random *rand.Rand) (bool, error) {
	var paths []string
	blocks := map[string][]int{}
	d.root.walk("", func(path string, file *node) {
		for _, op := range file.writes {
			if strings.HasSuffix(path, suffix) && len(op.Data) > 0 {
				if len(blocks[path]) == 0 {
					paths = append(paths, path)
				}
				blocks[path] = append(blocks[path], int(op.Offset)/blockByteCount)
			}
		}
	})
	if len(paths) == 0 {
		return false, nil
	}
	sort.Strings(paths)
	path := paths[random.Intn(len(paths))]
	block := blocks[path][random.Intn(len(blocks[path]))]
	at := block*blockByteCount + random.Intn(blockByteCount/sectorByteCount)*sectorByteCount
	b, err := os.ReadFile(filepath.Join(folder, path))
	if os.IsNotExist(err) || err == nil && at+sectorByteCount > len(b) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	copy(b[at:], make([]byte, sectorByteCount))
	return true, os.WriteFile(filepath.Join(folder, path), b, 0o600)
}

func (n *node) walk(path string, visit func(path string, file *node)) {
	if n.names == nil {
		visit(path, n)
		return
	}
	for name, each := range n.current() {
		each.walk(filepath.Join(path, name), visit)
	}
}
