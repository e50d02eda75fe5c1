question = "How long does a lookup take, and a build, as filters grow?"
set title titled(question, setup)
set xlabel "values in the filter"
set ylabel "nanoseconds"
set logscale x
set xtics @counts
set yrange [0:*]
set xrange [500:2e7]
plot datafile using 1:2:(least(2)):(most(2)) with yerrorbars ls 11 notitle, \
	datafile using 1:2 with linespoints ls 1 title "lookup of an absent value", \
	datafile using 1:5:(least(5)):(most(5)) with yerrorbars ls 12 notitle, \
	datafile using 1:5 with linespoints ls 2 title "lookup of a present value", \
	datafile using 1:8:(least(8)):(most(8)) with yerrorbars ls 14 notitle, \
	datafile using 1:8 with linespoints ls 4 title "plain cuckoo filter, an absent value", \
	datafile using 1:11:(least(11)):(most(11)) with yerrorbars ls 15 notitle, \
	datafile using 1:11 with linespoints ls 5 title "plain cuckoo filter, a present value", \
	datafile using 1:14:(least(14)):(most(14)) with yerrorbars ls 13 notitle, \
	datafile using 1:14 with linespoints ls 3 title "build of sorted keys, for each value"
