-- Leader election on a ring (Chang and Roberts), rule for rule as in leader.pml.
const N: 12;
type
  node: 0..N-1;
  message: 0..N-1;
var
  awake: array [node] of boolean;
  count: array [node] of 0..N;
  link: array [node] of array [0..N-1] of message;
  elected: boolean;

-- So that messages go as far as they can.
function id(i: node): message;
begin
  return N - 1 - i;
end;

procedure send(i: node; m: message);
var next: node;
begin
  next := (i + 1) % N;
  link[next][count[next]] := m;
  count[next] := count[next] + 1;
end;

startstate
  for i: node do awake[i] := false; count[i] := 0; end;
  elected := false;
end;

ruleset i: node do
  rule "start" !awake[i] ==> awake[i] := true; send(i, id(i)); end;

  rule "receive" awake[i] & count[i] > 0 ==>
    var m: message;
  begin
    m := link[i][0];
    for k: 0..N-2 do
      if k + 1 < count[i] then link[i][k] := link[i][k + 1]; end;
    end;
    undefine link[i][count[i] - 1];
    count[i] := count[i] - 1;
    if m > id(i) then send(i, m); elsif m = id(i) then elected := true; end;
  end;
end;

-- In the end there is a leader.
ltl "elects": F {elected};
