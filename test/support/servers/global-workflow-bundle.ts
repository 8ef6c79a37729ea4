import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { writeBundle, workflowBundle } from '../../../src/app/worker/workflow-bundle.ts';
import { shareSetUp } from './shared-set-up.ts';

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

/** Returns the bundle of the user's cache, because a product in the test's process uses it and may share its thread. */
async function bundle(): Promise<{ readonly value: string; stop(): Promise<void> }> {
  const found = await workflowBundle(process.env);
  if ('codePath' in found) return { value: found.codePath, stop: async () => {} };
  // The home directory is not writable.
  const directory = await mkdtemp(join(tmpdir(), 'lote-test-bundle-'));
  const path = join(directory, 'workflow-bundle.js');
  await writeBundle(path, found.code);
  return { value: path, stop: () => rm(directory, { recursive: true, force: true }) };
}
