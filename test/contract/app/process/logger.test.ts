import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

describe('createLogger', () => {
  it('writes to standard error: standard output belongs to --json', () => {
    const { stdout, stderr } = run(`createLogger({ level: 'info', secrets: [] }).info('hello');`, 'pipe');

    expect(stdout).toBe('');
    expect(stderr).toContain('"msg":"hello"');
  });

  it('lets the process go on when the disk of its log is full', () => {
    const full = openSync('/dev/full', 'w');
    const code = `
      const log = createLogger({ level: 'info', secrets: [] });
      for (let line = 0; line < 3; line += 1) log.info('x'.repeat(600_000));
      console.log('went on');`;

    const { stdout, status } = run(code, full);
    closeSync(full);

    expect(stdout).toBe('went on\n');
    expect(status).toBe(0);
  });
});

function run(code: string, stderr: 'pipe' | number) {
  const module = fileURLToPath(new URL('../../../../src/app/process/logger.ts', import.meta.url));
  const whole = `const { createLogger } = await import(${JSON.stringify(module)}); ${code}`;
  return spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', whole], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', stderr],
  });
}
