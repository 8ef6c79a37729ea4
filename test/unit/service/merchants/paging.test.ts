import { describe, expect, it } from 'vitest';
import type { AnswerHeaders, ExchangeResult } from '../../../../src/service/exchange-result.ts';
import { readMerchantList } from '../../../../src/service/merchants/merchant-list.ts';
import { loadProfile } from '../../../../src/service/profile/check-profile.ts';

type Merchants = Readonly<Record<string, unknown>>;

/** Answers by path; a number is a status. */
type Script = Readonly<Record<string, unknown>>;

const merchant = (nif: unknown, id: unknown = `mrc_${String(nif)}`) => ({ id, nif });
const merchants = (...numbers: number[]) => numbers.map((nif) => merchant(nif));
const withHeaders = (headers: AnswerHeaders, value: unknown, status = 200) => ({ headers, value, status });

function answerOf(scripted: unknown): ExchangeResult {
  const refused = { headers: {}, value: { error: { message: 'no' } }, status: Number(scripted) };
  const isWhole = typeof scripted === 'object' && scripted !== null && 'headers' in scripted;
  const said = isWhole ? (scripted as typeof refused) : { headers: {}, value: scripted, status: 200 };
  const { headers, value, status } = typeof scripted === 'number' ? refused : said;
  return { kind: 'answer', status, retryAfterMs: null, headers, body: { kind: 'json', value } };
}

async function read(settings: Merchants, script: Script, more: Readonly<Record<string, unknown>> = {}) {
  const profile = loadProfile(JSON.stringify({ ...more, merchants: settings }));
  const asked: string[] = [];
  const list = await readMerchantList(
    (path) => {
      const short = path.replace('/v1/merchants', '');
      // Without a number a service gives its first page.
      const [first = ''] = asked.length === 0 ? Object.keys(script) : [];
      const page = short in script ? short : first;
      asked.push(page);
      if (!(page in script) || asked.length > 20) throw new Error(`the script has no ${path}`);
      return Promise.resolve(answerOf(script[page]));
    },
    { profile, baseUrl: 'https://service.example' },
  );
  const nifs = list.kind === 'list' ? list.merchants.map(({ nif }) => Number(nif)) : null;
  return { asked: [...new Set(asked)], nifs, list, why: list.kind === 'unreadable' ? list.reason.message : null };
}

const PAGE = { paging: 'page' };
const OFFSET = { paging: 'offset' };
const LINK = { paging: 'link' };

const answered = { kind: 'answer', status: 200, retryAfterMs: null } as const;

