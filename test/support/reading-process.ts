import { peakRssMb } from '../../bench/measures/peak-rss.ts';
import { readFile } from '../../src/ingest/read-file.ts';

/** Reads the file named by the argument, discards the rows, and prints how far the memory rose above its idle size. */
const [path = ''] = process.argv.slice(2);
globalThis.gc?.();
const idle = process.memoryUsage.rss();
const before = process.cpuUsage();
const started = performance.now();
const result = await readFile({
  path,
  store: {
    append: () => Promise.resolve(),
    groups: () => {
      throw new Error('The rows were thrown away');
    },
  },
});
const seconds = (performance.now() - started) / 1000;
const { user, system } = process.cpuUsage(before);
const peak = peakRssMb() * 1024 * 1024;
const megabytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);
process.stdout.write(
  JSON.stringify({
    ok: result.ok,
    rows: result.rows,
    seconds,
    cpuSeconds: (user + system) / 1e6,
    idleMb: megabytes(idle),
    aboveIdleMb: megabytes(peak - idle),
  }),
);
