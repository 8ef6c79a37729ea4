import { describe, expect, it } from 'vitest';
import { compileExpressions } from '../../../src/service-profile/expression.ts';
import { loadProfile } from '../../../src/service-profile/load-profile.ts';
import { readPlace, type Document, type Place } from '../../../src/service-profile/place.ts';
import type { ServiceProfile } from '../../../src/service-profile/profile.ts';
import { isOneOf, wordAt } from '../../../src/service-profile/word.ts';
import { defaultLike } from '../../services/default-like.ts';
import type { BookedInvoice, BookedMerchant, Family, Problem, Reply } from '../../services/fake/family.ts';
import { FAMILIES } from '../../services/families.ts';

const ORIGIN = 'http://127.0.0.1:1';
const CASES = [defaultLike, ...FAMILIES].map((family) => ({
  ...{ family, name: family.name, profile: loadProfile(JSON.stringify(family.profile)) },
}));

function invoiceOf({ answers }: Family, status: BookedInvoice['status']): BookedInvoice {
  const content = {
    merchantId: answers.merchantId(1),
    customerName: 'A',
    customerTaxId: null,
    currency: 'EUR',
    lines: [],
  };
  const failure = status === 'failed' ? { code: 'series_closed', message: 'The series is closed' } : null;
  return { number: 1, id: answers.invoiceId(1), key: 'k', content, status, failure };
}

function merchantsOf({ answers }: Family, count: number): readonly BookedMerchant[] {
  return Array.from({ length: count }, (_, at) => {
    const nif = String(501_000_000 + at);
    return {
      number: at + 1,
      id: answers.merchantId(at + 1),
      key: null,
      nif,
      legalName: `E ${nif}`,
      email: 'a@b.example',
    };
  });
}

/** An answer as a client sees it. */
function received({ status, headers = {}, body, text }: Reply): Document {
  const said = text ?? (body === undefined ? '' : JSON.stringify(body));
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { status, headers: lower, text: said, body: body === undefined ? undefined : (JSON.parse(said) as unknown) };
}

async function at(document: Document, place: Place): Promise<unknown> {
  const evaluate = compileExpressions([place]);
  return readPlace(evaluate === null ? document : await evaluate(document), place);
}

async function idAt(document: Document, place: Place): Promise<string | undefined> {
  return wordAt(await at(document, place))
    ?.split('/')
    .at(-1);
}

/** What the first rule that fits says; null: none fits. */
async function meaningOf(document: Document, { answers, error }: ServiceProfile): Promise<string | null> {
  const envelope = answers.status === null ? undefined : await at(document, answers.status);
  const status = Number(envelope ?? document.status);
  const code = await at(document, error.code);
  for (const rule of answers.rules) {
    // oxlint-disable-next-line no-await-in-loop
    const has = rule.has === undefined || wordAt(JSON.stringify((await at(document, rule.has)) ?? '')) !== '""';
    const fits =
      rule.status?.includes(status) !== false && (rule.code === undefined || isOneOf(code, rule.code)) && has;
    if (fits) return rule.means;
  }
  return null;
}

function problemOf({ answers }: Family, kind: Problem['kind'], [code, field]: readonly [string, string]): Document {
  return received(answers.problem({ kind, code, message: 'What is wrong', field }));
}

async function isSuccess(document: Document, { answers: { success } }: ServiceProfile): Promise<boolean> {
  return success === null || isOneOf(await at(document, success.at), success.is);
}

