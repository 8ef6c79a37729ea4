import { describe, expect, it } from 'vitest';
import { LoteError } from '../../../../src/domain/errors.ts';
import { checkProfile, loadProfile, mistakeText, pathText } from '../../../../src/service/profile/check-profile.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';

function mistakesOf(text: string): readonly string[] {
  return checkProfile(text).mistakes.map(mistakeText);
}

function onlyMistake(text: string) {
  const { profile, mistakes } = checkProfile(text);
  expect(profile).toBeNull();
  expect(mistakes.map(mistakeText)).toHaveLength(1);
  return mistakes[0] ?? expect.fail('no mistake');
}

describe('what a profile file may hold', () => {
  it.each([
    ['comments', '{ /* a */ "limits": { "maxConcurrency": 3 } // b\n}'],
    ['trailing commas', '{"limits":{"maxConcurrency":3,},}'],
    ['a schema for editors', '{"$schema":"./x.json","limits":{"maxConcurrency":3}}'],
    ['a schema of any kind, which is ignored', '{"$schema":7,"limits":{"maxConcurrency":3}}'],
    ['a byte order mark', '\u{feff}{"limits":{"maxConcurrency":3}}'],
  ])('is read with %s', (_, text) => {
    expect(checkProfile(text)).toEqual({
      profile: { ...DEFAULT_PROFILE, limits: { ...DEFAULT_PROFILE.limits, maxConcurrency: 3 } },
      mistakes: [],
    });
  });

  it('allows `$schema` at the top alone', () => {
    expect(onlyMistake('{"limits":{"$schema":"x"}}').path).toEqual(['limits', '$schema']);
  });

  it('takes __proto__ as an unknown key and changes no prototype', () => {
    expect(onlyMistake('{"__proto__":{"limits":1}}').path).toEqual(['__proto__']);
    expect(onlyMistake('{"limits":{"__proto__":{"maxConcurrency":1}}}').path).toEqual(['limits', '__proto__']);
    expect(({} as Record<string, unknown>)['limits']).toBeUndefined();
  });
});

describe('the bounds of a profile file', () => {
  it('are 256 kB', () => {
    expect(mistakesOf(`{}${' '.repeat(256 * 1024 - 2)}`)).toEqual([]);
    expect(onlyMistake(`{}${' '.repeat(256 * 1024)}`).message).toBe('must be at most 256 kB long');
  });

  it('are 64 levels', () => {
    const nested = (levels: number): string => `{"requests":${'['.repeat(levels)}${']'.repeat(levels)}}`;

    expect(onlyMistake(nested(63)).path).toEqual(['requests']);
    expect(onlyMistake(nested(64)).message).toContain('at most 64');
    expect(onlyMistake('['.repeat(200_000)).message).toContain('at most 64');
  });
});

describe('a syntax error', () => {
  it.each([
    ['{\n  "limits" 3\n}', 2, 12, 'colon expected, found "3"'],
    ['{\n  "limits": ', 2, 13, 'value expected, found the end of the file'],
    ['{"a":1 "b":2}', 1, 8, 'comma expected, found "\\""'],
    ["{'a':1}", 1, 2, 'invalid symbol'],
    ['{} {}', 1, 4, 'end of file expected, found "{"'],
  ])('in %j has line, column and what was expected', (text, line, column, message) => {
    const mistake = onlyMistake(text);

    expect(mistake.path).toEqual([]);
    expect(mistake.message).toContain(`syntax error in line ${line}, column ${column}: ${message}`);
  });
});

