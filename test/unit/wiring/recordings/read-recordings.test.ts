import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service-profile/load-profile.ts';
import { readRecordings } from '../../../../src/wiring/recordings/read-recordings.ts';
import { replay } from '../../../../src/wiring/replay/replay.ts';

const SECRET = 'whsec_4711';
const PROFILE = loadProfile(undefined);
const EVENT = JSON.stringify({ id: 'evt_1', type: 'invoice.issued', data: { id: 'inv_1' } });

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lote-recordings-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

interface Call {
  readonly method?: string;
  readonly url: string;
  readonly status?: number;
  readonly text?: string;
  readonly encoding?: string;
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
  readonly sent?: string;
}

function entry({ method = 'GET', url, status = 200, text = '', encoding, headers = [], sent }: Call) {
  return {
    startedDateTime: '2026-05-01T10:00:00.000Z',
    time: 12,
    request: { method, url, httpVersion: 'HTTP/1.1', cookies: [], headers, ...(sent && { postData: { text: sent } }) },
    response: { status, headers: [], content: { size: text.length, mimeType: 'application/json', text, encoding } },
  };
}

async function writeHar(name: string, entries: readonly unknown[]): Promise<void> {
  await writeFile(join(folder, name), JSON.stringify({ log: { version: '1.2', creator: {}, entries } }));
}

describe('a HAR file', () => {
  it('is read by the paths of the profile, below any base address, and its deliveries are judged', async () => {
    const list = JSON.stringify({ data: [{ id: 'mrc_1', nif: '501964843' }] });
    const signature = createHmac('sha256', SECRET).update(EVENT).digest('hex');
    const url = 'https://api.example/base/v1/invoices';
    await writeHar('a.har', [
      entry({ url: 'https://api.example/base/v1/merchants', text: list }),
      entry({ method: 'POST', url, status: 201, text: JSON.stringify({ id: 'inv_1' }) }),
      entry({
        url: `${url}/inv_1`,
        text: Buffer.from('{"id":"inv_1","status":"issued"}').toString('base64'),
        encoding: 'base64',
      }),
      entry({ url: 'https://api.example/v1/status', text: 'x' }),
      entry({ url, status: 0 }),
      entry({
        ...{ method: 'POST', url: 'https://lote.example/webhooks', status: 204, sent: EVENT },
        headers: [{ name: 'x-service-signature', value: signature }],
      }),
    ]);
    const { recordings, mistakes } = await readRecordings(folder, { profile: PROFILE, secrets: [SECRET] });
    const { rows, understood } = await replay(PROFILE, recordings);

    expect(mistakes).toEqual([]);
    expect(rows.map(({ record, operation, says }) => [record, operation, says])).toEqual([
      ['a.har#1', 'list-merchants', '1 merchant; the list is whole: 1 merchants in 1 page'],
      ['a.har#2', 'create-invoice', 'created inv_1'],
      ['a.har#3', 'get-invoice', 'inv_1 is issued'],
      ['a.har#4', null, 'GET /v1/status: no request of the profile'],
      ['a.har#6', 'delivery', 'invoice.issued: inv_1 is issued; its signature held'],
    ]);
    expect(understood).toBe(true);
    expect(JSON.stringify(recordings)).not.toContain('501964843');
  });

  it('tells each mistake with its place, and reads the rest', async () => {
    await writeHar('a.har', [
      { startedDateTime: 'now' },
      entry({ url: 'ftp://api.example/' }),
      entry({ url: 'https://a.example/' }),
    ]);
    await writeFile(join(folder, 'b.json'), '{"format": "other"}');
    await writeFile(join(folder, 'c.json'), '{"format": ');
    await writeFile(join(folder, 'd.har'), '[]');
    await writeFile(join(folder, 'e.json'), '['.repeat(300) + ']'.repeat(300));
    await writeFile(join(folder, 'notes.txt'), 'not read');
    const { recordings, mistakes } = await readRecordings(folder, { profile: PROFILE });

    expect(recordings.map(({ name }) => name)).toEqual(['a.har#3']);
    expect(mistakes.map(({ file, place, message }) => `${file} ${place} ${message}`)).toEqual([
      expect.stringContaining('a.har /log/entries/0/request '),
      'a.har /log/entries/1/request/url it must be an http or https address',
      expect.stringContaining('b.json /kind it is no record of Lote'),
      expect.stringContaining('c.json  it is no JSON'),
      'd.har  it is no HAR file of version 1.2',
      'e.json  it has more than 200 levels',
    ]);
  });
});
