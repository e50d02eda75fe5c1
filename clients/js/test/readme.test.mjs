/**
 * readme.test.mjs: the first example of README.md runs and prints what its
 * comments say.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import * as library from '../index.js';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

test('the first example', () => {
	const [, example] = /```js\n([\s\S]*?)```/.exec(readme);
	const expected = [...example.matchAll(/^console\.log.*\/\/ (\w+)/gm)].map(
		([, word]) => word);
	/* the package resolves to itself by its name */
	const printed = execFileSync(process.execPath,
		['--input-type=module', '--eval', example],
		{ cwd: fileURLToPath(new URL('..', import.meta.url)) });

	assert.deepEqual(expected, ['true', 'false', '3']);
	assert.deepEqual(String(printed).trim().split('\n'), expected);
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
