// Builds dist, or the given directory, from src. The same sources and lock file always give the same bytes.
import { build } from 'esbuild';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const limit = 150 * 1024; // of everything that a browser downloads, gzipped, without source maps
const dist = process.argv[2] ? pathToFileURL(`${process.argv[2]}/`) : new URL('dist/', import.meta.url);

await rm(dist, { recursive: true, force: true });
await mkdir(new URL('assets/', dist), { recursive: true });
await build({
  entryPoints: ['src/app.js', 'src/app.css'],
  absWorkingDir: new URL('.', import.meta.url).pathname,
  outdir: new URL('assets/', dist).pathname,
  bundle: true,
  minify: true,
  sourcemap: true,
  format: 'esm',
  target: ['es2022', 'chrome123', 'firefox121', 'safari17.5'],
  charset: 'utf8',
  legalComments: 'none',
});
await cp(new URL('src/index.html', import.meta.url), new URL('index.html', dist));
for (const file of ['theme.js', 'icon.svg']) {
  await cp(new URL(`src/${file}`, import.meta.url), new URL(`assets/${file}`, dist));
}

// The licences of bundled packages must be distributed with the bundle.
const licences = [];
for (const name of Object.keys(JSON.parse(await readFile(new URL('package.json', import.meta.url))).dependencies).sort()) {
  licences.push(`${name}\n\n${(await readFile(new URL(`node_modules/${name}/LICENSE`, import.meta.url), 'utf8')).trim()}\n`);
}
await writeFile(new URL('assets/licences.txt', dist), licences.join('\n\n'));

let total = 0;
for (const file of (await readdir(dist, { recursive: true })).sort()) {
  if (!/\.(html|js|css|svg)$/.test(file)) continue;
  const bytes = gzipSync(await readFile(new URL(file, dist)), { level: 9 }).length;
  total += bytes;
  console.log(`${String(bytes).padStart(7)}  ${file}`);
}
console.log(`${String(total).padStart(7)}  bytes gzipped in total, of ${limit}`);
if (total > limit) throw new Error('The dashboard is larger than 150 KiB gzipped. Remove something.');
