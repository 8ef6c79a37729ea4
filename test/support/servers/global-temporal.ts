import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { acquireTemporalBinary } from '../../../src/runtime/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../src/runtime/temporal/temporal-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** host:port of the run's one Temporal server; each test file takes a namespace or a task queue of its own. */
    temporalAddress: string;
  }
}

/** One Temporal server for the whole test run, on ports of its own: nothing that runs on this machine is touched. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lote-test-temporal-'));
  const binary = await acquireTemporalBinary((line) => console.error(line), process.env);
  const server = await startTemporalServer({ binary, dataDir, namespace: 'default', port: 0, uiPort: 0 });
  project.provide('temporalAddress', server.address);
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
