-- A bounded queue in a ring of slots, as examples/programs/ring_buffer.py should implement it.
--
-- `outcrop tests examples/ring_buffer.m --format pytest` makes tests for the program.
--
-- expect: holds
-- states: 45
-- rules: 84
-- diameter: 7

const SLOTS: 3;

type
  Position: 0 .. SLOTS - 1;
  Item: enum { Red, Blue };

var
  ring: array [Position] of Item;
  first: Position;  -- the slot of the oldest item
  length: 0 .. SLOTS;

startstate "empty"
begin
  first := 0;
  length := 0;
end;

ruleset item: Item do
  rule "put" length < SLOTS ==>
  begin
    ring[(first + length) % SLOTS] := item;
    length := length + 1;
  end;
end;

rule "take" length > 0 ==>
begin
  undefine ring[first];
  first := (first + 1) % SLOTS;
  length := length - 1;
end;

invariant "the items are in one row"
  forall p: Position do isundefined(ring[p]) = ((p + SLOTS - first) % SLOTS >= length) end;
