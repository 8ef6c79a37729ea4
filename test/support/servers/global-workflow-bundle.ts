import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { bundleWorkflows } from '../../../src/wiring/worker/bundle-workflows.ts';
import { shareSetUp } from './shared-set-up.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The workflows, bundled once for the whole test run: each worker would take seconds to do it again. */
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
  const code = await bundleWorkflows(fileURLToPath(new URL('../../../workflows/index.ts', import.meta.url)));
  const path = join(directory, 'workflow-bundle.js');
  await writeFile(path, code);
  return { value: path, stop: () => rm(directory, { recursive: true, force: true }) };
}
