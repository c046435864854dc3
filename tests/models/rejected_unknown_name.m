-- expect: rejected
-- message: Idle
type State: enum { Idle, Busy };
var s: State;
startstate begin s := Idel; end;
