import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refusalLines } from '../../../../src/cli/output/refusal-lines.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lote-refusal-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function report(text: string): string {
  const path = join(directory, 'report.json');
  writeFileSync(path, text);
  return path;
}

describe('the reasons of a refused file', () => {
  it('hold nothing that a terminal takes for a command', () => {
    const fileFindings = [{ severity: 'error', message: 'found "a\u001B[2Jb\nc"' }];

    expect(refusalLines(report(JSON.stringify({ fileFindings })))).toEqual(['  found "a [2Jb c"']);
  });

  it('are the errors of its report, and not what was only remarked', () => {
    const fileFindings = [
      { severity: 'error', message: 'Row 3: a quote' },
      { severity: 'warning', message: 'read as windows-1252' },
      { severity: 'info', message: 'preamble' },
    ];

    expect(refusalLines(report(JSON.stringify({ fileFindings })))).toEqual(['  Row 3: a quote']);
  });

  it('are five at most: the report has them all', () => {
    const fileFindings = Array.from({ length: 9 }, (_, at) => ({ severity: 'error', message: `reason ${at}` }));

    expect(refusalLines(report(JSON.stringify({ fileFindings })))).toHaveLength(5);
  });

  it.each(['', '{', '{}', '{"fileFindings":[{"severity":"error"}]}'])(
    'are left to the report where it cannot be read here: %j',
    (text) => {
      expect(refusalLines(report(text))).toEqual([]);
      expect(refusalLines(join(directory, 'nowhere.json'))).toEqual([]);
    },
  );
});
