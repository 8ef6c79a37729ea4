import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROBLEM_TEXTS_PT } from '../../../src/texts/problems/pt.ts';
import { problemText } from '../../../src/texts/problems/problem-words.ts';

const PROBLEM_CODES = Object.keys(PROBLEM_TEXTS_PT);

const ROOT = new URL('../../../', import.meta.url).pathname;
/** Where findings of files and reasons of invoices are made. */
const PLACES = [
  'src/ingest',
  'src/report',
  'src/ledger',
  'activities/batch',
  'activities/nightly',
  'activities/sending',
  'activities/settling',
];
/** What the patterns find and is no such code: of zod, of a column, of the answers of the service. Programs write JSON, so its faults are told in English. */
const NOT_SHOWN = /^(?:code|custom|http-403|invalid|json-.*)$/u;

function sources(): readonly string[] {
  return PLACES.flatMap((place) =>
    readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(ROOT, place, name), 'utf8')),
  );
}

/** `code: 'x'` (or a choice of two), the first parameter of whatever makes a refusal or a fault, and the parameter before a message. */
const WRITTEN = [
  /\bcode: (?:[^,'`{}]*\? )?'(?<code>[a-z0-9-]+)'(?: : '(?<other>[a-z0-9-]+)')?/gu,
  /, (?:[^,'`{}]*\? '(?<other>[a-z0-9-]+)' : )?'(?<code>[a-z0-9-]+)',\s*message\b/gu,
  /\b(?:Refusal|FaultAt)\(\s*'(?<code>[a-z0-9-]+)'/gu,
];

describe('the words for problems', () => {
  it('name every code that Lote writes about a file, a row or an invoice', () => {
    const written = new Set(
      sources().flatMap((text) =>
        WRITTEN.flatMap((pattern) =>
          [...text.matchAll(pattern)].flatMap(({ groups }) => [groups?.['code'], groups?.['other']]),
        ),
      ),
    );
    const codes = [...written].filter((code) => code !== undefined && !NOT_SHOWN.test(code));

    expect(codes.length).toBeGreaterThan(80);
    expect(codes.filter((code) => code === undefined || !PROBLEM_CODES.includes(code))).toEqual([]);
  });

  it.each(['pt', 'es'] as const)('are whole sentences in %s, one for each code', (language) => {
    const texts = PROBLEM_CODES.map((code) => problemText(code, language) ?? '');

    expect(texts.filter((text) => !/^\p{Lu}.{8,}\.$/u.test(text))).toEqual([]);
  });

  it('say nothing in English, and nothing of a code that is not of Lote', () => {
    expect(problemText('nif-missing', 'en')).toBeNull();
    expect(problemText('E-4711', 'pt')).toBeNull();
    expect(problemText('constructor', 'pt')).toBeNull();
  });
});