describe('a list of merchants that is read whole', () => {
  it.each<[string, Merchants, Script, number[]]>([
    [
      'by a cursor, with the size in each request',
      { sizeParameter: 'limit', pageSize: 2 },
      {
        '?limit=2': { data: merchants(1, 2), next_cursor: 'x' },
        '?limit=2&cursor=x': { data: merchants(3, 4), next_cursor: null },
      },
      [1, 2, 3, 4],
    ],
    [
      'by the cursor of the page before, also when it is a number',
      {},
      {
        '': { data: merchants(1), next_cursor: 'a b/c?' },
        '?cursor=a%20b%2Fc%3F': { data: [], next_cursor: 7 },
        '?cursor=7': { data: merchants(2) },
      },
      [1, 2],
    ],
    [
      'however the service writes a tax number',
      {},
      { '': { data: [merchant('501 964 843', 'mrc_a'), merchant(502757191, 'mrc_b')] } },
      [501964843, 502757191],
    ],
    [
      'with other tax numbers beside one of digits',
      {},
      { '': { data: [merchant('ESB1', 'mrc_a'), merchant('501964843', 'mrc_b')] } },
      [Number.NaN, 501964843],
    ],
    [
      'by a cursor in a header, beside a list at the top',
      { items: '', nextCursor: 'header:X-Next-Page', cursorParameter: 'page' },
      {
        '': withHeaders({ 'x-next-page': '2' }, merchants(1)),
        '?page=2': withHeaders({ 'x-next-page': '' }, merchants(2)),
      },
      [1, 2],
    ],
    [
      'by a Link header, with the size where the link leaves it out',
      { ...LINK, items: '', sizeParameter: 'per_page', pageSize: 2 },
      {
        '?per_page=2': withHeaders(
          { link: '</v1/merchants?page=2>; rel="next", </v1/merchants?page=3>; rel="last"' },
          merchants(1, 2),
        ),
        '?page=2&per_page=2': withHeaders({ link: '</v1/merchants?per_page=2&page=3>; rel=next' }, merchants(3, 4)),
        '?per_page=2&page=3': withHeaders({ link: '</v1/merchants?page=1>; rel="first"' }, merchants(5, 6)),
      },
      [1, 2, 3, 4, 5, 6],
    ],
    [
      'by links, up to the flag',
      { ...LINK, more: '/more' },
      { '': { data: merchants(1), links: { next: '?x=1' }, more: 0 } },
      [1],
    ],
    [
      'by page numbers, up to the total in a header, with a full last page',
      { ...PAGE, items: '', total: 'header:X-Total', sizeParameter: 'size', pageSize: 2 },
      {
        '?size=2&page=1': withHeaders({ 'x-total': '4' }, merchants(1, 2)),
        '?size=2&page=2': withHeaders({ 'x-total': '4' }, merchants(3, 4)),
      },
      [1, 2, 3, 4],
    ],
    [
      'by the number of merchants read, where only the first page names the total',
      { ...OFFSET, total: '/n' },
      { '?offset=0': { data: merchants(1), n: 2 }, '?offset=1': { data: merchants(2) }, '?offset=2': { data: [] } },
      [1, 2],
    ],
    [
      'by a cursor, up to a full page whose flag says that it is the last',
      { more: '/more', sizeParameter: 'limit', pageSize: 2 },
      { '?limit=2': { data: merchants(1, 2), more: false } },
      [1, 2],
    ],
    ['that holds nobody', { ...OFFSET, total: '/total' }, { '?offset=0': { data: [], total: 0 } }, []],
    [
      'by an expression for what the service says otherwise',
      { ...PAGE, items: 'jsonata:[rows.merchant]', id: 'jsonata:"mrc_" & key', nif: '/nif', more: 'jsonata:at < of' },
      {
        '?page=1': { rows: [{ merchant: { key: 1, nif: '1' } }], at: 1, of: 2 },
        '?page=2': { rows: [{ merchant: { key: 2, nif: '2' } }], at: 2, of: 2 },
      },
      [1, 2],
    ],
  ])('%s', async (_, settings, script, nifs) => {
    const { nifs: found, asked, why } = await read(settings, script);

    expect({ found, why }).toEqual({ found: nifs, why: null });
    expect(asked).toHaveLength(Object.keys(script).length);
  });

  it('from a path that holds a query already', async () => {
    const { asked } = await read(
      PAGE,
      { '?type=a&page=1': { data: merchants(1) }, '?type=a&page=2': { data: [] } },
      { requests: { listMerchants: { path: '/v1/merchants?type=a' } } },
    );

    expect(asked).toEqual(['?type=a&page=1', '?type=a&page=2']);
  });

  it('by the first record of a tax number, over pages too: every run must use the same one', async () => {
    const { list } = await read(
      {},
      {
        '': { data: [merchant('1', 'mrc_old'), merchant('1', 'mrc_twice')], next_cursor: 'x' },
        '?cursor=x': { data: [merchant('1', 'mrc_new')] },
      },
    );

    expect(list).toEqual({ kind: 'list', merchants: [{ nif: '1', merchantId: 'mrc_old' }] });
  });

  it('with whole numbers for ids, where the profile asks for no prefix', async () => {
    const { list } = await read({ idPrefix: '' }, { '': { data: [{ id: 17, nif: '1' }] } });

    expect(list).toMatchObject({ merchants: [{ merchantId: '17' }] });
  });
});

