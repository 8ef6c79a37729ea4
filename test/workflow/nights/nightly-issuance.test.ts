import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkflowFailedError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { NightlyResult } from '../../../workflows/nightly-issuance.ts';
import { batchFailure } from '../../../src/app/temporal/calls.ts';
import { nightlyLines } from '../../../src/cli/commands/nightly.ts';
import {
  describeNightlyRuns,
  nightlySchedule,
  scheduleNightlyRuns,
  unscheduleNightlyRuns,
} from '../../../src/app/schedules/nightly-schedule.ts';
import { gatedEngine } from '../../support/servers/service-front.ts';
import type { StackOptions } from '../../support/lote/stack-parts.ts';
import { expectAgreement, replay, withStack, type TestStack, startNight, nightOf } from '../../support/lote/stack.ts';
import { batchFile, FAILING_TAX_CODE, testInvoices } from '../../support/files/batch-file.ts';
import { mailServer } from '../../support/servers/mail-server.ts';
import { until } from '../../support/until.ts';

const QUICK: StackOptions = { env: { LOTE_DROP_STABLE_FOR: '5ms' } };

async function runNightly(stack: TestStack): Promise<NightlyResult> {
  return (await startNight(stack)).result();
}

function inputTree({ config }: TestStack): Promise<string[]> {
  return readdir(config.inputDir, { recursive: true });
}

/** A night has taken the file from the input folder. */
function untilClaimed(stack: TestStack, name: string): Promise<void> {
  return until(async () => !(await readdir(stack.config.inputDir)).includes(name));
}

async function textAt({ config }: TestStack, path: string): Promise<string> {
  return readFile(join(config.inputDir, path), 'utf8');
}

/** State of the workflow that sends the message of a night; null: there is none. */
async function messageStateOf({ client }: TestStack, nightId: string): Promise<string | null> {
  const history = await client.workflow.getHandle(nightId).fetchHistory();
  const started = (history.events ?? []).flatMap(({ childWorkflowExecutionStartedEventAttributes: child }) =>
    child?.workflowType?.name === 'nightMessage' ? [child.workflowExecution?.workflowId ?? ''] : [],
  );
  const [id] = started;
  return id === undefined ? null : (await client.workflow.getHandle(id).describe()).status.name;
}

