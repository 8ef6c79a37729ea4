import { expect, it } from 'vitest';
import { terminalText } from '../../../../src/cli/output/terminal-text.ts';

it('keeps its lines, and nothing in them that a terminal takes for a command', () => {
  expect(terminalText('Reading a\u001B[2Jb.csv:\n  found \u202Enothing')).toBe('Reading a [2Jb.csv:\n  found  nothing');
});