describe.each(CASES)('by the profile of $name', ({ family, profile }) => {
  const { answers } = family;

  it('the id and the status of an invoice are found', async () => {
    const { id, status, issued, failed, reasonCode, reasonMessage } = profile.invoice;
    const created = received(answers.created(invoiceOf(family, 'processing'), ORIGIN));
    expect(await isSuccess(created, profile)).toBe(true);
    expect(await idAt(created, id)).toBe(answers.invoiceId(1));
    expect(answers.invoiceId(1).startsWith(profile.invoice.idPrefix)).toBe(true);

    for (const word of ['processing', 'issued', 'failed'] as const) {
      const shown = received(answers.shown(invoiceOf(family, word), ORIGIN));
      // oxlint-disable-next-line no-await-in-loop
      const [seen, seenId] = [await at(shown, status), await idAt(shown, id)];
      expect(seenId).toBe(answers.invoiceId(1));
      expect([isOneOf(seen, issued), isOneOf(seen, failed)], word).toEqual([word === 'issued', word === 'failed']);
    }
    const shown = received(answers.shown(invoiceOf(family, 'failed'), ORIGIN));
    expect(String(await at(shown, reasonCode)).toLowerCase()).toBe('series_closed');
    expect(await at(shown, reasonMessage)).toBe('The series is closed');
  });

  it('a repeat under the same key gives the same document', async () => {
    const { repeated, merchantCreated, merchantRepeated } = answers;
    const invoice = received((repeated ?? answers.created)(invoiceOf(family, 'issued'), ORIGIN));
    const [merchant] = merchantsOf(family, 1) as readonly [BookedMerchant];
    const created = received(merchantCreated(merchant, ORIGIN));
    expect(await idAt(created, profile.merchants.createdId)).toBe(merchant.id);
    expect(merchant.id.startsWith(profile.merchants.idPrefix)).toBe(true);
    const exists = profile.answers.rules.find(({ means }) => means === 'exists')?.id;
    const again = received((merchantRepeated ?? merchantCreated)(merchant, ORIGIN));

    expect(await meaningOf(invoice, profile)).toBe(repeated === undefined ? null : 'exists');
    expect(await idAt(invoice, repeated === undefined ? profile.invoice.id : (exists ?? ''))).toBe(
      answers.invoiceId(1),
    );
    expect(await idAt(again, merchantRepeated === undefined ? profile.merchants.createdId : (exists ?? ''))).toBe(
      merchant.id,
    );
  });

  it('the merchants of a page are found', async () => {
    const { items, id, nif } = profile.merchants;
    const merchants = merchantsOf(family, 5);
    const reply = family.list(merchants, { query: new URLSearchParams(), address: `${ORIGIN}/v1/merchants` });
    const page = (await at(received(reply), items)) as readonly unknown[];
    const seen = await Promise.all(
      page.map(async (body) => [wordAt(await at({ body }, id)), wordAt(await at({ body }, nif))]),
    );

    expect(seen).toEqual(merchants.map((merchant) => [merchant.id, merchant.nif]));
  });

  it('a refusal, a mismatch and a service that is too busy mean what they mean', async () => {
    const refused = problemOf(family, 'refused', ['tax_code_unknown', 'tax_code']);
    const mismatch = problemOf(family, 'mismatch', ['idempotency_mismatch', 'idempotency_key']);
    const tooFast = problemOf(family, 'too-fast', ['too_many_requests', 'rate']);
    const { error, idempotency } = profile;
    const said = [wordAt(await at(refused, error.code)), wordAt(await at(refused, error.message))];

    expect(said.some((word) => word !== null)).toBe(true);
    expect([null, 'refused']).toContain(await meaningOf(refused, profile));
    const known = isOneOf(await at(mismatch, error.code), idempotency.mismatchCodes) ? 'mismatch' : null;
    expect((await meaningOf(mismatch, profile)) ?? known).toBe('mismatch');
    expect([null, 'later']).toContain(await meaningOf(tooFast, profile));
    for (const problem of [refused, mismatch, tooFast]) {
      const isTaken = (problem.status ?? 0) <= 299;
      // oxlint-disable-next-line no-await-in-loop
      expect(isTaken && (await isSuccess(problem, profile))).toBe(false);
    }
  });

  it('the parts of an event are found', async () => {
    const { events } = family;
    if (events === null) return expect(profile.webhook.register).toBe(false);
    const { event } = profile;
    for (const outcome of ['issued', 'failed'] as const) {
      const one = { id: 'evt_1', number: 1, outcome, invoice: invoiceOf(family, outcome) };
      const delivery = { id: 'd1', events: [one] as const, url: `${ORIGIN}/hook`, secret: events.newSecret(), now: 0 };
      const { headers, body } = events.message(delivery);
      const outer = { headers, body: JSON.parse(body) as unknown };
      // oxlint-disable-next-line no-await-in-loop
      const document = await insideOf(outer, event);
      const parts = [event.type, event.eventId, event.reasonCode, event.reasonMessage].map((place) =>
        at(document, place),
      );
      // oxlint-disable-next-line no-await-in-loop
      const [type, eventId, code, message] = await Promise.all(parts);
      expect(isOneOf(type, event[outcome])).toBe(true);
      expect(wordAt(eventId)).not.toBeNull();
      // oxlint-disable-next-line no-await-in-loop
      expect(await idAt(document, event.invoiceId)).toBe(answers.invoiceId(1));
      if (outcome === 'failed')
        expect([String(code).toLowerCase(), message]).toEqual(['series_closed', 'The series is closed']);
    }
  });
});

/** The first event of a delivery. */
async function insideOf(outer: Document, { payload, items }: ServiceProfile['event']): Promise<Document> {
  let { body } = outer;
  if (payload !== null) {
    const text = String(await at(outer, payload.at));
    body = JSON.parse(payload.encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text) as unknown;
  }
  const list = items === null ? [body] : ((await at({ ...outer, body }, items)) as readonly unknown[]);
  return { ...outer, body: list[0] };
}
