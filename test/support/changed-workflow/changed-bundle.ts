import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import { sealed } from '../../../src/app/worker/workflow-bundle.ts';

/** The place in the code after a batch has created the merchants of a round and before its pages. */
const BEFORE_PAGES = /await \(0,\w+\.sendCanary\)\(batch, round\);/gu;
const TEMPORAL = /_temporalio_workflow__WEBPACK_IMPORTED_MODULE_\d+__/u;

/**
 * Copies the bundle of this test run with one more timer in each round of a batch, before its pages, like a later
 * version of Lote: a run that sends its pages has passed this place. Changes the bundle and not the sources, because
 * bundling takes 3 s. Call it at the top of a test file; the bundle is removed when the file ends.
 * @returns the path of the bundle
 */
export async function bundleWithOneStepMore(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-changed-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'workflow-bundle.js');
  await writeFile(path, withOneStepMore(await readFile(inject('workflowBundle'), 'utf8')));
  return path;
}

/** Makes the same change in the code of any bundle, and seals it. */
export function withOneStepMore(bundle: string): string {
  const [, code = ''] = /^const [^;]*;([^]*)$/u.exec(bundle) ?? [];
  return sealed(changed(code));
}

function changed(code: string): string {
  const [before = '', after, ...others] = code.split(BEFORE_PAGES);
  // Each module of a bundle has its own names: the name of this module is the last one before the place.
  const temporal = TEMPORAL.exec(before.slice(before.lastIndexOf('/***/ "')))?.[0];
  const [place] = code.match(BEFORE_PAGES) ?? [];
  if (temporal === undefined || place === undefined || after === undefined || others.length > 0)
    throw new Error('The bundle must send first invoices in one place, in a module that imports Temporal');
  return `${before}await (0,${temporal}.sleep)(1);\n${place}${after}`;
}
