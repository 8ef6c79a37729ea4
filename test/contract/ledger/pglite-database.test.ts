import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINE_VERSION, openPgliteDatabase } from '../../../src/database/open-pglite-database.ts';
import { makeLedger, openPgliteLedger } from '../../../src/ledger/open-pglite-ledger.ts';
import { databaseContract } from './behaviour/database.contract.ts';
import { migratingContract } from './behaviour/migrating.contract.ts';
import { passingErrorsContract } from './behaviour/passing-errors.contract.ts';
import { collect, createScenario, delivery, NOW, recordDeliveries } from './scenario.ts';
import { LEDGER_TEMPLATES, temporaryDatabase } from '../../support/servers/temporary-database.ts';

const QUERIES = 500;

describe('PGlite in a worker thread', () => {
  databaseContract(temporaryDatabase);
  passingErrorsContract(temporaryDatabase);
  migratingContract(async () => {
    const database = await temporaryDatabase();
    await database.query('CREATE SCHEMA empty');
    await database.query('SET search_path TO empty');
    return { isShared: false, connect: () => Promise.resolve(database) };
  });

  it('lets timers fire while hundreds of queries run', async () => {
    const database = await temporaryDatabase();
    await database.query('CREATE TABLE counter (n integer)');
    await database.query('INSERT INTO counter VALUES (0)');
    let done = 0;
    const firedAfter: number[] = [];
    const timer = setInterval(() => firedAfter.push(done), 1);

    for (; done < QUERIES; done += 1) await database.query('UPDATE counter SET n = n + 1');
    clearInterval(timer);

    expect(firedAfter.some((queries) => queries > 0 && queries < QUERIES)).toBe(true);
    expect(await database.query('SELECT n FROM counter')).toEqual([{ n: QUERIES }]);
    await database.close();
  });

  it('closes though the database breaks down meanwhile', async () => {
    const database = await temporaryDatabase();
    // The driver refuses the value without an SQLSTATE, which counts as the end of the database.
    const broken = database.query('SELECT $1::boolean', ['neither']).catch((error: unknown) => error);
    await sleep(0);
    const closing = database.close();

    expect(await broken).toMatchObject({ code: 'ledger-unavailable' });
    await expect(closing).resolves.toBeUndefined();
  });

  it('answers what is asked after it is closed with an error that says so', async () => {
    const database = await temporaryDatabase();
    await database.close();
    await database.close();

    await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: 'ledger-unavailable' });
    await expect(database.transaction(async () => undefined)).rejects.toMatchObject({ code: 'ledger-unavailable' });
  });
});

describe('an embedded ledger in a directory', () => {
  let parent: string;
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'lote-pglite-'));
  });
  afterAll(() => rm(parent, { recursive: true, force: true }));

  const open = (name: string, templates = LEDGER_TEMPLATES) =>
    openPgliteLedger({ directory: join(parent, name), templates });

  it('keeps everything when it is opened again', async () => {
    const first = await open('ledger');
    const scenario = createScenario(first);
    const batch = await scenario.run(['sending', 'accepted', 'rejected', 'staged']);
    await batch.freeze('sending', '{"exact":"bytes"}');
    const { serviceId } = await batch.accept('accepted');
    await batch.reject('rejected');
    await scenario.hear(scenario.serviceId('parked'), 'issued');
    const lines = await batch.lines();
    await first.close();
    await first.close();

    const second = await open('ledger');

    expect(second.id).toBe(first.id);
    expect((await collect(second.batchInvoices(batch.batchId))).flat()).toEqual(lines);
    expect((await second.deliveryTrouble(0)).unknownIds).toBe(1);
    expect(await second.sendable(batch.batchId, 1, 10)).toMatchObject([
      { invoice: { ref: 'sending' }, state: 'sending', body: '{"exact":"bytes"}' },
      { invoice: { ref: 'staged' }, state: 'staged', body: null },
    ]);
    const news = [delivery(serviceId, 'issued', { receivedAt: NOW })];
    expect(await recordDeliveries(second, news)).toMatchObject({ settled: [{ ordinal: 2 }] });
    await second.close();
  });

  it('has an id of its own in each directory, though all are copies of one template', async () => {
    const ledgers = [await open('one'), await open('two')];

    for (const { id } of ledgers) expect(id).toMatch(/^lgr_[0-9a-f]{32}$/);
    expect(new Set(ledgers.map(({ id }) => id)).size).toBe(2);
    for (const ledger of ledgers) await ledger.close();
  });

  it('is made in place where templates cannot be kept', async () => {
    const file = join(parent, 'no-folder');
    await writeFile(file, '');
    const ledger = await open('without-template', join(file, 'ledgers'));

    expect(ledger.id).toMatch(/^lgr_[0-9a-f]{32}$/);
    await ledger.close();
  });

  it('starts anew over what a killed process left of a copy, and leaves files of others alone', async () => {
    await mkdir(join(parent, 'begun.new/base'), { recursive: true });
    await (await open('begun')).close();

    const foreign = join(parent, 'foreign');
    await mkdir(foreign);
    await writeFile(join(foreign, 'letter.txt'), 'not a ledger');
    await expect(open('foreign')).rejects.toThrow('holds other files');
    expect(await readdir(foreign)).toEqual(['letter.txt']);
  });

  it('says that it cannot be opened where no directory can be', async () => {
    await writeFile(join(parent, 'a-file'), 'not a directory');

    await expect(open('a-file/ledger')).rejects.toMatchObject({ code: 'ledger-unavailable' });
  });

  it('is refused when it is of another major version of PostgreSQL, with both versions named', async () => {
    const directory = join(parent, 'other-engine');
    await makeLedger(directory, LEDGER_TEMPLATES);
    expect((await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim()).toBe(ENGINE_VERSION);
    await writeFile(join(directory, 'PG_VERSION'), '99\n');

    await expect(openPgliteDatabase(directory)).rejects.toMatchObject({
      code: 'ledger-conflict',
      message: expect.stringMatching(`PostgreSQL ${ENGINE_VERSION}, found those of PostgreSQL 99`) as string,
    });
  });
});
