import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { acquireTemporalBinary } from '../../src/runtime/temporal-binary.ts';
import { startTemporalServer } from '../../src/runtime/temporal-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** host:port of the one Temporal server of this test run; each file takes a task queue of its own. */
    temporalAddress: string;
  }
}

/** One Temporal server per test run: starting one per file would double the time of the suite. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lote-test-temporal-'));
  const binary = await acquireTemporalBinary((line) => process.stderr.write(`${line}\n`), process.env);
  const server = await startTemporalServer({ binary, dataDir, namespace: 'default' });
  project.provide('temporalAddress', server.address);
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
