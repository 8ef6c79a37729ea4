import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMAND } from '../../support/lote/lote-command.ts';

const MISSING = 'no-such-file.csv';
const SAMPLE = 'input/sample.csv';

/** What a process prints may have no reader: one that has left, a closed terminal, a log file on a full disk. */
describe('a command', { concurrent: true }, () => {
  it.each([
    ['the reader of standard error has left', 'left'],
    ['standard error is a file on a full disk', 'full'],
  ] as const)('ends as it would otherwise when %s', async (_, stderr) => {
    await expect(endOf(['check', MISSING], { stderr })).resolves.toMatchObject({ code: 64 });
  });

  it('ends as it would otherwise when the reader of standard output has left', async () => {
    await expect(endOf(['check', SAMPLE], { stdout: 'left' })).resolves.toMatchObject({ code: 1, said: '' });
  });

  it('says that its result could not be written when standard output is a file on a full disk', async () => {
    const { code, said } = await endOf(['profile', 'schema'], { stdout: 'full' });

    expect(code).toBe(3);
    expect(said).toBe(
      'lote: Writing the result: standard output must take it, found ENOSPC. The work went on; lote status and lote report show its outcome.\n',
    );
  });
});

type Reader = 'left' | 'full' | 'reads';

async function endOf(
  parameters: readonly string[],
  { stdout = 'reads', stderr = 'reads' }: { readonly stdout?: Reader; readonly stderr?: Reader },
): Promise<{ readonly code: number | null; readonly said: string }> {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [COMMAND, ...parameters], {
    stdio: ['ignore', stdout === 'full' ? full : 'pipe', stderr === 'full' ? full : 'pipe'],
  });
  closeSync(full);
  if (stdout === 'left') child.stdout?.destroy();
  if (stderr === 'left') child.stderr?.destroy();
  let said = '';
  child.stdout?.resume();
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
  });
}
