import { describe, expect, it } from 'vitest';
import { CLASSIFICATION, classify as classifyAs } from '../../../src/service/classify.ts';
import { DEFAULT_PROFILE, type ServiceProfile } from '../../../src/service/profile/profile.ts';
import { errorText, look } from '../../../src/service/seen-answer.ts';
import type { ExchangeResult, UnreadableBody } from '../../../src/service/exchange-result.ts';
import type { CreateAnswer } from '../../../src/domain/records/service-answers.ts';

const SHAPE = DEFAULT_PROFILE;
const { invoice: INVOICE } = DEFAULT_PROFILE;
const errorsAt = (code: string, message: string): ServiceProfile => ({ ...SHAPE, error: { code, message } });

/** What a profile may say beside: an envelope, and one rule for each meaning. */
const RULED: ServiceProfile = {
  ...SHAPE,
  answers: {
    success: { at: '/success', is: ['true', 'ok'] },
    status: '/code',
    wait: null,
    rules: [
      { status: [409], code: ['duplicate'], means: 'exists', id: '/existing' },
      { status: [403], has: 'header:Retry-After', means: 'later' },
      { code: ['key_reused'], means: 'mismatch' },
      { code: ['no_such_nif', 'idempotency_mismatch'], means: 'refused' },
      { code: ['blocked'], means: 'access' },
      { code: ['who_knows'], means: 'lost' },
    ],
  },
};

function classify(end: ExchangeResult, profile: ServiceProfile): CreateAnswer {
  return classifyAs(end, profile, 'invoice');
}

function json(status: number, value: unknown = {}, retryAfterMs: number | null = null): ExchangeResult {
  return { kind: 'answer', status, retryAfterMs, body: { kind: 'json', value } };
}

function spoilt(status: number, why: UnreadableBody): ExchangeResult {
  return { kind: 'answer', status, retryAfterMs: null, body: { kind: 'unreadable', why } };
}

function prose(status: number, text: string): ExchangeResult {
  return { kind: 'answer', status, retryAfterMs: null, body: { kind: 'unreadable', why: 'not-json', text } };
}

const REFUSAL = { error: { code: 'tax_code_unknown', message: 'IVA_99' } };
const MISMATCH = { error: { code: 'idempotency_mismatch', message: 'other bytes' } };

