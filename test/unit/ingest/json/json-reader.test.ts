import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonReader, jsonText } from '../../../../src/ingest/json/json-reader.ts';
import { FaultAt } from '../../../../src/ingest/findings.ts';

interface ReadJson {
  readonly format: string;
  readonly records: readonly string[];
}

function read(text: string, size = 1 << 16): ReadJson {
  const reader = new JsonReader();
  const bytes = Buffer.from(text);
  const records: string[] = [];
  for (let at = 0; at < bytes.length; at += size)
    records.push(...reader.write(bytes.subarray(at, at + size)).map(jsonText));
  records.push(...reader.end().map(jsonText));
  return { format: reader.format, records };
}

function refused(text: string, size?: number): unknown {
  try {
    return read(text, size);
  } catch (error) {
    if (!(error instanceof FaultAt)) throw error;
    return { code: error.code, offset: error.offset };
  }
}

describe('JsonReader', () => {
  it.each([
    ['[{"a":1},{"b":2}]', 'json'],
    ['{"x":[1,{"invoices":[7]}],"invoices":[{"a":1},{"b":2}],"y":null}', 'json'],
    ['{"a":1}\n{"b":2}\n', 'ndjson'],
    ['\n{"a":1} \r\n\r\n {"b":2}', 'ndjson'],
  ])('finds the records of %s', (text, format) => {
    for (const size of [1, 2, 3, 1000]) expect(read(text, size)).toEqual({ format, records: ['{"a":1}', '{"b":2}'] });
  });

  it('takes one object without a list of invoices for one record', () => {
    expect(read('{"a":{"invoices":[]},\n"b":[]}')).toEqual({
      format: 'ndjson',
      records: ['{"a":{"invoices":[]},"b":[]}'],
    });
  });

  it('keeps number tokens exactly', () => {
    const numbers = '[1.10,-0,1E400,0.1000000000000000055511151231257827,123456789012345678901234567890]';

    expect(read(`[${numbers}]`).records).toEqual([numbers]);
  });

  it('keeps __proto__ as a name like any other', () => {
    expect(read('[{"__proto__":{"a":1},"constructor":2}]').records).toEqual(['{"__proto__":{"a":1},"constructor":2}']);
  });

  it.each([
    ['[1,]', 'json-broken', 3],
    ['[{"a":1,}]', 'json-broken', 8],
    ['[\n {"ã":1\n  "b":2}]', 'json-broken', 13],
    ['[\n{"a" 1}]', 'json-broken', 7],
    ['[{a:1}]', 'json-broken', 2],
    ['[1}', 'json-broken', 2],
    ['[1] x', 'json-broken', 4],
    ['[1][2]', 'json-broken', 3],
    ['[01]', 'json-broken', 2],
    ['["\\x"]', 'json-broken', 3],
    ['{"a":1} 5', 'json-broken', 8],
    ['{"a":1}\n[2]', 'json-broken', 10],
    ['[{"ã":1,"a":1,\n"ã":2}]', 'json-duplicate-key', 16],
    ['[{"a":{"b":1,"b":1}}]', 'json-duplicate-key', 13],
    ['[{"a":1}', 'json-truncated', 8],
    ['[{"a":"x', 'json-truncated', 8],
    ['{"a":1}\n{"a"', 'json-truncated', 12],
    ['["\\ud800"]', 'json-lone-surrogate', 1],
    ['["\\udc00\\ud800"]', 'json-lone-surrogate', 1],
  ])('refuses %j as %s at byte %i', (text, code, offset) => {
    expect(refused(text)).toEqual({ code, offset });
    expect(refused(text, 1), 'in chunks of one byte').toEqual({ code, offset });
  });

  it('refuses deep nesting long before it costs anything', () => {
    expect(refused('['.repeat(1_000_000))).toMatchObject({ code: 'json-too-deep' });
    expect(refused('{"a":'.repeat(1_000_000))).toMatchObject({ code: 'json-too-deep' });
    expect(refused(`${'['.repeat(64)}${']'.repeat(64)}`)).toMatchObject({ records: expect.any(Array) as unknown });
  });

  it('refuses a text or a record that would fill the memory', () => {
    expect(refused(`["${'x'.repeat(6 * 1024 * 1024)}"]`, 1 << 18)).toMatchObject({ code: 'json-token-too-long' });
    expect(refused(`[[${'1,'.repeat(600_000)}1]]`, 1 << 18)).toMatchObject({ code: 'json-record-too-large' });
  });

  it('reads whatever JSON.stringify writes, and nothing that JSON.parse refuses', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 9 }), (value, size) => {
        const text = JSON.stringify([value]);
        const result = refused(text, size);
        const hostile = result as { code?: string };
        if (hostile.code === 'json-lone-surrogate') return;
        expect(result).toEqual({ format: 'json', records: [JSON.stringify(value)] });
      }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '"b"', '1', 'null', ' ', '\n'), {
          maxLength: 12,
        }),
        (parts) => {
          const text = `[${parts.join('')}]`;
          let parsed = true;
          try {
            JSON.parse(text);
          } catch {
            parsed = false;
          }
          if (!parsed) expect(refused(text)).toMatchObject({ code: expect.any(String) as unknown });
        },
      ),
      { numRuns: 2000 },
    );
  });
});
