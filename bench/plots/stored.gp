question = "What does one probe of a filter in a table cost?"
set title titled(question, setup)
set xlabel "values in the filter"
set ylabel "microseconds"
set logscale xy
set xtics @counts
set xrange [60:6e7]
set ytics ("0.1" 0.1, "1" 1, "10" 10, "100" 100, "1,000" 1e3, "10,000" 1e4, "100,000" 1e5)
set yrange [0.1:*]
plot datafile using 1:5:(least(5)):(most(5)) with yerrorbars ls 12 notitle, \
	datafile using 1:5 with linespoints ls 2 title "the whole filter is read", \
	datafile using 1:2:(least(2)):(most(2)) with yerrorbars ls 11 notitle, \
	datafile using 1:2 with linespoints ls 1 title "slices of it are read"
