import { acquireTemporalBinary } from '../../../src/runtime/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../src/runtime/temporal/temporal-server.ts';
import { takeAllFiles } from '../../support/crash/all-files.ts';

// Says whether its server lives, at first and while it can open no further file.
const [, , dataDir = ''] = process.argv;
const binary = await acquireTemporalBinary((line) => console.error(line), process.env);
const server = await startTemporalServer({ binary, dataDir, namespace: 'default', port: 0, uiPort: 0 });
const atFirst = await server.alive();
const giveBack = takeAllFiles();
const alive = await server.alive();
giveBack();
await server.stop();
process.stdout.write(`alive: ${atFirst}, with no file to open: ${alive}\n`);
