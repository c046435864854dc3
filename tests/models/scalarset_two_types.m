-- Two scalarsets are permuted independently: boolean matrices up to rows and columns.
-- expect: holds
-- states: 13
-- rules: 78
-- diameter: 6
-- states without symmetry: 64
-- rules without symmetry: 384
type Row: scalarset(2); Column: scalarset(3);
var m: array [Row] of array [Column] of boolean;
startstate begin for r: Row do for c: Column do m[r][c] := false; end; end; end;
ruleset r: Row; c: Column do rule "toggle" true ==> m[r][c] := !m[r][c]; end; end;
