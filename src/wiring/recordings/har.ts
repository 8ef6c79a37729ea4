import { z } from 'zod';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { readBody, type AnswerBody } from '../../service/exchange-result.ts';
import { MAX_ANSWER_BYTES } from '../../service/exchange.ts';
import type { CapturedExchange } from '../../service/service-connection.ts';
import { createSignatureCheck } from '../../webhooks/signature/signature-check.ts';
import type { RawDelivery } from './mask/masker.ts';
import { createOperationFinder } from './operation-of.ts';

const Headers = z.array(z.object({ name: z.string(), value: z.string() })).max(1_000);

/** The parts of HAR 1.2 that are read. */
const Entry = z.object({
  startedDateTime: z.string(),
  request: z.object({
    method: z.string().max(20),
    url: z.string().max(20_000),
    headers: Headers,
    postData: z.object({ text: z.string().optional() }).optional(),
  }),
  response: z.object({
    status: z.number().int(),
    headers: Headers,
    content: z.object({ text: z.string().optional(), encoding: z.string().optional() }),
  }),
});

/** A HAR file; each entry is checked for itself. */
export const HarFile = z.object({ log: z.object({ entries: z.array(z.unknown()).max(20_000) }) });

/** An entry as it came, nothing masked; or the place and the message of a mistake; null: no answer came. */
export type HarEntry = CapturedExchange | RawDelivery | { readonly place: string; readonly message: string } | null;

/** Reads one entry of a HAR file. */
export type HarReader = (entry: unknown, index: number) => HarEntry;

/** The address of the receiver, whatever stands before it. */
const RECEIVER = /\/webhooks(?:\/([^/]+))?\/?$/;

/** Makes the reader of a profile: its paths say which entry is which request; a POST to a receiver is a delivery. With secrets its signature is judged. */
export function createHarReader(profile: ServiceProfile, secrets: readonly string[]): HarReader {
  const operationOf = createOperationFinder(profile);
  const { signature: scheme } = profile;

  function delivery(entry: z.infer<typeof Entry>, at: number, pathSecret: string | undefined): RawDelivery {
    const { headers, postData, url } = entry.request;
    const rawHeaders = headers.flatMap(({ name, value }) => [name, value]);
    const raw = Buffer.from(postData?.text ?? '');
    if (secrets.length === 0) return { at, rawHeaders, raw, signature: null };
    const check = createSignatureCheck({ shape: scheme, url: () => url, log: { warn: () => undefined } });
    const head = { rawHeaders, now: at, ...(pathSecret !== undefined && { pathSecret }) };
    return { at, rawHeaders, raw, signature: { scheme, refusal: check.verify(head, secrets, raw).why } };
  }

  return (found, index) => {
    const parsed = Entry.safeParse(found);
    const place = `/log/entries/${index}`;
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return { place: [place, ...(issue?.path ?? [])].join('/'), message: issue?.message ?? 'it is no entry' };
    }
    const { startedDateTime, request, response } = parsed.data;
    const at = Date.parse(startedDateTime);
    if (Number.isNaN(at)) return { place: `${place}/startedDateTime`, message: 'it must be a time of ISO 8601' };
    if (!/^https?:/i.test(request.url) || !URL.canParse(request.url))
      return { place: `${place}/request/url`, message: 'it must be an http or https address' };
    const url = new URL(request.url);
    const operation = operationOf(request.method, url.href);
    const receiver = operation === null && request.method === 'POST' ? RECEIVER.exec(url.pathname) : null;
    if (receiver !== null) return delivery(parsed.data, at, receiver[1]);
    if (response.status < 100) return null;
    const before = operation === null ? 0 : url.pathname.length - operation.pathLength;
    return {
      ...{ at, method: request.method, base: url.origin + url.pathname.slice(0, before) },
      path: url.pathname.slice(before) + url.search,
      body: request.postData?.text ?? null,
      answer: {
        ...({ kind: 'answer', status: response.status, retryAfterMs: null } as const),
        ...{ body: bodyOf(response.content), headers: headersOf(response.headers) },
      },
    };
  };
}

/** A HAR file holds what was unpacked; the bytes of a text are those of UTF-8. */
function bodyOf({ text = '', encoding }: z.infer<typeof Entry>['response']['content']): AnswerBody {
  const bytes = Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8');
  return bytes.byteLength > MAX_ANSWER_BYTES ? { kind: 'unreadable', why: 'oversize' } : readBody(bytes, '');
}

function headersOf(headers: z.infer<typeof Headers>): Record<string, string | readonly string[]> {
  const byName = new Map<string, string | readonly string[]>();
  for (const { name, value } of headers) {
    const before = byName.get(name.toLowerCase());
    byName.set(name.toLowerCase(), before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(byName);
}
