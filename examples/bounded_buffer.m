-- A bounded buffer with an off-by-one bug.
--
-- One producer and one consumer share a ring of slots. Positions run over twice the number of slots, so that a full
-- ring (positions one whole turn apart) differs from an empty one (positions equal). Items are numbered in the order
-- in which they are produced. The producer should wait while the ring is full, but waits only when it is *more* than
-- full: the next item overwrites the oldest one, as the trace shows.
--
-- Things to try: write `used() < Slots` in the guard of "produce", and the model holds.
--
-- expect: violated invariant "the oldest item is still there"
-- states: 9
-- rules: 10
-- diameter: 4
-- trace: 5

const
  Slots: 3;

type
  Position: 0 .. 2 * Slots - 1;
  Item: 0 .. 2 * Slots - 1;  -- numbers may be used again once the item is consumed

var
  ring: array [0 .. Slots - 1] of Item;
  put_at: Position;   -- where the producer writes next
  take_at: Position;  -- where the consumer reads next
  expected: Item;     -- the item that the consumer must get next

function used(): Position;
begin
  return (put_at - take_at + 2 * Slots) % (2 * Slots);
end;

startstate "empty"
begin
  put_at := 0;
  take_at := 0;
  expected := 0;
end;

rule "produce"
  used() <= Slots  -- the bug: this should be `<`
==>
  ring[put_at % Slots] := put_at;  -- item numbers and positions go round together
  put_at := (put_at + 1) % (2 * Slots);
end;

rule "consume"
  used() > 0
==>
  assert ring[take_at % Slots] = expected "items come out in the order they went in";
  undefine ring[take_at % Slots];
  expected := (expected + 1) % (2 * Slots);
  take_at := (take_at + 1) % (2 * Slots);
end;

invariant "the oldest item is still there"
  used() > 0 -> ring[take_at % Slots] = expected;
