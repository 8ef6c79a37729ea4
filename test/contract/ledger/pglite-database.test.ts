import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import { openPgliteLedger } from '../../../src/ledger/database/pglite/open-pglite-ledger.ts';
import { databaseContract } from './behaviour/database.contract.ts';
import { passingErrorsContract } from './behaviour/passing-errors.contract.ts';
import { accepted, collect, createScenario, delivery, NOW, REASON, serviceIdOf } from './scenario.ts';
import { LEDGER_TEMPLATES, temporaryDatabase } from '../../support/servers/temporary-database.ts';

const QUERIES = 500;

describe('PGlite in a worker thread', () => {
  databaseContract(temporaryDatabase);
  passingErrorsContract(temporaryDatabase);

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

  it('keeps everything when it is opened again', async () => {
    const directory = join(parent, 'ledger');
    const first = await openPgliteLedger({ directory, templates: LEDGER_TEMPLATES, keyOf: idempotencyKeyOf });
    const scenario = createScenario(first);
    const batch = await scenario.run([{ ref: 'sending' }, { ref: 'accepted' }, { ref: 'rejected' }, { ref: 'staged' }]);
    await batch.freeze('sending', '{"exact":"bytes"}');
    await batch.send('accepted', accepted(serviceIdOf(scenario, 'accepted')));
    await batch.send('rejected', { kind: 'rejected', reason: REASON });
    await first.recordDeliveries([delivery(serviceIdOf(scenario, 'parked'), 'issued')]);
    const lines = await batch.lines();
    await first.close();
    await first.close();

    const second = await openPgliteLedger({ directory, templates: LEDGER_TEMPLATES, keyOf: idempotencyKeyOf });

    expect(second.id).toBe(first.id);
    expect((await collect(second.batchInvoices(batch.batchId))).flat()).toEqual(lines);
    expect(await second.unmatchedDeliveries()).toBe(1);
    const sendable = await second.sendable(batch.batchId, 1, 10);
    expect(sendable.map((one) => [one.invoice.ref, one.state, one.body])).toEqual([
      ['sending', 'sending', '{"exact":"bytes"}'],
      ['staged', 'staged', null],
    ]);
    expect(
      await second.recordDeliveries([delivery(serviceIdOf(scenario, 'accepted'), 'issued', { receivedAt: NOW })]),
    ).toMatchObject({
      settled: [{ state: 'issued' }],
    });
    await second.close();
  });

  it('has an id of its own in each directory, though all are copies of one template', async () => {
    const open = (name: string) =>
      openPgliteLedger({ directory: join(parent, name), templates: LEDGER_TEMPLATES, keyOf: idempotencyKeyOf });
    const one = await open('one');
    const two = await open('two');

    expect(one.id).toMatch(/^lgr_[0-9a-f]{32}$/);
    expect(two.id).toMatch(/^lgr_[0-9a-f]{32}$/);
    expect(one.id).not.toBe(two.id);
    await one.close();
    await two.close();
  });

  it('is made in place where templates cannot be kept', async () => {
    const file = join(parent, 'no-folder');
    await writeFile(file, '');
    const directory = join(parent, 'without-template');
    const ledger = await openPgliteLedger({ directory, templates: join(file, 'ledgers'), keyOf: idempotencyKeyOf });

    expect(ledger.id).toMatch(/^lgr_[0-9a-f]{32}$/);
    await ledger.close();
  });

  it('starts anew over what a killed process left of a copy, and leaves files of others alone', async () => {
    const directory = join(parent, 'begun');
    await mkdir(`${directory}.new/base`, { recursive: true });
    const ledger = await openPgliteLedger({ directory, templates: LEDGER_TEMPLATES, keyOf: idempotencyKeyOf });
    await ledger.close();

    const foreign = join(parent, 'foreign');
    await mkdir(foreign);
    await writeFile(join(foreign, 'letter.txt'), 'not a ledger');
    await expect(
      openPgliteLedger({ directory: foreign, templates: LEDGER_TEMPLATES, keyOf: idempotencyKeyOf }),
    ).rejects.toThrow('holds other files');
    expect(await readdir(foreign)).toEqual(['letter.txt']);
  });

  it('says that it cannot be opened where no directory can be', async () => {
    const file = join(parent, 'a-file');
    await writeFile(file, 'not a directory');

    await expect(
      openPgliteLedger({ directory: join(file, 'ledger'), templates: LEDGER_TEMPLATES, keyOf: idempotencyKeyOf }),
    ).rejects.toMatchObject({
      code: 'ledger-unavailable',
    });
  });
});
