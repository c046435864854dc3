" Vim syntax file of DVE.
" Made by editors/generate.py from the tables of the front-end.
if exists("b:current_syntax")
  finish
endif
syntax case match
syntax keyword dveKeyword accept
syntax keyword dveKeyword and
syntax keyword dveKeyword assert
syntax keyword dveKeyword async
syntax keyword dveKeyword buchi
syntax keyword dveKeyword commit
syntax keyword dveKeyword const
syntax keyword dveKeyword effect
syntax keyword dveKeyword fair
syntax keyword dveKeyword genbuchi
syntax keyword dveKeyword guard
syntax keyword dveKeyword imply
syntax keyword dveKeyword init
syntax keyword dveKeyword muller
syntax keyword dveKeyword not
syntax keyword dveKeyword or
syntax keyword dveKeyword process
syntax keyword dveKeyword property
syntax keyword dveKeyword rabin
syntax keyword dveKeyword state
syntax keyword dveKeyword sync
syntax keyword dveKeyword system
syntax keyword dveKeyword trans
syntax keyword dveType byte
syntax keyword dveType channel
syntax keyword dveType int
syntax keyword dveConstant false
syntax keyword dveConstant true
syntax match dveNumber /\v<(0[xX]\x+|\d+(\.\d+([eE][-+]?\d+)?)?)>/
syntax match dveOperator /\v\=\=\>|:\=|-\>|\.\.|[-+*\/%<>=!&|^~?]/
syntax region dveString start=/"/ skip=/\\./ end=/"\|$/
syntax match dveComment +//.*$+ contains=dveTodo,@Spell
syntax region dveComment start=+/\*+ end=+\*/+ contains=dveTodo,@Spell
syntax keyword dveTodo TODO FIXME XXX contained
highlight default link dveKeyword Keyword
highlight default link dveType Type
highlight default link dveConstant Constant
highlight default link dveFunction Function
highlight default link dveNumber Number
highlight default link dveOperator Operator
highlight default link dveString String
highlight default link dveComment Comment
highlight default link dveTodo Todo
let b:current_syntax = "dve"
