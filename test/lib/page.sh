# shellcheck shell=bash
#
# page.sh
#		The page of clients/js/demo: its filter, and how to look at it.
#
# Needs common.sh, and REPO.

# page_put
#		Make the filter on standard input, in text form, that of the page.
page_put()
{
	local file=$REPO/clients/js/demo/words.cf

	if ! cat >"$file" 2>/dev/null; then
		skip "no filter for the page: $file cannot be written"
		return
	fi
	step "the page of clients/js/demo asks it without a server; in clients/js:"
	step "npm ci --omit=dev && node demo/serve.mjs"
}
