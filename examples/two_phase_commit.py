"""Two-phase commit with crashes: the twin of two_phase_commit.m.

A coordinator asks every participant to vote, commits when all say yes and aborts otherwise, and tells everybody again
and again until all know. Coordinator and participants may crash and come back with what they had written to their
logs. Messages may get lost too, which is why they stay in their channel until somebody takes or drops them.
"""

from dataclasses import dataclass, field
from enum import Enum

from outcrop.model import Model, Range, Symmetric, assume, cover, invariant, liveness, rule, when

PARTICIPANTS = 2
MOST_CRASHES = 1


class Participant(Symmetric, size=PARTICIPANTS): ...


class Vote(Enum):
    NOT_VOTED = 0
    YES = 1
    NO = 2


class Decision(Enum):
    UNDECIDED = 0
    COMMIT = 1
    ABORT = 2


@dataclass
class Log:
    """Survives a crash."""

    vote: Vote = Vote.NOT_VOTED
    decision: Decision = Decision.UNDECIDED

    def decide(self, decision: Decision) -> None:
        assert self.decision in (Decision.UNDECIDED, decision), "decisions are final"
        self.decision = decision


@dataclass
class Process:
    up: bool = True
    log: Log = field(default_factory=Log)


class TwoPhaseCommit(Model):
    coordinator: Process = Process()
    participant: dict[Participant, Process] = {p: Process() for p in Participant}  # noqa: RUF012
    ballot: dict[Participant, Vote] = dict.fromkeys(Participant, Vote.NOT_VOTED)  # in the coordinator's memory
    votes: dict[Participant, Vote] = dict.fromkeys(Participant, Vote.NOT_VOTED)  # channels
    orders: dict[Participant, Decision] = dict.fromkeys(Participant, Decision.UNDECIDED)
    crashes: Range[0, MOST_CRASHES + 1] = 0

    def crash(self, process: Process) -> None:
        process.up = False
        self.crashes += 1

    # Participants.

    @rule
    def vote(self, p: Participant, vote: Vote) -> None:
        process = self.participant[p]
        when(process.up and vote is not Vote.NOT_VOTED and process.log.vote is Vote.NOT_VOTED)
        process.log.vote = vote

    @rule
    def send_vote(self, p: Participant) -> None:
        process = self.participant[p]
        when(process.up and process.log.vote is not Vote.NOT_VOTED)
        when(process.log.decision is Decision.UNDECIDED and self.votes[p] is Vote.NOT_VOTED)
        self.votes[p] = process.log.vote

    @rule
    def obey(self, p: Participant) -> None:
        when(self.participant[p].up and self.orders[p] is not Decision.UNDECIDED)
        self.participant[p].log.decide(self.orders[p])
        self.orders[p] = Decision.UNDECIDED

    @rule
    def participant_crashes(self, p: Participant) -> None:
        when(self.participant[p].up)
        self.crash(self.participant[p])

    @rule
    def participant_comes_back(self, p: Participant) -> None:
        when(not self.participant[p].up)
        self.participant[p].up = True

    # The coordinator.

    @rule
    def receive_vote(self, p: Participant) -> None:
        when(self.coordinator.up and self.votes[p] is not Vote.NOT_VOTED)
        self.ballot[p] = self.votes[p]
        self.votes[p] = Vote.NOT_VOTED

    @rule
    def send_decision(self, p: Participant) -> None:
        when(self.coordinator.up and self.coordinator.log.decision is not Decision.UNDECIDED)
        when(self.orders[p] is Decision.UNDECIDED and self.participant[p].log.decision is Decision.UNDECIDED)
        self.orders[p] = self.coordinator.log.decision

    @rule
    def message_lost(self, p: Participant) -> None:
        when(self.votes[p] is not Vote.NOT_VOTED or self.orders[p] is not Decision.UNDECIDED)
        self.votes[p] = Vote.NOT_VOTED
        self.orders[p] = Decision.UNDECIDED

    @rule
    def decide_to_commit(self) -> None:
        when(self.coordinator.up and self.coordinator.log.decision is Decision.UNDECIDED)
        when(all(vote is Vote.YES for vote in self.ballot.values()))
        self.coordinator.log.decide(Decision.COMMIT)

    @rule
    def decide_to_abort(self) -> None:
        """A coordinator that came back without a decision cannot know the votes: it may always abort."""
        when(self.coordinator.up and self.coordinator.log.decision is Decision.UNDECIDED)
        when(any(vote is Vote.NO for vote in self.ballot.values()) or self.crashes > 0)
        self.coordinator.log.decide(Decision.ABORT)

    @rule
    def coordinator_crashes(self) -> None:
        when(self.coordinator.up)
        self.crash(self.coordinator)
        for p in Participant:
            self.ballot[p] = Vote.NOT_VOTED

    @rule
    def coordinator_comes_back(self) -> None:
        when(not self.coordinator.up)
        self.coordinator.up = True

    @assume
    def few_crashes(self) -> bool:
        return self.crashes <= MOST_CRASHES

    @invariant
    def agreement(self) -> bool:
        decided = self.coordinator.log.decision
        return all(each.log.decision in (Decision.UNDECIDED, decided) for each in self.participant.values())

    @invariant
    def nobody_commits_against_a_vote(self) -> bool:
        return self.coordinator.log.decision is not Decision.COMMIT or all(
            each.log.vote is Vote.YES for each in self.participant.values()
        )

    @cover
    def all_commit_in_spite_of_a_crash(self) -> bool:
        return self.crashes > 0 and all(each.log.decision is Decision.COMMIT for each in self.participant.values())

    @liveness
    def everybody_can_always_come_to_a_decision(self) -> bool:
        return all(each.log.decision is not Decision.UNDECIDED for each in self.participant.values())
