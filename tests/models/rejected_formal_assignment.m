-- A formal without var is read-only.
-- expect: rejected
-- message: v
procedure p(v: 0 .. 1); begin v := 0; end;
startstate begin p(1); end;