describe('a mistake', () => {
  it.each([
    ['{\n  "event": {\n    "isued": ["x"]\n  }\n}', 'event.isued', 'issued'],
    ['{"event":{"Issued_":["x"]}}', 'event.Issued_', 'issued'],
    ['{"signatur":{}}', 'signatur', 'signature'],
    ['{"answers":{"rules":[{"mean":"lost","means":"lost","status":[409]}]}}', 'answers.rules.0.mean', 'means'],
    ['{"signature":{"algorithm":"sha-256"}}', 'signature.algorithm', 'sha256'],
    ['{"environment":"tests"}', 'environment', 'test'],
    ['{"merchants":{"paging":"zzzzzzz"}}', 'merchants.paging', null],
    ['{"merchants":{"next_cursor":"/a"}}', 'merchants.next_cursor', 'nextCursor'],
    [`{"${'x'.repeat(1_000)}":1}`, 'x'.repeat(1_000), null],
    ['{"qqqqqq":1}', 'qqqqqq', null],
    ['{"limits":{"requestsPerSecond":-1}}', 'limits.requestsPerSecond', null],
    ['{"signature":{"algorithm":"md5"}}', 'signature.algorithm', null],
    ['{"signature":{"header":"X Y"}}', 'signature.header', null],
    ['{"invoice":{"issued":["ok",7]}}', 'invoice.issued.1', null],
    ['{"idempotency":{"retentionHours":0}}', 'idempotency.retentionHours', null],
    ['[]', 'top level', null],
    ['7', 'top level', null],
    ['{"event":{"type":["/a","b"]}}', 'event.type.1', null],
    ['{"answers":{"success":{"at":"/ok"}}}', 'answers.success.is', null],
  ])('in %j has its place and the nearest word', (text, path, suggestion) => {
    const mistake = onlyMistake(text);

    expect(pathText(mistake.path)).toBe(path);
    expect(mistake.suggestion).toBe(suggestion);
  });

  it.each([
    ['{"webhok":1}', 'no such key; allowed here: environment, allowPlainHttp, requests,'],
    ['{"webhook":{"url":1}}', 'no such key; allowed here: register, secret'],
    ['{"answers":{"success":{"at":"/ok","is":["x"],"not":1}}}', 'no such key; allowed here: at, is'],
    ['{"answers":{"rules":[{"status":[400],"means":"lost","x":1}]}}', 'allowed here: status, code, has, means, id'],
    ['{"limits":{"maxConcurrency":"8"}}', 'expected number, received string'],
    ['{"limits":{"maxConcurrency":0}}', 'expected number to be >=1'],
    ['{"limits":{"requestsPerSecond":0}}', 'expected number to be >0'],
    ['{"retry":{"maxGenerations":1.5}}', 'expected int, received number'],
    ['{"invoice":{"issued":[]}}', 'expected array to have >=1 items'],
    ['{"invoice":{"issued":[""]}}', 'expected string to have >=1 characters'],
    ['{"invoice":null}', 'expected object, received null'],
    ['{"event":{"items":5}}', 'must be a place (a JSON Pointer'],
    ['{"event":{"type":"jsonata:$x("}}', 'must hold a JSONata expression'],
    ['{"environment":"prod"}', 'expected one of "test"|"live"'],
    ['{"limits":{"maxConcurrency":1,"maxConcurrency":2}}', 'stands twice in this object'],
    ['{"requests":{"createInvoice":{"body":{"a":"{nif}"}}}}', 'must hold only {merchant_id}'],
  ])('in %j says what must hold', (text, message) => {
    expect(onlyMistake(text).message).toContain(message);
  });

  it('shows no text where a secret may stand', () => {
    const secret = 'whsec_c2VjcmV0';
    const text = JSON.stringify({
      requests: { headers: { 'X-Key': `${secret}\n`, 'X Y': secret } },
      webhook: { secret },
      environment: `Bearer ${secret}`,
      signature: { secret: { encoding: secret } },
    });

    expect(mistakesOf(text)).toHaveLength(5);
    expect(mistakesOf(text).join('\n')).not.toContain('c2VjcmV0');
  });
});

describe('all mistakes of a file', () => {
  it('are found at once, and contradictions of sound sections with them', () => {
    const text = `{
      "invoice": { "issued": ["done"], "failed": ["DONE"] },
      "limits": { "maxConcurrency": 0, "requestPerSecond": 1 },
      "event": { "issued": ["a"], "failed": ["a"], "type": "x" }
    }`;

    expect(
      checkProfile(text)
        .mistakes.map(({ path }) => pathText(path))
        .toSorted(),
    ).toEqual(['event.type', 'invoice.failed.0', 'limits.maxConcurrency', 'limits.requestPerSecond']);
  });
});

