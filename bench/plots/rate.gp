question = "Does the rate of false positives stay below the promise?"
set title titled(question, setup)
set xlabel "values in the filter, per cent of its capacity"
set ylabel "false positives / those asked for"
set xrange [0:102]
set yrange [0:1.3]
set format y "%.1f"
# a count of c varies by its square root; bars are two of these up and down
error(rate, nprobes) = 2 * sqrt(rate / nprobes)
plot 1 with lines ls 2 title "the rate asked for", \
	datafile using (100 * $3 / $2):($1 == 0.01 ? $5 / $1 : 1/0):(error($5, $6) / $1) with yerrorbars ls 1 pt 7 lw 1 title "counted, 1 % asked for", \
	datafile using (100 * $3 / $2):($1 == 0.001 ? $5 / $1 : 1/0):(error($5, $6) / $1) with yerrorbars ls 1 pt 4 ps 0.9 lw 1 title "counted, 0.1 % asked for", \
	datafile using (100 * $3 / $2):($1 == 0.01 ? $4 / $1 : 1/0) with lines ls 3 title "what cf_fpr says (of both)", \
	datafile using (100 * $3 / $2):($1 == 0.001 ? $4 / $1 : 1/0) with lines ls 3 notitle
