set title "When does a filter make a hash join faster?"
set xlabel "rows of the large table that match, per cent"
set ylabel "seconds"
set logscale x
set xrange [0.08:130]
set xtics ("0.1" 0.1, "1" 1, "5" 5, "10" 10, "25" 25, "50" 50, "100" 100)
set yrange [0:*]
plot datafile using 1:2 with linespoints ls 2 title "join", \
	datafile using 1:3 with linespoints ls 1 title "join with a filter, built in the query"