describe('a night', { concurrent: true }, () => {
  it('runs a batch per dropped file, shelves each with a note that says why, and ends with a summary', async () => {
    await withStack(QUICK, async (stack) => {
      await stack.drop('good.csv', testInvoices(5));
      await stack.drop('mixed.csv', [{ ref: 'M-1' }, { ref: 'M-2', taxCode: FAILING_TAX_CODE }]);
      await stack.drop('no-columns.csv', 'a,b\n1,2\n');
      await stack.drop('upload.csv.part', 'half');

      const result = await runNightly(stack);

      const { schema, totals, runs } = await nightOf(result);
      expect(result).toMatchObject({ files: 3, problems: 2, waiting: 0 });
      expect(schema).toBe('lote.night/1');
      expect(totals).toMatchObject({
        files: 3,
        issued: 1,
        attention: 1,
        refused: 1,
        failed: 0,
        invoices: 7,
        notIssued: 1,
      });
      expect(runs[0]?.finishedAt).not.toBeNull();
      const files = Object.fromEntries((runs[0]?.files ?? []).map((file) => [file.name, file]));
      const date = result.night.slice(0, 10);
      expect(files['good.csv']).toMatchObject({ verdict: 'issued', shelvedAs: `archive/${date}/good.csv` });
      expect(files['mixed.csv']).toMatchObject({ verdict: 'attention', shelvedAs: `archive/${date}/mixed.csv` });
      expect(files['no-columns.csv']).toMatchObject({
        verdict: 'refused',
        shelvedAs: `refused/${date}/no-columns.csv`,
      });
      expect(await textAt(stack, `archive/${date}/good.csv.note.txt`)).toContain('Everything went out: 5 invoices.');
      expect(await textAt(stack, `archive/${date}/mixed.csv.note.txt`)).toContain(
        '1 of 2 invoices is not confirmed as issued.',
      );
      expect(await textAt(stack, `refused/${date}/no-columns.csv.note.txt`)).toContain('nothing of it was sent');
      expect((await inputTree(stack)).filter((path) => path.startsWith('in-progress/'))).toEqual([]);
      expect(await inputTree(stack)).toContain('upload.csv.part');
      const page = await readFile(result.reports.html, 'utf8');
      expect(page).toContain('2 of 3 files need a person.');
      expect(page).toContain(`href="../${files['good.csv']?.batchId}/report.html"`);
      await expectAgreement(stack, ...Object.values(files).map(({ batchId }) => batchId ?? ''));
    });
  });

  it('recognises a file that was dropped before, under any name, says so, and sends nothing again', async () => {
    await withStack(QUICK, async (stack) => {
      const content = batchFile(testInvoices(4));
      await stack.drop('first.csv', content);
      await runNightly(stack);
      const sent = stack.sandbox.books().totals.invoices;
      await stack.drop('first.csv', content);
      await stack.drop('renamed.csv', content);

      const result = await runNightly(stack);

      const { runs } = await nightOf(result);
      const again = runs.at(-1)?.files ?? [];
      expect(again.map(({ name, known, verdict }) => ({ name, known, verdict }))).toEqual([
        { name: 'first.csv', known: true, verdict: 'issued' },
        { name: 'renamed.csv', known: true, verdict: 'issued' },
      ]);
      expect(again[0]?.shelvedAs).toMatch(/\/first-2\.csv$/u);
      expect(await textAt(stack, `${again[1]?.shelvedAs}.note.txt`)).toMatch(
        /The same bytes were dropped before, on .* UTC as first\.csv: it is the same batch/u,
      );
      expect(stack.sandbox.books().totals.invoices).toBe(sent);
      expect(await readFile(result.reports.html, 'utf8')).toMatch(
        /The same bytes were dropped before, on .* UTC as first\.csv/u,
      );
    });
  });

  it('takes a file that becomes complete while the night waits for it', async () => {
    await withStack({ env: { LOTE_DROP_STABLE_FOR: '500ms' } }, async (stack) => {
      await stack.drop('late.csv', '');
      const night = await startNight(stack);
      await until(async () => (await night.query<{ waiting: unknown[] }>('night')).waiting.length === 1);
      await writeFile(join(stack.config.inputDir, 'late.csv'), batchFile(testInvoices(2)));

      const result = await night.result();

      expect(result).toMatchObject({ files: 1, problems: 0, waiting: 0 });
    });
  });

  it('joins a batch of the same file that runs already', async () => {
    const gate = gatedEngine();
    await withStack({ ...QUICK, sandbox: { engine: gate.engine } }, async (stack) => {
      const { batchId, handle } = await stack.begin('running.csv', testInvoices(3));
      await until(() => stack.sandbox.books().totals.invoices === 3);

      const night = await startNight(stack);
      await untilClaimed(stack, 'running.csv');
      gate.open();
      const result = await night.result();

      expect((await handle.result()).counts).toMatchObject({ issued: 3 });
      expect((await nightOf(result)).runs[0]?.files[0]).toMatchObject({ batchId, verdict: 'issued' });
      await expectAgreement(stack, batchId);
    });
  });

  it('goes on with what a terminated night had claimed, while its batch runs on', async () => {
    const gate = gatedEngine();
    await withStack({ ...QUICK, sandbox: { engine: gate.engine } }, async (stack) => {
      await stack.drop('cut.csv', testInvoices(3));
      const cut = await startNight(stack);
      await until(() => stack.sandbox.books().totals.invoices === 3);
      await cut.terminate('test');

      const night = await startNight(stack);
      gate.open();
      const result = await night.result();

      const [file] = (await nightOf(result)).runs.at(-1)?.files ?? [];
      expect(file).toMatchObject({ name: 'cut.csv', verdict: 'issued', resumed: true, known: false });
      expect(file?.sentences[0]).toContain('An earlier night had claimed it and was interrupted');
      expect((await inputTree(stack)).filter((path) => path.startsWith('in-progress/'))).toEqual([]);
      expect(stack.sandbox.books().totals).toMatchObject({ invoices: 3, issued: 3 });
      expect(stack.sandbox.books().duplicates).toEqual([]);
    });
  });

  it('shelves a file whose run was stopped from outside as failed, and takes it again when it is dropped again', async () => {
    const gate = gatedEngine();
    await withStack({ ...QUICK, sandbox: { engine: gate.engine } }, async (stack) => {
      const content = batchFile(testInvoices(2));
      await stack.drop('stopped.csv', content);
      const night = await startNight(stack);
      await until(() => stack.sandbox.books().totals.invoices === 2);
      const [batch] = await stack.ledger.listBatches(1);
      await stack.client.workflow.getHandle(batch?.workflowId ?? '').terminate('test');
      gate.open();

      const first = await nightOf(await night.result());
      await stack.drop('stopped.csv', content);
      const second = await nightOf(await runNightly(stack));

      expect(first.runs[0]?.files[0]).toMatchObject({ verdict: 'failed' });
      expect(first.runs[0]?.files[0]?.shelvedAs).toMatch(/^refused\//u);
      expect(second.runs.at(-1)?.files[0]).toMatchObject({ verdict: 'issued', known: true });
      expect(stack.sandbox.books().totals).toMatchObject({ invoices: 2, issued: 2 });
    });
  });

  it('with nothing dropped, and no input at all, ends at once with a summary that says so', async () => {
    await withStack(QUICK, async (stack) => {
      const result = await (await startNight(stack, undefined, null)).result();

      expect(result).toMatchObject({ files: 0, problems: 0, waiting: 0 });
      expect(await readFile(result.reports.html, 'utf8')).toContain('No file was dropped.');
    });
  });

  it('that fails at its time pauses the nights after it, and `lote nightly show` says so and why', async () => {
    await withStack(QUICK, async (stack) => {
      const { client, config } = stack;
      const place = { client, application: config.application, taskQueue: config.taskQueue };
      const plan = nightlySchedule(place, { hour: 2, minute: 0, timezone: 'UTC', catchUpMs: 3_600_000 });
      // A zone that Temporal takes and the worker does not: the shortest way to a night that fails.
      const action = { ...plan.action, args: [{ timezone: 'Nowhere' }] };
      // At its own time, every five seconds: a night that somebody triggers pauses nothing, and one time alone may have passed before the schedule is there.
      const second = { start: 0, end: 59, step: 5 };
      await client.schedule.create({
        ...plan,
        action,
        spec: { calendars: [{ hour: '*', minute: '*', second }], timezone: 'UTC' },
      });
      try {
        await until(async () => (await describeNightlyRuns(place))?.paused === true);

        const lines = nightlyLines(await describeNightlyRuns(place), config);
        expect(lines[0]).toMatch(/^Nights are PAUSED: .*fail/iu);
        expect(lines[1]).toContain('lote nightly on');
        expect(lines.some((line) => line.startsWith('Ran '))).toBe(true);
        await scheduleNightlyRuns(place, { hour: 2, minute: 0, timezone: 'UTC', catchUpMs: 3_600_000 });
        expect(await describeNightlyRuns(place)).toMatchObject({ paused: false });
      } finally {
        await unscheduleNightlyRuns(place);
      }
    });
  });

  it("that cannot bring a file to its end finishes its summary, sends one message in its readers' language, and then fails", async () => {
    const server = await mailServer({ hideSTARTTLS: true });
    const env = {
      ...{ ...QUICK.env, LOTE_SMTP_URL: `smtp://127.0.0.1:${server.port}` },
      ...{ LOTE_MAIL_FROM: 'lote@lote.example', LOTE_MAIL_TO: 'back@office.example', LOTE_LANGUAGE: 'pt-PT' },
    };
    await withStack({ env }, async (stack) => {
      // Where the folder of the archive must be, so that nothing can go there, whoever runs the test; a night takes neither.
      await writeFile(join(stack.config.inputDir, '.no-folder'), '');
      await symlink('.no-folder', join(stack.config.inputDir, 'archive'));
      await stack.drop('good.csv', testInvoices(2));
      const handle = await startNight(stack);

      const failed = await handle.result().catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(WorkflowFailedError);
      const told = `Writing to the input folder ${join(stack.config.inputDir, 'archive')} (LOTE_INPUT_DIR)`;
      expect(batchFailure(failed)).toMatchObject({
        code: 'input-unusable',
        message: expect.stringContaining(told) as string,
      });
      const { workflowId } = handle;
      await until(async () => (await messageStateOf(stack, workflowId)) === 'COMPLETED');

      expect(server.taken).toHaveLength(1);
      const plain = (server.taken[0]?.source ?? '').replaceAll('=\r\n', '').replaceAll('=C3=A3', 'ã');
      expect(plain).toContain('1 de 1 ficheiros precisa de algu');
      expect(plain).toContain('- good.csv: A noite não conseguiu lev');
      await replay(stack, workflowId);
    });
  });
});
