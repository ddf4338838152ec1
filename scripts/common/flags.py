"""Types of flags, which say what is wrong with a value."""

import argparse


def count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, got {text}")
    return number


def amount(text):
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"expected more than 0, got {text}")
    return number


def share(text):
    number = float(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"expected more than 0 and less than 1, got {text}")
    return number
