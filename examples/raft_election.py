"""Elections of Raft: the twin of raft_election.m.

A server that hears nothing becomes a candidate of the next term, votes for itself and asks the others. A server votes
once in a term. A candidate with a majority is the leader of its term. Whoever meets a higher term follows. Messages are
kept in a bag: they may overtake one another.
"""

from dataclasses import dataclass
from enum import Enum

from outcrop.model import Bag, Model, Range, Symmetric, choose, cover, invariant, rule, when

SERVERS = 3
MOST_TERMS = 2
MOST_MESSAGES = 4


class Server(Symmetric, size=SERVERS): ...


class Role(Enum):
    FOLLOWER = 0
    CANDIDATE = 1
    LEADER = 2


class Kind(Enum):
    REQUEST_VOTE = 0
    GRANT_VOTE = 1


Term = Range[0, MOST_TERMS]


@dataclass(frozen=True)
class Message:
    kind: Kind
    term: Term
    sender: Server
    receiver: Server


class RaftElection(Model):
    role: dict[Server, Role] = dict.fromkeys(Server, Role.FOLLOWER)
    term: dict[Server, Term] = dict.fromkeys(Server, 0)
    voted_for: dict[Server, Server | None] = dict.fromkeys(Server)
    votes: dict[Server, set[Server]] = {s: set() for s in Server}  # noqa: RUF012
    network: Bag[Message, MOST_MESSAGES]

    def follow(self, s: Server, term: Term) -> None:
        if term > self.term[s]:
            self.term[s] = term
            self.role[s] = Role.FOLLOWER
            self.voted_for[s] = None
            self.votes[s].clear()

    @rule
    def time_out(self, s: Server) -> None:
        when(self.role[s] is not Role.LEADER and self.term[s] < MOST_TERMS)
        when(len(self.network) + SERVERS - 1 <= MOST_MESSAGES)
        self.term[s] += 1
        self.role[s] = Role.CANDIDATE
        self.voted_for[s] = s
        self.votes[s] = {s}
        for receiver in Server:
            if receiver != s:
                self.network.add(Message(Kind.REQUEST_VOTE, self.term[s], s, receiver))

    @rule
    def answer(self) -> None:
        m = choose(self.network)
        when(m.kind is Kind.REQUEST_VOTE)
        self.network.remove(m)
        self.follow(m.receiver, m.term)
        if m.term == self.term[m.receiver] and self.voted_for[m.receiver] in (None, m.sender):
            self.voted_for[m.receiver] = m.sender
            self.network.add(Message(Kind.GRANT_VOTE, m.term, m.receiver, m.sender))

    @rule
    def count_vote(self) -> None:
        m = choose(self.network)
        when(m.kind is Kind.GRANT_VOTE)
        self.network.remove(m)
        self.follow(m.receiver, m.term)
        if self.role[m.receiver] is Role.CANDIDATE and m.term == self.term[m.receiver]:
            self.votes[m.receiver].add(m.sender)
            if 2 * len(self.votes[m.receiver]) > SERVERS:
                self.role[m.receiver] = Role.LEADER

    @rule
    def lose(self) -> None:
        m = choose(self.network)
        self.network.remove(m)

    @rule
    def begin_again(self) -> None:
        """Terms go on for ever; here they are counted anew."""
        when(not self.network)
        when(all(self.role[s] is Role.LEADER or self.term[s] == MOST_TERMS for s in Server))
        for s in Server:
            self.role[s] = Role.FOLLOWER
            self.term[s] = 0
            self.voted_for[s] = None
            self.votes[s].clear()

    @invariant
    def one_leader_a_term(self) -> bool:
        return all(
            s == t
            for s in Server
            if self.role[s] is Role.LEADER
            for t in Server
            if self.role[t] is Role.LEADER and self.term[s] == self.term[t]
        )

    @cover
    def somebody_leads(self) -> bool:
        return any(self.role[s] is Role.LEADER for s in Server)
