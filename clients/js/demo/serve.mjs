/**
 * serve.mjs: serves the page to this machine.
 *
 *     node demo/serve.mjs [PORT]
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SERVED = ['demo', 'src', 'index.js', `node_modules${sep}hash-wasm`];
const TYPES = {
	'.html': 'text/html; charset=utf-8', '.css': 'text/css',
	'.js': 'text/javascript', '.cf': 'application/octet-stream',
};

/* The file of an address, null if it is none of the page's. */
function fileOf(address) {
	const path = normalize(decodeURIComponent(
		new URL(address, 'http://localhost').pathname)).slice(1);
	const isServed = SERVED.some((served) =>
		path === served || path.startsWith(served + sep));

	return isServed ? root + (path.endsWith(sep) ? `${path}index.html` : path) :
		null;
}

async function answer(request, response) {
	try {
		const file = fileOf(request.url);
		const isFile = file !== null && (await stat(file)).isFile();

		if (!isFile)
			throw new Error('not a file');
		response.setHeader('Content-Type',
			TYPES[extname(file)] ?? 'application/octet-stream');
		createReadStream(file).pipe(response);
	} catch {
		response.statusCode = 404;
		response.end('not found\n');
	}
}

/** A server on this machine only; port 0 is any that is free. */
export function serve(port) {
	return new Promise((resolve, reject) => {
		const server = createServer(answer);

		server.on('error', reject);
		server.listen(port, '127.0.0.1', () => resolve(server));
	});
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const server = await serve(Number(process.argv[2] ?? 8080));

	console.log(`http://127.0.0.1:${server.address().port}/demo/`);
}
