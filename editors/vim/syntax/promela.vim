" Vim syntax file of Promela.
" Made by editors/generate.py from the tables of the front-end.
if exists("b:current_syntax")
  finish
endif
syntax case match
syntax keyword promelaKeyword D_proctype
syntax keyword promelaKeyword active
syntax keyword promelaKeyword assert
syntax keyword promelaKeyword atomic
syntax keyword promelaKeyword break
syntax keyword promelaKeyword c_code
syntax keyword promelaKeyword c_decl
syntax keyword promelaKeyword c_expr
syntax keyword promelaKeyword c_state
syntax keyword promelaKeyword c_track
syntax keyword promelaKeyword d_step
syntax keyword promelaKeyword do
syntax keyword promelaKeyword else
syntax keyword promelaKeyword fi
syntax keyword promelaKeyword for
syntax keyword promelaKeyword get_priority
syntax keyword promelaKeyword goto
syntax keyword promelaKeyword hidden
syntax keyword promelaKeyword if
syntax keyword promelaKeyword init
syntax keyword promelaKeyword inline
syntax keyword promelaKeyword local
syntax keyword promelaKeyword ltl
syntax keyword promelaKeyword never
syntax keyword promelaKeyword notrace
syntax keyword promelaKeyword od
syntax keyword promelaKeyword of
syntax keyword promelaKeyword printf
syntax keyword promelaKeyword printm
syntax keyword promelaKeyword priority
syntax keyword promelaKeyword proctype
syntax keyword promelaKeyword provided
syntax keyword promelaKeyword run
syntax keyword promelaKeyword select
syntax keyword promelaKeyword set_priority
syntax keyword promelaKeyword show
syntax keyword promelaKeyword skip
syntax keyword promelaKeyword timeout
syntax keyword promelaKeyword trace
syntax keyword promelaKeyword typedef
syntax keyword promelaKeyword unless
syntax keyword promelaKeyword xr
syntax keyword promelaKeyword xs
syntax keyword promelaType bit
syntax keyword promelaType bool
syntax keyword promelaType byte
syntax keyword promelaType chan
syntax keyword promelaType int
syntax keyword promelaType mtype
syntax keyword promelaType pid
syntax keyword promelaType short
syntax keyword promelaType unsigned
syntax keyword promelaConstant _last
syntax keyword promelaConstant _nr_pr
syntax keyword promelaConstant _pid
syntax keyword promelaConstant false
syntax keyword promelaConstant np_
syntax keyword promelaConstant true
syntax keyword promelaFunction empty
syntax keyword promelaFunction enabled
syntax keyword promelaFunction eval
syntax keyword promelaFunction full
syntax keyword promelaFunction len
syntax keyword promelaFunction nempty
syntax keyword promelaFunction nfull
syntax keyword promelaFunction pc_value
syntax match promelaNumber /\v<(0[xX]\x+|\d+(\.\d+([eE][-+]?\d+)?)?)>/
syntax match promelaOperator /\v\=\=\>|:\=|-\>|\.\.|[-+*\/%<>=!&|^~?]/
syntax region promelaString start=/"/ skip=/\\./ end=/"\|$/
syntax match promelaComment +//.*$+ contains=promelaTodo,@Spell
syntax region promelaComment start=+/\*+ end=+\*/+ contains=promelaTodo,@Spell
syntax keyword promelaTodo TODO FIXME XXX contained
syntax match promelaPreProc /^\s*#\s*\w\+/
highlight default link promelaKeyword Keyword
highlight default link promelaType Type
highlight default link promelaConstant Constant
highlight default link promelaFunction Function
highlight default link promelaNumber Number
highlight default link promelaOperator Operator
highlight default link promelaString String
highlight default link promelaComment Comment
highlight default link promelaTodo Todo
highlight default link promelaPreProc PreProc
let b:current_syntax = "promela"
