" Vim settings of a model language.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1
setlocal commentstring=//\ %s comments=s1:/*,mb:*,ex:*/,://
setlocal expandtab shiftwidth=2 softtabstop=2
setlocal formatprg=outcrop\ format\ --name\ %:S\ -
compiler outcrop
let b:undo_ftplugin = "setlocal commentstring< comments< expandtab< shiftwidth< softtabstop< formatprg<"
