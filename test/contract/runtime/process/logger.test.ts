import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

describe('createLogger', () => {
  it('writes to standard error: standard output belongs to --json', () => {
    const module = fileURLToPath(new URL('../../../../src/runtime/process/logger.ts', import.meta.url));
    const code = `const { createLogger } = await import(${JSON.stringify(module)}); createLogger({ level: 'info', secrets: [] }).info('hello');`;

    const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      encoding: 'utf8',
    });

    expect(stdout).toBe('');
    expect(stderr).toContain('"msg":"hello"');
  });
});
