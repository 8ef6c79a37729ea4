import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** The code of a workflow bundle; 3.4 s of CPU. */
export async function bundleWorkflows(workflowsPath: string): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    // They stand beside the workflows (`interceptors`).
    workflowInterceptorModules: [workflowsPath],
    logger: new DefaultLogger('ERROR'),
  });
  return code;
}

/** Whole or not at all, also after a power failure: half a bundle would keep every later start from working. */
export async function writeBundle(target: string, code: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const part = `${target}.${randomUUID()}.part`;
  try {
    const file = await open(part, 'w');
    try {
      await file.writeFile(code);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, target);
  } finally {
    await rm(part, { force: true });
  }
}
