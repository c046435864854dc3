" Made by editors/generate.py from the tables of the front-end.
autocmd BufRead,BufNewFile *.m setfiletype murphi
autocmd BufRead,BufNewFile *.dve setfiletype dve
autocmd BufRead,BufNewFile *.pml,*.pm,*.prom,*.promela,*.spin setfiletype promela
