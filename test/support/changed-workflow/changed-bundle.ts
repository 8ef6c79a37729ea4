import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import { sealed } from '../../../src/app/worker/workflow-bundle.ts';

/** Where a round of a batch has created its merchants; its pages follow. */
const BEFORE_PAGES = /await \(0,\w+\.sendCanary\)\(batch, round\);/gu;
const TEMPORAL = /_temporalio_workflow__WEBPACK_IMPORTED_MODULE_\d+__(?=\.proxyActivities\)\()/u;

/**
 * The workflows of the run with one timer more in each round of a batch, before its pages, as a later version may have it: a run that is among its
 * pages has passed it. The bundle is changed and not its sources, because to bundle takes 3 s. To be called at the top of a test file, whose end
 * removes it.
 * @returns its path
 */
export async function bundleWithOneStepMore(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-changed-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'workflow-bundle.js');
  await writeFile(path, withOneStepMore(await readFile(inject('workflowBundle'), 'utf8')));
  return path;
}

/** The same change in the code of any bundle, sealed. */
export function withOneStepMore(bundle: string): string {
  const [, code = ''] = /^const [^;]*;([^]*)$/u.exec(bundle) ?? [];
  return sealed(changed(code));
}

function changed(code: string): string {
  const [before = '', after, ...others] = code.split(BEFORE_PAGES);
  // Each module of a bundle has its own names: that of this one is the last before the place.
  const temporal = TEMPORAL.exec(before.slice(before.lastIndexOf('/***/ "')))?.[0];
  const [place] = code.match(BEFORE_PAGES) ?? [];
  if (temporal === undefined || place === undefined || after === undefined || others.length > 0)
    throw new Error('The bundle must send first invoices in one place, in a module that makes proxies of activities');
  return `${before}await (0,${temporal}.sleep)(1);\n${place}${after}`;
}
