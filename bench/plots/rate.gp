set title "Does the false positive rate stay below the promise as a filter fills?"
set xlabel "values in the filter, per cent of its capacity"
set ylabel "false positives, of those asked for"
set xrange [0:100]
set yrange [0:1.3]
set format y "%.1f"
plot 1 with lines ls 2 title "the rate asked for", \
	datafile using (100 * $3 / $2):($1 == 0.01 ? $5 / $1 : 1/0) with points ls 1 pt 7 title "counted, 1 % asked for", \
	datafile using (100 * $3 / $2):($1 == 0.001 ? $5 / $1 : 1/0) with points ls 1 pt 4 ps 0.9 title "counted, 0.1 % asked for", \
	datafile using (100 * $3 / $2):($1 == 0.01 ? $4 / $1 : 1/0) with lines ls 3 title "what cf_fpr says (of both)", \
	datafile using (100 * $3 / $2):($1 == 0.001 ? $4 / $1 : 1/0) with lines ls 3 notitle