/** name, end, kind of the answer, code of its reason (null: it has none) */
const CASES: readonly (readonly [string, ExchangeResult, CreateAnswer['kind'], string | null])[] = [
  ['not sent', { kind: 'not-sent', code: 'tls-refused', retryAfterMs: null }, 'not-now', 'tls-refused'],
  ['not permitted', { kind: 'not-permitted' }, 'not-permitted', null],
  ['reset', { kind: 'broken', code: 'connection-reset' }, 'lost', 'connection-reset'],
  ['time-out', { kind: 'broken', code: 'answer-timeout' }, 'lost', 'answer-timeout'],
  ['201 with an id', json(201, { id: 'inv_1' }), 'created', null],
  ['200 with an id', json(200, { id: 'inv_1' }), 'created', null],
  ['202 with an id', json(202, { id: 'inv_1' }), 'created', null],
  ['201 with a merchant id', json(201, { id: 'mrc_1' }), 'lost', 'answer-id-unusable'],
  ['201 with a bare prefix', json(201, { id: 'inv_' }), 'lost', 'answer-id-unusable'],
  ['201 with an id that is a path', json(201, { id: 'inv_../../x' }), 'lost', 'answer-id-unusable'],
  ['201 with an endless id', json(201, { id: `inv_${'a'.repeat(300)}` }), 'lost', 'answer-id-unusable'],
  ['201 without an id', json(201, { status: 'issued' }), 'lost', 'answer-without-id'],
  ['201 with a number for an id', json(201, { id: 7 }), 'lost', 'answer-id-unusable'],
  ['201 with the id elsewhere', json(201, { data: { id: 'inv_1' } }), 'lost', 'answer-without-id'],
  ['201 with a list', json(201, []), 'lost', 'answer-without-id'],
  ['201 with null', json(201, null), 'lost', 'answer-without-id'],
  ['201 with HTML', spoilt(201, 'not-json'), 'lost', 'answer-unreadable'],
  ['204 without a body', spoilt(204, 'empty'), 'lost', 'answer-unreadable'],
  ['201 compressed', spoilt(201, 'encoded'), 'lost', 'answer-unreadable'],
  ['201 without end', spoilt(201, 'oversize'), 'lost', 'answer-too-long'],
  ['201 cut short', spoilt(201, 'cut-short'), 'lost', 'answer-unreadable'],
  ['301', spoilt(301, 'empty'), 'access-denied', 'redirect'],
  ['307 with an id', json(307, { id: 'inv_1' }), 'access-denied', 'redirect'],
  ['304', spoilt(304, 'empty'), 'access-denied', 'redirect'],
  ['401', json(401, REFUSAL), 'access-denied', 'http-401'],
  ['303 in HTML', spoilt(303, 'not-json'), 'access-denied', 'redirect'],
  ['401 with an id', json(401, { id: 'inv_1' }), 'lost', 'answer-contradictory'],
  ['403 with an id', json(403, { ...REFUSAL, id: 'inv_1' }), 'lost', 'answer-contradictory'],
  ['407 with an id', json(407, { id: 'inv_1' }), 'lost', 'answer-contradictory'],
  ['429 with an id', json(429, { id: 'inv_1' }), 'lost', 'answer-contradictory'],
  ['403 with an id of another kind', json(403, { id: 'mrc_1' }), 'access-denied', 'http-403'],
  ['401 in HTML', spoilt(401, 'not-json'), 'access-denied', 'http-401'],
  ['403', json(403, REFUSAL), 'access-denied', 'http-403'],
  ['407', spoilt(407, 'empty'), 'access-denied', 'http-407'],
  ['425', json(425), 'not-now', 'http-425'],
  ['429', spoilt(429, 'cut-short'), 'not-now', 'http-429'],
  ['422 with the mismatch code', json(422, MISMATCH), 'key-mismatch', 'key-known-with-other-bytes'],
  ['409 with the mismatch code', json(409, MISMATCH), 'key-mismatch', 'key-known-with-other-bytes'],
  ['400 with the mismatch code', json(400, MISMATCH), 'key-mismatch', 'key-known-with-other-bytes'],
  ['422 that carries an invoice', json(422, { id: 'inv_1' }), 'lost', 'answer-contradictory'],
  ['409 that carries an invoice', json(409, { id: 'inv_1' }), 'lost', 'answer-contradictory'],
  ['400 in JSON', json(400, REFUSAL), 'refused', 'tax-code-unknown'],
  ['402 in JSON', json(402, REFUSAL), 'refused', 'tax-code-unknown'],
  ['400 with a message alone', json(400, { error: { message: 'No.' } }), 'refused', 'http-400'],
  ['400 with a code alone', json(400, { error: { code: 'no' } }), 'refused', 'no'],
  ['404 in JSON', json(404, REFUSAL), 'refused', 'tax-code-unknown'],
  ['413 in JSON', json(413, REFUSAL), 'refused', 'tax-code-unknown'],
  ['413 with nothing in it', json(413), 'lost', 'http-413-unreadable'],
  ['404 of a gateway', json(404, { message: 'no Route matched' }), 'lost', 'http-404-unreadable'],
  ['400 with an empty error', json(400, { error: { code: ' ', message: '' } }), 'lost', 'http-400-unreadable'],
  ['400 with numbers for words', json(400, { error: { code: 7, message: 8 } }), 'refused', 'code-7'],
  ['400 with a bare error', json(400, { error: 'no' }), 'lost', 'http-400-unreadable'],
  ['422 in JSON', json(422, REFUSAL), 'refused', 'tax-code-unknown'],
  ['422 in JSON of another shape', json(422, { errors: ['no'] }), 'lost', 'http-422-unreadable'],
  ['422 in HTML', spoilt(422, 'not-json'), 'lost', 'http-422-unreadable'],
  ['404 without a body', spoilt(404, 'empty'), 'lost', 'http-404-unreadable'],
  ['400 cut short', spoilt(400, 'cut-short'), 'lost', 'http-400-unreadable'],
  ['422 with a bare string', json(422, 'no'), 'lost', 'http-422-unreadable'],
  ['422 with a list', json(422, []), 'lost', 'http-422-unreadable'],
  ['408', json(408), 'lost', 'http-408'],
  ['409 in flight', json(409, { error: { code: 'in_flight' } }), 'lost', 'in-flight'],
  ['423', json(423), 'lost', 'http-423'],
  ['499, which nobody published', json(499, REFUSAL), 'lost', 'tax-code-unknown'],
  ['500', json(500, REFUSAL), 'lost', 'tax-code-unknown'],
  ['500 with the mismatch code', json(500, MISMATCH), 'lost', 'idempotency-mismatch'],
  ['502 in HTML', spoilt(502, 'not-json'), 'lost', 'http-502'],
  ['503', spoilt(503, 'empty'), 'lost', 'http-503'],
  ['599', json(599), 'lost', 'http-599'],
  ['an impossible status', json(999, { id: 'x' }), 'lost', 'http-999'],
  ['an impossible status below all others', json(150), 'lost', 'http-150'],
  ['299 without an id', json(299), 'lost', 'answer-without-id'],
  ['399', json(399), 'access-denied', 'redirect'],
  ['499 with the mismatch code', json(499, MISMATCH), 'key-mismatch', 'key-known-with-other-bytes'],
];

