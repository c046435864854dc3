" Vim compiler file: check the model of the buffer, and go through its mistakes and violations.
" :compiler outcrop, then :make
if exists("current_compiler")
  finish
endif
let current_compiler = "outcrop"
CompilerSet makeprg=outcrop\ check\ --no-color\ -q\ %:S
CompilerSet errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m,%f:%l:%c:\ %tote:\ %m,%-G%.%#
