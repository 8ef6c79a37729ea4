import { describe, expect, it } from 'vitest';
import { mistakeText, pathText } from '../../../../src/service/profile/check/read-profile-file.ts';
import { checkProfile } from '../../../../src/service/profile/check-profile.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/default-profile.ts';

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

  it('are 64 levels, counted before anything calls itself', () => {
    const nested = (levels: number): string => `{"requests":${'['.repeat(levels)}${']'.repeat(levels)}}`;

    expect(onlyMistake(nested(63)).path).toEqual(['requests']);
    expect(onlyMistake(nested(64))).toMatchObject({
      line: 1,
      column: 76,
      message: expect.stringContaining('at most 64') as string,
    });
    expect(onlyMistake('['.repeat(200_000)).message).toContain('at most 64');
  });
});

describe('a syntax error', () => {
  it.each([
    ['{\n  "limits" 3\n}', 2, 12, 'expected JSON with a colon after the key, found "3"'],
    ['{\n  "limits": ', 2, 13, 'expected JSON with a value, found the end of the file'],
    ['{"a":1 "b":2}', 1, 8, 'expected JSON with a comma, found "\\""'],
    ["{'a':1}", 1, 2, 'expected JSON with'],
    ['{} {}', 1, 4, 'expected JSON with nothing more after the object, found "{"'],
  ])('in %j has line, column and what was expected', (text, line, column, message) => {
    const mistake = onlyMistake(text);

    expect(mistake).toMatchObject({ path: [], line, column });
    expect(mistake.message).toContain(`syntax error: ${message}`);
  });
});

describe('a mistake', () => {
  it.each([
    ['{\n  "event": {\n    "isued": ["x"]\n  }\n}', 'event.isued', 3, 5, 'issued'],
    ['{"event":{"Issued_":["x"]}}', 'event.Issued_', 1, 11, 'issued'],
    ['{"signatur":{}}', 'signatur', 1, 2, 'signature'],
    ['{"toleranceSeconds":5}', 'toleranceSeconds', 1, 2, 'signature.toleranceSeconds'],
    ['{"answers":{"rules":[{"mean":"lost","means":"lost","status":[409]}]}}', 'answers.rules.0.mean', 1, 23, 'means'],
    ['{"signature":{"algorithm":"sha-256"}}', 'signature.algorithm', 1, 27, 'sha256'],
    ['{"environment":"tests"}', 'environment', 1, 16, 'test'],
    ['{"merchants":{"paging":"zzzzzzz"}}', 'merchants.paging', 1, 24, null],
    ['{"merchants":{"next_cursor":"/a"}}', 'merchants.next_cursor', 1, 15, 'nextCursor'],
    [`{"${'x'.repeat(1_000)}":1}`, 'x'.repeat(1_000), 1, 2, null],
    ['{"qqqqqq":1}', 'qqqqqq', 1, 2, null],
    ['{"event":{"type":["/a","b"]}}', 'event.type.1', 1, 24, null],
    ['{"answers":{"success":{"at":"/ok"}}}', 'answers.success.is', 1, 23, null],
  ])('in %j has its place and the nearest word', (text, path, line, column, suggestion) => {
    const mistake = onlyMistake(text);

    expect(pathText(mistake.path)).toBe(path);
    expect(mistake).toMatchObject({ line, column, suggestion });
  });

  it.each([
    ['{"webhok":1}', 'no such key; allowed here: environment, allowPlainHttp, requests,'],
    ['{"webhook":{"url":1}}', 'no such key; allowed here: register, secret'],
    ['{"answers":{"success":{"at":"/ok","is":["x"],"not":1}}}', 'no such key; allowed here: at, is'],
    ['{"answers":{"rules":[{"status":[400],"means":"lost","x":1}]}}', 'allowed here: status, code, has, means, id'],
    ['{"limits":{"maxConcurrency":"8"}}', 'must be a number, found "8"'],
    ['{"limits":{"maxConcurrency":0}}', 'must be at least 1, found 0'],
    ['{"limits":{"requestsPerSecond":0}}', 'must be more than 0, found 0'],
    ['{"retry":{"maxGenerations":1.5}}', 'must be a whole number, found 1.5'],
    ['{"invoice":{"issued":[]}}', 'must have at least 1 entry, found an empty list'],
    ['{"invoice":{"issued":[""]}}', 'must not be empty, found ""'],
    ['{"invoice":null}', 'must be an object, found null'],
    ['{"event":{"items":5}}', 'must be a place (a JSON Pointer'],
    ['{"event":{"type":"jsonata:$x("}}', 'must hold a JSONata expression'],
    ['{"environment":"prod"}', 'must be one of "test", "live", found "prod"'],
    ['{"limits":{"maxConcurrency":1,"maxConcurrency":2}}', 'stands twice in this object'],
    ['{"requests":{"createInvoice":{"body":{"a":"{nif}"}}}}', 'must hold only {merchant_id}'],
  ])('in %j says what must hold and what was found', (text, message) => {
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

  it('shows only the beginning of a long text', () => {
    expect(onlyMistake(JSON.stringify({ environment: 'x'.repeat(500) })).message.length).toBeLessThan(120);
  });
});

describe('all mistakes of a file', () => {
  it('are found at once, in the order of the file, and contradictions of sound sections with them', () => {
    const text = `{
      "invoice": { "issued": ["done"], "failed": ["DONE"] },
      "limits": { "maxConcurrency": 0, "requestPerSecond": 1 },
      "event": { "issued": ["a"], "failed": ["a"], "type": "x" }
    }`;

    expect(checkProfile(text).mistakes.map(({ path, line }) => [pathText(path), line])).toEqual([
      ['invoice.failed.0', 2],
      ['limits.maxConcurrency', 3],
      ['limits.requestPerSecond', 3],
      ['event.type', 4],
    ]);
  });

  it('are at most a thousand', () => {
    const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, at]));

    expect(checkProfile(JSON.stringify(keys)).mistakes).toHaveLength(1_000);
  });
});
