"""How long the service needs to start again, with a million posts, after it was killed."""

import time

import clients
import disk
import servers
from report import Table, middle, spread, verdict

POSTS = 1_000_000
TARGET_SECONDS = 5


def restart(tools, directory, posts):
    """Imports, kills, starts anew, and makes sure that the posts are there."""
    with servers.Service(tools, directory) as service:
        imported = clients.pump(tools, service, **{"import": posts})
        service.kill()
    started = time.monotonic()
    with servers.Service(tools, directory) as service:
        seconds = time.monotonic() - started
        clients.pump(tools, service, read_orders=3)
        # Ids continue without a gap: the last id is the number of posts.
        created = clients.pump(tools, service, create=1).values["last_post_id"]
    if created != posts + 1:
        raise RuntimeError(f"after the restart the next post was {created}, not {posts + 1}")
    return {"seconds": seconds, "import_seconds": imported.seconds}


def run(tools, options, progress):
    posts = options.posts if options.quick else POSTS
    rounds = []
    for turn in range(options.growth_rounds):
        with disk.directory(options) as directory:
            rounds.append(restart(tools, directory, posts))
        progress(f"restart {turn + 1}/{options.growth_rounds}: {rounds[-1]['seconds']:.2f} s, the "
                 f"import before it {rounds[-1]['import_seconds']:.2f} s")
    return {"posts": posts, "rounds": rounds, "about": disk.describe(options)}


def table(results, options):
    posts = results["posts"]
    seconds = [one["seconds"] for one in results["rounds"]]
    result = Table(
        f"A restart after kill -9, with {posts:,} posts",
        ["Seconds", "least – most", "The import before it", "Target"])
    result.add(
        f"{middle(seconds):.2f}", spread(seconds, "{:.2f}"),
        f"{middle(one['import_seconds'] for one in results['rounds']):.2f} s",
        verdict(middle(seconds), TARGET_SECONDS * posts / POSTS, most=True, form="{:g} s"))
    result.note(
        "From the start of the process to the line that says where it listens; it was killed when the "
        "last import was answered. The files, on "
        f"{results['about']['file_system']}, were in the kernel's cache, as they are after a crash "
        "of the process.")
    return result
