--
-- The filter of the page, in text form, of a list of words, one a line:
--
--		psql -XqAt -f make.sql DATABASE <words >words.cf
--
-- The database has the extension; nothing is left in it.
--
CREATE TEMP TABLE demo_word (word text);
-- lines as they are: no character of a word means anything
\copy demo_word FROM pstdin WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')
SELECT cf_agg(word)::text FROM demo_word;
