question = "When does a filter make a hash join faster?"
set title titled(question, setup)
set xlabel "rows of the large table that have a partner, per cent"
set ylabel "seconds"
set logscale x
set xrange [0.08:130]
set xtics ("0.1" 0.1, "1" 1, "5" 5, "10" 10, "25" 25, "50" 50, "100" 100)
set yrange [0:*]
set offsets 0, 0, graph 0.1, 0
# how many times faster, beside each point of the join with a filter
factor(plain, filtered) = sprintf("%.1fx", plain / filtered)
plot datafile using 1:2:(least(2)):(most(2)) with yerrorbars ls 12 notitle, \
	datafile using 1:2 with linespoints ls 2 title "join", \
	datafile using 1:5:(least(5)):(most(5)) with yerrorbars ls 11 notitle, \
	datafile using 1:5 with linespoints ls 1 title "join with a filter, which is built in the query", \
	datafile using 1:($5 <= $2 ? $5 : 1/0):(factor($2, $5)) with labels offset 0,-1.3 notitle, \
	datafile using 1:($5 > $2 ? $5 : 1/0):(factor($2, $5)) with labels offset 0,1.3 notitle, \
	keyentry title "figures: times faster with the filter"
