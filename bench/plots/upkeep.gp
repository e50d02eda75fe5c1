set title "What do filters cost that are kept up with each row inserted?"
set xlabel "clients"
set ylabel "transactions per second"
set xrange [0.7:8.3]
set xtics (1, 2, 4, 8)
set yrange [0:*]
plot datafile using 1:2 with linespoints ls 2 title "insert a row into a table with an index", \
	datafile using 1:3 with linespoints ls 1 title "the same, and its filter, one of " . ntenants, \
	datafile using 1:4 with linespoints ls 3 title "the same, all rows in one filter"
