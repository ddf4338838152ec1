"""Counts lines, functions, declarations, unsafe code, locks and threads of a tree.

scripts/house.sh runs it; see there.
"""

import argparse
import collections
import pathlib
import re
import statistics

import folders
import swift_source
import unsafe

GENERATED = re.compile(r"\A(?://[^\n]*\n)*//[^\n]*\b(?:[Gg]enerated|DO NOT EDIT)\b")
FUNCTION = re.compile(r"\b(?:func\s+[^\s(<]+|init[?!]?(?=\s*[(<])|deinit\b)")
DECLARATION = re.compile(
    r"^\s*(?:@\S+\s+)*(?P<access>public|package|open)\s+(?!import\b|extension\b|\()"
    r"(?:[\w()]+\s+)*?(?:func|var|let|struct|class|enum|case|protocol|actor|typealias|init|"
    r"subscript)\b", re.MULTILINE)
# How a file locks or waits. Atomic values are not listed, and neither is the lock of a directory.
LOCKS = {
    "FeedConcurrency.Lock": r"\bLock<|\bLock\(",
    "Synchronization.Mutex": r"\bMutex<|\bMutex\(",
    "UVMutex (uv_mutex_t)": r"\bUVMutex\b",
    "pthread_mutex_t": r"\bpthread_mutex_\w+",
    "a semaphore": r"\bDispatchSemaphore\b|\b(?:uv_)?sem_\w+\(",
    "a condition variable": r"\b(?:pthread|uv)_cond_\w+|\bNSCondition\b",
    "NSLock": r"\bNSLock\b|\bNSRecursiveLock\b",
    "another lock type": r"\b(?:struct|class)\s+(?!UVMutex\b)\w+(?:Lock|Mutex)\b",
}
THREADS = {
    "uv_thread_create": r"\buv_thread_create\w*\(",
    "pthread_create": r"\bpthread_create\(",
    "Foundation.Thread": r"\bThread\s*(?:\(|\{|\.detachNewThread)",
    "a Dispatch queue": r"\bDispatchQueue\b",
    "Task": r"\bTask(?:\.detached)?\s*(?:\{|\(priority|<)",
}


def declarations(code):
    """How many declarations of each access a file has: {"public": n, "package": n}.

    Members are counted one by one; cases of an enumeration and requirements of a protocol are not.
    """
    found = collections.Counter(each["access"] for each in DECLARATION.finditer(code))
    return {"public": found["public"] + found["open"], "package": found["package"]}


def unsafe_lines(code):
    """How many lines of a file say one of the words that docs/UNSAFE.md lists."""
    return sum(any(pattern.search(line) for pattern in unsafe.WORDS.values())
               for line in code.splitlines())


def function_lengths(code):
    """The lines of each function with a body, from its brace to the matching one."""
    lengths = []
    for found in FUNCTION.finditer(code):
        begin = body(code, found.end())
        if begin is None:
            continue
        depth, end = 0, begin
        for end in range(begin, len(code)):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            if depth == 0:
                break
        lengths.append(code.count("\n", begin, end) + 1)
    return lengths


def body(code, position):
    """Where the body of the function begins whose name ends at the position; None without one."""
    depth = 0
    for index in range(position, len(code)):
        character = code[index]
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if depth < 0 or depth == 0 and character == "}":
            return None
        if depth == 0 and character == "{":
            return index
        if depth == 0 and character == "\n" and re.match(
                r"\s*(?:$|}|///?|@|\"|(?:(?:public|package|private|static|mutating|nonmutating)\s+)*"
                r"(?:func|var|let|init|subscript|associatedtype|case)\b)", code[index + 1:index + 200]):
            return None
    return None


def count(root):
    """The rows of the table for the tree in root: {name: figure}."""
    everything = {path.relative_to(root): path.read_text()
                  for path in sorted(root.glob("Sources/**/*.swift"))}
    texts = {path: text for path, text in everything.items() if not GENERATED.match(text)}
    codes = [swift_source.code(text) for text in texts.values()]
    lines = sorted(text.count("\n") for text in texts.values())
    lengths = sorted(length for code in codes for length in function_lengths(code))
    declared = [declarations(code) for code in codes]
    unsafe_counts = [unsafe_lines(code) for code in codes]
    modules = collections.defaultdict(dict)
    for path, text in everything.items():
        modules[path.parts[1]][path] = text
    edges = [folders.folder_edges(module) for module in modules.values()]
    rows = {
        "Modules in Swift": len(modules),
        "Swift files, by hand": len(texts),
        "Swift lines, by hand": sum(lines),
        "Swift lines, generated": sum(text.count("\n") for text in everything.values()) - sum(lines),
        "Lines a file, median (longest)": f"{statistics.median_low(lines)} ({lines[-1]})",
        "Functions with a body": len(lengths),
        "Lines a function, median (longest)": f"{statistics.median_low(lengths)} ({lengths[-1]})",
        "Public declarations, by hand": sum(each["public"] for each in declared),
        "Package declarations, by hand": sum(each["package"] for each in declared),
        "Lines of unsafe code": sum(unsafe_counts),
        "Files with unsafe code": sum(1 for each in unsafe_counts if each),
        "Pairs of folders that name each other": sum(
            1 for module in edges for a, b in module if a < b and (b, a) in module),
        "Swift lines of tests": sum(path.read_text().count("\n") for path in root.glob("Tests/**/*.swift")),
    }
    return rows | kinds("Locks", LOCKS, codes) | kinds("Threads", THREADS, codes)


def kinds(title, patterns, codes):
    """How many kinds there are in the files, and in how many files each is."""
    found = {name: sum(1 for code in codes if re.search(pattern, code))
             for name, pattern in patterns.items()}
    return {f"{title}: kinds": sum(1 for each in found.values() if each)} | {
        f"{title}: files with {name}": each for name, each in found.items()}


def figure(value):
    """A figure as the table shows it: numbers with thousands apart, texts as they are."""
    return f"{value:,}" if isinstance(value, int) else value


def main():
    """Prints one table with a column for each tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="+", metavar="NAME=FOLDER")
    trees = dict(each.split("=", 1) for each in parser.parse_args().trees)
    columns = {name: count(pathlib.Path(folder)) for name, folder in trees.items()}
    order = [row for row in next(iter(columns.values()))
             if any(column[row] for column in columns.values())]
    print("| | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for row in order:
        print(f"| {row} | " + " | ".join(figure(each[row]) for each in columns.values()) + " |")


if __name__ == "__main__":
    main()
