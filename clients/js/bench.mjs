/**
 * bench.mjs: what a probe costs.
 *
 *     node bench.mjs
 *
 * Processor time of this process, per value, warm; the best of 20 runs.
 */
import { CuckooFilter } from './index.js';

const PROBES = 50000;
const RUNS = 20;

/* The least nanoseconds of processor time that `run` takes per value. */
function measure(run, values) {
	let best = Infinity;

	run();
	for (let i = 0; i < RUNS; i++) {
		const before = process.cpuUsage();

		run();

		const { user, system } = process.cpuUsage(before);

		best = Math.min(best, (user + system) * 1000 / values);
	}
	return Math.round(best);
}

function report(what, nanoseconds) {
	console.log(`${what.padEnd(44)} ${String(nanoseconds).padStart(6)} ns`);
}

/* Half of the probes are in the filter, half are not. */
async function benchmark(name, size, valueOf) {
	const values = Array.from({ length: size }, (_, i) => valueOf(i));
	const filter = await CuckooFilter.build(values);
	const probes = Array.from({ length: PROBES }, (_, i) =>
		valueOf(Math.floor(Math.random() * 2 * size)));
	const hashes = probes.map((probe) => filter.hash(probe));
	let found = 0;

	console.log(`\n${name}, ${size} values, ${filter.toBytes().length} bytes`);
	report('has(value)', measure(() => {
		for (const probe of probes)
			found += filter.has(probe) ? 1 : 0;
	}, PROBES));
	report('hasMany(values)', measure(() => {
		found += filter.hasMany(probes).length;
	}, PROBES));
	report('hash(value), which makes a bigint', measure(() => {
		for (const probe of probes)
			found += filter.hash(probe) === 0n ? 1 : 0;
	}, PROBES));
	report('hasHash(hash)', measure(() => {
		for (const hash of hashes)
			found += filter.hasHash(hash) ? 1 : 0;
	}, PROBES));
	report('build(values)', await measureRuns(() =>
		CuckooFilter.build(values), size));

	const bytes = filter.toBytes();
	const empty = await CuckooFilter.new({ capacity: size });

	report('from(bytes), checked', await measureRuns(() =>
		CuckooFilter.from(bytes), size));
	report('from(bytes, { check: false })', await measureRuns(() =>
		CuckooFilter.from(bytes, { check: false }), size));
	report('add(value), from empty to full', await measureRuns(() => {
		const filled = empty.clone();

		for (const value of values)
			filled.add(value);
	}, size));
	return found;
}

/* As measure(), for what is asynchronous and of many values. */
async function measureRuns(run, values) {
	let best = Infinity;

	for (let i = 0; i < Math.min(RUNS, 2e6 / values); i++) {
		const before = process.cpuUsage();

		await run();

		const { user, system } = process.cpuUsage(before);

		best = Math.min(best, (user + system) * 1000 / values);
	}
	return Math.round(best);
}

const customer = (i) => `customer-${i * 7919}`;

await benchmark('texts of 10 to 20 characters', 10000, customer);
await benchmark('texts of 10 to 20 characters', 1000000, customer);
await benchmark('texts beyond ASCII', 10000, (i) => `Müller-Lüdemann ${i}`);
await benchmark('integers', 10000, (i) => i);
