-- expect: rejected
-- message: g
function f(): boolean; begin return g(); end;
function g(): boolean; begin return true; end;
startstate begin end;
