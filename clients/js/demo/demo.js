/**
 * demo.js: loads a filter once and answers while you type.
 *
 * The filter is words.cf beside the page, or what ?filter=ADDRESS names, or a
 * file that is chosen. README.md beside it says how to make one.
 */
import { CuckooFilter } from '../index.js';

const byId = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en');

let filter = null;
let asked = 0;
let absent = 0;

function show(id, text) {
	byId(id).textContent = text;
}

function answer(text, kind = '') {
	show('answer', text);
	byId('answer').className = kind;
}

/* What the filter says of the word, at each change of it. */
function ask() {
	const word = byId('word').value;

	if (filter === null)
		return;
	if (word === '') {
		answer('Nothing is sent anywhere: the filter is here.');
		return;
	}
	try {
		const found = filter.has(word);

		asked++;
		absent += found ? 0 : 1;
		answer(found ? `“${word}” is probably in the list.` :
			`“${word}” is certainly not in the list.`, found ? 'yes' : 'no');
	} catch (error) {
		answer(error.message);
	}
	show('asked', number.format(asked));
	show('absent', number.format(absent));
}

/* A share as people read it: 1 in 130. */
function oneIn(rate) {
	const inverse = Math.round(1 / rate);

	return inverse > 1e12 ? 'practically none' :
		`1 in ${number.format(inverse)}`;
}

function kilobytes(bytes) {
	return bytes < 1000 ? `${bytes} bytes` :
		`${number.format(Math.round(bytes / 1000))} kB`;
}

async function use(bytes) {
	/* a text form begins with "cf1:", a binary form with the version */
	const isText = bytes[0] === 'c'.charCodeAt(0);
	const loaded = await CuckooFilter.from(
		isText ? new TextDecoder().decode(bytes).trim() : bytes);

	if (!['text', 'char(n)', null].includes(loaded.family))
		throw new Error(`the filter holds ${loaded.family} values, not texts`);
	filter = loaded;
	asked = 0;
	absent = 0;

	const info = filter.info();

	show('size', kilobytes(info.bytes));
	show('entries', number.format(info.entries));
	show('rate', info.fpr > 0 ? oneIn(info.fpr) : 'none');
	show('asked', '0');
	show('absent', '0');
	byId('word').disabled = false;
	ask();
}

/* Use what a promise of bytes brings, or say why not. */
async function load(promise) {
	try {
		await use(await promise);
	} catch (error) {
		answer(filter === null ? `No filter: ${error.message}` :
			`Not loaded: ${error.message}`);
	}
}

async function fetchBytes(address) {
	const response = await fetch(address);

	if (!response.ok)
		throw new Error(`${address} is not there (${response.status}); ` +
			'README.md of the page says how to make it');
	return new Uint8Array(await response.arrayBuffer());
}

byId('word').addEventListener('input', ask);
byId('file').addEventListener('change', (event) => {
	const [file] = event.target.files;

	if (file !== undefined)
		load(file.arrayBuffer().then((buffer) => new Uint8Array(buffer)));
});
await load(fetchBytes(
	new URLSearchParams(location.search).get('filter') ?? 'words.cf'));
