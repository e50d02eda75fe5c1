# the last point is that of the full filter
stats datafile using 1 nooutput
capacity = STATS_max
question = "How large is a filter as it fills?"
set title titled(question, setup)
set xlabel "values in the filter"
set ylabel "bytes"
set logscale xy
set xrange [1:capacity * 1.6]
set yrange [30:3 * capacity]
set xtics @counts
set ytics ("100" 100, "1 kB" 1e3, "10 kB" 1e4, "100 kB" 1e5, "1 MB" 1e6, "10 MB" 1e7, "100 MB" 1e8)
plot capacity * 1.2 with lines ls 4 title "Bloom filter, allocated when it is made", \
	datafile using 1:2 with steps ls 1 title "cuckoofilter, 1 %", \
	x <= capacity ? x * 9.59 / 8 : 1/0 with lines ls 2 title "Bloom filter of just these values"
