question = "How does cf\\_agg compare with other aggregates?"
set title titled(question, setup)
set xlabel "rows, all of different values"
set ylabel "nanoseconds per row"
set logscale x
set xtics @counts
set xrange [7e3:1.4e7]
set yrange [0:*]
plot datafile using 1:5:(least(5)):(most(5)) with yerrorbars ls 12 notitle, \
	datafile using 1:5 with linespoints ls 2 title "count(DISTINCT x)", \
	datafile using 1:2:(least(2)):(most(2)) with yerrorbars ls 11 notitle, \
	datafile using 1:2 with linespoints ls 1 title "cf_agg(x)", \
	datafile using 1:11:(least(11)):(most(11)) with yerrorbars ls 14 notitle, \
	datafile using 1:11 with linespoints ls 4 title "hll_add_agg(hll_hash_bigint(x))", \
	datafile using 1:8:(least(8)):(most(8)) with yerrorbars ls 13 notitle, \
	datafile using 1:8 with linespoints ls 3 title "array_agg(x)"
