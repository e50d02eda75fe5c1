set title "How long does a lookup take, and a build per value, as filters grow?"
set xlabel "values in the filter"
set ylabel "nanoseconds"
set logscale x
set format x "10^{%L}"
set yrange [0:*]
set xrange [500:2e7]
plot datafile using 1:2 with linespoints ls 1 title "lookup of an absent value", \
	datafile using 1:3 with linespoints ls 2 title "lookup of a present value", \
	datafile using 1:4 with linespoints ls 4 title "plain cuckoo filter, an absent value", \
	datafile using 1:5 with linespoints ls 5 title "plain cuckoo filter, a present value", \
	datafile using 1:6 with linespoints ls 3 title "build of sorted keys, per value"
