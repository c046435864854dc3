-- A lock server: clients ask for one lock, wait, hold it, and give it back.
--
-- examples/programs/lock_server.py is a program that should behave like this model. `outcrop validate` compares its logs
-- with the model, and `outcrop tests` makes tests for it. The model leaves open which of the waiting clients is next.
--
-- expect: holds
-- states: 7
-- rules: 18
-- diameter: 4
-- states without symmetry: 20
-- rules without symmetry: 48

const CLIENTS: 3;

type
  Client: scalarset(CLIENTS);
  Nobody: enum { None };
  Holder: union { Client, Nobody };

var
  holder: Holder;
  waiting: array [Client] of boolean;

startstate "free"
begin
  holder := None;
  for c: Client do waiting[c] := false end;
end;

ruleset c: Client do
  rule "request" !waiting[c] & holder != c ==>
  begin
    waiting[c] := true;
  end;

  rule "grant" holder = None & waiting[c] ==>
  begin
    holder := c;
    waiting[c] := false;
  end;

  rule "release" holder = c ==>
  begin
    holder := None;
  end;
end;

invariant "the holder does not wait"
  forall c: Client do holder = c -> !waiting[c] end;
