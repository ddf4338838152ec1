"""People who sign up, in and out, and what must be left of it after each kill.

One person's calls come one after another, so that at most one is in doubt. An acknowledged sign-up is
an account for good, an acknowledged sign-in a session until its acknowledged end. A sign-up in doubt
may have made an account, a sign-in in doubt a session that nobody knows, and a sign-out in doubt may
have ended its session.
"""

import random

from aside import Worker
from feedclient import Refused, feed
from process import Failure
from service import Connection, Patient

OPERATIONS = {"up": 3, "in": 4, "out": 3, "everywhere": 1}
MOST_SIGN_INS_CHECKED = 5  # each costs a hash


class Person:
    """An account, as far as it is known."""

    def __init__(self, email, password):
        self.email, self.password = email, password
        self.id = 0           # 0: whether there is an account is in doubt
        self.sessions = {}    # token to whether it is open: True, False, or None where that is in doubt


class People(Worker):
    """The persons of one data directory, over all its restarts."""

    def __init__(self, seed):
        super().__init__("the people")
        self.random = random.Random(f"{seed} people")
        self.persons = []
        self.acknowledged = 0

    # ---- Under load

    def connected(self, port):
        return Patient(port, timeout=60)

    def step(self, connection):
        kind, = self.random.choices(list(OPERATIONS), OPERATIONS.values())
        known = [person for person in self.persons if person.id]
        if kind == "up" or not known:
            self.sign_up(connection)
            return
        person = self.random.choice(known)
        opened = [token for token, is_open in person.sessions.items() if is_open]
        if kind == "in":
            self.sign_in(connection, person)
        elif opened:
            token = self.random.choice(opened)
            self.sign_out(connection.port, person, token, kind == "everywhere")

    def sign_up(self, connection):
        number = len(self.persons) + 1
        person = Person(f"person-{number}@example.org", f"password of person {number}")
        self.persons.append(person)
        self.take(person, connection.sign_up(person.email, person.password))

    def sign_in(self, connection, person, **more):
        self.take(person, connection.sign_in(person.email, person.password, **more))

    def take(self, person, session):
        if person.id not in (0, session.user.id):
            raise Failure(f"{person.email} was user {person.id} and is user {session.user.id}")
        person.id = session.user.id
        if session.token in person.sessions:
            raise Failure(f"a token of {person.email} was given out twice")
        person.sessions[session.token] = True
        self.acknowledged += 1

    def sign_out(self, port, person, token, everywhere):
        with Patient(port) as connection:
            hello = connection.hello(session_token=token)
            if hello.user.id != person.id:
                raise Failure(f"a session of user {person.id} is one of user {hello.user.id}")
            ended = [one for one, is_open in person.sessions.items() if is_open is not False]
            ended = ended if everywhere else [token]
            before = {one: person.sessions[one] for one in ended}
            person.sessions.update(dict.fromkeys(ended, None))
            try:
                connection.sign_out(everywhere)
            except Refused:
                person.sessions.update(before)
                raise
            person.sessions.update(dict.fromkeys(ended, False))
        self.acknowledged += 1

    # ---- After a restart

    def check(self, port):
        """Every session is open or ended as it was acknowledged, and every account is there."""
        for person in self.persons:
            for token, is_open in person.sessions.items():
                found = is_open_now(port, person, token)
                if is_open is not None and found != is_open:
                    words = {True: "open", False: "ended"}
                    raise Failure(f"a session of {person.email} was {words[is_open]} and is "
                                  f"{words[found]} after the restart")
                person.sessions[token] = found
        with self.connected(port) as connection:
            self.check_accounts(connection)

    def check_accounts(self, connection):
        unsure = [person for person in self.persons if not person.id]
        known = [person for person in self.persons if person.id]
        sample = self.random.sample(known, min(len(known), MOST_SIGN_INS_CHECKED))
        for person in unsure + sample:
            self.sign_in(connection, person, create_if_missing=not person.id)


def is_open_now(port, person, token):
    """Whether the service takes a token, which must be its person's."""
    with Connection(port) as connection:
        try:
            user = connection.hello(session_token=token).user.id
        except Refused as refused:
            if refused.status.code != feed.UNAUTHENTICATED:
                raise
            return False
    if user != person.id:
        raise Failure(f"a session of user {person.id} is one of user {user}")
    return True