describe('a list of merchants that may not be whole is unreadable, and the sentence says where to look', () => {
  it.each<[string, Merchants, Script, string[]]>([
    [
      'a flag for more and no cursor',
      { more: '/has_more' },
      { '': { data: merchants(1), has_more: true } },
      ['merchants.more says yes', 'merchants.nextCursor'],
    ],
    [
      'a total that was not reached, and no cursor',
      { total: '/n' },
      { '': { data: merchants(1), n: 2 } },
      ['merchants.total says 2 merchants, and 1 were read', 'merchants.nextCursor'],
    ],
    [
      'a service that ignores the cursor and gives a new one each time',
      {},
      { '': { data: merchants(1), next_cursor: 'x' }, '?cursor=x': { data: merchants(1), next_cursor: 'y' } },
      ['1 of the 1 merchants of page 2 stood on an earlier page', 'merchants.cursorParameter'],
    ],
    [
      'a link to itself',
      LINK,
      { '': { data: merchants(1), links: { next: '/v1/merchants' } } },
      ["page 1 repeats an earlier page's link"],
    ],
    [
      'a link to another origin',
      LINK,
      { '': { data: merchants(1), links: { next: 'http://service.example/v1/merchants?page=2' } } },
      ['leads to http://service.example and not to https://service.example', 'API key'],
    ],
    [
      'a link elsewhere than the profile looks',
      { ...LINK, nextLink: '/next' },
      { '': withHeaders({ link: '</v1/merchants?page=2>; rel=next' }, { data: merchants(1) }) },
      ['header:link/next names a next page', 'merchants.nextLink'],
    ],
    [
      'a service that ignores the number of the page',
      PAGE,
      { '?page=1': { data: merchants(1, 2) }, '?page=2': { data: merchants(1, 2) } },
      ['2 of the 2 merchants of page 2 stood on an earlier page', 'merchants.pageParameter'],
    ],
    [
      'a service that ignores the number of merchants to skip',
      { ...OFFSET, total: '/n' },
      { '?offset=0': { data: merchants(1, 2), n: 4 }, '?offset=2': { data: merchants(1, 2), n: 4 } },
      ['stood on an earlier page', 'merchants.offsetParameter'],
    ],
    [
      'a merchant that comes again because the order moved',
      OFFSET,
      { '?offset=0': { data: merchants(1, 2) }, '?offset=2': { data: merchants(2, 3) } },
      ['1 of the 2 merchants of page 2'],
    ],
    [
      'a total that shrinks: a merchant may have moved over the edge of a page',
      { ...OFFSET, total: '/n' },
      { '?offset=0': { data: merchants(1, 2), n: 4 }, '?offset=2': { data: merchants(4), n: 3 } },
      ['merchants.total went from 4 to 3'],
    ],
    [
      'an empty page before the total is reached',
      { ...PAGE, total: '/n' },
      { '?page=1': { data: merchants(1), n: 2 }, '?page=2': { data: [], n: 2 } },
      ['page 2 is empty', 'merchants.total says 2'],
    ],
    [
      'a flag and a total that contradict each other',
      { ...PAGE, total: '/n', more: '/more' },
      { '?page=1': { data: merchants(1), n: 2, more: false } },
      ['merchants.total says 2', 'merchants.more says no'],
    ],
    [
      'a total that is no number',
      { ...PAGE, total: '/n' },
      { '?page=1': { data: merchants(1), n: 'many' } },
      ['merchants.total'],
    ],
    ['a flag that is none', { more: '/more' }, { '': { data: merchants(1), more: 'perhaps' } }, ['merchants.more']],
    [
      'a last page as long as the size that was sent',
      { sizeParameter: 'limit', pageSize: 2 },
      { '?limit=2': { data: merchants(1, 2) } },
      ['as long as merchants.pageSize (2)', 'merchants.nextCursor'],
    ],
    [
      'a sign of more on an empty page',
      PAGE,
      { '?page=1': { data: merchants(1), total: 2 }, '?page=2': { data: [], total: 2 } },
      ['/total counts 2 merchants, and 1 were read', 'merchants.notPaging'],
    ],
    [
      'a refusal of the page behind the last one, where nothing says that it was the last',
      PAGE,
      { '?page=1': { data: merchants(1) }, '?page=2': 404 },
      ['HTTP 404'],
    ],
    [
      'a cursor that comes back',
      {},
      { '': { data: merchants(1), next_cursor: 'x' }, '?cursor=x': { data: merchants(2), next_cursor: 'x' } },
      ["page 2 repeats an earlier page's cursor (merchants.nextCursor, merchants.cursorParameter)"],
    ],
    [
      'a cursor that cannot be sent',
      {},
      { '': { data: merchants(1), next_cursor: { page: 2 } } },
      ['no usable cursor at /next_cursor (merchants.nextCursor)'],
    ],
    [
      'a link that is no address',
      LINK,
      { '': { data: merchants(1), links: { next: { href: '/b' } } } },
      ['what stands at /links/next (merchants.nextLink) is no address'],
    ],
    [
      'a flag for the end beside a total that was not reached',
      { more: '/more', total: '/n' },
      { '': { data: merchants(1), more: false, n: 2 } },
      ['merchants.total says 2 merchants, and 1 were read, but merchants.more says no'],
    ],
    ['no list where it should be', {}, { '': { rows: [] } }, ['no list at /data (merchants.items)']],
    [
      'an item without an id',
      {},
      { '': { data: [...merchants(1), { nif: 2 }] } },
      ['item 2 of a page has no mrc_ id at /id (merchants.id)'],
    ],
    [
      'an item without an id, where any id is one',
      { idPrefix: '' },
      { '': { data: [{ nif: 2 }] } },
      ['item 1 of a page has no usable id at /id (merchants.id)'],
    ],
    [
      'an item without a tax number',
      {},
      { '': { data: [{ id: 'mrc_1' }] } },
      ['item 1 of a page has no tax number at /nif (merchants.nif)'],
    ],
    [
      'a tax number of 65 characters',
      {},
      { '': { data: [{ id: 'mrc_1', nif: '1'.repeat(65) }] } },
      ['item 1 of a page has no tax number'],
    ],
  ])('%s', async (_, settings, script, told) => {
    const { list, why, asked } = await read(settings, script);

    expect(asked, 'no page is asked for in vain').toHaveLength(Object.keys(script).length);
    expect(list).toMatchObject({ kind: 'unreadable', reason: { code: 'service-list-unreadable' } });
    for (const part of told) expect(why).toContain(part);
  });

  it('with no tax number of digits: each merchant would be created again', async () => {
    const { why } = await read(
      {},
      {
        '': { data: [merchant('a@one.example', 'mrc_a')], next_cursor: 'x' },
        '?cursor=x': { data: [merchant('PT501964843', 'mrc_b'), merchant('501964843-PT', 'mrc_c')] },
      },
    );

    expect(why).toContain('no tax number of digits at /nif (merchants.nif) of any merchant');
    expect(why).not.toContain('one.example');
  });

  it.each<[string, unknown]>([
    ['an object where the list should be', { data: {} }],
    ["an id that is no merchant's", { data: [merchant('1', 'inv_1')] }],
    ['an id that would leave its place in a path', { data: [merchant('1', 'mrc_../x')] }],
    ['an empty tax number', { data: [merchant(' ', 'mrc_1')] }],
    ['a tax number with a fraction', { data: [merchant(1.5, 'mrc_1')] }],
    ['null in the list', { data: [null] }],
    ['a cursor that is a fraction', { data: [], next_cursor: 0.5 }],
  ])('as a whole with %s: a merchant missed here would be created twice', async (_, page) => {
    const { list } = await read({}, { '': { data: merchants(9), next_cursor: 'x' }, '?cursor=x': page });

    expect(list).toMatchObject({ kind: 'unreadable', reason: { code: 'service-list-unreadable' } });
    expect(JSON.stringify(list)).not.toContain('mrc_9');
  });

  it('a list without an end', async () => {
    let page = 0;
    const list = await readMerchantList(
      () => {
        page += 1;
        return Promise.resolve(answerOf({ data: merchants(page) }));
      },
      { profile: loadProfile('{"merchants":{"paging":"offset"}}'), baseUrl: 'https://service.example' },
    );

    expect(list).toMatchObject({
      ...{ kind: 'unreadable' },
      reason: { message: 'Reading the list of merchants: it has more than 10000 pages' },
    });
    expect(page).toBe(10_000);
  });
});

