question = "How many bits does a value cost?"
set title titled(question, setup)
set xlabel "false positive rate"
set ylabel "bits per value, filter full"
set logscale x
set xrange [2e-2:4e-8]
set xtics ("1 in 100" 1e-2, "1 in 1,000" 1e-3, "1 in 10,000" 1e-4, "1 in 100,000" 1e-5, "1 in 1 million" 1e-6, "1 in 10 million" 1e-7) font ",13"
set yrange [0:40]
log2(x) = log(x) / log(2)
bound(x) = log2(1 / x)
plot bound(x) / log(2) with lines ls 4 title "Bloom filter", \
	(bound(x) + 3) / 0.955 with lines ls 3 title "cuckoo filter without semi-sorting, load 0.955", \
	datafile using 2:3 with linespoints ls 1 title "cuckoofilter", \
	bound(x) with lines ls 2 title "no filter can have fewer"
