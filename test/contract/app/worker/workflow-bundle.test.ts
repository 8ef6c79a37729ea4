import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workflowBundle } from '../../../../src/app/worker/workflow-bundle.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

it('takes the bundle that the build left, and bundles the workflows again where that is missing or cut off', async () => {
  const path = join(await temporaryDirectory(), 'workflow-bundle.js');
  const missing = await workflowBundle(path);
  const code = 'code' in missing.bundle ? missing.bundle.code : '';
  await writeFile(path, code);

  expect(await workflowBundle(path)).toEqual({ bundle: { codePath: path }, build: missing.build });
  await truncate(path, 50_000);
  expect(await workflowBundle(path)).toEqual(missing);
  expect(code).toContain('invoiceBatch');
});