function pathsIn(profile: object): readonly string[] {
  return checkProfile(JSON.stringify(profile)).mistakes.map(({ path }) => pathText(path));
}

const TIMED = { signed: '{timestamp}.{body}', separator: ',', prefix: 'v1=', timestamp: 'part:t=' };

describe('settings that cannot both hold', () => {
  it.each<[string, object, string]>([
    [
      'an invoice word that is issued and failed',
      { invoice: { issued: ['ok', 'x'], failed: ['OK '] } },
      'invoice.failed.0',
    ],
    ['an event that is issued and failed', { event: { failed: ['no', 'invoice.issued'] } }, 'event.failed.1'],
  ])('are refused: %s', (_, profile, path) => {
    expect(pathsIn(profile)).toEqual([path]);
  });
});

describe('settings that may be right', () => {
  it.each<[string, object]>([
    ['parts with a timestamp', { signature: TIMED }],
    ['a word of GET that is another of events', { invoice: { issued: ['done'] }, event: { failed: ['done'] } }],
    ['an event whose id is that of its invoice', { event: { eventId: '/data/id' } }],
    ['a merchant whose id is its tax number', { merchants: { id: '/nif' } }],
    ['a page size that is not sent', { merchants: { pageSize: 50 } }],
    ['a header beside the JSON for a list', { merchants: { items: ['header:X', '/data'] } }],
  ])('are taken: %s', (_, profile) => {
    expect(pathsIn(profile)).toEqual([]);
  });
});

function failure(text: string): LoteError {
  try {
    loadProfile(text);
  } catch (error) {
    if (error instanceof LoteError) return error;
    throw error;
  }
  throw new Error('the profile was accepted');
}

describe('the profile in force', () => {
  it.each([undefined, '', ' \n', '{}'])('gives the default for %j', (text) => {
    expect(loadProfile(text)).toEqual(DEFAULT_PROFILE);
  });

  it('merges deeply and keeps what the file leaves out', () => {
    const profile = loadProfile('{"signature":{"prefix":"sha256="},"limits":{"requestsPerSecond":20}}');

    expect(profile.signature).toEqual({ ...DEFAULT_PROFILE.signature, prefix: 'sha256=' });
    expect(profile.limits).toEqual({ requestsPerSecond: 20, maxConcurrency: 64, pollEverySeconds: null });
  });

  it('replaces lists instead of joining them', () => {
    expect(loadProfile('{"invoice":{"issued":["DONE"]}}').invoice.issued).toEqual(['DONE']);
    expect(loadProfile('{"idempotency":{"mismatchCodes":[]}}').idempotency.mismatchCodes).toEqual([]);
  });

  it('leaves the default untouched', () => {
    const before = structuredClone(DEFAULT_PROFILE);

    loadProfile('{"invoice":{"id":"/data/id"}}');

    expect(DEFAULT_PROFILE).toEqual(before);
  });

  it('puts each of several mistakes on a line of its own', () => {
    const { code, message } = failure('{"limits":{"maxConcurrency":0},"event":{"type":"x"}}');

    expect(code).toBe('configuration-invalid');
    expect(message.split('\n').map((line) => line.split(':')[0])).toEqual([
      'Reading the service profile',
      '  event.type',
      '  limits.maxConcurrency',
      'Correct the file named by SERVICE_PROFILE; what it leaves out keeps its default.',
    ]);
  });

  it('stays readable with very many mistakes', () => {
    const keys = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, at]));
    const { message } = failure(JSON.stringify(keys));

    expect(message).toContain('500 mistakes');
    expect(message).toContain('… and 480 more: `lote profile check` shows them all.');
    expect(message.split('\n').length).toBeLessThan(30);
  });
});
