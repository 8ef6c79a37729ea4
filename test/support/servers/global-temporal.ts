import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { acquireTemporalBinary } from '../../../src/app/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../src/app/temporal/temporal-server.ts';
import { shareSetUp } from './shared-set-up.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** host:port of the run's only Temporal server; each test file uses its own namespace or task queue. */
    temporalAddress: string;
  }
}

/** Starts one Temporal server for the whole test run, on its own ports, so that it disturbs no other server. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { value, release } = await shareSetUp('temporal', startTemporal);
  project.provide('temporalAddress', value);
  return release;
}

async function startTemporal(): Promise<{ readonly value: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lote-test-temporal-'));
  const binary = await acquireTemporalBinary((line) => console.error(line), process.env);
  const onOneThread = await limitedToOneThread(binary, dataDir);
  const server = await startTemporalServer({
    ...{ binary: onOneThread, dataDir, namespace: 'default', port: 0, uiPort: 0 },
  });
  return {
    value: server.address,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** One thread: the server has little to do, and Go's search for work on more threads took a seventh of its CPU time. */
async function limitedToOneThread(binary: string, directory: string): Promise<string> {
  const script = join(directory, 'temporal');
  await writeFile(script, `#!/bin/sh\nGOMAXPROCS=1 exec '${binary}' "$@"\n`, { mode: 0o755 });
  return script;
}
