question = "What do filters cost that follow a table, row by row?"
set title titled(question, setup)
set xlabel "clients"
set ylabel "inserted rows per second"
set xrange [0.7:8.3]
set xtics (1, 2, 4, 8)
set yrange [0:*]
set ytics ("0" 0)
set for [i=1:30] ytics add (sprintf("%d,000", i * 10) i * 10000)
plot datafile using 1:2:(least(2)):(most(2)) with yerrorbars ls 12 notitle, \
	datafile using 1:2 with linespoints ls 2 title "no filter, an index on the columns", \
	datafile using 1:5:(least(5)):(most(5)) with yerrorbars ls 11 notitle, \
	datafile using 1:5 with linespoints ls 1 title "and filters, one for each tenant", \
	datafile using 1:8:(least(8)):(most(8)) with yerrorbars ls 13 notitle, \
	datafile using 1:8 with linespoints ls 3 title "and one filter, all rows of one tenant"
