# style.gp: how all plots look; they must read well in black and white.
#
# Called with "folder", where the data are and the plot goes, "name", and
# "setup", the line below the title.
#
# Data of what was timed have three columns for each series: the median of all
# turns, the least, the most.  Where the last two are no numbers, no bar is drawn.
set terminal svg size 840,600 font "DejaVu Sans,Helvetica,sans-serif,15" background "#ffffff"
set output folder . "/" . name . ".svg"
datafile = folder . "/" . name . ".tsv"
set datafile separator tab
set datafile commentschars "#"
set border 3 lc rgb "#444444"
set tics nomirror out
set grid ytics lt 1 lw 0.5 lc rgb "#cccccc"
set key bmargin center horizontal maxcols 2 Left reverse samplen 3.5 spacing 1.3 height 1.2 noenhanced
set lmargin 13
set tmargin 5
set errorbars small
# ours black and solid, others dashed or gray, each with a mark of its own
set style line 1 lc rgb "#000000" lw 2.5 dt 1 pt 7 ps 0.8
set style line 2 lc rgb "#000000" lw 2 dt (8,5) pt 6 ps 0.9
set style line 3 lc rgb "#777777" lw 2 dt 1 pt 5 ps 0.8
set style line 4 lc rgb "#777777" lw 2 dt (3,3) pt 9 ps 1.0
set style line 5 lc rgb "#aaaaaa" lw 1.5 dt (12,4,2,4) pt 13 ps 1.0
# bars of the spread, below their series
do for [i = 1:5] {
	set style line 10 + i lc rgb (i == 5 ? "#aaaaaa" : i > 2 ? "#777777" : "#000000") lw 1.2 dt 1 pt 0
}

# The question, and how the answer was measured.
titled(question, setup) = "{/:Bold=18 " . question . "}\n{/=13 " . setup . "}"

# The least and the most of the series whose median is in this column.
least(median) = valid(median + 1) ? column(median + 1) : column(median)
most(median) = valid(median + 2) ? column(median + 2) : column(median)

# Counts on a logarithmic axis.
set macros
counts = '("1" 1, "10" 10, "100" 1e2, "1,000" 1e3, "10,000" 1e4, "100,000" 1e5, "1 million" 1e6, "10 million" 1e7, "100 million" 1e8)'
