-- A boolean is no integer. The column and the caret point at the culprit.
-- expect: rejected
-- message: :5:31
var x: 0 .. 1; f: boolean;
rule "mixed" x = 0 ==> x := 1 + f; end;
