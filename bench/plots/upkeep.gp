question = "What do filters cost that follow a table, row by row?"
set title titled(question, setup)
set xlabel "clients"
set ylabel "inserted rows per second"
set xrange [0.7:8.3]
set xtics (1, 2, 4, 8)
set yrange [0:*]
# some five to ten steps of round numbers, with separators
stats datafile using 2 nooutput
step = 10 ** int(log10(STATS_max))
step = STATS_max / step < 2.5 ? step / 5 : STATS_max / step < 5 ? step / 2 : step
thousands(n) = n < 1000 ? sprintf("%d", n) : sprintf("%d,%03d", n / 1000, int(n) % 1000)
set ytics ("0" 0)
set for [i=1:20] ytics add (thousands(i * step) i * step)
plot datafile using 1:2:(least(2)):(most(2)) with yerrorbars ls 12 notitle, \
	datafile using 1:2 with linespoints ls 2 title "no filter, an index on the columns", \
	datafile using 1:5:(least(5)):(most(5)) with yerrorbars ls 11 notitle, \
	datafile using 1:5 with linespoints ls 1 title "and filters, one for each tenant", \
	datafile using 1:8:(least(8)):(most(8)) with yerrorbars ls 13 notitle, \
	datafile using 1:8 with linespoints ls 3 title "and one filter, all rows of one tenant"
