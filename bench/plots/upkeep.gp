set title "What do filters cost that follow a table, row by row?"
set xlabel "clients"
set ylabel "transactions per second"
set xrange [0.7:8.3]
set xtics (1, 2, 4, 8)
set yrange [0:*]
plot datafile using 1:2 with linespoints ls 2 title "insert a row into a table with an index", \
	datafile using 1:3 with linespoints ls 1 title "the same, with filters attached, one for each of " . ntenants . " tenants", \
	datafile using 1:4 with linespoints ls 3 title "the same, all rows of one tenant"
