"""Claims ``xr`` and ``xs``: where they are violated, with and without reduction, and what is said about them."""

from __future__ import annotations

from pathlib import Path

import pytest
from promela_claims import CLAIMS, Claims

import outcrop
from outcrop.errors import ModelError


@pytest.mark.parametrize("claims", CLAIMS, ids=lambda claims: claims.name)
@pytest.mark.parametrize("reduce", ["off", "por"])
def test_violated_claims_are_found(claims: Claims, reduce: str, tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text(claims.text)
    result = outcrop.load(path).check(engine="interpreter", deadlock="off", reduce=reduce)
    assert (str(result.verdict) == "violated") == claims.is_violated
    assert all("the claim 'x" in each.message for each in result.violations)
    silent = outcrop.load(path, assertions=False).check(engine="interpreter", deadlock="off", reduce=reduce)
    assert str(silent.verdict) == "holds"


@pytest.mark.parametrize("claims", [each for each in CLAIMS if not each.is_violated], ids=lambda claims: claims.name)
def test_claims_leave_the_state_space_as_it_is(claims: Claims, tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text(claims.text)
    counts = [
        (result.states, result.rules_fired)
        for assertions in (True, False)
        for result in [outcrop.load(path, assertions=assertions).check(engine="interpreter", deadlock="off")]
    ]
    assert counts[0] == counts[1]


RING = """#define N 3
chan q[N] = [2] of { byte };
proctype Node(chan inp, out) { byte n; xr inp; xs out; out!0; do :: n < 3 -> inp?_; n++; out!n :: else -> break od }
init { byte i; atomic { do :: i < N -> run Node(q[i], q[(i + 1) % N]); i++ :: else -> break od } }
"""


def test_claims_about_parameters_leave_a_reduction_as_it_is() -> None:
    with_claims, without = (
        outcrop.loads(text, "m.pml").check(engine="interpreter", deadlock="off", reduce="por")
        for text in (RING, RING.replace("xr inp; xs out;", ""))
    )
    assert (with_claims.states, with_claims.rules_fired) == (without.states, without.rules_fired)
    full = outcrop.loads(RING, "m.pml").check(engine="interpreter", deadlock="off")
    assert with_claims.states < full.states / 2


def test_identical_processes_violate_claims() -> None:
    sender = "active proctype S() { xs c; end: do :: c!1 od } "
    for receiver, verdict in (("", "holds"), ("xr c; ", "violated")):
        text = f"chan c = [1] of {{ bit }}; {sender} active [3] proctype P() {{ {receiver}end: do :: c?_ od }}"
        result = outcrop.loads(text, "m.pml", process_symmetry=True).check(engine="interpreter")
        assert str(result.verdict) == verdict


def test_a_claim_about_a_variable_that_changes_is_not_checked() -> None:
    text = "chan c = [1] of { bit }; active proctype P() { chan v = c; xs v; v = c; v!1 } active proctype Q() { c!1 }"
    model = outcrop.loads(text, "m.pml")
    assert [each.message for each in model.warnings] == ["this 'xs' is not checked, since 'v' may change"]
    assert str(model.check(engine="interpreter", deadlock="off").verdict) == "holds"


def test_a_claim_may_name_an_element_of_an_array() -> None:
    for channel, verdict in (("q[_pid]", "holds"), ("q[0]", "violated")):
        text = f"chan q[2] = [1] of {{ bit }}; active [2] proctype P() {{ xs q[_pid]; {channel}!1 }}"
        result = outcrop.loads(text, "m.pml").check(engine="interpreter", deadlock="off")
        assert str(result.verdict) == verdict


def test_a_claim_about_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ModelError, match="unknown name 'cc'"):
        outcrop.loads("chan c = [1] of { bit }; active proctype P() { xs cc; c!1 }", "m.pml")
