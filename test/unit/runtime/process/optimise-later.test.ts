import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const MODULE = new URL('../../../../src/runtime/process/optimise-later.ts', import.meta.url);

/** What a new process prints that calls it so. */
async function printedBy(call: string): Promise<string> {
  const script = `const { optimiseLater } = await import(${JSON.stringify(MODULE.href)}); ${call};`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  return stdout + stderr;
}

describe('what V8 is told about functions that are called often', () => {
  it('is known to the Node that runs: V8 prints an error for a flag that it does not know', async () => {
    expect(await printedBy('optimiseLater()')).toBe('');
  });

  it('is nothing on a Node whose V8 does not have two optimising compilers', async () => {
    expect(await printedBy("optimiseLater('22.12.0')")).toBe('');
  });
});
