"""Makes a man page of what a program says about its flags.

    manual.py DATE VERSION DESCRIPTION… >PROGRAM.1

The descriptions are what `--experimental-dump-help` prints: of the program, and of subcommands that its
own one leaves out. The page has a section for each subcommand. ArgumentParser's plugin makes the same of
the same description, and would build a second tool for it.
"""

import json
import pathlib
import sys


def escape(text):
    """Text in the language of man pages: a line of it begins with no request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.splitlines())


def flag(name):
    """A flag with its dashes."""
    dashes = "--" if name["kind"] == "long" else "-"
    return dashes + name["name"]


def spelling(argument):
    """An argument as one types it, in bold and italics."""
    value = argument.get("valueName", "")
    if argument["kind"] == "positional":
        return f"\\fI{escape(value)}\\fR" + (" ..." if argument["isRepeating"] else "")
    names = sorted(argument["names"], key=lambda name: name["kind"] == "long")
    text = ", ".join(f"\\fB{escape(flag(name))}\\fR" for name in names)
    return text + (f" \\fI{escape(value)}\\fR" if argument["kind"] == "option" else "")


def description(argument):
    """What an argument means, with its default."""
    text = argument.get("abstract", "")
    default = argument.get("defaultValue")
    if default is not None and "(default:" not in text:
        text += f" (default: {default})"
    return escape(text)


def shown(items):
    """The arguments or subcommands that `--help` shows."""
    return [item for item in items or [] if item.get("shouldDisplay", True)]


def synopsis(command, path):
    """One line of how a command is called."""
    parts = [f"\\fB{escape(path)}\\fR"]
    arguments = shown(command.get("arguments"))
    if any(argument["kind"] != "positional" for argument in arguments):
        parts.append("[\\fIoptions\\fR]")
    for argument in arguments:
        if argument["kind"] == "positional":
            text = spelling(argument)
            parts.append(f"[{text}]" if argument["isOptional"] else text)
    return " ".join(parts)


def body(command, path):
    """The texts of a command and of its arguments."""
    lines = []
    if command.get("abstract"):
        lines.append(escape(command["abstract"]))
    for paragraph in command.get("discussion", "").split("\n\n"):
        if paragraph.strip():
            lines += [".PP", escape(paragraph.strip())]
    for argument in shown(command.get("arguments")):
        lines += [".TP", spelling(argument), description(argument) or "\\&"]
    return lines


def page(command, others, date, version):
    """The man page of a program, with subcommands that its description leaves out."""
    name = command["commandName"]
    children = [child for child in shown(command.get("subcommands")) if child["commandName"] != "help"]
    children += [{**other, "commandName": other["commandName"].removeprefix(name + " ")} for other in others]
    lines = [
        f'.TH "{escape(name).upper()}" "1" "{date}" "{escape(name)} {version}" "User Commands"',
        # Neither hyphens nor wide gaps: lines of a page are also searched and copied.
        ".nh", ".ad l",
        ".SH NAME", f"{escape(name)} \\- {escape(command['abstract'].rstrip('.'))}",
        ".SH SYNOPSIS", synopsis(command, name),
    ]
    for child in children:
        lines += [".br", synopsis(child, f"{name} {child['commandName']}")]
    lines += [".SH DESCRIPTION"] + body(command, name)
    if children:
        lines.append(".SH SUBCOMMANDS")
    for child in children:
        lines.append(f".SS {escape(name)} {escape(child['commandName'])}")
        lines += body(child, f"{name} {child['commandName']}")
    return "\n".join(lines) + "\n"


def main():
    """Reads the descriptions and prints the page."""
    date, version, *paths = sys.argv[1:]
    command, *others = [json.loads(pathlib.Path(path).read_text())["command"] for path in paths]
    print(page(command, others, date, version), end="")


if __name__ == "__main__":
    main()
