" Vim syntax file of Murphi.
" Made by editors/generate.py from the tables of the front-end.
if exists("b:current_syntax")
  finish
endif
syntax case ignore
syntax keyword murphiKeyword alias
syntax keyword murphiKeyword assert
syntax keyword murphiKeyword begin
syntax keyword murphiKeyword by
syntax keyword murphiKeyword case
syntax keyword murphiKeyword clear
syntax keyword murphiKeyword const
syntax keyword murphiKeyword do
syntax keyword murphiKeyword else
syntax keyword murphiKeyword elsif
syntax keyword murphiKeyword end
syntax keyword murphiKeyword endalias
syntax keyword murphiKeyword endexists
syntax keyword murphiKeyword endfor
syntax keyword murphiKeyword endforall
syntax keyword murphiKeyword endfunction
syntax keyword murphiKeyword endif
syntax keyword murphiKeyword endprocedure
syntax keyword murphiKeyword endrecord
syntax keyword murphiKeyword endrule
syntax keyword murphiKeyword endruleset
syntax keyword murphiKeyword endstartstate
syntax keyword murphiKeyword endswitch
syntax keyword murphiKeyword endwhile
syntax keyword murphiKeyword error
syntax keyword murphiKeyword exists
syntax keyword murphiKeyword for
syntax keyword murphiKeyword forall
syntax keyword murphiKeyword function
syntax keyword murphiKeyword if
syntax keyword murphiKeyword invariant
syntax keyword murphiKeyword of
syntax keyword murphiKeyword procedure
syntax keyword murphiKeyword put
syntax keyword murphiKeyword return
syntax keyword murphiKeyword rule
syntax keyword murphiKeyword ruleset
syntax keyword murphiKeyword startstate
syntax keyword murphiKeyword switch
syntax keyword murphiKeyword then
syntax keyword murphiKeyword to
syntax keyword murphiKeyword type
syntax keyword murphiKeyword undefine
syntax keyword murphiKeyword var
syntax keyword murphiKeyword while
syntax keyword murphiType array
syntax keyword murphiType boolean
syntax keyword murphiType enum
syntax keyword murphiType multiset
syntax keyword murphiType real
syntax keyword murphiType record
syntax keyword murphiType scalarset
syntax keyword murphiType union
syntax keyword murphiConstant false
syntax keyword murphiConstant true
syntax keyword murphiConstant undefined
syntax keyword murphiFunction acos
syntax keyword murphiFunction asin
syntax keyword murphiFunction assume
syntax keyword murphiFunction atan
syntax keyword murphiFunction ceil
syntax keyword murphiFunction choose
syntax keyword murphiFunction cos
syntax keyword murphiFunction cosh
syntax keyword murphiFunction cover
syntax keyword murphiFunction exp
syntax keyword murphiFunction fabs
syntax keyword murphiFunction floor
syntax keyword murphiFunction fmod
syntax keyword murphiFunction ismember
syntax keyword murphiFunction isundefined
syntax keyword murphiFunction liveness
syntax keyword murphiFunction log
syntax keyword murphiFunction log10
syntax keyword murphiFunction multisetadd
syntax keyword murphiFunction multisetcount
syntax keyword murphiFunction multisetremove
syntax keyword murphiFunction multisetremovepred
syntax keyword murphiFunction pow
syntax keyword murphiFunction sin
syntax keyword murphiFunction sinh
syntax keyword murphiFunction sqrt
syntax keyword murphiFunction tan
syntax keyword murphiFunction tanh
syntax match murphiNumber /\v<(0[xX]\x+|\d+(\.\d+([eE][-+]?\d+)?)?)>/
syntax match murphiOperator /\v\=\=\>|:\=|-\>|\.\.|[-+*\/%<>=!&|^~?]/
syntax region murphiString start=/"/ skip=/\\./ end=/"\|$/
syntax match murphiComment +--.*$+ contains=murphiTodo,@Spell
syntax region murphiComment start=+/\*+ end=+\*/+ contains=murphiTodo,@Spell
syntax keyword murphiTodo TODO FIXME XXX contained
highlight default link murphiKeyword Keyword
highlight default link murphiType Type
highlight default link murphiConstant Constant
highlight default link murphiFunction Function
highlight default link murphiNumber Number
highlight default link murphiOperator Operator
highlight default link murphiString String
highlight default link murphiComment Comment
highlight default link murphiTodo Todo
let b:current_syntax = "murphi"
