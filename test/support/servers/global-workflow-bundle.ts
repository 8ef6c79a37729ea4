import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { bundleWorkflows, writeBundle } from '../../../src/app/worker/workflow-bundle.ts';
import { shareSetUp } from './shared-set-up.ts';

const WORKFLOWS = fileURLToPath(new URL('../../../workflows/index.ts', import.meta.url));

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of the workflows, bundled once for the test run: otherwise each worker would bundle them for seconds. */
    workflowBundle: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { value, release } = await shareSetUp('workflow-bundle', bundle);
  project.provide('workflowBundle', value);
  return release;
}

async function bundle(): Promise<{ readonly value: string; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-test-bundle-'));
  const path = join(directory, 'workflow-bundle.js');
  await writeBundle(path, await bundleWorkflows(WORKFLOWS));
  return { value: path, stop: () => rm(directory, { recursive: true, force: true }) };
}