describe('an answer that is no page', () => {
  it.each([
    [401, 'service-unauthorized'],
    [403, 'service-unauthorized'],
    [407, 'service-unauthorized'],
    [408, 'service-unreachable'],
    [425, 'service-unreachable'],
    [302, 'service-list-unreadable'],
    [400, 'service-list-unreadable'],
    [404, 'service-list-unreadable'],
    [429, 'service-unreachable'],
    [500, 'service-unreachable'],
    [503, 'service-unreachable'],
  ])('%d on a later page is %s', async (status, code) => {
    const script = { '': { data: merchants(1), next_cursor: 'x' }, '?cursor=x': status };

    expect((await read({}, script)).list).toMatchObject({ kind: 'unreadable', reason: { code } });
  });

  it.each([
    [403, 'slow_down', 'service-unreachable'],
    [403, 'forbidden', 'service-unauthorized'],
    [400, 'key_unknown', 'service-unauthorized'],
    [500, 'closed', 'service-list-unreadable'],
    [422, 'who_knows', 'service-unreachable'],
  ])('%d with %s is what the rules of the profile say: %s', async (status, code, expected) => {
    const rules = [
      { status: [403], code: ['slow_down'], means: 'later' },
      { code: ['key_unknown'], means: 'access' },
      { code: ['closed'], means: 'refused' },
      { code: ['who_knows'], means: 'lost' },
    ];
    const { list } = await read({}, { '': withHeaders({}, { error: { code } }, status) }, { answers: { rules } });

    expect(list).toMatchObject({ kind: 'unreadable', reason: { code: expected } });
  });

  it.each<[ExchangeResult, string, string]>([
    [{ kind: 'not-sent', code: 'connection-refused', retryAfterMs: null }, 'service-unreachable', 'connection-refused'],
    [{ kind: 'broken', code: 'answer-timeout' }, 'service-unreachable', 'answer-timeout'],
    [{ kind: 'not-permitted' }, 'service-unreachable', 'not-permitted'],
    [{ ...answered, body: { kind: 'unreadable', why: 'cut-short' } }, 'service-unreachable', 'its answer is cut-short'],
    [
      { ...answered, body: { kind: 'unreadable', why: 'not-json' } },
      'service-list-unreadable',
      'its answer is not-json',
    ],
  ])('says what came instead: %#', async (end, code, why) => {
    const list = await readMerchantList(() => Promise.resolve(end), {
      profile: loadProfile('{}'),
      baseUrl: 'https://service.example',
    });

    expect(list).toMatchObject({ reason: { code, message: `Reading the list of merchants: ${why}` } });
  });

  it('says what the service said, and where it said no word of success', async () => {
    const no = { error: { message: 'Not today' } };

    expect((await read({}, { '': 404 })).why).toBe('Reading the list of merchants: HTTP 404: no');
    expect((await read({}, { '': { ok: false, ...no } }, ENVELOPE)).why).toBe(
      'Reading the list of merchants: HTTP 200: Not today, and no word of success at /ok (answers.success)',
    );
  });

  it('is read by expressions of the profile, its words of success and of errors, too', async () => {
    const answers = {
      success: { at: 'jsonata:ok = 1 ? "yes"', is: ['yes'] },
      status: 'jsonata:no + 0',
      rules: [{ has: 'jsonata:busy = true ? "x"', means: 'later' }],
    };
    const error = { message: 'jsonata:words[0]' };
    const told = async (value: unknown) => (await read({}, { '': value }, { answers, error })).list;

    expect(await told({ ok: 1, data: merchants(1) })).toMatchObject({ kind: 'list' });
    expect(await told({ ok: 2, no: 403, words: ['Keep out', 'x'] })).toMatchObject({
      reason: { code: 'service-unauthorized', message: 'Reading the list of merchants: HTTP 403: Keep out' },
    });
    expect(await told({ ok: 2, busy: true })).toMatchObject({ reason: { code: 'service-unreachable' } });
  });

  const ENVELOPE = { answers: { success: { at: '/ok', is: ['true'] }, status: '/status' } };

  it.each<[unknown, string]>([
    [{ ok: false, data: [] }, 'service-list-unreadable'],
    [{ data: [] }, 'service-list-unreadable'],
    [{ ok: false, status: 401, data: [] }, 'service-unauthorized'],
    [{ ok: false, status: 503, data: [] }, 'service-unreachable'],
  ])('%j with 200 is no empty list where the profile asks for a word of success: %s', async (answer, code) => {
    expect((await read({}, { '': answer }, ENVELOPE)).list).toMatchObject({ kind: 'unreadable', reason: { code } });
  });
});
