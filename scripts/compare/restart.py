"""How long a million posts take to import, and the service to start again with them after it was killed."""

import time

import clients
import disk
import servers
from report import Part, Row, column, measured, middle, quietness, span, verdict

POSTS = 1_000_000
IMPORT_SECONDS = RESTART_SECONDS = 5  # at most


def restart(options, directory, posts):
    """Imports, kills, starts anew, and makes sure that the posts are there."""
    with servers.Service(options, directory) as service:
        imported = clients.import_posts(service, list(clients.imports(posts, has_past=True)))
        service.kill()
    started = time.monotonic()
    with servers.Service(options, directory) as service:
        seconds = time.monotonic() - started
        clients.read_orders(service)
        # Ids continue without a gap: the last id is the number of posts.
        created = clients.import_posts(service, clients.imports(1)).values["last_post_id"]
    if created != posts + 1:
        raise RuntimeError(f"after the restart the next post was {created}, not {posts + 1}")
    return {"seconds": seconds, "import_seconds": imported.seconds}


def run(options, progress):
    posts = options.posts if options.quick else POSTS

    def measure(*_):
        with disk.directory(options) as directory:
            return restart(options, directory, posts)

    return {"posts": posts, "about": disk.describe(options),
            **measured("restart", options.growth_rounds, ["rounds"], measure, progress)}


def run_import(options, progress):
    posts = options.posts if options.quick else POSTS

    def measure(*_):
        with servers.Service(options) as service:
            sample = clients.import_posts(service, list(clients.imports(posts, has_past=True)))
        if sample.values["last_post_id"] != posts:
            raise RuntimeError(f"{sample.values['last_post_id']} posts came of {posts}")
        return {"seconds": sample.seconds, "server_seconds": sample.server_seconds, "sample": sample}

    return {"posts": posts, **measured("import", options.growth_rounds, ["rounds"], measure, progress)}


def rows(results, options):
    return [Row(None, results["rounds"], results, options)]


def target(seconds):
    """The column that says whether as many posts took at most so long for their number."""
    def text(row):
        taken = middle(one["seconds"] for one in row.taken)
        return verdict(taken, seconds * row.results["posts"] / POSTS, most=True, form="{:g} s")
    return "Target", text


def cost(row):
    """Microseconds of the server's processor time a post."""
    return f"{middle(one['server_seconds'] for one in row.taken) / row.results['posts'] * 1e6:.2f}"


SECONDS = [column("Seconds", "seconds", "{:.2f}"), span("seconds", "{:.2f}")]
RESTART = Part(
    "restart", run, lambda results, _: f"A restart after kill -9, with {results['posts']:,} posts",
    [*SECONDS, column("The import before it", "import_seconds", "{:.2f} s"), target(RESTART_SECONDS)],
    lambda results, _: [
        "From the start of the process to the line that says where it listens; it was killed when the "
        f"last import was answered. The files, on {results['about']['file_system']}, were in the kernel's cache, "
        "as they are after a crash of the process."], rows)
IMPORT = Part(
    "import", run_import,
    lambda results, _: f"The import of {results['posts']:,} posts, 256 a frame, over one connection",
    [*SECONDS, ("CPU-µs of the server a post", cost), target(IMPORT_SECONDS)],
    lambda results, _: [quietness([one["sample"] for one in results["rounds"]])], rows)
