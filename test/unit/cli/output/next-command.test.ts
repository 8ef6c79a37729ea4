import { describe, expect, it } from 'vitest';
import { nextCommand } from '../../../../src/cli/output/next-command.ts';

const ARGV = ['node', 'lote', 'run', 'x.csv'];

describe('the line below an error', () => {
  it('names what to type next', () => {
    expect(nextCommand({ code: 'service-unreachable', message: 'It does not answer.' }, ARGV)).toContain(
      '`lote check FILE`',
    );
    expect(nextCommand({ code: 'transition-refused', message: 'Refused.' }, ARGV)).toContain('`lote status BATCH`');
  });

  it('sends a mistake in the usage to the help of that command', () => {
    expect(nextCommand({ code: 'usage', message: 'Wrong.' }, ARGV)).toBe('Next: `lote run --help`\n');
    expect(nextCommand({ code: 'usage', message: 'Wrong.' }, ['node', 'lote', '--json'])).toBe('Next: `lote --help`\n');
  });

  it('is left out where the error names a command itself, and where nothing helps', () => {
    expect(nextCommand({ code: 'usage', message: 'Use `lote up`.' }, ARGV)).toBe('');
    expect(nextCommand({ code: 'interrupted', message: 'Interrupted.' }, ARGV)).toBe('');
  });
});
