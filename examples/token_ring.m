-- A token ring with a monitor.
--
-- Stations form a ring. Each link carries nothing, the token, or a frame. Only the holder of the token may send: it
-- replaces the token with a frame. The frame travels around the ring, its destination copies it, and its sender
-- replaces it with the token again. Noise may erase the contents of a link; the monitor notices the silence and issues
-- a new token.
--
-- The model has a `liveness` property (from every reachable state a station can still deliver a frame, despite noise)
-- and a `cover` property (a situation that some run must reach).
--
-- expect: holds
-- states: 912
-- rules: 3376
-- diameter: 17

const
  Size: 4;

type
  Station: 0 .. Size - 1;
  Signal: enum { Silence, Token, Frame };
  Link: record
    signal: Signal;
    source: Station;  -- the rest is defined for frames only
    destination: Station;
    copied: boolean;
  end;

var
  link: array [Station] of Link;        -- link[s] leads to station s
  pending: array [Station] of boolean;  -- has something to send
  delivered: boolean;                   -- the last frame that came back had been copied

function next(s: Station): Station;
begin
  return (s + 1) % Size;
end;

procedure silence(s: Station);
begin
  undefine link[s];
  link[s].signal := Silence;
end;

procedure issue_token(s: Station);
begin
  silence(s);
  link[s].signal := Token;
end;

startstate "token at station 0"
begin
  for s: Station do
    silence(s);
    pending[s] := false;
  end;
  issue_token(0);
  delivered := false;
end;

ruleset s: Station do

  rule "want to send"
    !pending[s]
  ==>
    pending[s] := true;
  end;

  rule "pass token"
    link[s].signal = Token & !pending[s]
  ==>
    silence(s);
    issue_token(next(s));
  end;

  ruleset d: Station do
    rule "send frame"
      link[s].signal = Token & pending[s] & d != s
    ==>
      silence(s);
      alias out: link[next(s)] do
        out.signal := Frame;
        out.source := s;
        out.destination := d;
        out.copied := false;
      end;
    end;
  end;

  rule "pass frame"
    link[s].signal = Frame & link[s].source != s
  ==>
    link[next(s)] := link[s];
    if link[s].destination = s then
      link[next(s)].copied := true;
    end;
    silence(s);
  end;

  rule "take frame off"
    link[s].signal = Frame & link[s].source = s
  ==>
    assert link[s].copied "a frame that came back was copied";
    delivered := true;
    pending[s] := false;
    silence(s);
    issue_token(next(s));
  end;

  rule "noise"
    link[s].signal != Silence
  ==>
    silence(s);
    delivered := false;
  end;

  liveness "every station can still deliver a frame"
    delivered & !pending[s];

end;

rule "monitor issues a token"
  forall s: Station do link[s].signal = Silence end
==>
  issue_token(0);
end;

invariant "one signal on the ring"
  forall s: Station do
    forall t: Station do link[s].signal != Silence & link[t].signal != Silence -> s = t end
  end;

invariant "frames come from stations that have something to send"
  forall s: Station do link[s].signal = Frame -> pending[link[s].source] end;

cover "everybody has something to send while the token travels"
  forall s: Station do pending[s] end & exists s: Station do link[s].signal = Token end;