const said = (code: string, more: object = {}): object => ({ error: { code, message: 'No' }, ...more });

/** The same, by a profile with an envelope and rules. */
const RULED_CASES: typeof CASES = [
  ['200 that says success', json(200, { success: true, id: 'inv_1' }), 'created', null],
  ['200 with another word for success', json(200, { success: 'OK', id: 'inv_1' }), 'created', null],
  ['200 that says no success', json(200, { success: false, id: 'inv_1' }), 'lost', 'answer-not-a-success'],
  ['200 that says nothing', json(200, { id: 'inv_1' }), 'lost', 'answer-not-a-success'],
  ['299 that says nothing', json(299), 'lost', 'answer-not-a-success'],
  [
    '422 with a code that another status makes a rule',
    json(422, said('duplicate', { existing: 'inv_9' })),
    'refused',
    'duplicate',
  ],
  ['200 with a status inside', json(200, { success: false, code: 422, ...said('bad_nif') }), 'refused', 'bad-nif'],
  ['200 with 503 inside', json(200, { success: false, code: '503', ...said('busy') }), 'lost', 'busy'],
  ['422 with 200 inside', json(422, { code: 200, ...said('bad_nif') }), 'refused', 'bad-nif'],
  ['409 that carries the invoice', json(409, said('duplicate', { existing: 'inv_9' })), 'created', null],
  ['409 that carries none', json(409, said('duplicate')), 'lost', 'answer-without-id'],
  ['409 with another code', json(409, said('busy', { existing: 'inv_9' })), 'lost', 'busy'],
  [
    '403 with a Retry-After',
    { ...json(403, said('slow_down')), headers: { 'retry-after': '2' } } as ExchangeResult,
    'not-now',
    'slow-down',
  ],
  ['403 without one', json(403, said('slow_down')), 'access-denied', 'http-403'],
  ['a code for a mismatch', json(500, said('KEY_REUSED')), 'key-mismatch', 'key-known-with-other-bytes'],
  ['a code for a refusal', json(409, said('no_such_nif')), 'refused', 'no-such-nif'],
  ['a code for a refusal in a success', json(200, said('no_such_nif', { success: false })), 'refused', 'no-such-nif'],
  ['a code for a refusal in a failure of the service', json(500, said('no_such_nif')), 'lost', 'no-such-nif'],
  ['a refusal with an id', json(409, said('no_such_nif', { id: 'inv_1' })), 'lost', 'answer-contradictory'],
  ['a code for a refusal that says mismatch', json(422, MISMATCH), 'key-mismatch', 'key-known-with-other-bytes'],
  ['a code for no access', json(400, said('blocked')), 'access-denied', 'http-400'],
  ['a code for nobody knows', json(422, said('who_knows')), 'lost', 'who-knows'],
];

