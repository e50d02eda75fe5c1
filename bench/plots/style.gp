# style.gp: how all plots look; they must read well in black and white.
#
# Called with "folder", where the data are and the plot goes, and "name".
set terminal svg size 800,560 font "DejaVu Sans,Helvetica,sans-serif,15" background "#ffffff"
set output folder . "/" . name . ".svg"
datafile = folder . "/" . name . ".tsv"
set datafile separator tab
set datafile commentschars "#"
set border 3 lc rgb "#444444"
set tics nomirror out
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"
set key bmargin center horizontal maxcols 2 Left reverse samplen 3.5 spacing 1.3 height 1.2 noenhanced
set lmargin 12
set title font ",18" noenhanced
# ours black and solid, others dashed or gray, each with a mark of its own
set style line 1 lc rgb "#000000" lw 2.5 dt 1 pt 7 ps 0.7
set style line 2 lc rgb "#000000" lw 2 dt (8,5) pt 6 ps 0.8
set style line 3 lc rgb "#777777" lw 2 dt 1 pt 5 ps 0.7
set style line 4 lc rgb "#777777" lw 2 dt (3,3) pt 9 ps 0.9
set style line 5 lc rgb "#aaaaaa" lw 1.5 dt (12,4,2,4) pt 13 ps 0.9
