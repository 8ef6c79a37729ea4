import { acquireTemporalBinary } from '../../../src/app/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../src/app/temporal/temporal-server.ts';

// A parent for the adoption test: starts a server, says its address, and waits to be killed.
const [, , dataDir = ''] = process.argv;
const binary = await acquireTemporalBinary((line) => console.error(line), process.env);
try {
  const server = await startTemporalServer({ binary, dataDir, namespace: 'default', port: 0, uiPort: 0 });
  process.stdout.write(`${server.address}\n`);
  setInterval(() => undefined, 1_000);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
