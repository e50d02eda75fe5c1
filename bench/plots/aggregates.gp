set title "How does cf_agg compare with other aggregates?"
set xlabel "rows, all of different values"
set ylabel "nanoseconds per row"
set logscale x
set format x "10^{%L}"
set yrange [0:*]
plot datafile using 1:3 with linespoints ls 2 title "count(DISTINCT x)", \
	datafile using 1:2 with linespoints ls 1 title "cf_agg(x)", \
	datafile using 1:5 with linespoints ls 4 title "hll_add_agg(hll_hash_bigint(x))", \
	datafile using 1:4 with linespoints ls 3 title "array_agg(x)"
