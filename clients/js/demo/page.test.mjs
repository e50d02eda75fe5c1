/**
 * page.test.mjs: the page in a real browser, on a phone and on a desk.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

import { CuckooFilter } from '../index.js';
import { serve } from './serve.mjs';

const WORDS = Array.from({ length: 5000 }, (_, i) => `word${i}`).concat(
	'cuckoo', 'größe', '日本');
const SCREENS = {
	phone: { viewport: { width: 360, height: 740 }, hasTouch: true,
		isMobile: true },
	desk: { viewport: { width: 1280, height: 800 } },
	dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
};
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

let server;
let browser;
let filter;

before(async () => {
	assert.ok(existsSync(executablePath), `no browser at ${executablePath}`);
	filter = await CuckooFilter.build(WORDS);
	server = await serve(0);
	browser = await chromium.launch({ executablePath,
		args: ['--no-sandbox'] });
});

after(async () => {
	await browser?.close();
	server?.close();
});

/* The page on a screen, with words.cf as the given bytes, null for none. */
async function open(screen, bytes) {
	const context = await browser.newContext(SCREENS[screen]);
	const page = await context.newPage();
	const problems = [];
	const requests = [];

	page.on('pageerror', (error) => problems.push(error.message));
	page.on('request', (request) => requests.push(request.url()));
	await page.route('**/words.cf', (route) => bytes === null ?
		route.fulfill({ status: 404 }) :
		route.fulfill({ body: Buffer.from(bytes) }));
	await page.goto(
		`http://127.0.0.1:${server.address().port}/demo/index.html`);
	return { page, context, problems, requests };
}

function text(page, id) {
	return page.locator(`#${id}`).textContent();
}

async function keepPicture(page, name) {
	if (process.env.PAGE_SCREENSHOTS)
		await page.screenshot({
			path: join(process.env.PAGE_SCREENSHOTS, `${name}.png`),
		});
}

for (const screen of Object.keys(SCREENS)) {
	describe(screen, () => {
		test('answers while one types, without the server', async () => {
			const { page, context, problems, requests } =
				await open(screen, filter.toBytes());

			await page.locator('#word:enabled').waitFor();

			const loaded = requests.length;

			await page.locator('#word').pressSequentially('cuckoo');
			assert.match(await text(page, 'answer'),
				/“cuckoo” is probably in the list/);
			assert.equal(await text(page, 'asked'), '6');
			assert.equal(await text(page, 'absent'), String(
				[1, 2, 3, 4, 5].filter((n) =>
					!filter.has('cuckoo'.slice(0, n))).length));
			await keepPicture(page, `${screen}-yes`);
			await page.locator('#word').fill('größe');
			assert.match(await text(page, 'answer'), /probably/);
			await page.locator('#word').fill('certainly not this');
			assert.match(await text(page, 'answer'), /certainly not in the/);
			await keepPicture(page, `${screen}-no`);
			assert.equal(requests.length, loaded, 'a request was sent');

			assert.equal(await text(page, 'size'), '6 kB');
			assert.equal(await text(page, 'entries'), '5,003');
			assert.match(await text(page, 'rate'), /^1 in 1\d\d$/);
			assert.ok(await page.evaluate(() => document.documentElement
				.scrollWidth <= innerWidth), 'wider than the screen');
			assert.deepEqual(problems, []);
			await context.close();
		});
	});
}

test('long words stay within the page', async () => {
	const { page, context } = await open('phone', filter.toBytes());

	await page.locator('#word').fill('x'.repeat(500));
	assert.ok(await page.evaluate(() => document.documentElement
		.scrollWidth <= innerWidth));
	await context.close();
});

test('says why there is no filter', async () => {
	const damaged = filter.toBytes();

	damaged[100] ^= 1;
	for (const [bytes, message] of [
		[null, /words\.cf is not there \(404\)/],
		[damaged, /checksum does not match/],
		[(await CuckooFilter.build([1, 2])).toBytes(), /holds number values/],
	]) {
		const { page, context, problems } = await open('desk', bytes);

		await page.locator('#answer', { hasText: 'No filter' }).waitFor();
		assert.match(await text(page, 'answer'), message);
		assert.equal(await page.locator('#word').isEnabled(), false);
		assert.deepEqual(problems, []);
		await context.close();
	}
});

test('another filter from a file, in text form', async () => {
	const { page, context } = await open('desk', filter.toBytes());
	const other = await CuckooFilter.build(['only this']);
	const choose = (body) => page.locator('#file').setInputFiles({
		name: 'other.cf', mimeType: 'text/plain', buffer: Buffer.from(body),
	});

	await page.locator('summary').click();
	await choose(`${other.toText()}\n`);
	await page.locator('#entries', { hasText: /^1$/ }).waitFor();
	await page.locator('#word').fill('only this');
	assert.match(await text(page, 'answer'), /probably/);
	await choose('no filter');
	await page.locator('#answer', { hasText: 'Not loaded' }).waitFor();
	await page.locator('#word').fill('cuckoo');
	assert.match(await text(page, 'answer'), /certainly not/);
	await context.close();
});
