;;; outcrop-words.el --- Words of model languages  -*- lexical-binding: t -*-

;; Made by editors/generate.py from the tables of the front-end.

;;; Code:

(defconst outcrop-murphi-keywords '("alias" "assert" "begin" "by" "case" "clear" "const" "do" "else" "elsif" "end" "endalias" "endexists" "endfor" "endforall" "endfunction" "endif" "endprocedure" "endrecord" "endrule" "endruleset" "endstartstate" "endswitch" "endwhile" "error" "exists" "for" "forall" "function" "if" "invariant" "of" "procedure" "put" "return" "rule" "ruleset" "startstate" "switch" "then" "to" "type" "undefine" "var" "while")
  "Words of Murphi: keywords.")

(defconst outcrop-murphi-types '("array" "boolean" "enum" "multiset" "real" "record" "scalarset" "union")
  "Words of Murphi: types.")

(defconst outcrop-murphi-constants '("false" "true" "undefined")
  "Words of Murphi: constants.")

(defconst outcrop-murphi-functions '("acos" "asin" "assume" "atan" "ceil" "choose" "cos" "cosh" "cover" "exp" "fabs" "floor" "fmod" "ismember" "isundefined" "liveness" "log" "log10" "multisetadd" "multisetcount" "multisetremove" "multisetremovepred" "pow" "sin" "sinh" "sqrt" "tan" "tanh")
  "Words of Murphi: functions.")

(defconst outcrop-dve-keywords '("accept" "and" "assert" "async" "buchi" "commit" "const" "effect" "fair" "genbuchi" "guard" "imply" "init" "muller" "not" "or" "process" "property" "rabin" "state" "sync" "system" "trans")
  "Words of DVE: keywords.")

(defconst outcrop-dve-types '("byte" "channel" "int")
  "Words of DVE: types.")

(defconst outcrop-dve-constants '("false" "true")
  "Words of DVE: constants.")

(defconst outcrop-dve-functions '()
  "Words of DVE: functions.")

(defconst outcrop-promela-keywords '("D_proctype" "active" "assert" "atomic" "break" "c_code" "c_decl" "c_expr" "c_state" "c_track" "d_step" "do" "else" "fi" "for" "get_priority" "goto" "hidden" "if" "init" "inline" "local" "ltl" "never" "notrace" "od" "of" "printf" "printm" "priority" "proctype" "provided" "run" "select" "set_priority" "show" "skip" "timeout" "trace" "typedef" "unless" "xr" "xs")
  "Words of Promela: keywords.")

(defconst outcrop-promela-types '("bit" "bool" "byte" "chan" "int" "mtype" "pid" "short" "unsigned")
  "Words of Promela: types.")

(defconst outcrop-promela-constants '("_last" "_nr_pr" "_pid" "false" "np_" "true")
  "Words of Promela: constants.")

(defconst outcrop-promela-functions '("empty" "enabled" "eval" "full" "len" "nempty" "nfull" "pc_value")
  "Words of Promela: functions.")

(provide 'outcrop-words)
;;; outcrop-words.el ends here
