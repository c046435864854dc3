" Made by editors/generate.py from the tables of the front-end.
autocmd BufRead,BufNewFile *.m setfiletype murphi
autocmd BufRead,BufNewFile *.dve setfiletype dve
autocmd BufRead,BufNewFile *.pml,*.pm,*.prm,*.pr,*.prom,*.promela,*.spin setfiletype promela
