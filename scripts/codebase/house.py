"""Counts what says how a tree is built: lines, functions, declarations, unsafe code, locks, threads.

scripts/house.sh runs it; see there.
"""

import argparse
import collections
import pathlib
import re
import statistics

import graph
import swift_source
import unsafe

GENERATED = re.compile(r"\A(?://[^\n]*\n)*//[^\n]*\b(?:[Gg]enerated|DO NOT EDIT)\b")
FUNCTION = re.compile(r"\b(?:func\s+[^\s(<]+|init[?!]?(?=\s*[(<])|deinit\b)")
DECLARATION = re.compile(
    r"^\s*(?:@\S+\s+)*(?P<access>public|package|open)\s+(?!import\b|extension\b|\()"
    r"(?:[\w()]+\s+)*?(?:func|var|let|struct|class|enum|case|protocol|actor|typealias|init|"
    r"subscript)\b", re.MULTILINE)
LOCKS = {
    "Synchronization.Mutex": r"\bMutex<|\bMutex\(",
    "uv_mutex_t": r"\buv_mutex_\w+",
    "pthread_mutex_t": r"\bpthread_mutex_\w+",
    "semaphore": r"\bDispatchSemaphore\b|\bsem_\w+\(|\bsem_t\b",
    "condition": r"\bpthread_cond_\w+|\bNSCondition\b",
    "NSLock": r"\bNSLock\b|\bNSRecursiveLock\b",
    "flock": r"\bflock\(",
    "own lock type": r"\b(?:struct|class)\s+\w*(?:Lock|Mutex)\b",
}
THREADS = {
    "uv_thread_create": r"\buv_thread_create\w*\(",
    "pthread_create": r"\bpthread_create\(",
    "Foundation.Thread": r"\bThread\s*(?:\(|\{|\.detachNewThread)",
    "Dispatch queue": r"\bDispatchQueue\b",
    "Task": r"\bTask(?:\.detached)?\s*(?:\{|\(priority|<)",
}


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
    """The rows of the table for the tree in root: {what: figure}."""
    texts = {path.relative_to(root): path.read_text() for path in sorted(root.glob("Sources/**/*.swift"))}
    texts = {path: text for path, text in texts.items() if not GENERATED.match(text)}
    codes = {path: swift_source.code(text) for path, text in texts.items()}
    lines = sorted(text.count("\n") for text in texts.values())
    lengths = sorted(length for code in codes.values() for length in function_lengths(code))
    access = collections.Counter(
        found["access"] for code in codes.values() for found in DECLARATION.finditer(code))
    unsafe_lines = {path: sum(any(pattern.search(line) for pattern in unsafe.WORDS.values())
                              for line in code.splitlines()) for path, code in codes.items()}
    modules = collections.defaultdict(dict)
    for path, text in texts.items():
        modules[path.parts[1]][path] = text
    edges = [graph.folder_edges(module) for module in modules.values()]
    rows = {
        "Modules in Swift": len(modules),
        "Swift files, by hand": len(texts),
        "Swift lines, by hand": f"{sum(lines):,}",
        "Lines a file, median (longest)": f"{statistics.median_low(lines)} ({lines[-1]})",
        "Functions with a body": f"{len(lengths):,}",
        "Lines a function, median (longest)": f"{statistics.median_low(lengths)} ({lengths[-1]})",
        "Public declarations": access["public"] + access["open"],
        "Package declarations": access["package"],
        "Lines of unsafe code": sum(unsafe_lines.values()),
        "Files with unsafe code": sum(1 for each in unsafe_lines.values() if each),
        "Pairs of folders that name each other": sum(
            1 for module in edges for a, b in module if a < b and (b, a) in module),
        "Test lines in Swift": f"{sum(path.read_text().count(chr(10)) for path in root.glob('Tests/**/*.swift')):,}",
    }
    for title, kinds in (("Locks", LOCKS), ("Threads", THREADS)):
        for name, pattern in kinds.items():
            found = sum(1 for code in codes.values() if re.search(pattern, code))
            if found:
                rows[f"{title}: files with {name}"] = found
        rows[f"{title}: kinds"] = sum(1 for key in rows if key.startswith(f"{title}: files"))
    return rows


def main():
    """Prints one table with a column for each tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="+", metavar="NAME=FOLDER")
    trees = dict(each.split("=", 1) for each in parser.parse_args().trees)
    columns = {name: count(pathlib.Path(folder)) for name, folder in trees.items()}
    order = list(dict.fromkeys(row for column in columns.values() for row in column))
    print("| | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for row in order:
        print(f"| {row} | " + " | ".join(str(each.get(row, 0)) for each in columns.values()) + " |")


if __name__ == "__main__":
    main()