describe('classify', () => {
  it.each([
    ...CASES.map((one) => [...one, SHAPE] as const),
    ...RULED_CASES.map(([name, ...one]) => [`by a profile with rules: ${name}`, ...one, RULED] as const),
  ])('%s', (_name, end, kind, code, profile) => {
    const answer = classify(end, profile);

    expect(answer.kind).toBe(kind);
    expect('reason' in answer ? answer.reason.code : null).toBe(code);
  });

  it('has a case above for each row of the table', () => {
    const row = (end: ExchangeResult, shape: ServiceProfile): number =>
      CLASSIFICATION.findIndex(({ applies }) => applies(look(end, shape, 'invoice')));
    const used = new Set([
      ...CASES.map(([, end]) => row(end, SHAPE)),
      ...RULED_CASES.map(([, end]) => row(end, RULED)),
    ]);

    expect([...used].toSorted((a, b) => a - b)).toEqual(CLASSIFICATION.map((_row, index) => index));
  });

  it('says in words when each row of the table applies', () => {
    expect(CLASSIFICATION.filter(({ when }) => when === '')).toEqual([]);
  });

  it('gives the id of what was created, and no word of a status that nobody asked for', () => {
    expect(classifyAs(json(201, { id: 'mrc_Ab-9_z', status: 'issued' }), SHAPE, 'merchant')).toStrictEqual({
      kind: 'created',
      serviceId: 'mrc_Ab-9_z',
    });
  });

  it.each([
    [{ status: ' Issued' }, 'issued'],
    [{ status: 'X'.repeat(101) }, 'x'.repeat(100)],
    [{}, null],
  ])('gives the word of the status beside the id: %#', (value, word) => {
    expect(classify(json(201, { id: 'inv_1', ...value }), SHAPE)).toEqual({
      ...{ kind: 'created', serviceId: 'inv_1' },
      word,
    });
  });

  it('never calls any status a success or a refusal when the body cannot be read', () => {
    const statuses = Array.from({ length: 500 }, (_unused, index) => index + 100);

    const kinds = new Set(statuses.map((status) => classify(spoilt(status, 'not-json'), SHAPE).kind));

    expect([...kinds].toSorted()).toEqual(['access-denied', 'lost', 'not-now']);
  });

  it('never refuses while an empty list of mismatch codes leaves 409 open', () => {
    expect(
      classify(json(409, MISMATCH), { ...SHAPE, idempotency: { ...SHAPE.idempotency, mismatchCodes: [] } }).kind,
    ).toBe('lost');
  });

  it.each([
    [json(429, {}, 5_000), 5_000],
    [json(503, {}, 7_000), 7_000],
    [json(401, {}, 9_000), 9_000],
    [{ kind: 'not-sent', code: 'retry-after-in-force', retryAfterMs: 3_000 } as const, 3_000],
    [json(429), null],
  ])('hands on when to come again (%#)', (end, expected) => {
    expect(classify(end, SHAPE)).toHaveProperty('retryAfterMs', expected);
  });

  it.each([
    [json(409, {}, 1_000), true],
    [json(408, {}, 1_000), true],
    [json(201, {}, 1_000), true],
    [json(503, {}, 1_000), undefined],
    [json(409), undefined],
  ])('says when it is this key alone that may come again later (%#)', (end, isDelayOfKey) => {
    const answer = classify(end, SHAPE);

    expect(answer.kind).toBe('lost');
    expect('isDelayOfKey' in answer ? answer.isDelayOfKey : undefined).toBe(isDelayOfKey);
  });

  it.each([
    [409, true],
    [403, undefined],
    [503, undefined],
  ])('says it also of a %i that a rule of the profile puts off', (status, isDelayOfKey) => {
    const answers = { ...SHAPE.answers, rules: [{ status: [status], means: 'later' as const }] };

    const answer = classify(json(status, {}, 1_000), { ...SHAPE, answers });

    expect(answer).toMatchObject({ kind: 'not-now', retryAfterMs: 1_000 });
    expect('isDelayOfKey' in answer ? answer.isDelayOfKey : undefined).toBe(isDelayOfKey);
  });

  it.each([
    [json(301), true, SHAPE],
    [spoilt(303, 'empty'), true, SHAPE],
    [json(307, { id: 'inv_1' }), true, SHAPE],
    [json(401, REFUSAL), false, SHAPE],
    [spoilt(403, 'not-json'), false, SHAPE],
    [json(407), false, SHAPE],
    [json(400, said('blocked')), false, RULED],
  ])('denied access says whether the invoice may exist behind it (%#)', (end, mayExist, profile) => {
    expect(classify(end, profile)).toMatchObject({ kind: 'access-denied', mayExist });
  });

  it('never calls any status a refusal or a proof when a usable id stands in the answer', () => {
    const statuses = Array.from({ length: 700 }, (_unused, index) => index + 300);

    const answers = statuses.map((status) => classify(json(status, { ...REFUSAL, id: 'inv_1' }), SHAPE));

    expect(answers.filter((answer) => answer.kind !== 'lost' && !('mayExist' in answer && answer.mayExist))).toEqual(
      [],
    );
  });

  it('reads errors at the places that the profile names, and nowhere else', () => {
    const flat = errorsAt('/code', '/message');

    expect(classify(json(404, { message: 'unknown merchant' }), flat)).toMatchObject({ kind: 'refused' });
    expect(classify(json(404, REFUSAL), flat)).toMatchObject({ kind: 'lost' });
  });

  it.each<[ExchangeResult, string]>([
    [spoilt(201, 'oversize'), 'HTTP 201: answer oversize'],
    // An earlier request may have been sent.
    [{ kind: 'not-sent', code: 'no-way', retryAfterMs: null }, 'This request was not sent (no-way)'],
    [
      json(404, { message: 'no Route matched' }),
      'HTTP 404: no text at the places error.code and error.message of the service profile',
    ],
    [json(201, { id: 'mrc_1' }), 'HTTP 201: an id of another kind at /id'],
    [json(201), 'HTTP 201: no id at /id'],
    [json(500), 'HTTP 500'],
    [json(400, { error: { message: 'x'.repeat(5_000) } }), `HTTP 400: ${'x'.repeat(189)}…`],
    [{ kind: 'broken', code: 'answer-timeout' }, 'The request may have arrived and no answer came (answer-timeout)'],
  ])('says what was wrong with an answer: %#', (end, message) => {
    expect(classify(end, SHAPE)).toHaveProperty('reason.message', message);
  });

  it.each<[string, ExchangeResult, ServiceProfile, true | undefined]>([
    ['JSON without an error at its places', json(422, { detail: 'no' }), SHAPE, true],
    ['a text', prose(422, 'The NIF is wrong'), SHAPE, true],
    ['the page of a gateway', prose(422, '<html>Not here</html>'), SHAPE, undefined],
    ['an empty body', spoilt(422, 'empty'), SHAPE, undefined],
    ['a body that was cut short', spoilt(422, 'cut-short'), SHAPE, undefined],
    ['a usable id beside no error', json(422, { id: 'inv_1' }), SHAPE, undefined],
    ['an error of the service itself', json(500, { detail: 'no' }), SHAPE, undefined],
  ])('marks a 4xx whose error is perhaps looked for at the wrong place: %s', (_name, end, shape, unreadError) => {
    const answer = classify(end, shape);

    expect(answer.kind).toBe('lost');
    expect('unreadError' in answer ? answer.unreadError : undefined).toBe(unreadError);
  });

  it.each(['cut-short', 'encoded', 'oversize', 'not-evaluated'] as const)(
    'lets no rule about a status judge an answer that is %s: another rule may have fitted before',
    (why) => {
      const rules = [
        { code: ['busy'], means: 'later' as const },
        { status: [422], means: 'refused' as const },
      ];
      const shape = { ...SHAPE, answers: { ...SHAPE.answers, rules } };

      expect(classify(spoilt(422, why), shape).kind).toBe('lost');
      expect(classify(spoilt(422, 'not-json'), shape).kind).toBe('refused');
    },
  );

  it.each([
    ['a place that the profile names', json(201, { data: { invoice: 'inv_5' } }), {}, 'inv_', 'inv_5'],
    ['a Location header', spoilt(201, 'empty'), { location: 'https://api.example/v1/invoices/inv_7' }, 'inv_', 'inv_7'],
    ['a path', spoilt(201, 'empty'), { location: '/v1/invoices/inv_7/' }, 'inv_', 'inv_7'],
    ['a number', spoilt(201, 'empty'), { location: '4711' }, '', '4711'],
  ])('takes the id of a 201 from %s', (_name, end, headers, idPrefix, serviceId) => {
    const invoice = { ...INVOICE, id: ['/data/invoice', 'header:Location'], idPrefix };

    const answer = classify({ ...end, headers } as ExchangeResult, { ...SHAPE, invoice });

    expect(answer).toMatchObject({ kind: 'created', serviceId });
  });

  it.each(['cut-short', 'encoded', 'oversize', 'not-evaluated'] as const)(
    'takes nothing from the headers of an answer that is %s',
    (why) => {
      const end = { ...spoilt(201, why), headers: { location: '/v1/invoices/inv_7' } } as ExchangeResult;

      expect(classify(end, { ...SHAPE, invoice: { ...INVOICE, id: 'header:Location' } }).kind).toBe('lost');
    },
  );

  it.each([
    ['a list of errors', { errors: [{ detail: 'NIF is wrong', at: 'nif' }] }, 'detail: NIF is wrong; at: nif'],
    ['fields with errors', { errors: { nif: ['is wrong', 'is short'] } }, 'nif: is wrong; nif: is short'],
    ['a text', { errors: 'no' }, 'no'],
  ])('reads an error that is %s', (_name, body, message) => {
    const answer = classify(json(422, body), errorsAt('/none', '/errors'));

    expect(answer).toMatchObject({ kind: 'refused', reason: { code: 'http-422', message: `HTTP 422: ${message}` } });
  });

  it.each([
    ['plain text', 'The NIF is wrong', 'refused'],
    ['the page of a gateway', ' <html>Not here</html>', 'lost'],
  ])('takes %s for what it is where the profile reads errors as text', (_name, text, kind) => {
    expect(classify(prose(422, text), errorsAt('/none', 'text')).kind).toBe(kind);
  });
});

