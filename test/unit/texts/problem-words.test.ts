import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OUTCOMES, type Outcome } from '../../../src/domain/invoice-state.ts';
import { problemText, problemWords } from '../../../src/texts/problems/problem-words.ts';
import { reportFormat } from '../../../src/report/texts/report-format.ts';
import { statusReason } from '../../../src/service/seen-answer.ts';
import { chooseLanguage } from '../../../src/texts/languages.ts';
import { PROBLEM_TEXTS_PT } from '../../../src/texts/problems/pt.ts';

const PROBLEM_CODES = Object.keys(PROBLEM_TEXTS_PT);

const MESSAGE = 'What Lote says of it.';
const MAY_BE_ISSUED = ['sending', 'accepted', 'unknown', 'unsettled'] as const;
/** What nobody may read of an invoice that may be issued: that it was not sent, or that its file goes again. */
const NOT_SENT = {
  pt: /não (?:foi|é|voltou a ser) enviad|não enviad|antes de (?:esta fatura )?ser enviad|não chegou a sair|deposite/iu,
  es: /no se (?:envi|volvi)|no enviad|sin enviar|antes de enviar|deposite/iu,
} as const;

function wordsOf(language: string, reason: { readonly code: string; readonly message: string }, state?: Outcome) {
  return problemWords(reportFormat(chooseLanguage(language)), reason, state).safe;
}

describe('problemWords', () => {
  describe.each(['pt', 'es'] as const)('in %s', (language) => {
    it.each(MAY_BE_ISSUED)('never call an invoice not sent that is %s, whatever its code', (state) => {
      const said = PROBLEM_CODES.map((code) => wordsOf(language, { code, message: MESSAGE }, state));

      expect(said.filter((words) => NOT_SENT[language].test(words))).toEqual([]);
      expect(said.filter((words) => words !== MESSAGE).length).toBeGreaterThan(5);
    });

    it('call an invoice not sent that is held because the batch ended before its turn', () => {
      const words = wordsOf(language, { code: 'not-sent', message: MESSAGE }, 'held');

      expect(words).toMatch(NOT_SENT[language]);
      expect(words).toContain(`<span class="soft" lang="en">${MESSAGE}</span>`);
    });

    it.each<[string, string, Outcome | undefined]>([
      ...['answer-lost', 'no-final-answer', 'refused-after-lost-answer', 'retention-window-over', 'run-lost'].map(
        (code): [string, string, Outcome] => [code, MESSAGE, 'unknown'],
      ),
      ...['answer-unreadable', 'key-known-with-other-bytes', 'redirect'].map((code): [string, string, Outcome] => [
        code,
        'HTTP 302: Moved',
        'unknown',
      ]),
      // A finding is always of Lote.
      ['nif-missing', 'HTTP 1', undefined],
    ])('say what %s means, with %s behind it', (code, message, state) => {
      const words = wordsOf(language, { code, message }, state);

      expect(words).toBe(`${problemText(code, language)} <span class="soft" lang="en">${message}</span>`);
    });

    it.each(OUTCOMES)('leave what the service says of an invoice that is %s under a code like one of Lote', (state) => {
      const codes = PROBLEM_CODES.map((code) => statusReason(429, { code, message: 'Later, please' }));

      const said = codes.map((reason) => wordsOf(language, reason, state));

      expect(new Set(said)).toEqual(new Set(['HTTP 429: Later, please']));
    });
  });

  it('say nothing twice in English', () => {
    expect(wordsOf('en', { code: 'answer-lost', message: MESSAGE }, 'unknown')).toBe(MESSAGE);
  });
});

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
