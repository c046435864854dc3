-- expect: rejected
var x: 0 .. 1;
procedure p(a: 0 .. 1; var b: 0 .. 1); begin b := a; end;
startstate begin x := 0; p(1, 1); end;