const nested = (depth: number, value: unknown): unknown => (depth === 0 ? value : { in: nested(depth - 1, value) });

describe('the text of an error', () => {
  it.each<[string, unknown, string | null]>([
    ['a text', ' The NIF is wrong ', 'The NIF is wrong'],
    ['a number', 7, '7'],
    ['a list of texts', ['one', 'two'], 'one; two'],
    ['a list without fields', [{ detail: 'one' }, { detail: 'two' }], 'detail: one; detail: two'],
    ['fields with lists', { nif: ['is wrong', 'is short'] }, 'nif: is wrong; nif: is short'],
    ['fields, one of which is null', { a: null, b: 'x' }, 'b: x'],
    ['blanks beside a text', ['', ' ', 'x'], 'x'],
    ['true', true, null],
    ['null', null, null],
    ['nothing', undefined, null],
    ['nothing but blanks', { a: '', b: [' '] }, null],
  ])('of %s', (_name, value, text) => {
    expect(errorText(value)).toBe(text);
  });

  it('is that of the first five, of a list and of fields', () => {
    const six = ['1', '2', '3', '4', '5', '6'];

    expect(errorText(six)).toBe('1; 2; 3; 4; 5');
    expect(errorText({ a: six.slice(0, 3), b: six })).toBe('a: 1; a: 2; a: 3; b: 1; b: 2');
    expect(errorText(Object.fromEntries(six.map((text) => [`f${text}`, text])))).toBe(
      'f1: 1; f2: 2; f3: 3; f4: 4; f5: 5',
    );
  });

  it('looks no further back than five items and ten fields: an error is short', () => {
    expect(errorText(['', '', '', '', '', 'six'])).toBeNull();
    const fields = (empty: number) => ({
      ...Object.fromEntries(Array.from({ length: empty }, (_, at) => [`f${at}`, null])),
      last: 'x',
    });
    expect(errorText(fields(9))).toBe('last: x');
    expect(errorText(fields(10))).toBeNull();
  });

  it('looks four steps down and no deeper, however deep it is', () => {
    expect(errorText(nested(4, 'x'))).toBe('in: x');
    expect(errorText(nested(5, 'x'))).toBeNull();
    const endless = JSON.parse(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`) as unknown;
    expect(errorText([endless, 'x'])).toBe('x');
  });
});
