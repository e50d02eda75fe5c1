/**
 * readme.test.mjs: the first examples of README.md and of docs/clients.md run,
 * and what they say is so.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import * as library from '../index.js';

/* The first example in a document. */
function exampleOf(document) {
	const text = readFileSync(new URL(document, import.meta.url), 'utf8');

	return /```js\n([\s\S]*?)```/.exec(text)[1];
}

/* What a module prints; the package resolves to itself by its name. */
function run(module) {
	return String(execFileSync(process.execPath,
		['--input-type=module', '--eval', module],
		{ cwd: fileURLToPath(new URL('..', import.meta.url)) }));
}

test('the first example', () => {
	const example = exampleOf('../README.md');
	const expected = [...example.matchAll(/^console\.log.*\/\/ (\w+)/gm)].map(
		([, word]) => word);

	assert.deepEqual(expected, ['true', 'false', '3']);
	assert.deepEqual(run(example).trim().split('\n'), expected);
});

test('the example of docs/clients.md', () => {
	const before = `
		import { CuckooFilter as Filter } from 'cuckoofilter-postgres';

		const emails = Array.from({ length: 10000 },
			(_, i) => \`user\${i + 1}@example.com\`);
		const bytes = (await Filter.build(emails, { capacity: 20000 }))
			.toBytes();\n`;
	const after = `
		const stored = await Filter.from(toBeStored);
		console.log(bytes.length, stored.size, stored.has('new@example.com'),
			ids.family);`;

	assert.equal(run(before + exampleOf('../../../docs/clients.md') + after),
		'13179 10001 true uuid\n');
});

test('everything that is exported and nothing else has a type', () => {
	const types = readFileSync(new URL('../index.d.ts', import.meta.url),
		'utf8');
	const declared = [...types.matchAll(
		/^export (?:function|class) (\w+)/gm)].map(([, name]) => name);

	assert.deepEqual(declared.sort(), Object.keys(library).sort());

	const body = /export class CuckooFilter \{([\s\S]*?)^\}/m.exec(types)[1];
	const methods = [...body.matchAll(/^\t(?:readonly )?(\w+)[(:<]/gm)].map(
		([, name]) => name).filter((name) => name !== 'private');
	const prototype = library.CuckooFilter.prototype;

	assert.deepEqual(methods.sort(), Object.getOwnPropertyNames(prototype)
		.filter((name) => name !== 'constructor').sort());
});
